//! What the searcher sees of one file, as hits.

use std::collections::VecDeque;
use std::io;

use grep_matcher::Matcher;
use grep_regex::RegexMatcher;
use grep_searcher::{Searcher, Sink, SinkContext, SinkMatch};
use outfitter_core::{SearchHit, SearchMode};

use super::cancel::Gone;
use super::limits::{LINE_LEAD_CHARS, MAX_FOUND_BYTES, MAX_HIT_CHARS, MAX_LINE_CHARS};

/// What is wanted of each file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wanted {
    pub(super) mode: SearchMode,
    pub(super) limit: usize,
    pub(super) before: usize,
    pub(super) after: usize,
}

/// The matches of one file as they come.
pub(super) struct Hits<'a> {
    path: &'a str,
    matcher: &'a RegexMatcher,
    wanted: Wanted,
    gone: &'a Gone,
    /// In the mode for lines: the hits, with the number of each one's last line.
    hits: Vec<(SearchHit, u64)>,
    /// The first hit that may still want lines after it.
    open: usize,
    recent: VecDeque<(u64, String)>,
    pub(super) count: u64,
    /// How much text the hits have.
    bytes: u64,
    /// Whether there are more hits than the limit, or than there is room for.
    pub(super) over: bool,
    pub(super) binary: bool,
    /// In what the file is written, if that is no UTF-8.
    pub(super) encoding: Option<&'static str>,
}

impl<'a> Hits<'a> {
    pub(super) fn new(
        path: &'a str,
        matcher: &'a RegexMatcher,
        wanted: Wanted,
        gone: &'a Gone,
    ) -> Self {
        Self {
            path,
            matcher,
            wanted,
            gone,
            hits: Vec::new(),
            open: 0,
            recent: VecDeque::new(),
            count: 0,
            bytes: 0,
            over: false,
            binary: false,
            encoding: None,
        }
    }

    pub(super) fn finish(self) -> Vec<SearchHit> {
        if self.binary || self.count == 0 {
            return Vec::new();
        }
        let whole_file = |count| SearchHit {
            path: self.path.to_owned(),
            line: 0,
            column: 0,
            text: String::new(),
            before: Vec::new(),
            after: Vec::new(),
            count,
            encoding: self.encoding,
        };
        match self.wanted.mode {
            SearchMode::Content => {
                let encoding = self.encoding;
                let hits = self.hits.into_iter();
                hits.map(|(hit, _)| SearchHit { encoding, ..hit }).collect()
            }
            SearchMode::Files => vec![whole_file(0)],
            SearchMode::Count => vec![whole_file(self.count)],
        }
    }

    /// A line that is context to the hits around it, itself a hit or not.
    fn pass(&mut self, number: u64, line: &[u8]) {
        if self.wanted.before == 0 && self.wanted.after == 0 {
            return;
        }
        let line = bounded_line(&String::from_utf8_lossy(without_end(line)), 0);
        let reach = self.wanted.after as u64;
        for (hit, last) in &mut self.hits[self.open..] {
            if number > *last + reach {
                self.open += 1;
            } else if number > *last {
                self.bytes += line.len() as u64;
                hit.after.push(line.clone());
            }
        }
        self.recent.push_back((number, line));
        if self.recent.len() > self.wanted.before {
            self.recent.pop_front();
        }
    }

    /// Whether nothing is left to wait for once the limit is passed.
    fn is_complete(&self) -> bool {
        self.hits
            .last()
            .is_none_or(|(hit, _)| hit.after.len() >= self.wanted.after)
    }

