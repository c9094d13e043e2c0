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
    /// What, as a lowercase fragment.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.at {
            Source::Default => f.write_str(&self.message),
            at => write!(f, "{at}: {}", self.message),
        }
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
