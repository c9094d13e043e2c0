//! A text cut to a budget: its head, a marker that says exactly what is left out, its tail.
//!
//! The work is linear in what is kept (and one count of line breaks in what is not), so bounding
//! ten megabytes costs about as much as bounding a hundred kilobytes.

use std::borrow::Cow;
use std::fmt;

use crate::tokens::{self, Fit};

/// How often a cut that came out too long is cut again before only the marker is kept. The first
/// correction nearly always suffices; the bound is there so that no text can make it loop.
const MAX_CORRECTIONS: usize = 8;

/// Kept free in a budget of tokens, so that the first cut nearly always fits once joined.
const TOKENS_LOST_AT_JOINTS: usize = 4;

/// A cut moves to a line boundary if that gives up at most one part in this many of the side.
const LINE_SEARCH_SHARE: usize = 4;

/// What a text is measured in, and how much of it there may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Budget {
    /// Tokens as [`tokens::count`] counts them.
    Tokens(usize),
    /// Unicode scalar values.
    Chars(usize),
    /// Bytes of UTF-8.
    Bytes(usize),
}

/// Where the reader finds what is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whole<'a> {
    /// The whole text is kept as the artifact with this id.
    Artifact(&'a str),
    /// The artifact with this id has the beginning of the text, and the rest is gone.
    Beginning(&'a str),
    /// What is left out is gone.
    NotKept,
}

/// How much lies between head and tail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Extent {
    /// Bytes of UTF-8.
    pub bytes: u64,
    /// Line breaks.
    pub lines: u64,
}

impl Extent {
    /// The extent of a text.
    #[must_use]
    pub fn of(text: &str) -> Self {
        Self {
            bytes: text.len() as u64,
            lines: memchr::memchr_iter(b'\n', text.as_bytes()).count() as u64,
        }
    }

    fn without(self, part: Self) -> Self {
        Self {
            bytes: self.bytes.saturating_sub(part.bytes),
            lines: self.lines.saturating_sub(part.lines),
        }
    }
}

/// A text within its budget.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Bounded<'a> {
    /// It fitted as it was.
    Whole(Cow<'a, str>),
    /// It did not.
    Cut(Cut<'a>),
}

/// The two ends of a text and what is said between them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cut<'a> {
    /// A prefix of the text.
    pub head: Cow<'a, str>,
    /// The words between the ends, with the line breaks that set them off.
    pub marker: String,
    /// A suffix of the text.
    pub tail: Cow<'a, str>,
    /// What is left out, exactly.
    pub omitted: Extent,
}

impl Bounded<'_> {
    /// What is left out, if anything is.
    #[must_use]
    pub fn omitted(&self) -> Option<Extent> {
        match self {
            Self::Whole(_) => None,
            Self::Cut(cut) => Some(cut.omitted),
        }
    }

    /// The same without the borrow.
    #[must_use]
    pub fn into_owned(self) -> Bounded<'static> {
        match self {
            Self::Whole(text) => Bounded::Whole(Cow::Owned(text.into_owned())),
            Self::Cut(cut) => Bounded::Cut(Cut {
                head: Cow::Owned(cut.head.into_owned()),
                marker: cut.marker,
                tail: Cow::Owned(cut.tail.into_owned()),
                omitted: cut.omitted,
            }),
        }
    }
}

impl fmt::Display for Bounded<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(text) => f.write_str(text),
            Self::Cut(cut) => write!(f, "{}{}{}", cut.head, cut.marker, cut.tail),
        }
    }
}

/// Bounds `text` to `budget`, marker included.
///
/// Never cuts inside a character and prefers line boundaries. Where the budget is smaller than
/// the marker itself, the marker alone is kept: nothing is ever left out silently.
///
/// ```
/// use outfitter_text::head_tail::{Budget, Whole, bound};
///
/// let log = "a line of a long log\n".repeat(100);
/// let short = bound(&log, Budget::Chars(200), Whole::Artifact("art_7"));
/// assert!(short.to_string().chars().count() <= 200);
/// assert!(short.to_string().contains("the whole is artifact art_7"));
/// ```
#[must_use]
pub fn bound<'a>(text: &'a str, budget: Budget, whole: Whole<'_>) -> Bounded<'a> {
    match budget.fit(text) {
        Fit::Within => Bounded::Whole(Cow::Borrowed(text)),
        Fit::Over => Bounded::Cut(cut(text, text, Extent::of(text), budget, whole)),
    }
}

/// Cuts a text that is over its budget, of which `front` is at least as long a prefix and `back`
/// at least as long a suffix as the budget allows to keep.
pub(crate) fn cut<'a>(
    front: &'a str,
    back: &'a str,
    total: Extent,
    budget: Budget,
    whole: Whole<'_>,
) -> Cut<'a> {
    // The marker with the largest counts it can show is the longest it can get.
    let taken = budget.size(&marker(total, whole)) + budget.slack();
    let room = budget.limit().saturating_sub(taken);
    let (mut head, mut tail) = (room / 2, room - room / 2);
    for _ in 0..MAX_CORRECTIONS {
        let cut = ends(front, back, total, budget, (head, tail), whole);
        if cut.omitted.bytes > 0 {
            let joined = format!("{}{}{}", cut.head, cut.marker, cut.tail);
            if budget.fit(&joined) == Fit::Within {
                return cut;
            }
            let excess = budget.size(&joined).saturating_sub(budget.limit());
            (head, tail) = (head.saturating_sub(excess), tail.saturating_sub(excess));
        } else {
            (head, tail) = (head / 2, tail / 2);
        }
        if head == 0 && tail == 0 {
            break;
        }
    }
    ends(front, back, total, budget, (0, 0), whole)
}

