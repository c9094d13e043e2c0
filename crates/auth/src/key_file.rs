//! Keys in files that only we can read.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::OFlags;
use secrecy::{ExposeSecretMut, SecretBox};

use crate::error::KeyError;

/// No key is larger.
const MAX_BYTES: u64 = 16 * 1024;

/// The permission bits of others than the owner.
const OTHERS: u32 = 0o077;

/// What is in the file, if it is ours (or root's) and nobody else can read or change it.
pub(crate) fn read(path: &Path) -> Result<SecretBox<Vec<u8>>, KeyError> {
    let file = failing(path, || {
        OpenOptions::new()
            .read(true)
            // A pipe in its place would make us wait.
            .custom_flags(OFlags::NONBLOCK.bits().cast_signed())
            .open(path)
    })?;
    // Of the open file, so that it cannot be another by the time it is read.
    let facts = failing(path, || file.metadata())?;
    if !facts.is_file() {
        return Err(failed(path, io::ErrorKind::InvalidInput.into()));
    }
    if facts.mode() & OTHERS != 0 {
        return Err(KeyError::Exposed {
            path: path.to_owned(),
            mode: facts.mode() & 0o777,
        });
    }
    if facts.uid() != 0 && facts.uid() != rustix::process::geteuid().as_raw() {
        return Err(KeyError::Foreign {
            path: path.to_owned(),
        });
    }
    let mut content = SecretBox::new(Box::new(Vec::new()));
    failing(path, || {
        file.take(MAX_BYTES)
            .read_to_end(content.expose_secret_mut())
            .map(drop)
    })?;
    Ok(content)
}

/// Writes a new file, 0600 whatever the umask; one that is there stays as it is.
pub(crate) fn write_new(path: &Path, content: &[u8]) -> Result<(), KeyError> {
    failing(path, || {
        let mut file: File = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(path)?;
        file.write_all(content)?;
        file.sync_all()
    })
}

fn failing<T>(path: &Path, work: impl FnOnce() -> io::Result<T>) -> Result<T, KeyError> {
    work().map_err(|source| failed(path, source))
}

fn failed(path: &Path, source: io::Error) -> KeyError {
    KeyError::File {
        path: path.to_owned(),
        source,
    }
}
