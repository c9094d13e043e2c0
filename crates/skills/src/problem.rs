//! What can be wrong with a skill or where skills are, each with a reason code.

use std::fmt;
use std::path::PathBuf;

use serde::{Serialize, Serializer};

use crate::SkillName;

/// What follows from a problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Good to know; nothing follows.
    Note,
    /// The skill is loaded, but not as it was meant perhaps.
    Warning,
    /// Something was left out: a skill, a directory.
    Refused,
}

macro_rules! problems {
    ($($(#[$doc:meta])* $name:ident = $code:literal, $severity:ident, $strict:ident;)*) => {
        /// What is wrong, as a reason code.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Problem { $($(#[$doc])* $name,)* }

        impl Problem {
            /// Every problem there is.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// The reason code, as it stands in every output.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$name => $code,)* }
            }

            /// What follows from it.
            #[must_use]
            pub fn severity(self) -> Severity {
                match self { $(Self::$name => Severity::$severity,)* }
            }

            /// Whether a file that has it breaks the Agent Skills specification.
            #[must_use]
            pub fn breaks_specification(self) -> bool {
                match self { $(Self::$name => problems!(@ $strict),)* }
            }
        }
    };
    (@ breaks) => { true };
    (@ fine) => { false };
}

problems! {
    /// The file cannot be opened or read.
    Unreadable = "unreadable", Refused, breaks;
    /// A link leads out of the pack, or what it names is no regular file.
    LinkOutside = "link_outside", Refused, breaks;
    /// The file is larger than [`crate::limits::MAX_FILE_BYTES`].
    FileTooLarge = "file_too_large", Refused, breaks;
    /// The file is not UTF-8.
    NotUtf8 = "not_utf8", Refused, breaks;
    /// The file does not begin with a line `---`.
    NoFrontmatter = "no_frontmatter", Refused, breaks;
    /// No line `---` ends the frontmatter.
    FrontmatterUnclosed = "frontmatter_unclosed", Refused, breaks;
    /// The frontmatter is larger than [`crate::limits::MAX_FRONTMATTER_BYTES`].
    FrontmatterTooLarge = "frontmatter_too_large", Refused, breaks;
    /// The frontmatter is YAML, but not a mapping.
    NotAMapping = "not_a_mapping", Refused, breaks;
    /// There is no description, or an empty one.
    DescriptionMissing = "description_missing", Refused, breaks;
    /// Nothing can be called so: empty, too long, or with characters nobody sees.
    NameUnusable = "name_unusable", Refused, breaks;
    /// The frontmatter is not YAML. Beside it stands how it was read all the same.
    YamlInvalid = "yaml_invalid", Warning, breaks;
    /// It became YAML when values were put in quotes.
    YamlQuoted = "yaml_quoted", Note, fine;
    /// It was read line by line, without what is nested.
    YamlSalvaged = "yaml_salvaged", Warning, fine;
    /// A byte order mark stands before the file; it is left out.
    ByteOrderMark = "byte_order_mark", Note, fine;
    /// Blank lines stand before the frontmatter.
    BlankLinesBefore = "blank_lines_before", Note, breaks;
    /// There is no frontmatter; name and description come from the heading form.
    HeadingForm = "heading_form", Note, breaks;
    /// The file is called otherwise than `SKILL.md`.
    FileNameCase = "file_name_case", Warning, breaks;
    /// A key stands twice; the first counts.
    DuplicateKey = "duplicate_key", Warning, breaks;
    /// A key that the specification does not have.
    UnknownKey = "unknown_key", Note, breaks;
    /// A value of `metadata` is no text.
    MetadataNotText = "metadata_not_text", Note, breaks;
    /// `allowed-tools` is not one text. It is understood all the same.
    AllowedToolsForm = "allowed_tools_form", Note, breaks;
    /// A value is not of the kind that its key wants.
    WrongType = "wrong_type", Warning, breaks;
    /// There is no name; the directory's is taken.
    NameMissing = "name_missing", Warning, breaks;
    /// The name is not the directory's.
    NameNotDirectory = "name_not_directory", Note, breaks;
    /// The name has more than 64 characters.
    NameTooLong = "name_too_long", Warning, breaks;
    /// The name has other characters than lowercase letters, digits and single hyphens between.
    NameCharacters = "name_characters", Note, breaks;
    /// The description has more than 1024 characters.
    DescriptionTooLong = "description_too_long", Warning, breaks;
    /// `compatibility` is empty or has more than 500 characters.
    CompatibilityLength = "compatibility_length", Warning, breaks;
    /// More is declared than [`crate::limits::MAX_DECLARED`]; the rest is left out.
    TooManyDeclared = "too_many_declared", Warning, fine;
    /// There are no instructions after the frontmatter.
    NoInstructions = "no_instructions", Warning, fine;
    /// NUL characters stand in the instructions; they are replaced.
    NulReplaced = "nul_replaced", Warning, fine;
    /// There is a skill of that name, or of one that differs by case only; the first counts.
    DuplicateName = "duplicate_name", Refused, fine;
    /// Skills depend on each other in a circle; none of them can be loaded.
    DependencyCycle = "dependency_cycle", Warning, fine;
    /// A skill that another depends on is not there.
    DependencyMissing = "dependency_missing", Warning, fine;
    /// The root is not there.
    RootMissing = "root_missing", Refused, fine;
    /// A directory cannot be read.
    DirectoryUnreadable = "directory_unreadable", Refused, fine;
    /// More directories lie below the root than are searched.
    DirectoryLimit = "directory_limit", Refused, fine;
    /// A directory lies deeper than is searched.
    DepthLimit = "depth_limit", Refused, fine;
    /// Hidden directories and `node_modules` are not searched.
    DirectorySkipped = "directory_skipped", Note, fine;
    /// A link to a directory that is not directly in the root is not followed.
    LinkNotFollowed = "link_not_followed", Refused, fine;
    /// A link leads to a directory that was searched already.
    LinkSeen = "link_seen", Refused, fine;
    /// A link leads to nothing.
    LinkBroken = "link_broken", Refused, fine;
    /// A `SKILL.md` inside a skill belongs to that skill and is none of its own.
    NestedSkill = "nested_skill", Note, fine;
    /// The name of a file or directory is not UTF-8.
    PathNotUtf8 = "path_not_utf8", Refused, fine;
    /// A directory directly in the root has no skill in it.
    NoSkill = "no_skill", Note, fine;
    /// There were more diagnostics than are kept.
    MoreDiagnostics = "more_diagnostics", Warning, fine;
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Problem {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// A place in a file, both counted from 1, the column in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Place {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

/// A problem of one SKILL.md.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What.
    pub code: Problem,
    /// In a few words.
    pub message: String,
    /// Where.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Place>,
}

impl Finding {
    pub(crate) fn new(code: Problem, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            at: None,
        }
    }

    pub(crate) fn at(mut self, at: Place) -> Self {
        self.at = Some(at);
        self
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.at {
            Some(Place { line, column }) => {
                write!(f, "{line}:{column}: {}: {}", self.code, self.message)
            }
            None => write!(f, "{}: {}", self.code, self.message),
        }
    }
}

/// A problem of the catalogue: of a skill or of where skills are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Diagnostic {
    /// What follows.
    pub severity: Severity,
    /// What is wrong.
    pub code: Problem,
    /// In a few words.
    pub message: String,
    /// The file or directory.
    pub path: PathBuf,
    /// Where in the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Place>,
    /// The skill, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skill: Option<SkillName>,
}

impl Diagnostic {
    pub(crate) fn new(path: impl Into<PathBuf>, code: Problem, message: impl Into<String>) -> Self {
        Self::of(path, None, Finding::new(code, message))
    }

    pub(crate) fn of(path: impl Into<PathBuf>, skill: Option<SkillName>, finding: Finding) -> Self {
        let Finding { code, message, at } = finding;
        Self {
            severity: code.severity(),
            code,
            message,
            path: path.into(),
            at,
            skill,
        }
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.path.display())?;
        if let Some(Place { line, column }) = self.at {
            write!(f, "{line}:{column}:")?;
        }
        write!(f, " {}: {}", self.code, self.message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reason_codes_are_words_and_none_stands_twice() {
        let mut codes: Vec<&str> = Problem::ALL
            .iter()
            .map(|problem| problem.as_str())
            .collect();
        assert!(codes.iter().all(|code| {
            code.bytes()
                .all(|b| b.is_ascii_lowercase() || b == b'_' || b == b'8')
        }));
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes.len(), Problem::ALL.len());
    }
}
