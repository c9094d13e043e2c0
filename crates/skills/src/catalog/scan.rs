//! One root with its skills.

use std::path::Path;
use std::sync::Arc;

use super::walk::{Found, walk};
use crate::pack::{Pack, PackError};
use crate::problem::{Diagnostic, Finding, Problem, Severity};
use crate::skill::{self, Skill};

/// The skills of one root, in the order in which they count.
#[derive(Debug, Default)]
pub(super) struct Scan {
    pub(super) skills: Vec<Arc<Skill>>,
    pub(super) diagnostics: Vec<Diagnostic>,
}

/// Finds and reads the skills of a root. One that cannot be used never stops the others.
pub(super) fn scan(root: &Path) -> Scan {
    let walked = walk(root);
    let mut scan = Scan {
        skills: Vec::new(),
        diagnostics: walked.diagnostics,
    };
    for found in walked.found {
        scan.take(found);
    }
    scan
}

impl Scan {
    fn take(&mut self, found: Found) {
        let path = found.directory.join(&found.file);
        let read = Pack::open(found.directory).and_then(|pack| {
            let checked = skill::read(&pack, &found.file)?;
            Ok((pack, checked))
        });
        let (pack, checked) = match read {
            Ok(read) => read,
            Err(error) => {
                self.diagnostics
                    .push(Diagnostic::of(path, None, unreadable(&error)));
                return;
            }
        };
        let name = checked
            .document
            .as_ref()
            .map(|document| document.manifest.name.clone());
        self.diagnostics.extend(
            checked
                .findings
                .iter()
                .filter(|finding| finding.code.severity() >= Severity::Warning)
                .map(|finding| Diagnostic::of(path.clone(), name.clone(), finding.clone())),
        );
        if let Some(document) = checked.document {
            self.skills.push(Arc::new(Skill {
                manifest: document.manifest,
                pack,
                file: found.file,
                findings: checked.findings,
                hash: document.hash,
            }));
        }
    }
}

fn unreadable(error: &PackError) -> Finding {
    let code = match error {
        PackError::TooLarge { .. } => Problem::FileTooLarge,
        PackError::Outside | PackError::NotAFile => Problem::LinkOutside,
        PackError::Replaced | PackError::NotFound | PackError::System(_) => Problem::Unreadable,
    };
    let message = match error {
        PackError::System(source) => source.to_string(),
        // The message reads on after "failed to".
        other => format!("failed to {other}"),
    };
    Finding::new(code, message)
}
