//! What the parts of the whole are told of the configuration: at the beginning, and when it is
//! reloaded.

use std::sync::Arc;
use std::time::Duration;

use outfitter_agent::{AgentSettings, Limits, ProgressSettings};
use outfitter_builtin::{BuiltinOptions, FilesOptions, ShellOptions, builtin_tools};
use outfitter_core::{CallFacts, Decision, NameSet, Policy, Principal, Role, Tool, ToolSpec};
use outfitter_tools::{
    Approval, DefaultPolicy, PipelineOptions, Preset, Presets, Redactor, ToolsConfig, expand_tools,
    is_secret_key, read_artifact,
};
use secrecy::SecretString;

use super::session::LOCAL;
use super::{model, prompt};
use crate::config::{self, Config};
use crate::env::Environment;

/// What the registry is told: the tools that may be used, by whom, with what arguments set.
/// `own` are the presets of the program itself, which win.
pub(super) fn tools_config(config: &Config, own: &Presets) -> ToolsConfig {
    ToolsConfig {
        available: NameSet::of(config.tools.available.iter().map(String::as_str)),
        aliases: config.tools.aliases.clone(),
        policy: policy(config),
        mode: config.agent.mode,
        presets: presets(config, own),
    }
}

fn policy(config: &Config) -> Arc<dyn Policy> {
    Arc::new(Capped {
        rules: Arc::new(DefaultPolicy),
        local: config.permissions.local_role,
        http: config.permissions.http_role,
    })
}

/// All presets: those of the configuration, and over them those of the program.
pub(super) fn presets(config: &Config, own: &Presets) -> Presets {
    let mut all = Presets::default();
    for (tool, parameters) in &config.tools.presets {
        for (parameter, value) in parameters {
            all.set(tool, parameter, Preset::Constant(value.clone()));
        }
    }
    all.over(own)
}

/// The people of this machine have the roles that the configuration gives them now, also in a
/// session that was opened when it gave them more.
struct Capped {
    rules: Arc<dyn Policy>,
    local: Role,
    http: Role,
}

impl Capped {
    fn role(&self, who: &Principal) -> Role {
        let of_this_machine = who.tenant.as_str() == LOCAL && who.subject.as_str() == LOCAL;
        match who.channel.as_str() {
            _ if !of_this_machine => who.role,
            "cli" => who.role.min(self.local),
            _ => who.role.min(self.http),
        }
    }
}

impl Policy for Capped {
    fn visible(&self, who: &Principal, spec: &ToolSpec) -> bool {
        self.role(who) >= spec.min_role && self.rules.visible(who, spec)
    }

    fn decide(&self, who: &Principal, call: &CallFacts<'_>) -> Decision {
        let needed = call.spec.min_role.max(call.facts.min_role);
        let decision = self.rules.decide(who, call);
        if self.role(who) < needed {
            return decision.meet(Decision::deny(format!("it needs the role {needed}")));
        }
        decision
    }
}

/// The tools that every installation has.
pub(super) fn builtin(config: &Config) -> Vec<Arc<dyn Tool>> {
    let mut tools = builtin_tools(&builtin_options(config));
    tools.push(read_artifact(config.tools.max_result_tokens as usize));
    tools.push(expand_tools());
    tools
}

pub(super) fn builtin_options(config: &Config) -> BuiltinOptions {
    BuiltinOptions {
        shell: ShellOptions {
            enabled: config.shell.enabled,
            timeout: Duration::from_secs(config.shell.timeout_seconds.into()),
            max_timeout: Duration::from_secs(config.shell.max_timeout_seconds.into()),
            max_output_chars: config.shell.max_output_chars as usize,
        },
        files: FilesOptions {
            max_read_bytes: config.files.max_read_bytes.into(),
            admin_open: config.files.admin_open,
        },
    }
}

/// What every call is told.
pub(super) fn pipeline_options(config: &Config, environment: &Environment) -> PipelineOptions {
    let secrets = model::key(config, environment)
        .into_iter()
        .chain(given_secrets(config));
    PipelineOptions {
        max_result_tokens: config.tools.max_result_tokens as usize,
        default_timeout: Duration::from_secs(config.tools.default_timeout_seconds.into()),
        approval: match config.permissions.approval {
            config::sections::Approval::Ask => Approval::Ask,
            config::sections::Approval::Never => Approval::Never,
        },
        redactor: Redactor::new(secrets),
    }
}

/// What the loop is told.
pub(super) fn agent_settings(config: &Config) -> AgentSettings {
    let agent = &config.agent;
    let progress = &config.progress;
    AgentSettings {
        system_prompt: system_prompt(config),
        limits: Limits {
            max_turns: agent.max_turns,
            max_total_tokens: agent.max_total_tokens,
            identical_failures: agent.identical_failure_limit,
        },
        max_tool_concurrency: agent.max_tool_concurrency as usize,
        progress: ProgressSettings {
            enabled: progress.enabled,
            flush_interval: Duration::from_millis(progress.flush_interval_ms.into()),
            flush_bytes: progress.flush_bytes as usize,
        },
    }
}

/// What every session is told first.
pub(super) fn system_prompt(config: &Config) -> Arc<str> {
    let own = config.agent.system_prompt.as_deref();
    own.unwrap_or(prompt::DEFAULT).into()
}

/// What the configuration gives servers and programs under a secret's name, and what it sets for
/// tools under one: what is printed of it goes no further.
fn given_secrets(config: &Config) -> impl Iterator<Item = SecretString> {
    let servers = config.mcp.servers.values().flat_map(|server| &server.env);
    let programs = config.commands.values().flat_map(|program| &program.env);
    let given = servers
        .chain(programs)
        .filter(|(name, _)| holds_a_secret(name))
        .map(|(_, value)| SecretString::from(value.clone()));
    let set = config.tools.presets.values().flatten();
    let set = set
        .filter(|(name, _)| holds_a_secret(name))
        .filter_map(|(_, value)| Some(SecretString::from(value.as_str()?.to_owned())));
    given.chain(set)
}

/// Whether a variable holds a secret, by its name: `GITHUB_TOKEN` as well as `TOKEN`.
fn holds_a_secret(name: &str) -> bool {
    is_secret_key(name)
        || name
            .match_indices('_')
            .any(|(at, _)| is_secret_key(&name[at + 1..]))
}
