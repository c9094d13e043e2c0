//! Rules that can never meet a call: they name a tool, an argument, a value or somebody that there
//! is not.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};

use outfitter_core::{Pattern, Targets, Tool};
use outfitter_text::close_names;
use serde_json::Value;

use super::findings::{Known, Later, RuleFault, RuleFindings, RuleUnchecked, Surroundings};
use super::places::{Place, sample, shown};
use super::{Rule, RuleArgs};

/// Looks at all rules.
pub(crate) fn look_at(rules: &[Rule], tools: &[Known], around: &Surroundings<'_>) -> RuleFindings {
    let mut found = RuleFindings::default();
    for (number, rule) in rules.iter().enumerate() {
        let mut one = OneRule {
            number,
            rule,
            tools,
            around,
            found: &mut found,
        };
        one.look();
    }
    found
}

struct OneRule<'a, 'f> {
    number: usize,
    rule: &'a Rule,
    tools: &'a [Known],
    around: &'a Surroundings<'a>,
    found: &'f mut RuleFindings,
}

impl OneRule<'_, '_> {
    fn look(&mut self) {
        self.people();
        let wanted = Pattern::new(self.rule.tool.as_str());
        let meant: Vec<&Known> = self
            .tools
            .iter()
            .filter(|known| wanted.matches(known.spec.name.as_str()))
            .collect();
        let comes = |later: &&Later| later.may_be(&self.rule.tool);
        let later: Vec<&str> = self
            .around
            .later
            .iter()
            .filter(comes)
            .map(|later| later.from.as_str())
            .collect();
        if meant.is_empty() && later.is_empty() {
            self.no_tool();
            return;
        }
        // A glob that means tools that are there is right, whatever may still come; of their
        // arguments only they can be looked at.
        match (&self.rule.args, later.is_empty()) {
            (Some(args), true) => self.arguments(args, &meant),
            (Some(args), false) if meant.is_empty() => {
                let keys = ["tool".to_owned()].into_iter().chain(keys_of(args));
                self.unchecked(keys, &later);
            }
            (Some(args), false) => {
                let before = self.found.faults.len();
                self.arguments(args, &meant);
                let missing = self.found.faults.split_off(before);
                // They may be right for what comes.
                self.unchecked(missing.into_iter().map(|fault| fault.key), &later);
            }
            (None, false) if meant.is_empty() => self.unchecked(["tool".to_owned()], &later),
            (None, _) => {}
        }
    }

    fn fault(&mut self, key: impl Into<String>, why: String, close: Vec<String>) {
        self.found.faults.push(RuleFault {
            rule: self.number,
            key: key.into(),
            why,
            close,
        });
    }

    fn unchecked(&mut self, keys: impl IntoIterator<Item = String>, from: &[&str]) {
        let from: BTreeSet<&str> = from.iter().copied().collect();
        let from: Vec<&str> = from.into_iter().collect();
        for key in keys {
            self.found.unchecked.push(RuleUnchecked {
                rule: self.number,
                key,
                from: from.join(", "),
            });
        }
    }

    /// Whose calls it is for.
    fn people(&mut self) {
        let Self { rule, around, .. } = self;
        let (rule, around) = (*rule, *around);
        let all = [
            ("channel", &rule.channel, around.channels),
            ("tenant", &rule.tenant, around.tenants),
        ];
        for (key, wanted, there) in all {
            if let Some(wanted) = wanted
                && !there.is_empty()
                && !there.contains(&wanted.as_str())
            {
                self.nobody(key, wanted, there);
            }
        }
        if let Some(wanted) = &rule.agent {
            let pattern = Pattern::new(wanted.as_str());
            let there = around.agents;
            if !there.is_empty() && !there.iter().any(|agent| pattern.matches(agent)) {
                self.nobody("agent", wanted, there);
            }
        }
    }

    fn nobody(&mut self, key: &str, wanted: &str, there: &[&str]) {
        let close = owned(close_names(wanted, there.iter().copied()));
        let why = match there {
            [only] => format!("there is no {key} {wanted:?}, only {only:?}"),
            all => format!("there is no {key} {wanted:?}, only {}", all.join(", ")),
        };
        self.fault(key, why, close);
    }

    fn no_tool(&mut self) {
        let wanted = self.rule.tool.as_str();
        let alias = self.around.aliases.and_then(|all| all.get(wanted));
        if let Some(tool) = alias {
            let why = format!("{wanted:?} is another name of {tool}, and rules know it by its own");
            self.fault("tool", why, vec![tool.clone()]);
            return;
        }
        let plain = Pattern::new(wanted).is_plain();
        let why = match plain {
            true => format!("no tool is called {wanted:?}"),
            false => format!("no tool has a name like {wanted:?}"),
        };
        let names = self.tools.iter().map(|known| known.spec.name.as_str());
        // What is left of a glob that ends with `*` is how names begin.
        let end = if wanted.ends_with('*') { "*" } else { "" };
        let wanted = wanted.replace(['*', '?'], "") + end;
        let close = owned(close_names(&wanted, names));
        self.fault("tool", why, close);
    }

