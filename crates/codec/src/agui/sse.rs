//! Server-sent events: one event, one frame, one buffer, so that it can be one write.

use crate::EncodeError;
use crate::json::append_one_line;

use super::event::AguiEvent;

/// What keeps a connection alive that has nothing to say. Readers skip it.
pub const HEARTBEAT: &[u8] = b": keepalive\n\n";

/// The media type of a stream of frames.
pub const CONTENT_TYPE: &str = "text/event-stream";

/// Appends the frame of `event` to `out`: `data: `, its JSON on one line, and an empty line.
///
/// # Errors
/// [`EncodeError`]; `out` is then what it was.
pub fn encode(event: &AguiEvent, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    let start = out.len();
    out.extend_from_slice(b"data: ");
    match append_one_line("an AG-UI event", event, out) {
        Ok(()) => {
            out.extend_from_slice(b"\n\n");
            Ok(())
        }
        Err(error) => {
            out.truncate(start);
            Err(error)
        }
    }
}
