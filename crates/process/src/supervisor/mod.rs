//! The supervisor: what runs between us and the child.
//!
//! It is forked for the child by the [`nursery`], a process that was executed once; it is
//! single-threaded and its own environment is empty. Without namespaces one process does it
//! all: it prepares the confinement, forks the child, reaps ([`reaper`]) and reports. With them there
//! are two: the outer one stays outside as a [`guard`], and the inner one is the first process of the
//! new process namespace, so that its death is the death of everything in it.
//!
//! - [`limits`], [`cgroup`], [`hierarchies`], [`evidence`]: what a tree may use, and how it is known
//!   that it used it up
//! - [`roots`]: paths resolved and opened before anything is confined
//! - [`namespaces`], [`mounts`], [`devices`]: what `full` adds
//! - [`sockets`]: local sockets, which a read-only mount does not hold
//! - [`outlet`]: the one way out of a network of its own
//! - [`landlock`], [`seccomp`]: prepared here, entered by the child
//! - [`launch`]: fork, the child's last steps, `execve`
//! - [`reaper`], [`tree`]: waiting and killing
//! - [`wards`]: what becomes of supervisors that are killed, stopped or left alone

mod bpf;
mod cgroup;
mod control;
mod devices;
mod evidence;
mod guard;
mod hierarchies;
mod landlock;
mod launch;
mod limits;
mod mounts;
mod namespaces;
mod nursery;
mod outlet;
mod reaper;
mod roots;
mod seccomp;
mod sockets;
mod tree;
mod wards;

use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::Mode;
use rustix::process::DumpableBehavior;

use crate::landlock_rights::falls_short;
use crate::spec::{Confined, Confinement, Level, Net, Network};
use crate::stage::Stage;
use crate::sys;
use crate::wire::{Failure, Order, Report, Task};

use control::Control;
use launch::Launch;
use limits::Held;
use namespaces::Ahead;
use nursery::{Request, put};
use reaper::{Scope, Spared, Watch};
use roots::Roots;

pub(crate) use crate::sys::landlock_abi;
pub(crate) use nursery::nursery;
use seccomp::Numbered;
pub use seccomp::seccomp_program;

/// Exit code of a supervisor that nobody gave an order.
const NO_ORDER: i32 = 65;

/// Runs the supervisor of one child, in a process that was forked for it, and ends that.
fn supervise_one(request: Request, ahead: Ahead) -> ! {
    let Ok(mut control) = begin(request) else {
        sys::exit_now(NO_ORDER);
    };
    let outcome = match control.order() {
        Ok(order) => supervise(&mut control, order, ahead),
        Err(failure) => Err(failure),
    };
    let code = match outcome {
        Ok(()) => 0,
        Err(failure) => {
            control.report(&Report::Failed(failure));
            1
        }
    };
    sys::exit_now(code)
}

/// The child's outputs become ours, for the child to inherit.
fn begin(request: Request) -> std::io::Result<Control> {
    let Request {
        control,
        stdout,
        stderr,
    } = request;
    // In a session of its own: what is sent to the nursery's group is not for us.
    rustix::process::setsid()?;
    wards::go_on_without_a_parent()?;
    put(stdout.as_fd(), 1)?;
    put(stderr.as_fd(), 2)?;
    drop((stdout, stderr));
    Control::take(control)
}

fn supervise(control: &mut Control, order: Order, ahead: Ahead) -> Result<(), Failure> {
    rustix::process::umask(Mode::from_raw_mode(0o022));
    let signals = sys::block_signals().or_fail(Stage::Prepare, "signals")?;
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))
        .or_fail(Stage::Prepare, "subreaper")?;

    let Order { task, spec } = order;
    let confinement = spec.confinement.clone();
    match confinement.net() {
        Net::Ours => {}
        Net::Own => ahead.network()?,
    }
    let outer = rustix::process::getpid();
    let mut held = Held::begin(spec.limits, &confinement);
    if task == Task::Probe {
        held.explain();
    }
    let mut launch = Launch::prepare(task, spec)?;
    launch.limit(held.of_each_process(), held.entrances());
    let outcome = supervise_within(control, &signals, launch, &confinement, &mut held);
    // Inside the namespaces it is not ours to end: the guard is outside, and the last to go.
    if rustix::process::getpid() == outer {
        held.end();
    }
    outcome
}

