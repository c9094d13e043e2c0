//! Keys and certificates of every kind: of the host, and ours.

#![expect(
    clippy::disallowed_types,
    reason = "the tests start programs as a user would"
)]

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use outfitter_core::SandboxError;
use outfitter_sandbox::ssh::{Identity, SshSession, open};
use rstest::rstest;
use tempfile::TempDir;

use super::identity::Agent;
use super::server::Server;
use super::sshd::FILES;
use crate::commands::kit::{heard, shell};

/// Keys of a test's own.
struct Keys(TempDir);

impl Keys {
    /// Pairs of this kind for a host and for a client, and one of an authority.
    fn of(kind: &str) -> Self {
        let keys = Self(tempfile::tempdir().unwrap());
        for (name, kind) in [("host", kind), ("client", kind), ("authority", "ed25519")] {
            let kind = ["-t"].into_iter().chain(kind.split(' '));
            keys.generate(kind.chain(["-N", "", "-f", name]));
        }
        keys
    }

    fn generate<'a>(&self, arguments: impl Iterator<Item = &'a str>) {
        let mut command = Command::new("ssh-keygen");
        command.arg("-q").args(arguments).current_dir(self.0.path());
        let made = command.stdin(Stdio::null()).stderr(Stdio::null()).status();
        assert!(made.unwrap().success(), "{command:?}");
    }

    /// A certificate of one of them by the authority.
    fn certify(&self, of: &str, how: &str) {
        let how = how.split(' ');
        let file = format!("{of}.pub");
        let by = ["-s", "authority", "-I", "test"].into_iter();
        self.generate(by.chain(how).chain([file.as_str()]));
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// A server with this host, and further lines with our paths for `KEYS`.
    fn serve(&self, more: &str) -> Option<Server> {
        let keys = self.0.path().display().to_string();
        let more = format!("{FILES}HostKey KEYS/host\n{more}").replace("KEYS", &keys);
        let server = Server::start_with(&more)?;
        fs::copy(self.path("client.pub"), server.path("authorized")).unwrap();
        let known = format!("[127.0.0.1]:{} {}", server.port, self.text("host.pub"));
        fs::write(server.path("known"), known).unwrap();
        Some(server)
    }

    fn session(&self, server: &Server) -> SshSession {
        let mut remote = server.remote();
        remote.identity = Identity::KeyFile {
            path: self.path("client"),
            passphrase: None,
        };
        server.session(remote)
    }
}

/// What is said where it is not opened.
async fn refusal(session: SshSession) -> Option<String> {
    match open(session).await {
        Err(SandboxError::Unavailable { reason, .. }) => Some(reason),
        Err(other) => Some(other.to_string()),
        Ok(_) => None,
    }
}

#[rstest]
#[case::ed25519("ed25519", "ssh-ed25519")]
#[case::p256("ecdsa -b 256", "ecdsa-sha2-nistp256")]
#[case::p384("ecdsa -b 384", "ecdsa-sha2-nistp384")]
#[case::p521("ecdsa -b 521", "ecdsa-sha2-nistp521")]
#[case::rsa_and_sha_256("rsa -b 2048", "rsa-sha2-256")]
#[case::rsa_and_sha_512("rsa -b 3072", "rsa-sha2-512")]
#[case::rsa_in_the_old_form("rsa -b 2048 -m PEM", "rsa-sha2-512")]
#[tokio::test]
async fn keys_of_each_kind_are_known_and_taken(#[case] kind: &str, #[case] algorithm: &str) {
    let keys = Keys::of(kind);
    let only = format!("HostKeyAlgorithms {algorithm}\nPubkeyAcceptedAlgorithms {algorithm}\n");
    let Some(server) = keys.serve(&only) else {
        return;
    };
    // Where it has two of this kind it shows the one that is first in its configuration.
    let known = fs::read_to_string(server.path("known")).unwrap();
    let first = fs::read_to_string(server.path("host.pub")).unwrap();
    let first = format!("[127.0.0.1]:{} {first}", server.port);
    fs::write(server.path("known"), known + &first).unwrap();
    let sandbox = open(keys.session(&server)).await.unwrap();
    let (out, _) = heard(&sandbox, shell("echo in")).await;
    assert_eq!(out, "in\n");
}

/// A host has keys of several kinds, and shows the one that is asked for first.
#[tokio::test]
async fn a_host_that_is_known_by_a_key_of_another_kind_than_its_best_is_known() {
    let keys = Keys::of("rsa -b 2048");
    // And an Ed25519 key beside it, which nobody has told us of.
    let Some(server) = keys.serve("") else {
        return;
    };
    assert_eq!(refusal(keys.session(&server)).await, None);
}

#[tokio::test]
async fn a_host_with_two_keys_of_one_kind_may_show_either() {
    let keys = Keys::of("ed25519");
    let Some(server) = keys.serve("HostKeyAlgorithms ssh-ed25519\n") else {
        return;
    };
    let other = format!("[127.0.0.1]:{} {}", server.port, keys.text("authority.pub"));
    let known = fs::read_to_string(server.path("known")).unwrap();
    let host = fs::read_to_string(server.path("host.pub")).unwrap();
    let host = format!("[127.0.0.1]:{} {host}", server.port);
    fs::write(server.path("known"), format!("{other}{known}{host}")).unwrap();
    assert_eq!(refusal(keys.session(&server)).await, None);
}

