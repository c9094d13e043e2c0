//! A whole tree, file by file, in the order of its paths.

use outfitter_core::{FileKind, FilesError};

use super::machine::Machine;
use super::scan::{Found, NeedsFacts, Scanner};

/// Goes depth first. Directories are entered, not given; links are neither followed nor given.
pub(super) struct Walk<'a, M: Machine> {
    pub(super) scanner: Scanner<'a, M>,
    needs: NeedsFacts<'a>,
    open: Vec<std::vec::IntoIter<Found>>,
    started: bool,
}

impl<'a, M: Machine> Walk<'a, M> {
    pub(super) fn new(scanner: Scanner<'a, M>, needs: NeedsFacts<'a>) -> Self {
        Self {
            scanner,
            needs,
            open: Vec::new(),
            started: false,
        }
    }

    /// The next regular file.
    pub(super) fn next(&mut self) -> Result<Option<Found>, FilesError> {
        if !self.started {
            self.started = true;
            self.open.push(self.scanner.first(self.needs)?.into_iter());
        }
        while let Some(directory) = self.open.last_mut() {
            let Some(found) = directory.next() else {
                self.open.pop();
                continue;
            };
            if found.enters {
                let below = self.scanner.below(&found, self.needs)?;
                self.open.push(below.into_iter());
            } else if found.kind == FileKind::File && found.exact {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }
}
