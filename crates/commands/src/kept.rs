//! What a program said of itself, kept for when it was not asked yet, by the rule of all sources.

use std::os::unix::ffi::OsStrExt as _;
use std::sync::Arc;

use outfitter_core::{Hash, KeptSpecs, SpecCache, SpecKey, keep_specs, specs_difference};
use outfitter_process::OnDisk;
use serde_json::Value;

use crate::describe::{self, Described};
use crate::host::Host;
use crate::settings::ProgramSettings;

/// What is kept of a program.
pub(crate) struct Kept {
    /// What it said, if it is the same program still.
    pub(crate) same: Option<Described>,
    /// What it said, whatever has become of it.
    pub(crate) last: Option<Described>,
}

/// What was kept. Nothing of it counts that would not count if the program said it now.
pub(crate) fn load(host: &Host, settings: &ProgramSettings) -> Kept {
    let specs = host.specs.as_ref();
    let kept = specs.and_then(|specs| KeptSpecs::read(&specs.load(&settings.name)?));
    let Some(kept) = kept else {
        return Kept {
            same: None,
            last: None,
        };
    };
    let read = |document: Value| describe::read(document).ok();
    let key = key(host, settings);
    // That it offered nothing is not worth keeping: no call could ever ask it again.
    let same = kept.clone().of(&key).and_then(read);
    Kept {
        same: same.filter(|described| !described.subcommands.is_empty()),
        last: read(kept.specs),
    }
}

/// Keeps what a program said that had this key before it was asked. One that was replaced meanwhile
/// may have said it as the one or as the other.
pub(crate) async fn keep(
    host: &Host,
    settings: &ProgramSettings,
    asked: &Hash,
    described: &Described,
) {
    let Some(specs) = host.specs.clone() else {
        return;
    };
    let name = settings.name.clone();
    if key(host, settings) != *asked {
        tracing::info!(
            target: "outfitter::commands",
            program = name,
            "what it offers is not kept: its files have changed while it was asked"
        );
        return;
    }
    let Some(bytes) = keep_specs(asked, &described.document) else {
        tracing::warn!(target: "outfitter::commands", program = name, "what it offers is not kept");
        return;
    };
    let kept = tokio::task::spawn_blocking({
        let (specs, name): (Arc<dyn SpecCache>, String) = (specs, name.clone());
        move || specs.keep(&name, &bytes)
    });
    if let Err(error) = kept.await {
        tracing::warn!(target: "outfitter::commands", program = name, %error, "what it offers was not kept");
    }
}

/// How what a program offers differs from what was kept of it; none where it does not.
pub(crate) fn difference(kept: &Described, now: &Described) -> Option<String> {
    let named = |described: &Described| -> Vec<(String, Value)> {
        let all = described.subcommands.iter();
        all.map(|one| (one.subject(), one.said.clone())).collect()
    };
    let (kept, now) = (named(kept), named(now));
    specs_difference(&by_name(&kept), &by_name(&now))
}

fn by_name(all: &[(String, Value)]) -> Vec<(&str, &Value)> {
    all.iter()
        .map(|(name, said)| (name.as_str(), said))
        .collect()
}

/// Which program it is: what it is started as, and its files as they are on disk now.
pub(crate) fn key(host: &Host, settings: &ProgramSettings) -> Hash {
    let mut names: Vec<&str> = settings.env.iter().map(|(name, _)| name.as_str()).collect();
    names.sort_unstable();
    let args: Vec<&[u8]> = settings.args.iter().map(|arg| arg.as_bytes()).collect();
    SpecKey::of(env!("CARGO_PKG_VERSION"), &settings.name)
        .with(settings.program.as_os_str().as_bytes())
        .with_all(&args)
        .with_all(&names)
        .with_all(&on_disk(host, settings).facts())
        .finish()
}

/// What it is started as.
pub(crate) fn on_disk<'s>(host: &'s Host, settings: &'s ProgramSettings) -> OnDisk<'s> {
    let own = settings.env.iter().find(|(name, _)| name == "PATH");
    OnDisk {
        program: settings.program.as_os_str(),
        args: &settings.args,
        search: own.map_or(host.path.as_os_str(), |(_, path)| path.as_ref()),
        // It runs in a folder of the call, where nothing is.
        dir: None,
    }
}
