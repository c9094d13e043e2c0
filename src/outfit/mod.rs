//! The composition root: configuration in, a working whole out.

mod builder;
mod connect;
mod error;
mod files_only;
mod lock;
mod model;
mod outfitter;
mod prompt;
mod sandbox;
mod served;
mod session;
mod skills;

pub use builder::Builder;
pub use error::BuildError;
pub use lock::{SessionInUse, SessionLock};
pub use outfitter::Outfitter;
pub(crate) use sandbox::files_only;
pub use served::Served;
pub use session::SessionOptions;
