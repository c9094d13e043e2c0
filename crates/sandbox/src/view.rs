//! What the commands of a session may reach, to tell what the kernel refused one of them: the
//! kernel says so to the command alone, so its own words on its standard error are what there is.
//! They are believed only as far as the view, and what we ourselves may do, say the same.

use std::path::{Component, Path, PathBuf};

use outfitter_core::{Refusal, Refused};
use outfitter_process::Confined;
use rustix::fs::{Access, access};

use crate::protected::Protected;
use crate::secrets::BY_NAME_ONLY;

/// Refused paths that are told of one command; more say nothing new.
pub(crate) const MAX_REFUSED_PATHS: usize = 10;

/// The key that opens a path for reading, and for writing.
const READ: &str = "[sandbox] read";
const WRITE: &str = "[sandbox] write";

/// What no key opens: the views of the kernel, and what is empty and private inside.
const NOT_OURS: &[&str] = &["/proc", "/sys", "/dev", "/tmp", "/run", "/var/tmp"];

/// What programs say when they wanted to write. Without it a refusal may be one of reading.
const WRITING: &[&str] = &[
    "cannot touch",
    "cannot create",
    "cannot remove",
    "cannot make",
    "cannot move",
    "cannot overwrite",
    "cannot unlink",
    "could not create",
    "unable to create",
    "failed to create",
    "changing permissions",
    "changing ownership",
];

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

/// How the kernel refuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Said {
    Denied,
    ReadOnly,
}

const WORDS: &[(&str, Said)] = &[
    ("permission denied", Said::Denied),
    ("operation not permitted", Said::Denied),
    ("read-only file system", Said::ReadOnly),
];

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

    /// What these lines say was refused, as far as it was the sandbox that did.
    pub(crate) fn refusals(&self, stderr: &str) -> Vec<Refusal> {
        let mut found: Vec<Refusal> = Vec::new();
        for line in stderr.lines() {
            let Some((path, said)) = complaint(line) else {
                continue;
            };
            let Some(refusal) = self.judge(path, said, line) else {
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
        let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
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
            return (exists && !is_named).then(|| refusal(key, why))?;
        }
        if within(&self.hidden) {
            return exists.then(|| refusal(None, "no command may see it"))?;
        }
        if within(&self.write) {
            let fixed = self.protected.fixes(path);
            return fixed.and_then(|why| refusal(None, why));
        }
        let wanted_to_write = said == Said::ReadOnly
            || WRITING
                .iter()
                .any(|word| line.to_ascii_lowercase().contains(word));
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

/// Absolute, and without steps upwards.
fn is_plain(path: &Path) -> bool {
    path.is_absolute()
        && path
            .components()
            .all(|part| matches!(part, Component::RootDir | Component::Normal(_)))
}

/// The absolute path that a line complains about, and how.
fn complaint(line: &str) -> Option<(&Path, Said)> {
    let lower = line.to_ascii_lowercase();
    let (at, words, said) = WORDS
        .iter()
        .filter_map(|(words, said)| Some((lower.rfind(words)?, *words, *said)))
        .max_by_key(|(at, ..)| *at)?;
    let before = line.get(..at)?.trim_end();
    let after = line.get(at + words.len()..)?.trim();
    let path = if after.is_empty() || after.starts_with("(os error") {
        named_before(before.strip_suffix(':')?)?
    } else {
        // `Permission denied: '/x'`, `permission denied, open '/x'`.
        quoted_end(after)?
    };
    path.starts_with('/').then(|| (Path::new(path), said))
}

/// `cat: /x`, `touch: cannot touch '/x'`, `sh: 1: cannot create /x`.
fn named_before(text: &str) -> Option<&str> {
    if let Some(quoted) = quoted_end(text) {
        return Some(quoted);
    }
    let last = text.rsplit(": ").next()?;
    if last.starts_with('/') {
        return Some(last);
    }
    last.rsplit(char::is_whitespace).next()
}

/// What stands in quotes at the end.
fn quoted_end(text: &str) -> Option<&str> {
    for (open, close) in [('\'', '\''), ('"', '"'), ('‘', '’')] {
        if let Some(inner) = text.strip_suffix(close) {
            let (_, quoted) = inner.rsplit_once(open)?;
            return Some(quoted);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rstest::rstest;

    #[rstest]
    #[case("cat: /etc/shadow: Permission denied", Some(("/etc/shadow", Said::Denied)))]
    #[case("touch: cannot touch '/usr/a b': Read-only file system", Some(("/usr/a b", Said::ReadOnly)))]
    #[case("/bin/sh: 1: cannot create /usr/x: Permission denied", Some(("/usr/x", Said::Denied)))]
    #[case("bash: line 1: /usr/x: Read-only file system", Some(("/usr/x", Said::ReadOnly)))]
    #[case("PermissionError: [Errno 13] Permission denied: '/srv/x'", Some(("/srv/x", Said::Denied)))]
    #[case("Error: EROFS: read-only file system, open '/usr/x'", Some(("/usr/x", Said::ReadOnly)))]
    #[case("x: /srv/x: Permission denied (os error 13)", Some(("/srv/x", Said::Denied)))]
    #[case("chmod: changing permissions of ‘/usr’: Operation not permitted", Some(("/usr", Said::Denied)))]
    #[case("cat: notes: Permission denied", None)]
    #[case("Permission denied", None)]
    #[case("/srv/x says: Permission denied was what I heard", None)]
    #[case("cat: /srv/x: No such file or directory", None)]
    fn a_path_is_taken_from_the_words_that_programs_use(
        #[case] line: &str,
        #[case] found: Option<(&str, Said)>,
    ) {
        let got = complaint(line);
        assert_eq!(got, found.map(|(path, said)| (Path::new(path), said)));
    }

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
            let told = view.refusals(&line);
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
        assert_eq!(view.refusals(&lines).len(), MAX_REFUSED_PATHS);
    }

    proptest! {
        #[test]
        fn no_line_makes_it_fail(line in ".*(?i:permission denied).*") {
            let _ = complaint(&line);
        }
    }
}
