//! The envelope: `*** Begin Patch`, files by `*** Add File:` and the like, `*** End Patch`.

use super::model::{Change, FilePatch, Hunk, Patch, PatchError};
use super::unified;

const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";
const ADD: &str = "*** Add File:";
const DELETE: &str = "*** Delete File:";
const UPDATE: &str = "*** Update File:";
const MOVE: &str = "*** Move to:";
const END_OF_FILE: &str = "*** End of File";

pub(super) fn begins(line: &str) -> bool {
    line.trim() == BEGIN
}

pub(super) fn parse(lines: &[&str], begin: usize) -> Result<Patch, PatchError> {
    let mut reader = Reader {
        lines,
        at: begin + 1,
    };
    let mut files = Vec::new();
    loop {
        let number = reader.number();
        let Some(line) = reader.peek() else {
            return Err(PatchError::new(number, format!("it ends without `{END}`")));
        };
        reader.at += 1;
        let change = if line.trim().is_empty() {
            continue;
        } else if line.trim_end() == END {
            break;
        } else if let Some(path) = header(line, ADD) {
            let path = path_of(path, number)?;
            let text = reader.added()?;
            Change::Create {
                path,
                text,
                executable: false,
            }
        } else if let Some(path) = header(line, DELETE) {
            Change::Delete {
                path: path_of(path, number)?,
                hunks: Vec::new(),
            }
        } else if let Some(path) = header(line, UPDATE) {
            let path = path_of(path, number)?;
            let to = match reader.peek().and_then(|line| header(line, MOVE)) {
                Some(to) => {
                    reader.at += 1;
                    Some(path_of(to, reader.at)?)
                }
                None => None,
            };
            let hunks = reader.hunks()?;
            if hunks.is_empty() && to.is_none() {
                return Err(PatchError::new(number, format!("{path} is not changed")));
            }
            Change::Update { path, to, hunks }
        } else {
            return Err(PatchError::new(
                number,
                format!(
                    "`{ADD} FILE`, `{UPDATE} FILE`, `{DELETE} FILE` or `{END}` has to stand here"
                ),
            ));
        };
        files.push(FilePatch {
            change,
            line: number,
        });
    }
    let rest = lines[reader.at..]
        .iter()
        .position(|line| !line.trim().is_empty());
    if let Some(rest) = rest {
        return Err(PatchError::new(
            reader.at + rest + 1,
            format!("there is more after `{END}`"),
        ));
    }
    Ok(Patch { files })
}

fn header<'a>(line: &'a str, word: &str) -> Option<&'a str> {
    line.strip_prefix(word).map(str::trim)
}

fn path_of(path: &str, line: usize) -> Result<String, PatchError> {
    if path.is_empty() {
        return Err(PatchError::new(line, "the path is missing"));
    }
    Ok(path.to_owned())
}

struct Reader<'a> {
    lines: &'a [&'a str],
    at: usize,
}

impl<'a> Reader<'a> {
    fn peek(&self) -> Option<&'a str> {
        self.lines.get(self.at).copied()
    }

    /// The number of the next line, from 1.
    fn number(&self) -> usize {
        self.at + 1
    }

    /// The content of a new file.
    fn added(&mut self) -> Result<String, PatchError> {
        let mut text = String::new();
        while let Some(line) = self.peek() {
            match line.strip_prefix('+') {
                Some(line) => {
                    text.push_str(line);
                    text.push('\n');
                }
                None if line.starts_with("***") || line.trim().is_empty() => break,
                None => {
                    return Err(PatchError::new(
                        self.number(),
                        "every line of a new file begins with `+`",
                    ));
                }
            }
            self.at += 1;
        }
        Ok(text)
    }

    fn hunks(&mut self) -> Result<Vec<Hunk>, PatchError> {
        let mut hunks = Vec::new();
        let mut open = Hunk::default();
        while let Some(line) = self.peek() {
            let number = self.number();
            if line.trim_end() == END_OF_FILE {
                open.at_end = true;
                close(&mut open, &mut hunks);
            } else if line.starts_with("***") {
                break;
            } else if let Some(anchor) = line.strip_prefix("@@") {
                if !open.lines.is_empty() {
                    close(&mut open, &mut hunks);
                }
                match unified::header(line) {
                    Some(header) => open.at = Some(header.old_start),
                    None => {
                        let anchor = anchor.trim();
                        if !anchor.is_empty() {
                            open.anchors.push(anchor.to_owned());
                        }
                    }
                }
            } else if !open.take(line) {
                return Err(PatchError::new(
                    number,
                    "a line of a hunk begins with a space, `-` or `+`",
                ));
            }
            if open.line == 0 {
                open.line = number;
            }
            self.at += 1;
        }
        let begun = open.line;
        let anchors_only = open.lines.is_empty() && !open.anchors.is_empty();
        close(&mut open, &mut hunks);
        if anchors_only {
            return Err(PatchError::new(begun, "nothing follows the `@@`"));
        }
        Ok(hunks)
    }
}

/// Ends the hunk that is open. One of empty lines alone only divides.
fn close(open: &mut Hunk, hunks: &mut Vec<Hunk>) {
    let mut hunk = std::mem::take(open);
    hunk.trim();
    let nothing = hunk
        .lines
        .iter()
        .all(|line| line.kind.is_old() && line.text.trim().is_empty());
    if !nothing {
        hunks.push(hunk);
    }
}
