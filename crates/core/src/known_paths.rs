//! What paths lead to, looked up before a call is judged.

use std::collections::{BTreeMap, BTreeSet};

use crate::{Files, LeadsTo};

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
    #[must_use]
    pub fn look(files: &dyn Files, of_call: &[String], of_rules: &[String]) -> Self {
        let all = of_call.iter().chain(of_rules);
        let leads = all.map(|path| (path.clone(), files.leads_to(path)));
        let pairs = of_rules
            .iter()
            .flat_map(|rule| of_call.iter().map(move |path| (rule, path)));
        Self {
            home: files
                .home()
                .and_then(|home| home.to_str())
                .map(str::to_owned),
            leads: leads.collect(),
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
