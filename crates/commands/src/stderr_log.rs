//! What a program says on standard error: a log. People see its lines as they come; its end is kept
//! for when the program breaks the protocol.

use std::collections::VecDeque;

use outfitter_core::{ProgramSecrets, Progress};

use crate::scrub::Scrub;

/// Bytes of a line that are shown.
const LINE_BYTES: usize = 4 * 1024;

/// Bytes of a line that are held. So much longer than what is shown that a secret which begins in
/// the one ends in the other.
const HELD_BYTES: usize = 16 * 1024;

/// Bytes of all lines that are shown.
const SHOWN_BYTES: usize = 256 * 1024;

/// Bytes of the end that is kept.
const TAIL_BYTES: usize = 4 * 1024;

pub(crate) struct StderrLog<'a> {
    program: &'a str,
    progress: &'a Progress,
    scrub: &'a Scrub,
    /// What the program was given.
    given: &'a ProgramSecrets,
    line: Vec<u8>,
    shown: usize,
    tail: VecDeque<String>,
    tail_bytes: usize,
}

impl<'a> StderrLog<'a> {
    pub(crate) fn new(
        program: &'a str,
        progress: &'a Progress,
        scrub: &'a Scrub,
        given: &'a ProgramSecrets,
    ) -> Self {
        Self {
            program,
            progress,
            scrub,
            given,
            line: Vec::new(),
            shown: 0,
            tail: VecDeque::new(),
            tail_bytes: 0,
        }
    }

    pub(crate) fn push(&mut self, mut bytes: &[u8]) {
        // A carriage return begins a line anew: a progress bar.
        while let Some(end) = bytes.iter().position(|b| matches!(b, b'\n' | b'\r')) {
            self.hold(&bytes[..end]);
            self.end_line();
            bytes = &bytes[end + 1..];
        }
        self.hold(bytes);
    }

    /// The end of it.
    pub(crate) fn finish(mut self) -> String {
        self.end_line();
        Vec::from(self.tail).join("\n")
    }

    fn hold(&mut self, bytes: &[u8]) {
        let room = HELD_BYTES - self.line.len();
        self.line.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    fn end_line(&mut self) {
        if self.line.is_empty() {
            return;
        }
        let line = self.scrub.clean(std::mem::take(&mut self.line));
        let line = String::from_utf8_lossy(&line);
        let line = self.given.taken_out(&line);
        let mut line = line[..line.floor_char_boundary(LINE_BYTES)].to_owned();
        if line.len() >= LINE_BYTES - 3 {
            line.push('…');
        }
        tracing::debug!(target: "outfitter::commands", program = self.program, "{line}");
        self.show(&line);
        self.keep(line);
    }

    fn show(&mut self, line: &str) {
        if self.shown > SHOWN_BYTES {
            return;
        }
        self.shown += line.len() + 1;
        if self.shown > SHOWN_BYTES {
            self.progress.info("… more of its log is not shown");
        } else {
            self.progress.info(line);
        }
    }

    fn keep(&mut self, line: String) {
        self.tail_bytes += line.len() + 1;
        self.tail.push_back(line);
        while self.tail_bytes > TAIL_BYTES && self.tail.len() > 1 {
            if let Some(gone) = self.tail.pop_front() {
                self.tail_bytes -= gone.len() + 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use outfitter_core::{ProgressSink, Stream};
    use std::sync::{Arc, Mutex};

    #[derive(Default)]
    struct Seen(Mutex<String>);

    impl ProgressSink for Seen {
        fn emit(&self, stream: Stream, bytes: &[u8]) {
            assert_eq!(stream, Stream::Info);
            self.0
                .lock()
                .unwrap()
                .push_str(std::str::from_utf8(bytes).unwrap());
        }
    }

    fn log(pieces: &[&[u8]]) -> (String, String) {
        let seen = Arc::new(Seen::default());
        let progress = Progress::into(seen.clone());
        let scrub = Scrub::of(Some("the-secret-token".into()));
        let given = ProgramSecrets::default();
        let mut log = StderrLog::new("p", &progress, &scrub, &given);
        for piece in pieces {
            log.push(piece);
        }
        let tail = log.finish();
        let seen = seen.0.lock().unwrap().clone();
        (seen, tail)
    }

    #[test]
    fn lines_are_shown_whole_however_they_come() {
        let (seen, tail) = log(&[b"on", b"e\n\ntw\xc3", b"\xbc\rthree"]);
        assert_eq!(seen, "one\ntwü\nthree\n");
        assert_eq!(tail, "one\ntwü\nthree");
    }

    #[test]
    fn a_secret_is_in_no_line_wherever_it_stands_in_it() {
        for before in [0, 10, LINE_BYTES - 8, LINE_BYTES + 8, HELD_BYTES - 8] {
            let line = format!("{}the-secret-token after", "x".repeat(before));
            let (front, back) = line.as_bytes().split_at(before + 5);
            let (seen, tail) = log(&[front, back]);
            assert!(
                !seen.contains("the-secret") && !tail.contains("the-secret"),
                "{before}"
            );
            assert!(!seen.contains("secret-token"), "{before}");
        }
    }

    #[test]
    fn a_flood_is_cut_and_said_and_its_end_is_kept() {
        let flood: String = (0..100_000).map(|n| format!("line {n}\n")).collect();
        let (seen, tail) = log(&[flood.as_bytes()]);
        assert!(seen.len() < SHOWN_BYTES + 100);
        assert!(seen.ends_with("… more of its log is not shown\n"));
        assert!(tail.ends_with("line 99999") && tail.len() <= TAIL_BYTES);
    }

    #[test]
    fn a_line_without_an_end_is_cut() {
        let (seen, tail) = log(&[&[b'x'; 1_000_000]]);
        assert!(seen.ends_with("…\n") && seen.len() < LINE_BYTES + 10);
        assert!(tail.len() < LINE_BYTES + 10);
    }
}
