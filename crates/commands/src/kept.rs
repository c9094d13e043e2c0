//! What a program said of itself, kept for when it was not asked yet, by the rule of all sources.

use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use outfitter_core::{Hash, KeptSpecs, SpecCache, SpecKey, keep_specs, specs_difference};
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
    let same = key.and_then(|key| kept.clone().of(&key)).and_then(read);
    Kept {
        same: same.filter(|described| !described.subcommands.is_empty()),
        last: read(kept.specs),
    }
}

/// Keeps what a program says.
pub(crate) async fn keep(host: &Host, settings: &ProgramSettings, described: &Described) {
    let Some(specs) = host.specs.clone() else {
        return;
    };
    let name = settings.name.clone();
    let Some(bytes) = key(host, settings).and_then(|key| keep_specs(&key, &described.document))
    else {
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

/// Which program it is: what it is started as, and its files as they are on disk now; none where
/// it is not there.
fn key(host: &Host, settings: &ProgramSettings) -> Option<Hash> {
    let program = found(host, settings)?;
    let mut names: Vec<&str> = settings.env.iter().map(|(name, _)| name.as_str()).collect();
    names.sort_unstable();
    let args: Vec<&[u8]> = settings.args.iter().map(|arg| arg.as_bytes()).collect();
    let mut key = SpecKey::of(env!("CARGO_PKG_VERSION"), &settings.name)
        .with(settings.program.as_os_str().as_bytes())
        .with_all(&args)
        .with_all(&names);
    // A script is an argument of what runs it. A name without a directory is one in a folder of
    // the call, where nothing is.
    let scripts = settings.args.iter().map(Path::new);
    let scripts = scripts.filter(|script| script.is_absolute());
    for file in [program.as_path()].into_iter().chain(scripts) {
        key = with_file(key, file);
    }
    Some(key.finish())
}

fn with_file(key: SpecKey, file: &Path) -> SpecKey {
    let Ok(now) = file.metadata() else {
        return key.with("none");
    };
    key.with(file.as_os_str().as_bytes())
        .with(now.size().to_le_bytes())
        .with(now.mtime().to_le_bytes())
        .with(now.mtime_nsec().to_le_bytes())
}

/// The file of the program.
fn found(host: &Host, settings: &ProgramSettings) -> Option<PathBuf> {
    if settings.program.is_absolute() {
        return Some(settings.program.clone());
    }
    let own = settings.env.iter().find(|(name, _)| name == "PATH");
    let path = own.map_or(host.path.as_os_str(), |(_, path)| path.as_ref());
    let mut files = std::env::split_paths(path).map(|dir| dir.join(&settings.program));
    files.find(|file| {
        let now = file.metadata();
        now.is_ok_and(|now| now.is_file() && now.permissions().mode() & 0o111 != 0)
    })
}
