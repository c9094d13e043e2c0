//! Media types: how a body is written in one, those that a document names, and the one that a
//! file has.

use outfitter_net::reqwest::header::HeaderValue;

use super::error::Unusable;
use super::extensions::{by_extension, has_extension};
use crate::files::mime_of;

/// What a file is of which nothing else is known.
pub(super) const UNKNOWN: &str = "application/octet-stream";

/// How a body is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Media {
    /// JSON, as this media type.
    Json(String),
    /// `application/x-www-form-urlencoded`.
    Form,
    /// `multipart/form-data`.
    Multipart,
    /// A text, as this media type.
    Text(String),
    /// The bytes of a file, as one of these media types.
    Bytes(MediaTypes, Transfer),
}

/// How the bytes of a file are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Transfer {
    /// As they are.
    Bytes,
    /// As base64, with the letters of URLs or without.
    Base64 { url: bool },
}

/// The media types that may stand at a place; none is any.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct MediaTypes(Vec<String>);

impl MediaTypes {
    /// Those of a list with commas, each of which can stand in a header.
    pub(super) fn parse(list: &str) -> Result<Self, Unusable> {
        let each = list.split(',').map(str::trim);
        let each = each.filter(|kind| !kind.is_empty()).map(str::to_owned);
        let all: Vec<String> = each.collect();
        let wrong = |kind: &&String| !is_media_type(kind);
        match all.iter().find(wrong) {
            Some(kind) => Err(Unusable::new(format!("{kind:?} is no media type"))),
            None => Ok(Self(all)),
        }
    }

