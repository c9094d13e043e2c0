//! Token counts in the vocabulary of the process: `o200k_base` unless it is told another.
//!
//! For models with another vocabulary the count is an estimate. The tables cost about 65 MB and
//! 60 ms, so they load only when a text is longer in bytes than its limit in tokens: a token
//! covers at least one byte, so a shorter text always fits.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, Ordering};

use bpe_openai::Tokenizer;

/// A vocabulary of tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(u8)]
pub enum Vocabulary {
    /// That of OpenAI's present models.
    #[default]
    O200kBase = 0,
    /// That of OpenAI's models before, and of many that follow them.
    Cl100kBase = 1,
}

/// The one that is counted in.
static VOCABULARY: AtomicU8 = AtomicU8::new(Vocabulary::O200kBase as u8);

/// Counts in this vocabulary from now on, in the whole process: a text has one count, whoever asks.
pub fn count_in(vocabulary: Vocabulary) {
    VOCABULARY.store(vocabulary as u8, Ordering::Relaxed);
}

/// The longest token of a vocabulary in bytes. A text longer than this many bytes per token of
/// its limit is over the limit whatever it says, and need not be tokenised either.
pub const LONGEST_TOKEN_BYTES: usize = 128;

/// The first guess of how many bytes a token covers; windows grow from it by doubling.
const USUAL_TOKEN_BYTES: usize = 4;

static TABLES: [OnceLock<&'static Tokenizer>; 2] = [OnceLock::new(), OnceLock::new()];

fn tables() -> &'static Tokenizer {
    let cl100k = VOCABULARY.load(Ordering::Relaxed) == Vocabulary::Cl100kBase as u8;
    tables_of(if cl100k {
        Vocabulary::Cl100kBase
    } else {
        Vocabulary::O200kBase
    })
}

fn tables_of(vocabulary: Vocabulary) -> &'static Tokenizer {
    TABLES[vocabulary as usize].get_or_init(match vocabulary {
        Vocabulary::O200kBase => bpe_openai::o200k_base,
        Vocabulary::Cl100kBase => bpe_openai::cl100k_base,
    })
}

/// Whether the token tables have been loaded in this process.
///
/// ```rust,standalone_crate
/// use outfitter_text::tokens::{Fit, fits, tables_loaded};
///
/// assert_eq!(fits("as long in bytes as the limit", 29), Fit::Within);
/// assert_eq!(fits(&"far over the limit".repeat(1000), 12), Fit::Over);
/// assert!(!tables_loaded(), "neither answer needed the tables");
///
/// assert_eq!(fits("one two three", 12), Fit::Within);
/// assert!(tables_loaded());
/// ```
#[must_use]
pub fn tables_loaded() -> bool {
    TABLES.iter().any(|tables| tables.get().is_some())
}

/// Whether a text keeps to a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fit {
    /// At most as long as the limit.
    Within,
    /// Longer than the limit.
    Over,
}

/// Whether `text` is at most `limit` tokens long. The work is bounded by the limit, not the text.
#[must_use]
pub fn fits(text: &str, limit: usize) -> Fit {
    if text.len() <= limit {
        return Fit::Within;
    }
    if text.len() > limit.saturating_mul(LONGEST_TOKEN_BYTES) {
        return Fit::Over;
    }
    let tables = tables();
    match tables.count_till_limit(&tables.normalize(text), limit) {
        Some(_) => Fit::Within,
        None => Fit::Over,
    }
}

/// How many tokens `text` is. Prefer [`fits`] where only a limit matters: this reads the whole.
#[must_use]
pub fn count(text: &str) -> usize {
    if text.is_empty() {
        return 0;
    }
    tables().count(text)
}

/// The length in bytes of the longest prefix found of about `tokens` tokens, on a character
/// boundary. Tokenised on its own the prefix may differ by a token or two; callers verify.
pub(crate) fn prefix_len(text: &str, tokens: usize) -> usize {
    grow(text, tokens, |window| {
        let window = &text[..text.floor_char_boundary(window)];
        let mut left = tokens;
        let mut end = 0;
        for piece in tables().split(window) {
            let bpe = &tables().bpe;
            if let Some(used) = bpe.count_till_limit(piece.as_bytes(), left) {
                left -= used;
                end += piece.len();
                continue;
            }
            end += bpe
                .encode_via_backtracking(piece.as_bytes())
                .into_iter()
                .take(left)
                .map(|token| bpe.token_len(token))
                .sum::<usize>();
            return Window::Enough(text.floor_char_boundary(end));
        }
        Window::TooSmall
    })
}

