//! What a tree may use: processes, memory, time of the processor, whoever runs it.

use rstest::rstest;

use crate::control_groups::can_make_a_group;
use crate::kit::{Identity, Place, behind, finish, say, we_are_root};

/// Starts sleepers until no more can be started, and says how many there were.
const MANY: &str = "import os, sys, time\nn = 0\nwhile n < 2000:\n try:\n  pid = os.fork()\n except OSError:\n  break\n if pid == 0:\n  time.sleep(600)\n n += 1\nprint(n)";

fn python(script: &str) -> Vec<String> {
    ["--", "/usr/bin/python3", "-c", script]
        .map(str::to_owned)
        .into()
}

#[rstest]
fn a_fork_bomb_is_stopped_and_its_parts_are_gone(
    #[values(Identity::Ourselves, Identity::Nobody)] identity: Identity,
    #[values("full", "partial")] level: &str,
    #[values("400", "40")] most: &str,
) {
    let Some(place) = Place::new(identity) else {
        return;
    };
    let mut command = place.confined(level);
    command.args(["--processes", most]).args(python(MANY));
    let got = finish(&mut command);
    let started: u32 = got.stdout.trim().parse().unwrap_or(u32::MAX);
    let limit: u32 = most.parse().unwrap();
    let is_root = identity == Identity::Ourselves && rustix::process::geteuid().is_root();
    // The namespace lets so many more be there until its numbers have gone round.
    let more = match can_make_a_group("pids") || !is_root {
        true => 0,
        false => 300,
    };
    let allowed = limit + more;
    if is_root && level == "partial" && !can_make_a_group("pids") {
        say("SKIPPED(cgroup): root is held by control groups only, and none can be made here");
        return;
    }
    assert!(started <= allowed, "{got:?}");
    assert!(
        got.last.contains(&format!("killed_children={started} ")),
        "{got:?}"
    );
}

/// Of the numbers of a namespace the kernel takes the lowest 300 out of use once they have gone round:
/// a limit of 100 left 1 to go on with, and the 149th of these could not be started.
#[rstest]
#[case::by_a_group_or_the_namespace(Identity::Ourselves, "full")]
#[case::by_a_group(Identity::Ourselves, "partial")]
// Who can make no group here.
#[case::by_the_namespace(Identity::Nobody, "full")]
fn a_small_limit_of_processes_ended_a_command_after_300_of_them(
    #[case] identity: Identity,
    #[case] level: &str,
    #[values("100", "8")] most: &str,
) {
    let Some(place) = Place::new(identity) else {
        return;
    };
    let line = "i=0; while [ $i -lt 400 ]; do /bin/true | /bin/true; i=$((i+1)); done; echo $i";
    let mut command = place.confined(level);
    command.args(["--processes", most, "--", "/bin/sh", "-c", line]);
    let got = finish(&mut command);
    assert_eq!(got.stdout, "400\n", "{got:?}");
}

/// The group counts exactly, and the namespace has numbers enough for all that it lets be there.
#[test]
fn one_more_than_a_control_group_may_hold_is_refused_at_once() {
    let place = Place::new(Identity::Ourselves).unwrap();
    if !can_make_a_group("pids") {
        say("SKIPPED(cgroup): no control group can be made here");
        return;
    }
    let mut command = place.confined("full");
    command.args(["--processes", "100"]).args(python(MANY));
    let got = finish(&mut command);
    // The one that counts them is one of them.
    assert_eq!(got.stdout, "99\n", "{got:?}");
    assert!(
        got.stderr
            .contains("the limit of 100 processes was reached"),
        "{got:?}"
    );
}

/// As in many containers: the namespace was said to count although nobody could tell it to.
#[test]
fn where_proc_sys_is_read_only_a_group_counts_the_processes_of_root_or_that_nothing_does_is_said() {
    let Some(place) = Place::new(Identity::Ourselves) else {
        return;
    };
    if !we_are_root() {
        say("SKIPPED(not-root): another user is held by the limit of the user");
        return;
    }
    let mut confined = place.confined("full");
    confined.args(["--processes", "400"]).args(python(MANY));
    let script = "mount --bind /proc/sys /proc/sys && mount -o remount,bind,ro /proc/sys \
                  && ! test -w /proc/sys/kernel/pid_max && exec \"$0\" \"$@\"";
    let got = finish(&mut behind(
        &["unshare", "--mount", "/bin/sh", "-c", script],
        &confined,
    ));
    let started: u32 = got.stdout.trim().parse().unwrap();
    let is_told = got.stderr.contains("processes are not limited");
    if can_make_a_group("pids") {
        assert!(started <= 400 && !is_told, "{got:?}");
    } else {
        assert!(is_told, "{got:?}");
    }
}

