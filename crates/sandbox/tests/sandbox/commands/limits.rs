//! What a session's commands may use, on every backend.

use std::time::Duration;

use outfitter_core::{
    Bytes, Exit, FileRef, FilesError, Put, PutMode, Reach, Refusal, Refused, Sandbox,
};
use outfitter_sandbox::{
    FileLimits, FileQuota, Host, Limits, QuotaCounts, bwrap, local, passthrough, probe,
};
use rstest::rstest;

use super::control_groups::can_make_a_group;
use super::kit::{Backend, World, bwrap_is_there, heard, say, shell, supervisor};

/// A session whose commands are held so, in a world of its own; none where the backend is not there.
async fn limited(backend: Backend, limits: Limits) -> Option<(World, Box<dyn Sandbox>)> {
    let world = World::new();
    let sandbox = opened(&world, backend, limits, FileLimits::default()).await?;
    Some((world, sandbox))
}

/// The limits that a command met.
fn rules(exit: &Exit) -> Vec<&str> {
    let refused = exit.refusals.iter().map(|one| match &one.refused {
        Refused::Rule(rule) => *rule,
        Refused::Path(path) => path.to_str().unwrap_or("a path"),
    });
    refused.collect()
}

async fn opened(
    world: &World,
    backend: Backend,
    limits: Limits,
    files: FileLimits,
) -> Option<Box<dyn Sandbox>> {
    let mut session = world.session(Host {
        path: Some("/usr/bin:/bin".into()),
        ..Host::default()
    });
    session.limits = limits;
    session.files = session.files.with_limits(files);
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
        Backend::Ssh => unreachable!("no limit of ours holds there"),
    };
    Some(Box::new(opened.unwrap()))
}

