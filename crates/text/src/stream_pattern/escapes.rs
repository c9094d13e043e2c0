//! What terminals are told among the characters of a stream.

/// Where in an escape sequence the stream is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Escapes {
    Text,
    /// After ESC.
    Begun,
    /// Between CSI and its last byte.
    Control,
    /// Within OSC; a line never ends in one.
    Title,
    /// After ESC within OSC.
    TitleEnds,
}

impl Escapes {
    /// Whether the next byte is none of the text.
    pub(super) fn swallows(&mut self, byte: u8) -> bool {
        const ESC: u8 = 0x1b;
        const BEL: u8 = 0x07;
        let (next, swallowed) = match (*self, byte) {
            (Self::Text | Self::Begun | Self::Control, ESC) => (Self::Begun, true),
            (Self::Text, _) => (Self::Text, false),
            (Self::Begun, b'[') => (Self::Control, true),
            (Self::Begun, b']') => (Self::Title, true),
            // Another kind of sequence: two bytes, or what comes is shown.
            (Self::Begun, 0x30..=0x7e) => (Self::Text, true),
            (Self::Control, 0x20..=0x3f) => (Self::Control, true),
            (Self::Control, 0x40..=0x7e) => (Self::Text, true),
            (Self::Title, BEL) => (Self::Text, true),
            (Self::Title, ESC) => (Self::TitleEnds, true),
            (Self::TitleEnds, b'\\') => (Self::Text, true),
            (Self::Title, b'\n') | (Self::Begun | Self::Control | Self::TitleEnds, _) => {
                (Self::Text, false)
            }
            (Self::Title, _) => (Self::Title, true),
        };
        *self = next;
        swallowed
    }
}
