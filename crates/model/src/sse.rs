//! Server-sent events, read from bytes as they come.
//!
//! Follows the WHATWG HTML standard, section 9.2 "Server-sent events": lines end with CR, LF or
//! both, also where the two bytes come in two reads; one byte order mark at the start is skipped;
//! comments and unknown fields are nothing; the data lines of an event are joined by LF. `id` and
//! `retry` are for reconnecting, which nobody does in the middle of a reply, so they are nothing
//! too. Every byte is looked at a constant number of times.

use std::mem;

/// One event.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SseEvent {
    /// The `event` field; empty when there was none.
    pub name: String,
    /// The data lines, joined by LF.
    pub data: String,
}

/// An event over the bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an event is larger than {limit} bytes")]
pub struct EventTooLarge {
    /// The bound in bytes.
    pub limit: usize,
}

/// Reads events from pieces of a byte stream.
#[derive(Debug)]
pub struct SseParser {
    /// The line that has not ended yet.
    line: Vec<u8>,
    data: Vec<u8>,
    name: Vec<u8>,
    has_data: bool,
    at_start: bool,
    after_cr: bool,
    limit: usize,
}

impl SseParser {
    /// A parser whose events may have `limit` bytes.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self {
            line: Vec::new(),
            data: Vec::new(),
            name: Vec::new(),
            has_data: false,
            at_start: true,
            after_cr: false,
            limit,
        }
    }

    /// Takes the next bytes and puts the events they complete at the end of `events`.
    ///
    /// # Errors
    /// [`EventTooLarge`]; the parser is of no use after it.
    pub fn push(
        &mut self,
        mut bytes: &[u8],
        events: &mut Vec<SseEvent>,
    ) -> Result<(), EventTooLarge> {
        while let Some(&first) = bytes.first() {
            if mem::take(&mut self.after_cr) && first == b'\n' {
                bytes = &bytes[1..];
                continue;
            }
            let Some(end) = memchr::memchr2(b'\r', b'\n', bytes) else {
                self.bound(bytes.len())?;
                self.line.extend_from_slice(bytes);
                break;
            };
            let (head, rest) = bytes.split_at(end);
            self.bound(head.len())?;
            if self.line.is_empty() {
                self.take_line(head, events);
            } else {
                self.line.extend_from_slice(head);
                let mut line = mem::take(&mut self.line);
                self.take_line(&line, events);
                line.clear();
                self.line = line;
            }
            self.after_cr = rest[0] == b'\r';
            bytes = &rest[1..];
        }
        Ok(())
    }

    /// What stands unfinished when the stream ends. The standard throws it away; servers that
    /// forget the last line end have still said it, so the caller may look at it.
    #[must_use]
    pub fn finish(mut self) -> Option<SseEvent> {
        let mut events = Vec::new();
        let line = mem::take(&mut self.line);
        if !line.is_empty() {
            self.take_line(&line, &mut events);
        }
        self.dispatch(&mut events);
        events.pop()
    }

    fn bound(&self, more: usize) -> Result<(), EventTooLarge> {
        if self.line.len() + self.data.len() + self.name.len() + more > self.limit {
            return Err(EventTooLarge { limit: self.limit });
        }
        Ok(())
    }

    fn take_line(&mut self, mut line: &[u8], events: &mut Vec<SseEvent>) {
        if mem::take(&mut self.at_start) {
            line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        }
        if line.is_empty() {
            self.dispatch(events);
            return;
        }
        let (field, value) = match memchr::memchr(b':', line) {
            Some(at) => (&line[..at], &line[at + 1..]),
            None => (line, &line[line.len()..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"data" => {
                if mem::replace(&mut self.has_data, true) {
                    self.data.push(b'\n');
                }
                self.data.extend_from_slice(value);
            }
            b"event" => {
                self.name.clear();
                self.name.extend_from_slice(value);
            }
            _ => {}
        }
    }

    fn dispatch(&mut self, events: &mut Vec<SseEvent>) {
        self.has_data = false;
        let name = mem::take(&mut self.name);
        if self.data.is_empty() {
            return;
        }
        let data = mem::take(&mut self.data);
        events.push(SseEvent {
            name: text(name),
            data: text(data),
        });
    }
}

/// The standard decodes with replacement; valid text is not copied.
fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rstest::rstest;

    fn read(pieces: &[&[u8]]) -> Vec<(String, String)> {
        let mut parser = SseParser::new(1024);
        let mut events = Vec::new();
        for piece in pieces {
            parser.push(piece, &mut events).unwrap();
        }
        events.into_iter().map(|e| (e.name, e.data)).collect()
    }

    fn data(bytes: &[u8]) -> Vec<String> {
        read(&[bytes]).into_iter().map(|(_, data)| data).collect()
    }

    #[rstest]
    #[case::lf(b"data: a\n\ndata: b\n\n", &["a", "b"])]
    #[case::crlf(b"data: a\r\n\r\ndata: b\r\n\r\n", &["a", "b"])]
    #[case::cr_only(b"data: a\r\rdata: b\r\r", &["a", "b"])]
    #[case::mixed(b"data: a\r\n\ndata: b\n\r\n", &["a", "b"])]
    #[case::no_space(b"data:a\n\n", &["a"])]
    #[case::only_one_space_goes(b"data:  a\n\n", &[" a"])]
    #[case::several_lines(b"data: a\ndata: b\n\n", &["a\nb"])]
    #[case::several_lines_crlf(b"data: a\r\ndata: b\r\n\r\n", &["a\nb"])]
    #[case::several_lines_cr(b"data: a\rdata: b\r\r", &["a\nb"])]
    #[case::empty_second_line(b"data: a\ndata\n\n", &["a\n"])]
    #[case::empty_first_line(b"data:\ndata: a\n\n", &["\na"])]
    #[case::comments(b": hello\n\ndata: a\n: and\ndata: b\n\n", &["a\nb"])]
    #[case::unknown_fields(b"id: 1\nretry: 5\nfoo: x\ndata: a\n\n", &["a"])]
    #[case::no_data_is_no_event(b"event: ping\n\ndata: a\n\n", &["a"])]
    #[case::colon_in_value(b"data: {\"a\":1}\n\n", &["{\"a\":1}"])]
    #[case::byte_order_mark(b"\xef\xbb\xbfdata: a\n\n", &["a"])]
    #[case::byte_order_mark_only_once(b"data: a\n\n\xef\xbb\xbfdata: b\n\n", &["a"])]
    #[case::unfinished_is_nothing(b"data: a\n\ndata: b\n", &["a"])]
    fn reads_what_the_standard_says(#[case] bytes: &[u8], #[case] expected: &[&str]) {
        assert_eq!(data(bytes), expected);
    }

    #[test]
    fn the_two_bytes_of_a_line_end_may_come_in_two_reads() {
        let pieces: [&[u8]; 5] = [
            b"data: a\r",
            b"\ndata: b\r",
            b"\n\r",
            b"\ndata: c\r",
            b"\n\r\n",
        ];
        let texts: Vec<String> = read(&pieces).into_iter().map(|(_, data)| data).collect();
        assert_eq!(texts, ["a\nb", "c"]);
        assert_eq!(data(&pieces.concat()), texts);
    }

    #[test]
    fn a_name_belongs_to_its_event_only() {
        let events = read(&[b"event: error\ndata: a\n\ndata: b\n\n"]);
        assert_eq!(events[0].0, "error");
        assert_eq!(events[1].0, "");
    }

    #[test]
    fn a_character_split_over_reads_is_whole() {
        let bytes = "data: 你好 🙂\n\n".as_bytes();
        let pieces: Vec<&[u8]> = bytes.chunks(1).collect();
        assert_eq!(read(&pieces)[0].1, "你好 🙂");
    }

    #[test]
    fn the_last_event_may_lack_its_end_if_the_caller_asks() {
        let mut parser = SseParser::new(1024);
        let mut events = Vec::new();
        parser
            .push(b"data: a\n\ndata: [DONE]", &mut events)
            .unwrap();
        assert_eq!(parser.finish().unwrap().data, "[DONE]");
    }

    #[rstest]
    #[case::one_line(&["data: 0123456789"])]
    #[case::many_lines(&["data: 01234\n", "data: 56789\n", "data: 56789\n"])]
    #[case::a_long_comment(&[": 0123456789", "0123456789"])]
    fn an_event_is_bounded_whatever_it_is_made_of(#[case] pieces: &[&str]) {
        let mut parser = SseParser::new(15);
        let mut events = Vec::new();
        let over = pieces
            .iter()
            .try_for_each(|piece| parser.push(piece.as_bytes(), &mut events));
        assert_eq!(over, Err(EventTooLarge { limit: 15 }));
    }

    fn stream() -> impl Strategy<Value = Vec<u8>> {
        let line = prop_oneof![
            "data: ?[a-z你\u{1f642}]{0,6}".prop_map(String::from),
            "event: ?[a-z]{0,3}".prop_map(String::from),
            Just(": comment".to_owned()),
            Just("data".to_owned()),
            Just(String::new()),
            Just(String::new()),
        ];
        let end = prop_oneof![Just("\n"), Just("\r"), Just("\r\n")];
        let lines = prop::collection::vec((line, end), 0..40);
        (any::<bool>(), lines).prop_map(|(bom, lines)| {
            let mut out = if bom {
                "\u{feff}".to_owned()
            } else {
                String::new()
            };
            for (line, end) in lines {
                out.push_str(&line);
                out.push_str(end);
            }
            out.into_bytes()
        })
    }

    proptest! {
        #[test]
        fn any_split_gives_the_same_events(
            bytes in stream(),
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
        ) {
            let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
            cuts.sort_unstable();
            let mut pieces = Vec::new();
            let mut from = 0;
            for cut in cuts {
                pieces.push(&bytes[from..cut]);
                from = cut;
            }
            pieces.push(&bytes[from..]);
            prop_assert_eq!(read(&pieces), read(&[&bytes]));
        }

        #[test]
        fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let mut parser = SseParser::new(64);
            let _ = parser.push(&bytes, &mut Vec::new());
            let _ = parser.finish();
        }
    }
}
