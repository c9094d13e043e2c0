//! One value, one line.

use std::io;

use memchr::memchr2;
use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};

use crate::EncodeError;

/// Appends `value` and a line feed to `out`. When it fails, `out` is what it was.
pub(crate) fn append_line(
    what: &'static str,
    value: &impl Serialize,
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    append_one_line(what, value, out)?;
    out.push(b'\n');
    Ok(())
}

/// Appends `value` to `out`, without a line feed. When it fails, `out` is what it was.
pub(crate) fn append_one_line(
    what: &'static str,
    value: &impl Serialize,
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    let start = out.len();
    match value.serialize(&mut Serializer::with_formatter(&mut *out, OneLine)) {
        Ok(()) => Ok(()),
        Err(source) => {
            out.truncate(start);
            Err(EncodeError { what, source })
        }
    }
}

/// Compact JSON that is one line to every reader. JSON lets U+0085, U+2028 and U+2029 stand in
/// strings as they are, and common readers of lines split there.
struct OneLine;

impl Formatter for OneLine {
    fn write_string_fragment<W>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()>
    where
        W: ?Sized + io::Write,
    {
        let mut rest = fragment.as_bytes();
        let mut from = 0;
        while let Some(found) = memchr2(0xC2, 0xE2, &rest[from..]) {
            let at = from + found;
            let (length, escape) = match &rest[at..] {
                [0xC2, 0x85, ..] => (2, "\\u0085"),
                [0xE2, 0x80, 0xA8, ..] => (3, "\\u2028"),
                [0xE2, 0x80, 0xA9, ..] => (3, "\\u2029"),
                _ => {
                    from = at + 1;
                    continue;
                }
            };
            writer.write_all(&rest[..at])?;
            writer.write_all(escape.as_bytes())?;
            rest = &rest[at + length..];
            from = 0;
        }
        writer.write_all(rest)
    }
}
