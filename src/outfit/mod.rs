//! The composition root: configuration in, a working whole out.

mod backends;
mod builder;
mod channels;
mod connect;
mod contacts;
mod error;
mod files_only;
mod lock;
mod model;
mod names;
mod outfitter;
mod pictures;
mod plugin_api;
mod prompt;
mod reload;
mod remote;
mod sandbox;
mod served;
mod session;
mod settings;
mod skills;
mod specs;

pub use backends::BackendFound;
pub use builder::Builder;
pub use error::BuildError;
pub use lock::{SessionInUse, SessionLock};
pub use outfitter::Outfitter;
pub use reload::ReloadRefused;
pub(crate) use sandbox::files_only;
pub use served::{Served, ServedPrincipals};
pub use session::SessionOptions;
