//! Rules over another policy.

use std::sync::Arc;

use outfitter_core::{CallFacts, Decision, Pattern, Policy, Principal, Targets, ToolSpec, Verdict};
use outfitter_text::command_line::{self, CommandLine, Unparsable};

use super::{BadRule, Fit, Rule, command, path};

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
            rule.decision == Verdict::Deny && rule.args.is_none() && rule.is_for(who, &spec.name)
        });
        !denied && self.under.visible(who, spec)
    }

    fn decide(&self, who: &Principal, call: &CallFacts<'_>) -> Decision {
        let mut decision = self.under.decide(who, call);
        let mut line = None;
        let mut allowed = false;
        let mut allowances: Vec<&str> = Vec::new();
        let mut strictest = Decision::allow();
        for (index, rule) in self.rules.iter().enumerate() {
            if !rule.is_for(who, &call.spec.name) {
                continue;
            }
            let fit = match &rule.args {
                None => Fit::Yes,
                Some(args) if rule.decision == Verdict::Allow => {
                    allowances.push(args);
                    Fit::No
                }
                Some(args) => means(args, call, &mut line),
            };
            match (rule.decision, fit) {
                (_, Fit::No) | (Verdict::Allow, Fit::Maybe) => {}
                (Verdict::Allow, Fit::Yes) => allowed = true,
                (Verdict::Ask, Fit::Yes) => {
                    strictest = strictest.meet(Decision::ask(format!("rule {index} asks for it")));
                }
                (Verdict::Ask | Verdict::Deny, Fit::Maybe) => {
                    strictest = strictest.meet(Decision::ask(format!(
                        "whether rule {index} means it shows only when it runs"
                    )));
                }
                (Verdict::Deny, Fit::Yes) => {
                    strictest = strictest.meet(Decision::deny(format!("rule {index} denies it")));
                }
            }
        }
        allowed = allowed || !allowances.is_empty() && covered(&allowances, call, &mut line);
        if allowed && decision.verdict == Verdict::Ask {
            decision = Decision::allow();
        }
        decision.meet(strictest)
    }
}

type Line = Option<Result<CommandLine, Unparsable>>;

/// The line of a call, read once.
fn read<'l>(call: &CallFacts<'_>, line: &'l mut Line) -> &'l Result<CommandLine, Unparsable> {
    let text = call.facts.subject.as_deref().unwrap_or("");
    line.get_or_insert_with(|| command_line::parse(text))
}

/// How surely a call is one that a pattern means, where it asks or denies.
fn means(args: &str, call: &CallFacts<'_>, line: &mut Line) -> Fit {
    match &call.facts.targets {
        Targets::CommandLine => match read(call, line) {
            Ok(line) => command::any(args, line),
            Err(_) => Fit::Maybe,
        },
        Targets::Paths(paths) if path::any(args, paths, root(call)) => Fit::Yes,
        Targets::Arguments if has(args, call) => Fit::Yes,
        Targets::Paths(_) | Targets::Arguments => Fit::No,
    }
}

/// Whether all that a call does is allowed, each part of it by some pattern.
fn covered(patterns: &[&str], call: &CallFacts<'_>, line: &mut Line) -> bool {
    match &call.facts.targets {
        Targets::CommandLine => {
            let line = read(call, line).as_ref();
            plain_environment(call) && line.is_ok_and(|line| command::all(patterns, line))
        }
        Targets::Paths(paths) => path::all(patterns, paths, root(call)),
        Targets::Arguments => patterns.iter().any(|pattern| has(pattern, call)),
    }
}

fn root<'c>(call: &CallFacts<'c>) -> &'c str {
    call.sandbox.workspace.to_str().unwrap_or("")
}

/// Whether an argument is what `NAME=GLOB` says.
fn has(args: &str, call: &CallFacts<'_>) -> bool {
    let Some((name, glob)) = args.split_once('=') else {
        return false;
    };
    let value = match name.starts_with('/') {
        true => call.args.pointer(name),
        false => call.args.get(name),
    };
    value.is_some_and(|value| {
        let glob = Pattern::new(glob);
        match value.as_str() {
            Some(text) => glob.matches(text),
            None => glob.matches(&outfitter_core::canonical(value)),
        }
    })
}

/// A variable can make any program another one.
pub(super) fn plain_environment(call: &CallFacts<'_>) -> bool {
    call.args
        .get("env")
        .is_none_or(|env| env.as_object().is_some_and(serde_json::Map::is_empty))
}
