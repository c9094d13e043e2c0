//! Rules over another policy.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use outfitter_core::{CallFacts, Decision, Policy, Principal, Targets, ToolSpec, Verdict};
use outfitter_text::command_line::{self, CommandLine, Unparsable};
use serde_json::Value;

use super::argument::{self, Closely};
use super::path::{Paths, is_literal};
use super::{BadRule, Fit, Rule, RuleArgs, command};

/// Rules over another policy. deny > ask > allow, whatever their order; what the other policy
/// denies stays denied, and what it would ask a rule may allow.
pub struct Rules {
    rules: Vec<Rule>,
    under: Arc<dyn Policy>,
}

impl Rules {
    /// These rules over that policy.
    ///
    /// # Errors
    /// [`BadRule`], the first that means nothing.
    pub fn new(rules: Vec<Rule>, under: Arc<dyn Policy>) -> Result<Self, BadRule> {
        for (index, rule) in rules.iter().enumerate() {
            rule.check().map_err(|why| BadRule { index, why })?;
        }
        Ok(Self { rules, under })
    }
}

impl Policy for Rules {
    fn visible(&self, who: &Principal, spec: &ToolSpec) -> bool {
        let denied = self.rules.iter().any(|rule| {
            rule.decision == Verdict::Deny
                && rule.args.is_none()
                && rule.agent.is_none()
                && rule.is_for(who, &spec.name)
        });
        !denied && self.under.visible(who, spec)
    }

    fn paths(&self, who: &Principal, spec: &ToolSpec) -> Option<Vec<String>> {
        let meant = self
            .rules
            .iter()
            .filter(|rule| rule.is_for(who, &spec.name));
        let mut patterns = meant.filter_map(|rule| rule.args.as_ref()).peekable();
        let under = self.under.paths(who, spec);
        if patterns.peek().is_none() {
            return under;
        }
        let named = patterns.flat_map(RuleArgs::texts);
        let mut named: Vec<String> = named
            .filter(|text| is_literal(text))
            .map(str::to_owned)
            .chain(under.into_iter().flatten())
            .collect();
        named.sort();
        named.dedup();
        Some(named)
    }

    fn decide(&self, who: &Principal, call: &CallFacts<'_>) -> Decision {
        let mut decision = self.under.decide(who, call);
        let mut read = Read::of(call);
        let mut allowed = Allowed::default();
        let mut strictest = Decision::allow();
        for (index, rule) in self.rules.iter().enumerate() {
            if !rule.is_for(who, &call.spec.name) || !rule.is_for_agent(call.agent) {
                continue;
            }
            if rule.decision == Verdict::Allow {
                allowed.add(rule.args.as_ref(), &mut read);
                continue;
            }
            let fit = match &rule.args {
                None => Fit::Yes,
                Some(RuleArgs::Text(args)) => read.means(args),
                Some(RuleArgs::Table(table)) => read.means_all(table),
            };
            let said = match (rule.decision, fit) {
                (Verdict::Allow, _) | (_, Fit::No) => continue,
                (Verdict::Ask, Fit::Yes) => Decision::ask(format!("rule {index} asks for it")),
                (Verdict::Deny, Fit::Yes) => Decision::deny(format!("rule {index} denies it")),
                (Verdict::Ask | Verdict::Deny, Fit::Maybe) => Decision::ask(format!(
                    "whether rule {index} means it shows only when it runs"
                )),
            };
            strictest = strictest.meet(said);
        }
        if decision.verdict == Verdict::Ask && allowed.covers(&mut read) {
            decision = Decision::allow();
        }
        if (decision.verdict, strictest.verdict) == (Verdict::Ask, Verdict::Ask) {
            // Two reasons to ask are both told: a yes to one is none to the other.
            return Decision::ask(format!("{}; {}", strictest.reason, decision.reason));
        }
        decision.meet(strictest)
    }
}

/// A call, and what was read of it once.
struct Read<'c, 'f> {
    call: &'f CallFacts<'c>,
    line: Option<Result<CommandLine, Unparsable>>,
    paths: Option<Paths<'c>>,
}

