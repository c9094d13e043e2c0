//! Supervisors and the process that starts commands, killed or stopped by somebody: nothing is kept
//! waiting, and nothing lives on.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use outfitter_process::{ChildError, ChildSpec, Ending, Remainder, Spawned, spawn};
use rstest::rstest;
use rustix::process::{Pid, Signal, kill_process};

use crate::control_groups::can_make_a_group;
use crate::kit::{Identity, Place, alive, gone, say, start};
use crate::lifetime::{Freezer, children_of, ended, kill, wait_for_output};
use crate::nursery::{apart, full, is_sound, program, run};
use crate::output::shell;

/// How a command is held, without the roots that `partial` takes.
type Make = fn(&str) -> ChildSpec;

fn alone(script: &str) -> ChildSpec {
    shell(script, Path::new("/"))
}

fn send(pid: u32, signal: Signal) {
    kill_process(Pid::from_raw(pid.cast_signed()).unwrap(), signal).unwrap();
}

fn stop(pid: u32) {
    send(pid, Signal::STOP);
    for _ in 0..3000 {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat"));
        if stat.is_ok_and(|text| text.contains(") T ")) {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("{pid} is never stopped");
}

/// A number of seconds nobody else sleeps, so that a process is known by it.
fn mark() -> String {
    let number = MARKS.fetch_add(1, Ordering::Relaxed);
    format!("87{}.{number:03}", std::process::id())
}

static MARKS: AtomicU32 = AtomicU32::new(0);

/// A command that leaves its session, its parent and its environment, is deaf, and says when it is
/// there.
fn leaving(mark: &str, and_then: &str) -> String {
    format!(
        "(setsid env -i sh -c 'trap \"\" TERM HUP; echo up; sleep {mark} & sleep {mark}; :' &); \
         {and_then}"
    )
}

async fn lost(spawned: &mut Spawned) -> Remainder {
    match spawned.child.wait().await {
        Err(ChildError::SupervisorLost { remainder }) => remainder,
        other => panic!("{other:?}"),
    }
}

/// Its result said that all of it had gone, while what had left the tree lived on.
#[rstest]
#[case::alone(alone)]
#[case::apart(apart)]
#[tokio::test]
async fn what_had_left_the_tree_of_a_killed_supervisor_lived_on(#[case] make: Make) {
    let program = program();
    if full(&program).await.is_none() {
        return;
    }
    let mark = mark();
    let mut spawned = spawn(&program, make(&leaving(&mark, &format!("sleep {mark}"))))
        .await
        .unwrap();
    spawned.output.next().await.unwrap();
    kill(spawned.child.supervisor_id());
    assert_eq!(lost(&mut spawned).await, Remainder::Nothing);
    assert_eq!(
        alive(&mark),
        Vec::<u32>::new(),
        "already, and not some time"
    );
    assert_eq!(lost(&mut spawned).await, Remainder::Nothing, "said again");
}

#[tokio::test]
async fn a_command_that_kills_its_own_supervisor_takes_all_of_it_along() {
    let mark = mark();
    let dir = tempfile::tempdir().unwrap();
    let up = dir.path().join("up");
    let up = up.display();
    let script = leaving(
        &mark,
        &format!("until grep -qs up {up}; do sleep 0.01; done; kill -9 $PPID; sleep 86"),
    );
    let script = script.replace("echo up", &format!("echo up > {up}"));
    let mut spawned = spawn(&program(), alone(&script)).await.unwrap();
    assert_eq!(lost(&mut spawned).await, Remainder::Nothing);
    assert_eq!(alive(&mark), Vec::<u32>::new());
}

#[tokio::test]
async fn what_not_even_the_nursery_could_end_is_named() {
    let Some(freezer) = Freezer::new("killed") else {
        return;
    };
    let mark = mark();
    let script = format!("(setsid sleep {mark} >/dev/null 2>&1 &); echo up; sleep 86");
    let mut spawned = spawn(&program(), alone(&script)).await.unwrap();
    spawned.output.next().await.unwrap();
    let pid = loop {
        let named = |pid: &u32| {
            let name = fs::read_to_string(format!("/proc/{pid}/comm"));
            name.is_ok_and(|name| name.trim() == "sleep")
        };
        if let [pid] = alive(&mark).into_iter().filter(named).collect::<Vec<_>>()[..] {
            break pid;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    };
    freezer.freeze(pid);
    kill(spawned.child.supervisor_id());
    let left = spawned.child.wait().await.unwrap_err();
    assert_eq!(
        left.to_string(),
        format!(
            "the supervisor was lost before it could report how the command ended; of what it had \
             started not even SIGKILL ended the processes {pid}"
        )
    );
    freezer.thaw();
    assert!(gone(&mark), "the signal that was sent ends it then");
}

/// Where nobody is left who could know, nothing is promised.
#[tokio::test]
async fn where_both_are_killed_it_is_said_that_something_may_run_on() {
    let program = program();
    let mark = mark();
    let script = leaving(&mark, &format!("sleep {mark}"));
    let mut spawned = spawn(&program, alone(&script)).await.unwrap();
    spawned.output.next().await.unwrap();
    let nursery = program.process_id().unwrap();
    kill(nursery);
    assert!(ended(nursery));
    kill(spawned.child.supervisor_id());
    assert_eq!(lost(&mut spawned).await, Remainder::Unknown);
    alive(&mark).into_iter().for_each(kill);
    // The kernel is there still where there is a namespace.
    if full(&program).await.is_none() {
        return;
    }
    let script = leaving(&mark, &format!("sleep {mark}"));
    let mut spawned = spawn(&program, apart(&script)).await.unwrap();
    spawned.output.next().await.unwrap();
    kill(program.process_id().unwrap());
    kill(spawned.child.supervisor_id());
    assert_eq!(lost(&mut spawned).await, Remainder::Nothing);
    assert!(gone(&mark), "left behind: {:?}", alive(&mark));
}

/// Each command waited for half a minute, whatever time it had.
#[rstest]
#[case::alone(alone)]
#[case::apart(apart)]
#[tokio::test]
async fn one_that_is_stopped_is_replaced_and_the_command_runs(#[case] make: Make) {
    let program = program();
    if full(&program).await.is_none() {
        return;
    }
    let first = program.process_id().unwrap();
    stop(first);
    let (text, exit) = run(&program, make("echo runs")).await;
    assert_eq!((&*text, is_sound(&exit)), ("runs\n", true));
    assert_eq!(
        exit.notes,
        ["the process that starts commands did not answer, and another was started in its place"]
    );
    assert!(ended(first));
    assert_eq!(run(&program, make("true")).await.1.notes, [""; 0]);
}

/// It was ended, and with it went the only one to whom what killed supervisors leave comes: of every
/// command that ran by then nobody could say any more what was left.
#[tokio::test]
async fn one_that_was_replaced_is_still_there_for_what_it_has_started() {
    let program = program();
    if full(&program).await.is_none() {
        return;
    }
    let mark = mark();
    let script = leaving(&mark, &format!("sleep {mark}"));
    let mut spawned = spawn(&program, alone(&script)).await.unwrap();
    spawned.output.next().await.unwrap();
    let first = program.process_id().unwrap();
    stop(first);
    assert_eq!(run(&program, alone("echo runs")).await.0, "runs\n");
    assert_ne!(program.process_id().unwrap(), first);
    kill(spawned.child.supervisor_id());
    assert_eq!(lost(&mut spawned).await, Remainder::Nothing);
    assert!(gone(&mark), "left behind: {:?}", alive(&mark));
    drop(spawned);
    assert!(ended(first), "nobody needs it any more");
}

/// As on a machine that swaps: it was ended after five seconds, with all that it holds.
#[tokio::test]
async fn one_that_takes_long_and_is_not_stopped_is_waited_for() {
    let (program, Some(freezer)) = (program(), Freezer::new("slow")) else {
        return;
    };
    run(&program, alone("true")).await;
    let first = program.process_id().unwrap();
    freezer.freeze(first);
    let thawed = async {
        tokio::time::sleep(Duration::from_secs(6)).await;
        freezer.thaw();
    };
    let ((text, exit), ()) = tokio::join!(run(&program, alone("echo runs")), thawed);
    assert_eq!((&*text, is_sound(&exit)), ("runs\n", true));
    assert_eq!(exit.notes, [""; 0]);
    assert_eq!(program.process_id().unwrap(), first);
}

#[tokio::test]
async fn a_spare_supervisor_that_is_stopped_goes_on_once_it_is_needed() {
    let program = program();
    if full(&program).await.is_none() {
        return;
    }
    let nursery = program.process_id().unwrap();
    for _ in 0..3000 {
        if let [spare] = children_of(nursery)[..] {
            // Whoever has forked it wakes it, or the request does.
            send(spare, Signal::STOP);
            let (text, exit) = run(&program, apart("echo runs")).await;
            assert_eq!((&*text, is_sound(&exit)), ("runs\n", true));
            assert_eq!(exit.notes, [""; 0]);
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("there is never one spare supervisor");
}

/// Nobody came to the end of a command whose time was over.
#[rstest]
#[case::alone(alone)]
#[case::apart(apart)]
#[tokio::test]
async fn a_supervisor_that_is_stopped_ends_its_tree_when_it_is_asked_to(
    #[case] make: Make,
    #[values("asked", "dropped")] how: &str,
) {
    let program = program();
    if full(&program).await.is_none() {
        return;
    }
    let mark = mark();
    let mut spawned = spawn(&program, make(&format!("echo up; sleep {mark}")))
        .await
        .unwrap();
    spawned.output.next().await.unwrap();
    // Who would wake it is stopped, too.
    stop(program.process_id().unwrap());
    stop(spawned.child.supervisor_id());
    if how == "asked" {
        let exit = spawned.child.kill(Duration::ZERO).await.unwrap();
        assert_eq!(exit.survivors, Vec::<u32>::new());
    } else {
        drop(spawned);
    }
    assert!(gone(&mark), "left behind: {:?}", alive(&mark));
}

/// The first process of its namespace was woken by nobody: the end of its tree took twelve seconds, and
/// was told as lost.
#[tokio::test]
async fn a_supervisor_that_was_stopped_inside_did_not_end_its_tree() {
    let program = program();
    if full(&program).await.is_none() {
        return;
    }
    let mark = mark();
    let mut spawned = spawn(&program, apart(&format!("echo up; sleep {mark}")))
        .await
        .unwrap();
    spawned.output.next().await.unwrap();
    let inner = children_of(spawned.child.supervisor_id());
    assert_eq!(inner.len(), 1);
    for pid in [
        program.process_id().unwrap(),
        spawned.child.supervisor_id(),
        inner[0],
    ] {
        stop(pid);
    }
    let exit = spawned.child.kill(Duration::ZERO).await.unwrap();
    assert_eq!(exit.survivors, Vec::<u32>::new());
    assert!(gone(&mark), "left behind: {:?}", alive(&mark));
}

/// The end of its command was seen by nobody, until its time was over.
#[tokio::test]
async fn a_command_that_stopped_its_own_supervisor_never_ended() {
    let script = "kill -STOP $PPID; sleep 0.2; echo done; exit 3";
    let (text, exit) = run(&program(), alone(script)).await;
    assert_eq!(text, "done\n");
    assert_eq!(exit.ending, Ending::Code(3));
}

#[tokio::test]
async fn a_command_whose_supervisor_is_stopped_from_outside_ends_as_it_does() {
    let program = program();
    if full(&program).await.is_none() {
        return;
    }
    let mut spawned = spawn(&program, apart("echo up; sleep 0.2; exit 3"))
        .await
        .unwrap();
    spawned.output.next().await.unwrap();
    let guard = spawned.child.supervisor_id();
    for pid in children_of(guard).into_iter().chain([guard]) {
        send(pid, Signal::STOP);
    }
    let exit = spawned.child.wait().await.unwrap();
    assert_eq!(exit.ending, Ending::Code(3));
}

/// They kept their trees until somebody let them go on.
#[rstest]
fn what_is_stopped_ends_its_tree_all_the_same_when_the_parent_is_killed(
    #[values(Identity::Ourselves, Identity::Nobody)] identity: Identity,
    #[values("full", "partial", "unconfined")] level: &str,
) {
    let Some(place) = Place::new(identity) else {
        return;
    };
    let mark = mark();
    let script = format!("(setsid sleep {mark} &); echo up; sleep {mark}");
    let mut command = match level {
        "unconfined" => place.unconfined(),
        level => place.confined(level),
    };
    let mut running = start(command.args(["--", "/bin/sh", "-c", &script]));
    wait_for_output(&mut running, "up\n");
    let kit = running.0.id();
    let nursery = children_of(kit);
    assert_eq!(nursery.len(), 1, "{nursery:?}");
    let supervisors = children_of(nursery[0]);
    let inner = supervisors.iter().flat_map(|pid| children_of(*pid));
    let marked = alive(&mark);
    let inner: Vec<u32> = inner.filter(|pid| !marked.contains(pid)).collect();
    let all: Vec<u32> = [nursery, supervisors, inner].concat();
    all.iter().copied().for_each(stop);
    kill(kit);
    assert!(gone(&mark), "left behind: {:?}", alive(&mark));
    for pid in all {
        assert!(ended(pid), "{pid} is left behind");
    }
}

/// They stayed until a later command made some.
#[rstest]
#[case::alone(alone)]
#[case::apart(apart)]
#[tokio::test]
async fn control_groups_of_a_killed_supervisor_go_with_it(#[case] make: Make) {
    let program = program();
    if full(&program).await.is_none() {
        return;
    }
    if !can_make_a_group("memory") {
        say("SKIPPED(cgroup): no control group can be made here");
        return;
    }
    let mut spec = make("echo up; sleep 86");
    spec.limits.memory_bytes = Some(256 * 1024 * 1024);
    spec.limits.processes = 200;
    let mut spawned = spawn(&program, spec).await.unwrap();
    spawned.output.next().await.unwrap();
    let name = format!("outfitter-{}", spawned.child.supervisor_id());
    assert!(count_of(Path::new("/sys/fs/cgroup"), &name) > 0);
    kill(spawned.child.supervisor_id());
    assert_eq!(lost(&mut spawned).await, Remainder::Nothing);
    assert_eq!(count_of(Path::new("/sys/fs/cgroup"), &name), 0);
}

/// Those of a supervisor that was killed when no nursery was there to see it.
#[tokio::test]
async fn control_groups_that_nobody_saw_left_behind_go_with_the_start_of_the_next() {
    let program = program();
    if !can_make_a_group("memory") {
        say("SKIPPED(cgroup): no control group can be made here");
        return;
    }
    let mut spec = alone("echo up; exec sleep 86");
    spec.limits.memory_bytes = Some(256 * 1024 * 1024);
    let mut spawned = spawn(&program, spec).await.unwrap();
    spawned.output.next().await.unwrap();
    let supervisor = spawned.child.supervisor_id();
    let name = format!("outfitter-{supervisor}");
    kill(program.process_id().unwrap());
    kill(supervisor);
    assert_eq!(lost(&mut spawned).await, Remainder::Unknown);
    assert!(ended(supervisor));
    // What was in them may take a moment to go.
    for _ in 0..2000 {
        run(&crate::nursery::program(), alone("true")).await;
        if count_of(Path::new("/sys/fs/cgroup"), &name) == 0 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("{name} is never removed");
}

fn count_of(dir: &Path, name: &str) -> usize {
    found(dir, name).len()
}

/// The folders of this name below a folder.
fn found(dir: &Path, name: &str) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let dirs = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    dirs.flat_map(|entry| {
        if entry.file_name() == name {
            vec![entry.path()]
        } else {
            found(&entry.path(), name)
        }
    })
    .collect()
}

/// It was told as one that could not be started, and might be tried again.
#[tokio::test]
async fn a_command_that_killed_its_supervisor_at_once_was_not_known_to_have_run() {
    let program = program();
    for _ in 0..60 {
        let mut spawned = spawn(&program, alone("kill -9 $PPID; sleep 60"))
            .await
            .unwrap();
        assert_eq!(lost(&mut spawned).await, Remainder::Nothing);
    }
}
