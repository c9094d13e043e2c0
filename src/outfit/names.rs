//! The names that the configuration has of tools and their parameters: whether there is such a
//! thing.

use outfitter_builtin::builtin_tools;
use outfitter_skills::LOAD_SKILL;
use outfitter_tools::{Presets, ToolRegistry};

use super::{BuildError, settings};
use crate::config::Config;

/// Everything that is wrong with the names of tools.
pub(super) fn wrong(
    config: &Config,
    registry: &ToolRegistry,
    presets: &Presets,
) -> Vec<BuildError> {
    let later = names_not_there_yet(config);
    let may_come =
        |name: &str| later.iter().any(|later| later == name) || is_connected_later(name, config);
    let available = config
        .tools
        .available
        .iter()
        .map(|name| (name, "[tools] available"));
    let aliases = config
        .tools
        .aliases
        .values()
        .map(|name| (name, "[tools] aliases"));
    let unknown = available
        .chain(aliases)
        .filter(|(name, _)| !name.contains(['*', '?']) && !may_come(name))
        .filter_map(|(name, from)| {
            let unknown = registry.unknown_names([name.as_str()]).pop()?;
            Some(BuildError::UnknownTool {
                name: unknown.name,
                from: from.to_owned(),
                close: unknown.close,
            })
        });
    let faults = registry.preset_faults(presets, may_come).into_iter();
    unknown
        .chain(faults.map(|fault| preset_fault(fault, registry)))
        .collect()
}

/// Everything that is wrong with the presets of tools that have come meanwhile.
pub(super) fn wrong_presets(registry: &ToolRegistry, presets: &Presets) -> Vec<BuildError> {
    let faults = registry.preset_faults(presets, |_| true).into_iter();
    faults.map(|fault| preset_fault(fault, registry)).collect()
}

fn preset_fault(fault: outfitter_tools::PresetFault, registry: &ToolRegistry) -> BuildError {
    match fault.parameter {
        Some(parameter) => BuildError::Preset {
            tool: fault.tool,
            parameter,
            why: fault.why,
        },
        None => BuildError::UnknownTool {
            from: "[tools] presets".to_owned(),
            close: registry
                .unknown_names([fault.tool.as_str()])
                .pop()
                .map_or_else(Vec::new, |unknown| unknown.close),
            name: fault.tool,
        },
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
