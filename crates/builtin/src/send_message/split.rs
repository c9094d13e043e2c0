//! A long text in parts that end where a sentence does.

/// Parts of at most `most` characters each, but for the last: where there are `parts` of them, it has
/// all the rest. A part ends after a sentence if one ends in it, else between words, else anywhere.
/// White space at the seams goes; nothing else does.
pub(super) fn split(text: &str, most: usize, parts: usize) -> Vec<&str> {
    let mut rest = text.trim();
    let mut all = Vec::new();
    while !rest.is_empty() {
        let end = if all.len() + 1 >= parts.max(1) {
            rest.len()
        } else {
            border(rest, most.max(1))
        };
        let (part, after) = rest.split_at(end);
        all.push(part.trim_end());
        rest = after.trim_start();
    }
    all
}

/// Where the first part of this text ends, in bytes.
fn border(text: &str, most: usize) -> usize {
    let Some((limit, _)) = text.char_indices().nth(most) else {
        return text.len();
    };
    let (mut sentence, mut word) = (0, 0);
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let after = at + c.len_utf8();
        if after > limit {
            break;
        }
        let followed_by_space = chars.peek().is_none_or(|(_, next)| next.is_whitespace());
        let ends_sentence = match c {
            '。' | '！' | '？' | '；' | '…' | '\n' => true,
            '.' | '!' | '?' | ';' => followed_by_space,
            _ => false,
        };
        if ends_sentence {
            sentence = after;
        }
        if followed_by_space || c.is_whitespace() {
            word = after;
        }
    }
    match (sentence, word) {
        (0, 0) => limit,
        (0, word) => word,
        (sentence, _) => sentence,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rstest::rstest;

    #[rstest]
    #[case("One. Two. Three.", 10, 5, &["One. Two.", "Three."])]
    #[case("It costs 3.50 today. Good.", 22, 5, &["It costs 3.50 today.", "Good."])]
    #[case("no sentence ends here", 12, 5, &["no sentence", "ends here"])]
    #[case("abcdefgh", 3, 5, &["abc", "def", "gh"])]
    #[case("今天下雨。明天放晴。后天出发！", 6, 5, &["今天下雨。", "明天放晴。", "后天出发！"])]
    #[case("a b c d e f", 1, 3, &["a", "b", "c d e f"])]
    #[case("short", 1000, 5, &["short"])]
    #[case("  \n ", 10, 5, &[])]
    fn parts_end_where_sentences_do(
        #[case] text: &str,
        #[case] most: usize,
        #[case] parts: usize,
        #[case] expected: &[&str],
    ) {
        assert_eq!(split(text, most, parts), expected);
    }

    proptest! {
        #[test]
        fn nothing_is_lost_and_only_the_last_part_is_longer(
            text in "[a-c .!?\n。é🌍]{0,80}", most in 1usize..12, parts in 1usize..6,
        ) {
            let all = split(&text, most, parts);
            let solid = |text: &str| text.split_whitespace().collect::<String>();
            prop_assert_eq!(solid(&all.concat()), solid(&text));
            prop_assert!(all.len() <= parts);
            prop_assert!(all.iter().all(|part| !part.trim().is_empty()));
            for part in all.iter().take(parts - 1) {
                prop_assert!(part.chars().count() <= most, "{:?}", part);
            }
        }
    }
}
