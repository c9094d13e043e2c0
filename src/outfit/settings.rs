//! What the parts of the whole are told of the configuration: at the beginning, and when it is
//! reloaded.

use std::sync::Arc;
use std::time::Duration;

use outfitter_agent::{
    AgentSettings, Limits, ProgressSettings, Workflow, WorkflowChoice, Workflows,
};
use outfitter_builtin::{
    BuiltinOptions, FilesOptions, ShellOptions, WebOptions, builtin_tools_beside,
};
use outfitter_core::{
    CallFacts, Decision, NameSet, Policy, Principal, Role, Tool, ToolSpec, Verdict,
};
use outfitter_net::{AllowedHosts, OwnAddresses};
use outfitter_text::tokens::{Vocabulary, count_in};
use outfitter_tools::{
    Approval, DefaultPolicy, PipelineOptions, Presentation, Preset, Presets, Redactor, Rule,
    RuleArgs, Rules, Suggestion, ToolsConfig, expand_tools, get_tool_schema, list_tools,
    names_a_secret, read_artifact, secret_arguments, tool_search,
};
use secrecy::SecretString;

use super::session::LOCAL;
use super::{connections, model, prompt};
use crate::config::sections::{Network, RuleArguments, RuleVerdict};
use crate::config::{self, Config};
use crate::env::Environment;

/// What the registry is told: the tools that may be used, by whom, with what arguments set.
/// `first` is what the program began with, and `own` are the presets of the program itself, which
/// win.
pub(super) fn tools_config(config: &Config, first: &Config, own: &Presets) -> ToolsConfig {
    ToolsConfig {
        available: NameSet::of(config.tools.available.iter().map(String::as_str)),
        aliases: config.tools.aliases.clone(),
        policy: policy(config, first),
        mode: config.agent.mode,
        presets: presets(config, own),
        presentation: Presentation {
            suggestion: match config.tools.suggestion {
                config::sections::Suggestion::Off => Suggestion::Off,
                config::sections::Suggestion::Lexical => Suggestion::Lexical,
                config::sections::Suggestion::Model => Suggestion::Model,
            },
            threshold: config.tools.suggestion_threshold as usize,
            defer: NameSet::of(config.tools.defer.iter().map(String::as_str)),
        },
    }
}

fn policy(config: &Config, first: &Config) -> Arc<dyn Policy> {
    let (now, then) = (&config.permissions, &first.permissions);
    let taken = |now: Role, then: Role| (now < then).then_some(now);
    let rules = rules(config);
    // What is wrong with a rule was said when the configuration was read.
    let ruled = Rules::new(rules, Arc::new(DefaultPolicy));
    let rules: Arc<dyn Policy> = match ruled {
        Ok(rules) => Arc::new(rules),
        Err(_) => Arc::new(NoCalls),
    };
    Arc::new(Capped {
        rules,
        local: taken(now.local_role, then.local_role),
        http: taken(now.http_role, then.http_role),
    })
}

/// The rules of the configuration.
pub(crate) fn rules(config: &Config) -> Vec<Rule> {
    let verdict = |verdict| match verdict {
        RuleVerdict::Allow => Verdict::Allow,
        RuleVerdict::Ask => Verdict::Ask,
        RuleVerdict::Deny => Verdict::Deny,
    };
    let rows = config.permissions.rules.iter();
    rows.map(|row| Rule {
        tool: row.tool.clone(),
        args: row.args.as_ref().map(|args| match args {
            RuleArguments::Text(text) => RuleArgs::Text(text.clone()),
            RuleArguments::Table(table) => RuleArgs::Table(table.clone()),
        }),
        tenant: row.tenant.clone(),
        role: row.role,
        channel: row.channel.clone(),
        agent: row.agent.clone(),
        decision: verdict(row.decision),
    })
    .collect()
}

/// Rules that cannot be read allow nothing.
struct NoCalls;

impl Policy for NoCalls {
    fn visible(&self, _: &Principal, _: &ToolSpec) -> bool {
        false
    }

    fn paths(&self, _: &Principal, _: &ToolSpec) -> Option<Vec<String>> {
        None
    }

    fn decide(&self, _: &Principal, _: &CallFacts<'_>) -> Decision {
        Decision::deny("the rules of this installation cannot be read")
    }
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

/// The people of this machine have no more than the configuration gives them now, also in a
/// session that was opened when it gave them more.
struct Capped {
    rules: Arc<dyn Policy>,
    /// The role at the terminal, where it became less.
    local: Option<Role>,
    /// The same over HTTP.
    http: Option<Role>,
}

impl Capped {
    fn role(&self, who: &Principal) -> Role {
        let of_this_machine = who.tenant.as_str() == LOCAL && who.subject.as_str() == LOCAL;
        let most = match who.channel.as_str() {
            _ if !of_this_machine => None,
            "cli" => self.local,
            _ => self.http,
        };
        most.map_or(who.role, |most| who.role.min(most))
    }
}

impl Policy for Capped {
    fn visible(&self, who: &Principal, spec: &ToolSpec) -> bool {
        self.role(who) >= spec.min_role && self.rules.visible(who, spec)
    }

