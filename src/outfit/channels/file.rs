//! Messages as the lines of a file.

use std::fs::{DirBuilder, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use outfitter_builtin::Taken;
use outfitter_core::ToolError;
use outfitter_text::regular_file;
use serde_json::Value;

/// A file that nobody but its owner reads.
pub(super) struct LineFile(PathBuf);

impl LineFile {
    pub(super) fn new(path: PathBuf) -> Self {
        Self(path)
    }

    pub(super) async fn append(&self, message: Value) -> Result<Taken, ToolError> {
        let path = self.0.clone();
        let written = tokio::task::spawn_blocking(move || append(&path, &message)).await;
        match written {
            Ok(Ok(created)) => Ok(Taken {
                stream_id: None,
                created,
            }),
            Ok(Err(error)) => Err(unusable(&error)),
            Err(error) => Err(unusable(&error)),
        }
    }
}

fn unusable(error: &dyn std::error::Error) -> ToolError {
    ToolError::unavailable(format!(
        "the file of the channel cannot be written: {error}"
    ))
}

/// Appends in one write, and says whether the file was made for it.
fn append(path: &Path, message: &Value) -> io::Result<bool> {
    if let Some(parent) = path.parent() {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(parent)?;
    }
    let mut options = OpenOptions::new();
    options.append(true).mode(0o600);
    let (mut file, created) = match options.clone().create_new(true).open(path) {
        Ok(file) => (file, true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            // A pipe would wait for its reader.
            regular_file::check(&std::fs::metadata(path)?)?;
            (options.open(path)?, false)
        }
        Err(error) => return Err(error),
    };
    file.write_all(format!("{message}\n").as_bytes())?;
    Ok(created)
}
