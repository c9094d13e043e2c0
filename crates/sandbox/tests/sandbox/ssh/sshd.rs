//! An `sshd` on loopback with keys, configuration and port of its own, for every package whose tests
//! need one.

#![expect(clippy::panic, reason = "helpers of tests may fail the test")]
#![expect(
    clippy::disallowed_types,
    reason = "the tests start programs as a user would"
)]

use std::fs;
use std::io::Write as _;
use std::net::TcpStream;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

use tempfile::TempDir;
use tokio::net::TcpSocket;

const SSHD: &str = "/usr/sbin/sshd";

/// The line of the configuration that gives it a server of files.
pub(crate) const FILES: &str = "Subsystem sftp internal-sftp\n";

/// The server, and what a client needs.
pub(crate) struct Server {
    dir: TempDir,
    pub(crate) port: u16,
    pub(crate) user: String,
    pub(crate) process: Child,
    /// Holds the port, so that nobody is given it but who asks for it.
    _held: TcpSocket,
}

impl Server {
    /// One that is told this, too; `None`, after saying why, where there is no `sshd`.
    pub(crate) fn start_with(more: &str) -> Option<Self> {
        if !Path::new(SSHD).exists() {
            skipped();
            return None;
        }
        if rustix::process::geteuid().is_root() {
            // Where a service manager would have made it.
            fs::create_dir_all("/run/sshd").unwrap();
        }
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        for (name, content) in keys() {
            let mut options = fs::File::options();
            let mut file = options
                .write(true)
                .create_new(true)
                .mode(0o600)
                .open(at(name))
                .unwrap();
            file.write_all(content).unwrap();
        }
        fs::copy(at("client.pub"), at("authorized")).unwrap();
        fs::create_dir(at("workspace")).unwrap();
        let held = TcpSocket::new_v4().unwrap();
        held.set_reuseaddr(true).unwrap();
        held.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let port = held.local_addr().unwrap().port();
        let host = fs::read_to_string(at("host.pub")).unwrap();
        fs::write(at("known"), format!("[127.0.0.1]:{port} {host}")).unwrap();
        fs::write(at("none"), "").unwrap();
        let other = fs::read_to_string(at("other.pub")).unwrap();
        fs::write(at("changed"), format!("[127.0.0.1]:{port} {other}")).unwrap();
        fs::write(
            at("revoked"),
            format!("[127.0.0.1]:{port} {host}@revoked * {host}"),
        )
        .unwrap();
        let base = dir.path().display();
        let config = format!(
            "ListenAddress 127.0.0.1\nPort {port}\nHostKey {base}/host\nPidFile none\n\
             AuthorizedKeysFile {base}/authorized\nStrictModes no\nUsePAM no\n\
             PasswordAuthentication no\nKbdInteractiveAuthentication no\n\
             PermitRootLogin prohibit-password\nMaxStartups 100\n{more}"
        );
        fs::write(at("config"), config).unwrap();
        let process = Self::serve(dir.path(), port);
        let user = Command::new("id").arg("-un").output().unwrap().stdout;
        Some(Self {
            port,
            user: String::from_utf8(user).unwrap().trim().to_owned(),
            process,
            _held: held,
            dir,
        })
    }

    fn serve(dir: &Path, port: u16) -> Child {
        let mut process = Command::new(SSHD)
            .args(["-D", "-e", "-f"])
            .arg(dir.join("config"))
            .env("OUTFITTER_TEST_SENTINEL", "of-the-server")
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        for _ in 0..600 {
            if TcpStream::connect(("127.0.0.1", port)).is_ok() {
                return process;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        let _ = process.kill();
        let _ = process.wait();
        panic!("the server does not listen");
    }

    /// Ends the processes that serve connections, and leaves the one that listens.
    pub(crate) fn drop_connections(&self) {
        let listener = self.process.id();
        for pid in children(listener) {
            run(Command::new("kill").args(["-KILL", &pid.to_string()]));
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Three pairs of keys, made once: they take longer than a server.
fn keys() -> &'static [(&'static str, Vec<u8>)] {
    static KEYS: OnceLock<Vec<(&str, Vec<u8>)>> = OnceLock::new();
    KEYS.get_or_init(|| {
        let dir = tempfile::tempdir().unwrap();
        let mut keys = Vec::new();
        for (key, public) in [
            ("host", "host.pub"),
            ("client", "client.pub"),
            ("other", "other.pub"),
        ] {
            run(Command::new("ssh-keygen")
                .args(["-q", "-t", "ed25519", "-N", "", "-f"])
                .arg(dir.path().join(key)));
            keys.extend([key, public].map(|name| (name, fs::read(dir.path().join(name)).unwrap())));
        }
        keys
    })
}

#[expect(clippy::print_stderr, reason = "a test that cannot run says why")]
fn skipped() {
    eprintln!("SKIPPED(sshd): there is no OpenSSH server here");
}

fn children(parent: u32) -> Vec<u32> {
    let found = Command::new("ps")
        .args(["-o", "pid=", "--ppid", &parent.to_string()])
        .output()
        .unwrap();
    let text = String::from_utf8(found.stdout).unwrap();
    text.split_ascii_whitespace()
        .map(|pid| pid.parse().unwrap())
        .collect()
}

fn run(command: &mut Command) {
    assert!(command.status().unwrap().success(), "{command:?}");
}