#[tokio::test]
async fn an_rsa_key_of_an_agent_is_taken_with_sha_2() {
    let keys = Keys::of("rsa -b 2048");
    let Some(server) = keys.serve("") else {
        return;
    };
    let agent = Agent::start(server.path("agent"));
    agent.add(&keys.path("client"));
    let mut session = keys.session(&server);
    session.remote.identity = Identity::Agent(server.path("agent"));
    assert_eq!(refusal(session).await, None);
}

#[rstest]
#[case::of_this_host("-h -n 127.0.0.1 -V -1h:+1h", "@cert-authority * AUTHORITY", None)]
#[case::of_another_name(
    "-h -n elsewhere -V -1h:+1h",
    "@cert-authority * AUTHORITY",
    Some("is not of the name")
)]
#[case::of_no_name(
    "-h -V -1h:+1h",
    "@cert-authority * AUTHORITY",
    Some("is not of the name")
)]
#[case::of_another_time(
    "-h -n 127.0.0.1 -V 20200101:20200201",
    "@cert-authority * AUTHORITY",
    Some("not of this time")
)]
#[case::of_a_user(
    "-n 127.0.0.1 -V -1h:+1h",
    "@cert-authority * AUTHORITY",
    Some("none of a host")
)]
#[case::by_another(
    "-h -n 127.0.0.1 -V -1h:+1h",
    "@cert-authority * CLIENT",
    Some("no authority for it")
)]
#[case::by_one_for_others(
    "-h -n 127.0.0.1 -V -1h:+1h",
    "@cert-authority *.example.com AUTHORITY",
    Some("not among the known hosts")
)]
#[case::by_one_that_is_revoked(
    "-h -n 127.0.0.1 -V -1h:+1h",
    "@cert-authority * AUTHORITY@revoked * AUTHORITY",
    Some("is revoked")
)]
#[tokio::test]
async fn a_certificate_of_a_host_is_taken_where_an_authority_vouches_for_it(
    #[case] how: &str,
    #[case] known: &str,
    #[case] refused: Option<&str>,
) {
    let keys = Keys::of("ed25519");
    keys.certify("host", how);
    let Some(server) = keys.serve("HostCertificate KEYS/host-cert.pub\n") else {
        return;
    };
    let known = known
        .replace("AUTHORITY", &keys.text("authority.pub"))
        .replace("CLIENT", &keys.text("client.pub"));
    fs::write(server.path("known"), known).unwrap();
    let said = refusal(keys.session(&server)).await;
    match (refused, &said) {
        (None, None) => {}
        (Some(why), Some(said)) if said.contains(why) => {}
        (expected, said) => panic!("{said:?} instead of {expected:?}"),
    }
}

#[tokio::test]
async fn our_certificate_is_shown_where_it_lies_beside_the_key() {
    let keys = Keys::of("ecdsa -b 256");
    let Some(server) = keys.serve("TrustedUserCAKeys KEYS/authority.pub\n") else {
        return;
    };
    fs::write(server.path("authorized"), "").unwrap();
    let said = refusal(keys.session(&server)).await.unwrap();
    assert!(said.contains("does not take the key"), "{said}");
    keys.certify("client", &format!("-n {} -V -1h:+1h", server.user));
    assert_eq!(refusal(keys.session(&server)).await, None);
    // One that the server does not take any more does not keep the key from being taken.
    keys.certify("client", "-n nobody-else -V -1h:+1h");
    let said = refusal(keys.session(&server)).await.unwrap();
    assert!(said.contains("or its certificate"), "{said}");
    fs::copy(keys.path("client.pub"), server.path("authorized")).unwrap();
    assert_eq!(refusal(keys.session(&server)).await, None);
    // And an agent has it too.
    fs::write(server.path("authorized"), "").unwrap();
    keys.certify("client", &format!("-n {} -V -1h:+1h", server.user));
    let agent = Agent::start(server.path("agent"));
    agent.add(&keys.path("client"));
    let mut session = keys.session(&server);
    session.remote.identity = Identity::Agent(server.path("agent"));
    assert_eq!(refusal(session).await, None);
}

#[rstest]
#[case::of_another_key("ed25519", "host", "is of another key")]
#[case::of_an_rsa_key("rsa -b 2048", "client", "from an agent only")]
#[tokio::test]
async fn a_certificate_that_cannot_be_shown_is_a_refusal_with_the_reason(
    #[case] kind: &str,
    #[case] of: &str,
    #[case] why: &str,
) {
    let keys = Keys::of(kind);
    let Some(server) = keys.serve("") else {
        return;
    };
    keys.certify(of, "-n x");
    let (made, beside) = (format!("{of}-cert.pub"), "client-cert.pub");
    fs::rename(keys.path(&made), keys.path(beside)).unwrap();
    let said = refusal(keys.session(&server)).await.unwrap();
    assert!(said.contains(why) && said.contains(beside), "{said}");
}
