//! What is wrong with a configuration.

use std::fmt;
use std::path::PathBuf;

use outfitter_core::Code;

use super::source::Source;

/// One thing that is wrong, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Where; [`Source::Default`] for nowhere in particular.
    pub at: Source,
    /// The key that it is about, as `permissions.rules.0.tool`; items of lists are counted from 0.
    /// Empty where it is about no key.
    pub key: String,
    /// What, as a lowercase fragment that names the key, and what to do about it.
    pub message: String,
}

impl Problem {
    /// What is wrong with a key: `why` reads on after it.
    #[must_use]
    pub fn about(at: Source, key: impl Into<String>, why: impl fmt::Display) -> Self {
        let key = key.into();
        let message = format!("`{key}` {why}");
        Self { at, key, message }
    }

    /// Something else that is wrong.
    #[must_use]
    pub fn of(at: Source, message: impl Into<String>) -> Self {
        Self {
            at,
            key: String::new(),
            message: message.into(),
        }
    }

    /// Who set a key with a flag knows the flag and not the key.
    fn of_flag(&self, f: &mut fmt::Formatter<'_>, flag: &str) -> fmt::Result {
        let (_, why) = match self.message.split_once("` ") {
            Some((key, why)) if key.strip_prefix('`') == Some(&self.key) => (key, why),
            Some(_) | None => return write!(f, "{flag}: {}", self.message),
        };
        match self.key.as_str() {
            "model.provider" => write!(f, "the provider of {flag} {why}"),
            _ => write!(f, "{flag} {why}"),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.at {
            Source::Default => f.write_str(&self.message),
            Source::Flag(flag) => self.of_flag(f, flag),
            at => write!(f, "{at}: {}", self.message),
        }
    }
}

/// What is wrong, as it is found.
#[derive(Debug, Default)]
pub(super) struct Problems {
    all: Vec<Problem>,
    /// What keys that there are not were meant to be.
    meant: Vec<String>,
}

impl Problems {
    pub(super) fn push(&mut self, problem: Problem) {
        self.all.push(problem);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Says what is wrong with a key.
    pub(super) fn say(&mut self, at: &Source, key: impl Into<String>, why: impl fmt::Display) {
        self.push(Problem::about(at.clone(), key, why));
    }

    /// Says that a table lacks a key, unless something is wrong with that key itself. `what` is the
    /// key in its place among others, as "`command` or `builtin`".
    pub(super) fn needs(&mut self, at: &Source, table: &str, key: &str, what: impl fmt::Display) {
        let key = format!("{table}.{key}");
        if !self.has(&key) {
            let message = format!("`{table}` needs {what}");
            let at = at.clone();
            self.push(Problem { at, key, message });
        }
    }

    /// Notes that this key is there, if misspelt.
    pub(super) fn was_meant(&mut self, key: String) {
        self.meant.push(key);
    }

    /// Whether something is wrong with this key itself, so that what only follows from it need not
    /// be said too.
    pub(super) fn has(&self, key: &str) -> bool {
        let within = |outer: &str, inner: &str| {
            let rest = inner.strip_prefix(outer);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        let about = |known: &str| within(known, key) || within(key, known);
        self.meant.iter().any(|meant| meant == key)
            || self
                .all
                .iter()
                .any(|one| !one.key.is_empty() && about(&one.key))
    }

    /// All of them, as a person reads them: by where they stand.
    pub(super) fn sorted(self) -> Vec<Problem> {
        let mut all = self.all;
        all.sort_by_key(|problem| problem.at.order());
        all
    }
}

/// Why there is no configuration. The messages read on after "failed to".
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("read the configuration file {}", path.display())]
    Unreadable {
        /// Which.
        path: PathBuf,
        /// The cause.
        #[source]
        source: std::io::Error,
    },
    /// The values do not fit.
    #[error("accept the configuration: {}", first_of(.0))]
    Problems(Vec<Problem>),
    /// Nothing says which model answers.
    #[error("choose a model: no provider is configured and no key of one is set")]
    NoModel,
    /// Nothing says where data is kept.
    #[error("choose a directory for data: neither HOME nor XDG_DATA_HOME names one")]
    NoDataDir,
}

impl ConfigError {
    /// The code.
    #[must_use]
    pub fn code(&self) -> Code {
        Code::Usage
    }

    /// What to do about it.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Problems(problems) if problems.len() > 1 => {
                Some("`outfitter config check` lists all of them".to_owned())
            }
            Self::Problems(_) | Self::Unreadable { .. } => None,
            Self::NoModel => Some(
                "set ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY or OLLAMA_HOST, or \
                 `provider` under [model] in outfitter.toml; `outfitter demo` needs none"
                    .to_owned(),
            ),
            Self::NoDataDir => Some("set `data_dir` under [store]".to_owned()),
        }
    }

    /// Everything that is wrong.
    #[must_use]
    pub fn problems(&self) -> &[Problem] {
        match self {
            Self::Problems(problems) => problems,
            Self::Unreadable { .. } | Self::NoModel | Self::NoDataDir => &[],
        }
    }
}

fn first_of(problems: &[Problem]) -> String {
    match problems {
        [] => String::new(),
        [one] => one.to_string(),
        [first, rest @ ..] => format!("{first} (and {} more)", rest.len()),
    }
}
