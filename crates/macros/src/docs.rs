//! Doc comments as plain text.

use syn::{Attribute, Expr, Lit, Meta};

/// The text of the doc comments among `attributes`: one line a paragraph. Empty without any.
pub(crate) fn text(attributes: &[Attribute]) -> String {
    let lines: Vec<String> = attributes.iter().filter_map(line).collect();
    let text = lines.join("\n");
    let paragraphs: Vec<String> = text
        .split("\n\n")
        .map(|paragraph| {
            let words: Vec<&str> = paragraph.split_whitespace().collect();
            words.join(" ")
        })
        .filter(|paragraph| !paragraph.is_empty())
        .collect();
    paragraphs.join("\n\n")
}

pub(crate) fn is_doc(attribute: &Attribute) -> bool {
    attribute.path().is_ident("doc")
}

fn line(attribute: &Attribute) -> Option<String> {
    let Meta::NameValue(meta) = &attribute.meta else {
        return None;
    };
    match &meta.value {
        Expr::Lit(literal) if is_doc(attribute) => match &literal.lit {
            Lit::Str(text) => Some(text.value().trim().to_owned()),
            _ => None,
        },
        _ => None,
    }
}
