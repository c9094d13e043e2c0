//! The process that starts commands: what it hands on, what it does not, and what becomes of commands
//! when it is killed.

use std::fs;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::Path;
use std::time::Duration;

use outfitter_process::{
    ChildSpec, Confined, Confinement, Ending, Exit, Level, Network, Output, SpawnError, Spawned,
    Stdin, SupervisorProgram, probe, spawn,
};
use rstest::rstest;

use crate::kit::{Identity, Place, TESTKIT, alive, finish, gone, say, start};
use crate::lifetime::{children_of, ended, kill, wait_for_output};
use crate::output::shell;

pub(crate) fn program() -> SupervisorProgram {
    SupervisorProgram::at(TESTKIT)
}

/// A script in a network, a process namespace and a file system of its own.
pub(crate) fn apart(script: &str) -> ChildSpec {
    let mut spec = shell(script, Path::new("/"));
    spec.confinement = Confinement::Confined(Confined {
        level: Level::Full,
        network: Network::Off,
        write: Vec::new(),
        read: ["/usr", "/bin", "/lib", "/lib64"].map(Into::into).to_vec(),
        fixed: Vec::new(),
        hide: Vec::new(),
        private: Vec::new(),
        blank: Vec::new(),
    });
    spec
}

/// `None`, after saying why, where there are no namespaces.
pub(crate) async fn full(program: &SupervisorProgram) -> Option<()> {
    let support = probe(program).await.unwrap();
    if support.level < Level::Full {
        say("SKIPPED(namespace): there is no full sandbox here");
        return None;
    }
    Some(())
}

async fn all_of(output: &mut Output) -> String {
    let mut text = Vec::new();
    while let Some((_, bytes)) = output.next().await.unwrap() {
        text.extend_from_slice(&bytes);
    }
    String::from_utf8(text).unwrap()
}

pub(crate) async fn run(program: &SupervisorProgram, spec: ChildSpec) -> (String, Exit) {
    let mut spawned = spawn(program, spec).await.unwrap();
    let text = all_of(&mut spawned.output).await;
    (text, spawned.child.wait().await.unwrap())
}

pub(crate) fn is_sound(exit: &Exit) -> bool {
    exit.ending == Ending::Code(0) && exit.survivors.is_empty()
}

