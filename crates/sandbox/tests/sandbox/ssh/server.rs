//! An `sshd` on loopback with keys, configuration and port of its own.

#![expect(clippy::panic, reason = "helpers of tests may fail the test")]
#![expect(
    clippy::disallowed_types,
    reason = "the tests start programs as a user would"
)]

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use outfitter_core::{Level, SystemClock};
use outfitter_sandbox::ssh::{Remote, SshSandbox, SshSession, open};
use tempfile::TempDir;

use crate::commands::kit::say;

const SSHD: &str = "/usr/sbin/sshd";

/// The server, and what a client needs.
pub(crate) struct Server {
    dir: TempDir,
    port: u16,
    user: String,
    process: Child,
}

impl Server {
    /// `None`, after saying why, where there is no `sshd`.
    pub(crate) fn start() -> Option<Self> {
        if !Path::new(SSHD).exists() {
            say("SKIPPED(sshd): there is no OpenSSH server here");
            return None;
        }
        if rustix::process::geteuid().is_root() {
            // Where a service manager would have made it.
            fs::create_dir_all("/run/sshd").unwrap();
        }
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        for key in ["host", "client", "other"] {
            run(Command::new("ssh-keygen")
                .args(["-q", "-t", "ed25519", "-N", "", "-f"])
                .arg(at(key)));
        }
        fs::copy(at("client.pub"), at("authorized")).unwrap();
        fs::create_dir(at("workspace")).unwrap();
        let port = TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap()
            .port();
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
             PermitRootLogin prohibit-password\nMaxStartups 100\n"
        );
        fs::write(at("config"), config).unwrap();
        let process = Self::serve(dir.path(), port);
        let user = Command::new("id").arg("-un").output().unwrap().stdout;
        Some(Self {
            port,
            user: String::from_utf8(user).unwrap().trim().to_owned(),
            process,
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

    pub(crate) fn remote(&self) -> Remote {
        Remote {
            host: "127.0.0.1".to_owned(),
            port: self.port,
            user: self.user.clone(),
            key_file: self.path("client"),
            passphrase: None,
            known_hosts: self.path("known"),
            workspace: self.path("workspace").display().to_string(),
        }
    }

    pub(crate) fn session(&self, remote: Remote) -> SshSession {
        SshSession {
            remote,
            session_dir: self.path("session"),
            passed: Vec::new(),
            require: Level::None,
            clock: Arc::new(SystemClock),
        }
    }

    pub(crate) async fn open(&self) -> SshSandbox {
        open(self.session(self.remote())).await.unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
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
