//! Rows in one JSON file, which is replaced whole.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use outfitter_core::Code;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::fault::Fault;

/// The version of the file.
const VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
struct Content<R> {
    v: u32,
    rows: R,
}

/// All rows of a file, as they were when it was opened. Others wait until they are let go.
#[derive(Debug)]
pub(crate) struct Rows<R> {
    pub(crate) all: Vec<R>,
    /// What is in it, for people.
    what: &'static str,
    file: PathBuf,
    /// Held for as long as this lives.
    _lock: File,
}

impl<R: Serialize + DeserializeOwned> Rows<R> {
    /// Opens the file of this name; the directory is made when it is not there.
    pub(crate) fn open(directory: &Path, what: &'static str) -> Result<Self, Fault> {
        let file = directory.join(format!("{what}.json"));
        let open = || {
            DirBuilder::new()
                .recursive(true)
                .mode(0o700)
                .create(directory)?;
            let lock = OpenOptions::new()
                .write(true)
                .create(true)
                .truncate(false)
                .mode(0o600)
                .open(directory.join("lock"))?;
            lock.lock()?;
            let content = match fs::read(&file) {
                Ok(bytes) => serde_json::from_slice(&bytes)?,
                Err(error) if error.kind() == io::ErrorKind::NotFound => Content {
                    v: VERSION,
                    rows: Vec::new(),
                },
                Err(error) => return Err(error),
            };
            Ok((lock, content))
        };
        let (lock, content): (File, Content<Vec<R>>) =
            open().map_err(|error| unusable(what, &error))?;
        if content.v != VERSION {
            return Err(unusable(what, &"it was written by a newer planner"));
        }
        Ok(Self {
            all: content.rows,
            what,
            file,
            _lock: lock,
        })
    }

    /// Writes them all, in one step or not at all.
    pub(crate) fn save(&self) -> Result<(), Fault> {
        let content = Content {
            v: VERSION,
            rows: &self.all,
        };
        let write = || {
            let directory = self.file.parent().unwrap_or(Path::new("."));
            // Made 0600.
            let mut file = tempfile::NamedTempFile::new_in(directory)?;
            serde_json::to_writer(&mut file, &content)?;
            file.flush()?;
            file.as_file().sync_all()?;
            file.persist(&self.file).map_err(|error| error.error)?;
            Ok(())
        };
        write().map_err(|error: io::Error| unusable(self.what, &error))
    }
}

fn unusable(what: &str, why: &dyn std::fmt::Display) -> Fault {
    Fault::new(
        Code::Unavailable,
        format!("the {what} cannot be used: {why}"),
    )
}
