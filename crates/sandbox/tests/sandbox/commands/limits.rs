//! What a session's commands may use, on every backend.

use outfitter_core::{Refused, Sandbox};
use outfitter_sandbox::{Host, Limits, bwrap, local, passthrough, probe};
use rstest::rstest;

use super::kit::{Backend, World, bwrap_is_there, heard, shell, supervisor};

async fn limited(world: &World, backend: Backend, limits: Limits) -> Option<Box<dyn Sandbox>> {
    let mut session = world.session(Host {
        path: Some("/usr/bin:/bin".into()),
        ..Host::default()
    });
    session.limits = limits;
    let mut policy = world.policy(probe(&supervisor()).await.unwrap());
    let opened = match backend {
        Backend::Local => local::open(session, policy),
        Backend::Partial => {
            policy.support.level = policy.support.level.min(outfitter_process::Level::Partial);
            local::open(session, policy)
        }
        Backend::Bwrap if bwrap_is_there() => bwrap::open(session, policy).await,
        Backend::Bwrap => return None,
        Backend::Passthrough => passthrough::open(session),
    };
    Some(Box::new(opened.unwrap()))
}

#[rstest]
#[tokio::test]
async fn memory_over_the_limit_ends_the_command_and_is_said(
    #[values(Backend::Local, Backend::Partial, Backend::Bwrap, Backend::Passthrough)]
    backend: Backend,
) {
    let world = World::new();
    let limits = Limits {
        memory_bytes: Some(64 * 1024 * 1024),
        ..Limits::DEFAULT
    };
    let Some(sandbox) = limited(&world, backend, limits).await else {
        return;
    };
    // Held in one process, so that either kind of limit meets it.
    let job = sandbox
        .spawn(shell("head -c 512m /dev/zero | tail -n 1 | wc -c"))
        .await
        .unwrap();
    let exit = sandbox.wait(&job).await.unwrap();
    let (out, err) = heard(&*sandbox, shell("echo and the next one runs")).await;
    assert_eq!(
        (out.as_str(), err.as_str()),
        ("and the next one runs\n", "")
    );
    // By a control group the limit says that it was reached; else that it holds each process.
    let reached = exit.refusals.iter().any(|refusal| {
        refusal.refused == Refused::Rule("memory_mb")
            && refusal.allow.as_deref() == Some("[sandbox] memory_mb")
    });
    let said = exit.notices.iter().any(|notice| notice.contains("memory"));
    assert!(reached != said, "once, and not twice: {exit:?}");
}

#[rstest]
#[tokio::test]
async fn time_of_the_processor_over_the_limit_ends_the_command(
    #[values(Backend::Local, Backend::Partial, Backend::Bwrap, Backend::Passthrough)]
    backend: Backend,
) {
    let world = World::new();
    let limits = Limits {
        cpu_seconds: Some(1),
        ..Limits::DEFAULT
    };
    let Some(sandbox) = limited(&world, backend, limits).await else {
        return;
    };
    let job = sandbox.spawn(shell("while :; do :; done")).await.unwrap();
    let exit = sandbox.wait(&job).await.unwrap();
    assert!(!exit.timed_out, "{exit:?}");
    assert!(exit.code != Some(0), "{exit:?}");
}
