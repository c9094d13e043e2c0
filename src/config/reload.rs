//! What a reload of the configuration changes: at once, or when the program is started again.

use serde_json::{Map, Value};

use super::catalogue::Catalogue;
use super::sections::Config;

/// When a changed key takes effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TakesEffect {
    /// With the next request, in sessions that are open too.
    AtOnce,
    /// When the program is started again.
    AfterRestart,
}

use TakesEffect::{AfterRestart, AtOnce};

/// Every key, or the table that has it. The more exact row counts. What is not here is not known.
const TABLE: [(&str, TakesEffect); 22] = [
    ("model", AtOnce),
    ("agent", AtOnce),
    ("tools", AtOnce),
    ("permissions", AtOnce),
    // A sandbox is made when its session is opened, and has the commands that run in it.
    ("sandbox", AfterRestart),
    ("shell", AtOnce),
    ("files", AtOnce),
    ("web", AtOnce),
    ("progress", AtOnce),
    ("store", AfterRestart),
    ("server", AfterRestart),
    ("skills", AtOnce),
    // What was found there stays.
    ("skills.dirs", AfterRestart),
    // Servers and programs are started once.
    ("mcp", AfterRestart),
    ("commands", AfterRestart),
    ("channels", AtOnce),
    ("send", AtOnce),
    ("contacts", AtOnce),
    ("search", AtOnce),
    // Documents are read once.
    ("plugin_api", AfterRestart),
    ("plugin_api.allowlist", AtOnce),
    ("workflows", AtOnce),
];

/// When a change of this key takes effect; none where the table does not say.
#[must_use]
pub fn takes_effect(path: &str) -> Option<TakesEffect> {
    let of = |path: &str| TABLE.iter().find(|(name, _)| *name == path);
    let section = path.split('.').next().unwrap_or_default();
    of(path).or_else(|| of(section)).map(|(_, when)| *when)
}

/// What a reload changes, as paths of keys, sorted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReloadPlan {
    /// What takes effect at once.
    pub hot: Vec<String>,
    /// What takes effect when the program is started again.
    pub restart: Vec<String>,
}

impl ReloadPlan {
    /// Whether nothing has changed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.hot.is_empty() && self.restart.is_empty()
    }
}

/// The configuration after a reload, and what of the new one is in it.
pub(crate) fn planned(now: &Config, new: &Config) -> (Config, ReloadPlan) {
    let (Ok(mut next), Ok(new)) = (serde_json::to_value(now), serde_json::to_value(new)) else {
        return (now.clone(), ReloadPlan::default());
    };
    let mut plan = ReloadPlan::default();
    for key in Catalogue::get().keys() {
        let (old, new) = (at(&next, &key.path), at(&new, &key.path));
        if old == new {
            continue;
        }
        match takes_effect(&key.path).unwrap_or(AfterRestart) {
            AtOnce => {
                set(&mut next, &key.path, new.cloned());
                plan.hot.push(key.path.clone());
            }
            AfterRestart => plan.restart.push(key.path.clone()),
        }
    }
    plan.hot.sort_unstable();
    plan.restart.sort_unstable();
    // Both were configurations, so what is between them is one.
    let next = serde_json::from_value(next).unwrap_or_else(|_| now.clone());
    (next, plan)
}

fn at<'v>(config: &'v Value, path: &str) -> Option<&'v Value> {
    path.split('.').try_fold(config, |at, step| at.get(step))
}

fn set(config: &mut Value, path: &str, value: Option<Value>) {
    let mut at = config;
    for step in path.split('.') {
        let Value::Object(map) = at else { return };
        at = map.entry(step).or_insert_with(|| Value::Object(Map::new()));
    }
    *at = value.unwrap_or_default();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_classified_and_every_row_is_a_key() {
        let catalogue = Catalogue::get();
        let unclassified: Vec<_> = catalogue
            .keys()
            .iter()
            .filter(|key| takes_effect(&key.path).is_none())
            .map(|key| &key.path)
            .collect();
        assert_eq!(unclassified, Vec::<&String>::new());
        let gone: Vec<_> = TABLE
            .iter()
            .map(|(name, _)| *name)
            .filter(|name| !catalogue.has_section(name) && catalogue.find(name).is_none())
            .collect();
        assert_eq!(gone, Vec::<&str>::new());
    }

    /// Sections that came later were in none of the two lists.
    #[test]
    fn the_page_says_of_every_row_when_it_takes_effect() {
        let page = include_str!("../../docs/configuration.md");
        let (_, page) = page.split_once("## While it runs").unwrap();
        let mut lists = page.split("\n* ").skip(1);
        let (at_once, later) = (lists.next().unwrap(), lists.next().unwrap());
        for (name, when) in TABLE {
            let words = match name.split_once('.') {
                Some((section, key)) => format!("`[{section}] {key}`"),
                None if name == "workflows" => "`[[workflows]]`".to_owned(),
                None => format!("`[{name}]`"),
            };
            let list = match when {
                AtOnce => at_once,
                AfterRestart => later,
            };
            assert!(list.contains(&words), "{words} is not in {list}");
        }
    }

    #[test]
    fn what_needs_a_restart_stays_as_it_is_and_is_told() {
        let now = Config::default();
        let mut new = now.clone();
        new.shell.enabled = false;
        new.tools.available = vec!["grep".to_owned()];
        new.server.heartbeat_seconds = 3;
        let (next, plan) = planned(&now, &new);
        assert_eq!(plan.hot, ["shell.enabled", "tools.available"]);
        assert_eq!(plan.restart, ["server.heartbeat_seconds"]);
        assert!(!next.shell.enabled);
        assert_eq!(next.server, now.server);
        // What was not applied is told of again.
        assert_eq!(planned(&next, &new).1.restart, plan.restart);
        assert!(planned(&next, &next).1.is_empty());
    }

    #[test]
    fn a_value_that_is_gone_is_gone() {
        let mut now = Config::default();
        now.agent.max_total_tokens = Some(5);
        now.agent.system_prompt = Some("be brief".to_owned());
        let (next, plan) = planned(&now, &Config::default());
        assert_eq!(plan.hot, ["agent.max_total_tokens", "agent.system_prompt"]);
        assert_eq!(next, Config::default());
    }
}
