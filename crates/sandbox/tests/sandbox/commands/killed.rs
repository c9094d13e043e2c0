//! What runs commands, killed or stopped by somebody of the same user: the next command runs, and
//! nothing of the last lives on.

use std::fs;
use std::time::Duration;

use outfitter_core::{Offset, Sandbox, SandboxError};
use rstest::rstest;
use rustix::process::{Pid, Signal, kill_process};

use super::kit::{Backend, LIVENESS, World, alive, shell};

fn send(pid: u32, signal: Signal) {
    kill_process(Pid::from_raw(pid.cast_signed()).unwrap(), signal).unwrap();
}

fn parent_of(pid: u32) -> Option<u32> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("PPid:"));
    line?.trim().parse().ok()
}

/// The supervisor of a process, and the one that has forked it.
fn above(pid: u32) -> Option<(u32, u32)> {
    let parents = std::iter::successors(Some(pid), |pid| parent_of(*pid));
    let ours = parents.take_while(|pid| *pid != std::process::id());
    let chain: Vec<u32> = ours.collect();
    let [.., supervisor, nursery] = chain[..] else {
        return None;
    };
    (parent_of(nursery) == Some(std::process::id())).then_some((supervisor, nursery))
}

/// Starts a command, and gives what is above it once it says that it is up.
async fn started(
    sandbox: &dyn Sandbox,
    line: &str,
    mark: &str,
) -> (outfitter_core::JobId, u32, u32) {
    let job = sandbox.spawn(shell(line)).await.unwrap();
    let chunk = sandbox.output(&job, Offset(0), 10, LIVENESS).await.unwrap();
    assert!(!chunk.pieces.is_empty(), "it is up");
    let (supervisor, nursery) = alive(mark).into_iter().find_map(above).unwrap();
    (job, supervisor, nursery)
}

/// Who kills it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    Somebody,
    ItsCommand,
}

/// Its result said that the command had gone with it.
#[rstest]
#[tokio::test]
async fn what_had_left_the_tree_of_a_killed_supervisor_lived_on(
    #[values(Backend::Local, Backend::Partial, Backend::Bwrap, Backend::Passthrough)]
    backend: Backend,
    #[values(By::Somebody, By::ItsCommand)] by: By,
) {
    let world = World::new();
    let Some(sandbox) = world.open(backend).await else {
        return;
    };
    let mark = format!("31{}{}{}", std::process::id(), backend as u8, by as u8);
    let leaves = format!(
        "(setsid env -i sh -c 'trap \"\" TERM HUP; echo up; touch up; sleep {mark} & sleep {mark}; :' \
         &); until [ -e up ]; do :; done"
    );
    let exit = match by {
        By::Somebody => {
            let line = format!("{leaves}; sleep {mark}");
            let (job, supervisor, _) = started(&*sandbox, &line, &mark).await;
            send(supervisor, Signal::KILL);
            let exit = sandbox.wait(&job).await.unwrap();
            assert!(exit.interrupted, "{exit:?}");
            exit
        }
        By::ItsCommand => {
            let line = format!("{leaves}; kill -9 $PPID");
            let job = sandbox.spawn(shell(&line)).await.unwrap();
            let exit = sandbox.wait(&job).await.unwrap();
            // Elsewhere it cannot: the kernel keeps it from what is outside.
            let could = backend == Backend::Passthrough;
            assert!(exit.interrupted || !could, "{exit:?}");
            exit
        }
    };
    assert_eq!(alive(&mark), Vec::<u32>::new(), "{exit:?}");
    assert_eq!(exit.survivors, Vec::<u32>::new());
    if exit.interrupted {
        let told = |notice: &String| notice.ends_with("what it had started was ended");
        assert!(exit.notices.iter().any(told), "{exit:?}");
    }
}

/// Each command waited for half a minute, whatever time it had.
#[rstest]
#[tokio::test]
async fn a_stopped_process_that_starts_commands_kept_all_of_them_waiting(
    #[values(Backend::Local, Backend::Partial, Backend::Bwrap, Backend::Passthrough)]
    backend: Backend,
) {
    let world = World::new();
    let Some(sandbox) = world.open(backend).await else {
        return;
    };
    let mark = format!("32{}{}", std::process::id(), backend as u8);
    let line = format!("echo up; exec sleep {mark}");
    let (first, supervisor, nursery) = started(&*sandbox, &line, &mark).await;
    send(nursery, Signal::STOP);
    send(supervisor, Signal::STOP);
    let job = sandbox.spawn(shell("echo runs")).await.unwrap();
    let exit = sandbox.wait(&job).await.unwrap();
    assert_eq!(exit.code, Some(0), "{exit:?}");
    assert!(
        exit.notices
            .iter()
            .any(|notice| notice.contains("did not answer, and another was started in its place")),
        "{exit:?}"
    );
    // And the end of one that is stopped is not waited for without an end.
    let killed = sandbox.kill(&first, Duration::ZERO).await.unwrap();
    assert!(killed.was_running && killed.survivors.is_empty());
    assert_eq!(alive(&mark), Vec::<u32>::new());
}

/// `kill_shell` said that it was killed, and `await_shell` that it was lost.
#[rstest]
#[tokio::test]
async fn one_that_was_asked_to_end_and_lost_its_supervisor_by_then_had_two_ends(
    #[values(Backend::Local, Backend::Partial, Backend::Bwrap, Backend::Passthrough)]
    backend: Backend,
) {
    let world = World::new();
    let Some(sandbox) = world.open(backend).await else {
        return;
    };
    let mark = format!("33{}{}", std::process::id(), backend as u8);
    let line = format!("trap 'echo asked' TERM; echo up; while :; do sleep 0.1; done; : {mark}");
    let (job, supervisor, _) = started(&*sandbox, &line, &mark).await;
    let asked_and_lost = async {
        // Behind its first word.
        let heard = sandbox.output(&job, Offset(3), 10, LIVENESS).await;
        assert!(!heard.unwrap().pieces.is_empty(), "it was asked");
        // Unless its time was over first: it has gone then, and all ends as it shall.
        let supervisor = Pid::from_raw(supervisor.cast_signed()).unwrap();
        let _gone = kill_process(supervisor, Signal::KILL);
    };
    let killing = sandbox.kill(&job, Duration::from_secs(2));
    let (killed, ()) = tokio::join!(killing, asked_and_lost);
    assert!(killed.unwrap().was_running);
    let exit = sandbox.wait(&job).await.unwrap();
    assert_eq!(
        (exit.interrupted, exit.signal),
        (false, Some(9)),
        "{exit:?}"
    );
    assert_eq!(exit.survivors, Vec::<u32>::new());
    assert_eq!(alive(&mark), Vec::<u32>::new());
}

/// It was waited for as long as there is, whatever the call had.
#[rstest]
#[tokio::test]
async fn a_command_does_not_start_when_its_time_is_over(
    #[values(Backend::Local, Backend::Partial, Backend::Bwrap, Backend::Passthrough)]
    backend: Backend,
) {
    let world = World::new();
    let Some(sandbox) = world.open(backend).await else {
        return;
    };
    let mut command = shell("touch started; sleep 60");
    command.timeout = Duration::ZERO;
    let error = sandbox.spawn(command).await.unwrap_err();
    assert!(
        matches!(&error, SandboxError::Unavailable { reason, .. } if reason.contains("its time of 0 s was over")),
        "{error:?}"
    );
    assert_eq!(sandbox.jobs(), []);
    assert!(!world.workspace.join("started").exists());
}
