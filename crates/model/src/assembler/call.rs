//! One call while its pieces come.

use outfitter_core::{CallId, ToolCallDelta};

/// A call in pieces.
#[derive(Debug, Default)]
pub(super) struct CallInPieces {
    /// The provider's id, until the call has its final one.
    pub(super) id: Option<String>,
    /// The final id.
    pub(super) settled: Option<CallId>,
    pub(super) name: String,
    pub(super) arguments: String,
    /// How much of the arguments was shown.
    shown: usize,
    scan: ObjectScan,
}

impl CallInPieces {
    pub(super) fn take(&mut self, piece: ToolCallDelta) {
        // An id that comes after the call was shown under another one is too late.
        if self.settled.is_none()
            && self.id.is_none()
            && let Some(id) = piece.id.filter(|id| !id.is_empty())
        {
            self.id = Some(id);
        }
        if let Some(name) = piece.name {
            self.take_name(&name);
        }
        self.scan.take(piece.arguments.as_bytes());
        self.arguments.push_str(&piece.arguments);
    }

    /// A name comes once, in pieces, growing, or whole with every piece. Once arguments came it is
    /// whole; until then what does not repeat it is a piece of it.
    fn take_name(&mut self, name: &str) {
        if name.is_empty() || !self.arguments.is_empty() && !self.name.is_empty() {
            return;
        }
        if name.starts_with(&self.name) {
            name.clone_into(&mut self.name);
        } else {
            self.name.push_str(name);
        }
    }

    /// The arguments that were not shown yet, if there are any and the call has a name.
    pub(super) fn unshown(&mut self) -> Option<String> {
        if self.name.is_empty() || self.shown == self.arguments.len() {
            return None;
        }
        let new = self.arguments[self.shown..].to_owned();
        self.shown = self.arguments.len();
        Some(new)
    }

    /// Whether the arguments are one whole object.
    pub(super) fn is_whole(&self) -> bool {
        self.scan.state == Scan::Closed
    }

    /// Whether nothing came but a place or an id.
    pub(super) fn is_nothing(&self) -> bool {
        self.name.is_empty() && self.arguments.trim().is_empty()
    }

    /// Whether this piece begins another call in the same place: servers that number nothing, or
    /// every call 0, do that.
    pub(super) fn is_followed_by(&self, piece: &ToolCallDelta) -> bool {
        let more = !piece.arguments.trim().is_empty();
        let Some(name) = piece.name.as_deref().filter(|name| !name.is_empty()) else {
            return false;
        };
        let other_id = match (self.wire_id(), piece.id.as_deref()) {
            (Some(have), Some(id)) => !id.is_empty() && have != id,
            _ => false,
        };
        // Where nothing is numbered, another name is another call.
        let unnumbered = piece.index.is_none() && piece.id.is_none();
        let other_name = !self.name.is_empty() && name != self.name;
        other_id || unnumbered && other_name || self.is_whole() && (more || other_name)
    }

    /// Whether no id came for it yet.
    pub(super) fn lacks_id(&self) -> bool {
        self.wire_id().is_none()
    }

    fn wire_id(&self) -> Option<&str> {
        self.id
            .as_deref()
            .or(self.settled.as_ref().map(CallId::as_str))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Scan {
    #[default]
    Before,
    Inside,
    Closed,
    /// Not an object, or something after it.
    Other,
}

/// Follows the braces of an object over its pieces, each byte once.
#[derive(Debug, Default)]
struct ObjectScan {
    state: Scan,
    depth: usize,
    in_string: bool,
    escaped: bool,
}

impl ObjectScan {
    fn take(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.state = match (self.state, byte) {
                (Scan::Other, _) => return,
                (Scan::Before | Scan::Closed, b' ' | b'\n' | b'\r' | b'\t') => continue,
                (Scan::Before, b'{') => {
                    self.depth = 1;
                    Scan::Inside
                }
                (Scan::Before | Scan::Closed, _) => Scan::Other,
                (Scan::Inside, byte) => self.inside(*byte),
            };
        }
    }

    fn inside(&mut self, byte: u8) -> Scan {
        if self.in_string {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => self.in_string = false,
                _ => {}
            }
            return Scan::Inside;
        }
        match byte {
            b'"' => self.in_string = true,
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => self.depth -= 1,
            _ => {}
        }
        if self.depth == 0 {
            Scan::Closed
        } else {
            Scan::Inside
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("{}", true)]
    #[case(" {\"a\":\"}\\\"\",\"b\":[{}]} \n", true)]
    #[case("{\"a\":1", false)]
    #[case("{\"a\":\"}", false)]
    #[case("{} {", false)]
    #[case("[1]", false)]
    #[case("", false)]
    fn an_object_is_whole_when_its_braces_are(#[case] text: &str, #[case] whole: bool) {
        for size in 1..=text.len().max(1) {
            let mut scan = ObjectScan::default();
            text.as_bytes()
                .chunks(size)
                .for_each(|piece| scan.take(piece));
            assert_eq!(scan.state == Scan::Closed, whole, "{size}");
        }
    }
}
