//! What paths lead to, for rules: by their text and by what is there now. Nothing is opened, and a
//! rule is no wall, so what changes between this look and the next matters to nobody.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use outfitter_core::LeadsTo;
use rustix::fs::{AtFlags, CWD, statat};
use rustix::io::Errno;

use super::Here;
use crate::files::limits::MAX_LINKS;
use crate::files::place::spelled;
use crate::files::session::Inner;

/// What this path leads to, also where its end is not there.
pub(super) fn leads_to(files: &Inner<Here>, path: &str) -> LeadsTo {
    real(files, path).map_or(LeadsTo::Unknown, LeadsTo::Path)
}

fn real(files: &Inner<Here>, path: &str) -> Option<String> {
    let mut there = absolute(files, path)?;
    let mut missing: Vec<OsString> = Vec::new();
    let mut links = 0;
    loop {
        match there.canonicalize() {
            Ok(mut real) => {
                real.extend(missing.iter().rev());
                return real.into_os_string().into_string().ok();
            }
            Err(error) if error.raw_os_error() == Some(Errno::LOOP.raw_os_error()) => return None,
            Err(_) => {}
        }
        // A link to what is not there leads there all the same.
        if let Ok(target) = there.read_link() {
            links += 1;
            if links > MAX_LINKS {
                return None;
            }
            there.pop();
            there.push(target);
            there.extend(missing.drain(..).rev());
        } else {
            missing.push(there.file_name()?.to_owned());
            there.pop();
        }
    }
}

/// Whether a path leads to where the session reads: beneath the workspace or what was laid in for
/// reading, and not to what is protected.
pub(super) fn is_readable(files: &Inner<Here>, path: &str) -> bool {
    let Some((written, real)) = absolute(files, path).zip(real(files, path)) else {
        return false;
    };
    let canonical = |root: &Path| {
        root.canonicalize()
            .is_ok_and(|root| Path::new(&real).starts_with(root))
    };
    let covered = |path: &Path| files.protected.covers(path).is_some();
    files.roots().any(canonical) && !covered(&written) && !covered(Path::new(&real))
}

/// Whether both name one file.
pub(super) fn is_same(files: &Inner<Here>, one: &str, other: &str) -> bool {
    let identity = |path: &str| {
        let stat = statat(CWD, absolute(files, path)?, AtFlags::empty()).ok()?;
        Some((stat.st_dev, stat.st_ino))
    };
    matches!((identity(one), identity(other)), (Some(one), Some(other)) if one == other)
}

fn absolute(files: &Inner<Here>, path: &str) -> Option<PathBuf> {
    let path = spelled(&files.protected, path).ok()?;
    Some(files.workspace.path().join(path))
}
