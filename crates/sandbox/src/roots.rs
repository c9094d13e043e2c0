//! What a confined command may read besides its workspace: exact roots, decided once for a session.
//!
//! Decided once and outside, because what a later command could write must not widen what the next
//! may read.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::host::Host;
use crate::system_roots::numbered_configuration;
use crate::system_roots::{SYSTEM_CONFIGURATION, SYSTEM_DIRECTORIES};
use crate::toolchains::{self, holds_home};
use crate::venv::{Base, base_of};

const PROGRAMS: &str = "programs and libraries";
const SETTINGS: &str = "settings that programs need";

/// Files of `/etc` that programs stop at if they exist and cannot be opened, and that may hold a
/// token: they read as empty.
pub(crate) const BLANK_CONFIGURATION: &[&str] = &["/etc/npmrc", "/etc/pip.conf"];

/// The same beside and above a workspace: cargo reads them on its way up, and stops.
const BLANK_ABOVE: &[&str] = &[".cargo/config.toml", ".cargo/config"];

/// Credentials that lie in a root of their tool.
const SECRETS_IN_ROOTS: &[&str] = &[".local/share/uv/credentials"];

/// What may be read and executed, what is hidden in it, and what reads as empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ReadableRoots {
    /// Trees and files.
    pub(crate) read: Vec<PathBuf>,
    /// Never, although a root above it is readable.
    pub(crate) hide: Vec<PathBuf>,
    /// Why each that is not in the workspace may be read, in some words.
    pub(crate) why: BTreeMap<PathBuf, &'static str>,
    /// Files that read as empty.
    pub(crate) blank: Vec<PathBuf>,
    /// What was asked for and left out, one sentence each.
    pub(crate) left_out: Vec<String>,
}

impl ReadableRoots {
    /// The roots of this machine for a session with this workspace, and the operator's own.
    #[must_use]
    pub(crate) fn of(host: &Host, workspace: &Path, more: &[PathBuf]) -> Self {
        let mut roots = Self::default();
        for path in SYSTEM_DIRECTORIES {
            roots.add(path, PROGRAMS);
        }
        for path in SYSTEM_CONFIGURATION {
            roots.add(path, SETTINGS);
        }
        for path in numbered_configuration(Path::new("/etc")) {
            roots.add(path, SETTINGS);
        }
        for (path, why) in toolchains::parts(host) {
            roots.add(path, why);
        }
        for (path, why) in toolchains::on_path(host) {
            if !roots.has(&path) {
                roots.add(path, why);
            }
        }
        if let Some(home) = &host.home {
            roots
                .hide
                .extend(SECRETS_IN_ROOTS.iter().map(|path| home.join(path)));
        }
        let active = host.virtual_env.clone();
        for venv in active
            .into_iter()
            .chain([workspace.join(".venv"), workspace.join("venv")])
        {
            roots.add_venv(&venv, host);
        }
        for path in more {
            if path.exists() {
                roots.add(path, "[sandbox] read");
            } else {
                roots.left_out.push(format!(
                    "{} is not there and cannot be read",
                    path.display()
                ));
            }
        }
        let above = workspace.ancestors().skip(1);
        let above = above.flat_map(|dir| BLANK_ABOVE.iter().map(move |name| dir.join(name)));
        let blank = BLANK_CONFIGURATION.iter().map(PathBuf::from).chain(above);
        roots.blank.extend(blank.filter(|path| path.exists()));
        roots
    }

    /// What is there, and why.
    fn add(&mut self, path: impl Into<PathBuf>, why: &'static str) {
        let path = path.into();
        if path.exists() {
            self.why.entry(path.clone()).or_insert(why);
            self.read.push(path);
        }
    }

    /// Whether a path lies in what may be read.
    #[must_use]
    pub(crate) fn has(&self, path: &Path) -> bool {
        self.read.iter().any(|root| path.starts_with(root))
    }

