//! Text as the words it is searched by.
//!
//! Words of alphabetic scripts are lowercase runs of letters and digits. An identifier is its parts:
//! `file_read`, `file.read` and `fileRead` are `file` and `read`, and what is written with inner
//! capitals is also found as one word, so that `github` finds `GitHub`.
//!
//! Chinese, Japanese and Korean are not written with spaces: a run of them is cut into overlapping
//! pairs of characters. A segmenter with a dictionary was weighed and left out here: its tables take
//! a tenth of a second and some 35 MB once the first such text is met, which with Chinese keywords
//! on every tool is always; and it cuts a word by the words around it, so that a query and a short
//! text can disagree. Pairs find every word of two characters and the parts of longer ones. What
//! they find too much, that two words share a pair across a border, BM25 ranks low.

/// Words that stand in nearly every sentence and so say nothing about its subject.
const COMMON: &[&str] = &[
    "a", "an", "and", "any", "are", "as", "at", "be", "but", "by", "can", "do", "does", "for",
    "from", "has", "have", "how", "i", "if", "in", "into", "is", "it", "its", "me", "my", "no",
    "not", "of", "on", "or", "our", "please", "so", "some", "that", "the", "their", "them", "then",
    "there", "these", "this", "those", "to", "up", "use", "used", "user", "uses", "using", "want",
    "was", "we", "what", "when", "where", "which", "who", "will", "with", "you", "your", "一个",
    "一下", "帮我", "这个", "那个", "我们", "什么", "怎么", "如何", "可以", "的", "了", "是", "我",
    "你", "在", "和", "与", "请", "把", "用", "给",
];

/// The words of `text`, in order, repeated as often as they stand there.
///
/// ```
/// use outfitter_text::words::words;
///
/// assert_eq!(words("Write the Sales-Reports"), ["write", "sale", "report"]);
/// assert_eq!(words("生成报告"), ["生成", "成报", "报告"]);
/// ```
#[must_use]
pub fn words(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut run = String::new();
    let mut ideographs = Vec::new();
    for character in text.chars() {
        if is_unspaced(character) {
            end_word(&mut run, &mut found);
            ideographs.push(character);
        } else {
            end_run(&mut ideographs, &mut found);
            if character.is_alphanumeric() {
                run.push(character);
            } else {
                end_word(&mut run, &mut found);
            }
        }
    }
    end_word(&mut run, &mut found);
    end_run(&mut ideographs, &mut found);
    found.retain(|word| !COMMON.contains(&word.as_str()));
    found
}

fn end_word(run: &mut String, found: &mut Vec<String>) {
    if run.is_empty() {
        return;
    }
    let mut rest = run.as_str();
    while let Some(at) = inner_capital(rest) {
        found.push(singular(rest[..at].to_lowercase()));
        rest = &rest[at..];
    }
    if rest.len() < run.len() {
        found.push(singular(rest.to_lowercase()));
    }
    found.push(singular(run.to_lowercase()));
    run.clear();
}

/// Where the second part of an identifier begins: at a capital behind a small letter, and at the
/// last of several capitals before a small letter (`HTMLPage`).
fn inner_capital(word: &str) -> Option<usize> {
    let mut characters = word.char_indices().peekable();
    let (_, mut before) = characters.next()?;
    while let Some((at, character)) = characters.next() {
        let next_is_small = characters
            .peek()
            .is_some_and(|(_, next)| next.is_lowercase());
        if character.is_uppercase()
            && (before.is_lowercase() || (before.is_uppercase() && next_is_small))
        {
            return Some(at);
        }
        before = character;
    }
    None
}

/// Without the plural's `s`, so that `reports` finds `report`.
fn singular(mut word: String) -> String {
    if word.len() > 4 && word.is_ascii() && word.ends_with("ies") {
        word.truncate(word.len() - 3);
        word.push('y');
        return word;
    }
    let plural = word.len() > 3 && word.ends_with('s') && !word.ends_with("ss") && word.is_ascii();
    if plural && !word.ends_with("us") && !word.ends_with("is") {
        word.pop();
    }
    word
}

fn end_run(ideographs: &mut Vec<char>, found: &mut Vec<String>) {
    match ideographs.as_slice() {
        [] => {}
        [one] => found.push(one.to_string()),
        many => found.extend(many.windows(2).map(|pair| pair.iter().collect())),
    }
    ideographs.clear();
}

/// Whether the script of a character is written without spaces between words.
fn is_unspaced(character: char) -> bool {
    matches!(u32::from(character),
        0x3040..=0x30ff | 0x3400..=0x4dbf | 0x4e00..=0x9fff | 0xac00..=0xd7af | 0xf900..=0xfaff
        | 0x2_0000..=0x3_ffff)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rstest::rstest;

    #[rstest]
    #[case("", &[])]
    #[case("the a of", &[])]
    #[case("SQL queries, v2!", &["sql", "query", "v2"])]
    #[case("class status analysis", &["class", "status", "analysis"])]
    #[case("用Rust写报告", &["rust", "写报", "报告"])]
    #[case("日程", &["日程"])]
    #[case("Über-Größe", &["über", "größe"])]
    #[case("file_read file.read fileRead", &["file", "read", "file", "read", "file", "read", "fileread"])]
    #[case("parseHTMLPage", &["parse", "html", "page", "parsehtmlpage"])]
    #[case("GitHub HTTP2", &["git", "hub", "github", "http2"])]
    #[case("Sales REPORTS", &["sale", "report"])]
    fn words_are_what_a_search_goes_by(#[case] text: &str, #[case] expected: &[&str]) {
        assert_eq!(words(text), expected);
    }

    proptest! {
        #[test]
        fn any_text_has_words_and_none_is_empty(text in any::<String>()) {
            prop_assert!(words(&text).iter().all(|word| !word.is_empty()));
        }
    }
}
