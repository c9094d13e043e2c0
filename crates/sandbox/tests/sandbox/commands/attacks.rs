//! The same attacks on every backend that holds anything: a terminal, the clock, calls into the
//! kernel, devices, sockets, the processes of another command, limits, what lies outside.
//!
//! Each is a script of Python that prints `got through: …` for what should not have been possible,
//! and `done` at its end. One that is harmless is first shown to get through without a sandbox.

use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};

use outfitter_core::Sandbox;
use outfitter_sandbox::{Host, bwrap, local, probe};
use rstest::rstest;

use super::kit::{Backend, LIVENESS, World, alive, bwrap_is_there, heard, shell, supervisor};

/// What each script begins with. `refused` calls something and says when it was not refused;
/// `denied` also holds the refusal to be one of permission and not of its arguments.
const PRELUDE: &str = r"
import ctypes, errno, fcntl, os, resource, signal, socket, stat, sys, termios, time
libc = ctypes.CDLL(None, use_errno=True)

def refused(what, call, *args):
    try:
        call(*args)
    except (OSError, ValueError):
        return
    print('got through:', what)

def denied(what, *args):
    ctypes.set_errno(0)
    result = libc.syscall(*[ctypes.c_long(arg) for arg in args])
    error = ctypes.get_errno()
    if result != -1 or error not in (errno.EPERM, errno.ENOSYS):
        print('got through:', what, result, errno.errorcode.get(error))

";

/// What a script said.
async fn said(world: &World, sandbox: &dyn Sandbox, script: &str) -> String {
    let text = format!("{PRELUDE}{script}\nprint('done')\n");
    std::fs::write(world.workspace.join("attack.py"), text).unwrap();
    let (out, err) = heard(sandbox, shell("python3 attack.py")).await;
    assert!(out.ends_with("done\n"), "it did not end: {out}{err}");
    out
}

async fn assert_held(backend: Backend, script: &str) {
    let world = World::new();
    let Some(sandbox) = world.open(backend).await else {
        return;
    };
    assert_eq!(said(&world, &*sandbox, script).await, "done\n");
}

/// Whoever opens it gets an error at once, and does not wait for somebody to type.
#[rstest]
#[tokio::test]
async fn there_is_no_terminal_to_open_or_to_type_into(
    #[values(Backend::Local, Backend::Partial, Backend::Bwrap, Backend::Passthrough)]
    backend: Backend,
) {
    assert_held(
        backend,
        r"
refused('the terminal', os.open, '/dev/tty', os.O_RDWR)
refused('typing into it', fcntl.ioctl, 0, termios.TIOCSTI, b'x')
refused('taking it', fcntl.ioctl, 0, termios.TIOCSCTTY, 1)
for fd in (0, 1, 2):
    if os.isatty(fd):
        print('got through: a terminal at', fd)
if sys.stdin.read() != '':
    print('got through: input')
if os.getsid(0) == os.getpid() and os.getppid() == 0:
    print('got through: the session')
",
    )
    .await;
}

#[rstest]
#[tokio::test]
async fn the_clock_and_the_name_of_the_machine_stay(
    #[values(Backend::Local, Backend::Partial, Backend::Bwrap)] backend: Backend,
) {
    assert_held(
        backend,
        r"
refused('clock_settime', time.clock_settime, time.CLOCK_REALTIME, time.time())
refused('sethostname', socket.sethostname, socket.gethostname())
class Timeval(ctypes.Structure):
    _fields_ = [('s', ctypes.c_long), ('us', ctypes.c_long)]
now = Timeval(int(time.time()), 0)
if libc.settimeofday(ctypes.byref(now), None) == 0:
    print('got through: settimeofday')
refused('the clock of the machine', os.open, '/dev/rtc0', os.O_WRONLY)
",
    )
    .await;
}

