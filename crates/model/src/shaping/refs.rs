//! References inside a schema.

use serde_json::Value;

/// Where a reference leads, if it stays inside `root`: a JSON pointer (RFC 6901), the root itself,
/// or the name of an anchor.
pub(super) fn target<'a>(root: &'a Value, reference: &str) -> Option<&'a Value> {
    let fragment = reference.strip_prefix('#')?;
    if fragment.is_empty() {
        return Some(root);
    }
    let fragment = percent_decoded(fragment)?;
    if fragment.starts_with('/') {
        return root.pointer(&fragment);
    }
    let defs = ["$defs", "definitions"]
        .iter()
        .filter_map(|key| root.get(*key)?.as_object());
    defs.flat_map(|defs| defs.values()).find(|def| {
        ["$anchor", "$dynamicAnchor"]
            .iter()
            .any(|key| def.get(*key).and_then(Value::as_str) == Some(&fragment))
    })
}

/// The name of the definition that a reference names, where it names one of the root's.
pub(super) fn definition(reference: &str) -> Option<String> {
    let name = reference
        .strip_prefix("#/$defs/")
        .or_else(|| reference.strip_prefix("#/definitions/"))?;
    let name = percent_decoded(name)?;
    (!name.contains('/')).then(|| name.replace("~1", "/").replace("~0", "~"))
}

/// A reference to a definition by its name.
pub(super) fn to_definition(name: &str) -> String {
    format!("#/$defs/{}", name.replace('~', "~0").replace('/', "~1"))
}

/// What the root of a schema is called, for people.
pub(super) const WHOLE: &str = "the whole";

/// The last word of a reference, for people.
pub(super) fn word(reference: &str) -> &str {
    match reference.rsplit('/').next().filter(|word| !word.is_empty()) {
        Some("#") | None => WHOLE,
        Some(word) => word,
    }
}

fn percent_decoded(text: &str) -> Option<String> {
    if !text.contains('%') {
        return Some(text.to_owned());
    }
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            out.push(byte);
            continue;
        }
        let mut digit = || char::from(bytes.next()?).to_digit(16);
        let (high, low) = (digit()?, digit()?);
        out.push(u8::try_from(high * 16 + low).ok()?);
    }
    String::from_utf8(out).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;
    use serde_json::json;

    #[rstest]
    #[case("#", Some(0))]
    #[case("#/$defs/a~1b", Some(1))]
    #[case("#/$defs/a%7E1b", Some(1))]
    #[case("#/definitions/c", Some(2))]
    #[case("#named", Some(3))]
    #[case("#/$defs/none", None)]
    #[case("https://example.com/schema", None)]
    #[case("other.json#/a", None)]
    fn a_reference_leads_inside_or_nowhere(#[case] reference: &str, #[case] at: Option<u64>) {
        let root = json!({
            "at": 0,
            "$defs": {"a/b": {"at": 1}, "d": {"$anchor": "named", "at": 3}},
            "definitions": {"c": {"at": 2}},
        });
        let found = target(&root, reference).map(|found| found["at"].as_u64().unwrap());
        assert_eq!(found, at);
    }

    #[test]
    fn a_definition_keeps_its_name() {
        assert_eq!(definition("#/definitions/a~1b").unwrap(), "a/b");
        assert_eq!(to_definition("a/b"), "#/$defs/a~1b");
        assert_eq!(definition("#/$defs/a/properties/b"), None);
    }
}
