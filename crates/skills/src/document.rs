//! One SKILL.md: its manifest, its instructions, and what is wrong with it.

use outfitter_core::Hash;

use crate::frontmatter::{self, split};
use crate::heading;
use crate::limits::MAX_FILE_BYTES;
use crate::manifest::{Manifest, Reader};
use crate::problem::{Finding, Problem, Severity};

/// A SKILL.md that can be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// What it says of itself.
    pub manifest: Manifest,
    /// What comes after the frontmatter, with `\n` line ends.
    pub instructions: String,
    /// The hash of the file.
    pub hash: Hash,
}

/// What came of reading a SKILL.md.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    /// The document; or, when it cannot be used, the last of the findings says why.
    pub document: Option<Document>,
    /// Everything that is wrong with it, in the order in which it was found.
    pub findings: Vec<Finding>,
}

impl Checked {
    /// What breaks the Agent Skills specification.
    pub fn violations(&self) -> impl Iterator<Item = &Finding> {
        self.findings
            .iter()
            .filter(|finding| finding.code.breaks_specification())
    }

    /// What somebody should look at, though the document may be used.
    pub fn warnings(&self) -> impl Iterator<Item = &Finding> {
        self.findings
            .iter()
            .filter(|finding| finding.code.severity() >= Severity::Warning)
    }

    fn refused(mut findings: Vec<Finding>, why: Finding) -> Self {
        findings.push(why);
        Self {
            document: None,
            findings,
        }
    }
}

/// What stands beside the text of a SKILL.md.
#[derive(Debug, Clone, Copy, Default)]
pub struct Beside<'a> {
    /// The name of its directory.
    pub directory: &'a str,
    /// The bytes of `skill.yaml`, which the heading form may have.
    pub skill_yaml: Option<&'a [u8]>,
}

/// Reads a SKILL.md leniently, from any bytes. What is lenient about it is in the findings, so a
/// strict verdict is [`Checked::violations`] being empty.
#[must_use]
pub fn check(bytes: &[u8], beside: Beside<'_>) -> Checked {
    let mut findings = Vec::new();
    if bytes.len() > MAX_FILE_BYTES {
        let message = format!(
            "the file has {} bytes, at most {MAX_FILE_BYTES} are read",
            bytes.len()
        );
        return Checked::refused(findings, Finding::new(Problem::FileTooLarge, message));
    }
    let Ok(text) = std::str::from_utf8(bytes) else {
        return Checked::refused(
            findings,
            Finding::new(Problem::NotUtf8, "the file is not UTF-8"),
        );
    };
    let text = match text.strip_prefix('\u{feff}') {
        Some(rest) => {
            findings.push(Finding::new(
                Problem::ByteOrderMark,
                "a byte order mark stands before the file",
            ));
            rest
        }
        None => text,
    };
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let (fields, body) = match split(&text) {
        Ok(parts) => {
            if parts.blank_lines > 0 {
                findings.push(Finding::new(
                    Problem::BlankLinesBefore,
                    "blank lines stand before the frontmatter",
                ));
            }
            match frontmatter::read(parts.yaml, parts.yaml_line) {
                Ok(read) => {
                    findings.extend(read.findings);
                    (read.fields, parts.body)
                }
                Err(why) => return Checked::refused(findings, why),
            }
        }
        Err(why) => match heading::fields(&text, beside) {
            Some(fields) if why.code == Problem::NoFrontmatter => {
                findings.push(Finding {
                    code: Problem::HeadingForm,
                    message: "there is no frontmatter; name and description come from the heading and skill.yaml".to_owned(),
                    ..why
                });
                (fields, text.as_str())
            }
            Some(_) | None => return Checked::refused(findings, why),
        },
    };
    let (manifest, told) = Reader::new(&fields, beside.directory).read();
    findings.extend(told);
    let manifest = match manifest {
        Ok(manifest) => manifest,
        Err(why) => return Checked::refused(findings, why),
    };
    let instructions = instructions(body, &mut findings);
    Checked {
        document: Some(Document {
            manifest,
            instructions,
            hash: Hash::of(bytes),
        }),
        findings,
    }
}

fn instructions(body: &str, findings: &mut Vec<Finding>) -> String {
    let body = body.trim_matches('\n');
    if body.trim().is_empty() {
        findings.push(Finding::new(
            Problem::NoInstructions,
            "there is nothing after the frontmatter",
        ));
    }
    if body.contains('\0') {
        findings.push(Finding::new(
            Problem::NulReplaced,
            "NUL characters stand in the instructions",
        ));
    }
    body.replace('\0', "\u{fffd}")
}
