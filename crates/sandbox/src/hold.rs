//! What holds a command back: the kernel by way of our supervisor, or bubblewrap.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use outfitter_core::SandboxError;
use outfitter_process::{Confined, Confinement};

use crate::bwrap::Bubblewrap;
use crate::protected::Protected;

/// What holds every command of a session.
pub(crate) enum Hold {
    /// The supervisor, as told.
    Kernel(Confinement),
    /// Bubblewrap, with what the command may see.
    Bubblewrap(Bubblewrap, Confined),
}

/// A command as the supervisor is to start it.
pub(crate) struct Held {
    pub(crate) argv: Vec<OsString>,
    pub(crate) cwd: PathBuf,
    pub(crate) confinement: Confinement,
}

impl Hold {
    pub(crate) fn hold(
        &self,
        argv: Vec<OsString>,
        path: &OsStr,
        cwd: PathBuf,
        protected: &Protected,
    ) -> Result<Held, SandboxError> {
        match self {
            Self::Kernel(Confinement::Confined(confined)) => Ok(Held {
                argv,
                cwd,
                confinement: Confinement::Confined(with_protected(confined.clone(), protected)),
            }),
            Self::Kernel(confinement) => Ok(Held {
                argv,
                cwd,
                confinement: confinement.clone(),
            }),
            Self::Bubblewrap(bubblewrap, confined) => bubblewrap.hold(
                argv,
                path,
                &cwd,
                &with_protected(confined.clone(), protected),
            ),
        }
    }
}

/// And what is protected, as far as it exists now.
fn with_protected(mut confined: Confined, protected: &Protected) -> Confined {
    let fixed = protected.existing_fixed(&confined.write);
    confined.fixed.extend(fixed);
    let private = &confined.private;
    // A private directory is hidden already, all but what this session may use of it.
    let hide = protected.existing().into_iter();
    confined
        .hide
        .extend(hide.filter(|path| !private.contains(path)));
    confined
}
