//! Characters that show nothing, or show a text in another order than it has.

/// Whether a character shows nothing where a text is shown: what Unicode calls default ignorable
/// (`Default_Ignorable_Code_Point` of `DerivedCoreProperties.txt`), controls of direction among
/// it.
#[must_use]
pub fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
        | '\u{ffa0}' | '\u{fff0}'..='\u{fff8}' | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Whether a character is invisible and is not one that words and pictures are written with: the
/// joiners (Persian, Hindi, families of faces) and the selectors of variants (pictures).
#[must_use]
pub fn is_deceptive(c: char) -> bool {
    is_invisible(c)
        && !matches!(
            c,
            '\u{200c}' | '\u{200d}' | '\u{fe0e}' | '\u{fe0f}' | '\u{180b}'..='\u{180f}'
        )
}

/// The text without what is invisible in it.
#[must_use]
pub fn without_invisible(text: &str) -> String {
    text.chars().filter(|c| !is_invisible(*c)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_shows_nothing_is_known_and_what_shows_is_left() {
        for c in [
            '\u{200b}',
            '\u{200c}',
            '\u{200d}',
            '\u{2060}',
            '\u{feff}',
            '\u{202e}',
            '\u{ad}',
            '\u{e0041}',
        ] {
            assert!(is_invisible(c), "{c:?}");
        }
        for c in [
            'a',
            ' ',
            '\n',
            '\u{e9}',
            '\u{301}',
            '你',
            '\u{1f600}',
            '\u{a0}',
        ] {
            assert!(!is_invisible(c), "{c:?}");
        }
        assert_eq!(without_invisible("s\u{200b}u\u{200d}do\u{feff}"), "sudo");
    }

    #[test]
    fn joiners_of_words_deceive_nobody_and_directions_do() {
        assert!(!is_deceptive('\u{200d}') && !is_deceptive('\u{200c}'));
        assert!(is_deceptive('\u{202e}') && is_deceptive('\u{200b}') && is_deceptive('\u{2066}'));
    }
}
