//! What is told of jobs that are lost and of what was refused.

use outfitter_core::{JobId, Killed, Lost, Offset, SandboxError, Stream};
use outfitter_sandbox::LEFT_SPOOL_BYTES;
use rstest::rstest;

use super::kit::{Backend, LIVENESS, World, on_every_backend, shell};

/// What is known of a job outlives the program: here a sandbox of the same session that is opened
/// again. How an earlier one ends makes no difference; `tests/blackbox/lost.rs` kills it.
#[rstest]
#[tokio::test]
async fn after_a_restart_jobs_are_lost_with_what_they_printed_and_not_forgotten(
    #[values(Backend::Local, Backend::Bwrap, Backend::Passthrough, Backend::Ssh)] backend: Backend,
) {
    let world = World::new();
    let Some(first) = world.open(backend).await else {
        return;
    };
    let over = first
        .spawn(shell("printf one; printf two >&2; exit 3"))
        .await
        .unwrap();
    let before = first.wait(&over).await.unwrap();
    let running = first.spawn(shell("echo begun; sleep 300")).await.unwrap();
    first
        .output(&running, Offset(0), 10, LIVENESS)
        .await
        .unwrap();
    drop(first);
    let later = world.open(backend).await.unwrap();

    let printed = later.output(&running, Offset(0), 100, LIVENESS).await;
    let printed = printed.unwrap();
    assert_eq!(printed.pieces[0], (Stream::Stdout, "begun\n".into()));
    assert!(printed.ended);
    let exit = later.wait(&running).await.unwrap();
    assert!(exit.interrupted && exit.code.is_none(), "{exit:?}");
    assert_eq!(exit.stdout_bytes, 6);
    let killed = later.kill(&running, LIVENESS).await.unwrap();
    assert_eq!(killed, Killed::default());

    // What had ended is as it was.
    assert_eq!(later.wait(&over).await.unwrap().code, Some(3));
    let tail = later.tail(&over, 100).await.unwrap();
    assert_eq!(tail.next, Offset(6));
    let after = later.wait(&over).await.unwrap();
    assert_eq!(
        (
            after.stdout_bytes,
            after.stderr_bytes,
            after.killed_children
        ),
        (
            before.stdout_bytes,
            before.stderr_bytes,
            before.killed_children
        )
    );
    let listed: Vec<_> = later
        .jobs()
        .into_iter()
        .map(|job| (job.id, job.lost))
        .collect();
    let interrupted = (running, Some(Lost::Interrupted));
    assert_eq!(listed, [interrupted, (over, None)]);
    let nobody = JobId::new("job_nobody").unwrap();
    let error = later.wait(&nobody).await.unwrap_err();
    assert!(matches!(error, SandboxError::NotFound(_)), "{error:?}");
}

/// Where the output is gone, the name and the fate are still known.
#[tokio::test]
async fn a_job_whose_output_is_gone_is_known_by_its_name() {
    let world = World::new();
    let backend = Backend::Passthrough;
    let first = world.open(backend).await.unwrap();
    let over = first.spawn(shell("exit 3")).await.unwrap();
    first.wait(&over).await.unwrap();
    let running = first.spawn(shell("sleep 300")).await.unwrap();
    drop(first);
    for entry in std::fs::read_dir(world.data.join("session/jobs")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|end| end != "json") {
            std::fs::remove_file(path).unwrap();
        }
    }
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
    let listed: Vec<_> = later.jobs().into_iter().map(|job| job.lost).collect();
    let ended = Lost::Ended("exit code 3".to_owned());
    assert_eq!(listed, [Some(Lost::Interrupted), Some(ended)]);
}

