//! Content too large or too binary to inline: in files, or in memory.

mod directory;
mod file;
mod memory;
mod names;
mod quota;

pub use file::FileArtifacts;
pub use memory::MemoryArtifacts;
pub use names::path_segment;
pub use quota::ArtifactLimits;
