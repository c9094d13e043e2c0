//! What may be taken out of a text that is to be approved.

/// Whether a value does nothing where a shell reads it: part of one word, without anything that is
/// run, read, written or put in its place. `whole` of a text that is one address, which no shell
/// has read a variable from.
pub(super) fn is_inert(value: &str, whole: bool) -> bool {
    let acts = |c: char| {
        matches!(c, '`' | '|' | '<' | '>' | ';' | '&' | '(' | ')' | '{' | '}')
            || c.is_whitespace()
            || c.is_control()
    };
    let variable = |(at, _): (usize, &str)| {
        let named = |c: char| c.is_ascii_alphabetic() || matches!(c, '_' | '\'' | '"');
        !whole && value[at + 1..].starts_with(named)
    };
    !value.contains(acts) && !value.match_indices('$').any(variable) && is_balanced(value)
}

fn is_balanced(value: &str) -> bool {
    let mut open = 0_usize;
    for byte in value.bytes() {
        match byte {
            b'[' => open += 1,
            b']' => match open.checked_sub(1) {
                Some(less) => open = less,
                None => return false,
            },
            _ => {}
        }
    }
    open == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("S3", true)]
    #[case("S3%2F+/=.~-_:@!*,^", true)]
    #[case("[redacted]", true)]
    #[case("pa$5.$", true)]
    #[case("é中", true)]
    #[case("$(reboot)", false)]
    #[case("${IFS}", false)]
    #[case("$HOME", false)]
    #[case("`reboot", false)]
    #[case("a|sh", false)]
    #[case("a;sh", false)]
    #[case("a&sh", false)]
    #[case("<a", false)]
    #[case(">a", false)]
    #[case("read()", false)]
    #[case("{a,b}", false)]
    #[case("]a[", false)]
    #[case("[a", false)]
    #[case("a b", false)]
    #[case("a\u{202e}", true)]
    #[case("a\u{7f}", false)]
    fn what_runs_is_not_inert(#[case] value: &str, #[case] inert: bool) {
        assert_eq!(is_inert(value, false), inert);
        let variable = value == "$HOME";
        assert_eq!(is_inert(value, true), inert || variable);
    }
}
