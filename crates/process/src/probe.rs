//! What this machine can enforce, found out by doing it.

use std::error::Error;
use std::path::PathBuf;

use crate::error::SpawnError;
use crate::exit::Ending;
use crate::landlock_rights::{falls_short, open_at_partial};
use crate::program::SupervisorProgram;
use crate::spec::{ChildSpec, Confined, Confinement, Level, Limits, Network, Stdin};
use crate::start::start;
use crate::supervisor::landlock_abi;
use crate::wire::Task;

/// What can be had here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Support {
    /// The strongest level that was really set up.
    pub level: Level,
    /// The kernel's Landlock ABI; 0 is none.
    pub landlock_abi: u32,
    /// Why a stronger level is not there, and what this one lacks; empty at full strength.
    pub reasons: Vec<String>,
}

impl Support {
    /// Refuses a requirement that cannot be met.
    ///
    /// # Errors
    /// [`SpawnError::Unsupported`] with every reason.
    pub fn require(&self, level: Level) -> Result<(), SpawnError> {
        if self.level >= level {
            return Ok(());
        }
        Err(SpawnError::Unsupported {
            level,
            reason: self.reasons.join("; "),
        })
    }
}

/// Sets up each level, from the strongest down, for a child that ends at once, and reports the first
/// that works.
///
/// # Errors
/// [`SpawnError`] if there is no working supervisor: then nothing can be run at all.
pub async fn probe(program: &SupervisorProgram) -> Result<Support, SpawnError> {
    let abi = landlock_abi();
    let mut support = Support {
        level: Level::None,
        landlock_abi: u32::try_from(abi).unwrap_or(0),
        reasons: Vec::new(),
    };
    if let (0, Some(why)) = (support.landlock_abi, falls_short(0, Level::Partial)) {
        support.reasons.push(why);
        return Ok(support);
    }
    for level in [Level::Full, Level::Partial] {
        match try_level(program, level).await {
            Ok(()) => {
                support.level = level;
                if level == Level::Partial {
                    let open = open_at_partial(support.landlock_abi);
                    support.reasons.extend(open);
                }
                return Ok(support);
            }
            Err(error @ SpawnError::Setup { .. }) => {
                support
                    .reasons
                    .push(format!("{level}: failed to {}", chain(&error)));
            }
            Err(other) => return Err(other),
        }
    }
    Ok(support)
}

/// By what a limit of memory and one of processes that somebody has set would be held for a whole tree
/// at this level: one fragment each, `memory by a control group (version 2)`. Tried out, so it takes a
/// moment.
///
/// # Errors
/// [`SpawnError`] as [`probe`] has them, and where the level cannot be had.
pub async fn limits_held_by(
    program: &SupervisorProgram,
    level: Level,
) -> Result<Vec<String>, SpawnError> {
    let limits = Limits {
        processes: 512,
        memory_bytes: Some(256 * 1024 * 1024),
        ..Limits::DEFAULT
    };
    try_with(program, level, limits).await
}

async fn try_level(program: &SupervisorProgram, level: Level) -> Result<(), SpawnError> {
    try_with(program, level, Limits::DEFAULT).await.map(drop)
}

async fn try_with(
    program: &SupervisorProgram,
    level: Level,
    limits: Limits,
) -> Result<Vec<String>, SpawnError> {
    let spec = ChildSpec {
        argv: Vec::new(),
        env: Vec::new(),
        cwd: PathBuf::from("/"),
        stdin: Stdin::Null,
        confinement: Confinement::Confined(Confined {
            level,
            network: Network::Off,
            write: Vec::new(),
            read: vec![PathBuf::from("/usr")],
            fixed: Vec::new(),
            hide: Vec::new(),
            private: Vec::new(),
            blank: Vec::new(),
        }),
        limits,
    };
    let mut spawned = start(program, spec, Task::Probe).await?;
    match spawned.child.wait().await {
        Ok(exit) if exit.ending == Ending::Code(0) => Ok(exit.notes),
        Ok(_) | Err(_) => Err(SpawnError::NotASupervisor),
    }
}

fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(source) = next {
        let source_text = source.to_string();
        if !text.ends_with(&source_text) {
            text.push_str(": ");
            text.push_str(&source_text);
        }
        next = source.source();
    }
    text
}
