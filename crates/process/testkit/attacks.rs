//! What a hostile command would try, one system call at a time. `Ok` is a successful attack.

use std::ffi::{CString, c_long};
use std::io;
use std::os::fd::AsRawFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener, UnixStream};

/// Runs the attack of this name with its arguments.
pub(crate) fn attack(name: &str, args: &[String]) -> io::Result<()> {
    let arg = |index: usize| args.get(index).map_or("", String::as_str);
    match name {
        "tcp" => std::net::TcpStream::connect(arg(0)).map(drop),
        "udp" => {
            let socket = std::net::UdpSocket::bind("127.0.0.1:0")?;
            socket.send_to(b"out", arg(0)).map(drop)
        }
        "unix-stream" => UnixStream::connect(arg(0)).map(drop),
        "unix-listen" => UnixListener::bind(arg(0)).map(drop),
        "unix-abstract" => {
            let address = SocketAddr::from_abstract_name(arg(0))?;
            UnixStream::connect_addr(&address).map(drop)
        }
        "unix-datagram" => UnixDatagram::unbound()?.send_to(b"out", arg(0)).map(drop),
        // A connected pair needs no `socket`, and its ends can still send anywhere.
        "datagram-pair" => {
            let (one, _other) = UnixDatagram::pair()?;
            one.send_to(b"out", arg(0)).map(drop)
        }
        "stream-pair" => UnixStream::pair().map(drop),
        "mount" => {
            let (none, kind, target) = (text("none"), text("tmpfs"), text(arg(0)));
            // SAFETY: all strings are terminated and outlive the call.
            outcome(c_long::from(unsafe {
                libc::mount(
                    none.as_ptr(),
                    target.as_ptr(),
                    kind.as_ptr(),
                    0,
                    std::ptr::null(),
                )
            }))
        }
        "umount" => {
            let target = text(arg(0));
            // SAFETY: the string is terminated and outlives the call.
            outcome(c_long::from(unsafe {
                libc::umount2(target.as_ptr(), libc::MNT_DETACH)
            }))
        }
        "unshare" => {
            // SAFETY: no memory is passed.
            outcome(c_long::from(unsafe { libc::unshare(libc::CLONE_NEWUSER) }))
        }
        "clone" => clone_user_namespace(),
        "ptrace" => {
            let none = std::ptr::null_mut::<libc::c_void>();
            // SAFETY: seizing passes no memory.
            outcome(unsafe { libc::ptrace(libc::PTRACE_SEIZE, pid(arg(0)), none, none) })
        }
        "read-memory" => {
            let mut byte = [0_u8; 1];
            let local = libc::iovec {
                iov_base: byte.as_mut_ptr().cast(),
                iov_len: 0,
            };
            // SAFETY: nothing is read: the length is zero, which still checks the right to.
            outcome(unsafe {
                libc::process_vm_readv(pid(arg(0)), &raw const local, 1, &raw const local, 1, 0)
            } as c_long)
        }
        "kill" => {
            // SAFETY: no memory is passed.
            outcome(c_long::from(unsafe {
                libc::kill(pid(arg(0)), libc::SIGKILL)
            }))
        }
        "io_uring" => {
            let mut parameters = [0_u8; 120];
            syscall(
                libc::SYS_io_uring_setup,
                [4, parameters.as_mut_ptr() as c_long],
            )
        }
        "keyctl" => syscall(libc::SYS_keyctl, [0, -3]),
        "bpf" => {
            let attributes = [1_u32, 4, 4, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
            // SAFETY: the attributes are larger than what is said.
            outcome(unsafe { libc::syscall(libc::SYS_bpf, 0, attributes.as_ptr(), 48) })
        }
        "userfaultfd" => syscall(libc::SYS_userfaultfd, [1, 0]),
        "setns" => {
            let own = std::fs::File::open("/proc/self/ns/user")?;
            syscall(libc::SYS_setns, [c_long::from(own.as_raw_fd()), 0])
        }
        "open_tree" => {
            let path = text(arg(0));
            syscall(libc::SYS_open_tree, [-100, path.as_ptr() as c_long])
        }
        "x32" => syscall(0x4000_0000 | 39, [0, 0]),
        "chroot" => {
            let path = text(arg(0));
            syscall(libc::SYS_chroot, [path.as_ptr() as c_long, 0])
        }
        "lend-rights" => lend_rights(arg(0), arg(1)),
        "descriptors" => only_standard_descriptors(),
        other => Err(io::Error::other(format!("no such attack: {other}"))),
    }
}

/// Gives a new file the bits of `mode` by this call, and looks whether it has them.
fn lend_rights(call: &str, mode: &str) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt;
    let mode = u32::from_str_radix(mode, 8).map_err(io::Error::other)?;
    let name = format!("lent-by-{call}");
    let _ = std::fs::remove_file(&name);
    let path = text(&name);
    let at = path.as_ptr();
    let made_first = matches!(call, "chmod" | "fchmod" | "fchmodat" | "fchmodat2");
    let file = made_first
        .then(|| std::fs::File::create_new(&name))
        .transpose()?;
    let fd = file.as_ref().map_or(-1, AsRawFd::as_raw_fd);
    let flags = libc::O_CREAT | libc::O_RDWR;
    #[repr(C)]
    struct How([u64; 3]);
    let how = How([u64::from(flags.cast_unsigned()), u64::from(mode), 0]);
    // SAFETY: the path is terminated, and it and `how` outlive the calls, which own no other memory.
    outcome(unsafe {
        match call {
            #[cfg(target_arch = "x86_64")]
            "chmod" => libc::syscall(libc::SYS_chmod, at, mode),
            #[cfg(target_arch = "x86_64")]
            "open" => libc::syscall(libc::SYS_open, at, flags, mode),
            #[cfg(target_arch = "x86_64")]
            "creat" => libc::syscall(libc::SYS_creat, at, mode),
            #[cfg(target_arch = "x86_64")]
            "mknod" => libc::syscall(libc::SYS_mknod, at, mode | libc::S_IFREG, 0),
            "fchmod" => libc::syscall(libc::SYS_fchmod, fd, mode),
            "fchmodat" => libc::syscall(libc::SYS_fchmodat, libc::AT_FDCWD, at, mode),
            "fchmodat2" => libc::syscall(SYS_FCHMODAT2, libc::AT_FDCWD, at, mode, 0),
            "openat" => libc::syscall(libc::SYS_openat, libc::AT_FDCWD, at, flags, mode),
            "openat2" => libc::syscall(
                libc::SYS_openat2,
                libc::AT_FDCWD,
                at,
                &raw const how,
                size_of::<How>(),
            ),
            "mknodat" => libc::syscall(
                libc::SYS_mknodat,
                libc::AT_FDCWD,
                at,
                mode | libc::S_IFREG,
                0,
            ),
            other => return Err(io::Error::other(format!("no such call here: {other}"))),
        }
    })?;
    let got = std::fs::metadata(&name)?.mode();
    if got & 0o6000 == 0 {
        return Err(io::Error::other(format!("it got the mode {got:o}")));
    }
    Ok(())
}

