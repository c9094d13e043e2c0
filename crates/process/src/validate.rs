//! What makes no sense is refused before anything is started.

use std::os::unix::ffi::OsStrExt;

use crate::error::SpawnError;
use crate::spec::{ChildSpec, Confinement};
use crate::wire::Task;

pub(crate) fn validate(spec: &ChildSpec, task: Task) -> Result<(), SpawnError> {
    if task == Task::Execute && spec.argv.first().is_none_or(|program| program.is_empty()) {
        return Err(SpawnError::Invalid("there is no program to run"));
    }
    if !spec.cwd.is_absolute() {
        return Err(SpawnError::Invalid(
            "the working directory must be absolute",
        ));
    }
    let zero = |bytes: &[u8]| bytes.contains(&0);
    if spec.argv.iter().any(|arg| zero(arg.as_bytes())) {
        return Err(SpawnError::Invalid("an argument contains a zero byte"));
    }
    for (name, value) in &spec.env {
        let name = name.as_bytes();
        if name.is_empty() || name.contains(&b'=') || zero(name) || zero(value.as_bytes()) {
            return Err(SpawnError::Invalid(
                "an environment variable has an impossible name or value",
            ));
        }
    }
    if zero(spec.cwd.as_os_str().as_bytes()) {
        return Err(SpawnError::Invalid(
            "the working directory contains a zero byte",
        ));
    }
    if let Confinement::Confined(confined) = &spec.confinement {
        let roots = [
            &confined.write,
            &confined.read,
            &confined.hide,
            &confined.private,
            &confined.blank,
        ];
        for path in roots.into_iter().flatten() {
            if !path.is_absolute() || zero(path.as_os_str().as_bytes()) {
                return Err(SpawnError::Invalid(
                    "a sandbox root must be an absolute path",
                ));
            }
        }
    }
    Ok(())
}
