//! The composition root: configuration in, a working whole out.

mod backends;
mod builder;
mod channels;
mod connections;
mod contacts;
mod deletion;
#[cfg(test)]
mod deletion_tests;
mod elsewhere;
mod error;
mod files_only;
mod folders;
mod forget;
mod holds;
mod idle;
mod job_lines;
mod left;
mod lock;
mod model;
mod names;
mod outfitter;
mod pictures;
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
pub use connections::{Needed, Pending, SETTLE_TIME};
pub use deletion::DeleteError;
pub use error::BuildError;
pub use forget::Leftovers;
pub use idle::{IdleKey, IdleKeys, UncheckedKey};
pub use lock::{NotHeld, SessionLock};
pub use names::KeyFault;
pub use outfitter::Outfitter;
pub(crate) use pictures::BROWSER_HINT;
pub use reload::ReloadRefused;
pub(crate) use sandbox::files_only;
pub use served::{Served, ServedPrincipals};
pub use session::SessionOptions;