fn ends<'a>(
    front: &'a str,
    back: &'a str,
    total: Extent,
    budget: Budget,
    (head, tail): (usize, usize),
    whole: Whole<'_>,
) -> Cut<'a> {
    let head = prefer_line_end(&front[..budget.prefix_len(front, head)]);
    let tail = prefer_line_start(back, back.len() - budget.suffix_len(back, tail));
    // Head and tail are measured apart, so for odd texts they could meet.
    let left = usize::try_from(total.bytes)
        .unwrap_or(usize::MAX)
        .saturating_sub(head.len());
    let tail = &tail[tail.ceil_char_boundary(tail.len().saturating_sub(left))..];
    let omitted = total.without(Extent::of(head)).without(Extent::of(tail));
    let text = marker(omitted, whole);
    // The marker stands on a line of its own, whatever it is set between.
    let before = usize::from(head.is_empty() || head.ends_with('\n'));
    let after = text.len() - usize::from(tail.is_empty());
    Cut {
        head: Cow::Borrowed(head),
        marker: text[before..after].to_owned(),
        tail: Cow::Borrowed(tail),
        omitted,
    }
}

fn marker(omitted: Extent, whole: Whole<'_>) -> String {
    let Extent { bytes, lines } = omitted;
    match whole {
        Whole::Artifact(id) => format!(
            "\n[... {bytes} bytes ({lines} lines) left out; the whole is artifact {id}, \
             read_artifact gives any part of it ...]\n"
        ),
        Whole::Beginning(id) => format!(
            "\n[... {bytes} bytes ({lines} lines) left out; artifact {id} has only a part \
             of it all, read_artifact gives any part of that ...]\n"
        ),
        Whole::NotKept => {
            format!("\n[... {bytes} bytes ({lines} lines) left out and not kept ...]\n")
        }
    }
}

fn prefer_line_end(head: &str) -> &str {
    let from = head.len() - head.len() / LINE_SEARCH_SHARE;
    match memchr::memrchr(b'\n', &head.as_bytes()[from..]) {
        Some(at) => &head[..=from + at],
        None => head,
    }
}

fn prefer_line_start(back: &str, start: usize) -> &str {
    let (before, tail) = back.split_at(start);
    if before.ends_with('\n') {
        return tail;
    }
    let to = tail.len() / LINE_SEARCH_SHARE;
    match memchr::memchr(b'\n', &tail.as_bytes()[..to]) {
        Some(at) => &tail[at + 1..],
        None => tail,
    }
}

impl Budget {
    /// How many of its units there may be.
    #[must_use]
    pub fn limit(self) -> usize {
        match self {
            Self::Tokens(limit) | Self::Chars(limit) | Self::Bytes(limit) => limit,
        }
    }

    /// Whether a text keeps to the budget, without measuring more than the budget of it.
    #[must_use]
    pub fn fit(self, text: &str) -> Fit {
        let within = match self {
            Self::Tokens(limit) => return tokens::fits(text, limit),
            Self::Bytes(limit) => text.len() <= limit,
            Self::Chars(limit) => text.len() <= limit || text.char_indices().nth(limit).is_none(),
        };
        if within { Fit::Within } else { Fit::Over }
    }

    /// How many of its units a text is long.
    #[must_use]
    pub fn size(self, text: &str) -> usize {
        match self {
            Self::Tokens(_) => tokens::count(text),
            Self::Chars(_) => text.chars().count(),
            Self::Bytes(_) => text.len(),
        }
    }

    /// Characters and bytes add up when texts are joined; tokens may merge or split at a joint.
    fn slack(self) -> usize {
        match self {
            Self::Tokens(_) => TOKENS_LOST_AT_JOINTS,
            Self::Chars(_) | Self::Bytes(_) => 0,
        }
    }

    fn prefix_len(self, text: &str, units: usize) -> usize {
        match self {
            Self::Tokens(_) => tokens::prefix_len(text, units),
            Self::Chars(_) => text
                .char_indices()
                .nth(units)
                .map_or(text.len(), |(at, _)| at),
            Self::Bytes(_) => text.floor_char_boundary(units),
        }
    }

    fn suffix_len(self, text: &str, units: usize) -> usize {
        match self {
            Self::Tokens(_) => tokens::suffix_len(text, units),
            Self::Chars(_) => match units.checked_sub(1) {
                None => 0,
                Some(before_last) => text
                    .char_indices()
                    .nth_back(before_last)
                    .map_or(text.len(), |(at, _)| text.len() - at),
            },
            Self::Bytes(_) => {
                text.len() - text.ceil_char_boundary(text.len().saturating_sub(units))
            }
        }
    }
}
