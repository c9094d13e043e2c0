//! What the commands of a session may reach, to tell what the kernel refused one of them: the
//! kernel says so to the command alone, so its own words on its standard error are what there is.
//! They are believed only as far as the view, and what we ourselves may do, say the same.

use std::path::{Component, Path, PathBuf};

use outfitter_core::{Refusal, Refused};
use outfitter_process::Confined;
use rustix::fs::{Access, access};

use crate::complaint::{Said, complaint, directories, wants_to_write};
use crate::protected::Protected;
use crate::secrets::BY_NAME_ONLY;

/// Refused paths that are told of one command; more say nothing new.
pub(crate) const MAX_REFUSED_PATHS: usize = 10;

/// The key that opens a path for reading, and for writing.
const READ: &str = "[sandbox] read";
const WRITE: &str = "[sandbox] write";

/// What no key opens: the views of the kernel.
const NOT_OURS: &[&str] = &["/proc", "/sys", "/dev"];

/// The lists of a session.
#[derive(Debug)]
pub(crate) struct View {
    read: Vec<PathBuf>,
    write: Vec<PathBuf>,
    /// Hidden whatever the lists say.
    hidden: Vec<PathBuf>,
    /// Opened by no key.
    not_ours: &'static [&'static str],
    protected: Protected,
}

impl View {
    pub(crate) fn of(confined: &Confined, protected: &Protected) -> Self {
        let hidden = confined.hide.iter().chain(&confined.private);
        Self {
            read: confined.read.clone(),
            write: confined.write.clone(),
            hidden: hidden.cloned().collect(),
            not_ours: NOT_OURS,
            protected: protected.clone(),
        }
    }

    /// What these lines say was refused, as far as it was the sandbox that did. A relative path is
    /// looked for in the directory that the command began in, and in those that it names for `cd`.
    pub(crate) fn refusals(&self, stderr: &str, workdir: &Path, command: &str) -> Vec<Refusal> {
        let mut from = vec![workdir.to_owned()];
        from.extend(directories(command).map(|dir| plain(&workdir.join(dir))));
        let mut found: Vec<Refusal> = Vec::new();
        for line in stderr.lines() {
            let Some((path, said)) = complaint(line) else {
                continue;
            };
            let judged = if path.is_absolute() {
                self.judge(path, said, line)
            } else {
                let mut places = from.iter().map(|dir| plain(&dir.join(path)));
                places.find_map(|place| self.judge(&place, said, line))
            };
            let Some(refusal) = judged else {
                continue;
            };
            if !found.contains(&refusal) {
                found.push(refusal);
            }
            if found.len() == MAX_REFUSED_PATHS {
                break;
            }
        }
        found
    }

    fn judge(&self, path: &Path, said: Said, line: &str) -> Option<Refusal> {
        if !is_plain(path) || self.not_ours.iter().any(|place| path.starts_with(place)) {
            return None;
        }
        let exists = path.symlink_metadata().is_ok();
        let real = leads_to(path);
        let refusal = |allow: Option<&str>, why: &str| {
            Some(Refusal {
                refused: Refused::Path(path.to_owned()),
                allow: allow.map(ToOwned::to_owned),
                why: why.to_owned(),
            })
        };
        let within = |roots: &[PathBuf]| {
            let holds = |root: &PathBuf| path.starts_with(root) || real.starts_with(root);
            roots.iter().any(holds)
        };
        let covered = self.protected.covers(path);
        if let Some(why) = covered.or_else(|| self.protected.covers(&real)) {
            // Credentials of this kind are opened by their own name.
            let key = (why == BY_NAME_ONLY).then_some(READ);
            let is_named = self.read.iter().chain(&self.write).any(|root| {
                let named = self.protected.covers(root).is_some();
                named && (path.starts_with(root) || real.starts_with(root))
            });
            // Whether or not it is there: whoever asks does not learn it from this.
            return (!is_named).then(|| refusal(key, why))?;
        }
        // What a session may use lies in what is hidden, where that is ours.
        let is_inside = |hidden: &PathBuf| {
            let mut opened = self.read.iter().chain(&self.write);
            opened.any(|root| root.starts_with(hidden) && within(std::slice::from_ref(root)))
        };
        let mut hidden = self.hidden.iter().filter(|hidden| !is_inside(hidden));
        if hidden.any(|hidden| within(std::slice::from_ref(hidden))) {
            return refusal(None, "no command may see it");
        }
        if within(&self.write) {
            let fixed = self.protected.fixes_in(path, &self.write);
            let fixed = fixed.filter(|_| said != Said::Absent);
            return fixed.and_then(|why| refusal(None, why));
        }
        let wanted_to_write = said == Said::ReadOnly || wants_to_write(line);
        if said == Said::Absent && (within(&self.read) || !wanted_to_write && !exists) {
            return None;
        }
        if wanted_to_write {
            let writable = may(path, Access::WRITE_OK)
                || path.parent().is_some_and(|dir| may(dir, Access::WRITE_OK));
            return writable.then(|| refusal(Some(WRITE), "it cannot be written"))?;
        }
        if within(&self.read) {
            return None;
        }
        may(path, Access::READ_OK).then(|| refusal(Some(READ), "it cannot be read"))?
    }
}

/// Whether we could do it outside: what we could not, the sandbox did not refuse.
fn may(path: &Path, what: Access) -> bool {
    access(path, what).is_ok()
}

/// Where a path leads, be it to nothing: a link to what is not there leads as one to what is.
fn leads_to(path: &Path) -> PathBuf {
    let mut at = path.to_owned();
    for _ in 0..MOST_LINKS {
        if let Ok(real) = at.canonicalize() {
            return real;
        }
        let (Some(parent), Some(name)) = (at.parent(), at.file_name()) else {
            return at;
        };
        match at.read_link() {
            Ok(target) => at = plain(&parent.join(target)),
            Err(_) => return leads_to(parent).join(name),
        }
    }
    at
}

