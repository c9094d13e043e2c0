//! Paths that an operator would open to commands and cannot: known before anything runs, so that it
//! is a mistake in a configuration and not a failure of a call.

use std::path::{Path, PathBuf};

use crate::protected::{Protected, by_both_names};
use crate::secrets::BY_NAME_ONLY;

/// What each command has of its own, whatever is there outside.
const MADE_ANEW: &[&str] = &["/proc", "/sys", "/dev"];

/// How a path is to be opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Opened {
    /// To be read.
    Read,
    /// To be read and written.
    Write,
}

/// Why a path cannot be opened, as a fragment that reads on after its name; none where it can.
#[must_use]
pub fn hopeless(
    path: &Path,
    opened: Opened,
    protected: &Protected,
    data_dir: Option<&Path>,
) -> Option<String> {
    if !path.is_absolute() {
        return Some("is relative, and means another place from each directory".to_owned());
    }
    let real = match path.canonicalize() {
        Ok(real) => real,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Some("does not exist".to_owned());
        }
        Err(error) => return Some(format!("cannot be reached: {error}")),
    };
    if real.parent().is_none() {
        return Some("is the whole file system; name what in it is meant".to_owned());
    }
    if MADE_ANEW.iter().any(|made| real.starts_with(made)) {
        return Some("is made anew for each command".to_owned());
    }
    // What is opened by its own name alone is named here.
    let covers = |path: &&Path| protected.covers(path).filter(|why| *why != BY_NAME_ONLY);
    if let Some(why) = [path, real.as_path()].iter().find_map(covers) {
        return Some(format!("is never opened: {why}"));
    }
    let ours: Vec<PathBuf> = data_dir.map(by_both_names).unwrap_or_default();
    if let Some(ours) = ours.iter().find(|ours| real.starts_with(ours)) {
        return Some(format!("lies in our own data, {}", ours.display()));
    }
    let holds = ours.iter().find(|ours| ours.starts_with(&real));
    match (opened, holds) {
        (Opened::Write, Some(ours)) => Some(format!(
            "holds our own data, {}; name what else in it is to be written",
            ours.display()
        )),
        (Opened::Write | Opened::Read, _) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;
    use std::fs;

    #[rstest]
    #[case("relative", [true, true], "is relative")]
    #[case("/", [true, true], "is the whole file system")]
    #[case("/usr/..", [true, true], "is the whole file system")]
    #[case("/nowhere/at/all", [true, true], "does not exist")]
    #[case("/proc/sys", [true, true], "is made anew")]
    #[case("/dev", [true, true], "is made anew")]
    #[case("HOME/.ssh", [true, true], "credentials")]
    #[case("HOME/.ssh/keys", [true, true], "credentials")]
    #[case("HOME/link", [true, true], "credentials")]
    #[case("/etc/shadow", [true, true], "credentials")]
    #[case("HOME/data", [true, true], "lies in our own data")]
    #[case("HOME/data/files", [true, true], "lies in our own data")]
    #[case("HOME", [false, true], "holds our own data")]
    #[case("HOME/project", [false, false], "")]
    #[case("HOME/.kube", [false, false], "")]
    #[case("HOME/.kube/config", [false, false], "")]
    #[case("/usr/share", [false, false], "")]
    fn what_cannot_be_opened_says_why(
        #[case] path: &str,
        #[case] closed: [bool; 2],
        #[case] words: &str,
    ) {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().canonicalize().unwrap();
        for name in ["data/files", ".ssh/keys", "project", ".kube/config"] {
            fs::create_dir_all(home.join(name)).unwrap();
        }
        std::os::unix::fs::symlink(home.join(".ssh"), home.join("link")).unwrap();
        let path = path.replace("HOME", &home.to_string_lossy());
        let protected = Protected::of_home(&home);
        let data = home.join("data");
        let why = [Opened::Read, Opened::Write]
            .map(|opened| hopeless(Path::new(&path), opened, &protected, Some(&data)));
        assert_eq!(why.clone().map(|why| why.is_some()), closed, "{why:?}");
        for why in why.into_iter().flatten() {
            assert!(why.contains(words), "{why}");
        }
    }
}