    /// A virtual environment and the installation it is made of.
    fn add_venv(&mut self, venv: &Path, host: &Host) {
        let base = match base_of(venv) {
            Base::NoEnvironment => return,
            Base::Unknown => {
                self.add(venv, "a virtual environment");
                return;
            }
            Base::Installation(base) | Base::Other(base) if self.has(&base) => {
                self.add(venv, "a virtual environment");
                return;
            }
            base @ (Base::Installation(_) | Base::Other(_)) => base,
        };
        self.add(venv, "a virtual environment");
        match base {
            Base::Installation(base) if !holds_home(&base, host) => {
                self.add(base, "the Python of a virtual environment");
            }
            Base::Installation(base) | Base::Other(base) => self.left_out.push(format!(
                "{} says it is made of {}, which is no Python installation",
                venv.display(),
                base.display()
            )),
            Base::NoEnvironment | Base::Unknown => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::venv::VENV_CONFIGURATION;
    use std::fs;

    fn home_with(paths: &[&str]) -> (tempfile::TempDir, Host) {
        let dir = tempfile::tempdir().unwrap();
        for path in paths {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let host = Host {
            home: Some(dir.path().canonicalize().unwrap()),
            ..Host::default()
        };
        (dir, host)
    }

    fn in_home(roots: &ReadableRoots, host: &Host) -> Vec<String> {
        let home = host.home.as_ref().unwrap();
        let inside = roots
            .read
            .iter()
            .filter_map(|path| path.strip_prefix(home).ok());
        inside.map(|path| path.display().to_string()).collect()
    }

    #[test]
    fn only_exact_parts_of_the_home_directory_are_readable() {
        let (_dir, host) = home_with(&[
            ".ssh/id_rsa",
            ".cargo/bin/cargo",
            ".cargo/registry/index",
            ".cargo/credentials.toml",
            ".cargo/config.toml",
            ".rustup/toolchains/stable/bin/rustc",
            ".rustup/settings.toml",
            ".rustup/downloads/x",
            ".pyenv/versions/3.12/bin/python3",
            ".nvm/versions/node/v20/bin/node",
            ".nvm/alias/default",
            ".local/bin/tool",
            ".local/share/uv/python/x",
            ".local/share/keyrings/login",
            ".local/share/pipx/venvs/black/bin/black",
            ".local/share/pipx/trash/x",
            "go/bin/gopls",
            "go/pkg/mod/cache/x",
            "sdk/go1.25/bin/go",
            ".sdkman/candidates/java/21/bin/java",
            ".sdkman/etc/config",
            "notes.txt",
        ]);
        let roots = ReadableRoots::of(&host, Path::new("/srv/project"), &[]);
        let expected = [
            ".cargo/bin",
            ".cargo/registry",
            ".rustup/toolchains",
            ".rustup/settings.toml",
            ".nvm/versions",
            ".local/bin",
            ".local/share/uv",
            ".local/share/pipx/venvs",
            "go/bin",
            "sdk",
            ".sdkman/candidates",
            ".pyenv",
        ];
        assert_eq!(in_home(&roots, &host), expected);
        assert_eq!(roots.left_out, Vec::<String>::new());
    }

    #[test]
    fn every_root_says_why() {
        let (_dir, host) = home_with(&[".cargo/bin/cargo", ".local/bin/tool"]);
        let more = [PathBuf::from("/usr/share/doc")];
        let roots = ReadableRoots::of(&host, Path::new("/srv/project"), &more);
        assert!(roots.read.iter().all(|path| roots.why.contains_key(path)));
        let home = host.home.unwrap();
        assert_eq!(
            roots.why[&home.join(".cargo/bin")],
            "the toolchain of cargo"
        );
        assert_eq!(roots.why[Path::new("/usr")], PROGRAMS);
        assert_eq!(roots.why[&more[0]], "[sandbox] read");
    }

    #[test]
    fn nothing_that_holds_a_secret_is_in_the_constant_list() {
        for secret in [
            "/etc/shadow",
            "/etc/ssl/private/key",
            "/etc/ssh/key",
            "/etc/npmrc",
        ] {
            let roots = ReadableRoots {
                read: SYSTEM_CONFIGURATION.iter().map(PathBuf::from).collect(),
                ..ReadableRoots::default()
            };
            assert!(!roots.has(Path::new(secret)), "{secret}");
        }
    }

    #[test]
    fn a_virtual_environment_brings_the_python_it_is_made_of() {
        let (dir, host) = home_with(&[
            "py/bin/python3",
            "py/lib/python3.12/os.py",
            "venv/bin/python",
        ]);
        let base = dir.path().canonicalize().unwrap();
        let venv = base.join("venv");
        let configuration = format!("home = {}\nversion = 3.12\n", base.join("py/bin").display());
        fs::write(venv.join(VENV_CONFIGURATION), configuration).unwrap();
        let host = Host {
            virtual_env: Some(venv),
            ..host
        };
        let roots = ReadableRoots::of(&host, Path::new("/srv/project"), &[]);
        assert_eq!(in_home(&roots, &host), ["venv", "py"]);
    }

    #[test]
    fn a_forged_virtual_environment_opens_nothing() {
        let (dir, host) = home_with(&[
            ".ssh/id_rsa",
            "bin/python3",
            "lib/python3.12/os.py",
            "project/.venv/x",
        ]);
        let workspace = dir.path().canonicalize().unwrap().join("project");
        for target in [".ssh/x", "bin"] {
            let target = dir.path().join(target);
            fs::create_dir_all(&target).unwrap();
            let configuration = format!("home = {}\n", target.display());
            fs::write(
                workspace.join(".venv").join(VENV_CONFIGURATION),
                configuration,
            )
            .unwrap();
            let roots = ReadableRoots::of(&host, &workspace, &[]);
            assert_eq!(in_home(&roots, &host), ["project/.venv"]);
            assert_eq!(roots.left_out.len(), 1, "{:?}", roots.left_out);
        }
    }

    #[test]
    fn a_configured_path_that_is_not_there_is_said() {
        let more = [
            PathBuf::from("/nowhere/at/all"),
            PathBuf::from("/usr/share"),
        ];
        let roots = ReadableRoots::of(&Host::default(), Path::new("/srv"), &more);
        assert_eq!(
            roots.left_out,
            ["/nowhere/at/all is not there and cannot be read"]
        );
        assert!(roots.read.contains(&more[1]));
    }
}
