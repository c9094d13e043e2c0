//! A home without keys, a workspace, and a shell that finds the program.

use std::cell::RefCell;
use std::io::Read as _;
use std::net::{Ipv4Addr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use tokio::net::TcpSocket;

/// How many seconds a command of a page may take before it counts as hanging.
const PATIENCE: &str = "120";

/// The same for a server to listen.
const STARTS: Duration = Duration::from_secs(60);

/// The port that the pages speak of. Each page is served on another one.
const PORT: &str = ":8470";

/// What the commands of one page share.
pub(crate) struct World {
    root: TempDir,
    /// The port of the page's server, with its colon.
    port: String,
    /// Holds the port, so that nobody is given it but who asks for it.
    _held: TcpSocket,
    /// What runs until the page is over.
    servers: RefCell<Vec<Child>>,
}

impl Drop for World {
    fn drop(&mut self) {
        for server in self.servers.get_mut() {
            let _ = server.kill();
            let _ = server.wait();
        }
    }
}

impl World {
    pub(crate) fn new() -> Self {
        let root = TempDir::new().unwrap();
        for dir in ["home", "work", "bin"] {
            std::fs::create_dir(root.path().join(dir)).unwrap();
        }
        let program = env!("CARGO_BIN_EXE_outfitter");
        std::os::unix::fs::symlink(program, root.path().join("bin/outfitter")).unwrap();
        let held = TcpSocket::new_v4().unwrap();
        held.set_reuseaddr(true).unwrap();
        held.bind((Ipv4Addr::LOCALHOST, 0).into()).unwrap();
        Self {
            root,
            port: format!(":{}", held.local_addr().unwrap().port()),
            _held: held,
            servers: RefCell::default(),
        }
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

    /// The text with the port of the page's server instead of the one that pages speak of.
    pub(crate) fn on_its_port(&self, text: &str) -> String {
        text.replace(PORT, &self.port)
    }

    /// Makes a link in the workspace, unless it is there.
    pub(crate) fn link(&self, name: &str, to: &Path) {
        let link = self.workspace().join(name);
        if !link.exists() {
            std::os::unix::fs::symlink(to, link).unwrap();
        }
    }

    /// A shell that runs this in the page's world.
    #[expect(
        clippy::disallowed_types,
        reason = "a test runs the program as a person does"
    )]
    fn shell(&self, program: &str, before: &[&str], command: &str) -> std::process::Command {
        let path = self.root.path().join("bin").display().to_string();
        let mut shell = std::process::Command::new(program);
        shell
            .args(before)
            .arg(self.on_its_port(command))
            .env_clear()
            .env("HOME", self.root.path().join("home"))
            .env("PATH", format!("{path}:/usr/local/bin:/usr/bin:/bin"))
            .env("OUTFITTER_SERVER__BIND", format!("127.0.0.1{}", self.port))
            .current_dir(self.workspace())
            .stdin(Stdio::null());
        shell
    }

    /// What a shell prints that runs this, in the order it came, and `[exit N]` where it fails. A
    /// command that ends with `&` is a server: it runs until the page is over, and what it prints
    /// is not looked at.
    pub(crate) fn run(&self, command: &str) -> String {
        if let Some(server) = command.strip_suffix(" &") {
            return self.serve(server);
        }
        let (mut reader, writer) = std::io::pipe().unwrap();
        let mut shell = self
            .shell("timeout", &[PATIENCE, "/bin/sh", "-c"], command)
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
        printed.replace(&self.port, PORT)
    }

    /// Starts a server and waits until it listens.
    fn serve(&self, command: &str) -> String {
        let server = self
            .shell("/bin/sh", &["-c"], &format!("exec {command}"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        self.servers.borrow_mut().push(server);
        let port = self.port[1..].parse::<u16>().unwrap();
        let limit = Instant::now() + STARTS;
        while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
            if Instant::now() > limit {
                return format!("{command} does not listen\n");
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        String::new()
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
