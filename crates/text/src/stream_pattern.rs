//! A regular expression looked for in a stream that is still coming.
//!
//! An automaton is stepped byte by byte, so that each byte costs the same whatever the expression
//! is, and nothing of the stream is kept: a match is found wherever the stream was cut into
//! pieces, inside a character too. What terminals are told by escape sequences (CSI and OSC) is
//! not part of the text.
//!
//! The syntax is that of the `regex` crate. `^` and `$` are at lines. `\b` and its relatives look
//! at ASCII letters, digits and `_`. What looks at the next character (`$`, `\b`) is decided when
//! that character comes, or the end of the stream.

mod borders;
mod escapes;

use regex_automata::MatchKind;
use regex_automata::hybrid::LazyStateID;
use regex_automata::hybrid::dfa::{Cache, Config, DFA};
use regex_automata::nfa::thompson;
use regex_automata::util::start;
use regex_syntax::ParserBuilder;

use borders::{looks_ahead, with_ascii_words};
use escapes::Escapes;

/// The most memory for the compiled expression.
const MAX_COMPILED_BYTES: usize = 4 << 20;

/// The most memory for the states of one stream; when it is full they are made anew.
const STATES_BYTES: usize = 2 << 20;

/// How deep an expression may be nested.
const MAX_NESTING: u32 = 100;

/// Why an expression cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct BadPattern(String);

/// An expression, compiled.
#[derive(Debug)]
pub struct StreamPattern {
    dfa: DFA,
    /// Whether a match can depend on the character after it.
    looks_ahead: bool,
}

impl StreamPattern {
    /// Compiles an expression.
    ///
    /// # Errors
    /// [`BadPattern`] when it is none, or too large.
    ///
    /// ```
    /// use outfitter_text::stream_pattern::StreamPattern;
    ///
    /// let pattern = StreamPattern::new(r"listening on :\d+").unwrap();
    /// let mut stream = pattern.stream();
    /// stream.push(b"starting\nliste");
    /// assert!(!stream.has_matched());
    /// stream.push(b"ning on :8080");
    /// assert!(stream.has_matched());
    /// ```
    pub fn new(pattern: &str) -> Result<Self, BadPattern> {
        let bad = |why: String| BadPattern(why);
        let hir = ParserBuilder::new()
            .utf8(false)
            .multi_line(true)
            .nest_limit(MAX_NESTING)
            .build()
            .parse(pattern)
            .map_err(|error| bad(error.to_string()))?;
        let hir = with_ascii_words(hir);
        let looks_ahead = looks_ahead(hir.properties().look_set());
        let nfa = thompson::Compiler::new()
            .configure(
                thompson::Config::new()
                    .utf8(false)
                    .nfa_size_limit(Some(MAX_COMPILED_BYTES))
                    .which_captures(thompson::WhichCaptures::None),
            )
            .build_from_hir(&hir)
            .map_err(|error| bad(error.to_string()))?;
        let dfa = DFA::builder()
            .configure(
                Config::new()
                    .match_kind(MatchKind::All)
                    .cache_capacity(STATES_BYTES)
                    .skip_cache_capacity_check(true),
            )
            .build_from_nfa(nfa)
            .map_err(|error| bad(error.to_string()))?;
        Ok(Self { dfa, looks_ahead })
    }

    /// A stream of which nothing has come yet.
    #[must_use]
    pub fn stream(&self) -> StreamMatch<'_> {
        let mut cache = self.dfa.create_cache();
        let state = self.dfa.start_state(&mut cache, &start::Config::new());
        let mut stream = StreamMatch {
            pattern: self,
            cache,
            escapes: Escapes::Text,
            progress: match state {
                Ok(state) => Seen::Nothing(state),
                Err(_) => Seen::Lost,
            },
        };
        stream.look();
        stream
    }
}

/// One stream, and whether the expression has matched in it.
#[derive(Debug)]
pub struct StreamMatch<'a> {
    pattern: &'a StreamPattern,
    cache: Cache,
    escapes: Escapes,
    progress: Seen,
}

#[derive(Debug, Clone, Copy)]
enum Seen {
    /// No match yet; the automaton is here.
    Nothing(LazyStateID),
    /// A match.
    Match,
    /// The automaton could not go on. No configuration of ours leads here.
    Lost,
}

