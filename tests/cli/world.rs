//! A home and a current directory for one test, and the program run in them.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use tempfile::TempDir;

/// A machine with nothing on it.
pub(crate) struct World {
    root: TempDir,
}

/// What the program did.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl World {
    pub(crate) fn new() -> Self {
        let root = TempDir::new().unwrap();
        std::fs::create_dir(root.path().join("home")).unwrap();
        std::fs::create_dir(root.path().join("here")).unwrap();
        Self { root }
    }

    /// A machine with this `outfitter.toml` in the current directory.
    pub(crate) fn with(toml: &str) -> Self {
        let world = Self::new();
        world.write("here/outfitter.toml", toml);
        world
    }

    pub(crate) fn path(&self, inside: &str) -> PathBuf {
        self.root.path().join(inside)
    }

    pub(crate) fn write(&self, inside: &str, text: &str) {
        let path = self.path(inside);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::File::create(path)
            .unwrap()
            .write_all(text.as_bytes())
            .unwrap();
    }

    /// A program that can be run.
    pub(crate) fn program(&self, inside: &str, text: &str) {
        use std::os::unix::fs::PermissionsExt as _;
        self.write(inside, text);
        let runs = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(self.path(inside), runs).unwrap();
    }

    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        self.run_with(args, &[])
    }

    pub(crate) fn run_with(&self, args: &[&str], variables: &[(&str, &str)]) -> Ran {
        self.ran(self.command(args, variables, Stdio::piped()))
    }

    /// Runs it with a stdout that nobody reads.
    pub(crate) fn run_unread(&self, args: &[&str]) -> Ran {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        self.ran(self.command(args, &[], writer.into()))
    }

    #[expect(
        clippy::disallowed_types,
        reason = "a test runs the program as a person does"
    )]
    fn command(&self, args: &[&str], variables: &[(&str, &str)], stdout: Stdio) -> Output {
        std::process::Command::new(env!("CARGO_BIN_EXE_outfitter"))
            .args(args)
            .env_clear()
            .env("HOME", self.path("home"))
            .envs(variables.iter().copied())
            .current_dir(self.path("here"))
            .stdin(Stdio::null())
            .stdout(stdout)
            .stderr(Stdio::piped())
            .output()
            .unwrap()
    }

    fn ran(&self, output: Output) -> Ran {
        let text = |bytes: Vec<u8>| self.without_root(&String::from_utf8(bytes).unwrap());
        Ran {
            code: output.status.code().unwrap(),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }

    /// The text with the name of the temporary directory taken out, so that it can be compared.
    fn without_root(&self, text: &str) -> String {
        let root = self.root.path();
        let real: &Path = &root.canonicalize().unwrap();
        text.replace(&*real.to_string_lossy(), "ROOT")
            .replace(&*root.to_string_lossy(), "ROOT")
    }
}

impl Ran {
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("{error} in {:?}", self.stdout))
    }

    /// All of it, for a snapshot.
    pub(crate) fn shown(&self) -> String {
        let Self {
            code,
            stdout,
            stderr,
        } = self;
        format!("exit {code}\n--- stdout\n{stdout}--- stderr\n{stderr}")
    }
}