#[rstest]
#[tokio::test]
async fn memory_over_the_limit_ends_the_command_and_is_said(
    #[values(Backend::Local, Backend::Partial, Backend::Bwrap, Backend::Passthrough)]
    backend: Backend,
) {
    let limits = Limits {
        memory_bytes: Some(64 * 1024 * 1024),
        ..Limits::DEFAULT
    };
    let Some((_world, sandbox)) = limited(backend, limits).await else {
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
    let reached = exit.refusals.iter().find(|refusal| {
        refusal.refused == Refused::Rule("memory_mb")
            && refusal.allow.as_deref() == Some("[sandbox] memory_mb")
    });
    let reached = reached.map(|refusal| refusal.why.starts_with("perhaps"));
    let each_by_itself = exit.notices.iter().any(|notice| notice.contains("memory"));
    // By a control group it is known; else each process is held, and what it says is believed.
    assert_eq!(reached, Some(each_by_itself), "{exit:?}");
    if can_make_a_group("memory") {
        assert!(!each_by_itself, "a group can be made here: {exit:?}");
    }
}

/// No process holds it, so that ending one frees nothing.
#[rstest]
#[tokio::test]
async fn memory_held_by_a_file_ends_the_command_and_not_its_supervisor(
    #[values(Backend::Local, Backend::Bwrap)] backend: Backend,
) {
    let limits = Limits {
        memory_bytes: Some(64 * 1024 * 1024),
        ..Limits::DEFAULT
    };
    let Some((_world, sandbox)) = limited(backend, limits).await else {
        return;
    };
    let job = sandbox
        .spawn(shell("head -c 200M /dev/zero > /dev/shm/x; echo $?"))
        .await
        .unwrap();
    let exit = sandbox.wait(&job).await.unwrap();
    let each_by_itself = exit.notices.iter().any(|notice| notice.contains("memory"));
    if each_by_itself && !can_make_a_group("memory") {
        say("SKIPPED(cgroup): no control group can be made here");
        return;
    }
    assert!(!exit.interrupted, "{exit:?}");
    assert_eq!(rules(&exit), ["memory_mb"], "{exit:?}");
}

/// A hierarchy has a controller in one version alone, so only some machines can show this one.
#[rstest]
#[tokio::test]
async fn both_limits_hold_by_version_2_where_it_has_their_controllers(
    #[values(Backend::Local, Backend::Bwrap)] backend: Backend,
) {
    let offered = ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"]
        .map(|at| std::fs::read_to_string(format!("{at}/cgroup.controllers")));
    let offers = |name: &str| {
        let mut all = offered.iter().flatten();
        all.any(|text| text.split_whitespace().any(|one| one == name))
    };
    if !(offers("memory") && offers("pids")) {
        say("SKIPPED(cgroup2): version 1 has memory or processes here");
        return;
    }
    let level = outfitter_process::Level::Full;
    let held = outfitter_process::limits_held_by(&supervisor(), level).await;
    let held = held.unwrap();
    let can = ["memory", "pids"].map(can_make_a_group) == [true, true];
    if !can && !held.iter().all(|by| by.contains("(version 2)")) {
        say("SKIPPED(cgroup): no control group of version 2 can be made here");
        return;
    }
    let limits = Limits {
        memory_bytes: Some(64 * 1024 * 1024),
        processes: 40,
        ..Limits::DEFAULT
    };
    let Some((_world, sandbox)) = limited(backend, limits).await else {
        return;
    };
    for (line, rule) in [
        ("head -c 512m /dev/zero | tail -n 1 | wc -c", "memory_mb"),
        ("for n in $(seq 100); do sleep 5 & done; wait", "processes"),
    ] {
        let job = sandbox.spawn(shell(line)).await.unwrap();
        let exit = sandbox.wait(&job).await.unwrap();
        assert_eq!(rules(&exit), [rule], "{exit:?}");
    }
}

#[rstest]
#[tokio::test]
async fn time_of_the_processor_over_the_limit_ends_the_command(
    #[values(Backend::Local, Backend::Partial, Backend::Bwrap, Backend::Passthrough)]
    backend: Backend,
) {
    let limits = Limits {
        cpu_seconds: Some(1),
        ..Limits::DEFAULT
    };
    let Some((_world, sandbox)) = limited(backend, limits).await else {
        return;
    };
    let job = sandbox.spawn(shell("while :; do :; done")).await.unwrap();
    let exit = sandbox.wait(&job).await.unwrap();
    assert!(!exit.timed_out, "{exit:?}");
    assert!(exit.code != Some(0), "{exit:?}");
    let refusal = Refusal {
        refused: Refused::Rule("cpu_seconds"),
        allow: Some("[sandbox] cpu_seconds".to_owned()),
        why: match backend {
            // It passes on how its command ended by an exit code, which a command may also choose.
            Backend::Bwrap => "perhaps: 152 is the exit code for a process that used more than 1 s of the processor",
            _ => "the limit of 1 s of the processor was reached",
        }
        .to_owned(),
    };
    assert_eq!(exit.refusals, [refusal]);
    // One that is killed by somebody else has met no limit.
    let job = sandbox.spawn(shell("kill -KILL $$")).await.unwrap();
    assert_eq!(sandbox.wait(&job).await.unwrap().refusals, []);
}

#[rstest]
#[tokio::test]
async fn a_process_that_goes_on_at_the_signal_of_the_limit_is_killed(
    #[values(Backend::Local, Backend::Passthrough)] backend: Backend,
) {
    let limits = Limits {
        cpu_seconds: Some(1),
        ..Limits::DEFAULT
    };
    let Some((_world, sandbox)) = limited(backend, limits).await else {
        return;
    };
    let job = sandbox
        .spawn(shell("trap '' XCPU; while :; do :; done"))
        .await
        .unwrap();
    let exit = sandbox.wait(&job).await.unwrap();
    assert!(!exit.timed_out && exit.code != Some(0), "{exit:?}");
    assert_eq!(rules(&exit), ["cpu_seconds"], "{exit:?}");
}

/// The shell goes on, and of the command that it says was killed nothing was named.
#[rstest]
#[tokio::test]
async fn the_time_of_a_command_of_the_shell_was_used_up_and_not_named(
    #[values(Backend::Local, Backend::Partial, Backend::Bwrap, Backend::Passthrough)]
    backend: Backend,
) {
    let limits = Limits {
        cpu_seconds: Some(1),
        ..Limits::DEFAULT
    };
    let Some((_world, sandbox)) = limited(backend, limits).await else {
        return;
    };
    let line = "sh -c 'while :; do :; done'; echo next";
    let job = sandbox.spawn(shell(line)).await.unwrap();
    let exit = sandbox.wait(&job).await.unwrap();
    assert_eq!((exit.code, exit.stdout_bytes), (Some(0), 5), "{exit:?}");
    assert_eq!(rules(&exit), ["cpu_seconds"], "{exit:?}");
    assert!(exit.refusals[0].why.starts_with("perhaps"), "{exit:?}");
}

/// What a program says for reasons of its own was taken for a limit, though a group counted and nothing
/// was refused.
#[rstest]
#[case::memory("python3 -c 'raise MemoryError(1)'")]
#[case::processes("echo 'Cannot fork' >&2; exit 1")]
#[case::the_error("echo 'fork: Resource temporarily unavailable' >&2; exit 1")]
#[tokio::test]
async fn words_of_a_limit_were_believed_where_a_control_group_counts(
    #[case] line: &str,
    #[values(Backend::Local, Backend::Partial, Backend::Bwrap)] backend: Backend,
) {
    if ["memory", "pids"].map(can_make_a_group) != [true, true] {
        say("SKIPPED(cgroup): no control group can be made here");
        return;
    }
    let limits = Limits {
        memory_bytes: Some(256 * 1024 * 1024),
        processes: 100,
        ..Limits::DEFAULT
    };
    let Some((_world, sandbox)) = limited(backend, limits).await else {
        return;
    };
    let job = sandbox.spawn(shell(line)).await.unwrap();
    let exit = sandbox.wait(&job).await.unwrap();
    assert_eq!(
        (exit.code, &exit.refusals[..]),
        (Some(1), &[][..]),
        "{exit:?}"
    );
    assert!(exit.stderr_bytes > 0, "{exit:?}");
}

/// The shell, or the program itself, says that a file was too large, and nothing was named.
#[rstest]
#[case::by_the_signal("head -c 5m /dev/zero > file; echo rc=$?")]
#[case::by_the_error("python3 -c 'open(\"file\", \"w\").truncate(5 << 20)'; echo on")]
#[tokio::test]
async fn a_file_over_the_limit_that_only_the_words_tell_was_not_named(
    #[case] line: &str,
    #[values(Backend::Local, Backend::Partial, Backend::Bwrap, Backend::Passthrough)]
    backend: Backend,
) {
    let limits = Limits {
        file_bytes: 4 * 1024 * 1024,
        ..Limits::DEFAULT
    };
    let Some((_world, sandbox)) = limited(backend, limits).await else {
        return;
    };
    let job = sandbox.spawn(shell(line)).await.unwrap();
    let exit = sandbox.wait(&job).await.unwrap();
    assert_eq!(rules(&exit), ["file_bytes"], "{exit:?}");
    assert!(exit.refusals[0].why.starts_with("perhaps"), "{exit:?}");
}

/// Only the shell itself says that it could start no more, where no group counts.
#[rstest]
#[tokio::test]
async fn a_limit_of_processes_that_only_the_program_was_told_was_not_named(
    #[values(Backend::Local, Backend::Partial, Backend::Bwrap)] backend: Backend,
) {
    let limits = Limits {
        processes: 320,
        ..Limits::DEFAULT
    };
    let Some((_world, sandbox)) = limited(backend, limits).await else {
        return;
    };
    let line = "i=0; while [ $i -lt 700 ]; do sleep 20 & i=$((i+1)); done";
    let job = sandbox.spawn(shell(line)).await.unwrap();
    let exit = sandbox.wait(&job).await.unwrap();
    if exit.code == Some(0) && backend == Backend::Partial && !can_make_a_group("pids") {
        say("SKIPPED(cgroup): root is held by control groups only, and none can be made here");
        return;
    }
    assert_eq!(rules(&exit), ["processes"], "{exit:?}");
}

/// No key of the configuration helps against a constant.
#[rstest]
#[tokio::test]
async fn a_file_over_the_limit_names_no_key(
    #[values(Backend::Local, Backend::Partial, Backend::Bwrap, Backend::Passthrough)]
    backend: Backend,
) {
    let limits = Limits {
        file_bytes: 4 * 1024 * 1024,
        ..Limits::DEFAULT
    };
    let Some((_world, sandbox)) = limited(backend, limits).await else {
        return;
    };
    let job = sandbox
        .spawn(shell("exec head -c 5m /dev/zero > file"))
        .await
        .unwrap();
    let exit = sandbox.wait(&job).await.unwrap();
    let refusal = Refusal {
        refused: Refused::Rule("file_bytes"),
        allow: None,
        why: match backend {
            Backend::Bwrap => "perhaps: 153 is the exit code for a process that wanted more than 4 MiB in one file",
            _ => "no file may have more than 4 MiB",
        }
        .to_owned(),
    };
    assert_eq!(exit.refusals, [refusal], "{exit:?}");
}

/// Writes this much by a file tool.
async fn write(sandbox: &dyn Sandbox, bytes: usize) -> Result<(), FilesError> {
    let file = FileRef {
        path: "note",
        reach: Reach::Workspace,
    };
    let put = Put {
        bytes: Bytes::from(vec![b'x'; bytes]),
        mode: PutMode::Replace,
        if_hash: None,
    };
    sandbox.files().put(file, put).await.map(drop)
}

/// No command is held while it writes; what it wrote is there for whoever writes next.
#[rstest]
#[tokio::test]
async fn what_commands_wrote_counts_with_what_file_tools_write(
    #[values(Backend::Local, Backend::Partial, Backend::Bwrap, Backend::Passthrough)]
    backend: Backend,
) {
    let world = World::new();
    let quota = FileQuota {
        bytes: 1000,
        counts: QuotaCounts::Workspace,
    };
    let files = FileLimits {
        quota: Some(quota),
        ..FileLimits::default()
    };
    let Some(sandbox) = opened(&world, backend, Limits::DEFAULT, files).await else {
        return;
    };
    let sandbox = &*sandbox;
    write(sandbox, 10).await.unwrap();
    heard(sandbox, shell("head -c 5000 /dev/zero > big")).await;
    let error = write(sandbox, 11).await.unwrap_err();
    assert!(
        matches!(
            error,
            FilesError::OverQuota {
                used: 5010,
                more: 1,
                limit: 1000,
                ..
            }
        ),
        "{error:?}"
    );
    heard(sandbox, shell("rm big")).await;
    write(sandbox, 11).await.unwrap();
    // While one is at work, too, and however often it writes.
    let job = sandbox
        .spawn(shell(
            "for n in 1 2; do until [ -e go$n ]; do sleep 0.01; done; head -c 600 /dev/zero >> slow; touch did$n; done; sleep 600",
        ))
        .await
        .unwrap();
    for (round, fits) in [(1, true), (2, false)] {
        std::fs::write(world.workspace.join(format!("go{round}")), "").unwrap();
        while !world.workspace.join(format!("did{round}")).exists() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let wrote = write(sandbox, 20 + round).await;
        assert_eq!(wrote.is_ok(), fits, "{round}: {wrote:?}");
    }
    sandbox.kill(&job, Duration::ZERO).await.unwrap();
}
