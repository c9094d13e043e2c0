//! Commands that run on another machine, and how they end.

#![expect(clippy::panic, reason = "helpers of tests may fail the test")]

use std::time::Duration;

use outfitter_core::{CommandSpec, Exit, Level, Lost, Sandbox, SandboxError};
use outfitter_sandbox::ssh::MAX_REMOTE_JOBS;
use rstest::rstest;

use super::server::Server;
use crate::commands::kit::{LIVENESS, alive, heard, shell};

async fn ended(sandbox: &dyn Sandbox, command: CommandSpec) -> Exit {
    let job = sandbox.spawn(command).await.unwrap();
    sandbox.wait(&job).await.unwrap()
}

/// Waits for the first word of a job: it runs.
async fn started(sandbox: &dyn Sandbox, line: &str) -> outfitter_core::JobId {
    let job = sandbox.spawn(shell(line)).await.unwrap();
    let chunk = sandbox
        .output(&job, outfitter_core::Offset(0), 100, LIVENESS)
        .await
        .unwrap();
    assert!(!chunk.pieces.is_empty());
    job
}

/// A number of seconds that nothing else on this machine sleeps for, other runs of these tests included.
fn mark(test: u32) -> String {
    format!("864{test}.{}", std::process::id())
}

async fn gone(marker: &str) {
    for _ in 0..600 {
        if alive(marker).is_empty() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("still there: {:?}", alive(marker));
}

#[tokio::test]
async fn the_streams_are_apart_and_whole() {
    let Some(server) = Server::start() else {
        return;
    };
    let sandbox = server.open().await;
    assert_eq!(sandbox.info().level, Level::None);
    assert!(!sandbox.info().isolating);
    let line = "printf 'it'\"'\"'s out'; echo err >&2; pwd; cat";
    let (out, err) = heard(&sandbox, shell(line)).await;
    let workspace = server.path("workspace").canonicalize().unwrap();
    assert_eq!(out, format!("it's out{}\n", workspace.display()));
    assert_eq!(err, "err\n");
    let (out, _) = heard(&sandbox, shell("head -c 5000000 /dev/zero | tr '\\0' x")).await;
    assert_eq!(out.len(), 5_000_000);
}

#[rstest]
#[case("exit 0", Some(0), None)]
#[case("exit 143", Some(143), None)]
#[case("kill -TERM $$", None, Some(15))]
#[case("kill -KILL $$", None, Some(9))]
#[tokio::test]
async fn an_end_is_told_as_it_was(
    #[case] line: &str,
    #[case] code: Option<i32>,
    #[case] signal: Option<i32>,
) {
    let Some(server) = Server::start() else {
        return;
    };
    let exit = ended(&server.open().await, shell(line)).await;
    assert_eq!((exit.code, exit.signal), (code, signal), "{exit:?}");
    assert!(!exit.timed_out);
    assert_eq!(exit.notices, Vec::<String>::new());
}

#[tokio::test]
async fn nothing_of_either_environment_is_seen_but_what_is_named() {
    let Some(server) = Server::start() else {
        return;
    };
    let mut session = server.session(server.remote());
    session.passed = vec![("NAMED".to_owned(), "a b'c".to_owned())];
    let sandbox = outfitter_sandbox::ssh::open(session).await.unwrap();
    let (out, _) = heard(&sandbox, shell("env | cut -d= -f1 | sort; echo \"$NAMED\"")).await;
    let names: Vec<&str> = out.lines().collect();
    // The shell itself adds the directory it is in, and `_` where it is bash.
    let names: Vec<&str> = names
        .into_iter()
        .filter(|name| !matches!(*name, "PWD" | "OLDPWD" | "SHLVL" | "_"))
        .collect();
    assert_eq!(
        names,
        [
            "GIT_TERMINAL_PROMPT",
            "HOME",
            "LANG",
            "NAMED",
            "OUTFITTER_JOB",
            "PATH",
            "a b'c"
        ]
    );
}

#[tokio::test]
async fn the_value_of_a_variable_is_in_no_command_line_there() {
    let Some(server) = Server::start() else {
        return;
    };
    // Not in the arguments of the test either, nor in those of the commands.
    let secret = format!("с\\ 'q' $(x)\n.\n\n+ с-{}", std::process::id());
    let marker = format!("с-{}", std::process::id());
    let mut session = server.session(server.remote());
    session.passed = vec![
        ("line".to_owned(), secret.clone()),
        ("OVERRIDDEN".to_owned(), "session".to_owned()),
    ];
    let sandbox = outfitter_sandbox::ssh::open(session).await.unwrap();
    let stop = std::sync::atomic::AtomicBool::new(false);
    let over = std::sync::Arc::new(stop);
    let watched = over.clone();
    let watching = tokio::task::spawn_blocking(move || {
        let mut seen = 0;
        while !watched.load(std::sync::atomic::Ordering::Relaxed) {
            seen += alive(&marker).len();
        }
        seen
    });
    for _ in 0..10 {
        let mut command = shell("printf %s \"$line\"; printf %s \"$OVERRIDDEN\" >&2");
        command.env = vec![("OVERRIDDEN".to_owned(), "call".to_owned())];
        let (out, err) = heard(&sandbox, command).await;
        assert_eq!((out.as_str(), err.as_str()), (secret.as_str(), "call"));
    }
    over.store(true, std::sync::atomic::Ordering::Relaxed);
    assert_eq!(watching.await.unwrap(), 0, "seen in a command line");
}

#[tokio::test]
async fn a_directory_that_cannot_be_entered_is_a_refusal() {
    let Some(server) = Server::start() else {
        return;
    };
    let sandbox = server.open().await;
    let mut command = shell("touch ran");
    command.workdir = "nowhere".to_owned();
    let refused = sandbox.spawn(command).await;
    assert!(
        matches!(refused, Err(SandboxError::Workdir(_))),
        "{refused:?}"
    );
    assert!(!server.path("workspace/ran").exists());
}

#[tokio::test]
async fn killing_takes_the_whole_tree() {
    let Some(server) = Server::start() else {
        return;
    };
    let sandbox = server.open().await;
    // One ignores TERM, one left the session, one left its parent too.
    let mark = mark(1);
    let line = format!(
        "trap '' TERM; setsid sleep {mark} & (setsid sleep {mark} &) ; echo on; sleep {mark}; sleep {mark}"
    );
    let job = started(&sandbox, &line).await;
    let killed = sandbox
        .kill(&job, Duration::from_millis(300))
        .await
        .unwrap();
    assert!(killed.was_running);
    assert_eq!(killed.survivors, Vec::<u32>::new());
    gone(&mark).await;
    let again = sandbox.kill(&job, Duration::ZERO).await.unwrap();
    assert!(!again.was_running);
}

/// It is waited for as long as it takes, and not as long as it may take.
#[tokio::test]
async fn a_tree_that_heeds_term_is_gone_before_its_grace_is_over() {
    let Some(server) = Server::start() else {
        return;
    };
    let sandbox = server.open().await;
    let mark = mark(2);
    let line = format!("echo on; setsid sleep {mark} & sleep {mark}");
    let job = started(&sandbox, &line).await;
    let kill = sandbox.kill(&job, Duration::from_secs(30));
    let killed = tokio::time::timeout(Duration::from_secs(29), kill).await;
    assert_eq!(killed.unwrap().unwrap().survivors, Vec::<u32>::new());
    assert_eq!(sandbox.wait(&job).await.unwrap().signal, Some(15));
    gone(&mark).await;
}

/// By its own clock: it says when it was asked, and goes on saying when it is.
#[tokio::test]
async fn what_is_deaf_to_term_has_all_of_its_grace() {
    let Some(server) = Server::start() else {
        return;
    };
    let sandbox = server.open().await;
    let line = "now() { read -r up rest </proc/uptime; echo \"$1 $up\"; }; trap 'now asked' TERM; \
                echo on; while :; do sleep 0.05; now at; done";
    let job = started(&sandbox, line).await;
    let grace = Duration::from_millis(1500);
    assert!(sandbox.kill(&job, grace).await.unwrap().was_running);
    assert_eq!(sandbox.wait(&job).await.unwrap().signal, Some(9));
    let said = sandbox.tail(&job, 1 << 20).await.unwrap().pieces;
    let said: Vec<u8> = said.iter().flat_map(|(_, bytes)| bytes.to_vec()).collect();
    let said = String::from_utf8(said).unwrap();
    let when = |word: &str| -> Vec<f64> {
        let lines = said.lines().filter_map(|line| line.strip_prefix(word));
        lines.filter_map(|when| when.trim().parse().ok()).collect()
    };
    let (asked, at) = (when("asked"), when("at"));
    assert_eq!(asked.len(), 1, "{said}");
    let lasted = at.last().unwrap() - asked[0];
    assert!(lasted > grace.as_secs_f64() - 0.5, "{lasted} s: {said}");
}

#[tokio::test]
async fn a_deadline_ends_a_command_and_says_so() {
    let Some(server) = Server::start() else {
        return;
    };
    let sandbox = server.open().await;
    let mark = mark(3);
    let mut command = shell(&format!("sleep {mark}"));
    command.timeout = Duration::from_secs(3);
    let exit = ended(&sandbox, command).await;
    assert!(exit.timed_out);
    assert_eq!(exit.signal, Some(15));
    gone(&mark).await;
}

/// A command that stops the server of its own connection: it ran, and was told as one that could not be
/// run and may be tried again; where it had been heard of, its deadline was waited for ten times over.
#[rstest]
#[case::before_it_is_heard_of("")]
#[case::when_it_was_heard_of("echo up; sleep 1; ")]
#[tokio::test]
async fn a_command_that_stopped_its_own_connection_was_not_known_to_have_run(#[case] first: &str) {
    let Some(server) = Server::start() else {
        return;
    };
    let sandbox = server.open().await;
    let mark = format!("865{}{}", std::process::id(), first.len());
    let stopped = server.path("stopped");
    let line = format!(
        "echo $PPID > {}; {first}kill -STOP $PPID; sleep {mark}",
        stopped.display()
    );
    let mut command = shell(&line);
    command.timeout = Duration::from_secs(3);
    let exit = ended(&sandbox, command).await;
    let pid: i32 = std::fs::read_to_string(stopped)
        .unwrap()
        .trim()
        .parse()
        .unwrap();
    let pid = rustix::process::Pid::from_raw(pid).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::CONT).unwrap();
    // It may have been heard of before it was stopped, or not.
    assert!(exit.interrupted != exit.timed_out, "{exit:?}");
    assert!(first.is_empty() || exit.timed_out, "{exit:?}");
    assert_eq!((exit.code, exit.signal), (None, None), "{exit:?}");
    let says = |notice: &String| notice.contains("may go on");
    assert!(exit.notices.iter().any(says), "{exit:?}");
    // Once the server goes on, it sees that nobody is there.
    gone(&mark).await;
}

