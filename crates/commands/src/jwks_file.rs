//! The public keys of the issuer in a file that programs read.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use outfitter_core::{Hash, canonical};
use serde_json::Value;

use crate::scratch::KEYS_PREFIX;

/// Written when it is first needed, and again when the keys are others.
pub(crate) struct JwksFile {
    path: PathBuf,
    written: Mutex<Option<Hash>>,
}

impl JwksFile {
    pub(crate) fn in_directory(directory: &Path) -> Self {
        // Others of our processes have keys of their own.
        let name = format!("{KEYS_PREFIX}{}.json", std::process::id());
        Self {
            path: directory.join(name),
            written: Mutex::new(None),
        }
    }

    /// The path of the file, which holds these keys now. Its directory is there.
    pub(crate) fn holding(&self, jwks: &Value) -> io::Result<&Path> {
        let text = canonical(jwks);
        let hash = Hash::of(&text);
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        if *written != Some(hash) {
            let new = self.path.with_extension("new");
            let mut file = OpenOptions::new()
                .write(true)
                .create(true)
                .truncate(true)
                .mode(0o600)
                .open(&new)?;
            file.write_all(text.as_bytes())?;
            fs::rename(&new, &self.path)?;
            *written = Some(hash);
        }
        Ok(&self.path)
    }
}

impl Drop for JwksFile {
    fn drop(&mut self) {
        // It may never have been written.
        let _ = fs::remove_file(&self.path);
    }
}