fn supervise_within(
    control: &mut Control,
    signals: &OwnedFd,
    mut launch: Launch,
    confinement: &Confinement,
    held: &mut Held,
) -> Result<(), Failure> {
    let mut spared = Spared::Nobody;
    match confinement {
        Confinement::Unconfined => {}
        Confinement::Wrapper => spared = Spared::TheChild,
        Confinement::WrapperWithOutlet => {
            outlet::open(control.take_channel())?;
            spared = Spared::TheChild;
        }
        Confinement::Confined(confined) => {
            let abi = u32::try_from(landlock_abi()).unwrap_or(0);
            if let Some(why) = falls_short(abi, confined.level) {
                return Err(Failure {
                    stage: Stage::Landlock,
                    errno: libc::EOPNOTSUPP,
                    detail: why,
                });
            }
            let numbered = match confined.level {
                Level::Full => Numbered::Own,
                Level::Partial | Level::None => Numbered::All,
            };
            launch.confine(seccomp::filter(confined.network, numbered));
            match confined.level {
                Level::None | Level::Partial if confined.network == Network::Outlet => {
                    return Err(Failure {
                        stage: Stage::Outlet,
                        errno: libc::EOPNOTSUPP,
                        detail: "it takes a network namespace".to_owned(),
                    });
                }
                Level::None => {}
                Level::Partial => {
                    let roots = Roots::resolve(confined)?;
                    launch.restrict(landlock::without_mounts(&roots, confined.network)?);
                }
                Level::Full => {
                    return supervise_namespaced(control, confined, launch, signals, held);
                }
            }
        }
    }
    hide_from_others()?;
    // From here on it may run, whatever becomes of us before we can say that it does.
    control.report(&Report::Starting);
    let child = launch.start()?;
    control.release_streams();
    control.report(&Report::Started);
    let watch = Watch {
        child,
        scope: Scope::Descendants,
        spared,
        notes: Vec::new(),
    };
    reaper::run(control, signals, watch, held);
    Ok(())
}

fn supervise_namespaced(
    control: &mut Control,
    confined: &Confined,
    mut launch: Launch,
    signals: &OwnedFd,
    held: &mut Held,
) -> Result<(), Failure> {
    match namespaces::enter()? {
        namespaces::Side::Outside(inner) => {
            control.release_streams();
            guard::run(control, &inner, signals);
            Ok(())
        }
        namespaces::Side::Inside(user) => {
            namespaces::settle(user)?;
            held.inside();
            match confined.network {
                Network::Off | Network::Alone | Network::On => {}
                Network::Outlet => outlet::open(control.take_channel())?,
            }
            // Here and not before: handles of the outer mount namespace are of no use in this one.
            let roots = Roots::resolve(confined)?;
            let view = mounts::build(&roots, confined.network)?;
            hide_from_others()?;
            launch.restrict(landlock::with_mounts(&roots, &view, confined.network)?);
            control.report(&Report::Starting);
            let child = launch.start()?;
            control.release_streams();
            control.report(&Report::Started);
            let watch = Watch {
                child,
                scope: Scope::Namespace,
                spared: Spared::Nobody,
                notes: view.sockets.notes(),
            };
            reaper::run(control, signals, watch, held);
            Ok(())
        }
    }
}

/// The supervisor's memory holds the child's environment and its descriptors reach the parent: no
/// process of the same user may look. So it is from its birth in the nursery, but for the moment in
/// which it maps its user.
fn hide_from_others() -> Result<(), Failure> {
    rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable)
        .or_fail(Stage::Prepare, "dumpable")
}

/// Turns a system error into the report of a failed step.
trait OrFail<T> {
    fn or_fail(self, stage: Stage, detail: &str) -> Result<T, Failure>;
}

impl<T> OrFail<T> for std::io::Result<T> {
    fn or_fail(self, stage: Stage, detail: &str) -> Result<T, Failure> {
        self.map_err(|error| Failure {
            stage,
            errno: error.raw_os_error().unwrap_or(libc::EIO),
            detail: detail.to_owned(),
        })
    }
}

impl<T> OrFail<T> for rustix::io::Result<T> {
    fn or_fail(self, stage: Stage, detail: &str) -> Result<T, Failure> {
        self.map_err(|errno| Failure {
            stage,
            errno: errno.raw_os_error(),
            detail: detail.to_owned(),
        })
    }
}
