//! What every backend of this machine promises about jobs.

use std::time::Duration;

use outfitter_core::{
    CommandLine, CommandSpec, JobId, Killed, Lost, Offset, Sandbox, SandboxError, Stream,
};
use outfitter_sandbox::{Host, MAX_ENDED_JOBS, MAX_RUNNING_JOBS, local};
use rstest::rstest;

use super::kit::{Backend, LIVENESS, World, alive, heard, on_every_backend, shell};

fn text(pieces: &[(Stream, bytes::Bytes)]) -> Vec<(Stream, String)> {
    let piece = |(stream, bytes): &(Stream, bytes::Bytes)| {
        (*stream, String::from_utf8(bytes.to_vec()).unwrap())
    };
    pieces.iter().map(piece).collect()
}

/// Reads until this many bytes are there, wherever the pieces are cut.
async fn read_some(sandbox: &dyn Sandbox, job: &JobId, mut from: Offset, to: u64) -> String {
    let mut seen = String::new();
    while from.0 < to {
        let chunk = sandbox.output(job, from, 1 << 16, LIVENESS).await.unwrap();
        assert!(
            chunk.next > from || chunk.ended,
            "an empty answer before the end"
        );
        seen.extend(text(&chunk.pieces).into_iter().map(|(_, text)| text));
        from = chunk.next;
    }
    seen
}

on_every_backend! {
    async fn output_is_read_by_ranges_with_its_streams(world, sandbox, backend) {
        let line = "printf one; sleep 0.2; printf two >&2; sleep 0.2; printf three";
        let job = sandbox.spawn(shell(line)).await.unwrap();
        sandbox.wait(&job).await.unwrap();
        let all = sandbox
            .output(&job, Offset(0), 100, Duration::ZERO)
            .await
            .unwrap();
        let (out, err) = (Stream::Stdout, Stream::Stderr);
        let expected = [
            (out, "one".into()),
            (err, "two".into()),
            (out, "three".into()),
        ];
        assert_eq!(text(&all.pieces), expected);
        assert!(all.ended && all.next == Offset(11));

        let part = sandbox
            .output(&job, Offset(2), 5, Duration::ZERO)
            .await
            .unwrap();
        assert_eq!(
            text(&part.pieces),
            [(out, "e".into()), (err, "two".into()), (out, "t".into())]
        );
        assert!(!part.ended && part.next == Offset(7));
        let beyond = sandbox
            .output(&job, Offset(99), 5, Duration::ZERO)
            .await
            .unwrap();
        assert!(beyond.ended && beyond.pieces.is_empty() && beyond.next == Offset(11));
        let tail = sandbox.tail(&job, 4).await.unwrap();
        assert_eq!(text(&tail.pieces), [(out, "hree".into())]);
    }
}

on_every_backend! {
    async fn a_reader_is_woken_by_the_first_byte_and_by_the_end(world, sandbox, backend) {
        let line = "echo up; until [ -e go ]; do sleep 0.01; done; echo on; until [ -e end ]; do sleep 0.01; done";
        let job = sandbox.spawn(shell(line)).await.unwrap();
        assert_eq!(read_some(&*sandbox, &job, Offset(0), 3).await, "up\n");
        let nothing_yet = sandbox
            .output(&job, Offset(3), 10, Duration::from_millis(50))
            .await
            .unwrap();
        assert!(nothing_yet.pieces.is_empty() && !nothing_yet.ended);
        std::fs::write(world.workspace.join("go"), "").unwrap();
        assert_eq!(read_some(&*sandbox, &job, Offset(3), 6).await, "on\n");
        std::fs::write(world.workspace.join("end"), "").unwrap();
        let end = sandbox.output(&job, Offset(6), 10, LIVENESS).await.unwrap();
        assert!(end.pieces.is_empty() && end.ended);
    }
}

