//! What sources do not offer, or offer by what was kept of it and cannot be called.

use outfitter_mcp::ServerState;

use crate::outfit::Outfitter;

/// What is listed and cannot be called now, whose source was asked and gave no answer.
pub(crate) struct Kept {
    /// The source: `commands`, or the name of an MCP server.
    pub(crate) source: String,
    /// The program or the server.
    pub(crate) what: String,
    /// Why it gave no answer.
    pub(crate) why: String,
}

/// The same of all sources that have such.
pub(crate) fn kept(whole: &Outfitter) -> Vec<Kept> {
    let faults = whole.faults();
    let why = |name: &str| {
        let of = |source: &str, what: &str| source == outfitter_commands::SOURCE && what == name;
        let found = faults.iter();
        let mut found = found.filter(|one| of(one.source.as_str(), &one.fault.what));
        found.next().map(|one| one.fault.why.clone())
    };
    let programs = whole.programs().into_iter().filter_map(|program| {
        (program.idle && program.subcommands > 0).then_some(())?;
        Some(Kept {
            source: outfitter_commands::SOURCE.to_owned(),
            why: why(&program.name)?,
            what: program.name,
        })
    });
    let servers = whole.servers().into_iter().filter_map(|server| {
        (server.status == ServerState::Idle && server.tools > 0).then_some(())?;
        Some(Kept {
            source: server.name.clone(),
            what: "server".to_owned(),
            why: server.last_error?,
        })
    });
    programs.chain(servers).collect()
}

/// What people are told of the sources that do not offer all they have, one sentence each, but for
/// those that are still waited for.
pub(crate) fn lacking(whole: &Outfitter) -> Vec<String> {
    let (pending, kept) = (whole.pending(), kept(whole));
    let is_listed = |source: &str, what: &str| {
        kept.iter()
            .any(|one| one.source == source && one.what == what)
    };
    let left_out = whole.faults().into_iter().filter_map(|found| {
        let (source, fault) = (found.source.as_str(), &found.fault);
        let told = pending.iter().any(|one| one.source == source) || is_listed(source, &fault.what);
        (!told).then(|| format!("{source}: {} is left out: {}", fault.what, fault.why))
    });
    let listed = kept.iter().map(|one| {
        let Kept { source, what, why } = one;
        format!("{source}: {what} is listed as it was known, and its calls are unavailable: {why}")
    });
    left_out.chain(listed).collect()
}
