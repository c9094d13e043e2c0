//! What a program is told of who calls, and that nobody else is.

use std::sync::Arc;

use async_trait::async_trait;
use outfitter_auth::{
    Expected, Issuer, Lifetime, Owner, OwnerError, Owners, SigningKey, Verifier, VerifyingKeys,
};
use outfitter_commands::Credentials;
use outfitter_core::{Code, Principal, Role, Status, SystemClock};
use serde_json::{Value, json};

use crate::support::{World, description, entry};

/// Leaves its environment behind, and what keys it was pointed to.
const REMEMBERS: &str = r#"
env > "$OUT/env"
[ -n "$PROJECT_CLI_JWKS_FILE" ] && cat "$PROJECT_CLI_JWKS_FILE" > "$OUT/jwks" && ls -l "$PROJECT_CLI_JWKS_FILE" > "$OUT/mode"
tr '\0' ' ' < /proc/$$/cmdline > "$OUT/cmdline"
echo '{"v":1,"status":"success","result":{}}'"#;

fn variable(world: &World, name: &str) -> Option<String> {
    let env = world.read("env");
    env.lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix('='))
        .map(str::to_owned)
}

/// The names of the variables, but for those that a shell sets itself.
fn names(world: &World) -> Vec<String> {
    let env = world.read("env");
    let mut names: Vec<String> = env
        .lines()
        .filter_map(|line| Some(line.split_once('=')?.0.to_owned()))
        .filter(|name| !["PWD", "OLDPWD", "SHLVL", "_"].contains(&name.as_str()))
        .collect();
    names.sort();
    names
}

#[tokio::test]
async fn the_environment_is_built_from_nothing() {
    let world = World::new();
    world.probe(REMEMBERS).await.run(json!({})).await;
    assert_eq!(
        names(&world),
        [
            "HOME",
            "LANG",
            "OUT",
            "PATH",
            "PROJECT_CLI_AUDIENCE",
            "PROJECT_CLI_DEADLINE_MS",
            "PROJECT_CLI_JWKS_FILE",
            "PROJECT_CLI_SESSION_ID",
            "PROJECT_CLI_TOKEN",
            "PROJECT_CLI_TOOL_CALL_ID",
        ]
    );
    assert_eq!(variable(&world, "PATH").unwrap(), "/usr/bin:/bin");
    assert_eq!(variable(&world, "PROJECT_CLI_SESSION_ID").unwrap(), "ses_1");
    assert_eq!(
        variable(&world, "PROJECT_CLI_TOOL_CALL_ID").unwrap(),
        "call_1"
    );
    let deadline: u64 = variable(&world, "PROJECT_CLI_DEADLINE_MS")
        .unwrap()
        .parse()
        .unwrap();
    let now = outfitter_core::Clock::now(&SystemClock).0;
    assert!(deadline > now && deadline <= now + 60_000);
}

#[tokio::test]
async fn a_credential_is_for_this_program_this_call_and_this_person() {
    let world = World::new();
    let session = world.probe(REMEMBERS).await;
    session.run(json!({})).await;
    let token = variable(&world, "PROJECT_CLI_TOKEN").unwrap();
    let audience = variable(&world, "PROJECT_CLI_AUDIENCE").unwrap();
    assert_eq!(audience, "probe");
    let jwks: Value = serde_json::from_str(&world.read("jwks")).unwrap();
    assert!(world.read("mode").starts_with("-rw-------"));
    let keys = VerifyingKeys::from_jwks(&jwks).unwrap();
    let verifier = Verifier::new(keys, Expected::audience(audience), Arc::new(SystemClock));
    let verified = verifier.verify(&token).unwrap();
    let claims = verified.claims();
    assert_eq!(
        (claims.sub.as_str(), claims.tenant.as_str()),
        ("ada", "acme")
    );
    assert_eq!((claims.role, &*claims.scope), (Role::Admin, "probe:run"));
    assert_eq!(claims.exp - claims.iat, 300);

    session.run(json!({})).await;
    assert_ne!(variable(&world, "PROJECT_CLI_TOKEN").unwrap(), token);
}

