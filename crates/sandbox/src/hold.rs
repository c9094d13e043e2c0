//! What holds a command back: the kernel by way of our supervisor, or bubblewrap.

use std::ffi::OsString;
use std::path::PathBuf;

use outfitter_core::SandboxError;
use outfitter_process::{Confined, Confinement, Stdin};

use crate::bwrap::{Bubblewrap, Ready};
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
    pub(crate) env: Variables,
    pub(crate) cwd: PathBuf,
    pub(crate) stdin: Stdin,
    pub(crate) confinement: Confinement,
    /// To be waited for before the command is said to run, where something else runs first.
    pub(crate) ready: Option<Ready>,
}

/// An environment.
pub(crate) type Variables = Vec<(OsString, OsString)>;

impl Hold {
    pub(crate) fn hold(
        &self,
        argv: Vec<OsString>,
        env: Variables,
        cwd: PathBuf,
        protected: &Protected,
    ) -> Result<Held, SandboxError> {
        let by_the_kernel = |argv, env, cwd, confinement| Held {
            argv,
            env,
            cwd,
            stdin: Stdin::Null,
            confinement,
            ready: None,
        };
        match self {
            Self::Kernel(Confinement::Confined(confined)) => {
                let confined = with_protected(confined.clone(), protected);
                Ok(by_the_kernel(
                    argv,
                    env,
                    cwd,
                    Confinement::Confined(confined),
                ))
            }
            Self::Kernel(confinement) => Ok(by_the_kernel(argv, env, cwd, confinement.clone())),
            Self::Bubblewrap(bubblewrap, confined) => {
                let confined = with_protected(confined.clone(), protected);
                bubblewrap.hold(argv, &env, &cwd, &confined)
            }
        }
    }
}

/// And what is protected, as far as it exists now.
fn with_protected(mut confined: Confined, protected: &Protected) -> Confined {
    let fixed = protected.existing_fixed(&confined.write);
    confined.fixed.extend(fixed);
    // A private directory is hidden already, all but what this session may use of it.
    let private = &confined.private;
    let opened = [confined.read.as_slice(), &confined.write].concat();
    let hide = protected.hidden_where(&opened).into_iter();
    confined
        .hide
        .extend(hide.filter(|path| !private.contains(path)));
    confined
}