    /// What it says of the arguments of the tools that it means.
    fn arguments(&mut self, args: &RuleArgs, meant: &[&Known]) {
        match args {
            RuleArgs::Text(text) => self.text(text, meant),
            RuleArgs::Table(table) => self.table(table, meant),
        }
    }

    fn text(&mut self, text: &str, meant: &[&Known]) {
        let (name, glob) = text.split_once('=').unwrap_or((text, ""));
        let mut places = Vec::new();
        for known in meant {
            match (targets(&*known.tool), text.contains('=')) {
                // Whatever its arguments are read as, it may be met.
                (None, _) => return,
                (Some(Reads::Arguments), true) => places.push((*known, false)),
                (Some(Reads::Arguments), false) => {}
                // A line or a path of that spelling would be an odd one.
                (Some(Reads::Line | Reads::Paths), true)
                    if !Place::of(&known.spec.input_schema, name).is_missing() =>
                {
                    places.push((*known, true));
                }
                (Some(Reads::Line | Reads::Paths), _) => return,
            }
        }
        if places.is_empty() {
            let close = self.close_arguments(name, meant);
            let why = format!(
                "a text means an argument of {} only as NAME=GLOB",
                told(meant)
            );
            self.fault("args", why, close);
        } else if places.iter().all(|(_, by_table)| *by_table) {
            let why = format!(
                "for {} a text is the words of a command or a glob of a path; to mean an argument \
                 by its name, write args = {{ {name} = … }}",
                told(meant)
            );
            self.fault("args", why, Vec::new());
        } else {
            let plain: Vec<&Known> = places.into_iter().map(|(known, _)| known).collect();
            self.each(&[(name, &Value::from(glob))], "args", &plain);
        }
    }

    fn table(&mut self, table: &BTreeMap<String, Value>, meant: &[&Known]) {
        let all: Vec<(&str, &Value)> = table
            .iter()
            .map(|(name, wanted)| (name.as_str(), wanted))
            .collect();
        self.each(&all, "args.", meant);
    }

    /// What is said of each argument. A tool that has them all is enough.
    fn each(&mut self, wanted: &[(&str, &Value)], key: &str, meant: &[&Known]) {
        let fits = |known: &Known, name: &str, value: &Value| {
            Place::of(&known.spec.input_schema, name).takes(value)
        };
        let fits_all =
            |known: &&&Known| wanted.iter().all(|(name, value)| fits(known, name, value));
        if meant.iter().any(|known| fits_all(&known)) {
            return;
        }
        let before = self.found.faults.len();
        for (name, value) in wanted {
            if meant.iter().any(|known| fits(known, name, value)) {
                continue;
            }
            let key = match key {
                "args" => key.to_owned(),
                key => format!("{key}{name}"),
            };
            let places: Vec<Place<'_>> = meant
                .iter()
                .map(|known| Place::of(&known.spec.input_schema, name))
                .filter(|place| !place.is_missing())
                .collect();
            if places.is_empty() {
                let close = self.close_arguments(name, meant);
                let why = match meant {
                    [one] => format!("{} has no argument {name:?}", one.spec.name),
                    _ => format!("no tool that it means has an argument {name:?}"),
                };
                self.fault(key, why, close);
            } else {
                let words: BTreeSet<String> = places.iter().flat_map(Place::words).collect();
                let why = format!("{name} of {} is never {}", told(meant), shown(value));
                let text = value.as_str().unwrap_or_default();
                let close = owned(close_names(text, words.iter().map(String::as_str)));
                self.fault(key, why, close);
            }
        }
        if self.found.faults.len() == before {
            let why = "no tool that it means has all of these arguments".to_owned();
            self.fault("args", why, Vec::new());
        }
    }

    fn close_arguments(&self, name: &str, meant: &[&Known]) -> Vec<String> {
        let names: BTreeSet<String> = meant
            .iter()
            .flat_map(|known| Place::siblings(&known.spec.input_schema, name))
            .collect();
        let last = name.rsplit('/').next().unwrap_or(name);
        owned(close_names(last, names.iter().map(String::as_str)))
    }
}

/// How a rule reads the arguments of a tool.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reads {
    Line,
    Paths,
    Arguments,
}

/// How rules read the arguments of its calls, found out with one that its schema takes; none where
/// that cannot be found out.
fn targets(tool: &dyn Tool) -> Option<Reads> {
    let call = sample(&tool.spec().input_schema)?;
    // It may be anybody's code.
    let facts = catch_unwind(AssertUnwindSafe(|| tool.facts(&call)))
        .ok()?
        .ok()?;
    Some(match facts.targets {
        Targets::CommandLine => Reads::Line,
        Targets::Paths(_) => Reads::Paths,
        Targets::Arguments | Targets::Reads(_) => Reads::Arguments,
    })
}

fn keys_of(args: &RuleArgs) -> Vec<String> {
    match args {
        RuleArgs::Text(_) => vec!["args".to_owned()],
        RuleArgs::Table(table) => table.keys().map(|name| format!("args.{name}")).collect(),
    }
}

fn told<'k>(meant: &[&'k Known]) -> &'k str {
    match meant {
        [one] => one.spec.name.as_str(),
        _ => "the tools that it means",
    }
}

fn owned(names: Vec<&str>) -> Vec<String> {
    names.into_iter().map(str::to_owned).collect()
}