impl<'c, 'f> Read<'c, 'f> {
    fn of(call: &'f CallFacts<'c>) -> Self {
        Self {
            call,
            line: None,
            paths: None,
        }
    }

    fn line(&mut self) -> &Result<CommandLine, Unparsable> {
        let text = self.call.facts.subject.as_deref().unwrap_or("");
        self.line.get_or_insert_with(|| command_line::parse(text))
    }

    fn paths(&mut self, paths: &'c [String]) -> &Paths<'c> {
        let call = self.call;
        self.paths
            .get_or_insert_with(|| Paths::of(paths, &call.sandbox.workspace, call.paths))
    }

    /// How surely a call is one that a pattern means, where it asks or denies.
    fn means(&mut self, args: &str) -> Fit {
        let facts = self.call.facts;
        let is = match &facts.targets {
            Targets::CommandLine => {
                return match self.line() {
                    Ok(line) => command::any(args, line),
                    Err(_) => Fit::Maybe,
                };
            }
            Targets::Paths(paths) => return self.paths(paths).any(args),
            Targets::Arguments => argument::has(args, self.call, Closely::Loosely),
            Targets::Reads(_) => {
                let named = argument::named(args, self.call, Closely::Loosely);
                return named.map_or(Fit::No, |(value, glob)| {
                    self.means_argument(value, &Value::from(glob))
                });
            }
        };
        if is { Fit::Yes } else { Fit::No }
    }

    /// How surely each argument is what a table says, where it asks or denies.
    fn means_all(&mut self, table: &BTreeMap<String, Value>) -> Fit {
        let each = table.iter().map(|(name, wanted)| {
            let Some(value) = argument::value(name, self.call, Closely::Loosely) else {
                return Fit::No;
            };
            choices(wanted)
                .map(|wanted| self.means_argument(value, wanted))
                .max()
                .unwrap_or(Fit::No)
        });
        each.min().unwrap_or(Fit::Yes)
    }

    fn means_argument(&mut self, value: &Value, wanted: &Value) -> Fit {
        if let (true, Value::String(pattern)) = (self.is_command(value), wanted) {
            return self.means(pattern);
        }
        let Split { files, others } = self.split(value);
        let is = match wanted {
            Value::String(pattern) if !files.is_empty() => {
                let paths = self.paths(self.call.facts.targets.paths());
                let each = files.iter().map(|path| paths.meant(pattern, path));
                let by_path = each.max().unwrap_or(Fit::No);
                let mut others = others.into_iter();
                if !others.any(|other| argument::is(other, wanted, Closely::Loosely)) {
                    return by_path;
                }
                true
            }
            _ => argument::is(value, wanted, Closely::Loosely),
        };
        if is { Fit::Yes } else { Fit::No }
    }

    /// Whether a value is the line that the call runs.
    fn is_command(&self, value: &Value) -> bool {
        let facts = self.call.facts;
        facts.targets == Targets::CommandLine
            && value.is_string()
            && facts.subject.as_deref() == value.as_str()
    }

    /// The paths of the call in a value: all of it, or items of a list.
    fn split<'v>(&self, value: &'v Value) -> Split<'v> {
        let all = self.call.facts.targets.paths();
        let mut split = Split::default();
        let list = value.as_array();
        let one = list.is_none().then_some(value);
        for item in list.into_iter().flatten().chain(one) {
            match item.as_str() {
                Some(text) if all.iter().any(|path| path == text) => split.files.push(text),
                _ => split.others.push(item),
            }
        }
        split
    }

    /// The paths that a value names, where all of it is what is wanted, and just so.
    fn allowed(&mut self, value: &Value, wanted: &Value) -> Option<BTreeSet<String>> {
        let Split { files, others } = self.split(value);
        if files.is_empty() {
            return argument::is(value, wanted, Closely::Exactly).then(BTreeSet::new);
        }
        let seen = self.paths(self.call.facts.targets.paths());
        let fits = |path: &&str| {
            let mut globs = choices(wanted).filter_map(Value::as_str);
            globs.any(|glob| seen.allowed(glob, path))
        };
        let mut others = others.into_iter();
        let all = files.iter().all(fits)
            && others.all(|other| argument::is(other, wanted, Closely::Exactly));
        all.then(|| files.into_iter().map(str::to_owned).collect())
    }
}

