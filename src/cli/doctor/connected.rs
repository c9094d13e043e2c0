//! What is connected: skills, the project's programs, MCP servers, and the tools of all.

use outfitter_mcp::{ServerState, ServerStatus};

use super::check::Check;
use crate::cli::skills;
use crate::outfit::Outfitter;

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
    checks.extend(programs(whole));
    checks.extend(servers(whole));
    checks.extend(apis(whole));
    checks.extend(tools(whole));
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

fn programs(whole: &Outfitter) -> Vec<Check> {
    let faults = whole.faults();
    let fault = |name: &str| {
        faults.iter().find(|found| {
            found.source.as_str() == outfitter_commands::SOURCE && found.fault.what == name
        })
    };
    whole
        .config()
        .commands
        .iter()
        .map(|(name, program)| match fault(name) {
            Some(found) => {
                Check::fail("commands", format!("{name}: {}", found.fault.why)).hint(format!(
                    "`{} describe --json` must print what it offers",
                    program.program
                ))
            }
            None => Check::ok("commands", format!("{name}: {}", program.program)),
        })
        .collect()
}

fn servers(whole: &Outfitter) -> Vec<Check> {
    let mcp = &whole.config().mcp;
    if !mcp.enabled && !mcp.servers.is_empty() {
        let finding = format!("{} turned off", counted(mcp.servers.len(), "server"));
        return vec![Check::warn("mcp", finding).hint("set [mcp] enabled = true")];
    }
    whole.servers().iter().map(server).collect()
}

fn server(server: &ServerStatus) -> Check {
    let name = &server.name;
    let why = server.last_error.as_deref();
    let finding = |state: &str| match why {
        Some(why) => format!("{name}: {state}: {why}"),
        None => format!("{name}: {state}"),
    };
    let tools = counted(server.tools, "tool");
    match server.status {
        ServerState::Ready => Check::ok("mcp", format!("{name}: ready, {tools}")),
        // No call can be of a server without tools.
        ServerState::Idle if server.tools == 0 => {
            Check::warn("mcp", format!("{name}: idle, it listed no tools"))
                .hint("it is asked again when it is started next")
        }
        ServerState::Idle => Check::ok(
            "mcp",
            format!("{name}: idle, {tools}; its first call starts it"),
        ),
        ServerState::Disabled => Check::ok("mcp", format!("{name}: turned off")),
        ServerState::Degraded => Check::warn("mcp", finding(&format!("degraded, {tools}"))),
        ServerState::Starting => Check::warn("mcp", finding("still starting")).hint(format!(
            "[mcp.servers.{name}] connect_timeout_seconds says how long it may"
        )),
        ServerState::Down => Check::fail("mcp", finding("down")).hint(format!(
            "try its command by hand, as [mcp.servers.{name}] has it"
        )),
    }
}

/// How much of each API is offered. One that cannot be used is told of with the tools.
fn apis(whole: &Outfitter) -> Vec<Check> {
    let each = whole.apis().into_iter().map(|api| {
        let all = counted(api.operations, "operation");
        let finding = format!("{}: {} of {all} offered", api.name, api.offered);
        match api.offered {
            0 => Check::warn("plugin_api", finding)
                .hint("[plugin_api] allowlist names those that are"),
            _ => Check::ok("plugin_api", finding),
        }
    });
    each.collect()
}

/// What sources could not offer, but for programs, which have rows of their own.
fn tools(whole: &Outfitter) -> Vec<Check> {
    let faults = whole.faults();
    let programs = &whole.config().commands;
    let rest: Vec<Check> = faults
        .iter()
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

fn counted(count: usize, what: &str) -> String {
    match count {
        1 => format!("1 {what}"),
        count => format!("{count} {what}s"),
    }
}
