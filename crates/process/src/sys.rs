//! The system calls nobody wraps safely, each as small as it can be. Only the supervisor uses them,
//! and the supervisor is single-threaded: that is what makes `fork` and allocation after it sound.

use std::ffi::{CStr, c_int, c_long};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::ptr;
use std::time::Duration;

use rustix::process::Pid;

/// One side of a fork.
pub(crate) enum Forked {
    /// The new process.
    Child,
    /// The old one, with the new one's id.
    Parent(Pid),
}

/// `fork`.
pub(crate) fn fork() -> io::Result<Forked> {
    // SAFETY: the supervisor has one thread, so no lock can be held by a thread that is not copied.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => Ok(Forked::Child),
        pid => Pid::from_raw(pid)
            .map(Forked::Parent)
            .ok_or_else(|| io::ErrorKind::InvalidData.into()),
    }
}

/// `clone` without sharing anything, into new namespaces: a `fork` with flags. In the parent, the
/// new process and a pidfd on it.
pub(crate) fn fork_into(namespaces: c_int) -> io::Result<Option<(Pid, OwnedFd)>> {
    let flags = c_long::from(namespaces | libc::CLONE_PIDFD | libc::SIGCHLD);
    let mut pidfd: c_int = -1;
    let none: *mut c_int = ptr::null_mut();
    // SAFETY: no stack and no CLONE_VM, so the child goes on on its own copy of this stack, as after
    // fork; the only pointer is to a local the kernel writes a descriptor to before returning. The
    // order of the last two arguments differs between architectures and both are null.
    let pid = unsafe {
        libc::syscall(
            libc::SYS_clone,
            flags,
            ptr::null_mut::<libc::c_void>(),
            &raw mut pidfd,
            none,
            none,
        )
    };
    match pid {
        -1 => Err(io::Error::last_os_error()),
        0 => Ok(None),
        pid => {
            // SAFETY: the kernel has just made this descriptor for us.
            let pidfd = unsafe { OwnedFd::from_raw_fd(pidfd) };
            i32::try_from(pid)
                .ok()
                .and_then(Pid::from_raw)
                .map(|pid| Some((pid, pidfd)))
                .ok_or_else(|| io::ErrorKind::InvalidData.into())
        }
    }
}

/// How much time of the processor our children that have ended have used, with theirs.
pub(crate) fn time_of_children() -> Duration {
    // SAFETY: all its fields are numbers, of which zero is one; the call fills it in.
    let usage = unsafe {
        let mut usage = std::mem::zeroed::<libc::rusage>();
        if libc::getrusage(libc::RUSAGE_CHILDREN, &raw mut usage) != 0 {
            return Duration::ZERO;
        }
        usage
    };
    let time = |value: libc::timeval| {
        let seconds = Duration::from_secs(value.tv_sec.try_into().unwrap_or(0));
        seconds + Duration::from_micros(value.tv_usec.try_into().unwrap_or(0))
    };
    time(usage.ru_utime) + time(usage.ru_stime)
}

