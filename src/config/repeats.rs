//! What a list of names has twice counts once: people copy lines, and programs put lists together.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::catalogue::Key;
use super::file::Setting;
use super::kind::Kind;
use super::source::Source;

/// Leaves out of a setting what its lists of names have twice. What stays keeps its place in the
/// file.
pub(super) fn leave_out(key: &Key, setting: &mut Setting) {
    let Setting { value, each, .. } = setting;
    within(key, value, "", each);
}

fn within(key: &Key, value: &mut Value, path: &str, each: &mut BTreeMap<String, Source>) {
    let join = |name: &str| match path {
        "" => name.to_owned(),
        path => format!("{path}.{name}"),
    };
    let mut table = |keys: &[Key], value: &mut Value, path: &str| {
        for key in keys {
            if let Some(value) = value.get_mut(&key.name) {
                let path = match path {
                    "" => key.name.clone(),
                    path => format!("{path}.{}", key.name),
                };
                within(key, value, &path, each);
            }
        }
    };
    match (&key.kind, value) {
        (Kind::Table(keys), value @ Value::Object(_)) => table(keys, value, path),
        (Kind::Tables(keys), Value::Object(tables)) => {
            for (name, value) in tables {
                table(keys, value, &join(name));
            }
        }
        (Kind::Rows(keys), Value::Array(rows)) => {
            for (place, value) in rows.iter_mut().enumerate() {
                table(keys, value, &join(&place.to_string()));
            }
        }
        (_, Value::Array(items)) if key.names => once(items, &join, each),
        _ => {}
    }
}

fn once(
    items: &mut Vec<Value>,
    path: &impl Fn(&str) -> String,
    each: &mut BTreeMap<String, Source>,
) {
    let mut seen = BTreeSet::new();
    let (mut place, mut kept) = (0, 0);
    items.retain(|item| {
        // What is no text is a mistake, which is said where it is.
        let new = item
            .as_str()
            .is_none_or(|text| seen.insert(text.to_owned()));
        if let Some(source) = each.remove(&path(&place.to_string()))
            && new
        {
            each.insert(path(&kept.to_string()), source);
        }
        place += 1;
        kept += usize::from(new);
        new
    });
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::config::Catalogue;

    fn setting(path: &str, value: Value, each: &[&str]) -> Setting {
        let place = |name: &&str| ((*name).to_owned(), Source::Flag((*name).to_owned()));
        Setting {
            path: path.to_owned(),
            value,
            source: Source::Default,
            each: each.iter().map(place).collect(),
        }
    }

    fn left(path: &str, value: Value, each: &[&str]) -> (Value, Vec<(String, String)>) {
        let mut setting = setting(path, value, each);
        leave_out(Catalogue::get().find(path).unwrap(), &mut setting);
        let each = setting.each.into_iter();
        (
            setting.value,
            each.map(|(name, at)| (name, at.to_string())).collect(),
        )
    }

    #[test]
    fn what_stays_of_a_list_with_repeats_keeps_its_place() {
        let (value, each) = left(
            "tools.available",
            json!(["grep", "grep", 5, "file_read", "grep", 5]),
            &["0", "1", "2", "3", "4", "5"],
        );
        assert_eq!(value, json!(["grep", 5, "file_read", 5]));
        let each: Vec<_> = each.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
        assert_eq!(each, [("0", "0"), ("1", "2"), ("2", "3"), ("3", "5")]);
    }

    #[test]
    fn lists_in_tables_have_repeats_too() {
        let (value, each) = left(
            "commands",
            json!({"a": {"args": ["x", "x"], "only": ["b", "b", "c"]}}),
            &["a.only.1", "a.only.2"],
        );
        assert_eq!(
            value,
            json!({"a": {"args": ["x", "x"], "only": ["b", "c"]}})
        );
        assert_eq!(each, [("a.only.1".to_owned(), "a.only.2".to_owned())]);
    }
}
