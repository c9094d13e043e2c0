//! What a tree may use: processes, memory, time of the processor, whoever runs it.

use rstest::rstest;

use crate::kit::{Identity, Place, behind, can_make_a_group, finish, say, we_are_root};

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
    // `full` has a least number of its own where no control group counts.
    let allowed = limit.max(301);
    let is_root = identity == Identity::Ourselves && rustix::process::geteuid().is_root();
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
    "(head -c 5m /dev/zero >file & ) ; sleep 0.3",
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

/// The shell goes on, and only the time that all have used tells of it.
#[rstest]
#[case::one_of_a_shell(
    "/bin/sh -c 'while :; do :; done'; echo on",
    Some("perhaps one of its processes was ended")
)]
#[case::none("echo on", None)]
fn time_of_the_processor_that_a_command_of_the_shell_used_up_is_hinted_at(
    #[case] script: &str,
    #[case] said: Option<&str>,
) {
    let place = Place::new(Identity::Ourselves).unwrap();
    let mut command = place.confined("full");
    command.args(["--cpu-seconds", "1", "--", "/bin/sh", "-c", script]);
    let got = finish(&mut command);
    assert_eq!(got.stdout, "on\n", "{got:?}");
    let line = got.stderr.lines().find(|line| line.contains("perhaps"));
    match said {
        Some(said) => assert!(line.is_some_and(|line| line.starts_with(said)), "{got:?}"),
        None => assert_eq!(line, None, "{got:?}"),
    }
}