/// A session that is closed leaves what was printed last, up to a bound.
#[tokio::test]
async fn only_the_last_output_is_left_for_a_later_program() {
    let world = World::new();
    let sandbox = world.open(Backend::Passthrough).await.unwrap();
    let printing = |bytes: u64| shell(&format!("head -c {bytes} /dev/zero"));
    let mut jobs = Vec::new();
    for bytes in [1, LEFT_SPOOL_BYTES - 10, 10] {
        let job = sandbox.spawn(printing(bytes)).await.unwrap();
        assert_eq!(sandbox.wait(&job).await.unwrap().stdout_bytes, bytes);
        jobs.push(job);
    }
    drop(sandbox);
    let later = world.open(Backend::Passthrough).await.unwrap();
    let first = later.wait(&jobs[0]).await.unwrap_err();
    assert!(matches!(first, SandboxError::Lost { .. }), "{first:?}");
    for job in &jobs[1..] {
        assert_eq!(later.wait(job).await.unwrap().code, Some(0));
    }
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

/// What is not shown was taken for something that is not there, and nothing said otherwise.
#[rstest]
#[tokio::test]
async fn a_path_that_is_not_shown_was_told_as_absent(
    #[values(Backend::Local, Backend::Partial, Backend::Bwrap)] backend: Backend,
) {
    let world = World::new();
    let outside = tempfile::tempdir_in("/var").or_else(|_| tempfile::tempdir_in("/home"));
    let Ok(outside) = outside else {
        crate::commands::kit::say("SKIPPED(not-root): nothing outside can be made here");
        return;
    };
    std::fs::write(outside.path().join("there"), "").unwrap();
    std::fs::write(world.workspace.join("outfitter.toml"), "").unwrap();
    let beside = world.workspace.with_file_name("beside");
    std::fs::write(&beside, "").unwrap();
    let Some(sandbox) = world.open(backend).await else {
        return;
    };
    let there = outside.path().join("there");
    let line = format!(
        "cat {}; cd {} && cat there; cat {}; cat {}",
        there.display(),
        outside.path().display(),
        beside.display(),
        world.workspace.join("nothing").display(),
    );
    let job = sandbox.spawn(shell(&line)).await.unwrap();
    let exit = sandbox.wait(&job).await.unwrap();
    let named: Vec<_> = exit.refusals.iter().map(|one| &one.refused).collect();
    for path in [there, beside] {
        let refused = outfitter_core::Refused::Path(path);
        assert!(named.contains(&&refused), "{refused:?}: {exit:?}");
    }
    let allow: Vec<_> = exit
        .refusals
        .iter()
        .map(|one| one.allow.as_deref())
        .collect();
    assert!(
        allow.iter().all(|key| *key == Some("[sandbox] read")),
        "{exit:?}"
    );
    if backend == Backend::Partial {
        return;
    }
    let job = sandbox
        .spawn(shell("echo x >> outfitter.toml"))
        .await
        .unwrap();
    let exit = sandbox.wait(&job).await.unwrap();
    assert_eq!(exit.refusals.len(), 1, "{exit:?}");
    assert_eq!(exit.refusals[0].allow, None);
}

/// What this process has open below a folder.
fn open_below(folder: &std::path::Path) -> usize {
    let open = std::fs::read_dir("/proc/self/fd").unwrap().flatten();
    let leads_to = open.filter_map(|fd| std::fs::read_link(fd.path()).ok());
    leads_to.filter(|to| to.starts_with(folder)).count()
}

on_every_backend! {
    async fn jobs_that_had_ended_kept_files_open(world, sandbox, backend) {
        let folder = world.data.canonicalize().unwrap().join("session");
        let mut jobs = Vec::new();
        let running = sandbox.spawn(shell("echo begun; sleep 300")).await.unwrap();
        sandbox.output(&running, Offset(0), 10, LIVENESS).await.unwrap();
        let before = open_below(&folder);
        for number in 0..8 {
            let line = format!("printf {number}; printf x >&2");
            let job = sandbox.spawn(shell(&line)).await.unwrap();
            sandbox.wait(&job).await.unwrap();
            jobs.push(job);
        }
        assert_eq!(open_below(&folder), before, "of those that have ended none is open");
        let read = |sandbox: Box<dyn outfitter_core::Sandbox>, jobs: Vec<JobId>| async move {
            for (number, job) in jobs.iter().enumerate() {
                let all = sandbox.output(job, Offset(0), 10, LIVENESS).await.unwrap();
                assert!(all.ended && all.next == Offset(2), "{all:?}");
                let stdout = all.pieces.iter().find(|(stream, _)| *stream == Stream::Stdout);
                assert_eq!(stdout.unwrap().1, number.to_string());
            }
            sandbox
        };
        let sandbox = read(sandbox, jobs.clone()).await;
        assert_eq!(open_below(&folder), before, "nor is what was read");
        drop(sandbox);

        let later = world.open(backend).await.unwrap();
        // What was running ends a moment after what ran it.
        let soon = tokio::time::Instant::now() + LIVENESS;
        while open_below(&folder) > 2 && tokio::time::Instant::now() < soon {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
        let opened = open_below(&folder);
        assert!(
            opened <= 2,
            "{opened} files, and what holds the session is one"
        );
        let later = read(later, jobs).await;
        assert!(later.wait(&running).await.unwrap().interrupted);
        assert_eq!(open_below(&folder), opened);
    }
}
