//! Where sessions and artifacts are kept.
//!
//! - [`SqliteLog`] keeps sessions in one SQLite file that many processes may use at once.
//! - [`MemoryLog`] keeps them until the process ends.
//! - [`FileArtifacts`] and [`MemoryArtifacts`] do the same for artifacts.
//! - [`StoreUrl`] says which, as `[store] url` writes it, and [`open`] makes both of it.
//!
//! Nothing is opened before its first use: a command that needs no session touches no file.

mod artifacts;
mod body;
mod check;
mod location;
mod memory_log;
mod private_fs;
mod sqlite;

pub use artifacts::{ArtifactLimits, FileArtifacts, MemoryArtifacts, path_segment};
pub use body::{BodyError, MAX_BODY_DEPTH};
pub use check::{MAX_LIST_PAGE, MAX_READ_PAGE};
pub use location::{Store, StoreUrl, UrlError, open};
pub use memory_log::{MAX_MEMORY_ENTRIES, MemoryLog};
pub use private_fs::create_private_dir;
pub use sqlite::{LogOpenError, SCHEMA_VERSION, SqliteLog};