impl StreamMatch<'_> {
    /// The next bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            let Seen::Nothing(state) = self.progress else {
                return;
            };
            if self.escapes.swallows(byte) {
                continue;
            }
            let next = self.pattern.dfa.next_state(&mut self.cache, state, byte);
            self.progress = match next {
                Ok(state) if state.is_match() => Seen::Match,
                Ok(state) if state.is_quit() => Seen::Lost,
                Ok(state) => Seen::Nothing(state),
                Err(_) => Seen::Lost,
            };
        }
        self.look();
    }

    /// The stream has ended.
    pub fn end(&mut self) {
        if let Seen::Nothing(state) = self.progress {
            self.finish_at(state);
        }
    }

    /// Whether it has matched, as far as the stream has come.
    #[must_use]
    pub fn has_matched(&self) -> bool {
        matches!(self.progress, Seen::Match)
    }

    /// The automaton tells of a match one byte late. Where no next byte can change it, it is one
    /// now.
    fn look(&mut self) {
        if let Seen::Nothing(state) = self.progress
            && !self.pattern.looks_ahead
        {
            self.finish_at(state);
        }
    }

    fn finish_at(&mut self, state: LazyStateID) {
        let before = state;
        let end = self.pattern.dfa.next_eoi_state(&mut self.cache, state);
        match end {
            Ok(end) if end.is_match() => self.progress = Seen::Match,
            Ok(_) => self.progress = Seen::Nothing(before),
            Err(_) => self.progress = Seen::Lost,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rstest::rstest;

    fn matches(pattern: &str, text: &[u8], step: usize) -> bool {
        let pattern = StreamPattern::new(pattern).unwrap();
        let mut stream = pattern.stream();
        for piece in text.chunks(step) {
            stream.push(piece);
        }
        stream.end();
        stream.has_matched()
    }

    #[rstest]
    #[case("ready", "the server is ready\n", true)]
    #[case("ready", "the server is read", false)]
    #[case(r"port \d{4}", "port 80\nport 8080", true)]
    #[case("^done$", "almost done\nnot done yet\n", false)]
    #[case("^done$", "almost done\ndone\nmore", true)]
    #[case("^done$", "done", true)]
    #[case("完成", "任务已完成。", true)]
    #[case("[完成]{2}", "任务已完成。", true)]
    #[case("任务.完成", "任务已完成。", true)]
    #[case(r"\bok\b", "book ok!", true)]
    #[case(r"\bok\b", "book okay", false)]
    #[case(r"(?i)READY", "Ready", true)]
    #[case("a\nb", "xa\nby", true)]
    #[case("server ready in", "server \x1b[32mready\x1b[0m in 3 ms", true)]
    #[case(
        "http://localhost:5173",
        "Local: \x1b[36mhttp://localhost:\x1b[1m5173\x1b[22m/",
        true
    )]
    #[case("after", "\x1b]0;a title\x07after", true)]
    #[case("title", "\x1b]0;a title\x1b\\after", false)]
    #[case("", "", true)]
    fn a_match_is_found_wherever_the_stream_is_cut(
        #[case] pattern: &str,
        #[case] text: &str,
        #[case] matched: bool,
    ) {
        for step in [1, 2, 3, 5, 4096] {
            assert_eq!(matches(pattern, text.as_bytes(), step), matched, "{step}");
        }
    }

    #[test]
    fn a_match_is_told_with_its_last_byte() {
        let pattern = StreamPattern::new("ready").unwrap();
        let mut stream = pattern.stream();
        stream.push(b"ready");
        assert!(stream.has_matched());
    }

    #[test]
    fn what_looks_ahead_waits_for_what_comes() {
        let pattern = StreamPattern::new("ready$").unwrap();
        let mut stream = pattern.stream();
        stream.push(b"ready");
        assert!(!stream.has_matched());
        stream.push(b" soon\nready");
        assert!(!stream.has_matched());
        stream.push(b"\n");
        assert!(stream.has_matched());
    }

    #[rstest]
    #[case("a(")]
    #[case("[z-a]")]
    #[case(r"(a)\1")]
    #[case("(?=x)")]
    #[case("(((a{100}){100}){100}){100}")]
    fn what_is_no_expression_or_too_large_is_refused(#[case] pattern: &str) {
        let error = StreamPattern::new(pattern).unwrap_err();
        assert!(!error.to_string().is_empty());
    }

    /// The classic that takes others exponential time, over a megabyte.
    #[test]
    fn no_expression_takes_longer_than_the_stream_is() {
        let pattern = StreamPattern::new("(a+)+b(x|xx)*$").unwrap();
        let mut stream = pattern.stream();
        let piece = vec![b'a'; 64 << 10];
        for _ in 0..16 {
            stream.push(&piece);
        }
        stream.end();
        assert!(!stream.has_matched());
    }

    /// More states than there is room for: they are forgotten and made anew, and nothing is missed.
    #[test]
    fn states_are_bounded_and_forgetting_them_loses_no_match() {
        let pattern = StreamPattern::new(r"[ab]*a[ab]{14}c").unwrap();
        let mut stream = pattern.stream();
        let mut seed = 1_u32;
        let noise: Vec<u8> = (0..400_000)
            .map(|_| {
                seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                b"ab"[(seed >> 31) as usize]
            })
            .collect();
        stream.push(&noise);
        assert!(!stream.has_matched());
        assert!(stream.cache.memory_usage() <= 2 * STATES_BYTES);
        stream.push(b"aabababababababac");
        assert!(stream.has_matched());
    }

    proptest! {
        #[test]
        fn any_text_in_any_pieces_matches_as_the_whole_does(
            text in "[abc \n你好]{0,40}", cuts in prop::collection::vec(1_usize..7, 1..8),
            pattern in prop::sample::select(vec!["a", "ab+", "^b", "c$", "你.", "a.*b", r"b\nc", "(ab|好)c"]),
        ) {
            let whole = matches(pattern, text.as_bytes(), usize::MAX);
            let compiled = StreamPattern::new(pattern).unwrap();
            let mut stream = compiled.stream();
            let mut rest = text.as_bytes();
            for cut in cuts.iter().cycle() {
                if rest.is_empty() { break; }
                let (piece, after) = rest.split_at((*cut).min(rest.len()));
                stream.push(piece);
                rest = after;
            }
            stream.end();
            prop_assert_eq!(stream.has_matched(), whole);
        }

        #[test]
        fn any_bytes_are_taken(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let pattern = StreamPattern::new("(?-u:\\xff)x").unwrap();
            let mut stream = pattern.stream();
            stream.push(&bytes);
            stream.end();
            let _ = stream.has_matched();
        }
    }
}
