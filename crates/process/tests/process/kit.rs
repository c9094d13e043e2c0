//! The testkit binary, run as different users, and places for it to work in.

#![expect(
    clippy::disallowed_types,
    reason = "the tests start the program under test as a user would"
)]

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;

use tempfile::TempDir;

pub(crate) const TESTKIT: &str = env!("CARGO_BIN_EXE_outfitter-supervisor-testkit");
const NOBODY: u32 = 65_534;

/// Who runs the program under test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Identity {
    /// Whoever runs the tests: root, in a container or on a build machine.
    Ourselves,
    /// User 65534, from a copy of the binary that it can execute and not read.
    Nobody,
}

/// The system directories every program needs.
const SYSTEM: [&str; 6] = [
    "/usr",
    "/bin",
    "/lib",
    "/lib64",
    "/etc/ld.so.cache",
    "/etc/passwd",
];

/// A place for one test: a workspace, and a folder outside that belongs to the same user, so that
/// nothing but the sandbox protects it.
pub(crate) struct Place {
    pub(crate) identity: Identity,
    pub(crate) workspace: PathBuf,
    pub(crate) outside: PathBuf,
    _dirs: [TempDir; 2],
}

impl Place {
    /// `None`, after saying why, if this identity cannot be had.
    pub(crate) fn new(identity: Identity) -> Option<Self> {
        program_of(identity)?;
        // One below a covered directory, the other where things stay visible.
        let dirs = [
            tempfile::Builder::new().tempdir_in("/tmp").unwrap(),
            tempfile::Builder::new().tempdir_in("/var/tmp").unwrap(),
        ];
        for dir in &dirs {
            hand_over(dir.path(), identity);
            fs::set_permissions(dir.path(), Permissions::from_mode(0o755)).unwrap();
        }
        let workspace = dirs[0].path().canonicalize().unwrap();
        let outside = dirs[1].path().canonicalize().unwrap();
        let place = Self {
            identity,
            workspace,
            outside,
            _dirs: dirs,
        };
        place.file(&place.outside.join("victim"), "precious\n");
        Some(place)
    }

    /// A file that belongs to the identity.
    pub(crate) fn file(&self, path: &Path, content: &str) {
        fs::write(path, content).unwrap();
        fs::set_permissions(path, Permissions::from_mode(0o644)).unwrap();
        hand_over(path, self.identity);
    }

    pub(crate) fn directory(&self, path: &Path) {
        fs::create_dir_all(path).unwrap();
        hand_over(path, self.identity);
    }

    /// The testkit's `run`, confined to the workspace at this level, up to the `--`.
    pub(crate) fn confined(&self, level: &str) -> Command {
        let mut command = self.kit();
        command.args(["run", "--level", level, "--env", "PATH=/usr/bin:/bin"]);
        command.arg("--write").arg(&self.workspace);
        command.arg("--cwd").arg(&self.workspace);
        for root in SYSTEM {
            command.args(["--read", root]);
        }
        command
            .arg("--read")
            .arg(program_of(self.identity).unwrap());
        command
    }

    /// The same program without confinement.
    pub(crate) fn unconfined(&self) -> Command {
        let mut command = self.kit();
        command.args([
            "run",
            "--level",
            "unconfined",
            "--env",
            "PATH=/usr/bin:/bin",
        ]);
        command.arg("--cwd").arg(&self.workspace);
        command
    }

    /// The path of the testkit for commands that run it themselves.
    pub(crate) fn attacker(&self) -> String {
        let path = program_of(self.identity).unwrap();
        path.to_str().unwrap().to_owned()
    }

    fn kit(&self) -> Command {
        let program = program_of(self.identity).unwrap();
        match self.identity {
            Identity::Ourselves => Command::new(program),
            Identity::Nobody => {
                let mut command = Command::new("setpriv");
                command.args([
                    "--reuid",
                    "65534",
                    "--regid",
                    "65534",
                    "--clear-groups",
                    "--",
                ]);
                command.arg(program);
                command
            }
        }
    }
}

