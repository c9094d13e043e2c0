//! What a virtual environment of Python is made of. It lies where a command may have written it, so
//! what it says is not simply believed.

use std::fs;
use std::path::{Path, PathBuf};

/// How a virtual environment names the Python it was made from.
pub(crate) const VENV_CONFIGURATION: &str = "pyvenv.cfg";

/// No sane one is longer.
const MAX_VENV_CONFIGURATION: u64 = 64 * 1024;

/// What an environment is made of.
pub(crate) enum Base {
    /// It is none.
    NoEnvironment,
    /// It does not say, or of what is not there.
    Unknown,
    /// An installation of Python.
    Installation(PathBuf),
    /// Something else.
    Other(PathBuf),
}

/// What it says it is made of, as far as that is so.
pub(crate) fn base_of(venv: &Path) -> Base {
    let Some(configuration) = read_small(&venv.join(VENV_CONFIGURATION)) else {
        return Base::NoEnvironment;
    };
    match named_in(&configuration) {
        None => Base::Unknown,
        Some(base) if is_python_installation(&base) => Base::Installation(base),
        Some(base) => Base::Other(base),
    }
}

/// `home = /opt/python/bin` means `/opt/python`.
fn named_in(configuration: &str) -> Option<PathBuf> {
    let line = configuration.lines().find_map(|line| {
        let (key, value) = line.split_once('=')?;
        (key.trim() == "home").then(|| value.trim())
    })?;
    let bin = Path::new(line).canonicalize().ok()?;
    Some(bin.parent()?.to_owned())
}

/// The configuration lies where a command may have written it, so it is not simply believed.
fn is_python_installation(base: &Path) -> bool {
    let has_library = fs::read_dir(base.join("lib")).is_ok_and(|entries| {
        entries
            .flatten()
            .any(|entry| entry.file_name().to_string_lossy().starts_with("python3"))
    });
    has_library && (base.join("bin/python3").is_file() || base.join("bin/python").is_file())
}

fn read_small(path: &Path) -> Option<String> {
    let meta = path.symlink_metadata().ok()?;
    if !meta.is_file() || meta.len() > MAX_VENV_CONFIGURATION {
        return None;
    }
    fs::read_to_string(path).ok()
}