    fn paths(&self, who: &Principal, spec: &ToolSpec) -> Option<Vec<String>> {
        self.rules.paths(who, spec)
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

/// The tools that every installation has. `own` is where it listens.
pub(super) fn builtin(config: &Config, own: &OwnAddresses) -> Vec<Arc<dyn Tool>> {
    let mut tools = builtin_tools_beside(&builtin_options(config), own);
    tools.push(read_artifact(config.tools.max_result_tokens as usize));
    tools.push(expand_tools());
    tools.push(tool_search());
    tools.push(list_tools());
    tools.push(get_tool_schema());
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
        web: WebOptions {
            enabled: config.web.enabled,
            block_private: config.web.block_private,
            metadata: config.web.metadata.clone(),
            hosts: fetched_hosts(&config.sandbox.network),
            max_bytes: config.web.max_bytes.into(),
            max_result_tokens: config.tools.max_result_tokens as usize,
            timeout: Duration::from_secs(config.web.timeout_seconds.into()),
            user_agent: config.web.user_agent.clone(),
        },
    }
}

/// The hosts that the program's own fetching is kept to, where commands are kept to a list. Whether
/// there is a network for commands at all says nothing of it: that is `[web] enabled`.
fn fetched_hosts(network: &Network) -> Option<Arc<AllowedHosts>> {
    match network {
        Network::All(_) => None,
        Network::Hosts(hosts) => {
            // A list that names no host was refused; what is left of it opens nothing.
            let hosts = AllowedHosts::parse(hosts.iter().map(String::as_str));
            Some(Arc::new(hosts.unwrap_or_default()))
        }
    }
}

/// What every call is told.
pub(super) fn pipeline_options(config: &Config, environment: &Environment) -> PipelineOptions {
    let secrets = model::key(config, environment)
        .into_iter()
        .chain(given_secrets(config))
        .chain(connections::secrets_of(config, environment, names_a_secret));
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
        system_prompt: prompt::common(config),
        limits: Limits {
            max_turns: agent.max_turns,
            max_total_tokens: agent.max_total_tokens,
            identical_failures: agent.identical_failure_limit,
        },
        max_tool_concurrency: agent.max_tool_concurrency as usize,
        workflows: Arc::new(workflows(config)),
        suggested_actions: agent.suggested_actions,
        progress: ProgressSettings {
            enabled: progress.enabled,
            flush_interval: Duration::from_millis(progress.flush_interval_ms.into()),
            flush_bytes: progress.flush_bytes as usize,
        },
    }
}

/// The workflows of the configuration, and how one is chosen.
fn workflows(config: &Config) -> Workflows {
    let rows = config.workflows.iter().map(|row| Workflow {
        name: row.name.clone(),
        description: row.description.clone(),
        steps: row.steps.clone(),
    });
    Workflows::new(WorkflowChoice::of(&config.agent.workflow), rows.collect())
}

/// What the configuration gives servers and programs under a secret's name, and what it sets for
/// tools under one: what is printed of it goes no further.
fn given_secrets(config: &Config) -> impl Iterator<Item = SecretString> {
    let servers = config.mcp.servers.values().flat_map(|server| &server.env);
    let programs = config.commands.values().flat_map(|program| &program.env);
    let given = servers
        .chain(programs)
        .filter(|(name, _)| names_a_secret(name))
        .map(|(_, value)| SecretString::from(value.clone()));
    let set = config.tools.presets.values().flatten();
    let set = set
        .filter(|(name, _)| names_a_secret(name))
        .filter_map(|(_, value)| Some(SecretString::from(value.as_str()?.to_owned())));
    // Chat systems take the place for the key.
    let channels = config.channels.values();
    let channels = channels
        .filter(|channel| channel.kind == config::sections::ChannelKind::Webhook)
        .filter_map(|channel| channel.url.clone())
        .map(SecretString::from);
    let servers = config.mcp.servers.values().map(|server| &server.args);
    let programs = config.commands.values().map(|program| &program.args);
    let args = servers.chain(programs);
    let args = args.flat_map(|args| secret_arguments(args.iter().map(String::as_str)));
    let args = args.map(|secret| SecretString::from(secret.to_owned()));
    given.chain(set).chain(channels).chain(args)
}

/// Which tokens are counted, in this process.
pub(super) fn count_tokens(config: &Config) {
    count_in(match config.model.tokenizer {
        config::sections::Tokenizer::O200kBase => Vocabulary::O200kBase,
        config::sections::Tokenizer::Cl100kBase => Vocabulary::Cl100kBase,
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::sections;

    /// A number for each key, none of them a default or another's.
    #[test]
    fn every_number_of_the_loop_and_of_calls_gets_where_it_is_used() {
        let config = Config {
            agent: sections::Agent {
                max_turns: 3,
                max_total_tokens: Some(5),
                identical_failure_limit: 7,
                max_tool_concurrency: 11,
                ..sections::Agent::default()
            },
            progress: sections::Progress {
                enabled: false,
                flush_interval_ms: 13,
                flush_bytes: 17,
            },
            tools: sections::Tools {
                max_result_tokens: 1019,
                default_timeout_seconds: 23,
                ..sections::Tools::default()
            },
            ..Config::default()
        };
        let settings = agent_settings(&config);
        assert_eq!(
            settings.limits,
            Limits {
                max_turns: 3,
                max_total_tokens: Some(5),
                identical_failures: 7,
            }
        );
        assert_eq!(settings.max_tool_concurrency, 11);
        assert_eq!(
            settings.progress,
            ProgressSettings {
                enabled: false,
                flush_interval: Duration::from_millis(13),
                flush_bytes: 17,
            }
        );
        let calls = pipeline_options(&config, &Environment::of("/", [("HOME", "/")]));
        assert_eq!(calls.max_result_tokens, 1019);
        assert_eq!(calls.default_timeout, Duration::from_secs(23));
    }
}
