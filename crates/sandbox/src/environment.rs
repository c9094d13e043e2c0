//! The environment of a command, built from nothing.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use outfitter_core::SandboxError;

use crate::host::Host;
use crate::roots::ReadableRoots;
use crate::scratch::Layout;
use crate::toolchains;

/// Where programs are looked for when nothing of the outer `PATH` is readable inside.
const DEFAULT_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// A locale that is always there and counts in UTF-8.
const DEFAULT_LANG: &str = "C.UTF-8";

/// Where zones lie, for the name behind `/etc/localtime`.
const ZONES: &str = "/usr/share/zoneinfo";

/// Which directories of the outer `PATH` a command gets.
pub(crate) enum Visible<'a> {
    /// All: nothing holds it back.
    Everything,
    /// Those it may read.
    Roots {
        readable: &'a ReadableRoots,
        workspace: &'a Path,
    },
}

/// A built environment, and what was left out of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Environment {
    pub(crate) variables: Vec<(OsString, OsString)>,
    pub(crate) left_out: Vec<String>,
}

/// The variables every command of a session has; `passed` are the operator's own and win.
pub(crate) fn build(
    host: &Host,
    scratch: Layout<'_>,
    visible: &Visible<'_>,
    passed: &[(OsString, OsString)],
) -> Environment {
    let (path, left_out) = path_inside(host, visible);
    let mut variables: Vec<(OsString, OsString)> = Vec::new();
    set(&mut variables, "PATH", path);
    set(
        &mut variables,
        "LANG",
        host.lang
            .clone()
            .filter(|lang| !lang.is_empty())
            .unwrap_or_else(|| DEFAULT_LANG.into()),
    );
    set(&mut variables, "TZ", timezone(host));
    set(&mut variables, "HOME", scratch.home().into());
    set(&mut variables, "TMPDIR", scratch.temporary().into());
    set(&mut variables, "CARGO_HOME", scratch.cargo_home().into());
    if let Some(home) = host
        .rustup_home()
        .filter(|home| home.join("toolchains").is_dir())
    {
        set(&mut variables, "RUSTUP_HOME", home.into());
    }
    if let Some(root) = host.pyenv_root().filter(|root| root.is_dir()) {
        set(&mut variables, "PYENV_ROOT", root.into());
    }
    if let Some(jdk) = toolchains::jdk(host) {
        set(&mut variables, "JAVA_HOME", jdk.into());
    }
    if let Some(root) = toolchains::go_root(host) {
        set(&mut variables, "GOROOT", root.into());
    }
    set(&mut variables, "GIT_TERMINAL_PROMPT", "0".into());
    for (name, value) in passed {
        set(&mut variables, name, value.clone());
    }
    Environment {
        variables,
        left_out,
    }
}

/// Sets a variable, over an earlier value.
pub(crate) fn set(
    variables: &mut Vec<(OsString, OsString)>,
    name: impl AsRef<OsStr>,
    value: OsString,
) {
    let name = name.as_ref();
    match variables.iter_mut().find(|(known, _)| known == name) {
        Some((_, old)) => *old = value,
        None => variables.push((name.to_owned(), value)),
    }
}

/// Whether a shell can set a variable of this name.
pub(crate) fn is_variable(name: &str) -> bool {
    let is_word = |character: char| character.is_ascii_alphanumeric() || character == '_';
    name.chars().all(is_word) && name.starts_with(|first: char| !first.is_ascii_digit())
}

/// What the names of our own variables begin with: those that commands are given, and those of the
/// scripts that start them.
const OURS: &[&str] = &["OUTFITTER_", "_outfitter_"];

/// Refuses what a call would put in the place of a variable of ours: by one of them a command is
/// found when it is to end.
pub(crate) fn without_ours(env: &[(String, String)]) -> Result<(), SandboxError> {
    let is_ours = |name: &str| OURS.iter().any(|ours| name.starts_with(ours));
    match env.iter().find(|(name, _)| is_ours(name)) {
        None => Ok(()),
        Some((name, _)) => Err(SandboxError::Invalid(format!(
            "its env sets {name}, and names that begin with OUTFITTER_ or _outfitter_ are ours; \
             leave it out"
        ))),
    }
}

fn path_inside(host: &Host, visible: &Visible<'_>) -> (OsString, Vec<String>) {
    let outer = host.path.clone().unwrap_or_default();
    let mut kept: Vec<PathBuf> = Vec::new();
    let mut left_out = Vec::new();
    for dir in outer.as_bytes().split(|byte| *byte == b':') {
        let dir = Path::new(OsStr::from_bytes(dir));
        if !dir.is_absolute() || kept.iter().any(|known| known == dir) {
            continue;
        }
        if is_visible(dir, visible) {
            kept.push(dir.to_owned());
        } else if dir.is_dir() {
            left_out.push(format!(
                "{} is on PATH and cannot be read inside; [sandbox] read would allow it",
                dir.display()
            ));
        }
    }
    if kept.is_empty() {
        return (DEFAULT_PATH.into(), left_out);
    }
    let parts: Vec<&[u8]> = kept.iter().map(|dir| dir.as_os_str().as_bytes()).collect();
    (OsString::from_vec(parts.join(&b':')), left_out)
}

