//! Names of tools that come from elsewhere: `prefix__tool`.
//!
//! Every provider takes at most 64 characters of `[A-Za-z0-9_-]`, so that is what a name is. A name
//! that fits is kept; any other is cut and marked with a hash of the original, so that two originals
//! never share a name and a name is the same after a restart. What follows the first `__` is the
//! tool, what stands before it is the prefix, because a prefix neither holds `__` nor ends in `_`.

use outfitter_core::{Hash, ToolName};

/// The longest name that every provider takes.
const MAX_NAME: usize = 64;

/// The longest prefix, so that at least half of a name is the tool's.
const MAX_PREFIX: usize = 30;

/// What stands between prefix and tool.
const SEPARATOR: &str = "__";

/// Begins the mark of a name that is not its original.
const MARK: &str = "-x";

/// Hexadecimal digits of the hash in a mark.
const MARK_DIGITS: usize = 12;

/// A text that cannot be the prefix of a source's tools.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "use {0:?} as a prefix: it must be 1 to {MAX_PREFIX} characters of A-Z a-z 0-9 - and single _ \
     inside"
)]
pub struct InvalidPrefix(pub String);

/// Checks a prefix: 1 to 30 characters of `[A-Za-z0-9_-]`, no `_` at either end, no `__`.
///
/// # Errors
/// [`InvalidPrefix`].
pub fn valid_prefix(prefix: &str) -> Result<(), InvalidPrefix> {
    let valid = (1..=MAX_PREFIX).contains(&prefix.len())
        && prefix.bytes().all(is_name_byte)
        && !prefix.starts_with('_')
        && !prefix.ends_with('_')
        && !prefix.contains(SEPARATOR);
    if valid {
        Ok(())
    } else {
        Err(InvalidPrefix(prefix.to_owned()))
    }
}

/// The name of a remote tool, whatever it is called at home. Different originals have different
/// names.
///
/// # Errors
/// [`InvalidPrefix`].
pub fn qualified_name(prefix: &str, original: &str) -> Result<ToolName, InvalidPrefix> {
    valid_prefix(prefix)?;
    let room = MAX_NAME - prefix.len() - SEPARATOR.len();
    let fits = (1..=room).contains(&original.len())
        && original.bytes().all(is_name_byte)
        && !is_marked(original);
    let tool = if fits {
        original.to_owned()
    } else {
        marked(original, room)
    };
    ToolName::new(format!("{prefix}{SEPARATOR}{tool}"))
        .map_err(|_| InvalidPrefix(prefix.to_owned()))
}

/// The prefix and the tool of a name, if it is one of a remote tool.
#[must_use]
pub fn split_qualified(name: &str) -> Option<(&str, &str)> {
    let (prefix, tool) = name.split_once(SEPARATOR)?;
    (valid_prefix(prefix).is_ok() && !tool.is_empty()).then_some((prefix, tool))
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

/// Whether a name ends as a marked one does. Such an original is marked itself, or it could be
/// mistaken for another's.
fn is_marked(name: &str) -> bool {
    name.len() >= MARK.len() + MARK_DIGITS && {
        let (rest, digits) = name.split_at(name.len() - MARK_DIGITS);
        rest.ends_with(MARK) && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
    }
}

fn marked(original: &str, room: usize) -> String {
    let kept = room - MARK.len() - MARK_DIGITS;
    let mut name: String = original
        .chars()
        .map(|character| match u8::try_from(character) {
            Ok(byte) if is_name_byte(byte) => character,
            _ => '_',
        })
        .take(kept)
        .collect();
    let hash = Hash::of(original).to_string();
    name.push_str(MARK);
    name.extend(hash.trim_start_matches("sha256:").chars().take(MARK_DIGITS));
    name
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rstest::rstest;
    use std::collections::BTreeMap;

    #[rstest]
    #[case("read", "notes__read")]
    #[case("_x", "notes___x")]
    #[case("a__b", "notes__a__b")]
    fn a_name_that_fits_is_kept(#[case] original: &str, #[case] name: &str) {
        assert_eq!(qualified_name("notes", original).unwrap().as_str(), name);
        assert_eq!(split_qualified(name), Some(("notes", original)));
    }

    #[rstest]
    #[case("")]
    #[case("_a")]
    #[case("a_")]
    #[case("a__b")]
    #[case("a.b")]
    #[case("a prefix that is far too long to leave room")]
    fn a_prefix_that_would_blur_the_border_is_refused(#[case] prefix: &str) {
        assert_eq!(
            qualified_name(prefix, "x"),
            Err(InvalidPrefix(prefix.to_owned()))
        );
    }

    #[test]
    fn a_hundred_awkward_names_are_all_different_and_stable() {
        let originals: Vec<String> = ["calendar.get", "calendar/get", "calendar_get", "", "行"]
            .into_iter()
            .map(str::to_owned)
            .chain((0..95).map(|n| format!("{}{n}", "very/long.".repeat(9))))
            .collect();
        let names: BTreeMap<ToolName, &String> = originals
            .iter()
            .map(|original| (qualified_name("srv", original).unwrap(), original))
            .collect();
        assert_eq!(names.len(), originals.len());
        insta::assert_snapshot!(qualified_name("srv", "calendar.get").unwrap());
    }

    proptest! {
        #[test]
        fn different_tools_have_different_names(
            a in ".{0,80}", b in ".{0,80}", p in "[a-z]{1,8}", q in "[a-z]{1,8}",
        ) {
            let (one, two) = (qualified_name(&p, &a).unwrap(), qualified_name(&q, &b).unwrap());
            prop_assert_eq!(one == two, (&p, &a) == (&q, &b));
            prop_assert_eq!(split_qualified(one.as_str()).unwrap().0, p.as_str());
            // A name is an original like any other: what it stands for does not change with it.
            let again = qualified_name(&p, split_qualified(one.as_str()).unwrap().1).unwrap();
            prop_assert_eq!(again == one, split_qualified(one.as_str()).unwrap().1 == a);
        }
    }
}