    /// Adds another that may stand there, if it is one.
    pub(super) fn push(&mut self, kind: &str) {
        if is_media_type(kind) {
            self.0.push(kind.to_owned());
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The first that is one and not a range of them.
    pub(super) fn first(&self) -> Option<&str> {
        let mut all = self.0.iter().map(String::as_str);
        all.find(|kind| !kind.contains('*'))
    }

    /// Whether no text can stand there, only the bytes of a file.
    pub(super) fn are_binary(&self) -> bool {
        !self.is_empty() && self.0.iter().all(|kind| is_binary(kind))
    }

    /// The one for a file: what it is by its name, by who made it, and by its content, as far as
    /// that may stand there.
    ///
    /// # Errors
    /// Why it is none of those that may.
    pub(super) fn of_file(
        &self,
        name: &str,
        said: Option<&str>,
        bytes: &[u8],
    ) -> Result<String, String> {
        let content = mime_of(bytes);
        let said = said.filter(|kind| is_media_type(kind));
        let named = by_extension(name).or(said);
        let is: Vec<&str> = [by_extension(name), said, Some(content)]
            .into_iter()
            .flatten()
            .collect();
        let best = is.first().copied().unwrap_or(UNKNOWN);
        if self.is_empty() {
            return Ok(best.to_owned());
        }
        for kind in &is {
            if let Some(wanted) = self.0.iter().find(|wanted| takes(wanted, kind)) {
                let said = if wanted.contains('*') {
                    kind
                } else {
                    wanted.as_str()
                };
                return Ok(said.to_owned());
            }
        }
        // What takes one kind says what a file is of which nothing else is known, and what takes
        // bytes takes these.
        match self.0.as_slice() {
            [only] if may_be(only, named, content) => Ok(only.clone()),
            all if all.iter().any(|kind| essence(kind) == UNKNOWN) => Ok(UNKNOWN.to_owned()),
            all => Err(format!(
                "{name:?} is {best}, and the API takes {}",
                all.join(", ")
            )),
        }
    }
}

/// Whether a file of this content, and called so if it is called anything, may be of this kind for
/// all that is known: nothing tells that it is another, or nothing could tell that it is this one.
fn may_be(kind: &str, named: Option<&str>, content: &str) -> bool {
    if kind.contains('*') {
        return false;
    }
    let wanted = essence(kind);
    let is_known = has_extension(&wanted);
    match named.filter(|named| essence(named) != UNKNOWN) {
        Some(_) => !is_known,
        None if essence(content) == UNKNOWN => true,
        // All that is written looks alike.
        None if content == "text/plain" => !is_known || !is_binary(&wanted),
        None => !is_known,
    }
}

/// Whether a media type, or a range of them, means this one.
fn takes(wanted: &str, kind: &str) -> bool {
    // `audio/x-wav` is `audio/wav`.
    let plain = |kind: &str| essence(kind).replace("/x-", "/");
    let (wanted, kind) = (plain(wanted), plain(kind));
    match wanted.strip_suffix('*') {
        Some("*/" | "*") => true,
        Some(before) => kind.starts_with(before),
        None => wanted == kind,
    }
}

/// Whether a media type is JSON, or stands for it.
pub(super) fn is_json(kind: &str) -> bool {
    let kind = essence(kind);
    matches!(
        kind.as_str(),
        "application/json" | "text/json" | "*/*" | "application/*"
    ) || (kind.starts_with("application/") && kind.ends_with("+json"))
}

/// A media type without its parameters.
pub(super) fn essence(kind: &str) -> String {
    let essence = kind.split(';').next().unwrap_or_default();
    essence.trim().to_ascii_lowercase()
}

/// `type/subtype`, perhaps with parameters, as one line of a header.
pub(super) fn is_media_type(kind: &str) -> bool {
    let essence = essence(kind);
    let Some((of, sub)) = essence.split_once('/') else {
        return false;
    };
    let token = |text: &str| {
        let known = |b: u8| b.is_ascii_alphanumeric() || b"!#$&-^_.+*".contains(&b);
        !text.is_empty() && text.bytes().all(known)
    };
    token(of) && token(sub) && kind.is_ascii() && HeaderValue::from_str(kind).is_ok()
}

/// Whether what a media type stands for is no text.
pub(super) fn is_binary(kind: &str) -> bool {
    let kind = essence(kind);
    let is_text = |sub: &str| {
        is_json(&kind)
            || sub.ends_with("+xml")
            || sub.ends_with("yaml")
            || matches!(
                sub,
                "xml"
                    | "x-www-form-urlencoded"
                    | "javascript"
                    | "graphql"
                    | "sql"
                    | "jsonl"
                    | "x-ndjson"
                    | "ndjson"
                    | "jwt"
            )
    };
    match kind.split_once('/') {
        Some(("audio" | "font" | "image" | "model" | "video", _)) => true,
        Some(("application", sub)) => !is_text(sub),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR";

    #[rstest]
    #[case::by_its_name("", "a.PNG", None, b"x", Ok("image/png"))]
    #[case::by_its_maker("", "reply", Some("audio/aac"), b"x", Ok("audio/aac"))]
    #[case::by_its_content("", "photo", None, PNG, Ok("image/png"))]
    #[case::unknown("", "blob", None, b"\0\x01\x02\xff", Ok("application/octet-stream"))]
    #[case::hidden("", ".png", None, b"text", Ok("text/plain"))]
    #[case::not_the_only_one(
        "image/jpeg",
        "a.png",
        None,
        PNG,
        Err("\"a.png\" is image/png, and the API takes image/jpeg")
    )]
    #[case::a_text_for_a_picture(
        "image/png",
        "a.txt",
        None,
        b"x",
        Err("\"a.txt\" is text/plain, and the API takes image/png")
    )]
    #[case::a_text_without_a_name_for_a_picture(
        "image/png",
        "a",
        None,
        b"x",
        Err("\"a\" is text/plain, and the API takes image/png")
    )]
    #[case::a_text_of_a_kind_that_no_name_has(
        "application/x-thing",
        "a",
        None,
        b"x",
        Ok("application/x-thing")
    )]
    #[case::rows("text/csv", "rows", None, b"a,b", Ok("text/csv"))]
    #[case::of_no_known_kind("image/jpeg", "a", None, b"\0\x01\x02\xff", Ok("image/jpeg"))]
    #[case::a_kind_that_no_name_has(
        "application/vnd.thing",
        "a.zip",
        None,
        b"PK\x03\x04\0\0\xff",
        Ok("application/vnd.thing")
    )]
    #[case::one_of("image/jpeg, image/png;q=1", "a", None, PNG, Ok("image/png;q=1"))]
    #[case::a_range("image/*", "a.gif", None, b"x", Ok("image/gif"))]
    #[case::by_its_older_name("audio/wav", "a", Some("audio/x-wav"), b"x", Ok("audio/wav"))]
    #[case::any("*/*", "a.gif", None, b"x", Ok("image/gif"))]
    #[case::bytes(
        "application/pdf,application/octet-stream",
        "a.gif",
        None,
        b"x",
        Ok("application/octet-stream")
    )]
    #[case::none_of(
        "image/jpeg,image/*",
        "a.txt",
        None,
        b"x",
        Err("\"a.txt\" is text/plain, and the API takes image/jpeg, image/*")
    )]
    fn a_file_is_what_its_name_its_maker_or_its_content_says(
        #[case] takes: &str,
        #[case] name: &str,
        #[case] said: Option<&str>,
        #[case] bytes: &[u8],
        #[case] is: Result<&str, &str>,
    ) {
        let takes = MediaTypes::parse(takes).unwrap();
        let got = takes.of_file(name, said, bytes);
        assert_eq!(got.as_deref().map_err(String::as_str), is);
    }

    #[rstest]
    #[case("text")]
    #[case("image/png\r\nX: y")]
    #[case("image/p ng")]
    #[case("bild/ä")]
    fn what_a_document_says_never_ends_the_header_of_a_part(#[case] kind: &str) {
        assert!(MediaTypes::parse(kind).is_err());
    }
}