#[tokio::test]
async fn a_child_that_keeps_the_output_open_does_not_hold_the_call() {
    let Some(server) = Server::start() else {
        return;
    };
    let mark = mark(4);
    let line = format!("setsid sleep {mark} & exit 3");
    let exit = ended(&server.open().await, shell(&line)).await;
    assert_eq!(exit.code, Some(3));
    assert_eq!(exit.killed_children, 1);
    gone(&mark).await;
}

/// It was not found, lived on, and the result said nothing of it.
#[rstest]
#[case::at_its_end("exit 3", LIVENESS)]
#[case::at_its_deadline("sleep 600", Duration::from_secs(4))]
#[tokio::test]
async fn what_cannot_be_found_and_holds_the_output_open_went_unsaid(
    #[case] then: &str,
    #[case] timeout: Duration,
) {
    let Some(server) = Server::start() else {
        return;
    };
    let sandbox = server.open().await;
    let mark = format!("864{}{}", std::process::id(), then.len());
    let line = format!(
        "(setsid env -i sh -c 'touch up; exec sleep {mark}' &); until [ -e up ]; do sleep 0.05; done; \
         {then}"
    );
    let mut command = shell(&line);
    command.timeout = timeout;
    let exit = ended(&sandbox, command).await;
    for pid in alive(&mark) {
        let pid = rustix::process::Pid::from_raw(pid.cast_signed()).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    }
    let told: Vec<&String> = exit
        .notices
        .iter()
        .filter(|notice| notice.contains("may live on there"))
        .collect();
    assert_eq!(told.len(), 1, "{exit:?}");
    assert_eq!(exit.survivors, Vec::<u32>::new());
}

