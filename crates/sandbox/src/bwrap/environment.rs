//! The environment of a command in bubblewrap, which it has inside alone.

use std::os::unix::ffi::OsStrExt;

use bytes::Bytes;
use outfitter_core::SandboxError;

use super::check::NOT_YET;
use crate::environment::is_variable;
use crate::hold::Variables;

/// The names of the variables: the shell inside gives them to the command, as far as it can.
pub(crate) fn names(env: &Variables) -> Result<Vec<&str>, SandboxError> {
    let names = env.iter().map(|(name, _)| {
        name.to_str()
            .filter(|name| is_variable(name))
            .ok_or_else(|| {
                let name = name.to_string_lossy();
                SandboxError::Invalid(format!(
                    "the shell inside cannot set a variable of the name {name:?}"
                ))
            })
    });
    names.collect()
}

/// The environment of the command, as options of `bwrap` behind zero bytes: by an input and not as
/// arguments, which every account of this machine may read.
pub(crate) fn environment(env: &Variables) -> Bytes {
    let mut options = b"--clearenv\0".to_vec();
    for (name, value) in env {
        options.extend_from_slice(b"--setenv\0");
        options.extend_from_slice(NOT_YET.as_bytes());
        for word in [name, value] {
            options.extend_from_slice(word.as_bytes());
            options.push(0);
        }
    }
    Bytes::from(options)
}
