//! Untrusted text made safe to print: no control of the terminal, no hidden direction.

use std::borrow::Cow;

use unicode_width::UnicodeWidthChar as _;

/// The text with every control character and every invisible mark of direction made visible. Line
/// breaks and tabs stay. Nothing is kept from one text to the next, so that it can be applied to a
/// stream piece by piece.
#[must_use]
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.chars().any(|one| is_hidden(one) || is_joiner(one)) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    let mut characters = text.chars().peekable();
    let mut before = None;
    while let Some(character) = characters.next() {
        // Between letters of ASCII it joins nothing: it hides.
        let hides = is_joiner(character) && before.is_some_and(|before: char| before.is_ascii());
        before = Some(character);
        match character {
            '\r' if characters.peek() == Some(&'\n') => {}
            // The control pictures of Unicode: U+2400 and up.
            '\0'..='\u{1f}' if is_hidden(character) => {
                out.extend(char::from_u32(0x2400 + u32::from(character)));
            }
            '\u{7f}' => out.push('\u{2421}'),
            _ if hides || is_hidden(character) => {
                out.push_str(&format!("<U+{:04X}>", u32::from(character)));
            }
            _ => out.push(character),
        }
    }
    Cow::Owned(out)
}

/// Controls, and the characters that change what a reader sees without being seen: marks of
/// direction (Unicode Standard Annex 9), line and paragraph separators, tags.
fn is_hidden(character: char) -> bool {
    match character {
        '\n' | '\t' => false,
        '\u{200e}' | '\u{200f}' | '\u{61c}' => true,
        '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
        // Without width. The joiners of letters and pictures stay.
        '\u{200b}' | '\u{2060}'..='\u{2064}' | '\u{feff}' | '\u{180e}' => true,
        '\u{e0000}'..='\u{e007f}' => true,
        _ => character.is_control(),
    }
}

/// What joins letters or pictures to one, or keeps them apart, and has no width.
fn is_joiner(character: char) -> bool {
    matches!(character, '\u{200c}' | '\u{200d}')
}

/// The text on one line: safe, and every run of white space is one space.
#[must_use]
pub fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    visible(&words.join(" ")).into_owned()
}

/// How many columns a text takes.
#[must_use]
pub fn columns(text: &str) -> usize {
    text.chars().map(|c| c.width().unwrap_or(0)).sum()
}

/// The text cut to at most `most` columns, with `…` where something is missing.
#[must_use]
pub fn clip(text: &str, most: usize) -> Cow<'_, str> {
    // A text has at most as many columns as bytes.
    if text.len() <= most || columns(text) <= most {
        return Cow::Borrowed(text);
    }
    let mut used = 0;
    let mut out = String::new();
    for character in text.chars() {
        used += character.width().unwrap_or(0);
        if used + 1 > most {
            break;
        }
        out.push(character);
    }
    out.push('…');
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("plain\ttext\n", "plain\ttext\n")]
    #[case("a\r\nb\rc", "a\nb␍c")]
    #[case("\u{1b}[2Jgone\u{7}", "␛[2Jgone␇")]
    #[case("\u{9b}31m", "<U+009B>31m")]
    #[case("rm \u{202e}txt.exe", "rm <U+202E>txt.exe")]
    #[case("家族👨‍👩‍👧", "家族👨‍👩‍👧")]
    fn nothing_controls_the_terminal(#[case] text: &str, #[case] shown: &str) {
        assert_eq!(visible(text), shown);
    }

    #[test]
    fn visible_text_is_the_same_in_pieces() {
        let text = "a\u{1b}[31mb\u{202e}c\nd";
        let pieces: String = text
            .chars()
            .map(|c| visible(&c.to_string()).into_owned())
            .collect();
        assert_eq!(pieces, visible(text));
    }

    #[rstest]
    #[case("short", 5, "short")]
    #[case("longer", 5, "long…")]
    #[case("汉字汉字", 5, "汉字…")]
    #[case("汉字汉字", 8, "汉字汉字")]
    #[case("x", 0, "…")]
    fn a_clipped_text_keeps_to_the_columns(
        #[case] text: &str,
        #[case] most: usize,
        #[case] clipped: &str,
    ) {
        assert_eq!(clip(text, most), clipped);
    }

    #[test]
    fn d05_what_has_no_width_or_turns_the_text_around_is_shown() {
        assert_eq!(one_line("r\u{200b}m\u{feff}"), "r<U+200B>m<U+FEFF>");
        assert_eq!(one_line("a\u{202e}b"), "a<U+202E>b");
    }

    #[test]
    fn d05_a_joiner_is_shown_where_it_joins_nothing() {
        let hiding = "su\u{200d}do r\u{200c}m";
        assert_eq!(one_line(hiding), "su<U+200D>do r<U+200C>m");
        for joining in ["👩\u{200d}💻 ok", "می\u{200c}خواهم"] {
            assert_eq!(one_line(joining), joining);
        }
    }

    #[test]
    fn one_line_has_no_breaks() {
        assert_eq!(one_line("  a\n\n b\t c\r\n"), "a b c");
    }
}
