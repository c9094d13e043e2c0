//! What a source offers, kept for when it was not asked yet: one rule for all that are started at
//! their first call.
//!
//! What is kept came from the source and is read as if it came from there now, within the same
//! bounds.

use serde_json::{Value, json};

use crate::{Hash, Hashing};

/// The most that is kept of one source, in bytes.
pub const MAX_SPECS_BYTES: usize = 16 * 1024 * 1024;

/// The form of what is kept. Another form is not read.
const FORM: u64 = 1;

/// Where what sources offer is kept, for those that are started at their first call. One that keeps
/// nothing is no error: then the source is asked.
pub trait SpecCache: Send + Sync {
    /// What was kept last of the source of this name; at most [`MAX_SPECS_BYTES`] of it are read.
    fn load(&self, source: &str) -> Option<Vec<u8>>;

    /// Keeps this of the source of this name, in the place of what was kept. Failing is for the log
    /// of operators.
    fn keep(&self, source: &str, specs: &[u8]);
}

/// When a source is started, or asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SourceStart {
    /// At once.
    #[default]
    AtOnce,
    /// When one of its tools is called for the first time. What it offers is what was kept of it
    /// ([`SpecCache`]); without any it is started once to be asked, and ended again.
    AtFirstCall,
}

/// Which source it is: what it is started as, by which version of ours. What was kept of another is
/// worth nothing. Values of the environment are left out of it, as they may be secrets that change.
#[derive(Debug)]
pub struct SpecKey(Hashing);

impl SpecKey {
    /// Of the source of this name, by this version of ours.
    #[must_use]
    pub fn of(version: &str, name: &str) -> Self {
        let key = Self(Hashing::new());
        key.with(version).with(name)
    }

    /// With something that makes it another one.
    #[must_use]
    pub fn with(mut self, piece: impl AsRef<[u8]>) -> Self {
        let piece = piece.as_ref();
        self.0.update(piece.len().to_le_bytes());
        self.0.update(piece);
        self
    }

    /// With all of these, in this order.
    #[must_use]
    pub fn with_all<P: AsRef<[u8]>>(self, pieces: &[P]) -> Self {
        let counted = self.with(pieces.len().to_le_bytes());
        pieces.iter().fold(counted, Self::with)
    }

    /// The key.
    #[must_use]
    pub fn finish(self) -> Hash {
        self.0.finish()
    }
}

/// What is kept of these specs, which are what the source says; nothing where it is too much.
#[must_use]
pub fn keep_specs(key: &Hash, specs: &Value) -> Option<Vec<u8>> {
    let kept = json!({ "form": FORM, "key": key.to_string(), "specs": specs });
    let bytes = kept.to_string().into_bytes();
    (bytes.len() <= MAX_SPECS_BYTES).then_some(bytes)
}

/// What was kept.
#[derive(Debug, Clone, PartialEq)]
pub struct KeptSpecs {
    /// What the source said.
    pub specs: Value,
    /// The key of the source that said it.
    pub key: String,
}

impl KeptSpecs {
    /// Reads it; none where it is not of this form.
    #[must_use]
    pub fn read(bytes: &[u8]) -> Option<Self> {
        if bytes.len() > MAX_SPECS_BYTES {
            return None;
        }
        let mut kept: Value = serde_json::from_slice(bytes).ok()?;
        if kept["form"] != FORM {
            return None;
        }
        let key = kept["key"].as_str()?.to_owned();
        let specs = kept.get_mut("specs").map(Value::take)?;
        Some(Self { specs, key })
    }

    /// What was kept, if it was of the source of this key.
    #[must_use]
    pub fn of(self, key: &Hash) -> Option<Value> {
        (self.key == key.to_string()).then_some(self.specs)
    }
}

/// How what a source offers differs from what was kept of it, each by its name; none where it does
/// not.
#[must_use]
pub fn specs_difference<T: PartialEq>(kept: &[(&str, T)], now: &[(&str, T)]) -> Option<String> {
    let find = |all: &[(&str, T)], name: &str| all.iter().position(|(known, _)| *known == name);
    let added = now.iter().filter(|(name, _)| find(kept, name).is_none());
    let gone = kept.iter().filter(|(name, _)| find(now, name).is_none());
    let other = now.iter().filter(|(name, is)| {
        let was = find(kept, name).map(|at| &kept[at].1);
        was.is_some_and(|was| was != is)
    });
    let words = [
        ("new", named(added)),
        ("gone", named(gone)),
        ("changed", named(other)),
    ];
    let words = words.into_iter();
    let words: Vec<String> = words
        .filter_map(|(what, names)| Some(format!("{what}: {}", names?)))
        .collect();
    (!words.is_empty()).then(|| words.join("; "))
}

/// The names of these; none where there are none.
fn named<'a, T: 'a>(all: impl Iterator<Item = &'a (&'a str, T)>) -> Option<String> {
    const MOST_NAMED: usize = 10;
    let mut names: Vec<&str> = all.map(|(name, _)| *name).collect();
    let more = names.len().saturating_sub(MOST_NAMED);
    names.truncate(MOST_NAMED);
    let named = names.join(", ");
    match (named.is_empty(), more) {
        (true, _) => None,
        (false, 0) => Some(named),
        (false, more) => Some(format!("{named} and {more} more")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_reads_back_for_the_same_source_only() {
        let key = |pieces: &[&str]| SpecKey::of("1", "a").with_all(pieces).finish();
        let specs = json!([{ "name": "x" }]);
        let bytes = keep_specs(&key(&["b", "c"]), &specs).unwrap();
        let kept = KeptSpecs::read(&bytes).unwrap();
        assert_eq!(kept.clone().of(&key(&["b", "c"])), Some(specs));
        for other in [&["bc"][..], &["c", "b"], &["b"], &["b", "c", ""]] {
            assert_eq!(kept.clone().of(&key(other)), None);
        }
        let other = SpecKey::of("2", "a").with_all(&["b", "c"]).finish();
        assert_eq!(kept.of(&other), None);
    }

    #[test]
    fn what_is_no_kept_form_is_none() {
        for bytes in [
            &b""[..],
            b"{",
            b"[]",
            b"{\"form\":1}",
            b"\xff\xff",
            b"{\"form\":1,\"key\":7,\"specs\":[]}",
            b"{\"form\":2,\"key\":\"k\",\"specs\":[]}",
        ] {
            assert_eq!(KeptSpecs::read(bytes), None);
        }
        let long = json!("x".repeat(MAX_SPECS_BYTES));
        assert_eq!(keep_specs(&Hash::of("k"), &long), None);
        assert_eq!(KeptSpecs::read(&vec![b' '; MAX_SPECS_BYTES + 1]), None);
    }

    #[test]
    fn what_differs_is_named() {
        let kept = [("a", 1), ("b", 1), ("c", 1)];
        assert_eq!(specs_difference(&kept, &kept), None);
        let now = [("b", 1), ("c", 2), ("d", 1)];
        let told = specs_difference(&kept, &now);
        assert_eq!(told.as_deref(), Some("new: d; gone: a; changed: c"));
        let names: Vec<String> = (0..15).map(|n| format!("t{n}")).collect();
        let many: Vec<_> = names.iter().map(|name| (name.as_str(), 1)).collect();
        let told = specs_difference(&[], &many).unwrap();
        assert!(told.ends_with("t9 and 5 more"), "{told}");
    }
}