/// 600 MiB, touched, in pieces.
const HUNGRY: &str =
    "b = []\nfor i in range(600):\n b.append(bytearray(1024 * 1024))\nprint('all of it')";

#[rstest]
fn a_command_that_wants_more_memory_than_it_may_have_ends(
    #[values(Identity::Ourselves, Identity::Nobody)] identity: Identity,
    #[values("full", "partial")] level: &str,
) {
    let Some(place) = Place::new(identity) else {
        return;
    };
    let mut command = place.confined(level);
    command.args(["--memory-mb", "128"]).args(python(HUNGRY));
    let got = finish(&mut command);
    assert!(!got.stdout.contains("all of it"), "{got:?}");
    let by_group = got.last.starts_with("signal=9 ") && got.stderr.contains("128 MiB was reached");
    let by_process = got.stderr.contains("MemoryError") && got.stderr.contains("for each process");
    if identity == Identity::Ourselves && can_make_a_group("memory") {
        assert!(by_group, "{got:?}");
    }
    assert!(by_group || by_process, "{got:?}");
    // What it may have it gets.
    let mut command = place.confined(level);
    command.args(["--memory-mb", "1024"]).args(python(HUNGRY));
    let got = finish(&mut command);
    assert_eq!(got.stdout, "all of it\n", "{got:?}");
}

#[rstest]
fn a_command_that_computes_too_long_ends(#[values("full", "partial", "unconfined")] level: &str) {
    let place = Place::new(Identity::Ourselves).unwrap();
    let mut command = match level {
        "unconfined" => place.unconfined(),
        level => place.confined(level),
    };
    command.args([
        "--cpu-seconds",
        "1",
        "--",
        "/bin/sh",
        "-c",
        "while :; do :; done",
    ]);
    let got = finish(&mut command);
    assert!(got.last.starts_with("signal="), "{got:?}");
}

/// The kernel tells how a process ended to its parent alone: what the shell's own command met is
/// known where it takes the shell's place, and else is no more than likely.
#[rstest]
#[case::by_itself("exec head -c 5m /dev/zero >file", "no file may have more than 4 MiB")]
#[case::by_a_command(
    "head -c 5m /dev/zero >file; exit $?",
    "perhaps: 153 is the exit code for a process that wanted more than 4 MiB in one file"
)]
#[case::in_the_background(
    "(head -c 5m /dev/zero >file & echo $! >pid); while kill -0 $(cat pid) 2>/dev/null; do sleep 0.01; done",
    "no file may have more than 4 MiB"
)]
#[case::by_its_own_wish(
    "exit 153",
    "perhaps: 153 is the exit code for a process that wanted more than 4 MiB in one file"
)]
fn a_file_limit_is_said_to_be_reached_only_where_that_is_known(
    #[case] script: &str,
    #[case] said: &str,
    #[values("full", "partial", "unconfined")] level: &str,
) {
    let place = Place::new(Identity::Ourselves).unwrap();
    let mut command = match level {
        "unconfined" => place.unconfined(),
        level => place.confined(level),
    };
    command.args(["--file-mb", "4", "--", "/bin/sh", "-c", script]);
    let got = finish(&mut command);
    let lines: Vec<&str> = got
        .stderr
        .lines()
        .filter(|line| line.contains("4 MiB"))
        .collect();
    assert_eq!(lines, [said], "{got:?}");
}

/// Each of them may use so much, and none was ended: it was said that perhaps one was.
#[test]
fn a_limit_of_time_was_hinted_at_for_what_many_processes_used_together() {
    let place = Place::new(Identity::Ourselves).unwrap();
    let mut command = place.confined("full");
    let line = "for i in 1 2 3 4; do /usr/bin/python3 -c 'import time\nwhile time.process_time() < 0.7: pass'; done";
    command.args(["--cpu-seconds", "2", "--", "/bin/sh", "-c", line]);
    let got = finish(&mut command);
    assert!(got.last.starts_with("code=0 "), "{got:?}");
    assert!(!got.stderr.contains("processor"), "{got:?}");
}

/// The shell goes on, and says in its own words how its command ended.
#[test]
fn time_that_a_command_of_the_shell_used_up_is_no_more_than_the_shell_says() {
    let place = Place::new(Identity::Ourselves).unwrap();
    let mut command = place.confined("full");
    let line = "/bin/sh -c 'while :; do :; done'; echo on";
    command.args(["--cpu-seconds", "1", "--", "/bin/sh", "-c", line]);
    let got = finish(&mut command);
    assert_eq!(got.stdout, "on\n", "{got:?}");
    let says = |words: &str| got.stderr.lines().any(|line| line.contains(words));
    assert!(
        says("CPU time limit exceeded") && !says("perhaps"),
        "{got:?}"
    );
}
