//! What is told of jobs that are lost and of what was refused.

use outfitter_core::{JobId, Killed, Lost, Offset, SandboxError};
use rstest::rstest;

use super::kit::{Backend, LIVENESS, World, shell};

/// The record outlives the program: here a sandbox of the same session that is opened again.
#[rstest]
#[tokio::test]
async fn after_a_restart_jobs_are_lost_and_not_forgotten(
    #[values(Backend::Local, Backend::Bwrap, Backend::Passthrough)] backend: Backend,
) {
    let world = World::new();
    let Some(first) = world.open(backend).await else {
        return;
    };
    let over = first.spawn(shell("exit 3")).await.unwrap();
    first.wait(&over).await.unwrap();
    let running = first.spawn(shell("sleep 300")).await.unwrap();
    drop(first);
    let later = world.open(backend).await.unwrap();
    let how = |error: SandboxError| match error {
        SandboxError::Lost { how, command, .. } => (how, command),
        other => panic!("{other:?}"),
    };
    let nothing = later.output(&running, Offset(0), 10, LIVENESS).await;
    let interrupted = (Lost::Interrupted, "sleep 300".to_owned());
    assert_eq!(how(nothing.unwrap_err()), interrupted);
    let ended = (Lost::Ended("exit code 3".to_owned()), "exit 3".to_owned());
    assert_eq!(how(later.wait(&over).await.unwrap_err()), ended);
    let killed = later.kill(&running, LIVENESS).await.unwrap();
    assert_eq!(killed, Killed::default());
    let nobody = JobId::new("job_nobody").unwrap();
    let error = later.wait(&nobody).await.unwrap_err();
    assert!(matches!(error, SandboxError::NotFound(_)), "{error:?}");
}

/// What the sandbox refused is told with its key, whoever of the programs says it.
#[rstest]
#[tokio::test]
async fn a_refused_path_is_told_with_the_key_that_would_allow_it(
    #[values(Backend::Local, Backend::Partial, Backend::Bwrap)] backend: Backend,
) {
    let world = World::new();
    let Some(sandbox) = world.open(backend).await else {
        return;
    };
    if !rustix::process::geteuid().is_root() {
        crate::commands::kit::say("SKIPPED(not-root): only root could write there outside");
        return;
    }
    let line =
        "touch /usr/outside.txt; cat /etc/hostname >/dev/null; touch inside.txt; ls /nowhere";
    let job = sandbox.spawn(shell(line)).await.unwrap();
    let exit = sandbox.wait(&job).await.unwrap();
    let refusal = outfitter_core::Refusal {
        refused: outfitter_core::Refused::Path("/usr/outside.txt".into()),
        allow: Some("[sandbox] write".to_owned()),
        why: "it cannot be written".to_owned(),
    };
    assert_eq!(exit.refusals, [refusal]);
}