/// What is in a value.
#[derive(Default)]
struct Split<'v> {
    /// Paths of the call.
    files: Vec<&'v str>,
    others: Vec<&'v Value>,
}

/// What one argument may be.
fn choices(wanted: &Value) -> impl Iterator<Item = &Value> {
    let list = wanted.as_array();
    let one = list.is_none().then_some(wanted);
    list.into_iter().flatten().chain(one)
}

/// What rules allow of a call, each some part of it.
#[derive(Default)]
struct Allowed<'r> {
    whole: bool,
    /// Patterns of commands or paths.
    patterns: Vec<&'r str>,
    /// Paths that tables have allowed.
    paths: BTreeSet<String>,
}

impl<'r> Allowed<'r> {
    fn add(&mut self, args: Option<&'r RuleArgs>, read: &mut Read<'_, '_>) {
        match args {
            None => self.whole = true,
            Some(RuleArgs::Text(args)) => match read.call.facts.targets {
                Targets::Arguments => {
                    self.whole |= argument::has(args, read.call, Closely::Exactly);
                }
                Targets::Reads(_) => {
                    let named = argument::named(args, read.call, Closely::Exactly);
                    if let Some((value, glob)) = named {
                        let paths = read.allowed(value, &Value::from(glob));
                        self.whole |= paths.as_ref().is_some_and(BTreeSet::is_empty);
                        self.paths.extend(paths.into_iter().flatten());
                    }
                }
                Targets::CommandLine | Targets::Paths(_) => self.patterns.push(args),
            },
            Some(RuleArgs::Table(table)) => self.add_table(table, read),
        }
    }

    /// What a table says of the command or the paths allows those; the rest of it must be so.
    fn add_table(&mut self, table: &'r BTreeMap<String, Value>, read: &mut Read<'_, '_>) {
        let (mut patterns, mut paths) = (Vec::new(), BTreeSet::new());
        for (name, wanted) in table {
            let Some(value) = argument::value(name, read.call, Closely::Exactly) else {
                return;
            };
            if read.is_command(value) {
                patterns.extend(choices(wanted).filter_map(Value::as_str));
                continue;
            }
            let Some(allowed) = read.allowed(value, wanted) else {
                return;
            };
            paths.extend(allowed);
        }
        self.whole |= patterns.is_empty() && paths.is_empty();
        self.patterns.extend(patterns);
        self.paths.extend(paths);
    }

    /// Whether all that the call does is allowed.
    fn covers(&self, read: &mut Read<'_, '_>) -> bool {
        if self.whole {
            return true;
        }
        let call = read.call;
        match &call.facts.targets {
            Targets::CommandLine => {
                !self.patterns.is_empty()
                    && plain_environment(call)
                    && read
                        .line()
                        .as_ref()
                        .is_ok_and(|line| command::all(&self.patterns, line))
            }
            Targets::Paths(paths) | Targets::Reads(paths) => {
                let seen = read.paths(paths);
                let by_pattern = |path: &str| {
                    let mut patterns = self.patterns.iter();
                    patterns.any(|pattern| seen.allowed(pattern, path))
                };
                !paths.is_empty()
                    && seen
                        .written()
                        .all(|path| self.paths.contains(path) || by_pattern(path))
            }
            Targets::Arguments => false,
        }
    }
}

/// A variable can make any program another one.
pub(super) fn plain_environment(call: &CallFacts<'_>) -> bool {
    call.args
        .get("env")
        .is_none_or(|env| env.as_object().is_some_and(serde_json::Map::is_empty))
}