    fn add(&mut self, first: u64, lines: &[u8]) {
        let start = match self.matcher.find(lines) {
            Ok(Some(found)) => found.start(),
            Ok(None) | Err(_) => 0,
        };
        let ahead = String::from_utf8_lossy(&lines[..start]);
        // In a match over several lines the column is that of its first line.
        let column = ahead.chars().rev().take_while(|c| *c != '\n').count();
        let text = String::from_utf8_lossy(without_end(lines));
        let last = first + text.matches('\n').count() as u64;
        let text = if last == first {
            bounded_line(&text, column)
        } else {
            bounded_text(&text)
        };
        let reach = self.wanted.before as u64;
        let before = self
            .recent
            .iter()
            .filter(|(number, _)| number + reach >= first && *number < first)
            .map(|(_, line)| line.clone())
            .collect();
        let hit = SearchHit {
            path: self.path.to_owned(),
            line: first,
            column: column as u64 + 1,
            text,
            before,
            after: Vec::new(),
            count: 0,
            encoding: None,
        };
        self.bytes += weight(&hit);
        self.hits.push((hit, last));
    }
}

impl Sink for Hits<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        if self.gone.is_set() {
            return Ok(false);
        }
        self.count += 1;
        match self.wanted.mode {
            SearchMode::Files => return Ok(false),
            SearchMode::Count => return Ok(true),
            SearchMode::Content => {}
        }
        let first = found.line_number().unwrap_or(0);
        let known = self.hits.len();
        if known < self.wanted.limit && self.bytes < MAX_FOUND_BYTES {
            self.add(first, found.bytes());
        } else {
            self.over = true;
        }
        // A hit is context to the ones before it, and not to itself: its own lines are not after
        // its last.
        for (number, line) in (first..).zip(found.lines()) {
            self.pass(number, line);
        }
        Ok(!(self.over && self.is_complete()))
    }

    fn context(&mut self, _: &Searcher, line: &SinkContext<'_>) -> Result<bool, io::Error> {
        self.pass(line.line_number().unwrap_or(0), line.bytes());
        Ok(!(self.over && self.is_complete()))
    }

    fn binary_data(&mut self, _: &Searcher, _: u64) -> Result<bool, io::Error> {
        self.binary = true;
        Ok(false)
    }
}

/// How much text a hit has.
pub(super) fn weight(hit: &SearchHit) -> u64 {
    let lines = hit.before.iter().chain(&hit.after);
    let texts = lines.chain([&hit.path, &hit.text]);
    texts.map(|text| text.len() as u64).sum()
}

fn without_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// A line short enough to show; of a long one the part around the match.
fn bounded_line(line: &str, column: usize) -> String {
    if line.len() <= MAX_LINE_CHARS {
        return line.to_owned();
    }
    let total = line.chars().count();
    if total <= MAX_LINE_CHARS {
        return line.to_owned();
    }
    let from = column
        .saturating_sub(LINE_LEAD_CHARS)
        .min(total - MAX_LINE_CHARS);
    let kept: String = line.chars().skip(from).take(MAX_LINE_CHARS).collect();
    let after = total - from - MAX_LINE_CHARS;
    let ahead = if from > 0 {
        format!("[{from} characters left out]")
    } else {
        String::new()
    };
    let behind = if after > 0 {
        format!("[{after} characters left out]")
    } else {
        String::new()
    };
    format!("{ahead}{kept}{behind}")
}

fn bounded_text(text: &str) -> String {
    match text.char_indices().nth(MAX_HIT_CHARS) {
        None => text.to_owned(),
        Some((cut, _)) => {
            let left = text[cut..].chars().count();
            format!("{}[{left} characters left out]", &text[..cut])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_is_shown_around_its_match() {
        let line = format!("{}é{}", "a".repeat(5000), "b".repeat(5000));
        let shown = bounded_line(&line, 5000);
        assert!(shown.starts_with("[4800 characters left out]a"), "{shown}");
        assert!(shown.ends_with("b[4201 characters left out]"), "{shown}");
        assert!(shown.contains('é'));
    }

    #[test]
    fn a_line_at_the_bound_is_whole() {
        let line = "é".repeat(MAX_LINE_CHARS);
        assert_eq!(bounded_line(&line, 0), line);
    }
}