/// By their numbers, with arguments that no kernel takes: whoever is asked about the arguments has
/// passed the filter.
#[cfg(target_arch = "x86_64")]
#[rstest]
#[case::namespaces("unshare", "272, 0x10000000")]
#[case::user_and_mount("unshare", "272, 0x10020000")]
#[case::entering("setns", "308, -1, 0")]
#[case::tracing("ptrace", "101, 0, 0, 0, 0")]
#[case::reading("process_vm_readv", "310, 1, 0, 0, 0, 0, 0")]
#[case::writing("process_vm_writev", "311, 1, 0, 0, 0, 0, 0")]
#[case::descriptors("pidfd_getfd", "438, -1, 0, 0")]
#[case::comparing("kcmp", "312, 1, 1, 0, 0, 0")]
#[case::keys("keyctl", "250, 0, -3, 1")]
#[case::adding_keys("add_key", "248, 0, 0, 0, 0, 0")]
#[case::asking_for_keys("request_key", "249, 0, 0, 0, 0")]
#[case::rings("io_uring_setup", "425, 0, 0")]
#[case::entering_rings("io_uring_enter", "426, -1, 0, 0, 0, 0, 0")]
#[case::filters("bpf", "321, -1, 0, 0")]
#[case::counters("perf_event_open", "298, 0, 0, -1, -1, 0")]
#[case::faults("userfaultfd", "323, -1")]
#[case::handles("open_by_handle_at", "304, -1, 0, 0")]
#[case::mounting("mount", "165, 0, 0, 0, 0, 0")]
#[case::unmounting("umount2", "166, 0, -1")]
#[case::pivot("pivot_root", "155, 0, 0")]
#[case::another_root("chroot", "161, 0")]
#[case::trees("open_tree", "428, -1, 0, -1")]
#[case::moving_mounts("move_mount", "429, -1, 0, -1, 0, -1")]
#[case::new_file_systems("fsopen", "430, 0, -1")]
#[case::watching("fanotify_init", "300, -1, 0")]
#[case::modules("init_module", "175, 0, 0, 0")]
#[case::another_kernel("kexec_load", "246, 0, -1, 0, -1")]
#[case::swap("swapon", "167, 0, -1")]
#[case::accounting("acct", "163, -1")]
#[case::the_log_of_the_kernel("syslog", "103, 10, 0, 0")]
#[case::ports("iopl", "172, 3")]
#[tokio::test]
async fn calls_into_the_kernel_that_lead_out_are_refused(
    #[case] name: &str,
    #[case] call: &str,
    #[values(Backend::Local, Backend::Partial, Backend::Bwrap)] backend: Backend,
) {
    assert_held(backend, &format!("denied('{name}', {call})")).await;
}

#[rstest]
#[tokio::test]
async fn no_device_can_be_made_or_opened(
    #[values(Backend::Local, Backend::Partial, Backend::Bwrap)] backend: Backend,
) {
    assert_held(
        backend,
        r"
refused('a disk', os.mknod, 'disk', stat.S_IFBLK | 0o600, os.makedev(8, 0))
refused('memory', os.mknod, 'mem', stat.S_IFCHR | 0o600, os.makedev(1, 1))
for path in ('/dev/mem', '/dev/kmsg', '/dev/sda', '/dev/vda', '/dev/fuse', '/dev/kvm', '/dev/loop0'):
    refused(path, os.open, path, os.O_RDONLY)
",
    )
    .await;
}

#[rstest]
#[tokio::test]
async fn what_proc_and_sys_would_change_or_tell_is_closed(
    #[values(Backend::Local, Backend::Partial, Backend::Bwrap)] backend: Backend,
) {
    assert_held(
        backend,
        r"
def write(path):
    with open(path, 'r+b', buffering=0) as file:
        file.write(file.read(64))
for path in ('/proc/sys/kernel/hostname', '/proc/sys/vm/overcommit_memory', '/proc/sys/kernel/modprobe'):
    refused(path, write, path)
refused('sysrq', os.open, '/proc/sysrq-trigger', os.O_WRONLY)
refused('the memory of the kernel', os.open, '/proc/kcore', os.O_RDONLY)
refused('a helper of the kernel', os.open, '/sys/kernel/uevent_helper', os.O_WRONLY)
refused('a control group', os.mkdir, '/sys/fs/cgroup/got-through')
refused('its own user map', write, '/proc/self/uid_map')
",
    )
    .await;
}

#[rstest]
#[tokio::test]
async fn no_family_of_sockets_reaches_anything(
    #[values(Backend::Local, Backend::Partial, Backend::Bwrap)] backend: Backend,
) {
    assert_held(
        backend,
        r"
families = {'unix': 1, 'inet': 2, 'inet6': 10, 'netlink': 16, 'packet': 17, 'alg': 38, 'vsock': 40, 'xdp': 44}
for name, family in families.items():
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW):
        refused(name, socket.socket, family, kind)
",
    )
    .await;
}

/// A service of this machine that has no file has no permissions either.
#[rstest]
#[tokio::test]
async fn an_abstract_socket_is_not_reached(
    #[values(Backend::Local, Backend::Partial, Backend::Bwrap)] backend: Backend,
) {
    let name = format!("outfitter-attack-{}-{backend:?}", std::process::id());
    let _listens =
        UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
    let script =
        format!("refused('it', lambda: socket.socket(socket.AF_UNIX).connect('\\0{name}'))");
    assert_held(backend, &script).await;
    let world = World::new();
    let open = world.open(Backend::Passthrough).await.unwrap();
    let control = said(&world, &*open, &script).await;
    assert!(control.contains("got through: it"), "{control}");
}

/// Two commands of one session, one of which does not trust the other.
#[rstest]
#[tokio::test]
async fn the_process_of_a_command_beside_it_is_neither_signalled_traced_nor_read(
    #[values(Backend::Local, Backend::Partial, Backend::Bwrap)] backend: Backend,
) {
    let script = |pid: u32| {
        format!(
            "refused('a signal', os.kill, {pid}, 0)\n\
             refused('its memory', os.open, '/proc/{pid}/mem', os.O_RDONLY)\n\
             refused('its environment', lambda: open('/proc/{pid}/environ').read())\n\
             refused('its descriptors', os.readlink, '/proc/{pid}/fd/1')\n\
             refused('its root', os.listdir, '/proc/{pid}/root/')\n\
             if libc.ptrace(16, {pid}, 0, 0) == 0: print('got through: tracing')\n"
        )
    };
    let world = World::new();
    let Some(sandbox) = world.open(backend).await else {
        return;
    };
    let pid = sleeper(&*sandbox, &format!("86397.{}", backend as u32 + 1)).await;
    assert_eq!(said(&world, &*sandbox, &script(pid)).await, "done\n");
    drop(sandbox);

    let world = World::new();
    let open = world.open(Backend::Passthrough).await.unwrap();
    let pid = sleeper(&*open, &format!("86398.{}", backend as u32 + 1)).await;
    let control = said(&world, &*open, &script(pid)).await;
    assert!(control.contains("got through: a signal"), "{control}");
}

