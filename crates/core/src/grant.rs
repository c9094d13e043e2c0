//! What a session may use, as sets that can only be narrowed.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{Effects, Mode, Role};

/// A name with `*` (any run of characters) and `?` (any one character).
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Pattern(Arc<str>);

impl Pattern {
    /// A pattern; every text is one.
    #[must_use]
    pub fn new(text: impl Into<Arc<str>>) -> Self {
        Self(text.into())
    }

    /// The text of the pattern.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it stands for itself alone.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        !self.0.contains(['*', '?'])
    }

    /// Whether `name` is one of those it stands for. Linear in both, without recursion.
    #[must_use]
    pub fn matches(&self, name: &str) -> bool {
        let (pattern, name) = (self.0.as_bytes(), name.as_bytes());
        let (mut at, mut to) = (0, 0);
        let mut star: Option<(usize, usize)> = None;
        while to < name.len() {
            match pattern.get(at) {
                Some(b'*') => {
                    star = Some((at, to));
                    at += 1;
                }
                Some(&byte) if byte == b'?' || byte == name[to] => {
                    at += 1;
                    to += 1;
                }
                _ => match star {
                    Some((star_at, star_to)) => {
                        star = Some((star_at, star_to + 1));
                        at = star_at + 1;
                        to = star_to + 1;
                    }
                    None => return false,
                },
            }
        }
        pattern[at..].iter().all(|byte| *byte == b'*')
    }
}

/// A set of names as a conjunction of pattern lists: a name is in it when every list has a pattern
/// that matches. So the meet of two sets is exact and is just both their lists.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NameSet(Vec<Vec<Pattern>>);

impl NameSet {
    /// Every name.
    #[must_use]
    pub fn all() -> Self {
        Self(Vec::new())
    }

    /// No name.
    #[must_use]
    pub fn none() -> Self {
        Self(vec![Vec::new()])
    }

    /// The names that any of these patterns matches.
    pub fn of<P: Into<Arc<str>>>(patterns: impl IntoIterator<Item = P>) -> Self {
        let mut list: Vec<Pattern> = patterns.into_iter().map(Pattern::new).collect();
        list.sort_unstable();
        list.dedup();
        if list.iter().any(|pattern| pattern.as_str() == "*") {
            return Self::all();
        }
        Self(vec![list])
    }

    /// Whether `name` is in the set.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.0
            .iter()
            .all(|list| list.iter().any(|pattern| pattern.matches(name)))
    }

    /// Whether a list of the set has `name` as itself, not merely by a glob.
    #[must_use]
    pub fn names(&self, name: &str) -> bool {
        self.has(name)
            && self
                .0
                .iter()
                .flatten()
                .any(|pattern| pattern.as_str() == name)
    }

    /// The names that both have.
    #[must_use]
    pub fn meet(&self, other: &Self) -> Self {
        let mut lists = [self.0.as_slice(), other.0.as_slice()].concat();
        lists.sort_unstable();
        lists.dedup();
        Self(lists)
    }

    /// The patterns without `*` or `?`, for checking that what they name exists.
    pub fn plain_names(&self) -> impl Iterator<Item = &str> {
        self.0
            .iter()
            .flatten()
            .filter(|pattern| pattern.is_plain())
            .map(Pattern::as_str)
    }
}

/// What somebody may use: role, tools, skills, effects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    /// The most a call may demand.
    pub role: Role,
    /// The tools that may be used.
    pub tools: NameSet,
    /// The skills that may be used.
    pub skills: NameSet,
    /// The effects that calls may have.
    pub effects: Effects,
    /// How much of all this may be used.
    pub mode: Mode,
}

impl Grant {
    /// Everything that `role` can have.
    #[must_use]
    pub fn full(role: Role) -> Self {
        Self {
            role,
            tools: NameSet::all(),
            skills: NameSet::all(),
            effects: Effects::ALL,
            mode: Mode::Agent,
        }
    }

    /// What both allow. Commutative, associative, idempotent.
    #[must_use]
    pub fn meet(&self, other: &Self) -> Self {
        Self {
            role: self.role.min(other.role),
            tools: self.tools.meet(&other.tools),
            skills: self.skills.meet(&other.skills),
            effects: self.effects.meet(other.effects),
            mode: self.mode.meet(other.mode),
        }
    }
}

/// What a caller asks for out of what is granted. It only narrows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection {
    /// The tools wanted.
    pub tools: NameSet,
    /// The skills wanted.
    pub skills: NameSet,
    /// The effects wanted.
    pub effects: Effects,
    /// The mode wanted.
    pub mode: Mode,
}

impl Default for Selection {
    /// Everything there is.
    fn default() -> Self {
        Self {
            tools: NameSet::all(),
            skills: NameSet::all(),
            effects: Effects::ALL,
            mode: Mode::Agent,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rstest::rstest;

    #[rstest]
    #[case("*", "", true)]
    #[case("file_*", "file_read", true)]
    #[case("file_*", "profile_read", false)]
    #[case("*__read", "notes__read", true)]
    #[case("a*b*c", "aXXbYYc", true)]
    #[case("a*b*c", "aXXbYY", false)]
    #[case("?", "é", false)]
    #[case("gr?p", "grep", true)]
    #[case("", "x", false)]
    fn a_pattern_matches_as_shells_do(#[case] pattern: &str, #[case] name: &str, #[case] is: bool) {
        assert_eq!(Pattern::new(pattern).matches(name), is);
    }

    #[test]
    fn a_hostile_pattern_is_linear_enough() {
        let pattern = Pattern::new("*a".repeat(200));
        assert!(!pattern.matches(&"a".repeat(4000).replace("aa", "ab")));
    }

    fn set() -> impl Strategy<Value = NameSet> {
        prop::collection::vec(prop::collection::vec("[ab*?]{0,3}", 0..3), 0..3).prop_map(|lists| {
            lists
                .into_iter()
                .map(NameSet::of)
                .fold(NameSet::all(), |all, one| all.meet(&one))
        })
    }

    fn grant() -> impl Strategy<Value = Grant> {
        (
            0..3usize,
            set(),
            set(),
            prop::sample::subsequence(crate::Effect::ALL.to_vec(), 0..=7),
            prop::sample::select(Mode::ALL.to_vec()),
        )
            .prop_map(|(role, tools, skills, effects, mode)| Grant {
                role: Role::ALL[role],
                tools,
                skills,
                effects: Effects::of(&effects),
                mode,
            })
    }

    proptest! {
        #[test]
        fn meet_is_commutative_associative_and_idempotent(a in grant(), b in grant(), c in grant()) {
            prop_assert_eq!(a.meet(&b), b.meet(&a));
            prop_assert_eq!(a.meet(&b).meet(&c), a.meet(&b.meet(&c)));
            prop_assert_eq!(a.meet(&a), a);
        }

        #[test]
        fn a_name_is_in_the_meet_exactly_when_both_have_it(a in set(), b in set(), name in "[ab]{0,4}") {
            prop_assert_eq!(a.meet(&b).has(&name), a.has(&name) && b.has(&name));
        }
    }
}
