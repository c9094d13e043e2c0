//! How we prove who we are: by the keys of an agent, and by a key that is locked.

#![expect(
    clippy::disallowed_types,
    reason = "the tests start programs as a user would"
)]

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use outfitter_core::SandboxError;
use outfitter_sandbox::ssh::{Identity, SshSession, open};

use super::server::Server;
use crate::commands::kit::{heard, shell};

/// An agent of the test's own.
pub(super) struct Agent {
    socket: PathBuf,
    process: Child,
}

impl Agent {
    pub(super) fn start(socket: PathBuf) -> Self {
        let process = Command::new("ssh-agent")
            .arg("-D")
            .arg("-a")
            .arg(&socket)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        for _ in 0..600 {
            if socket.exists() {
                break;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Self { socket, process }
    }

    pub(super) fn add(&self, key: &Path) {
        let added = Command::new("ssh-add")
            .arg("-q")
            .arg(key)
            .env("SSH_AUTH_SOCK", &self.socket)
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .status();
        assert!(added.unwrap().success());
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

async fn refusal(session: SshSession) -> String {
    match open(session).await {
        Err(SandboxError::Unavailable { reason, .. }) => reason,
        Err(other) => unreachable!("{other}"),
        Ok(_) => unreachable!("it was opened"),
    }
}

#[tokio::test]
async fn the_keys_of_an_agent_are_shown_until_one_is_taken() {
    let Some(server) = Server::start() else {
        return;
    };
    let agent = Agent::start(server.path("agent"));
    let session = || {
        let mut remote = server.remote();
        remote.identity = Identity::Agent(agent.socket.clone());
        server.session(remote)
    };
    agent.add(&server.path("other"));
    let said = refusal(session()).await;
    assert!(said.contains("any of the 1 keys of the agent"), "{said}");
    agent.add(&server.path("client"));
    let sandbox = open(session()).await.unwrap();
    let (out, _) = heard(&sandbox, shell("echo in; echo \"$SSH_AUTH_SOCK\"")).await;
    // The agent itself stays here.
    assert_eq!(out, "in\n\n");
}

#[tokio::test]
async fn an_agent_that_is_not_there_is_a_refusal() {
    let Some(server) = Server::start() else {
        return;
    };
    let mut remote = server.remote();
    remote.identity = Identity::Agent(server.path("nobody"));
    let said = refusal(server.session(remote)).await;
    assert!(said.contains("cannot be asked"), "{said}");
}

#[tokio::test]
async fn a_locked_key_is_opened_by_its_passphrase_which_is_never_shown() {
    let Some(server) = Server::start() else {
        return;
    };
    let locked = Command::new("ssh-keygen")
        .args(["-q", "-p", "-P", "", "-N", "open sesame", "-f"])
        .arg(server.path("client"))
        .stdout(Stdio::null())
        .status();
    assert!(locked.unwrap().success());
    let session = |passphrase: Option<&str>| {
        let mut remote = server.remote();
        remote.identity = Identity::KeyFile {
            path: server.path("client"),
            passphrase: passphrase.map(Into::into),
        };
        assert!(!format!("{remote:?}").contains("sesame"));
        server.session(remote)
    };
    for wrong in [None, Some("close sesame")] {
        let said = refusal(session(wrong)).await;
        assert!(said.contains("cannot be used"), "{said}");
        assert!(!said.contains("sesame"), "{said}");
    }
    assert!(open(session(Some("open sesame"))).await.is_ok());
}