/// The same command with another copy of the program.
pub(crate) fn at(copy: &Path, command: &Command) -> Command {
    let mut other = Command::new(copy);
    other.args(command.get_args());
    other
}

/// The same command, started by a program that is given it.
pub(crate) fn behind(starter: &[&str], command: &Command) -> Command {
    let mut other = Command::new(starter[0]);
    other.args(&starter[1..]);
    other.arg(command.get_program()).args(command.get_args());
    other
}

/// Runs to the end and gives all it said.
/// A command that nothing of ours starts.
pub(crate) fn plain(argv: &[&str]) -> Command {
    let mut command = Command::new(argv[0]);
    command.args(&argv[1..]);
    command
}

/// The same command from a program that has left a file and a pipe open for whatever it starts.
pub(crate) fn with_files_left_open(command: &Command) -> Command {
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", "exec 7< /etc/hostname 9>&1; exec \"$@\"", "sh"]);
    shell.arg(command.get_program()).args(command.get_args());
    shell
}

pub(crate) fn finish(command: &mut Command) -> Finished {
    let Output {
        stdout,
        stderr,
        status,
    } = command.stdin(Stdio::null()).output().unwrap();
    let stderr = String::from_utf8_lossy(&stderr).into_owned();
    Finished {
        stdout: String::from_utf8_lossy(&stdout).into_owned(),
        last: stderr.lines().last().unwrap_or_default().to_owned(),
        stderr,
        success: status.success(),
    }
}

/// Runs on beside the test; killed with the guard.
pub(crate) fn start(command: &mut Command) -> Running {
    let child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    Running(child)
}

/// A program that is not left behind by a failing test.
pub(crate) struct Running(pub(crate) Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// The last line of standard error: how the command ended.
    pub(crate) last: String,
    pub(crate) success: bool,
}

impl Finished {
    /// Whether the command itself ran and ended with 0.
    pub(crate) fn command_succeeded(&self) -> bool {
        self.last.starts_with("code=0 ")
    }
}

pub(crate) fn hand_over(path: &Path, identity: Identity) {
    if identity == Identity::Nobody {
        chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
    }
}

pub(crate) fn we_are_root() -> bool {
    rustix::process::geteuid().is_root()
}

fn program_of(identity: Identity) -> Option<&'static Path> {
    static COPY: OnceLock<Option<(TempDir, PathBuf)>> = OnceLock::new();
    match identity {
        Identity::Ourselves => Some(Path::new(TESTKIT)),
        Identity::Nobody => COPY
            .get_or_init(copy_for_nobody)
            .as_ref()
            .map(|(_, path)| path.as_path()),
    }
}

/// The binary where nobody can execute it and cannot read it, in a directory it cannot list. The
/// directory lives as long as the test process, and the system cleans up after it.
fn copy_for_nobody() -> Option<(TempDir, PathBuf)> {
    if !we_are_root() {
        say("SKIPPED(not-root): only root can become nobody");
        return None;
    }
    if !Path::new("/usr/bin/setpriv").exists() {
        say("SKIPPED(setpriv): there is no setpriv here");
        return None;
    }
    let dir = tempfile::Builder::new()
        .prefix("outfitter-testkit-")
        .tempdir_in("/tmp")
        .unwrap();
    let path = dir.path().join("kit");
    fs::copy(TESTKIT, &path).unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o711)).unwrap();
    fs::set_permissions(dir.path(), Permissions::from_mode(0o711)).unwrap();
    Some((dir, path))
}

#[expect(clippy::print_stderr, reason = "a test that cannot run says why")]
pub(crate) fn say(text: &str) {
    eprintln!("{text}");
}

/// Process ids whose command line contains this text.
pub(crate) fn alive(marker: &str) -> Vec<u32> {
    fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
        .filter(|pid| {
            fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| {
                String::from_utf8_lossy(&line)
                    .replace('\0', " ")
                    .contains(marker)
            })
        })
        .collect()
}

/// Waits, within reason, until no process has this text in its command line.
pub(crate) fn gone(marker: &str) -> bool {
    for _ in 0..3000 {
        if alive(marker).is_empty() {
            return true;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    false
}