/// As the kernel has it.
const MOST_LINKS: usize = 40;

/// Without steps upwards, as text.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => plain.push(part),
        }
    }
    plain
}

/// Absolute, and without steps upwards.
fn is_plain(path: &Path) -> bool {
    path.is_absolute()
        && path
            .components()
            .all(|part| matches!(part, Component::RootDir | Component::Normal(_)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(base: &Path) -> View {
        let [read, write, hidden] = ["read", "write", "hidden"].map(|name| {
            let dir = base.join(name);
            std::fs::create_dir(&dir).unwrap();
            vec![dir]
        });
        View {
            read,
            write,
            hidden,
            not_ours: &[],
            protected: Protected::of_system().and_path(&base.join("secret")),
        }
    }

    #[test]
    fn each_refusal_names_the_key_that_would_allow_it_or_none() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        let view = view(&base);
        for name in ["read/a", "write/a", "hidden/a", "secret", "else"] {
            std::fs::write(base.join(name), "").unwrap();
        }
        let told = |words: &str, name: &str, error: &str| {
            let line = format!("{words}'{}': {error}", base.join(name).display());
            let told = view.refusals(&line, &base, "");
            told.first().map(|refusal| refusal.allow.clone())
        };
        let denied = "Permission denied";
        let read = Some(Some(READ.to_owned()));
        let write = Some(Some(WRITE.to_owned()));
        assert_eq!(told("cat: ", "else", denied), read);
        assert_eq!(told("touch: cannot touch ", "else", denied), write);
        assert_eq!(told("touch: cannot touch ", "new", denied), write);
        assert_eq!(told("x: ", "read/a", "Read-only file system"), write);
        assert_eq!(told("cat: ", "hidden/a", denied), Some(None));
        assert_eq!(told("cat: ", "secret", denied), Some(None));
        // A mode, not the sandbox; or nothing at all.
        assert_eq!(told("sh: ", "read/a", denied), None);
        assert_eq!(told("cat: ", "write/a", denied), None);
        assert_eq!(told("cat: ", "missing", denied), None);
        assert_eq!(told("cat: ", "read/../else", denied), None);
        // What is not shown reads as if it were not there.
        let absent = "No such file or directory";
        assert_eq!(told("cat: ", "else", absent), read);
        assert_eq!(
            told("cp: cannot create regular file ", "new", absent),
            write
        );
        assert_eq!(told("cat: ", "secret", absent), Some(None));
        assert_eq!(told("cat: ", "missing", absent), None);
        assert_eq!(told("cat: ", "read/missing", absent), None);
        assert_eq!(told("touch: cannot touch ", "read/no/file", absent), None);
        assert_eq!(told("touch: cannot touch ", "write/no/file", absent), None);
        // Nobody learns whether it is there, be it by a link.
        assert_eq!(told("cat: ", "secret/none", absent), Some(None));
        for (link, to) in [("to-some", "secret"), ("to-none", "secret/none")] {
            std::os::unix::fs::symlink(base.join(to), base.join("write").join(link)).unwrap();
            let link = format!("write/{link}");
            assert_eq!(told("cat: ", &link, absent), Some(None));
        }
        assert_eq!(told("cat: ", "hidden/none", absent), Some(None));
    }

    #[test]
    fn a_relative_path_is_looked_for_where_the_command_was() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        let view = view(&base);
        for name in ["write/outfitter.toml", "else"] {
            std::fs::write(base.join(name), "").unwrap();
        }
        let told = |line: &str, command: &str| -> Vec<_> {
            let told = view.refusals(line, &base.join("write"), command);
            let one = |refusal: Refusal| (refusal.refused, refusal.allow);
            told.into_iter().map(one).collect()
        };
        let path = |name: &str, key: Option<&str>| {
            let refused = Refused::Path(base.join(name));
            vec![(refused, key.map(ToOwned::to_owned))]
        };
        let fixed = "sh: 1: cannot create outfitter.toml: Read-only file system";
        assert_eq!(told(fixed, ""), path("write/outfitter.toml", None));
        let denied = "cat: else: Permission denied";
        assert_eq!(told(denied, "cat else"), []);
        assert_eq!(told(denied, "cd ..; cat else"), path("else", Some(READ)));
        let upwards = "cat: ../else: Permission denied";
        assert_eq!(told(upwards, ""), path("else", Some(READ)));
        let written = "touch: cannot touch 'x': Read-only file system";
        let command = format!("cd {} && touch x", base.join("read").display());
        assert_eq!(told(written, &command), path("read/x", Some(WRITE)));
    }

    /// The workspace of a server lies in our own data, which is hidden but for it.
    #[test]
    fn what_a_session_may_use_was_told_as_hidden() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        let mut view = view(&base);
        let own = base.join("hidden/own");
        std::fs::create_dir(&own).unwrap();
        view.write.push(own.clone());
        let line = format!("cat: {}: Permission denied", own.join("x").display());
        std::fs::write(own.join("x"), "").unwrap();
        assert_eq!(view.refusals(&line, &own, ""), []);
    }

    #[test]
    fn many_refusals_are_told_up_to_a_bound() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        let view = view(&base);
        let lines: String = (0..100)
            .map(|number| {
                let path = base.join(format!("new{number}"));
                format!(
                    "touch: cannot touch '{}': Permission denied\n",
                    path.display()
                )
            })
            .collect();
        assert_eq!(view.refusals(&lines, &base, "").len(), MAX_REFUSED_PATHS);
    }
}
