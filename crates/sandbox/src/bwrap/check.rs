//! A look at what bubblewrap has mounted, from inside, before the command runs.
//!
//! Bubblewrap of today's distributions takes names (one that takes descriptors is newer than they
//! are). Between our look at a name and its mount, a command that runs beside could put something
//! else there, where a writable tree has it. A mount stays what it is, though: so it is enough to
//! compare afterwards, and to run nothing where it is not what was meant.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::ready::SAY_READY;
use crate::mount_plan::{Mount, MountPlan};

/// What tells the identity of a file; from coreutils, which are everywhere bubblewrap is.
const STAT: [&str; 2] = ["/usr/bin/stat", "/bin/stat"];

/// The exit code of a look that saw something else; nobody sees it but us.
const NOT_AS_MEANT: i32 = 125;

const WORDS: &str = "a protected path was exchanged while the command was being started";

/// What the name of a variable begins with until the look is over: what a variable does to the
/// shell that looks, or to `stat`, it shall not do. A preloaded library could see anything.
pub(crate) const NOT_YET: &str = "_outfitter_";

/// The mode of what stands for a hidden directory, as `stat` prints it: a directory that can only be
/// passed through.
const HIDDEN_DIRECTORY: &str = "4049";

/// The command behind the look, where there is something to look at, and behind word that it is
/// next. These variables have their names only then.
pub(crate) fn checked<'a>(
    command: Vec<OsString>,
    plan: &MountPlan,
    variables: impl Iterator<Item = &'a str>,
) -> Vec<OsString> {
    let stat = STAT.iter().find(|stat| plan.shows_file(Path::new(stat)));
    let (mut script, stat, expected) = match stat.zip(Look::at(plan)) {
        Some((stat, look)) => (look.script(), *stat, look.expected.join("\n")),
        None => (Vec::new(), "", String::new()),
    };
    script.extend_from_slice(b"shift\n");
    for name in variables {
        let line = format!("export {name}=\"${NOT_YET}{name}\"; unset {NOT_YET}{name}\n");
        script.extend_from_slice(line.as_bytes());
    }
    script.extend_from_slice(format!("{SAY_READY}\nexec \"$@\"\n").as_bytes());
    let mut argv: Vec<OsString> = vec!["/bin/sh".into(), "-c".into()];
    argv.push(OsString::from_vec(script));
    argv.extend([OsString::from(stat), expected.into()]);
    argv.extend(command);
    argv
}

/// What is looked at, and what has to be seen.
#[derive(Debug, Default)]
struct Look {
    /// By their identity.
    shown: Vec<PathBuf>,
    /// By what covers them.
    hidden: Vec<PathBuf>,
    expected: Vec<String>,
}

impl Look {
    /// What lies in a writable tree and is mounted by its own name.
    fn at(plan: &MountPlan) -> Option<Self> {
        let mut look = Self::default();
        let mut kinds = Vec::new();
        for (path, mount) in plan.in_writable() {
            match mount {
                Mount::ReadOnly | Mount::Writable => {
                    // One that is gone by now cannot be mounted either.
                    let identity = path.symlink_metadata().map(|meta| (meta.dev(), meta.ino()));
                    let (dev, ino) = identity.unwrap_or_default();
                    look.expected.push(format!("{dev}:{ino}"));
                    look.shown.push(path.to_owned());
                }
                Mount::HiddenDirectory => {
                    kinds.push(HIDDEN_DIRECTORY.to_owned());
                    look.hidden.push(path.to_owned());
                }
                Mount::HiddenFile => {
                    let null = Path::new("/dev/null").symlink_metadata();
                    kinds.push(format!("{:x}", null.map_or(0, |null| null.mode())));
                    look.hidden.push(path.to_owned());
                }
                Mount::Link(_) | Mount::Blank | Mount::Nothing => {}
            }
        }
        look.expected.extend(kinds);
        (!look.expected.is_empty()).then_some(look)
    }

    /// `$0` is `stat`, `$1` what it has to say, and behind that is the command.
    fn script(&self) -> Vec<u8> {
        let mut script = b"s=$(".to_vec();
        for (format, paths) in [("%d:%i", &self.shown), ("%f", &self.hidden)] {
            if paths.is_empty() {
                continue;
            }
            script.extend_from_slice(format!("\"$0\" -c {format} --").as_bytes());
            for path in paths {
                script.push(b' ');
                script.extend(quoted(path));
            }
            script.extend_from_slice(b" 2>&1; ");
        }
        let end =
            format!(":)\n[ \"$s\" = \"$1\" ] || {{ echo '{WORDS}' >&2; exit {NOT_AS_MEANT}; }}\n");
        script.extend_from_slice(end.as_bytes());
        script
    }
}

