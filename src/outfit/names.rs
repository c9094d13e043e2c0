//! The names that the configuration has of tools, their parameters and skills: whether there is such
//! a thing.

use std::collections::BTreeSet;

use outfitter_builtin::builtin_tools;
use outfitter_skills::LOAD_SKILL;
use outfitter_tools::{PresetFault, Presets, ToolRegistry};

use super::settings;
use crate::config::Config;

/// A key of the configuration that names what there is not, or sets what cannot be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyFault {
    /// The key, as `tools.available.0`; items of lists are counted from 0.
    pub key: String,
    /// What is wrong and what to do about it, one fragment that reads on after the key.
    pub why: String,
}

impl std::fmt::Display for KeyFault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "`{}` {}", self.key, self.why)
    }
}

/// Everything that is wrong with the names of tools.
pub(super) fn wrong(config: &Config, registry: &ToolRegistry, presets: &Presets) -> Vec<KeyFault> {
    let later = names_not_there_yet(config);
    let may_come =
        |name: &str| later.iter().any(|later| later == name) || is_connected_later(name, config);
    let available = config.tools.available.iter().enumerate();
    let available = available.map(|(at, name)| (format!("tools.available.{at}"), name));
    let aliases = config.tools.aliases.iter();
    let aliases = aliases.map(|(alias, name)| (format!("tools.aliases.{alias}"), name));
    let unknown = available
        .chain(aliases)
        .filter(|(_, name)| {
            !name.contains(['*', '?']) && !name.trim().is_empty() && !may_come(name)
        })
        .filter_map(|(key, name)| {
            let unknown = registry.unknown_names([name.as_str()]).pop()?;
            let why = no_tool(&unknown.name, &unknown.close);
            Some(KeyFault { key, why })
        });
    let faults = registry.preset_faults(presets, may_come);
    unknown.chain(preset_faults(faults, registry)).collect()
}

/// Everything that is wrong with the presets of tools that have come meanwhile.
pub(super) fn wrong_presets(registry: &ToolRegistry, presets: &Presets) -> Vec<KeyFault> {
    preset_faults(registry.preset_faults(presets, |_| true), registry)
}

/// A tool that there is not is said once, however many of its parameters are set.
fn preset_faults(faults: Vec<PresetFault>, registry: &ToolRegistry) -> Vec<KeyFault> {
    let mut said = BTreeSet::new();
    let faults = faults.into_iter().filter_map(|fault| {
        let (key, why) = match fault.parameter {
            Some(parameter) => (
                format!("tools.presets.{}.{parameter}", fault.tool),
                format!("cannot be set for {}: {}", fault.tool, fault.why),
            ),
            None => {
                let unknown = registry.unknown_names([fault.tool.as_str()]).pop();
                let close = unknown.map_or_else(Vec::new, |unknown| unknown.close);
                (
                    format!("tools.presets.{}", fault.tool),
                    no_tool(&fault.tool, &close),
                )
            }
        };
        said.insert(key.clone()).then_some(KeyFault { key, why })
    });
    faults.collect()
}

/// What to say where a name is no tool's.
fn no_tool(name: &str, close: &[String]) -> String {
    match close {
        [] => format!("names no tool with {name:?}; `outfitter tools list` shows them"),
        close => format!(
            "names no tool with {name:?}, did you mean {}?",
            close.join(" or ")
        ),
    }
}

/// The same for a skill.
pub(super) fn no_skill(name: &str, close: &[String]) -> String {
    match close {
        [] => format!("names no skill with {name:?}; `outfitter skills list` shows them"),
        close => format!(
            "names no skill with {name:?}, did you mean {}?",
            close.join(" or ")
        ),
    }
}

/// Names that exist, or may, but perhaps not now: those that the configuration switches off, and
/// those of sources that are connected later. Naming one is no mistake.
fn names_not_there_yet(config: &Config) -> Vec<String> {
    let mut names = vec![LOAD_SKILL.to_owned()];
    if !config.commands.is_empty() {
        names.push(outfitter_commands::TOOL.to_owned());
    }
    let mut options = settings::builtin_options(config);
    options.shell.enabled = true;
    options.web.enabled = true;
    let tools = builtin_tools(&options);
    names.extend(tools.iter().map(|tool| tool.spec().name.to_string()));
    names
}

/// Whether a name would be a tool of a configured server or API.
fn is_connected_later(name: &str, config: &Config) -> bool {
    let of_an_api = |name: &str| {
        let mut apis = config.plugin_api.apis.keys();
        apis.any(|api| {
            let rest = name.strip_prefix(api.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
        })
    };
    outfitter_tools::split_qualified(name)
        .is_some_and(|(prefix, _)| config.mcp.servers.contains_key(prefix))
        || name.strip_prefix("call_").is_some_and(of_an_api)
}
