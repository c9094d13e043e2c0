//! A home and a workspace for one test, and the program run in them as a person or a program does.

use std::io::{Read, Write as _};
use std::marker::PhantomData;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};
use serde_json::Value;
use tempfile::TempDir;

use crate::lines::Lines;

/// Far longer than anything takes: what is not over by then hangs.
pub(crate) const HANGS: Duration = Duration::from_secs(60);

/// The key of the provider, which nobody must ever see.
pub(crate) const KEY: &str = "sk-sentinel-0123456789abcdef";

/// A machine with nothing on it but a home and a workspace.
pub(crate) struct World {
    root: TempDir,
    variables: Vec<(String, String)>,
}

impl World {
    pub(crate) fn new() -> Self {
        let root = TempDir::new().unwrap();
        std::fs::create_dir(root.path().join("home")).unwrap();
        std::fs::create_dir(root.path().join("work")).unwrap();
        Self {
            root,
            variables: Vec::new(),
        }
    }

    /// Sets a variable for every command.
    pub(crate) fn set(&mut self, name: &str, value: &str) {
        self.variables.push((name.to_owned(), value.to_owned()));
    }

    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.set(name, value);
        self
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.root.path().canonicalize().unwrap()
    }

    /// A path in the workspace.
    pub(crate) fn work(&self, inside: &str) -> PathBuf {
        self.root().join("work").join(inside)
    }

    /// Where the program keeps its data.
    pub(crate) fn data(&self, inside: &str) -> PathBuf {
        self.root().join("home/.local/share/outfitter").join(inside)
    }

    /// Writes a file of the workspace.
    pub(crate) fn write(&self, inside: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.work(inside);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, bytes).unwrap();
        path
    }

    /// A configuration in the current directory.
    pub(crate) fn config(&self, toml: &str) {
        self.write("outfitter.toml", toml);
    }

    /// Runs the program to its end.
    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        self.start(args).wait()
    }

    /// Runs the program with this on its stdin.
    pub(crate) fn run_with_stdin(&self, args: &[&str], stdin: &[u8]) -> Ran {
        let mut running = self.start_as(
            args,
            Start {
                stdin: true,
                ..READ
            },
        );
        running.write_stdin(stdin);
        running.close_stdin();
        running.wait()
    }

    /// Starts the program; its stdin is empty, and what it writes is read.
    pub(crate) fn start(&self, args: &[&str]) -> Running<'_> {
        self.start_as(args, READ)
    }

    /// Starts the program with this stdout.
    pub(crate) fn start_to(&self, args: &[&str], stdout: std::fs::File) -> Running<'_> {
        self.spawn(args, READ, stdout.into())
    }

    pub(crate) fn start_as(&self, args: &[&str], start: Start) -> Running<'_> {
        self.spawn(args, start, Stdio::piped())
    }

    #[expect(
        clippy::disallowed_types,
        reason = "a test runs the program as a person does"
    )]
    fn spawn(&self, args: &[&str], start: Start, stdout: Stdio) -> Running<'_> {
        let stdin = if start.stdin {
            Stdio::piped()
        } else {
            Stdio::null()
        };
        let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_outfitter"))
            .args(args)
            .env_clear()
            .env("HOME", self.root().join("home"))
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .current_dir(self.work(""))
            .stdin(stdin)
            .stdout(stdout)
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .unwrap();
        let stderr = Captured::read(child.stderr.take().unwrap());
        let (stdout, unread) = match child.stdout.take() {
            Some(stdout) if start.read => (Captured::read(stdout), None),
            unread => (Captured::nothing(), unread),
        };
        Running {
            child,
            world: PhantomData,
            stdout,
            stderr,
            unread,
        }
    }

    /// Every byte that is kept in files, but for what the workspace had.
    pub(crate) fn kept(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut all = Vec::new();
        files(&self.root().join("home"), &mut all);
        all
    }
}

fn files(at: &Path, all: &mut Vec<(PathBuf, Vec<u8>)>) {
    for entry in std::fs::read_dir(at).into_iter().flatten().flatten() {
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => files(&path, all),
            // Where the program is at work a file may be gone by now.
            Ok(kind) if kind.is_file() => match std::fs::read(&path) {
                Ok(bytes) => all.push((path, bytes)),
                Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::NotFound, "{error}"),
            },
            _ => {}
        }
    }
}

/// How the program is started.
#[derive(Clone, Copy)]
pub(crate) struct Start {
    /// Whether stdin is a pipe of ours.
    pub(crate) stdin: bool,
    /// Whether stdout is read.
    pub(crate) read: bool,
}

/// An empty stdin and a read stdout.
pub(crate) const READ: Start = Start {
    stdin: false,
    read: true,
};

/// What a stream gave until now, and whether it is over.
type Given = (Vec<u8>, bool);

/// A stream that is read while the program runs.
#[derive(Clone)]
struct Captured(Arc<(Mutex<Given>, Condvar)>);

impl Captured {
    fn nothing() -> Self {
        Self(Arc::new((Mutex::new((Vec::new(), true)), Condvar::new())))
    }