#[tokio::test]
async fn the_end_of_the_session_ends_its_jobs() {
    let Some(server) = Server::start() else {
        return;
    };
    let sandbox = server.open().await;
    let mark = mark(5);
    let line = format!("echo on; setsid sleep {mark} & sleep {mark}");
    started(&sandbox, &line).await;
    drop(sandbox);
    gone(&mark).await;
}

#[tokio::test]
async fn a_dropped_connection_loses_its_jobs_and_is_made_again() {
    let Some(server) = Server::start() else {
        return;
    };
    let sandbox = server.open().await;
    let mark = mark(6);
    let line = format!("echo on; setsid sleep {mark} & sleep {mark}");
    let job = started(&sandbox, &line).await;
    server.drop_connections();
    let exit = sandbox.wait(&job).await.unwrap();
    assert_eq!((exit.code, exit.signal), (None, None));
    assert!(exit.interrupted, "{exit:?}");
    assert!(exit.notices[0].contains("was lost"), "{exit:?}");
    assert!(
        sandbox
            .jobs()
            .iter()
            .any(|known| known.id == job && !known.running)
    );
    gone(&mark).await;
    let (out, _) = heard(&sandbox, shell("echo again")).await;
    assert_eq!(out, "again\n");
}

#[tokio::test]
async fn a_job_that_was_lost_with_its_connection_has_not_ended_when_the_session_is_opened_again() {
    let Some(server) = Server::start() else {
        return;
    };
    let sandbox = server.open().await;
    let mark = mark(7);
    let job = started(&sandbox, &format!("echo on; sleep {mark}")).await;
    server.drop_connections();
    assert!(sandbox.wait(&job).await.unwrap().interrupted);
    drop(sandbox);
    let again = server.open().await;
    let exit = again.wait(&job).await.unwrap();
    assert!(exit.interrupted, "{exit:?}");
    assert_eq!(again.jobs()[0].lost, Some(Lost::Interrupted));
    gone(&mark).await;
}

#[tokio::test]
async fn one_job_too_many_is_a_refusal() {
    let Some(server) = Server::start() else {
        return;
    };
    let sandbox = server.open().await;
    let mark = mark(8);
    for _ in 0..MAX_REMOTE_JOBS {
        let command = shell(&format!("sleep {mark}"));
        sandbox.spawn(command).await.unwrap();
    }
    let refused = sandbox.spawn(shell("true")).await;
    assert!(
        matches!(refused, Err(SandboxError::Unavailable { .. })),
        "{refused:?}"
    );
    sandbox.close(Duration::ZERO).await;
    gone(&mark).await;
    assert!(sandbox.jobs().iter().all(|job| !job.running));
}
