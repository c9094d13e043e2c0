//! Nothing outlives its call.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use outfitter_process::{Ending, Limit, Spawned, SupervisorProgram, spawn};
use rstest::rstest;
use rustix::process::{Pid, Signal, kill_process};

use crate::kit::{Finished, Identity, Place, TESTKIT, alive, finish, gone, start};

/// A number of seconds nobody else sleeps, so that a process is known by it.
pub(crate) fn marker(row: &str, identity: Identity, level: &str) -> String {
    let row: u32 = row
        .bytes()
        .fold(7, |sum, byte| (sum * 31 + u32::from(byte)) % 9973);
    format!(
        "8{row}.{}{}{}",
        std::process::id(),
        identity as u8,
        level.len()
    )
}

#[rstest]
#[case::background("sleep MARK & echo done", 1)]
#[case::own_session("setsid sh -c 'touch up; exec sleep MARK' & UNTIL_UP; echo done", 1)]
#[case::daemon(
    "(setsid sh -c 'sleep MARK & sleep MARK & touch up; wait' >/dev/null 2>&1 &); UNTIL_UP; echo done",
    3
)]
#[case::deaf_to_term(
    "(trap '' TERM HUP INT; touch up; exec sleep MARK) & UNTIL_UP; echo done",
    1
)]
#[case::stopped("sh -c 'touch up; kill -STOP $$; sleep MARK' & UNTIL_UP; echo done", 1)]
fn what_the_command_leaves_behind_is_killed_and_counted(
    #[case] script: &str,
    #[case] killed: u32,
    #[values(Identity::Ourselves, Identity::Nobody)] identity: Identity,
    #[values("full", "partial", "unconfined")] level: &str,
) {
    let Some(place) = Place::new(identity) else {
        return;
    };
    let mark = marker(script, identity, level);
    let script = script
        .replace("MARK", &mark)
        .replace("UNTIL_UP", "until [ -e up ]; do sleep 0.01; done");
    let mut command = match level {
        "unconfined" => place.unconfined(),
        level => place.confined(level),
    };
    let got = finish(command.args(["--", "/bin/sh", "-c", &script]));
    assert_eq!(got.stdout, "done\n", "{got:?}");
    let expected = format!("code=0 killed_children={killed} survivors=0");
    assert_eq!(got.last, expected, "{got:?}");
    assert_eq!(alive(&mark), Vec::<u32>::new());
}

#[rstest]
fn what_follows_a_finished_command_closely_is_still_heard(
    #[values("full", "partial")] level: &str,
) {
    let script = "(sleep 0.02; echo late) & echo early";
    let got = in_time("early\nlate\n", level, script);
    assert_eq!(got.last, "code=0 killed_children=0 survivors=0", "{got:?}");
}

#[rstest]
fn what_ends_by_itself_closely_after_its_command_is_not_killed(
    #[values("full", "partial")] level: &str,
) {
    let script = "(sleep 0.01; touch over) & echo done";
    let got = in_time("done\n", level, script);
    assert_eq!(got.last, "code=0 killed_children=0 survivors=0", "{got:?}");
}

/// What comes of a command whose rest ends a moment after it. What is heard of a rest has its bound, and
/// on a busy machine a moment may be longer than that, but not each time.
fn in_time(said: &str, level: &str, script: &str) -> Finished {
    let place = Place::new(Identity::Ourselves).unwrap();
    let mut tries = (0..50).map(|_| {
        let mut command = place.confined(level);
        finish(command.args(["--", "/bin/sh", "-c", script]))
    });
    let found = tries.find(|got| got.stdout == said && got.last.contains("killed_children=0 "));
    found.unwrap_or_else(|| panic!("{script} never came to its end"))
}

