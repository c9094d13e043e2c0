//! Path templates: `/pets/{petId}/photos`. What is filled in stays in its segment, whatever it holds.

use outfitter_core::ToolError;

use super::error::Unusable;
use super::text::{percent_decode, percent_encode};

/// A path with places to be filled in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Template {
    segments: Vec<Vec<Piece>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    /// As it stands in a URL.
    Text(String),
    /// The place of a parameter.
    Parameter(String),
}

/// What is filled in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Filling {
    /// As it stands in a URL.
    pub(super) encoded: String,
    /// What it says, piece by piece.
    pub(super) said: Vec<String>,
    /// The argument that it is, as a JSON Pointer.
    pub(super) at: String,
}

impl Template {
    /// Reads a template.
    pub(super) fn parse(text: &str) -> Result<Self, Unusable> {
        let wrong = |why: &str| Unusable::new(format!("its path {text:?} {why}"));
        let path = text
            .strip_prefix('/')
            .ok_or_else(|| wrong("does not begin with /"))?;
        if text.contains(['?', '#', '\\']) {
            return Err(wrong("holds ?, # or \\"));
        }
        let segments = path.split('/').map(|segment| {
            let pieces = pieces(segment).ok_or_else(|| wrong("has a brace too many"))?;
            let literal = pieces.iter().map(|piece| match piece {
                Piece::Text(text) => text.as_str(),
                Piece::Parameter(_) => "x",
            });
            if is_dots(&literal.collect::<String>()) {
                return Err(wrong("leads out of itself"));
            }
            Ok(pieces)
        });
        Ok(Self {
            segments: segments.collect::<Result<_, _>>()?,
        })
    }

    /// The parameters that it has places for.
    pub(super) fn parameters(&self) -> impl Iterator<Item = &str> {
        self.segments
            .iter()
            .flatten()
            .filter_map(|piece| match piece {
                Piece::Text(_) => None,
                Piece::Parameter(name) => Some(name.as_str()),
            })
    }

    /// Whether a path may be one of this template, as a lenient server reads it: in whatever case
    /// and encoding, and with slashes too many.
    pub(super) fn has(&self, path: &str) -> bool {
        let segments = path.split('/').filter(|segment| !segment.is_empty());
        let segments: Vec<String> = segments.map(lenient).collect();
        let wanted: Vec<&Vec<Piece>> = self
            .segments
            .iter()
            .filter(|pieces| !pieces.is_empty())
            .collect();
        segments.len() == wanted.len()
            && segments
                .iter()
                .zip(wanted)
                .all(|(segment, pieces)| fits(pieces, segment))
    }

    /// The path with everything filled in. It has as many segments as the template, and none of them
    /// leads to another place.
    pub(super) fn fill(
        &self,
        filling: impl Fn(&str) -> Result<Filling, ToolError>,
    ) -> Result<String, ToolError> {
        let mut path = String::new();
        for pieces in &self.segments {
            let mut segment = String::new();
            let mut at = None;
            for piece in pieces {
                match piece {
                    Piece::Text(text) => segment.push_str(text),
                    Piece::Parameter(name) => {
                        let filling = filling(name)?;
                        check(&filling, name)?;
                        segment.push_str(&filling.encoded);
                        at.get_or_insert(filling.at);
                    }
                }
            }
            if is_dots(&segment) {
                let message = format!("{segment:?} would lead to another place");
                return Err(ToolError::invalid(at.unwrap_or_default(), message));
            }
            path.push('/');
            path.push_str(&segment);
        }
        Ok(path)
    }
}

fn lenient(segment: &str) -> String {
    let decoded = percent_decode(segment);
    decoded.unwrap_or_else(|| segment.to_owned()).to_lowercase()
}

/// Whether a segment is one of these pieces, with at least a byte in each place.
fn fits(pieces: &[Piece], segment: &str) -> bool {
    let bytes = segment.as_bytes();
    // Piece by piece: how far into the segment those so far can reach.
    let mut reached = vec![false; bytes.len() + 1];
    reached[0] = true;
    for piece in pieces {
        let mut next = vec![false; bytes.len() + 1];
        match piece {
            Piece::Text(text) => {
                let text = lenient(text);
                for at in (0..=bytes.len()).filter(|at| reached[*at]) {
                    if bytes[at..].starts_with(text.as_bytes()) {
                        next[at + text.len()] = true;
                    }
                }
            }
            Piece::Parameter(_) => {
                for at in 1..=bytes.len() {
                    next[at] = next[at - 1] || reached[at - 1];
                }
            }
        }
        reached = next;
    }
    reached[bytes.len()]
}

/// Servers there are that decode first and look for `..` afterwards, so it is refused also where it
/// is encoded.
fn check(filling: &Filling, name: &str) -> Result<(), ToolError> {
    if filling.encoded.is_empty() {
        let message = format!("{name} is a part of a path, which cannot be empty");
        return Err(ToolError::invalid(&filling.at, message));
    }
    for said in &filling.said {
        if said.contains('\0')
            || said
                .split(['/', '\\'])
                .any(|part| part == "." || part == "..")
        {
            let message = format!("{said:?} as {name} would lead to another place");
            return Err(ToolError::invalid(&filling.at, message));
        }
    }
    Ok(())
}

/// Whether whoever reads URLs takes a segment for `.` or `..`.
fn is_dots(segment: &str) -> bool {
    let plain = segment.replace("%2e", ".").replace("%2E", ".");
    plain == "." || plain == ".."
}

fn pieces(segment: &str) -> Option<Vec<Piece>> {
    let mut pieces = Vec::new();
    let mut rest = segment;
    while let Some((before, after)) = rest.split_once('{') {
        let (name, after) = after.split_once('}')?;
        if before.contains('}') || name.is_empty() || name.contains('{') {
            return None;
        }
        if !before.is_empty() {
            pieces.push(Piece::Text(literal(before)));
        }
        pieces.push(Piece::Parameter(name.to_owned()));
        rest = after;
    }
    if rest.contains('}') {
        return None;
    }
    if !rest.is_empty() {
        pieces.push(Piece::Text(literal(rest)));
    }
    Some(pieces)
}

/// A text of the template as it stands in a URL: what may stand in a segment (RFC 3986) stays.
fn literal(text: &str) -> String {
    let stays = |c: char| c.is_ascii_alphanumeric() || "-._~!$&'()*+,;=:@%".contains(c);
    let mut buffer = [0; 4];
    text.chars()
        .map(|c| match stays(c) {
            true => c.to_string(),
            false => percent_encode(c.encode_utf8(&mut buffer)),
        })
        .collect()
}
