//! What is connected: skills, the project's programs, MCP servers, and the tools of all.

use outfitter_commands::ProgramStatus;
use outfitter_mcp::{ServerState, ServerStatus};

use super::check::Check;
use crate::cli::skills;
use crate::outfit::{Outfitter, Pending};

/// Connects what is configured, looks at it, and ends it again.
pub(super) async fn checks(whole: &Outfitter) -> Vec<Check> {
    let mut checks = Vec::new();
    if let Err(error) = whole.connect().await {
        let info = error.to_info();
        let check = Check::fail("connections", info.message);
        checks.push(match info.hint {
            Some(hint) => check.hint(hint),
            None => check,
        });
    }
    checks.extend(of_skills(whole));
    let pending = whole.pending();
    let pending = |source: &str| pending.iter().find(|one| one.source == source);
    checks.extend(programs(whole, pending(outfitter_commands::SOURCE)));
    checks.extend(
        whole
            .servers()
            .iter()
            .map(|one| server(one, pending(&one.name), is_lazy(whole, &one.name))),
    );
    checks.extend(turned_off(whole));
    checks.extend(apis(whole, pending(outfitter_builtin::PLUGIN_APIS)));
    checks.extend(tools(whole));
    checks.extend(names(whole));
    whole.disconnect().await;
    checks
}

fn of_skills(whole: &Outfitter) -> Vec<Check> {
    let what = "skills";
    let found = skills::diagnostics(whole);
    let count = whole.skills().snapshot().skills().count();
    let mut checks = Vec::new();
    if count > 0 {
        checks.push(Check::ok(what, counted(count, "skill")));
    }
    let matters = found.iter().filter(|problem| problem.matters());
    checks.extend(matters.map(|problem| Check::warn(what, problem.line())));
    checks
}

fn programs(whole: &Outfitter, pending: Option<&Pending>) -> Vec<Check> {
    if let Some(pending) = pending {
        let check = Check::warn("commands", still(pending));
        return vec![check.hint("[commands.NAME] timeout_seconds says how long each may take")];
    }
    let (faults, status) = (whole.faults(), whole.programs());
    let fault = |name: &str| {
        faults.iter().find(|found| {
            found.source.as_str() == outfitter_commands::SOURCE && found.fault.what == name
        })
    };
    whole
        .config()
        .commands
        .iter()
        .map(|(name, program)| {
            let stand = status.iter().find(|status| status.name == *name);
            let Some(found) = fault(name) else {
                return Check::ok("commands", stands(name, &program.program, stand));
            };
            let why = &found.fault.why;
            let check = match stand.filter(|stand| stand.idle) {
                // Its commands are there, and say so.
                Some(stand) => {
                    let offers = counted(stand.subcommands, "command");
                    Check::warn("commands", format!("{name}: idle, {offers}: {why}"))
                }
                // Nothing that begins needs it: its first call asks it.
                None if program.lazy => Check::warn("commands", format!("{name}: {why}")),
                None => Check::fail("commands", format!("{name}: {why}")),
            };
            check.hint(match stand.and_then(|stand| stand.lacking.as_ref()) {
                Some(_) => format!("[commands.{name}] program names it"),
                None => format!(
                    "`{} describe --json` must print what it offers",
                    program.program
                ),
            })
        })
        .collect()
}

/// How a program stands that has nothing wrong with it.
fn stands(name: &str, program: &str, status: Option<&ProgramStatus>) -> String {
    let Some(status) = status else {
        return format!("{name}: {program}");
    };
    if status.idle {
        let offers = counted(status.subcommands, "command");
        return format!("{name}: idle, {offers}; its first call asks it");
    }
    let changed = other_than_kept(status.changed.as_deref());
    format!("{name}: {program}{changed}")
}

/// What is not as it was kept.
fn other_than_kept(changed: Option<&str>) -> String {
    changed.map_or_else(String::new, |changed| {
        format!("; not what was kept of it: {changed}")
    })
}

/// Something that has not answered.
fn still(pending: &Pending) -> String {
    let Pending { what, since, .. } = pending;
    format!("{what}: still connecting after {} s", since.as_secs())
}

fn turned_off(whole: &Outfitter) -> Option<Check> {
    let mcp = &whole.config().mcp;
    (!mcp.enabled && !mcp.servers.is_empty()).then(|| {
        let finding = format!("{} turned off", counted(mcp.servers.len(), "server"));
        Check::warn("mcp", finding).hint("set [mcp] enabled = true")
    })
}

fn is_lazy(whole: &Outfitter, server: &str) -> bool {
    let config = whole.config();
    config
        .mcp
        .servers
        .get(server)
        .is_some_and(|server| server.lazy)
}

