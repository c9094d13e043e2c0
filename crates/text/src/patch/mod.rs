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
    let lines = model::lines(text);
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
