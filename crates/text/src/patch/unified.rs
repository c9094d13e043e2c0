//! Unified diffs, of `diff -u` and of git.

use super::model::{Change, FilePatch, Hunk, Kind, Patch, PatchError};
use super::paths;

/// What `@@ -12,3 +12,4 @@` says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) old_start: u64,
    old_count: u64,
    new_count: u64,
}

pub(super) fn header(line: &str) -> Option<Header> {
    let rest = line.strip_prefix("@@ -")?;
    let (ranges, _) = rest.split_once(" @@")?;
    let (old, new) = ranges.split_once(" +")?;
    let range = |text: &str| match text.split_once(',') {
        Some((start, count)) => Some((start.parse().ok()?, count.parse().ok()?)),
        None => Some((text.parse().ok()?, 1_u64)),
    };
    let (old_start, old_count) = range(old)?;
    let (_, new_count): (u64, u64) = range(new)?;
    Some(Header {
        old_start,
        old_count,
        new_count,
    })
}

pub(super) fn parse(lines: &[&str]) -> Result<Patch, PatchError> {
    let mut reader = Reader { lines, at: 0 };
    let mut files = Vec::new();
    while reader.skip_to_file()? {
        let line = reader.at + 1;
        let change = reader.file()?;
        files.push(FilePatch { change, line });
    }
    Ok(Patch { files })
}

/// What the lines before the hunks of a file say.
#[derive(Debug, Default)]
struct Said {
    git: Option<String>,
    is_git: bool,
    created: bool,
    deleted: bool,
    executable: bool,
    mode: bool,
    from: Option<String>,
    to: Option<String>,
    old: Option<Option<String>>,
    new: Option<Option<String>>,
}

struct Reader<'a> {
    lines: &'a [&'a str],
    at: usize,
}

impl<'a> Reader<'a> {
    fn peek(&self) -> Option<&'a str> {
        self.lines.get(self.at).copied()
    }

    fn error(&self, what: impl Into<String>) -> PatchError {
        PatchError::new(self.at + 1, what)
    }

    /// Goes to where the next file begins. What stands before is a letter around the patch; a
    /// hunk that belongs to no file is not.
    fn skip_to_file(&mut self) -> Result<bool, PatchError> {
        while let Some(line) = self.peek() {
            if line.starts_with("diff --git ") || self.is_file_header() {
                return Ok(true);
            }
            if header(line).is_some() {
                return Err(self.error("a hunk stands here without a file: `--- a/FILE` and `+++ b/FILE` come before it"));
            }
            self.at += 1;
        }
        Ok(false)
    }

    fn is_file_header(&self) -> bool {
        let next = self.lines.get(self.at + 1);
        self.peek().is_some_and(|line| line.starts_with("--- "))
            && next.is_some_and(|next| next.starts_with("+++ "))
    }

    fn file(&mut self) -> Result<Change, PatchError> {
        let begun = self.at + 1;
        let mut said = Said::default();
        if let Some(names) = self
            .peek()
            .and_then(|line| line.strip_prefix("diff --git "))
        {
            said.is_git = true;
            said.git = paths::of_git(names);
            self.at += 1;
            self.git_headers(&mut said)?;
        }
        if self.is_file_header() {
            let path = |line: &str| paths::of_header(&line[4..]);
            said.old = Some(path(self.lines[self.at]));
            said.new = Some(path(self.lines[self.at + 1]));
            self.at += 2;
        }
        let mut hunks = Vec::new();
        while let Some(header) = self.peek().and_then(header) {
            hunks.push(self.hunk(header)?);
        }
        change(said, hunks, begun)
    }

    fn git_headers(&mut self, said: &mut Said) -> Result<(), PatchError> {
        let runs = |mode: &str| mode.trim_end().ends_with("755");
        while let Some(line) = self.peek() {
            if let Some(mode) = line.strip_prefix("new file mode ") {
                said.created = true;
                if mode.starts_with("120") || mode.starts_with("160") {
                    return Err(self.error("links and submodules are not made by a patch"));
                }
                said.executable = runs(mode);
            } else if line.starts_with("deleted file mode ") {
                said.deleted = true;
            } else if line.starts_with("old mode ") || line.starts_with("new mode ") {
                said.mode = true;
            } else if let Some(path) = line.strip_prefix("rename from ") {
                said.from = Some(paths::of_rename(path));
            } else if let Some(path) = line.strip_prefix("rename to ") {
                said.to = Some(paths::of_rename(path));
            } else if line.starts_with("copy from ") || line.starts_with("copy to ") {
                return Err(
                    self.error("copies are not made by a patch; add the file with its content")
                );
            } else if line.starts_with("GIT binary patch") || line.starts_with("Binary files ") {
                return Err(self.error("binary files are not changed by a patch"));
            } else if !(line.starts_with("index ")
                || line.starts_with("similarity index ")
                || line.starts_with("dissimilarity index "))
            {
                break;
            }
            self.at += 1;
        }
        Ok(())
    }

    fn hunk(&mut self, header: Header) -> Result<Hunk, PatchError> {
        let mut hunk = Hunk {
            at: Some(header.old_start),
            line: self.at + 1,
            ..Hunk::default()
        };
        self.at += 1;
        let (mut old, mut new) = (header.old_count, header.new_count);
        while let Some(line) = self.peek() {
            if line.starts_with('\\') {
                // `\ No newline at end of file`, in whatever language.
                if let Some(last) = hunk.lines.last_mut() {
                    last.ends = false;
                }
                self.at += 1;
                continue;
            }
            let counted = old == 0 && new == 0;
            if counted && (self.is_file_header() || line.trim_end() == "--") {
                break;
            }
            if !hunk.take(line) {
                let ends = line.starts_with("@@ ") || line.starts_with("diff --git ");
                // A letter may follow the last hunk.
                if ends || counted {
                    break;
                }
                return Err(self.error("a line of a hunk begins with a space, `-` or `+`"));
            }
            match hunk.lines.last().map(|line| line.kind) {
                Some(Kind::Keep) => {
                    old = old.saturating_sub(1);
                    new = new.saturating_sub(1);
                }
                Some(Kind::Remove) => old = old.saturating_sub(1),
                Some(Kind::Add) => new = new.saturating_sub(1),
                None => {}
            }
            self.at += 1;
        }
        // Empty lines behind what was counted divide the patch.
        let counted = usize::try_from(header.old_count).unwrap_or(usize::MAX);
        let mut have = hunk.lines.iter().filter(|line| line.kind.is_old()).count();
        while have > counted
            && hunk
                .lines
                .last()
                .is_some_and(|last| last.kind == Kind::Keep && last.text.trim().is_empty())
        {
            hunk.lines.pop();
            have -= 1;
        }
        if hunk.lines.is_empty() {
            return Err(PatchError::new(hunk.line, "nothing follows the `@@`"));
        }
        Ok(hunk)
    }
}