/// A path as one word of the shell.
fn quoted(path: &Path) -> Vec<u8> {
    let mut word = vec![b'\''];
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'\'' => word.extend_from_slice(b"'\\''"),
            other => word.push(*other),
        }
    }
    word.push(b'\'');
    word
}

#[cfg(test)]
mod tests {
    use super::*;
    use outfitter_process::{Confined, Level, Network};
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    /// Runs what bubblewrap would run inside, outside: nothing is mounted there, so what is to be
    /// hidden is made to look so.
    #[expect(
        clippy::disallowed_types,
        reason = "the test runs the look as it stands"
    )]
    fn look(argv: &[OsString]) -> (Option<i32>, String) {
        let mut command = std::process::Command::new("/bin/sh");
        // Where word goes that the command is next.
        command.args(["-c", "exec 8>/dev/null && exec \"$@\"", "sh"]);
        let output = command.args(argv).output().unwrap();
        let text = [output.stdout, output.stderr].concat();
        (output.status.code(), String::from_utf8(text).unwrap())
    }

    fn confined(workspace: &Path) -> Confined {
        Confined {
            level: Level::Full,
            network: Network::Off,
            write: vec![workspace.to_owned()],
            read: vec!["/usr".into(), "/bin".into()],
            fixed: vec![workspace.join("a 'b'/kept"), workspace.join("none")],
            hide: vec![workspace.join("hidden")],
            private: Vec::new(),
            blank: Vec::new(),
        }
    }

    #[test]
    fn a_command_runs_only_where_everything_is_what_was_meant() {
        let dir = tempfile::tempdir().unwrap();
        let workspace = dir.path().canonicalize().unwrap();
        fs::create_dir(workspace.join("a 'b'")).unwrap();
        fs::write(workspace.join("a 'b'/kept"), "").unwrap();
        fs::create_dir(workspace.join("hidden")).unwrap();
        let plan = crate::mount_plan::plan(&confined(&workspace));
        let command = ["echo", "ran  it", "$HOME"].map(OsString::from).to_vec();
        let argv = checked(command, &plan, std::iter::empty());

        // What is to be hidden is not.
        let (code, said) = look(&argv);
        assert_eq!(code, Some(NOT_AS_MEANT), "{said}");
        let hidden = workspace.join("hidden");
        fs::set_permissions(&hidden, fs::Permissions::from_mode(0o111)).unwrap();
        assert_eq!(look(&argv), (Some(0), "ran  it $HOME\n".to_owned()));

        // A protected file was exchanged for another, for a link, for nothing.
        let kept = workspace.join("a 'b'/kept");
        fs::rename(&kept, workspace.join("old")).unwrap();
        for exchange in [
            |kept: &Path| fs::write(kept, "").unwrap(),
            |kept: &Path| symlink("../old", kept).unwrap(),
            |_: &Path| {},
        ] {
            exchange(&kept);
            let (code, said) = look(&argv);
            assert_eq!((code, said.trim_end()), (Some(NOT_AS_MEANT), WORDS));
            let _ = fs::remove_file(&kept);
        }
        fs::rename(workspace.join("old"), &kept).unwrap();
        assert_eq!(look(&argv).0, Some(0));
        // The directory above it was moved away, with another in its place.
        fs::rename(workspace.join("a 'b'"), workspace.join("away")).unwrap();
        fs::create_dir(workspace.join("a 'b'")).unwrap();
        fs::hard_link(workspace.join("away/kept"), &kept).unwrap();
        assert_eq!(look(&argv).0, Some(NOT_AS_MEANT));
    }

    #[test]
    fn where_nothing_could_be_exchanged_nothing_is_looked_at() {
        let dir = tempfile::tempdir().unwrap();
        let workspace = dir.path().canonicalize().unwrap();
        let plan = crate::mount_plan::plan(&confined(&workspace));
        let argv = checked(vec!["true".into()], &plan, std::iter::empty());
        assert!(
            argv.iter()
                .all(|word| !word.to_string_lossy().contains("stat")),
            "{argv:?}"
        );
        assert_eq!(argv[3..], ["", "", "true"].map(OsString::from));
        assert_eq!(look(&argv).0, Some(0));
    }
}