#[rstest]
#[case::polite(
    "trap 'echo bye; exit 7' TERM; sleep MARK & touch up; wait",
    "code=7 ",
    "bye\n"
)]
#[case::deaf(
    "trap '' TERM; touch up; while :; do sleep MARK; done",
    "signal=9 ",
    ""
)]
#[case::whole_group("bash -c 'sleep MARK & touch up; wait' & wait", "signal=15 ", "")]
fn a_killed_command_takes_its_tree_along(
    #[case] script: &str,
    #[case] ending: &str,
    #[case] said: &str,
    #[values(Identity::Ourselves, Identity::Nobody)] identity: Identity,
    #[values("full", "partial", "unconfined")] level: &str,
) {
    let Some(place) = Place::new(identity) else {
        return;
    };
    let mark = marker(script, identity, level);
    let script = script.replace("MARK", &mark);
    let mut command = match level {
        "unconfined" => place.unconfined(),
        level => place.confined(level),
    };
    // Shells start children with a moment's delay; the kill comes after.
    let up = place.workspace.join("up");
    command.args(["--kill-after", "300", "--once"]).arg(up);
    let got = finish(command.args(["--", "/bin/sh", "-c", &script]));
    assert!(got.last.starts_with(ending), "{got:?}");
    // Its own children are not what it left behind.
    assert!(
        got.last.ends_with(" killed_children=0 survivors=0"),
        "{got:?}"
    );
    assert_eq!(got.stdout, said, "{got:?}");
    assert_eq!(alive(&mark), Vec::<u32>::new());
}

/// As when the machine runs out of memory: no destructor, no message.
#[rstest]
fn a_parent_that_is_killed_takes_the_tree_along(
    #[values(Identity::Ourselves, Identity::Nobody)] identity: Identity,
    #[values("full", "partial", "unconfined")] level: &str,
) {
    let Some(place) = Place::new(identity) else {
        return;
    };
    let mark = marker("parent", identity, level);
    let script =
        format!("(setsid sh -c 'trap \"\" TERM HUP; sleep {mark}' &); echo up; sleep {mark}");
    let mut command = match level {
        "unconfined" => place.unconfined(),
        level => place.confined(level),
    };
    let mut running = start(command.args(["--", "/bin/sh", "-c", &script]));
    wait_for_output(&mut running, "up\n");
    let kit = children_named(std::process::id(), &mark);
    assert_eq!(kit.len(), 1, "the testkit is our one child with the mark");
    let nursery = children_of(kit[0]);
    assert_eq!(nursery.len(), 1, "one nursery: {nursery:?}");
    let mut supervisors = children_of(nursery[0]);
    assert!(!supervisors.is_empty());
    kill(kit[0]);
    assert!(gone(&mark), "left behind: {:?}", alive(&mark));
    supervisors.push(nursery[0]);
    for pid in supervisors {
        assert!(ended(pid), "{pid} is left behind");
    }
}

/// By its namespace where it has one, and else by the nursery, to which it comes.
#[rstest]
fn a_supervisor_that_is_killed_takes_all_of_it_along(
    #[values(Identity::Ourselves, Identity::Nobody)] identity: Identity,
    #[values("full", "partial", "unconfined")] level: &str,
) {
    let Some(place) = Place::new(identity) else {
        return;
    };
    let mark = marker("supervisor", identity, level);
    let script = format!(
        "(setsid sh -c 'trap \"\" TERM HUP; sleep {mark} & sleep {mark}; :' >/dev/null 2>&1 &); \
         echo up; sleep {mark}"
    );
    let mut command = match level {
        "unconfined" => place.unconfined(),
        level => place.confined(level),
    };
    let mut running = start(command.args(["--", "/bin/sh", "-c", &script]));
    wait_for_output(&mut running, "up\n");
    let kit = children_named(std::process::id(), &mark);
    let nursery = children_of(kit[0]);
    assert_eq!(nursery.len(), 1, "one nursery: {nursery:?}");
    // The other is the spare one.
    let mut supervisors = children_of(nursery[0]);
    supervisors.retain(|pid| !children_of(*pid).is_empty());
    assert_eq!(supervisors.len(), 1, "one supervisor: {supervisors:?}");
    kill(supervisors[0]);
    let mut status = running.0.wait().unwrap().code();
    assert_eq!(status.take(), Some(70), "the loss is an error of its own");
    assert!(gone(&mark), "left behind: {:?}", alive(&mark));
}

