//! Where the commands of a session run and its files live.
//!
//! - [`files`]: the files of a session, by directory handle
//! - [`protected`]: what no tool and no command may reach, wherever it lies

#![cfg(target_os = "linux")]

pub mod files;
pub mod protected;

pub use files::{FileLimits, LocalFiles};
pub use protected::Protected;
