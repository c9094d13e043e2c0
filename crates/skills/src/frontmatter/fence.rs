//! Where the frontmatter begins and ends.

use crate::limits::MAX_FRONTMATTER_BYTES;
use crate::problem::{Finding, Place, Problem};

/// A file taken apart. Line ends are `\n` already.
pub(crate) struct Parts<'t> {
    pub(crate) yaml: &'t str,
    /// The line of the file on which the YAML begins.
    pub(crate) yaml_line: usize,
    pub(crate) body: &'t str,
    pub(crate) blank_lines: usize,
}

/// Takes the frontmatter off. Only whole lines `---` are fences, with space after them at most: a
/// `---` inside a value is part of the value.
pub(crate) fn split(text: &str) -> Result<Parts<'_>, Finding> {
    let content = text.trim_start_matches([' ', '\t', '\n']);
    let blank = &text[..text.len() - content.len()];
    // Space before the fence on its own line is no fence.
    let indented = !blank.is_empty() && !blank.ends_with('\n');
    let blank_lines = blank.matches('\n').count();
    let first = content.lines().next().unwrap_or_default();
    if indented || !is_fence(first) {
        return Err(Finding::new(
            Problem::NoFrontmatter,
            "the file does not begin with a line ---",
        )
        .at(Place {
            line: blank_lines + 1,
            column: 1,
        }));
    }
    let inside = content.get(first.len() + 1..).unwrap_or_default();
    let mut end = 0;
    for line in inside.split_inclusive('\n') {
        if is_fence(line.trim_end_matches('\n')) {
            if end > MAX_FRONTMATTER_BYTES {
                return Err(too_large(end));
            }
            return Ok(Parts {
                yaml: &inside[..end],
                yaml_line: blank_lines + 2,
                body: &inside[end + line.len()..],
                blank_lines,
            });
        }
        end += line.len();
    }
    if end > MAX_FRONTMATTER_BYTES {
        return Err(too_large(end));
    }
    Err(Finding::new(
        Problem::FrontmatterUnclosed,
        "no line --- ends the frontmatter",
    )
    .at(Place {
        line: blank_lines + 1,
        column: 1,
    }))
}

fn too_large(bytes: usize) -> Finding {
    Finding::new(
        Problem::FrontmatterTooLarge,
        format!("the frontmatter has {bytes} bytes, at most {MAX_FRONTMATTER_BYTES} are read"),
    )
}

fn is_fence(line: &str) -> bool {
    line.strip_prefix("---")
        .is_some_and(|rest| rest.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("---\nname: a\n---\nbody\n", Some(("name: a\n", "body\n")))]
    #[case("---  \nname: a\n--- \t\nbody", Some(("name: a\n", "body")))]
    #[case("---\n---", Some(("", "")))]
    #[case("\n\n---\nname: a\n---\n", Some(("name: a\n", "")))]
    #[case("---\ndescription: a---b\n---\n", Some(("description: a---b\n", "")))]
    #[case("---\nd: |\n  ---\n---\nbody", Some(("d: |\n  ---\n", "body")))]
    #[case("----\nname: a\n----\n", None)]
    #[case(" ---\nname: a\n---\n", None)]
    #[case("---\nname: a\n...\nbody", None)]
    #[case("---\nname: a\n", None)]
    #[case("", None)]
    #[case("---", None)]
    #[case("# Heading\n---\n", None)]
    fn only_whole_lines_are_fences(#[case] text: &str, #[case] parts: Option<(&str, &str)>) {
        assert_eq!(
            split(text).ok().map(|split| (split.yaml, split.body)),
            parts
        );
    }

    #[test]
    fn the_line_of_the_yaml_is_that_of_the_file() {
        assert_eq!(
            split("\n\n---\na: b\n---\n")
                .ok()
                .map(|split| split.yaml_line),
            Some(4)
        );
    }
}