#[tokio::test]
async fn a_credential_is_nowhere_but_in_the_environment() {
    let world = World::new();
    let script = format!(
        "echo \"with $PROJECT_CLI_TOKEN\" >&2; printf '%s' \"$PROJECT_CLI_TOKEN\" >&2; {REMEMBERS}"
    );
    let session = world.probe(&script).await;
    let output = session.run(json!({ "text": "x" })).await;
    let token = variable(&world, "PROJECT_CLI_TOKEN").unwrap();
    assert_eq!(output.status, Status::Success);
    assert!(!world.read("cmdline").contains(&token));
    assert_eq!(session.recorder.shown(), "with [redacted]\n[redacted]\n");
    assert!(!session.recorder.everything().contains(&token));
    assert!(!format!("{output:?}").contains(&token));
}

#[tokio::test]
async fn a_program_that_prints_its_credential_is_not_believed_with_it() {
    let world = World::new();
    let script = r#"printf '%s' "$PROJECT_CLI_TOKEN" > "$OUT/token"
printf '{"v":1,"status":"success","result":{"said":"%s"}}' "$PROJECT_CLI_TOKEN""#;
    let session = world.probe(script).await;
    let output = session.run(json!({})).await;
    let token = world.read("token");
    assert!(token.starts_with("eyJ"));
    assert_eq!(output.result, Some(json!({ "said": "[redacted]" })));
    assert!(!session.recorder.everything().contains(&token));
}

#[tokio::test]
async fn a_credential_in_an_output_that_is_kept_is_taken_out_also_where_it_was_cut() {
    let world = World::new();
    let script = r#"printf '%s' "$PROJECT_CLI_TOKEN" > "$OUT/token"; echo "no JSON $PROJECT_CLI_TOKEN"
echo $PROJECT_CLI_TOKEN >&2; while :; do printf '%s ' "$PROJECT_CLI_TOKEN"; done"#;
    let mut program = world.program("probe", &description(json!([entry()])), script);
    program.max_output_bytes = 100_000;
    let session = world.session([program]).await;
    let output = session.run(json!({})).await;
    let token = world.read("token");
    let kept = String::from_utf8(session.artifacts.only()).unwrap();
    assert!(kept.starts_with("no JSON [redacted]\n[redacted] "));
    for part in [&token[..20], &token[token.len() - 20..]] {
        assert!(!kept.contains(part) && !format!("{output:?}").contains(part));
        assert!(!session.recorder.everything().contains(part));
    }
}

#[tokio::test]
async fn a_program_without_credentials_is_told_nothing_of_who_calls() {
    let mut world = World::new();
    world.issuer = None;
    let mut program = world.program("probe", &description(json!([entry()])), REMEMBERS);
    program.credentials = Credentials::None;
    let output = world.session([program]).await.run(json!({})).await;
    assert_eq!(output.status, Status::Success, "{output:?}");
    assert_eq!(
        names(&world),
        [
            "HOME",
            "LANG",
            "OUT",
            "PATH",
            "PROJECT_CLI_DEADLINE_MS",
            "PROJECT_CLI_SESSION_ID",
            "PROJECT_CLI_TOOL_CALL_ID",
        ]
    );
}

#[tokio::test]
async fn without_an_issuer_a_program_that_wants_credentials_does_not_run() {
    let mut world = World::new();
    world.issuer = None;
    let output = world.probe(REMEMBERS).await.run(json!({})).await;
    assert_eq!(output.error.unwrap().code, Code::Unavailable);
    assert!(!world.path("env").exists());
}

/// Knows nobody any more.
struct Dismissed;

#[async_trait]
impl Owners for Dismissed {
    async fn check(&self, _: &Principal) -> Result<Owner, OwnerError> {
        Err(OwnerError::Refused)
    }
}

#[tokio::test]
async fn an_owner_who_is_gone_calls_nothing() {
    let mut world = World::new();
    let key = SigningKey::generate().unwrap();
    let issuer = Issuer::new("outfitter", key, Lifetime::SHORTEST, Arc::new(SystemClock))
        .with_owners(Arc::new(Dismissed));
    world.issuer = Some(Arc::new(issuer));
    let output = world.probe(REMEMBERS).await.run(json!({})).await;
    let error = output.error.unwrap();
    assert_eq!(error.code, Code::Unauthenticated);
    assert_eq!(
        error.message,
        "failed to issue a credential: the owner may not act any more"
    );
    assert!(!world.path("env").exists());
}
