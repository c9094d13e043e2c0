//! What the sandbox has to know of the environment outside. Read once by the binary and handed in:
//! nothing here looks at a variable.

use std::ffi::OsString;
use std::path::PathBuf;

/// The values of a few variables of the surrounding environment.
#[derive(Debug, Clone, Default)]
pub struct Host {
    /// `HOME`: where toolchains and credentials lie.
    pub home: Option<PathBuf>,
    /// `PATH`.
    pub path: Option<OsString>,
    /// `LANG`, or what stands above it.
    pub lang: Option<OsString>,
    /// `TZ`.
    pub timezone: Option<OsString>,
    /// `CARGO_HOME`, if it is not `~/.cargo`.
    pub cargo_home: Option<PathBuf>,
    /// `RUSTUP_HOME`, if it is not `~/.rustup`.
    pub rustup_home: Option<PathBuf>,
    /// `PYENV_ROOT`, if it is not `~/.pyenv`.
    pub pyenv_root: Option<PathBuf>,
    /// `NVM_DIR`, if it is not `~/.nvm`.
    pub nvm_dir: Option<PathBuf>,
    /// `JAVA_HOME`: the JDK in use.
    pub java_home: Option<PathBuf>,
    /// `GOROOT`: the Go in use.
    pub go_root: Option<PathBuf>,
    /// `VIRTUAL_ENV`: the virtual environment that is active.
    pub virtual_env: Option<PathBuf>,
}

impl Host {
    pub(crate) fn cargo_home(&self) -> Option<PathBuf> {
        self.given_or_in_home(self.cargo_home.as_ref(), ".cargo")
    }

    pub(crate) fn rustup_home(&self) -> Option<PathBuf> {
        self.given_or_in_home(self.rustup_home.as_ref(), ".rustup")
    }

    pub(crate) fn pyenv_root(&self) -> Option<PathBuf> {
        self.given_or_in_home(self.pyenv_root.as_ref(), ".pyenv")
    }

    pub(crate) fn nvm_dir(&self) -> Option<PathBuf> {
        self.given_or_in_home(self.nvm_dir.as_ref(), ".nvm")
    }

    fn given_or_in_home(&self, given: Option<&PathBuf>, name: &str) -> Option<PathBuf> {
        given
            .filter(|path| path.is_absolute())
            .cloned()
            .or_else(|| Some(self.home.as_ref()?.join(name)))
    }
}
