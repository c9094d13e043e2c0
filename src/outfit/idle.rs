//! Keys of the configuration that name tools, arguments or people that there are not. None of them
//! is held to be wrong while what it names may still come.

use outfitter_builtin::builtin_tools;
use outfitter_core::{MAIN_AGENT, Pattern};
use outfitter_mcp::ServerState;
use outfitter_skills::LOAD_SKILL;
use outfitter_text::close_names;
use outfitter_tools::{Later, RuleFault, Surroundings, ToolRegistry};

use super::session::LOCAL;
use super::{Outfitter, settings};
use crate::config::Config;

/// By what ways calls come.
const CHANNELS: [&str; 4] = ["cli", "http", "agui", "mcp"];

/// Something of the configuration that means nothing as things stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdleKey {
    /// Where it stands, as `permissions.rules.0.tool`.
    pub key: String,
    /// Why it means nothing and what was perhaps meant, one fragment that reads on after the key.
    pub why: String,
}

impl std::fmt::Display for IdleKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "`{}` {}", self.key, self.why)
    }
}

/// Something of the configuration that could not be looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UncheckedKey {
    /// Where it stands, as `permissions.rules.0.tool`.
    pub key: String,
    /// What has to be there first.
    pub from: String,
}

impl std::fmt::Display for UncheckedKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "`{}` could not be checked: it may be for tools of {}",
            self.key, self.from
        )
    }
}

/// What was found of the names in the configuration.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IdleKeys {
    /// What means nothing.
    pub idle: Vec<IdleKey>,
    /// What could not be looked at.
    pub unchecked: Vec<UncheckedKey>,
}

impl Outfitter {
    /// What of the configuration names tools, arguments or people that there are not. The more is
    /// connected, the more of it can be looked at.
    #[must_use]
    pub fn idle_keys(&self) -> IdleKeys {
        let config = self.config();
        let later = self.later(&config);
        let mut found = IdleKeys::default();
        found.rules(&config, &self.registry, later.clone());
        found.globs(&config, &self.registry, &later);
        found.aliases(&config, &self.registry);
        found.apis(&config);
        found
    }

    /// The tools that may still come.
    fn later(&self, config: &Config) -> Vec<Later> {
        let known = self.servers();
        let mut later = Vec::new();
        let mut comes = |names: String, from: String| {
            later.push(Later {
                names: Pattern::new(names),
                from,
            });
        };
        for name in config.mcp.servers.keys() {
            let listed = known.iter().any(|server| {
                server.name == *name
                    && match server.status {
                        ServerState::Ready | ServerState::Degraded => true,
                        ServerState::Idle => server.tools > 0,
                        ServerState::Starting | ServerState::Down | ServerState::Disabled => false,
                    }
            });
            if !listed {
                comes(format!("{name}__*"), format!("the MCP server {name}"));
            }
        }
        if !config.commands.is_empty() && self.programs.get().is_none() {
            let from = "the programs of [commands]".to_owned();
            comes(outfitter_commands::TOOL.to_owned(), from);
        }
        let read = self.apis();
        for name in config.plugin_api.apis.keys() {
            if !read.iter().any(|api| api.name == *name) {
                for names in [format!("call_{name}"), format!("call_{name}_*")] {
                    comes(names, format!("the API {name}"));
                }
            }
        }
        comes(LOAD_SKILL.to_owned(), "skills".to_owned());
        later
    }
}

impl IdleKeys {
    fn rules(&mut self, config: &Config, registry: &ToolRegistry, later: Vec<Later>) {
        let mut options = settings::builtin_options(config);
        options.shell.enabled = true;
        options.web.enabled = true;
        let around = Surroundings {
            dormant: builtin_tools(&options),
            later,
            aliases: Some(&config.tools.aliases),
            channels: &CHANNELS,
            agents: &[MAIN_AGENT],
            tenants: &[LOCAL],
        };
        let found = registry.rule_findings(&settings::rules(config), &around);
        let key = |rule: usize, key: &str| format!("permissions.rules.{rule}.{key}");
        self.idle
            .extend(found.faults.into_iter().map(|fault| IdleKey {
                key: key(fault.rule, &fault.key),
                why: never_met(&fault),
            }));
        let unchecked = found.unchecked.into_iter();
        self.unchecked.extend(unchecked.map(|one| UncheckedKey {
            key: key(one.rule, &one.key),
            from: one.from,
        }));
    }