/// What all that was said comes to.
fn change(said: Said, hunks: Vec<Hunk>, line: usize) -> Result<Change, PatchError> {
    let fail = |what: &str| Err(PatchError::new(line, what));
    let git = said.git.clone();
    let (old, new) = match (said.old, said.new) {
        (Some(old), Some(new)) => prefixes(old, new, said.is_git),
        _ => (
            (!said.created).then(|| git.clone()).flatten(),
            (!said.deleted).then_some(git).flatten(),
        ),
    };
    let named = [&old, &new, &said.from, &said.to];
    if named.into_iter().flatten().any(String::is_empty) {
        return fail("the path is missing");
    }
    if let (Some(path), Some(to)) = (said.from, said.to) {
        return Ok(Change::Update {
            path,
            to: Some(to),
            hunks,
        });
    }
    match (old, new) {
        (None, None) => fail("it does not say which file"),
        (None, Some(path)) => {
            let old_lines = hunks.iter().flat_map(|hunk| &hunk.lines);
            if old_lines.clone().any(|line| line.kind.is_old()) || hunks.len() > 1 {
                return fail("a new file has nothing to keep or remove");
            }
            let mut text = String::new();
            for line in old_lines {
                text.push_str(&line.text);
                if line.ends {
                    text.push('\n');
                }
            }
            Ok(Change::Create {
                path,
                text,
                executable: said.executable,
            })
        }
        (Some(path), None) => Ok(Change::Delete { path, hunks }),
        (Some(old), Some(new)) if old != new => Err(PatchError::new(
            line,
            format!(
                "it names {old} and {new}; a rename is said by `rename from` and `rename to` after `diff --git`"
            ),
        )),
        (Some(_), Some(_)) if said.deleted || said.created => {
            fail("what it says of the file contradicts itself")
        }
        (Some(_), Some(_)) if hunks.is_empty() && said.mode => {
            fail("it changes only the mode of a file, which file tools do not")
        }
        (Some(_), Some(_)) if hunks.is_empty() => fail("the file is not changed"),
        (Some(path), Some(_)) => Ok(Change::Update {
            path,
            to: None,
            hunks,
        }),
    }
}

/// Takes `a/` and `b/` off, where both have theirs.
fn prefixes(
    old: Option<String>,
    new: Option<String>,
    is_git: bool,
) -> (Option<String>, Option<String>) {
    let without = |path: &Option<String>, prefix: &str| {
        path.as_deref()
            .and_then(|path| path.strip_prefix(prefix))
            .map(str::to_owned)
    };
    let (bare_old, bare_new) = (without(&old, "a/"), without(&new, "b/"));
    match (&old, &new, &bare_old, &bare_new) {
        (Some(_), Some(_), Some(a), Some(b)) if is_git || a == b => (bare_old, bare_new),
        (None, Some(_), _, Some(_)) => (None, bare_new),
        (Some(_), None, Some(_), _) => (bare_old, None),
        _ => (old, new),
    }
}
