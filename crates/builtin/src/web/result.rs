//! A reply as a result: what kind it is, as text, and cut to what was asked for.

use outfitter_core::{ArtifactId, Bytes, NewArtifact, Scope, ToolContext};
use outfitter_net::reqwest::Url;
use outfitter_text::binary::{Content, sniff};

use super::charset::decode;
use super::page::{self, Style};

/// What stands for the text of a page that its scripts would make.
const NO_TEXT_WITHOUT_SCRIPTS: &str = "[no text without its scripts, which are not run here; look \
    for another address of the same, such as an API, a feed or a plain version]";

/// What stands for the text of a page that has none.
const NO_TEXT: &str = "[the page has no text]";

/// In what form a page is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// Written anew.
    Read(Style),
    /// As it came.
    Raw,
}

/// What a reply is.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Readable {
    /// Something to read.
    Text {
        /// The title; empty where there is none.
        title: String,
        /// The text.
        text: String,
        /// What it is, for who keeps it.
        mime: &'static str,
    },
    /// Something else, of this media type.
    Binary(String),
}

/// Reads a body as what it is. What the reply says it is counts unless the bytes show otherwise.
pub(crate) fn readable(bytes: &[u8], content_type: &str, url: &Url, form: Form) -> Readable {
    let said = content_type.split(';').next().unwrap_or_default().trim();
    let said = said.to_ascii_lowercase();
    if let Some(mime) = binary(bytes, &said) {
        return Readable::Binary(mime);
    }
    let text = decode(bytes, content_type);
    let plain = |text, mime| Readable::Text {
        title: String::new(),
        text,
        mime,
    };
    match form {
        _ if !is_html(&said, &text) => plain(text, "text/plain"),
        Form::Raw => plain(text, "text/html"),
        Form::Read(style) => {
            let page = page::read(&text, url, style);
            let says_nothing = page.text.is_empty() && !text.trim().is_empty();
            let text = match (says_nothing, page.scripts) {
                (false, _) => page.text,
                (true, true) => NO_TEXT_WITHOUT_SCRIPTS.to_owned(),
                (true, false) => NO_TEXT.to_owned(),
            };
            Readable::Text {
                title: page.title,
                text,
                mime: match style {
                    Style::Markdown => "text/markdown",
                    Style::Text => "text/plain",
                },
            }
        }
    }
}

fn is_html(said: &str, text: &str) -> bool {
    match said {
        "text/html" | "application/xhtml+xml" => true,
        "" => {
            let start = text.trim_start().get(..9).unwrap_or_default();
            start.eq_ignore_ascii_case("<!doctype")
                || start.to_ascii_lowercase().starts_with("<html")
        }
        _ => false,
    }
}

/// The media type of what is no text.
fn binary(bytes: &[u8], said: &str) -> Option<String> {
    let marked = encoding_rs::Encoding::for_bom(bytes).is_some();
    if bytes.is_empty() || (marked && !bytes.starts_with(&[0xff, 0xfe, 0, 0])) {
        return None;
    }
    let known = infer::get(bytes).filter(|kind| kind.matcher_type() != infer::MatcherType::Text);
    let texty = sniff(bytes) == Content::Text;
    match known {
        // "BM" and "MZ" begin words too.
        Some(kind)
            if !(texty && std::str::from_utf8(bytes).is_ok())
                || kind.mime_type() == "application/pdf" =>
        {
            Some(kind.mime_type().to_owned())
        }
        Some(_) | None if texty => None,
        Some(_) | None if said.is_empty() || said.starts_with("text/") => {
            Some("application/octet-stream".to_owned())
        }
        Some(_) | None => Some(said.to_owned()),
    }
}

/// Keeps something whole as an artifact of the session; none where nothing can be kept.
pub(crate) async fn keep(
    cx: &ToolContext,
    mime: &str,
    name: &str,
    bytes: Bytes,
) -> Option<ArtifactId> {
    let scope = Scope::from(&*cx.who);
    let new = NewArtifact {
        mime: mime.to_owned(),
        name: name.to_owned(),
    };
    let id = cx.artifacts.create(&scope, &cx.session, new).await.ok()?;
    let kept = cx.artifacts.append(&scope, &cx.session, &id, bytes).await;
    kept.is_ok().then_some(id)
}

/// The first `max` characters, and how many more there are.
pub(super) fn head(text: &str, max: usize) -> (&str, usize) {
    match text.char_indices().nth(max) {
        None => (text, 0),
        Some((at, _)) => (&text[..at], text[at..].chars().count()),
    }
}
