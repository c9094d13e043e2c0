//! What paths lead to, for rules: by their text and by what is there now. Nothing is opened, and a
//! rule is no wall, so what changes between this look and the next matters to nobody.

use std::path::{Path, PathBuf};

use outfitter_core::LeadsTo;
use rustix::fs::{AtFlags, CWD, statat};

use super::local::Inner;
use super::place::spelled;

/// What this path leads to, also where its end is not there.
pub(super) fn leads_to(files: &Inner, path: &str) -> LeadsTo {
    real(files, path).map_or(LeadsTo::Unknown, LeadsTo::Path)
}

fn real(files: &Inner, path: &str) -> Option<String> {
    let absolute = absolute(files, path)?;
    let mut missing = Vec::new();
    let mut there: &Path = &absolute;
    loop {
        if let Ok(mut real) = there.canonicalize() {
            real.extend(missing.iter().rev());
            return real.into_os_string().into_string().ok();
        }
        missing.push(there.file_name()?);
        there = there.parent()?;
    }
}

/// Whether both name one file.
pub(super) fn is_same(files: &Inner, one: &str, other: &str) -> bool {
    let identity = |path: &str| {
        let stat = statat(CWD, absolute(files, path)?, AtFlags::empty()).ok()?;
        Some((stat.st_dev, stat.st_ino))
    };
    matches!((identity(one), identity(other)), (Some(one), Some(other)) if one == other)
}

fn absolute(files: &Inner, path: &str) -> Option<PathBuf> {
    let path = spelled(&files.protected, path).ok()?;
    Some(files.workspace.path().join(path))
}
