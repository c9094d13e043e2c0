//! Patches: read in the two forms that models write, and applied to texts.
//!
//! * [`parse`]: the envelope (`*** Begin Patch` … `*** End Patch`) or a unified diff, also one of
//!   git with new, deleted and renamed files.
//! * [`apply`]: the hunks of one file on its text. Lines are compared whole; a hunk that is not
//!   where its numbers say is taken only where it fits in exactly one place. What no hunk names
//!   stays byte for byte, and added lines end as their neighbours do.
//!
//! Everything here is pure and takes time in proportion to patch and text, whatever they are.

mod apply;
mod envelope;
mod find;
mod model;
mod paths;
mod unified;

#[cfg(test)]
mod tests;

pub use apply::{Applied, Misfit, Why, apply};
pub use model::{Change, FilePatch, Hunk, Kind, Line, Patch, PatchError};

/// Reads a patch.
///
/// # Errors
/// [`PatchError`] with the line of the patch that cannot be read.
///
/// ```
/// use outfitter_text::patch::{Change, apply, parse};
///
/// let patch = parse("--- a/f.txt\n+++ b/f.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n").unwrap();
/// let Change::Update { path, hunks, .. } = &patch.files[0].change else { panic!() };
/// assert_eq!(path, "f.txt");
/// assert_eq!(apply("one\ntwo\nthree\n", hunks).unwrap().text, "one\n2\nthree\n");
/// ```
pub fn parse(text: &str) -> Result<Patch, PatchError> {
    let mut lines = model::lines(text);
    unwrap(&mut lines);
    let first = lines.iter().position(|line| !line.trim().is_empty());
    let patch = match first {
        Some(at) if envelope::begins(lines[at]) => envelope::parse(&lines, at)?,
        _ => unified::parse(&lines)?,
    };
    if patch.files.is_empty() {
        return Err(PatchError::new(
            1,
            "it changes no file; begin with `*** Begin Patch`, or with `--- a/FILE` and `+++ b/FILE`",
        ));
    }
    Ok(patch)
}

/// In how much a patch is wrapped at most: a fence around a command around it.
const MAX_WRAPPINGS: usize = 2;

/// Takes off what models write around a patch: the fence of a code block, and the shell command that
/// would read it. Lines stay where they are, so that they keep their numbers.
fn unwrap(lines: &mut [&str]) {
    for _ in 0..MAX_WRAPPINGS {
        let mut said = (0..lines.len()).filter(|at| !lines[*at].trim().is_empty());
        let (Some(first), Some(last)) = (said.next(), said.next_back()) else {
            return;
        };
        let end = lines[last].trim();
        let wrapped = match lines[first].trim() {
            fence if fence.starts_with("```") => end == "```",
            command => heredoc(command).is_some_and(|word| word == end),
        };
        if !wrapped {
            return;
        }
        (lines[first], lines[last]) = ("", "");
    }
}

/// The word that ends the here-document of `apply_patch <<'WORD'`.
fn heredoc(command: &str) -> Option<&str> {
    let word = command.strip_prefix("apply_patch")?.trim_start();
    let word = word.strip_prefix("<<")?.trim_start_matches('-').trim();
    let quoted = |quote: char| word.strip_prefix(quote)?.strip_suffix(quote);
    let word = quoted('\'').or_else(|| quoted('"')).unwrap_or(word);
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    (!word.is_empty() && word.chars().all(plain)).then_some(word)
}
