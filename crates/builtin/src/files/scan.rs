//! Lines of a file, counted and picked while it passes by. Only what is picked is kept.

use memchr::memchr_iter;

/// Which lines, and how much of them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pick {
    /// The first line, from 1.
    pub(super) first: u64,
    /// The last one; it may lie behind the end.
    pub(super) last: u64,
    /// At most this many bytes, whole lines unless the first alone is longer.
    pub(super) max_bytes: usize,
}

/// Line endings of a text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Endings {
    /// Lines that end in a line feed alone.
    pub(super) lf: u64,
    /// Lines that end in carriage return and line feed.
    pub(super) crlf: u64,
}

impl Endings {
    /// The word for them.
    pub(super) fn name(self) -> &'static str {
        match (self.lf, self.crlf) {
            (0, 0) => "none",
            (_, 0) => "lf",
            (0, _) => "crlf",
            (_, _) => "mixed",
        }
    }
}

/// What a scan has picked.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Picked {
    /// The bytes of the lines, their endings included.
    pub(super) bytes: Vec<u8>,
    /// The last line that is (partly) there; one less than the first when there is none.
    pub(super) last: u64,
    /// Why it ends before the last line that was asked for.
    pub(super) cut: Option<Cut>,
}

/// Why a pick ends early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cut {
    /// Between two lines.
    BetweenLines,
    /// Inside its only line.
    InsideLine,
}

/// Counts and picks.
pub(super) struct LineScan {
    pick: Pick,
    kept: Vec<u8>,
    /// How much of `kept` is whole lines.
    whole: usize,
    whole_lines: u64,
    full: bool,
    /// The line that the next byte belongs to.
    line: u64,
    last_byte: Option<u8>,
    endings: Endings,
}

impl LineScan {
    pub(super) fn new(pick: Pick) -> Self {
        Self {
            pick,
            kept: Vec::new(),
            whole: 0,
            whole_lines: 0,
            full: false,
            line: 1,
            last_byte: None,
            endings: Endings::default(),
        }
    }

    pub(super) fn push(&mut self, chunk: &[u8]) {
        let mut from = 0;
        for at in memchr_iter(b'\n', chunk) {
            let before = match at.checked_sub(1) {
                Some(before) => Some(chunk[before]),
                None => self.last_byte,
            };
            if before == Some(b'\r') {
                self.endings.crlf += 1;
            } else {
                self.endings.lf += 1;
            }
            self.keep(&chunk[from..=at]);
            self.line += 1;
            from = at + 1;
        }
        self.keep(&chunk[from..]);
        self.last_byte = chunk.last().copied().or(self.last_byte);
    }

    fn keep(&mut self, piece: &[u8]) {
        let wanted = (self.pick.first..=self.pick.last).contains(&self.line);
        if !wanted || self.full || piece.is_empty() {
            return;
        }
        let room = self.pick.max_bytes.saturating_sub(self.kept.len());
        let taken = piece.len().min(room);
        self.kept.extend_from_slice(&piece[..taken]);
        if taken < piece.len() {
            self.full = true;
        } else if piece.ends_with(b"\n") {
            self.whole = self.kept.len();
            self.whole_lines += 1;
        }
    }

    /// Whether nothing that is still to come can be picked.
    pub(super) fn has_all(&self) -> bool {
        self.full || self.line > self.pick.last
    }

    /// How many lines have passed, an unfinished last one included.
    pub(super) fn lines(&self) -> u64 {
        match self.last_byte {
            None | Some(b'\n') => self.line - 1,
            Some(_) => self.line,
        }
    }

    pub(super) fn endings(&self) -> Endings {
        self.endings
    }

    pub(super) fn finish(mut self) -> Picked {
        let first = self.pick.first;
        if !self.full {
            let unfinished = u64::from(self.kept.len() > self.whole);
            return Picked {
                bytes: self.kept,
                last: (first + self.whole_lines + unfinished).saturating_sub(1),
                cut: None,
            };
        }
        if self.whole_lines == 0 {
            return Picked {
                bytes: self.kept,
                last: first,
                cut: Some(Cut::InsideLine),
            };
        }
        self.kept.truncate(self.whole);
        Picked {
            bytes: self.kept,
            last: first + self.whole_lines - 1,
            cut: Some(Cut::BetweenLines),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn scan(text: &[u8], pick: Pick, step: usize) -> LineScan {
        let mut scan = LineScan::new(pick);
        for chunk in text.chunks(step.max(1)) {
            scan.push(chunk);
        }
        scan
    }

    proptest! {
        #[test]
        fn a_range_is_the_same_lines_however_the_file_is_cut(
            text in "([a-c]{0,3}(\n|\r\n)?){0,12}", first in 1_u64..8, more in 0_u64..8, step in 1_usize..9,
        ) {
            let pick = Pick { first, last: first + more, max_bytes: 1 << 20 };
            let scan = scan(text.as_bytes(), pick, step);
            let lines: Vec<&str> = text.split_inclusive('\n').collect();
            prop_assert_eq!(scan.lines(), lines.len() as u64);
            let wanted: String = lines.iter().enumerate()
                .filter(|(at, _)| (first..=first + more).contains(&(*at as u64 + 1)))
                .map(|(_, line)| *line)
                .collect();
            let picked = scan.finish();
            prop_assert_eq!(String::from_utf8(picked.bytes).unwrap(), wanted);
            prop_assert_eq!(picked.cut, None);
        }
    }

    #[test]
    fn a_limit_cuts_between_lines() {
        let pick = Pick {
            first: 2,
            last: 9,
            max_bytes: 9,
        };
        let picked = scan(b"aaa\nbbb\nccc\nddd\n", pick, 2).finish();
        assert_eq!(
            picked,
            Picked {
                bytes: b"bbb\nccc\n".to_vec(),
                last: 3,
                cut: Some(Cut::BetweenLines)
            }
        );
    }

    #[test]
    fn a_line_longer_than_the_limit_is_cut_inside() {
        let pick = Pick {
            first: 1,
            last: 9,
            max_bytes: 2,
        };
        let picked = scan(b"aaaa\nb\n", pick, 3).finish();
        assert_eq!(
            picked,
            Picked {
                bytes: b"aa".to_vec(),
                last: 1,
                cut: Some(Cut::InsideLine)
            }
        );
    }

    #[test]
    fn endings_are_told_by_what_is_there() {
        let all = Pick {
            first: 1,
            last: 9,
            max_bytes: 99,
        };
        for (text, name) in [
            ("a", "none"),
            ("a\nb\n", "lf"),
            ("a\r\nb", "crlf"),
            ("a\r\nb\n", "mixed"),
        ] {
            assert_eq!(
                scan(text.as_bytes(), all, 1).endings().name(),
                name,
                "{text:?}"
            );
        }
    }
}