fn is_visible(dir: &Path, visible: &Visible<'_>) -> bool {
    match visible {
        Visible::Everything => true,
        Visible::Roots {
            readable,
            workspace,
        } => dir.canonicalize().is_ok_and(|real| {
            readable.has(dir) || readable.has(&real) || real.starts_with(workspace)
        }),
    }
}

/// The outer zone: `TZ`, else the name that `/etc/localtime` points to, else UTC.
fn timezone(host: &Host) -> OsString {
    if let Some(zone) = host.timezone.clone().filter(|zone| !zone.is_empty()) {
        return zone;
    }
    Path::new("/etc/localtime")
        .canonicalize()
        .ok()
        .and_then(|file| Some(file.strip_prefix(ZONES).ok()?.as_os_str().to_owned()))
        .unwrap_or_else(|| "UTC".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scratch(dir: &tempfile::TempDir) -> Layout<'_> {
        Layout(dir.path())
    }

    fn get<'a>(environment: &'a Environment, name: &str) -> Option<&'a str> {
        let found = environment
            .variables
            .iter()
            .find(|(known, _)| known == name);
        found.and_then(|(_, value)| value.to_str())
    }

    #[test]
    fn the_path_inside_is_the_readable_part_of_the_one_outside() {
        let dir = tempfile::tempdir().unwrap();
        let (tools, own) = (dir.path().join("tools"), dir.path().join("own"));
        let workspace = dir.path().join("project");
        for path in [&tools, &own, &workspace.join("bin")] {
            std::fs::create_dir_all(path).unwrap();
        }
        let host = Host {
            path: Some(
                format!(
                    "{}:{}:.:relative:/usr/bin:{}:/usr/bin:/nowhere",
                    tools.display(),
                    own.display(),
                    workspace.join("bin").display()
                )
                .into(),
            ),
            ..Host::default()
        };
        let readable = ReadableRoots {
            read: vec!["/usr".into(), tools.clone()],
            ..ReadableRoots::default()
        };
        let workspace = workspace.canonicalize().unwrap();
        let visible = Visible::Roots {
            readable: &readable,
            workspace: &workspace,
        };
        let built = build(&host, scratch(&dir), &visible, &[]);
        let bin = dir.path().join("project/bin");
        let expected = format!("{}:/usr/bin:{}", tools.display(), bin.display());
        assert_eq!(get(&built, "PATH"), Some(expected.as_str()));
        assert_eq!(built.left_out.len(), 1, "{:?}", built.left_out);
        assert!(built.left_out[0].contains(own.to_str().unwrap()));
    }

    #[test]
    fn without_anything_outside_there_are_still_defaults() {
        let dir = tempfile::tempdir().unwrap();
        let built = build(&Host::default(), scratch(&dir), &Visible::Everything, &[]);
        assert_eq!(get(&built, "PATH"), Some(DEFAULT_PATH));
        assert_eq!(get(&built, "LANG"), Some("C.UTF-8"));
        assert_eq!(get(&built, "GIT_TERMINAL_PROMPT"), Some("0"));
        assert_eq!(get(&built, "RUSTUP_HOME"), None);
        assert_eq!(get(&built, "PYENV_ROOT"), None);
        assert_eq!(get(&built, "JAVA_HOME"), None);
        assert_eq!(get(&built, "GOROOT"), None);
        assert!(get(&built, "TZ").is_some_and(|zone| !zone.is_empty()));
    }

    #[test]
    fn passed_variables_win_and_nothing_is_there_twice() {
        let dir = tempfile::tempdir().unwrap();
        let passed = [
            ("LANG".into(), "de_DE".into()),
            ("TOKEN".into(), "x".into()),
        ];
        let built = build(
            &Host::default(),
            scratch(&dir),
            &Visible::Everything,
            &passed,
        );
        assert_eq!(get(&built, "LANG"), Some("de_DE"));
        assert_eq!(get(&built, "TOKEN"), Some("x"));
        let mut names: Vec<_> = built.variables.iter().map(|(name, _)| name).collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), built.variables.len());
    }

    #[test]
    fn only_what_a_shell_can_set_is_a_variable() {
        for name in ["A", "_a", "a1_B"] {
            assert!(is_variable(name), "{name}");
        }
        for name in ["", "1a", "a.b", "a=b", "a\nb", "é", "+a"] {
            assert!(!is_variable(name), "{name:?}");
        }
    }
}