on_every_backend! {
    #[case::code("exit 3", Some(3), None)]
    #[case::signal("kill -9 $$", None, Some(9))]
    async fn an_end_is_told_as_it_was(world, sandbox, backend, line: &str, code: Option<i32>, signal: Option<i32>) {
        let job = sandbox
            .spawn(shell(&format!("echo x; echo yy >&2; {line}")))
            .await
            .unwrap();
        let exit = sandbox.wait(&job).await.unwrap();
        let expected = match (backend, signal) {
            // All that bubblewrap passes on.
            (Backend::Bwrap, Some(signal)) => (Some(128 + signal), None),
            (_, signal) => (code, signal),
        };
        assert_eq!((exit.code, exit.signal), expected);
        assert_eq!(
            (exit.stdout_bytes, exit.stderr_bytes, exit.dropped_bytes),
            (2, 3, 0)
        );
        assert!(!exit.timed_out && exit.notices.is_empty(), "{exit:?}");
    }
}

on_every_backend! {
    async fn a_deadline_ends_the_tree_and_keeps_what_was_printed(world, sandbox, backend) {
        let mark = format!("6001.{}{}", std::process::id(), backend as u8);
        let mut command = shell(&format!(
            "echo begun; (setsid sleep {mark} &); sleep {mark}"
        ));
        // It has to come to its first word by then.
        command.timeout = Duration::from_secs(5);
        let job = sandbox.spawn(command).await.unwrap();
        let exit = sandbox.wait(&job).await.unwrap();
        assert!(exit.timed_out, "{exit:?}");
        assert_eq!(read_some(&*sandbox, &job, Offset(0), 6).await, "begun\n");
        assert_eq!(alive(&mark), Vec::<u32>::new());
    }
}

on_every_backend! {
    async fn a_command_that_never_stops_printing_is_ended_all_the_same(world, sandbox, backend) {
        let mut command = shell("yes");
        // It has to be started by then.
        command.timeout = Duration::from_secs(3);
        let timed = sandbox.spawn(command).await.unwrap();
        assert!(sandbox.wait(&timed).await.unwrap().timed_out);
        let killed = sandbox.spawn(shell("yes >&2")).await.unwrap();
        sandbox
            .output(&killed, Offset(0), 10, LIVENESS)
            .await
            .unwrap();
        assert!(
            sandbox
                .kill(&killed, Duration::ZERO)
                .await
                .unwrap()
                .was_running
        );
        let exit = sandbox.wait(&killed).await.unwrap();
        let chunk = sandbox
            .output(&killed, Offset(0), 4, Duration::ZERO)
            .await
            .unwrap();
        assert_eq!(text(&chunk.pieces), [(Stream::Stderr, "y\ny\n".to_owned())]);
        assert!(exit.stderr_bytes > 0 && exit.stdout_bytes == 0);
    }
}

on_every_backend! {
    async fn a_kill_ends_the_tree_once(world, sandbox, backend) {
        let mark = format!("6002.{}{}", std::process::id(), backend as u8);
        let line = format!("trap '' TERM; (setsid sleep {mark} &); echo up; sleep {mark}");
        let job = sandbox.spawn(shell(&line)).await.unwrap();
        read_some(&*sandbox, &job, Offset(0), 3).await;
        let killed = sandbox
            .kill(&job, Duration::from_millis(100))
            .await
            .unwrap();
        let expected = Killed {
            was_running: true,
            survivors: Vec::new(),
        };
        assert_eq!(killed, expected);
        assert_eq!(alive(&mark), Vec::<u32>::new());
        assert_eq!(
            sandbox.kill(&job, Duration::ZERO).await.unwrap(),
            Killed::default()
        );
        assert!(sandbox.wait(&job).await.unwrap().signal.is_some());
    }
}

