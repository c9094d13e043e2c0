//! What outlives even `SIGKILL`: told with the end of its command, and not as killed.

#![expect(clippy::panic, reason = "helpers of tests may fail the test")]

use std::path::{Path, PathBuf};
use std::time::Duration;

use outfitter_core::Offset;
use rstest::rstest;

use super::kit::{Backend, LIVENESS, World, alive, say, shell};

/// A control group of version 1 whose members can be frozen: no signal reaches them.
struct Freezer(PathBuf);

impl Freezer {
    fn new(name: &str) -> Option<Self> {
        let own = std::fs::read_to_string("/proc/self/cgroup").unwrap();
        let place = own.lines().find_map(|line| line.split_once(":freezer:"));
        let above = place.map(|(_, within)| format!("/sys/fs/cgroup/freezer{within}"));
        let name = format!("outfitter-test-{name}-{}", std::process::id());
        let dir = above.map(|above| Path::new(&above).join(name));
        let made = dir.filter(|dir| std::fs::create_dir(dir).is_ok());
        if made.is_none() {
            say("SKIPPED(cgroup): nothing can be frozen here");
        }
        made.map(Self)
    }

    async fn freeze(&self, pid: u32) {
        std::fs::write(self.0.join("cgroup.procs"), pid.to_string()).unwrap();
        let state = self.0.join("freezer.state");
        std::fs::write(&state, "FROZEN").unwrap();
        for _ in 0..6000 {
            if std::fs::read_to_string(&state).unwrap().trim() == "FROZEN" {
                return;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        panic!("it is never frozen");
    }
}

impl Drop for Freezer {
    fn drop(&mut self) {
        let _ = std::fs::write(self.0.join("freezer.state"), "THAWED");
        for _ in 0..6000 {
            if std::fs::remove_dir(&self.0).is_ok() {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// Who ends it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    Timeout,
    Kill,
    ItsOwnEnd,
}

#[rstest]
#[tokio::test]
async fn a_process_that_no_signal_reaches_was_told_as_killed(
    #[values(Backend::Local, Backend::Passthrough)] backend: Backend,
    #[values(By::Timeout, By::Kill, By::ItsOwnEnd)] by: By,
) {
    let Some(freezer) = Freezer::new(&format!("{backend:?}-{by:?}")) else {
        return;
    };
    let world = World::new();
    let Some(sandbox) = world.open(backend).await else {
        return;
    };
    let mark = format!("30{}{}{}", std::process::id(), backend as u8, by as u8);
    let mut command = shell(&match by {
        By::Timeout | By::Kill => format!("echo up; exec sleep {mark}"),
        By::ItsOwnEnd => format!("sleep {mark} & echo up; while [ ! -e go ]; do :; done"),
    });
    if by == By::Timeout {
        command.timeout = Duration::from_secs(5);
    }
    let job = sandbox.spawn(command).await.unwrap();
    sandbox.output(&job, Offset(0), 10, LIVENESS).await.unwrap();
    let sleeps = |pid: &u32| {
        let name = std::fs::read_to_string(format!("/proc/{pid}/comm"));
        name.is_ok_and(|name| name.trim() == "sleep")
    };
    let pid = loop {
        if let Some(pid) = alive(&mark).into_iter().find(sleeps) {
            break pid;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    };
    freezer.freeze(pid).await;
    let killed = match by {
        By::Kill => Some(sandbox.kill(&job, Duration::ZERO).await.unwrap().survivors),
        By::ItsOwnEnd => {
            std::fs::write(world.workspace.join("go"), "").unwrap();
            None
        }
        By::Timeout => None,
    };
    let exit = sandbox.wait(&job).await.unwrap();
    assert_eq!(exit.survivors.len(), 1, "{exit:?}");
    if let Some(killed) = killed {
        assert_eq!(killed, exit.survivors);
    }
}