    /// Names and globs of tools. A plain name in `available` that is no tool's ends the start.
    fn globs(&mut self, config: &Config, registry: &ToolRegistry, later: &[Later]) {
        let mut options = settings::builtin_options(config);
        options.shell.enabled = true;
        options.web.enabled = true;
        let dormant = builtin_tools(&options);
        let is_glob = |name: &String| name.contains(['*', '?']);
        let available = config.tools.available.iter().enumerate();
        let available = available.filter(|(_, name)| is_glob(name));
        let available = available.map(|(at, name)| (format!("tools.available.{at}"), name));
        let defer = config.tools.defer.iter().enumerate();
        let defer = defer.filter(|(_, name)| !name.trim().is_empty());
        let defer = defer.map(|(at, name)| (format!("tools.defer.{at}"), name));
        for (key, name) in available.chain(defer) {
            if registry.unmet_globs([name.as_str()]).is_empty() {
                continue;
            }
            let glob = Pattern::new(name.as_str());
            let mut all = dormant.iter();
            if all.any(|tool| glob.matches(tool.spec().name.as_str())) {
                continue;
            }
            let from = later.iter().filter(|later| later.may_be(name));
            let from: Vec<&str> = from.map(|later| later.from.as_str()).collect();
            if let [first, ..] = from.as_slice() {
                let from = match from.len() {
                    1 => (*first).to_owned(),
                    _ => from.join(", "),
                };
                self.unchecked.push(UncheckedKey { key, from });
                continue;
            }
            // What is left of a glob that ends with `*` is how names begin.
            let end = if name.ends_with('*') { "*" } else { "" };
            let bare = name.replace(['*', '?'], "") + end;
            let close = registry.unknown_names([bare.as_str()]).pop();
            let close = close.map_or_else(Vec::new, |unknown| unknown.close);
            let what = match glob.is_plain() {
                true => "names no tool with",
                false => "has a glob like the name of no tool:",
            };
            let meant = match close.as_slice() {
                [] => "; `outfitter tools list` shows them".to_owned(),
                close => meant(close),
            };
            let why = format!("{what} {name:?}{meant}");
            self.idle.push(IdleKey { key, why });
        }
    }

    /// A tool of its name wins over an alias.
    fn aliases(&mut self, config: &Config, registry: &ToolRegistry) {
        let aliases = config.tools.aliases.iter();
        for (alias, tool) in aliases.filter(|(alias, tool)| alias != tool) {
            if registry.unmet_globs([alias.as_str()]).is_empty() && !alias.contains(['*', '?']) {
                self.idle.push(IdleKey {
                    key: format!("tools.aliases.{alias}"),
                    why: format!("is never used: there is a tool called {alias}, which is called instead of {tool}"),
                });
            }
        }
    }

    /// Operations of APIs that are not configured. What is in an API is known once it was read, and
    /// told with what is left out of it.
    fn apis(&mut self, config: &Config) {
        let section = &config.plugin_api;
        for (at, name) in section.allowlist.iter().enumerate() {
            if name.trim().is_empty() {
                continue;
            }
            let short = name.strip_prefix("call_").unwrap_or(name);
            let may_be = |api: &String| {
                [format!("{api}_*"), api.clone()].into_iter().any(|names| {
                    let later = Later {
                        names: Pattern::new(names),
                        from: String::new(),
                    };
                    later.may_be(short) || later.may_be(name)
                })
            };
            if section.apis.keys().any(may_be) {
                continue;
            }
            let first = short.split(['_', '*', '?']).next().unwrap_or(short);
            let close = close_names(first, section.apis.keys().map(String::as_str));
            let close: Vec<String> = close.into_iter().map(str::to_owned).collect();
            self.idle.push(IdleKey {
                key: format!("plugin_api.allowlist.{at}"),
                why: format!(
                    "names an operation of no API with {name:?}{}",
                    meant(&close)
                ),
            });
        }
    }
}

fn never_met(fault: &RuleFault) -> String {
    format!("can never be met: {}{}", fault.why, meant(&fault.close))
}

fn meant(close: &[String]) -> String {
    match close {
        [] => String::new(),
        close => format!(", did you mean {}?", close.join(" or ")),
    }
}
