//! The environment, read once.
//!
//! [`Environment::capture`] is called by `main` and by nobody else; everything that wants to know
//! a variable gets it from the value. [`NAMES`] is the one list of the names that mean something.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};

use secrecy::SecretString;

/// A variable by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(&'static str);

impl Name {
    /// The name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        self.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

macro_rules! names {
    ($($(#[doc = $doc:literal])+ $name:ident,)+) => {
        $($(#[doc = $doc])+ pub const $name: Name = Name(stringify!($name));)+

        /// Every name that means something, with what it means.
        pub const NAMES: &[(Name, &str)] = &[$(($name, concat!($($doc),+)),)+];
    };
}

names! {
    /// The person's home: `~` in paths, and where the directories below are found.
    HOME,
    /// Where configuration files live; `~/.config` without it.
    XDG_CONFIG_HOME,
    /// Where data lives; `~/.local/share` without it.
    XDG_DATA_HOME,
    /// Where programs are found. Commands of tools get it too.
    PATH,
    /// The language. Commands of tools get it too.
    LANG,
    /// The time zone. Commands of tools get it too.
    TZ,
    /// Set to anything: no colour.
    NO_COLOR,
    /// Set to anything but `0`: colour, also where there is no terminal.
    CLICOLOR_FORCE,
    /// The kind of terminal; `dumb` means no colour.
    TERM,
    /// The root of pyenv, so that its Pythons work inside the sandbox.
    PYENV_ROOT,
    /// The root of rustup, so that its toolchains work inside the sandbox.
    RUSTUP_HOME,
    /// The root of cargo, so that its registry can be read inside the sandbox.
    CARGO_HOME,
    /// The root of nvm, so that its Nodes work inside the sandbox.
    NVM_DIR,
    /// The JDK in use, so that it works inside the sandbox, where it has this name too.
    JAVA_HOME,
    /// The Go in use, so that it works inside the sandbox, where it has this name too.
    GOROOT,
    /// The Python environment in use, so that it works inside the sandbox.
    VIRTUAL_ENV,
    /// The key of Anthropic.
    ANTHROPIC_API_KEY,
    /// The key of OpenAI.
    OPENAI_API_KEY,
    /// The key of Gemini.
    GEMINI_API_KEY,
    /// Where Ollama listens.
    OLLAMA_HOST,
    /// Another name of `OUTFITTER_TOOLS__AVAILABLE`; empty means no tools.
    AGENT_TOOLS,
    /// Another name of `OUTFITTER_SKILLS__LOAD`.
    AGENT_SKILLS,
    /// Another name of `OUTFITTER_SKILLS__DIRS`.
    AGENT_SKILLS_DIR,
    /// Another name of `--session`.
    AGENT_SESSION_ID,
    /// The path of a SQLite file: another name of `OUTFITTER_STORE__URL`.
    AGENT_MEMORY_DATABASE,
    /// The path of a JSON file with conversations, which this version cannot use: an error.
    AGENT_MEMORY_FILE,
    /// Another name of `OUTFITTER_PROGRESS__ENABLED`.
    SAGE_TOOL_PROGRESS_ENABLED,
    /// Another name of `OUTFITTER_PROGRESS__FLUSH_INTERVAL_MS`.
    SAGE_TOOL_PROGRESS_FLUSH_INTERVAL_MS,
    /// Another name of `OUTFITTER_PROGRESS__FLUSH_BYTES`.
    SAGE_TOOL_PROGRESS_FLUSH_BYTES,
    /// Another name of `OUTFITTER_TOOLS__MAX_RESULT_TOKENS`.
    SAGE_MAX_TOOL_RESULT_TOKENS,
}

/// A variable of a helper, which is a program of its own and reads its own environment.
#[cfg(feature = "helpers")]
pub(crate) fn of_helper(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}

/// What the names of keys as variables begin with: `OUTFITTER_SECTION__KEY`.
pub const PREFIX: &str = "OUTFITTER_";

/// The environment as it was when the program began. It shows names only, never values, when it is
/// printed for debugging.
#[derive(Clone, Default)]
pub struct Environment {
    variables: BTreeMap<OsString, OsString>,
    current_dir: PathBuf,
}

impl Environment {
    /// Reads the environment of the process. Only `main` calls this.
    ///
    /// # Errors
    /// When the current directory is gone or cannot be named.
    pub fn capture() -> std::io::Result<Self> {
        Ok(Self {
            variables: std::env::vars_os().collect(),
            current_dir: std::env::current_dir()?,
        })
    }

    /// An environment of these variables, for tests and for embedding.
    pub fn of<N, V>(
        current_dir: impl Into<PathBuf>,
        variables: impl IntoIterator<Item = (N, V)>,
    ) -> Self
    where
        N: Into<OsString>,
        V: Into<OsString>,
    {
        Self {
            variables: variables
                .into_iter()
                .map(|(name, value)| (name.into(), value.into()))
                .collect(),
            current_dir: current_dir.into(),
        }
    }

    /// Where the program was started.
    #[must_use]
    pub fn current_dir(&self) -> &Path {
        &self.current_dir
    }

    /// The value of a variable, as it is.
    #[must_use]
    pub fn os(&self, name: Name) -> Option<&OsStr> {
        self.variables
            .get(OsStr::new(name.as_str()))
            .map(OsString::as_os_str)
    }

    /// The value of a variable as text; none also when it is not UTF-8.
    #[must_use]
    pub fn text(&self, name: Name) -> Option<&str> {
        self.os(name)?.to_str()
    }

    /// Whether a variable is set and not empty.
    #[must_use]
    pub fn has(&self, name: Name) -> bool {
        self.os(name).is_some_and(|value| !value.is_empty())
    }

    /// A directory that a variable names. A relative one is ignored, as the XDG Base Directory
    /// Specification demands.
    #[must_use]
    pub fn directory(&self, name: Name) -> Option<&Path> {
        self.os(name)
            .map(Path::new)
            .filter(|path| path.is_absolute())
    }

    /// The key that the operator says is in the variable `name`; none when it is empty.
    #[must_use]
    pub fn secret(&self, name: &str) -> Option<SecretString> {
        self.variables
            .get(OsStr::new(name))
            .and_then(|value| value.to_str())
            .filter(|value| !value.is_empty())
            .map(SecretString::from)
    }

    /// Those of `names` that are set, for a child that the operator lets have them.
    pub fn passed<'a>(
        &'a self,
        names: impl IntoIterator<Item = &'a str>,
    ) -> impl Iterator<Item = (&'a str, &'a OsStr)> {
        names.into_iter().filter_map(|name| {
            self.variables
                .get(OsStr::new(name))
                .map(|value| (name, value.as_os_str()))
        })
    }

    /// The variables that are keys of the configuration: their whole names and values.
    pub fn keys(&self) -> impl Iterator<Item = (&str, &OsStr)> {
        self.variables.iter().filter_map(|(name, value)| {
            let name = name.to_str()?;
            name.starts_with(PREFIX)
                .then_some((name, value.as_os_str()))
        })
    }

    /// The directory of the person's configuration files.
    #[must_use]
    pub fn config_home(&self) -> Option<PathBuf> {
        self.directory(XDG_CONFIG_HOME)
            .map(Path::to_owned)
            .or_else(|| Some(self.directory(HOME)?.join(".config")))
    }

    /// The directory of the person's data.
    #[must_use]
    pub fn data_home(&self) -> Option<PathBuf> {
        self.directory(XDG_DATA_HOME)
            .map(Path::to_owned)
            .or_else(|| Some(self.directory(HOME)?.join(".local/share")))
    }
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Environment")
            .field("variables", &self.variables.keys().collect::<Vec<_>>())
            .field("current_dir", &self.current_dir)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_output_has_no_values() {
        let env = Environment::of("/w", [("OPENAI_API_KEY", "sk-secret")]);
        let text = format!("{env:?}");
        assert!(text.contains("OPENAI_API_KEY"), "{text}");
        assert!(!text.contains("sk-secret"), "{text}");
    }

    #[test]
    fn a_relative_xdg_directory_is_ignored() {
        let env = Environment::of("/w", [("HOME", "/h"), ("XDG_DATA_HOME", "data")]);
        assert_eq!(env.data_home(), Some(PathBuf::from("/h/.local/share")));
        let env = Environment::of("/w", [("HOME", "/h"), ("XDG_DATA_HOME", "/data")]);
        assert_eq!(env.data_home(), Some(PathBuf::from("/data")));
    }

    #[test]
    fn an_empty_key_is_no_key() {
        let env = Environment::of("/w", [("OPENAI_API_KEY", "")]);
        assert!(env.secret("OPENAI_API_KEY").is_none());
        assert!(!env.has(OPENAI_API_KEY));
    }
}
