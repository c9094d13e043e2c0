//! The files that a program is, as they are on disk now: whoever keeps what a program said of itself
//! knows by them whether it is the same program still.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

/// What stands for a file that is not there.
const NONE: &[u8] = b"none";

/// What a program is started as.
#[derive(Debug, Clone, Copy)]
pub struct OnDisk<'a> {
    /// The program; a bare name is looked up in [`search`](Self::search).
    pub program: &'a OsStr,
    /// Its arguments. A script is one of what runs it.
    pub args: &'a [OsString],
    /// Its `PATH`.
    pub search: &'a OsStr,
    /// Where it runs; none where that is a folder of its own with nothing in it.
    pub dir: Option<&'a Path>,
}

impl OnDisk<'_> {
    /// The names of its files, how long they are, and when they were written last: those of another
    /// version differ. Its files are the program and the first argument that is one, which is the
    /// script where the program runs one; those behind it may be what it writes to.
    #[must_use]
    pub fn facts(&self) -> Vec<Vec<u8>> {
        let of_option = |at: usize| {
            let before = at.checked_sub(1).and_then(|before| self.args.get(before));
            before.is_some_and(|before| before.as_bytes().starts_with(b"--") && before.len() > 2)
        };
        let mut args = self.args.iter().enumerate();
        let script = args.find_map(|(at, arg)| {
            let file = self.placed(Path::new(arg)).filter(|file| file.is_file())?;
            (!of_option(at)).then_some(file)
        });
        let script = script.map(Some);
        std::iter::once(self.found())
            .chain(script)
            .map(facts)
            .collect()
    }

    /// Why it cannot be started as it is on disk now; none where nothing shows of that.
    #[must_use]
    pub fn lacking(&self) -> Option<String> {
        let program = Path::new(self.program);
        if program.components().count() == 1 && !program.is_absolute() {
            // Without a `PATH` the system has directories of its own.
            let found = self.search.is_empty() || self.found().is_some();
            let searched = Path::new(self.search).display();
            return (!found)
                .then(|| format!("{} is in no directory of {searched}", program.display()));
        }
        let file = self.placed(program)?;
        let is = match file.metadata() {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => "is not there",
            // What may not be looked at may be started all the same.
            Err(_) => return None,
            Ok(now) if !now.is_file() => "is no file",
            Ok(now) if now.permissions().mode() & 0o111 == 0 => "is not executable",
            Ok(_) => return None,
        };
        Some(format!("{} {is}", file.display()))
    }

    fn placed(&self, path: &Path) -> Option<PathBuf> {
        if path.is_absolute() {
            return Some(path.to_owned());
        }
        Some(self.dir?.join(path))
    }

    /// The file of the program.
    fn found(&self) -> Option<PathBuf> {
        let program = Path::new(self.program);
        if program.components().count() > 1 || program.is_absolute() {
            return self.placed(program);
        }
        let dirs = std::env::split_paths(self.search);
        let mut files = dirs.map(|dir| dir.join(program));
        files.find(|file| {
            let now = file.metadata();
            now.is_ok_and(|now| now.is_file() && now.permissions().mode() & 0o111 != 0)
        })
    }
}

fn facts(file: Option<PathBuf>) -> Vec<u8> {
    let Some((file, now)) = file.and_then(|file| file.metadata().ok().map(|now| (file, now)))
    else {
        return NONE.to_vec();
    };
    let mut facts = Vec::new();
    facts.extend(now.size().to_le_bytes());
    facts.extend(now.mtime().to_le_bytes());
    facts.extend(now.mtime_nsec().to_le_bytes());
    facts.extend(now.ino().to_le_bytes());
    facts.extend(file.as_os_str().as_bytes());
    facts
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_cannot_be_started_says_why() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("run");
        let lacking = |program: &OsStr| {
            let (search, args) = (dir.path().as_os_str(), &[]);
            OnDisk {
                program,
                args,
                search,
                dir: Some(dir.path()),
            }
            .lacking()
        };
        let at = dir.path().display();
        let (whole, bare) = (file.as_os_str(), OsStr::new("run"));
        assert_eq!(lacking(whole).unwrap(), format!("{at}/run is not there"));
        assert_eq!(
            lacking(bare).unwrap(),
            format!("run is in no directory of {at}")
        );
        fs::write(&file, "1").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        assert_eq!(
            lacking(whole).unwrap(),
            format!("{at}/run is not executable")
        );
        assert!(lacking(bare).is_some());
        fs::set_permissions(&file, fs::Permissions::from_mode(0o700)).unwrap();
        assert_eq!((lacking(whole), lacking(bare)), (None, None));
        assert_eq!(lacking(OsStr::new("./run")), None);
        let itself = lacking(dir.path().as_os_str()).unwrap();
        assert_eq!(itself, format!("{at} is no file"));
    }

    #[test]
    fn a_program_is_told_from_another_version_by_its_files() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        for name in ["run", "script", "data"] {
            fs::write(at(name), "1").unwrap();
            fs::set_permissions(at(name), fs::Permissions::from_mode(0o700)).unwrap();
        }
        let args = ["-u", "--db", "data", "script", "data", "."].map(OsString::from);
        let of = |program: &str, args: &[OsString]| {
            let (search, program) = (dir.path().as_os_str(), OsStr::new(program));
            let dir = Some(dir.path());
            OnDisk {
                program,
                args,
                search,
                dir,
            }
            .facts()
        };
        let before = of("run", &args);
        assert_eq!(before.len(), 2, "the program and its script");
        assert_eq!(before, of("run", &args));
        assert_eq!(before, of(at("run").to_str().unwrap(), &args));
        fs::write(at("data"), "22").unwrap();
        fs::write(at("other"), "").unwrap();
        assert_eq!(
            before,
            of("run", &args),
            "what it writes to is not what it is"
        );
        fs::write(at("script"), "22").unwrap();
        assert_ne!(before, of("run", &args));
        let before = of("run", &[]);
        fs::write(at("new"), "1").unwrap();
        fs::set_permissions(at("new"), fs::Permissions::from_mode(0o700)).unwrap();
        fs::rename(at("new"), at("run")).unwrap();
        assert_ne!(before, of("run", &[]), "as long as the one before");
        assert_eq!(of("gone", &[]), [NONE]);
    }
}
