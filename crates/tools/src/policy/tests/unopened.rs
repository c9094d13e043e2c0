//! Files that no rule opens: only where paths lead is asked of them.

use outfitter_core::FilesError;

/// What there would be of a file that is opened.
pub(super) fn opened<T>() -> Result<T, FilesError> {
    unreachable!("a rule opens nothing")
}

/// Makes a type into such files, with what it says of where paths lead, if anything.
macro_rules! unopened {
    ($files:ty { $($says:item)* }) => {
        #[async_trait::async_trait]
        impl outfitter_core::Files for $files {
            async fn stat(&self, _: outfitter_core::FileRef<'_>) -> Result<outfitter_core::FileStat, outfitter_core::FilesError> {
                super::unopened::opened()
            }
            async fn read(&self, _: outfitter_core::FileRef<'_>, _: outfitter_core::Range) -> Result<outfitter_core::FileChunk, outfitter_core::FilesError> {
                super::unopened::opened()
            }
            async fn put(&self, _: outfitter_core::FileRef<'_>, _: outfitter_core::Put) -> Result<outfitter_core::Written, outfitter_core::FilesError> {
                super::unopened::opened()
            }
            async fn commit(&self, _: Vec<outfitter_core::FileChange>) -> Result<(), outfitter_core::FilesError> {
                super::unopened::opened()
            }
            async fn hash(&self, _: outfitter_core::FileRef<'_>) -> Result<outfitter_core::Hash, outfitter_core::FilesError> {
                super::unopened::opened()
            }
            async fn list(&self, _: outfitter_core::FileRef<'_>, _: outfitter_core::List) -> Result<outfitter_core::Listed, outfitter_core::FilesError> {
                super::unopened::opened()
            }
            async fn glob(&self, _: outfitter_core::FileRef<'_>, _: outfitter_core::Glob) -> Result<outfitter_core::GlobFound, outfitter_core::FilesError> {
                super::unopened::opened()
            }
            async fn search(&self, _: outfitter_core::FileRef<'_>, _: outfitter_core::Search) -> Result<outfitter_core::SearchFound, outfitter_core::FilesError> {
                super::unopened::opened()
            }
            async fn import(&self, _: std::path::PathBuf, _: outfitter_core::FileRef<'_>) -> Result<(), outfitter_core::FilesError> {
                super::unopened::opened()
            }
            async fn export(&self, _: outfitter_core::FileRef<'_>, _: std::path::PathBuf) -> Result<(), outfitter_core::FilesError> {
                super::unopened::opened()
            }
            $($says)*
        }
    };
}

pub(super) use unopened;