#[tokio::test]
async fn commands_share_one_and_it_reaps_what_it_has_started() {
    let program = program();
    assert_eq!(
        program.process_id(),
        None,
        "there is none before it is needed"
    );
    let (text, exit) = run(&program, shell("echo one", Path::new("/"))).await;
    assert_eq!((&*text, is_sound(&exit)), ("one\n", true));
    let nursery = program.process_id().unwrap();
    for _ in 0..20 {
        run(&program.clone(), shell("true", Path::new("/"))).await;
    }
    assert_eq!(program.process_id(), Some(nursery));
    // Nothing is left of them, not even an exit code.
    for _ in 0..3000 {
        if children_of(nursery).is_empty() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(children_of(nursery), Vec::<u32>::new());
}

#[tokio::test]
async fn it_ends_with_the_last_that_may_start_commands_and_not_before_the_commands() {
    let program = program();
    let mut spawned = spawn(&program, shell("read x; echo $x", Path::new("/")))
        .await
        .unwrap();
    assert_eq!(all_of(&mut spawned.output).await, "\n");
    assert!(is_sound(&spawned.child.wait().await.unwrap()));
    let spec = ChildSpec {
        stdin: Stdin::Pipe,
        ..shell("read x; echo $x", Path::new("/"))
    };
    let mut running = spawn(&program, spec).await.unwrap();
    let nursery = program.process_id().unwrap();
    drop(program);
    let mut input = running.input.take().unwrap();
    tokio::io::AsyncWriteExt::write_all(&mut input, b"still here\n")
        .await
        .unwrap();
    assert_eq!(all_of(&mut running.output).await, "still here\n");
    assert!(is_sound(&running.child.wait().await.unwrap()));
    assert!(ended(nursery));
}

#[tokio::test]
async fn the_spare_supervisor_ends_with_it() {
    let program = program();
    if full(&program).await.is_none() {
        return;
    }
    let nursery = program.process_id().unwrap();
    let mut spare = Vec::new();
    for _ in 0..3000 {
        spare = children_of(nursery);
        if spare.len() == 1 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(spare.len(), 1, "one is made for the next command");
    kill(nursery);
    assert!(ended(spare[0]));
}

/// What runs is watched by its own supervisor, which needs no nursery.
#[rstest]
#[case::alone(shell("echo up; read x; exit 7", Path::new("/")))]
#[case::apart(apart("echo up; read x; exit 7"))]
#[tokio::test]
async fn killed_it_takes_no_running_command_along_and_the_next_is_told(#[case] spec: ChildSpec) {
    let program = program();
    if full(&program).await.is_none() {
        return;
    }
    let spec = ChildSpec {
        stdin: Stdin::Pipe,
        ..spec
    };
    let mut running = spawn(&program, spec.clone()).await.unwrap();
    running.output.next().await.unwrap();
    let first = program.process_id().unwrap();
    kill(first);
    assert!(ended(first));
    let (text, exit) = run(&program, shell("echo next", Path::new("/"))).await;
    assert_eq!((&*text, is_sound(&exit)), ("next\n", true));
    assert_eq!(exit.notes.len(), 1, "{exit:?}");
    assert!(
        exit.notes[0].contains("killed from outside, and was started anew"),
        "{exit:?}"
    );
    assert_ne!(program.process_id(), Some(first));
    let (_, exit) = run(&program, shell("true", Path::new("/"))).await;
    assert_eq!(exit.notes, Vec::<String>::new(), "it is told once");
    drop(running.input.take());
    let exit = running.child.wait().await.unwrap();
    assert_eq!(exit.ending, Ending::Code(7));
}

/// A parent that dies after the nursery does still takes everything along.
#[tokio::test]
async fn what_a_killed_one_has_started_still_ends_when_it_is_dropped() {
    let program = program();
    let mark = format!("86{}.1", std::process::id());
    let script = format!("echo up; (setsid sleep {mark} &); exec sleep {mark}");
    let Spawned {
        child, mut output, ..
    } = spawn(&program, shell(&script, Path::new("/")))
        .await
        .unwrap();
    output.next().await.unwrap();
    kill(program.process_id().unwrap());
    assert!(!alive(&mark).is_empty());
    drop(child);
    assert!(gone(&mark), "left behind: {:?}", alive(&mark));
}

/// Whenever that is: no command runs twice, and none is lost.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_while_commands_start_it_costs_none_of_them() {
    let program = program();
    if full(&program).await.is_none() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("log");
    for round in 0..10_u64 {
        let mut commands = tokio::task::JoinSet::new();
        for number in 0..8_u64 {
            let program = program.clone();
            let script = format!("echo {round}.{number} >> {}", log.display());
            commands.spawn(async move {
                let spec = if number % 2 == 0 {
                    shell(&script, Path::new("/"))
                } else {
                    apart("echo apart")
                };
                run(&program, spec).await.1
            });
        }
        tokio::time::sleep(Duration::from_micros(300 * round)).await;
        kill(program.process_id().unwrap());
        while let Some(exit) = commands.join_next().await {
            let exit = exit.unwrap();
            assert!(is_sound(&exit), "{exit:?}");
        }
    }
    let mut ran: Vec<String> = fs::read_to_string(&log)
        .unwrap()
        .lines()
        .map(Into::into)
        .collect();
    assert_eq!(ran.len(), 40);
    ran.sort();
    ran.dedup();
    assert_eq!(ran.len(), 40, "one ran twice");
}

/// If one child's ends were in another's supervisor, its output would not end before the other does.
#[rstest]
#[case::alone(|script: &str| shell(script, Path::new("/")))]
#[case::apart(|script: &str| apart(script))]
#[tokio::test]
async fn descriptors_of_one_command_are_not_in_the_next(#[case] make: fn(&str) -> ChildSpec) {
    let program = program();
    if full(&program).await.is_none() {
        return;
    }
    let waits = |script: &str| ChildSpec {
        stdin: Stdin::Pipe,
        ..make(script)
    };
    let mut first = spawn(&program, waits("echo first; read x")).await.unwrap();
    let mut second = spawn(&program, waits("echo second; read x")).await.unwrap();
    // Those of `ls` itself: its standard ones, and the directory it lists.
    let (text, _) = run(&program, make("ls /proc/self/fd")).await;
    assert_eq!(text, "0\n1\n2\n3\n");
    // The input of the first ends with what we hold, and so does its output, while the second runs.
    drop(first.input.take());
    assert_eq!(all_of(&mut first.output).await, "first\n");
    assert_ne!(first.child.wait().await.unwrap().ending, Ending::Signal(9));
    drop(second.input.take());
    assert_eq!(all_of(&mut second.output).await, "second\n");
    second.child.wait().await.unwrap();
}

#[tokio::test]
async fn it_keeps_no_descriptor_of_what_it_has_handed_on() {
    let program = program();
    run(&program, shell("true", Path::new("/"))).await;
    let dir = format!("/proc/{}/fd", program.process_id().unwrap());
    let Ok(entries) = fs::read_dir(&dir) else {
        say("SKIPPED(not-root): only root may look into it");
        return;
    };
    let before = entries.count();
    let mut held = Vec::new();
    for _ in 0..5 {
        let spec = ChildSpec {
            stdin: Stdin::Pipe,
            ..shell("echo up; read x", Path::new("/"))
        };
        let mut spawned = spawn(&program, spec).await.unwrap();
        spawned.output.next().await.unwrap();
        held.push(spawned);
    }
    // A command may be up before the nursery has gone on.
    let mut count = usize::MAX;
    for _ in 0..3000 {
        count = fs::read_dir(&dir).unwrap().count();
        if count <= before {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    // It may have been counted while it handed on the first.
    assert!(count <= before, "{count} after {before}");
}

#[rstest]
#[case::alone(|script: &str| shell(script, Path::new("/")))]
#[case::apart(|script: &str| apart(script))]
#[tokio::test]
async fn secrets_of_one_command_are_neither_in_the_next_nor_in_it(
    #[case] make: fn(&str) -> ChildSpec,
) {
    let program = program();
    if full(&program).await.is_none() {
        return;
    }
    // Not in one piece in this text, nor in what is read of the memory.
    let secret = format!("{}-{}", "sentinel", std::process::id());
    let mut spec = make("echo $TOKEN; read x");
    spec.env.push(("TOKEN".into(), secret.clone().into()));
    spec.stdin = Stdin::Pipe;
    let mut first = spawn(&program, spec).await.unwrap();
    let (_, said) = first.output.next().await.unwrap().unwrap();
    assert_eq!(said, format!("{secret}\n"));
    let (text, _) = run(
        &program,
        make("env | grep -c TOKEN; cat /proc/$PPID/environ 2>/dev/null"),
    )
    .await;
    assert_eq!(text, "0\n");

    let nursery = program.process_id().unwrap();
    let supervisor = first.child.supervisor_id();
    // The control: there it is found.
    match find(supervisor, secret.as_bytes()) {
        Some(found) => assert!(found),
        None => {
            say("SKIPPED(not-root): only root may look into it");
            return;
        }
    }
    let mut others = children_of(nursery);
    others.retain(|pid| *pid != supervisor);
    for pid in others.into_iter().chain([nursery]) {
        assert_ne!(
            find(pid, secret.as_bytes()),
            Some(true),
            "{pid} of {nursery}"
        );
    }
}

/// Whether a process has this in its writable memory; none where it may not be read.
fn find(pid: u32, text: &[u8]) -> Option<bool> {
    let memory = fs::File::open(format!("/proc/{pid}/mem")).ok()?;
    let maps = fs::read_to_string(format!("/proc/{pid}/maps")).ok()?;
    let writable = maps.lines().filter(|line| line.contains(" rw-p "));
    let ranges = writable.filter_map(|line| line.split_once(' ')?.0.split_once('-'));
    for (from, to) in ranges {
        let [from, to] = [from, to].map(|number| u64::from_str_radix(number, 16).unwrap());
        let mut bytes = vec![0; usize::try_from(to - from).unwrap()];
        if memory.read_exact_at(&mut bytes, from).is_ok()
            && bytes.windows(text.len()).any(|window| window == text)
        {
            return Some(true);
        }
    }
    Some(false)
}

#[tokio::test]
async fn a_command_is_where_we_are_and_the_first_to_go_where_memory_runs_out() {
    let program = program();
    let script = "cat /proc/self/cgroup /proc/self/oom_score_adj";
    let (text, _) = run(&program, shell(script, Path::new("/"))).await;
    let ours = fs::read_to_string("/proc/self/cgroup").unwrap();
    assert_eq!(text, format!("{ours}500\n"));
    let score = |pid: u32| fs::read_to_string(format!("/proc/{pid}/oom_score_adj")).unwrap();
    assert_eq!(
        score(program.process_id().unwrap()),
        score(std::process::id())
    );
}

/// As when a new version was installed over the one that runs.
#[rstest]
fn the_first_command_starts_when_the_program_is_no_longer_where_it_was(
    #[values("full", "unconfined")] level: &str,
) {
    let place = Place::new(Identity::Ourselves).unwrap();
    let copy = place.outside.join("kit");
    fs::copy(TESTKIT, &copy).unwrap();
    let there = match level {
        "unconfined" => place.unconfined(),
        level => place.confined(level),
    };
    let mut command = crate::kit::at(&copy, &there);
    command.arg("--first-remove").arg(&copy);
    let got = finish(command.args(["--", "/bin/sh", "-c", "echo runs"]));
    assert_eq!(got.stdout, "runs\n", "{got:?}");
    assert!(!copy.exists());
}

#[tokio::test]
async fn a_program_that_is_gone_goes_on_starting_commands_until_it_is_killed() {
    let dir = tempfile::tempdir().unwrap();
    let copy = dir.path().join("kit");
    fs::copy(TESTKIT, &copy).unwrap();
    let program = SupervisorProgram::at(&copy);
    run(&program, shell("true", Path::new("/"))).await;
    fs::remove_file(&copy).unwrap();
    let (text, _) = run(&program, shell("echo runs", Path::new("/"))).await;
    assert_eq!(text, "runs\n");
    let nursery = program.process_id().unwrap();
    kill(nursery);
    assert!(ended(nursery));
    let error = spawn(&program, shell("true", Path::new("/")))
        .await
        .unwrap_err();
    assert!(matches!(error, SpawnError::Io { .. }), "{error:?}");
}

/// Whoever may look into the spare one sees what the next command is given.
#[rstest]
fn nobody_of_the_same_user_may_look_into_it_or_the_spare_one(
    #[values(Identity::Ourselves, Identity::Nobody)] identity: Identity,
) {
    let Some(place) = Place::new(identity) else {
        return;
    };
    let mut running =
        start(
            place
                .confined("full")
                .args(["--", "/bin/sh", "-c", "echo up; sleep 86"]),
        );
    wait_for_output(&mut running, "up\n");
    let nursery = children_of(running.0.id());
    assert_eq!(nursery.len(), 1, "{nursery:?}");
    let mut looked_at = 0;
    for _ in 0..3000 {
        looked_at = 0;
        for pid in children_of(nursery[0]).into_iter().chain([nursery[0]]) {
            // What may not be looked into belongs to root.
            let owner = fs::metadata(format!("/proc/{pid}/environ")).map(|found| found.uid());
            assert_eq!(owner.unwrap(), 0, "{pid}");
            looked_at += 1;
        }
        if looked_at == 3 {
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(
        looked_at, 3,
        "the nursery, the supervisor and the spare one"
    );
}
