//! What this machine can enforce, found out by doing it.

use std::error::Error;
use std::path::PathBuf;

use crate::child::start;
use crate::error::SpawnError;
use crate::exit::Ending;
use crate::program::SupervisorProgram;
use crate::spec::{ChildSpec, Confined, Confinement, Level, Limits, Network, Stdin};
use crate::supervisor::landlock_abi;
use crate::wire::Task;

/// The Landlock ABI from which on signals and abstract sockets are scoped; before it only namespaces
/// keep a child from signalling our other processes.
const SCOPES_ABI: i32 = 6;

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
    if abi <= 0 {
        support
            .reasons
            .push("this kernel has no Landlock, or it is not enabled".to_owned());
        return Ok(support);
    }
    for level in [Level::Full, Level::Partial] {
        match try_level(program, level).await {
            Ok(()) => {
                support.level = level;
                if level == Level::Partial && abi < SCOPES_ABI {
                    support.reasons.push(format!(
                        "Landlock ABI {abi} does not confine signals and abstract sockets (from ABI {SCOPES_ABI}, Linux 6.12)"
                    ));
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

async fn try_level(program: &SupervisorProgram, level: Level) -> Result<(), SpawnError> {
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
        limits: Limits::DEFAULT,
    };
    let mut spawned = start(program, spec, Task::Probe).await?;
    match spawned.child.wait().await {
        Ok(exit) if exit.ending == Ending::Code(0) => Ok(()),
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