on_every_backend! {
    async fn jobs_end_with_their_session(world, sandbox, backend) {
        let mark = format!("6003.{}{}", std::process::id(), backend as u8);
        let line = format!("trap '' TERM HUP; (setsid sleep {mark} &); echo up; sleep {mark}");
        let job = sandbox.spawn(shell(&line)).await.unwrap();
        read_some(&*sandbox, &job, Offset(0), 3).await;
        assert!(!alive(&mark).is_empty());
        drop(sandbox);
        for _ in 0..3000 {
            if alive(&mark).is_empty() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        panic!("left behind: {:?}", alive(&mark));
    }
}

#[tokio::test]
async fn a_closed_session_has_no_process_left() {
    let world = World::new();
    let support = outfitter_sandbox::probe(&super::kit::supervisor())
        .await
        .unwrap();
    let sandbox = local::open(world.session(Host::default()), world.policy(support)).unwrap();
    let mark = format!("6004.{}", std::process::id());
    for _ in 0..3 {
        let job = sandbox
            .spawn(shell(&format!("echo up; sleep {mark}")))
            .await
            .unwrap();
        read_some(&sandbox, &job, Offset(0), 3).await;
    }
    sandbox.close(Duration::from_millis(100)).await;
    assert_eq!(alive(&mark), Vec::<u32>::new());
}

on_every_backend! {
    /// Field case: after its directory is deleted, every command of a session failed.
    async fn a_deleted_working_directory_is_survived(world, sandbox, backend) {
        let (out, _) = heard(&*sandbox, shell("mkdir d; cd d; rm -rf ../d; echo $?; ls")).await;
        assert_eq!(out, "0\n");
        let (out, _) = heard(&*sandbox, shell("echo hi; pwd")).await;
        assert_eq!(out, format!("hi\n{}\n", world.workspace.display()));
    }
}

/// `rm -rf ./*` in a directory whose name was misspelt emptied the workspace.
#[rstest]
#[case::missing("buidl")]
#[case::missing_and_absolute("/no/such/directory")]
#[case::a_file("precious")]
#[tokio::test]
async fn a_command_for_a_directory_that_cannot_be_entered_runs_nowhere(
    #[case] workdir: &str,
    #[values(
        Backend::Local,
        Backend::Partial,
        Backend::Bwrap,
        Backend::Passthrough,
        Backend::Ssh
    )]
    backend: Backend,
) {
    let world = World::new();
    std::fs::write(world.workspace.join("precious"), "x").unwrap();
    let Some(sandbox) = world.open(backend).await else {
        return;
    };
    let mut command = shell("touch ran; rm -rf ./*");
    command.workdir = workdir.to_owned();
    let error = sandbox.spawn(command).await.unwrap_err();
    assert!(
        matches!(&error, SandboxError::Workdir(why)
            if why.contains(workdir) && why.contains("nothing was run")),
        "{error:?}"
    );
    assert_eq!(sandbox.jobs(), []);
    assert!(world.workspace.join("precious").exists());
    assert!(!world.workspace.join("ran").exists());
}

/// With `bwrap` it could write wherever a link in that place led to.
#[rstest]
#[tokio::test]
async fn a_command_ran_in_what_had_taken_the_place_of_its_workspace(
    #[values(Backend::Local, Backend::Partial, Backend::Bwrap, Backend::Passthrough)]
    backend: Backend,
) {
    let world = World::new();
    let Some(sandbox) = world.open(backend).await else {
        return;
    };
    let at = &world.workspace;
    let (moved, other) = (at.with_file_name("moved"), at.with_file_name("other"));
    std::fs::create_dir(&other).unwrap();
    std::fs::rename(at, &moved).unwrap();
    let places: [fn(&std::path::Path); 2] = [
        |at| std::fs::create_dir(at).unwrap(),
        |at| std::os::unix::fs::symlink("other", at).unwrap(),
    ];
    for place in places {
        place(at);
        let error = sandbox.spawn(shell("touch ran")).await.unwrap_err();
        assert!(
            matches!(&error, SandboxError::Unavailable { reason, .. }
                if reason.contains("another is in its place")),
            "{error:?}"
        );
        assert_eq!(std::fs::read_dir(at).unwrap().count(), 0);
        std::fs::remove_dir(at)
            .or_else(|_| std::fs::remove_file(at))
            .unwrap();
    }
    let error = sandbox.spawn(shell("touch ran")).await.unwrap_err();
    assert!(!moved.join("ran").exists(), "{error:?}");
    // Put back, it is the same again.
    std::fs::rename(&moved, at).unwrap();
    let job = sandbox.spawn(shell("touch ran")).await.unwrap();
    sandbox.wait(&job).await.unwrap();
    assert!(at.join("ran").exists());
}