/// Gives this process namespaces of its own.
pub(crate) fn unshare(flags: c_int) -> io::Result<()> {
    // SAFETY: the call touches no memory; we are single-threaded, which a user namespace asks for.
    if unsafe { libc::unshare(flags) } == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// `execve`; returns only on failure.
pub(crate) fn execve(program: &CStr, argv: &CStrings, env: &CStrings) -> io::Error {
    // SAFETY: both arrays are null-terminated and their strings live as long as the owners do.
    unsafe { libc::execve(program.as_ptr(), argv.as_ptr(), env.as_ptr()) };
    io::Error::last_os_error()
}

/// Strings in the form `execve` takes.
pub(crate) struct CStrings {
    pointers: Vec<*const libc::c_char>,
    /// What the pointers point into; never changed after they were taken.
    _strings: Vec<std::ffi::CString>,
}

impl CStrings {
    pub(crate) fn new(strings: Vec<std::ffi::CString>) -> Self {
        let pointers = strings
            .iter()
            .map(|s| s.as_ptr())
            .chain([ptr::null()])
            .collect();
        Self {
            pointers,
            _strings: strings,
        }
    }

    fn as_ptr(&self) -> *const *const libc::c_char {
        self.pointers.as_ptr()
    }
}

/// Ends this process at once, running nothing.
pub(crate) fn exit_now(code: c_int) -> ! {
    // SAFETY: `_exit` has no preconditions.
    unsafe { libc::_exit(code) }
}

/// Blocks every signal that can be blocked, and returns a descriptor that becomes readable when a
/// child of ours ends.
pub(crate) fn block_signals() -> io::Result<OwnedFd> {
    // SAFETY: the sets are initialised by the calls before they are used, and the descriptor that
    // `signalfd` returns is new and ours.
    unsafe {
        let mut every = std::mem::zeroed::<libc::sigset_t>();
        libc::sigfillset(&raw mut every);
        if libc::sigprocmask(libc::SIG_SETMASK, &raw const every, ptr::null_mut()) != 0 {
            return Err(io::Error::last_os_error());
        }
        let mut child = std::mem::zeroed::<libc::sigset_t>();
        libc::sigemptyset(&raw mut child);
        libc::sigaddset(&raw mut child, libc::SIGCHLD);
        match libc::signalfd(-1, &raw const child, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK) {
            -1 => Err(io::Error::last_os_error()),
            fd => Ok(OwnedFd::from_raw_fd(fd)),
        }
    }
}

/// Signals as a program expects them: default dispositions, none blocked. Our runtime ignores
/// `SIGPIPE` and the supervisor blocks everything; both would be inherited.
pub(crate) fn reset_signals() -> io::Result<()> {
    /// `_NSIG` of the kernel.
    const SIGNALS: c_int = 64;
    // All zero is the kernel's structure for "default, no flags, nothing masked"; it is 32 bytes or
    // less. Not by the C library, which keeps two signals for itself and would leave them ignored.
    let default = [0_u64; 4];
    let none: *mut libc::c_void = ptr::null_mut();
    for signal in 1..=SIGNALS {
        // SAFETY: the kernel reads the structure only; numbers that cannot be set fail and stay.
        unsafe {
            libc::syscall(
                libc::SYS_rt_sigaction,
                signal,
                default.as_ptr(),
                none,
                size_of::<u64>(),
            )
        };
    }
    // SAFETY: the set is initialised before it is used.
    let result = unsafe {
        let mut none = std::mem::zeroed::<libc::sigset_t>();
        libc::sigemptyset(&raw mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const none, ptr::null_mut())
    };
    if result == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// Marks every descriptor above 2 to be closed by `execve`.
pub(crate) fn close_the_rest_on_exec() -> io::Result<()> {
    // SAFETY: only a flag of descriptors is set, none is closed under its owner.
    let result = unsafe {
        libc::syscall(
            libc::SYS_close_range,
            3_u32,
            u32::MAX,
            libc::CLOSE_RANGE_CLOEXEC,
        )
    };
    if result == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// What [`set_mount_attributes`] changes.
#[derive(Clone, Copy)]
pub(crate) struct MountAttributes {
    pub(crate) set: u64,
    pub(crate) propagation: u64,
}

/// `mount_setattr` on a whole tree, or on one mount.
pub(crate) fn set_mount_attributes(
    tree: BorrowedFd<'_>,
    recursive: Recursive,
    attributes: MountAttributes,
) -> io::Result<()> {
    let flags = libc::AT_EMPTY_PATH
        | match recursive {
            Recursive::Yes => libc::AT_RECURSIVE,
            Recursive::No => 0,
        };
    let attr = libc::mount_attr {
        attr_set: attributes.set,
        attr_clr: 0,
        propagation: attributes.propagation,
        userns_fd: 0,
    };
    // SAFETY: the structure is of the size that is passed with it and outlives the call.
    let result = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            tree.as_raw_fd(),
            c"".as_ptr(),
            flags,
            &raw const attr,
            size_of::<libc::mount_attr>(),
        )
    };
    if result == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// Whether a call goes for the mounts below, too.
#[derive(Clone, Copy)]
pub(crate) enum Recursive {
    Yes,
    No,
}

/// Installs a seccomp filter on this process and all it becomes.
pub(crate) fn install_filter(program: &[libc::sock_filter]) -> io::Result<()> {
    let len = u16::try_from(program.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
    let prog = libc::sock_fprog {
        len,
        filter: program.as_ptr().cast_mut(),
    };
    // SAFETY: the kernel copies the program, whose length is right, and does not write to it.
    let result = unsafe {
        libc::syscall(
            libc::SYS_seccomp,
            libc::SECCOMP_SET_MODE_FILTER,
            0,
            &raw const prog,
        )
    };
    if result == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// The kernel's Landlock ABI; 0 or less if there is none. Asked of the call itself: the file that
/// also says it may not be mounted.
pub(crate) fn landlock_abi() -> i32 {
    const CREATE_RULESET_VERSION: u32 = 1;
    // SAFETY: with this flag the call reads no memory.
    let version = unsafe {
        libc::syscall(
            libc::SYS_landlock_create_ruleset,
            ptr::null::<libc::c_void>(),
            0_usize,
            CREATE_RULESET_VERSION,
        )
    };
    i32::try_from(version).unwrap_or(0)
}

/// Signals every process of our process namespace but ourselves. Only sound as its first process,
/// where "every process" is exactly the child's tree; the caller says so by having checked.
pub(crate) fn signal_whole_namespace(signal: c_int) {
    // SAFETY: `kill` touches no memory. That there is nothing to signal is not an error for us.
    unsafe { libc::kill(-1, signal) };
}

/// Brings up the loopback device of our network namespace.
pub(crate) fn loopback_up() -> io::Result<()> {
    let socket = rustix::net::socket(
        rustix::net::AddressFamily::INET,
        rustix::net::SocketType::DGRAM,
        None,
    )?;
    // SAFETY: all its fields are numbers, of which zero is one.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(b"lo") {
        *to = libc::c_char::from_ne_bytes([*from]);
    }
    let up = libc::IFF_UP | libc::IFF_RUNNING;
    request.ifr_ifru.ifru_flags = libc::c_short::try_from(up).unwrap_or_default();
    // SAFETY: the request outlives the call, which reads it.
    let result = unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS, &raw const request) };
    if result == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}
