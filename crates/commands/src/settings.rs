//! What the operator says of a program: `[commands.NAME]`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use outfitter_core::{NameSet, ProgramSecrets, SourceStart};

use crate::environment::OURS;

/// Whether a program is told who calls it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Credentials {
    /// Each call gets a credential of its own.
    #[default]
    Call,
    /// None: the program has nothing that belongs to anybody.
    None,
}

/// What the operator says of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramSettings {
    /// Its name here, which is also the audience of its credentials.
    pub name: String,
    /// The program: an absolute path, or a bare name that is looked up in `PATH`.
    pub program: PathBuf,
    /// Arguments that stand before ours.
    pub args: Vec<OsString>,
    /// More environment. It wins over `PATH`, `HOME`, `LANG` and `TZ`.
    pub env: Vec<(String, String)>,
    /// How long a call, or a description, may take.
    pub timeout: Duration,
    /// The most bytes of standard output.
    pub max_output_bytes: usize,
    /// Whether it is told who calls it.
    pub credentials: Credentials,
    /// What may be used of what it offers, as `command subcommand`.
    pub only: NameSet,
    /// When it is asked what it offers.
    pub start: SourceStart,
}

/// Why a program cannot be used as it is configured.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    /// Two have one name.
    #[error("commands.{0} is there twice")]
    Twice(String),
    /// The name cannot be an audience.
    #[error("the name {0:?} of a program is not of a-z, 0-9, _ and -, a letter first, at most 64")]
    Name(String),
    /// It would be looked for in a directory that changes with each call.
    #[error(
        "commands.{name}.program is {}: neither an absolute path nor a bare name",
        program.display()
    )]
    Relative {
        /// Whose.
        name: String,
        /// The program.
        program: PathBuf,
    },
    /// A variable that is ours to set.
    #[error("commands.{name}.env.{variable} cannot be set: it is made for each call")]
    Reserved {
        /// Whose.
        name: String,
        /// Which.
        variable: String,
    },
    /// No variable can have this name or value.
    #[error("commands.{name}.env.{variable} has a name or a value that no variable can have")]
    Impossible {
        /// Whose.
        name: String,
        /// Which.
        variable: String,
    },
}

impl ProgramSettings {
    /// A program with the defaults: 30 seconds, 1 MiB, a credential for each call, all it offers,
    /// asked at once.
    #[must_use]
    pub fn new(name: impl Into<String>, program: impl Into<PathBuf>) -> Self {
        Self {
            name: name.into(),
            program: program.into(),
            args: Vec::new(),
            env: Vec::new(),
            timeout: Duration::from_secs(30),
            max_output_bytes: 1024 * 1024,
            credentials: Credentials::default(),
            only: NameSet::all(),
            start: SourceStart::default(),
        }
    }

    /// What it was given and must not be told of it again.
    pub(crate) fn secrets(&self) -> ProgramSecrets {
        let args = self.args.iter().filter_map(|arg| arg.to_str());
        ProgramSecrets::of(args, self.env.iter().map(|(_, value)| value.as_str()))
    }

    pub(crate) fn check(&self) -> Result<(), SettingsError> {
        let name = || self.name.clone();
        if !is_name(&self.name) {
            return Err(SettingsError::Name(name()));
        }
        if !self.program.is_absolute() && !is_bare(&self.program) {
            return Err(SettingsError::Relative {
                name: name(),
                program: self.program.clone(),
            });
        }
        for (variable, value) in &self.env {
            let variable = variable.clone();
            if variable.starts_with(OURS) {
                let name = name();
                return Err(SettingsError::Reserved { name, variable });
            }
            let bad = |text: &str| text.contains('\0');
            if variable.is_empty() || variable.contains('=') || bad(&variable) || bad(value) {
                let name = name();
                return Err(SettingsError::Impossible { name, variable });
            }
        }
        Ok(())
    }
}

fn is_bare(program: &Path) -> bool {
    program.file_name() == Some(program.as_os_str())
}

/// Whether a text is `^[a-z][a-z0-9_-]{0,63}$`: what programs, commands, subcommands and arguments
/// are called.
pub(crate) fn is_name(text: &str) -> bool {
    text.len() <= 64
        && text.starts_with(|first: char| first.is_ascii_lowercase())
        && text
            .bytes()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_' || b == b'-')
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("planner", true)]
    #[case("a-b_9", true)]
    #[case("", false)]
    #[case("9a", false)]
    #[case("-a", false)]
    #[case("A", false)]
    #[case("a b", false)]
    #[case("ä", false)]
    fn a_name_is_a_flag_and_a_word_of_a_scope(#[case] text: &str, #[case] is: bool) {
        assert_eq!(is_name(text), is);
        assert_eq!(ProgramSettings::new(text, "/bin/x").check().is_ok(), is);
    }

    #[test]
    fn a_name_has_at_most_64_characters() {
        assert!(is_name(&"x".repeat(64)) && !is_name(&"x".repeat(65)));
    }

    #[rstest]
    #[case("/usr/bin/planner", true)]
    #[case("planner", true)]
    #[case("./planner", false)]
    #[case("bin/planner", false)]
    #[case("..", false)]
    #[case("", false)]
    fn a_program_is_where_it_is_whoever_calls(#[case] program: &str, #[case] good: bool) {
        assert_eq!(ProgramSettings::new("p", program).check().is_ok(), good);
    }

    #[rstest]
    #[case("PLANNER_DIR", "/x", true)]
    #[case("PATH", "/x", true)]
    #[case("PROJECT_CLI_TOKEN", "x", false)]
    #[case("PROJECT_CLI_ANYTHING", "x", false)]
    #[case("A=B", "x", false)]
    #[case("", "x", false)]
    #[case("A", "x\0y", false)]
    fn what_is_made_for_each_call_cannot_be_configured(
        #[case] variable: &str,
        #[case] value: &str,
        #[case] good: bool,
    ) {
        let mut settings = ProgramSettings::new("p", "/bin/x");
        settings.env = vec![(variable.to_owned(), value.to_owned())];
        assert_eq!(settings.check().is_ok(), good);
    }
}