/// Not in the C library's headers everywhere yet.
const SYS_FCHMODAT2: c_long = 452;

fn clone_user_namespace() -> io::Result<()> {
    let flags = c_long::from(libc::CLONE_NEWUSER | libc::SIGCHLD);
    // SAFETY: no memory is shared, so this is a fork; the child only exits.
    match unsafe { libc::syscall(libc::SYS_clone, flags, 0, 0, 0, 0) } {
        0 => {
            // SAFETY: ends the forked child.
            unsafe { libc::_exit(0) }
        }
        result => outcome(result),
    }
}

/// Succeeds, as an attack, if there is any descriptor but 0, 1, 2 and the one that looks.
fn only_standard_descriptors() -> io::Result<()> {
    let mut found: Vec<String> = std::fs::read_dir("/proc/self/fd")?
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    found.sort();
    if found == ["0", "1", "2", "3"] {
        Err(io::Error::other("only the standard descriptors"))
    } else {
        Ok(())
    }
}

fn syscall(number: c_long, args: [c_long; 2]) -> io::Result<()> {
    // SAFETY: the callers pass numbers, or pointers to memory that outlives the call.
    outcome(unsafe { libc::syscall(number, args[0], args[1]) })
}

fn outcome(result: c_long) -> io::Result<()> {
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}

fn pid(text: &str) -> libc::pid_t {
    text.parse().unwrap_or(libc::pid_t::MAX)
}

fn text(text: &str) -> CString {
    CString::new(text).unwrap_or_default()
}