/// A command that sleeps, by the number of its process on this machine.
async fn sleeper(sandbox: &dyn Sandbox, marker: &str) -> u32 {
    let line = format!("exec sleep {marker}");
    sandbox.spawn(shell(&line)).await.unwrap();
    let is_sleep = |pid: &u32| {
        std::fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name == "sleep\n")
    };
    let begun = std::time::Instant::now();
    while begun.elapsed() < LIVENESS {
        if let Some(pid) = alive(marker).into_iter().find(is_sleep) {
            return pid;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    unreachable!("nothing sleeps");
}

#[rstest]
#[tokio::test]
async fn neither_limits_nor_rights_can_be_raised(
    #[values(Backend::Local, Backend::Partial, Backend::Bwrap)] backend: Backend,
) {
    assert_held(
        backend,
        r"
for limit in (resource.RLIMIT_NOFILE, resource.RLIMIT_FSIZE, resource.RLIMIT_CORE):
    hard = resource.getrlimit(limit)[1]
    if hard == resource.RLIM_INFINITY:
        print('got through: no limit', limit)
    refused('a higher limit', resource.setrlimit, limit, (hard + 1, hard + 1))
refused('a priority', os.setpriority, os.PRIO_PROCESS, 0, -5)
refused('groups', os.setgroups, [0, 1])
refused('another user', os.setresuid, 1, 1, 1)
refused('real time', os.sched_setscheduler, 0, os.SCHED_FIFO, os.sched_param(50))
",
    )
    .await;
}

#[rstest]
#[tokio::test]
async fn nothing_outside_is_written_linked_to_or_moved(
    #[values(Backend::Local, Backend::Partial, Backend::Bwrap)] backend: Backend,
) {
    let outside = tempfile::Builder::new().tempdir_in("/var/tmp").unwrap();
    let victim = outside.path().join("victim");
    std::fs::write(&victim, "precious").unwrap();
    let (dir, file) = (outside.path().display(), victim.display());
    assert_held(
        backend,
        &format!(
            r"
refused('appending', open, '{file}', 'a')
refused('cutting', os.truncate, '{file}', 0)
refused('removing', os.remove, '{file}')
refused('renaming', os.rename, '{file}', '{file}.old')
refused('making', open, '{dir}/new', 'w')
refused('a directory', os.mkdir, '{dir}/new')
refused('a hard link', os.link, '{file}', 'linked')
refused('moving in', os.rename, '{file}', 'moved')
os.symlink('{dir}', 'way')
refused('through a link', open, 'way/new', 'w')
os.symlink('{file}', 'straight')
refused('through a link to it', open, 'straight', 'w')
refused('by the root of a process', open, '/proc/self/root{file}', 'w')
refused('by a directory of a process', open, '/proc/self/cwd/../../../../../..{file}', 'w')
refused('the users', open, '/etc/passwd', 'a')
refused('the shadow', open, '/etc/shadow')
refused('a program', open, '/usr/bin/got-through', 'w')
"
        ),
    )
    .await;
    assert_eq!(std::fs::read_to_string(&victim).unwrap(), "precious");
    assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 1);
}

/// A disk is not filled by one file, and whoever tries is ended by the signal that says so.
#[rstest]
#[tokio::test]
async fn a_file_does_not_grow_over_the_limit(
    #[values(Backend::Local, Backend::Partial, Backend::Bwrap, Backend::Passthrough)]
    backend: Backend,
) {
    let world = World::new();
    let mut session = world.session(Host {
        path: Some("/usr/bin:/bin".into()),
        ..Host::default()
    });
    session.limits.file_bytes = 1 << 20;
    let mut policy = world.policy(probe(&supervisor()).await.unwrap());
    let sandbox = match backend {
        Backend::Local => local::open(session, policy),
        Backend::Partial => {
            policy.support.level = policy.support.level.min(outfitter_process::Level::Partial);
            local::open(session, policy)
        }
        Backend::Bwrap if bwrap_is_there() => bwrap::open(session, policy).await,
        Backend::Bwrap => return,
        Backend::Passthrough => outfitter_sandbox::passthrough::open(session),
        Backend::Ssh => unreachable!("nothing confines a command there"),
    };
    let sandbox = sandbox.unwrap();
    let line = "head -c 4m /dev/zero > big; wc -c < big; echo small > small && cat small";
    let (out, err) = heard(&sandbox, shell(line)).await;
    assert_eq!(out, "1048576\nsmall\n", "{err}");
}
