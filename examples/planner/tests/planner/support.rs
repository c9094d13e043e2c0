//! A calendar, credentials for it, and the program.

#![expect(
    clippy::disallowed_types,
    reason = "the tests start the program as a person would"
)]

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use outfitter_auth::{Issuer, Lifetime, SigningKey};
use outfitter_core::{
    Clock, CredentialIssuer, CredentialRequest, Principal, Role, SystemClock, UnixMs,
};
use secrecy::ExposeSecret;
use serde_json::{Value, json};
use tempfile::TempDir;

pub(crate) const PLANNER: &str = env!("CARGO_BIN_EXE_planner");

/// What one run of the program gave.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) exit: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    pub(crate) fn document(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The result of a success.
    pub(crate) fn result(&self) -> Value {
        let document = self.document();
        assert_eq!(
            (self.exit, &document["status"]),
            (0, &json!("success")),
            "{self:?}"
        );
        document["result"].clone()
    }

    /// The code of an error, and its exit.
    pub(crate) fn code(&self) -> (String, i32) {
        let document = self.document();
        assert_eq!(document["status"], "error", "{self:?}");
        let code = document["error"]["code"].as_str().unwrap().to_owned();
        (code, self.exit)
    }
}

/// A calendar and who issues credentials for it.
pub(crate) struct World {
    pub(crate) dir: TempDir,
    pub(crate) issuer: Arc<Issuer>,
}

/// A clock that stands.
pub(crate) struct At(pub(crate) u64);

impl Clock for At {
    fn now(&self) -> UnixMs {
        UnixMs(self.0)
    }
}

pub(crate) fn who(tenant: &str, subject: &str, role: Role) -> Arc<Principal> {
    Arc::new(Principal {
        tenant: tenant.into(),
        subject: subject.into(),
        role,
        channel: "tests".into(),
        stream: None,
    })
}

pub(crate) fn ada() -> Arc<Principal> {
    who("acme", "ada", Role::User)
}

impl World {
    pub(crate) fn new() -> Self {
        Self::issuing_at(Arc::new(SystemClock))
    }

    pub(crate) fn issuing_at(clock: Arc<dyn Clock>) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let key = SigningKey::generate().unwrap();
        let issuer = Issuer::new("outfitter", key, Lifetime::SHORTEST, clock);
        let jwks = issuer.jwks().to_string();
        fs::write(dir.path().join("jwks.json"), jwks).unwrap();
        Self {
            dir,
            issuer: Arc::new(issuer),
        }
    }

    pub(crate) fn calendar(&self) -> PathBuf {
        self.dir.path().join("calendar")
    }

    pub(crate) async fn token(&self, who: &Arc<Principal>, scope: &str) -> String {
        let request = CredentialRequest {
            who: who.clone(),
            actor: None,
            audience: "planner".into(),
            scope: vec![scope.into()],
        };
        let credential = self.issuer.issue(&request).await.unwrap();
        credential.token.expose_secret().to_owned()
    }

    /// Runs the program as an agent does.
    pub(crate) async fn call(&self, who: &Arc<Principal>, words: [&str; 2], args: Value) -> Ran {
        let token = self.token(who, &words.join(":")).await;
        let input = json!({ "args": args }).to_string();
        let argv = [words[0], words[1], "--json", "--stdin"];
        self.run_with(&argv, Some(&token), &input)
    }

    pub(crate) async fn read(&self, who: &Arc<Principal>, args: Value) -> Ran {
        self.call(who, ["calendar", "read"], args).await
    }

    pub(crate) async fn write(&self, who: &Arc<Principal>, args: Value) -> Ran {
        self.call(who, ["calendar", "write"], args).await
    }

    pub(crate) fn run_with(&self, argv: &[&str], token: Option<&str>, input: &str) -> Ran {
        let mut env = vec![("PLANNER_DIR", self.calendar())];
        if let Some(token) = token {
            env.push(("PROJECT_CLI_TOKEN", token.into()));
            env.push(("PROJECT_CLI_JWKS_FILE", self.dir.path().join("jwks.json")));
            env.push(("PROJECT_CLI_AUDIENCE", "planner".into()));
        }
        run(argv, &env, input)
    }
}

pub(crate) fn run(argv: &[&str], env: &[(&str, PathBuf)], input: &str) -> Ran {
    let mut child = Command::new(PLANNER)
        .args(argv)
        .env_clear()
        .envs(env.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A program that does not read is no fault.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = child.wait_with_output().unwrap();
    Ran {
        exit: output.status.code().unwrap(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// The supervisor that cargo builds beside the tests.
pub(crate) fn supervisor() -> PathBuf {
    let path = Path::new(PLANNER)
        .parent()
        .unwrap()
        .join("examples/supervisor");
    assert!(
        path.exists(),
        "{} is not there: cargo build -p planner --example supervisor",
        path.display()
    );
    path
}
