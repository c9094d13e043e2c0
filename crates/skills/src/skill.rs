//! A skill as the catalogue has it.

use std::path::PathBuf;

use outfitter_core::Hash;

use crate::document::{Beside, Document, check};
use crate::limits::MAX_FILE_BYTES;
use crate::manifest::Manifest;
use crate::pack::{Pack, PackError};
use crate::problem::{Finding, Problem};
use crate::{Checked, SkillName};

/// The older form's metadata.
const SKILL_YAML: &str = "skill.yaml";

/// A skill: what it says of itself, and where its files are. Its instructions stay on disk until
/// they are loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skill {
    /// What it says of itself.
    pub manifest: Manifest,
    /// Its directory.
    pub pack: Pack,
    /// The file name of its SKILL.md, which may be written otherwise.
    pub file: String,
    /// What is wrong with it. It is strictly valid when nothing here breaks the specification.
    pub findings: Vec<Finding>,
    /// The hash of its SKILL.md when it was found.
    pub hash: Hash,
}

/// Why the instructions of a skill are not there.
#[derive(Debug, thiserror::Error)]
pub enum Unloadable {
    /// Its files cannot be read.
    #[error(transparent)]
    Pack(#[from] PackError),
    /// Its file is no longer the skill that was found.
    #[error("read the skill: its file has changed and is no longer this skill ({})", why.as_deref().unwrap_or("it has another name"))]
    Changed {
        /// What is wrong with it now.
        why: Option<String>,
    },
}

impl Skill {
    /// Its name.
    #[must_use]
    pub fn name(&self) -> &SkillName {
        &self.manifest.name
    }

    /// Where its SKILL.md is.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.pack.directory().join(&self.file)
    }

    /// Whether it keeps to the Agent Skills specification.
    #[must_use]
    pub fn is_strictly_valid(&self) -> bool {
        !self
            .findings
            .iter()
            .any(|finding| finding.code.breaks_specification())
    }

    /// Its document as it is now.
    ///
    /// # Errors
    /// [`Unloadable`] when it cannot be read, or is no longer this skill.
    pub fn document(&self) -> Result<Document, Unloadable> {
        let Checked { document, findings } = read(&self.pack, &self.file)?;
        match document {
            Some(document) if document.manifest.name == self.manifest.name => Ok(document),
            Some(_) => Err(Unloadable::Changed { why: None }),
            None => Err(Unloadable::Changed {
                why: findings.last().map(|finding| finding.message.clone()),
            }),
        }
    }
}

/// Reads the SKILL.md of a pack.
pub(crate) fn read(pack: &Pack, file: &str) -> Result<Checked, PackError> {
    let bytes = pack.read(file, MAX_FILE_BYTES)?;
    let skill_yaml = pack.read(SKILL_YAML, MAX_FILE_BYTES).ok();
    let directory = pack.directory().file_name().and_then(|name| name.to_str());
    let beside = Beside {
        directory: directory.unwrap_or_default(),
        skill_yaml: skill_yaml.as_deref(),
    };
    let mut checked = check(&bytes, beside);
    if file != SKILL_FILE {
        let message = format!("the file is called {file}, not {SKILL_FILE}");
        // The last finding of a refused file says why it is refused, so this comes first.
        checked
            .findings
            .insert(0, Finding::new(Problem::FileNameCase, message));
    }
    Ok(checked)
}

/// What the file of a skill is called.
pub(crate) const SKILL_FILE: &str = "SKILL.md";
