//! The public keys of the issuer in a file that programs read.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use outfitter_core::{Hash, canonical};
use serde_json::Value;

use crate::scratch::KEYS_PREFIX;

/// How long a file is left as it is. Much shorter than what is old enough to be swept away.
const FRESH: Duration = Duration::from_secs(24 * 60 * 60);

/// Written when it is first needed, and again when the keys are others or it is getting old.
pub(crate) struct JwksFile {
    path: PathBuf,
    written: Mutex<Option<(Hash, Instant)>>,
}

impl JwksFile {
    pub(crate) fn in_directory(directory: &Path) -> Self {
        // Others of our processes have keys of their own, in containers also under our number.
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        let nanos = since.unwrap_or_default().as_nanos();
        let name = format!("{KEYS_PREFIX}{}-{nanos}.json", std::process::id());
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
        let fresh = |(known, at): (Hash, Instant)| known == hash && at.elapsed() < FRESH;
        if !written.is_some_and(fresh) {
            let new = self.path.with_extension("new");
            let mut file = OpenOptions::new()
                .write(true)
                .create(true)
                .truncate(true)
                .mode(0o600)
                .open(&new)?;
            file.write_all(text.as_bytes())?;
            fs::rename(&new, &self.path)?;
            *written = Some((hash, Instant::now()));
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_file_holds_the_keys_of_now_and_goes_with_its_owner() {
        let dir = tempfile::tempdir().unwrap();
        let file = JwksFile::in_directory(dir.path());
        let other = JwksFile::in_directory(dir.path());
        for keys in [json!({ "keys": [1] }), json!({ "keys": [2] })] {
            let path = file.holding(&keys).unwrap();
            assert_eq!(fs::read_to_string(path).unwrap(), canonical(&keys));
        }
        let path = file.holding(&json!({ "keys": [2] })).unwrap().to_owned();
        assert_ne!(other.holding(&json!({ "keys": [3] })).unwrap(), path);
        drop(file);
        assert!(!path.exists());
    }
}