fn server(server: &ServerStatus, pending: Option<&Pending>, is_lazy: bool) -> Check {
    let name = &server.name;
    let why = server.last_error.as_deref();
    let finding = |state: &str| match why {
        Some(why) => format!("{name}: {state}: {why}"),
        None => format!("{name}: {state}"),
    };
    let tools = counted(server.tools, "tool");
    match server.status {
        ServerState::Ready => {
            let changed = other_than_kept(server.changed.as_deref());
            Check::ok("mcp", format!("{name}: ready, {tools}{changed}"))
        }
        // No call can be of a server without tools.
        ServerState::Idle if server.tools == 0 => {
            Check::warn("mcp", format!("{name}: idle, it listed no tools"))
                .hint("it is asked again when it is started next")
        }
        ServerState::Idle if why.is_some() => {
            Check::warn("mcp", finding(&format!("idle, {tools}"))).hint(format!(
                "its calls are unavailable; [mcp.servers.{name}] command says what is started"
            ))
        }
        ServerState::Idle => Check::ok(
            "mcp",
            format!("{name}: idle, {tools}; its first call starts it"),
        ),
        ServerState::Disabled => Check::ok("mcp", format!("{name}: turned off")),
        ServerState::Degraded => Check::warn("mcp", finding(&format!("degraded, {tools}"))),
        ServerState::Starting => Check::warn(
            "mcp",
            pending.map_or_else(|| finding("still starting"), still),
        )
        .hint(format!(
            "[mcp.servers.{name}] connect_timeout_seconds says how long it may"
        )),
        ServerState::Down => {
            // Nothing that begins needs one that its first call starts.
            let health = if is_lazy { Check::warn } else { Check::fail };
            health("mcp", finding("down")).hint(format!(
                "try its command by hand, as [mcp.servers.{name}] has it"
            ))
        }
    }
}

/// How much of each API is offered, and what of it is not and why, also where nobody asked for it.
/// One that cannot be used is told of with the tools.
fn apis(whole: &Outfitter, pending: Option<&Pending>) -> Vec<Check> {
    if let Some(pending) = pending {
        let check = Check::warn("plugin_api", still(pending));
        return vec![
            check.hint("[plugin_api.apis.NAME] timeout_seconds says how long each may take"),
        ];
    }
    let what = "plugin_api";
    let faults = whole.faults();
    let told = |name: &str| faults.iter().any(|found| found.fault.what == name);
    let registered = whole.registry().names_of(outfitter_builtin::PLUGIN_APIS);
    let mut checks = Vec::new();
    for api in whole.apis() {
        let mut offered = api.tools.clone();
        offered.retain(|tool| registered.contains(tool));
        let offered = offered.len();
        let all = counted(api.tools.len() + api.left_out.len(), "operation");
        let finding = format!("{}: {offered} of {all} offered", api.name);
        checks.push(match offered {
            0 => Check::warn(what, finding).hint("[plugin_api] allowlist names those that are"),
            _ => Check::ok(what, finding),
        });
        // What was asked for and is missing is told with the tools.
        for left_out in api.left_out.iter().filter(|fault| !told(&fault.what)) {
            let finding = format!(
                "{}: {} is left out: {}",
                api.name, left_out.what, left_out.why
            );
            checks.push(Check::ok(what, finding));
        }
    }
    checks
}

/// What sources could not offer, but for programs, which have rows of their own.
fn tools(whole: &Outfitter) -> Vec<Check> {
    let faults = whole.faults();
    let programs = &whole.config().commands;
    let pending = whole.pending();
    let is_pending = |source: &str| pending.iter().any(|one| one.source == source);
    let rest: Vec<Check> = faults
        .iter()
        .filter(|found| !is_pending(found.source.as_str()))
        .filter(|found| {
            found.source.as_str() != outfitter_commands::SOURCE
                || !programs.contains_key(&found.fault.what)
        })
        .map(|found| {
            let fault = &found.fault;
            let finding = format!(
                "{}: {} is left out: {}",
                found.source, fault.what, fault.why
            );
            Check::warn("tools", finding)
        })
        .collect();
    if rest.is_empty() && faults.is_empty() {
        return vec![Check::ok("tools", "every source offers all it has")];
    }
    rest
}

/// What of the configuration means nothing.
fn names(whole: &Outfitter) -> impl Iterator<Item = Check> + use<> {
    let idle = whole.idle_keys().idle.into_iter();
    idle.map(|idle| Check::warn("configuration", idle.to_string()))
}

fn counted(count: usize, what: &str) -> String {
    match count {
        1 => format!("1 {what}"),
        count => format!("{count} {what}s"),
    }
}