on_every_backend! {
    async fn what_cannot_be_started_is_the_commands_fault_and_starts_nothing(world, sandbox, backend) {
        let program = |words: &[&str]| CommandSpec {
            command: CommandLine::Program(words.iter().map(ToString::to_string).collect()),
            ..shell("")
        };
        let mut bad_dir = shell("true");
        bad_dir.workdir = "a\0b".to_owned();
        let mut bad_env = shell("true");
        bad_env.env = vec![("A=B".to_owned(), String::new())];
        for command in [
            program(&[]),
            program(&["no-such-program-here"]),
            program(&["/etc/passwd"]),
            bad_dir,
            bad_env,
        ] {
            let error = sandbox.spawn(command).await.unwrap_err();
            assert!(matches!(error, SandboxError::Invalid(_)), "{error:?}");
        }
        assert_eq!(sandbox.jobs(), []);
        let nobody = JobId::new("job_nobody").unwrap();
        let error = sandbox.wait(&nobody).await.unwrap_err();
        assert!(matches!(error, SandboxError::NotFound(_)), "{error:?}");
    }
}

#[tokio::test]
async fn jobs_are_listed_the_last_started_first_and_the_oldest_ended_are_forgotten() {
    let world = World::new();
    let Some(sandbox) = world.open(Backend::Passthrough).await else {
        return;
    };
    let mut ids = Vec::new();
    for _ in 0..=MAX_ENDED_JOBS {
        let job = sandbox.spawn(shell("true")).await.unwrap();
        sandbox.wait(&job).await.unwrap();
        ids.push(job);
    }
    let last = sandbox.spawn(shell("sleep 100")).await.unwrap();
    let jobs = sandbox.jobs();
    assert_eq!(jobs[0].id, last);
    assert!(jobs[0].running && !jobs[1].running);
    assert_eq!(jobs[0].command, "sleep 100");
    let (lost, there): (Vec<_>, Vec<_>) = jobs.iter().partition(|job| job.lost.is_some());
    assert_eq!(there.len(), MAX_ENDED_JOBS);
    let lost: Vec<_> = lost.iter().map(|job| &job.id).collect();
    assert_eq!(lost, [&ids[1], &ids[0]], "known by their names");
    let error = sandbox.wait(&ids[0]).await.unwrap_err();
    let let_go =
        matches!(&error, SandboxError::Lost { how: Lost::LetGo, command, .. } if command == "true");
    assert!(let_go, "{error:?}");
    assert!(sandbox.wait(&ids[MAX_ENDED_JOBS]).await.is_ok());
}

#[tokio::test]
async fn too_many_running_jobs_are_refused_with_what_to_do() {
    let world = World::new();
    let Some(sandbox) = world.open(Backend::Passthrough).await else {
        return;
    };
    let mut last = None;
    for _ in 0..MAX_RUNNING_JOBS {
        last = Some(sandbox.spawn(shell("sleep 1000")).await.unwrap());
    }
    let error = sandbox.spawn(shell("true")).await.unwrap_err();
    assert!(
        matches!(error, SandboxError::Unavailable { hint: Some(_), .. }),
        "{error:?}"
    );
    sandbox.kill(&last.unwrap(), Duration::ZERO).await.unwrap();
    assert!(sandbox.spawn(shell("true")).await.is_ok());
}