/// As [`prefix_len`], for the end of the text.
pub(crate) fn suffix_len(text: &str, tokens: usize) -> usize {
    grow(text, tokens, |window| {
        let start = text.ceil_char_boundary(text.len() - window);
        let bpe = &tables().bpe;
        let lengths: Vec<usize> = tables()
            .split(&text[start..])
            .flat_map(|piece| bpe.encode_via_backtracking(piece.as_bytes()))
            .map(|token| bpe.token_len(token))
            .collect();
        if lengths.len() <= tokens {
            return Window::TooSmall;
        }
        let kept: usize = lengths[lengths.len() - tokens..].iter().sum();
        Window::Enough(text.len() - text.ceil_char_boundary(text.len() - kept))
    })
}

enum Window {
    Enough(usize),
    TooSmall,
}

/// Asks for ever larger windows until one holds more than the tokens wanted, so that the work is
/// linear in what is kept. The largest window holds them whatever the text.
fn grow(text: &str, tokens: usize, look: impl Fn(usize) -> Window) -> usize {
    if tokens == 0 {
        return 0;
    }
    if text.len() <= tokens {
        return text.len();
    }
    let mut window = tokens.saturating_mul(USUAL_TOKEN_BYTES);
    loop {
        if let Window::Enough(len) = look(window.min(text.len())) {
            return len;
        }
        if window >= text.len() {
            return text.len();
        }
        window = window.saturating_mul(2);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_token_is_longer_than_the_constant() {
        let bpe = &tables().bpe;
        let longest = (0..u32::try_from(bpe.num_tokens()).unwrap())
            .map(|token| bpe.token_len(token))
            .max();
        assert_eq!(longest, Some(LONGEST_TOKEN_BYTES));
    }

    #[test]
    fn each_vocabulary_has_counts_of_its_own_and_no_longer_token_than_is_said() {
        let text = "你好，世界。今天的天气很好。";
        let counts = [Vocabulary::O200kBase, Vocabulary::Cl100kBase].map(|vocabulary| {
            let tables = tables_of(vocabulary);
            let longest = (0..tables.bpe.num_tokens())
                .map(|token| tables.bpe.token_len(u32::try_from(token).unwrap()))
                .max();
            assert!(
                longest <= Some(LONGEST_TOKEN_BYTES),
                "{vocabulary:?}: {longest:?}"
            );
            tables.count(text)
        });
        assert!(counts[0] < counts[1], "{counts:?}");
    }

    #[test]
    fn counts_are_those_of_o200k() {
        assert_eq!(count(""), 0);
        assert_eq!(count("hello world"), 2);
        assert_eq!(count("1234567"), 3);
        assert_eq!(count(&" ".repeat(10)), 1);
    }

    #[test]
    fn a_limit_is_met_exactly() {
        let text = "the quick brown fox jumps over the lazy dog. ".repeat(50);
        let exact = count(&text);
        assert_eq!(fits(&text, exact), Fit::Within);
        assert_eq!(fits(&text, exact - 1), Fit::Over);
        assert_eq!(fits("x", 0), Fit::Over);
        assert_eq!(fits("", 0), Fit::Within);
    }

    #[test]
    fn prefix_and_suffix_keep_what_they_promise_within_a_token() {
        for text in [
            "fn main() { println!(\"{}\", 1 + 2); }\n".repeat(400),
            "清华大学的学生在图书馆里看书。".repeat(400),
            "a".repeat(30_000),
            " ".repeat(30_000),
        ] {
            for tokens in [1, 7, 100] {
                let head = count(&text[..prefix_len(&text, tokens)]);
                let tail = count(&text[text.len() - suffix_len(&text, tokens)..]);
                assert!(head <= tokens + 1, "{head} for {tokens}");
                assert!(tail <= tokens + 1, "{tail} for {tokens}");
                assert!(head + 3 >= tokens.min(100) && tail + 3 >= tokens.min(100));
            }
        }
    }
}
