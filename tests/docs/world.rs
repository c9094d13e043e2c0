//! A home without keys, a workspace, and a shell that finds the program.

use std::io::Read as _;
use std::path::PathBuf;
use std::process::Stdio;

use tempfile::TempDir;

/// How many seconds a command of a page may take before it counts as hanging.
const PATIENCE: &str = "120";

/// What the commands of one page share.
pub(crate) struct World {
    root: TempDir,
}

impl World {
    pub(crate) fn new() -> Self {
        let root = TempDir::new().unwrap();
        for dir in ["home", "work", "bin"] {
            std::fs::create_dir(root.path().join(dir)).unwrap();
        }
        let program = env!("CARGO_BIN_EXE_outfitter");
        std::os::unix::fs::symlink(program, root.path().join("bin/outfitter")).unwrap();
        Self { root }
    }

    fn workspace(&self) -> PathBuf {
        self.root.path().join("work")
    }

    /// Writes a file of the page.
    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.workspace().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// What a shell prints that runs this, in the order it came, and `[exit N]` where it fails.
    #[expect(
        clippy::disallowed_types,
        reason = "a test runs the program as a person does"
    )]
    pub(crate) fn run(&self, command: &str) -> String {
        let (mut reader, writer) = std::io::pipe().unwrap();
        let path = self.root.path().join("bin").display().to_string();
        let mut shell = std::process::Command::new("timeout")
            .args([PATIENCE, "/bin/sh", "-c", command])
            .env_clear()
            .env("HOME", self.root.path().join("home"))
            .env("PATH", format!("{path}:/usr/local/bin:/usr/bin:/bin"))
            .current_dir(self.workspace())
            .stdin(Stdio::null())
            .stdout(writer.try_clone().unwrap())
            .stderr(writer)
            .spawn()
            .unwrap();
        let mut printed = Vec::new();
        reader.read_to_end(&mut printed).unwrap();
        let status = shell.wait().unwrap();
        let mut printed = String::from_utf8(printed).unwrap();
        if !status.success() {
            if !printed.is_empty() && !printed.ends_with('\n') {
                printed.push('\n');
            }
            printed.push_str(&match status.code() {
                Some(code) => format!("[exit {code}]\n"),
                None => format!("[{status}]\n"),
            });
        }
        printed
    }

    pub(crate) fn json(&self, command: &str) -> serde_json::Value {
        let printed = self.run(command);
        serde_json::from_str(&printed).unwrap_or_else(|error| panic!("{error} in {printed}"))
    }

    /// Why commands are not fully confined on this machine, where they are not.
    pub(crate) fn less_than_full(&self) -> Option<String> {
        let report = self.run("outfitter doctor --json");
        let full = "local, level full";
        (!report.contains(full)).then(|| format!("doctor does not say {full:?}: {report}"))
    }
}