    fn read(mut stream: impl Read + Send + 'static) -> Self {
        let captured = Self(Arc::new((Mutex::new((Vec::new(), false)), Condvar::new())));
        let shared = captured.clone();
        std::thread::spawn(move || {
            let mut piece = [0; 16 * 1024];
            loop {
                let read = stream.read(&mut piece).unwrap_or(0);
                let mut state = shared.0.0.lock().unwrap();
                state.0.extend_from_slice(&piece[..read]);
                state.1 = read == 0;
                shared.0.1.notify_all();
                if read == 0 {
                    return;
                }
            }
        });
        captured
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.0.lock().unwrap().0).into_owned()
    }

    /// Waits until the text is as it shall be, or the stream is over.
    fn wait_for(&self, until: impl Fn(&str) -> bool) -> Option<String> {
        let limit = Instant::now() + HANGS;
        let mut state = self.0.0.lock().unwrap();
        loop {
            let text = String::from_utf8_lossy(&state.0).into_owned();
            if until(&text) {
                return Some(text);
            }
            let left = limit.saturating_duration_since(Instant::now());
            if state.1 || left.is_zero() {
                return None;
            }
            state = self.0.1.wait_timeout(state, left).unwrap().0;
        }
    }

    fn end(&self) -> Vec<u8> {
        let limit = Instant::now() + HANGS;
        let mut state = self.0.0.lock().unwrap();
        while !state.1 && Instant::now() < limit {
            state = self
                .0
                .1
                .wait_timeout(state, Duration::from_millis(100))
                .unwrap()
                .0;
        }
        assert!(state.1, "a stream of the program stays open after its end");
        state.0.clone()
    }
}

/// The program at work. It is killed if the test ends before it.
pub(crate) struct Running<'w> {
    child: Child,
    /// The world it works in stays as long as it does.
    world: PhantomData<&'w World>,
    stdout: Captured,
    stderr: Captured,
    unread: Option<std::process::ChildStdout>,
}

impl Running<'_> {
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        rustix::process::kill_process(self.process(), signal).unwrap();
    }

    /// Sends a signal to it and to what it started and did not part from, as a terminal does.
    pub(crate) fn signal_group(&self, signal: Signal) {
        rustix::process::kill_process_group(self.process(), signal).unwrap();
    }

    fn process(&self) -> Pid {
        Pid::from_raw(i32::try_from(self.child.id()).unwrap()).unwrap()
    }

    pub(crate) fn write_stdin(&mut self, bytes: &[u8]) {
        let stdin = self.child.stdin.as_mut().unwrap();
        stdin.write_all(bytes).unwrap();
        stdin.flush().unwrap();
    }

    pub(crate) fn close_stdin(&mut self) {
        drop(self.child.stdin.take());
    }

    /// The stdout that nobody reads.
    pub(crate) fn unread(&mut self) -> Option<std::process::ChildStdout> {
        self.unread.take()
    }

    /// Waits until stdout has this.
    pub(crate) fn until_stdout(&self, has: &str) {
        if self.stdout.wait_for(|text| text.contains(has)).is_none() {
            panic!(
                "stdout never had {has:?}: {}\n{}",
                self.stdout.text(),
                self.stderr.text()
            );
        }
    }

    /// Whether it is over.
    pub(crate) fn is_over(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// What it has written until now, on stdout and on stderr.
    pub(crate) fn taken(&self) -> (String, String) {
        (self.stdout.text(), self.stderr.text())
    }

    /// Waits for its end, and fails the test when there is none.
    pub(crate) fn wait(mut self) -> Ran {
        let limit = Instant::now() + HANGS;
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(
                Instant::now() < limit,
                "it hangs: {}\n{}",
                self.stdout.text(),
                self.stderr.text()
            );
            std::thread::sleep(Duration::from_millis(3));
        };
        Ran::new(status, self.stdout.end(), self.stderr.end())
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What the program did.
#[derive(Debug)]
pub(crate) struct Ran {
    /// Its exit status; none when a signal ended it.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    fn new(status: ExitStatus, stdout: Vec<u8>, stderr: Vec<u8>) -> Self {
        let ran = Self {
            code: status.code(),
            stdout: String::from_utf8(stdout).expect("stdout is UTF-8"),
            stderr: String::from_utf8(stderr).expect("stderr is UTF-8"),
        };
        for text in [&ran.stdout, &ran.stderr] {
            assert!(!text.contains("panicked at"), "{}", ran.shown());
            assert!(!text.contains(KEY), "the key is shown: {}", ran.shown());
        }
        ran
    }

    /// Fails the test unless this is its exit status.
    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{}", self.shown());
        self
    }

    /// The one JSON document of stdout.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}", self.shown()))
    }

    /// The event lines of stdout, which are valid and nothing else.
    #[track_caller]
    pub(crate) fn lines(&self) -> Lines {
        Lines::live(&self.stdout)
    }

    pub(crate) fn shown(&self) -> String {
        let Self {
            code,
            stdout,
            stderr,
        } = self;
        format!("exit {code:?}\n--- stdout\n{stdout}--- stderr\n{stderr}")
    }
}
