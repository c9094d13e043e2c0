//! What paths lead to there, for rules: by names and links, asked one after the other. Nothing is
//! opened, and a rule is no wall, so what changes between this look and the next matters to nobody.

use outfitter_core::{Deadline, FileKind, LeadsTo};
use rustix::io::Errno;
use tokio::runtime::{Handle, RuntimeFlavor};

use super::machine::beside;
use super::resolve::{joined, turned};
use crate::files::error::Failure;
use crate::files::limits::{MAX_LINKS, MAX_PATH_BYTES};
use crate::files::place::spelled;
use crate::files::session::Inner;
use crate::ssh::sftp::{Fault, Sftp};

/// What this path leads to, also where its last parts are not there; unknown where the other machine
/// does not say it by then.
pub(super) fn leads_to(files: &Inner<Sftp>, path: &str, by: Deadline) -> LeadsTo {
    let real = may_wait(|| real(files, path, by));
    real.and_then(Result::ok)
        .map_or(LeadsTo::Unknown, LeadsTo::Path)
}

/// Does work that waits for the connection, where somebody else drives that meanwhile: on a runtime
/// of one thread nobody would.
fn may_wait<T>(work: impl FnOnce() -> T) -> Option<T> {
    match Handle::try_current() {
        Err(_) => Some(work()),
        Ok(here) if here.runtime_flavor() == RuntimeFlavor::MultiThread => {
            Some(tokio::task::block_in_place(work))
        }
        Ok(_) => None,
    }
}

fn real(files: &Inner<Sftp>, path: &str, by: Deadline) -> Result<String, Failure> {
    let path = spelled(&files.protected, path).map_err(|_| Errno::INVAL)?;
    let path = match path.starts_with('/') {
        true => path,
        false => beside(&files.workspace.handle, &path),
    };
    // What was found to be no link, and what is still to be met, the last first.
    let (mut real, mut ahead): (Vec<String>, _) = (Vec::new(), turned(&path));
    for _ in 0..=MAX_LINKS {
        if ahead.iter().map(|part| part.len() + 1).sum::<usize>() > MAX_PATH_BYTES {
            return Err(Errno::NAMETOOLONG.into());
        }
        match meet(&files.machine, &mut real, &mut ahead, by)? {
            Met::End => return Ok(joined(&real)),
            Met::Link(target) => {
                if target.starts_with('/') {
                    real.clear();
                }
                ahead.extend(turned(&target));
            }
        }
    }
    Err(Errno::LOOP.into())
}

/// What comes next on a path.
enum Met {
    /// A link, which leads there from where it lies.
    Link(String),
    /// Nothing: the path is what it leads to.
    End,
}

/// Goes on to the next link, or to the end, which may not be there.
fn meet(
    sftp: &Sftp,
    real: &mut Vec<String>,
    ahead: &mut Vec<String>,
    by: Deadline,
) -> Result<Met, Failure> {
    while !ahead.is_empty() {
        while ahead.pop_if(|part| part == "..").is_some() {
            real.pop();
        }
        // As far as no `..` asks for what was found before it.
        let names = ahead.iter().rev().take_while(|part| *part != "..");
        let mut here = real.clone();
        let paths: Vec<String> = names
            .map(|name| {
                here.push(name.clone());
                joined(&here)
            })
            .collect();
        for seen in sftp.lstat_all_by(by, &paths)? {
            match seen {
                Ok(attrs) => {
                    real.extend(ahead.pop());
                    if attrs.kind() == FileKind::Symlink {
                        let target = sftp.readlink_by(by, &joined(real))?;
                        real.pop();
                        return Ok(Met::Link(target));
                    }
                }
                // A file has nothing in it, and the server may say so in words of its own.
                Err(Fault::NotFound | Fault::Failed(_)) => {
                    if ahead.iter().any(|part| part == "..") {
                        return Err(Errno::NOENT.into());
                    }
                    real.extend(ahead.drain(..).rev());
                    return Ok(Met::End);
                }
                Err(fault) => return Err(fault.into()),
            }
        }
    }
    Ok(Met::End)
}
