//! What a sandbox says of itself when it is opened, and why it is not.

use outfitter_core::{Level, Sandbox, SandboxError};
use outfitter_process::Support;
use outfitter_sandbox::{Host, local};
use rstest::rstest;

use super::kit::{Backend, World};

#[tokio::test]
async fn a_level_that_cannot_be_had_is_a_refusal_with_the_reason_and_a_hint() {
    let world = World::new();
    let support = Support {
        level: outfitter_process::Level::Partial,
        landlock_abi: 7,
        reasons: vec!["full: failed to make namespaces: not here".to_owned()],
    };
    let mut policy = world.policy(support);
    policy.require = Level::Full;
    let Err(error) = local::open(world.session(Host::default()), policy) else {
        panic!("opened at a lower level than required");
    };
    let SandboxError::Unavailable { reason, hint } = error else {
        panic!("{error:?}");
    };
    assert!(
        reason.contains("require = \"full\"") && reason.contains("not here"),
        "{reason}"
    );
    assert!(hint.is_some_and(|hint| hint.contains("require = \"partial\"")));
}

#[tokio::test]
async fn a_sandbox_that_holds_nothing_back_does_not_say_that_it_isolates() {
    let world = World::new();
    let support = Support {
        level: outfitter_process::Level::None,
        landlock_abi: 0,
        reasons: vec!["partial: failed to make a ruleset: not here".to_owned()],
    };
    let mut policy = world.policy(support);
    policy.require = Level::None;
    let sandbox = local::open(world.session(Host::default()), policy).unwrap();
    assert!(!sandbox.info().isolating);
}

#[rstest]
#[case(Backend::Local, "local", true, false)]
#[case(Backend::Bwrap, "bwrap", true, false)]
#[case(Backend::Passthrough, "passthrough", false, true)]
#[tokio::test]
async fn a_sandbox_says_what_it_is(
    #[case] backend: Backend,
    #[case] name: &str,
    #[case] isolating: bool,
    #[case] network: bool,
) {
    let world = World::new();
    let Some(sandbox) = world.open(backend).await else {
        return;
    };
    let info = sandbox.info();
    assert_eq!(
        (info.backend.as_str(), info.isolating, info.network),
        (name, isolating, network)
    );
    assert_eq!(info.workspace, world.workspace);
    assert_eq!(info.missing.is_empty(), info.level == Level::Full);
}
