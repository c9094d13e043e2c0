//! No sandbox: commands are supervised and may do whatever we may. Only when it is asked for.

use outfitter_core::{Level, SandboxError, SandboxInfo};
use outfitter_process::Confinement;

use crate::environment::{Visible, build};
use crate::hold::Hold;
use crate::jobs::Jobs;
use crate::launch::Manner;
use crate::local::{Session, open_scratch};
use crate::process_sandbox::{ProcessSandbox, SessionFiles};

/// The name of this backend.
const BACKEND: &str = "passthrough";

/// A session's commands on this machine, held back by nothing. They still get a built environment,
/// and their trees still end with them and with the session.
///
/// # Errors
/// [`SandboxError::Io`] when the session's directory cannot be made.
pub fn open(session: Session) -> Result<ProcessSandbox, SandboxError> {
    let workspace = session.files.workspace().to_owned();
    let scratch = open_scratch(&session.session_dir)?;
    let environment = build(
        &session.host,
        scratch.layout(),
        &Visible::Everything,
        &session.passed,
    );
    let info = SandboxInfo {
        backend: BACKEND.to_owned(),
        level: Level::None,
        isolating: false,
        missing: vec!["passthrough was asked for: nothing holds a command back".to_owned()],
        workspace: workspace.clone(),
        network: true,
        account: None,
    };
    let manner = Manner {
        supervisor: session.supervisor,
        environment: environment.variables,
        hold: Hold::Kernel(Confinement::Unconfined),
        limits: session.limits,
        hosts: None,
        protected: session.files.protected().clone(),
        view: None,
        files: session.files.clone(),
        workspace,
        scratch,
    };
    Ok(ProcessSandbox {
        info,
        jobs: Jobs::new(manner, session.clock, &session.session_dir)?,
        files: SessionFiles::Here(session.files),
        machine: None,
        left_out: environment.left_out,
    })
}
