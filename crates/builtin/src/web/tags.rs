//! What tags of a page mean for its text.

use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{Tag, TokenSinkResult};

/// How what follows a start tag is to be read.
pub(super) fn contents(tag: &Tag) -> TokenSinkResult<()> {
    match &*tag.name {
        "title" | "textarea" => TokenSinkResult::RawData(RawKind::Rcdata),
        "style" | "xmp" | "iframe" | "noembed" | "noframes" => {
            TokenSinkResult::RawData(RawKind::Rawtext)
        }
        "script" => TokenSinkResult::RawData(RawKind::ScriptData),
        "plaintext" => TokenSinkResult::Plaintext,
        _ => TokenSinkResult::Continue,
    }
}

/// What is never read.
pub(super) const UNREAD: [&str; 12] = [
    "script", "style", "noscript", "template", "svg", "math", "iframe", "object", "noembed",
    "noframes", "select", "canvas",
];

/// What stands around what is read.
pub(super) const CHROME: [&str; 4] = ["nav", "footer", "aside", "dialog"];

/// An attribute of a tag.
pub(super) fn attribute<'a>(tag: &'a Tag, name: &str) -> Option<&'a str> {
    let found = tag.attrs.iter().find(|one| &*one.name.local == name)?;
    Some(&found.value)
}

/// Whether text before and after it stands apart.
pub(super) fn is_block(name: &str) -> bool {
    matches!(
        name,
        "p" | "div"
            | "section"
            | "header"
            | "footer"
            | "nav"
            | "aside"
            | "main"
            | "article"
            | "form"
            | "fieldset"
            | "figure"
            | "figcaption"
            | "address"
            | "dl"
            | "body"
            | "h1"
            | "h2"
            | "h3"
            | "h4"
            | "h5"
            | "h6"
            | "blockquote"
            | "details"
            | "summary"
            | "caption"
            | "center"
            | "dialog"
    )
}
