//! What is refused before a command runs.

#![expect(clippy::panic, reason = "helpers of tests may fail the test")]

use outfitter_core::{Level, SandboxError};
use outfitter_sandbox::ssh::{SshSession, open};
use rstest::rstest;

use super::server::Server;

async fn refusal(session: SshSession) -> String {
    match open(session).await {
        Err(SandboxError::Unavailable { reason, hint }) => {
            format!("{reason}; {}", hint.unwrap_or_default())
        }
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("it was opened"),
    }
}

#[rstest]
#[case::unknown("none", "is not among the known hosts")]
#[case::changed("changed", "is another than the one in line 1")]
#[case::revoked("revoked", "is revoked")]
#[case::missing("no-such-file", "cannot be read")]
#[tokio::test]
async fn a_host_that_is_not_the_known_one_is_refused(#[case] file: &str, #[case] why: &str) {
    let Some(server) = Server::start() else {
        return;
    };
    let mut remote = server.remote();
    remote.known_hosts = server.path(file);
    let said = refusal(server.session(remote)).await;
    assert!(said.contains(why), "{said}");
    assert!(said.contains("known_hosts of [sandbox] ssh"), "{said}");
}

#[tokio::test]
async fn a_key_that_the_account_does_not_take_is_refused() {
    let Some(server) = Server::start() else {
        return;
    };
    let mut remote = server.remote();
    remote.identity = server.key("other");
    let said = refusal(server.session(remote)).await;
    assert!(said.contains("does not take the key"), "{said}");
}

#[rstest]
#[case(Level::Partial)]
#[case(Level::Full)]
#[tokio::test]
async fn confinement_that_is_required_is_not_pretended(#[case] require: Level) {
    let Some(server) = Server::start() else {
        return;
    };
    let mut session = server.session(server.remote());
    session.require = require;
    let said = refusal(session).await;
    assert!(said.contains("ssh reaches the level none"), "{said}");
}

#[tokio::test]
async fn a_workspace_that_is_not_there_is_refused() {
    let Some(server) = Server::start() else {
        return;
    };
    let mut remote = server.remote();
    remote.workspace.push_str("/nowhere");
    let said = refusal(server.session(remote)).await;
    assert!(said.contains("is no directory there"), "{said}");
}