/// A command does not find what it, or another, has printed, and changes nothing of it.
#[rstest]
#[tokio::test]
async fn output_is_kept_where_no_command_reaches_it(
    #[values(Backend::Local, Backend::Partial, Backend::Bwrap)] backend: Backend,
) {
    let world = World::new();
    let Some(sandbox) = world.open(backend).await else {
        return;
    };
    heard(&*sandbox, shell("echo $((6 * 7))$((6 * 7))")).await;
    assert_eq!(std::fs::read_dir(&world.workspace).unwrap().count(), 0);
    let spools = world.data.join("session/jobs");
    let kept = |end: &str| -> Vec<String> {
        let entries = std::fs::read_dir(&spools).unwrap().flatten();
        let found = entries.map(|entry| entry.path());
        found
            .filter(|path| path.extension().is_some_and(|is| is == end))
            .map(|path| std::fs::read_to_string(path).unwrap())
            .collect()
    };
    assert_eq!(kept("out"), ["4242\n"]);
    // A record of the job says nothing of what it printed.
    assert!(!kept("json")[0].contains("4242"));
    let dir = spools.display();
    let line = format!(
        "cat {dir}/*.out; for f in {dir}/*; do true > $f; done; rm -rf {dir}; ls {dir} | grep -c job_"
    );
    let (out, _) = heard(&*sandbox, shell(&line)).await;
    assert_eq!(out, "0\n");
    assert!(kept("out").contains(&"4242\n".to_owned()));
}

/// The most that is kept is not the most that is heard.
#[tokio::test]
async fn a_job_was_deaf_once_it_had_printed_as_much_as_is_kept() {
    let world = World::new();
    let Some(sandbox) = world.open(Backend::Local).await else {
        return;
    };
    let line = "head -c 300000000 /dev/zero | tr '\\0' 'x'; echo; echo the last line; sleep 600";
    let job = sandbox.spawn(shell(line)).await.unwrap();
    // As one who waits for a pattern reads it: behind what has been read.
    let (mut from, mut last) = (Offset(0), String::new());
    while !last.ends_with("the last line\n") {
        let chunk = sandbox.output(&job, from, 1 << 20, LIVENESS).await.unwrap();
        assert!(chunk.next > from, "nothing more comes");
        from = chunk.next;
        if let Some((_, piece)) = chunk.pieces.last() {
            last = String::from_utf8_lossy(piece).into_owned();
        }
    }
    let printed = 300_000_000 + "\nthe last line\n".len() as u64;
    assert_eq!(from, Offset(printed), "offsets are those of all output");
    let tail = sandbox.tail(&job, 14).await.unwrap();
    assert_eq!(
        text(&tail.pieces),
        [(Stream::Stdout, "the last line\n".to_owned())]
    );
    let middle = sandbox
        .output(&job, Offset(70 << 20), 10, LIVENESS)
        .await
        .unwrap();
    assert_eq!(middle.pieces[0].0, Stream::Info);
    let words = String::from_utf8_lossy(&middle.pieces[0].1).into_owned();
    assert!(words.contains("are not kept"), "{words}");
    let beginning = sandbox.output(&job, Offset(0), 3, LIVENESS).await.unwrap();
    assert_eq!(
        text(&beginning.pieces),
        [(Stream::Stdout, "xxx".to_owned())]
    );
    sandbox.kill(&job, Duration::ZERO).await.unwrap();
    let exit = sandbox.wait(&job).await.unwrap();
    assert_eq!(exit.stdout_bytes, printed);
    assert!(exit.dropped_bytes > 0 && exit.dropped_bytes < 100_000_000);
    assert!(
        exit.notices[0].contains("between them were not"),
        "{:?}",
        exit.notices
    );
}

on_every_backend! {
    /// By one of these a command over SSH is found when it is to end; a call put another in its
    /// place, and outlived its end.
    #[case("OUTFITTER_JOB")]
    #[case("OUTFITTER_ANYTHING")]
    #[case("_outfitter_left")]
    async fn a_call_took_the_name_of_a_variable_of_ours(world, sandbox, backend, name: &str) {
        let mut command = shell("touch ran");
        command.env = vec![("A".to_owned(), "1".to_owned()), (name.to_owned(), "zz".to_owned())];
        match sandbox.spawn(command).await {
            Err(SandboxError::Invalid(why)) => assert!(why.contains(name), "{why}"),
            other => panic!("{backend:?}: {other:?}"),
        }
        assert!(!world.workspace.join("ran").exists());
    }
}