/// A process that not even `SIGKILL` ends is reported, and does not hold the report up for ever: here
/// one that is frozen, which no signal reaches until it is thawed.
#[tokio::test]
async fn what_outlives_even_sigkill_is_reported() {
    let Some(freezer) = Freezer::new("child") else {
        return;
    };
    let (spec, mark) = (
        crate::output::shell,
        marker("frozen", Identity::Ourselves, ""),
    );
    let script = format!("echo up; exec sleep {mark}");
    let Spawned {
        mut child,
        mut output,
        ..
    } = spawn(
        &SupervisorProgram::at(TESTKIT),
        spec(&script, Path::new("/")),
    )
    .await
    .unwrap();
    output.next().await.unwrap();
    let pid = loop {
        if let [pid] = alive(&mark)[..] {
            break pid;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    };
    freezer.freeze(pid);
    let exit = child.kill(Duration::ZERO).await.unwrap();
    assert_eq!(exit.survivors, [pid]);
    freezer.thaw();
    assert!(gone(&mark), "the signal that was sent ends it then");
}

/// No shell stands between it and us, whose exit code could say so as well.
#[tokio::test]
async fn a_program_that_writes_too_much_into_one_file_is_ended_by_the_kernels_own_signal() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    let mut spec = crate::output::shell("", dir.path());
    spec.argv = ["dd", "if=/dev/zero", "bs=64k", "count=64"]
        .map(Into::into)
        .to_vec();
    spec.argv.push(format!("of={}", file.display()).into());
    spec.limits.file_bytes = 1 << 20;
    let mut spawned = spawn(&SupervisorProgram::at(TESTKIT), spec).await.unwrap();
    let exit = spawned.child.wait().await.unwrap();
    assert_eq!(exit.ending, Ending::Signal(25), "SIGXFSZ: {exit:?}");
    assert_eq!(std::fs::metadata(&file).unwrap().len(), 1 << 20);
    let reached: Vec<(Limit, &str)> = exit
        .reached
        .iter()
        .map(|reached| (reached.limit, reached.said.as_str()))
        .collect();
    assert_eq!(
        reached,
        [(Limit::FileSize, "no file may have more than 1 MiB")]
    );
}

/// A control group of version 1 whose members can be frozen.
pub(crate) struct Freezer(PathBuf);

impl Freezer {
    #[expect(clippy::print_stderr, reason = "a test that cannot run says why")]
    pub(crate) fn new(name: &str) -> Option<Self> {
        let own = std::fs::read_to_string("/proc/self/cgroup").unwrap();
        let place = own.lines().find_map(|line| line.split_once(":freezer:"));
        let above = place.map(|(_, within)| format!("/sys/fs/cgroup/freezer{within}"));
        let dir = above.map(|above| {
            let name = format!("outfitter-test-{name}-{}", std::process::id());
            Path::new(&above).join(name)
        });
        match dir {
            Some(dir) if std::fs::create_dir(&dir).is_ok() => Some(Self(dir)),
            Some(_) | None => {
                eprintln!("SKIPPED(cgroup): nothing can be frozen here");
                None
            }
        }
    }

    pub(crate) fn freeze(&self, pid: u32) {
        std::fs::write(self.0.join("cgroup.procs"), pid.to_string()).unwrap();
        self.set("FROZEN");
    }

    pub(crate) fn thaw(&self) {
        self.set("THAWED");
    }

    fn set(&self, state: &str) {
        let file = self.0.join("freezer.state");
        std::fs::write(&file, state).unwrap();
        for _ in 0..6000 {
            if std::fs::read_to_string(&file).unwrap().trim() == state {
                return;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        panic!("it never is {state}");
    }
}

impl Drop for Freezer {
    fn drop(&mut self) {
        let _ = std::fs::write(self.0.join("freezer.state"), "THAWED");
        for _ in 0..2000 {
            if std::fs::remove_dir(&self.0).is_ok() {
                return;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

pub(crate) fn wait_for_output(running: &mut crate::kit::Running, expected: &str) {
    let mut seen = vec![0; expected.len()];
    running
        .0
        .stdout
        .as_mut()
        .unwrap()
        .read_exact(&mut seen)
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&seen), expected);
}

/// Waits, within reason, until there is no such process, or only its exit code.
pub(crate) fn ended(pid: u32) -> bool {
    for _ in 0..3000 {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"));
        if stat.map_or(true, |text| text.contains(") Z ")) {
            return true;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    false
}

fn children_named(parent: u32, marker: &str) -> Vec<u32> {
    let marked = alive(marker);
    children_of(parent)
        .into_iter()
        .filter(|pid| marked.contains(pid))
        .collect()
}

pub(crate) fn children_of(parent: u32) -> Vec<u32> {
    std::fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
        .filter(|pid| {
            std::fs::read_to_string(format!("/proc/{pid}/status"))
                .is_ok_and(|text| text.contains(&format!("\nPPid:\t{parent}\n")))
        })
        .collect()
}

pub(crate) fn kill(pid: u32) {
    let pid = Pid::from_raw(pid.cast_signed()).unwrap();
    kill_process(pid, Signal::KILL).unwrap();
}
