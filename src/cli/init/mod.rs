//! `init`: files to begin with.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use outfitter_core::Code;

use super::Invocation;
use super::documents::{self, Begun};
use super::failure::{Failure, Stop};
use crate::config::FILE_NAME;
use crate::render::text::visible;

/// The configuration: what is changed most, and how.
const CONFIGURATION: &str = include_str!("outfitter.toml");

/// A first skill, and where it goes.
const SKILL: (&str, &str) = ("skills/house-rules/SKILL.md", include_str!("SKILL.md"));

/// Runs `init`. What is there stays as it is.
pub(crate) fn run(at: &Invocation<'_>) -> Result<ExitCode, Stop> {
    let configuration = match &at.global.config {
        Some(file) => file.clone(),
        None => PathBuf::from(FILE_NAME),
    };
    let mut begun = Begun {
        v: 1,
        written: Vec::new(),
        kept: Vec::new(),
    };
    for (path, text) in [
        (configuration.as_path(), CONFIGURATION),
        (Path::new(SKILL.0), SKILL.1),
    ] {
        let name = path.display().to_string();
        match begin(&at.env.current_dir().join(path), text) {
            Ok(()) => begun.written.push(name),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => begun.kept.push(name),
            Err(error) => {
                let doing = format!("write {name}");
                return Err(Failure::because(Code::Failed, doing, &error).into());
            }
        }
    }
    if at.global.json {
        documents::write(at, &begun)?;
    } else {
        at.out.tell(&visible(&said(&begun)));
    }
    Ok(ExitCode::SUCCESS)
}

/// Makes a file that is not there yet.
fn begin(path: &Path, text: &str) -> std::io::Result<()> {
    if path.symlink_metadata().is_ok() {
        return Err(ErrorKind::AlreadyExists.into());
    }
    if let Some(dir) = path.parent() {
        std::fs::create_dir_all(dir)?;
    }
    let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
    file.write_all(text.as_bytes())
}

fn said(begun: &Begun) -> String {
    let written = begun.written.iter().map(|name| format!("wrote {name}\n"));
    let kept = begun
        .kept
        .iter()
        .map(|name| format!("{name} is there and stays as it is\n"));
    let next = "next: `outfitter config check`, `outfitter skills list`, `outfitter doctor`\n";
    written.chain(kept).chain([next.to_owned()]).collect()
}
