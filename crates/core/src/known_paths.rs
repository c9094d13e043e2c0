//! What paths lead to, looked up before a call is judged.

use std::collections::{BTreeMap, BTreeSet};

use std::time::Duration;

use crate::{Deadline, Files, LeadsTo};

/// How long the paths of one call may be looked at, all of them together. What is not known by then is
/// unknown, and a rule that may mean it asks.
const LOOK: Duration = Duration::from_secs(10);

/// What the paths of a call, and those that rules name, lead to at one moment. A policy is told
/// this and looks at no disk itself: the same question has the same answer.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct KnownPaths {
    home: Option<String>,
    leads: BTreeMap<String, LeadsTo>,
    /// A path of the rules and one of the call that are one file.
    same: BTreeSet<(String, String)>,
}

impl KnownPaths {
    /// Looks up where the paths of a call and those of rules lead, and which of them are one file.
    /// However many there are, this ends soon.
    #[must_use]
    pub fn look(files: &dyn Files, of_call: &[String], of_rules: &[String]) -> Self {
        Self::look_by(Deadline::after(LOOK), files, of_call, of_rules)
    }

    /// The same by this deadline: what is not known by then is unknown.
    #[must_use]
    pub fn look_by(
        by: Deadline,
        files: &dyn Files,
        of_call: &[String],
        of_rules: &[String],
    ) -> Self {
        let mut leads = BTreeMap::new();
        for path in of_call.iter().chain(of_rules) {
            if by.remaining() == Some(Duration::ZERO) {
                // What was not looked at is unknown.
                break;
            }
            leads
                .entry(path.clone())
                .or_insert_with(|| files.leads_to(path, by));
        }
        let pairs = of_rules
            .iter()
            .flat_map(|rule| of_call.iter().map(move |path| (rule, path)));
        Self {
            home: files
                .home()
                .and_then(|home| home.to_str())
                .map(str::to_owned),
            leads,
            same: pairs
                .filter(|(rule, path)| files.is_same(rule, path))
                .map(|(rule, path)| (rule.clone(), path.clone()))
                .collect(),
        }
    }

    /// What a path leads to; unknown where it was not looked up.
    #[must_use]
    pub fn leads_to(&self, path: &str) -> &LeadsTo {
        self.leads.get(path).unwrap_or(&LeadsTo::Unknown)
    }

    /// Whether a path of the rules and one of the call were found to be one file.
    #[must_use]
    pub fn is_same(&self, of_rules: &str, of_call: &str) -> bool {
        self.same
            .iter()
            .any(|(rule, path)| rule == of_rules && path == of_call)
    }

    /// The directory that `~` means, where it means one.
    #[must_use]
    pub fn home(&self) -> Option<&str> {
        self.home.as_deref()
    }
}
