//! Which system calls a confined command may not make.
//!
//! Everything is allowed but what leads out: new views of the file system, other processes, the
//! kernel's large and young interfaces, and with the network off every way to a socket but
//! `socketpair`. A datagram pair counts as a way: its ends can still be sent from to any path.
//!
//! No file gets the set-user-ID or set-group-ID bit: inside it means nothing, and outside, where the
//! workspace is mounted without `nosuid`, it would lend our user's rights to whoever runs the file.

use libc::{EACCES, EAFNOSUPPORT, ENOSYS, EPERM};

use super::bpf::{Argument, Filter, Verdict};
use crate::spec::Network;

#[cfg(target_arch = "x86_64")]
const ARCHITECTURE: u32 = 0xC000_003E;
#[cfg(target_arch = "aarch64")]
const ARCHITECTURE: u32 = 0xC000_00B7;
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
compile_error!("the seccomp filter knows x86_64 and aarch64 only");

/// The first number that is younger than this filter: programs are ready for `ENOSYS`, and new calls
/// must not slip through. 466 is `removexattrat` of Linux 6.13. The x32 numbers lie far above it.
const FIRST_UNKNOWN: u32 = 467;

/// Not in the C library's headers yet.
const SYS_QUOTACTL_FD: i64 = 443;
const SYS_PROCESS_MADVISE: i64 = 440;

/// Refused with `EPERM`, whatever the arguments.
const REFUSED: &[i64] = &[
    // other views of the file system
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_open_by_handle_at,
    libc::SYS_name_to_handle_at,
    libc::SYS_fanotify_init,
    libc::SYS_quotactl,
    SYS_QUOTACTL_FD,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    // other namespaces
    libc::SYS_unshare,
    libc::SYS_setns,
    // other processes
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    SYS_PROCESS_MADVISE,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    // keys
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    // large interfaces of the kernel
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_lookup_dcookie,
    // the machine
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_reboot,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_syslog,
    libc::SYS_vhangup,
    libc::SYS_nfsservctl,
];

#[cfg(target_arch = "x86_64")]
const REFUSED_HERE: &[i64] = &[
    libc::SYS_iopl,
    libc::SYS_ioperm,
    libc::SYS_modify_ldt,
    libc::SYS_uselib,
    libc::SYS__sysctl,
];
#[cfg(not(target_arch = "x86_64"))]
const REFUSED_HERE: &[i64] = &[];

/// The bits of a mode that make a program run as its owner or group.
const LENDING_BITS: u32 = libc::S_ISUID | libc::S_ISGID;

/// The flags of `open` with which its mode counts; without them it may be anything.
const CREATING: u32 = (libc::O_CREAT | libc::O_TMPFILE & !libc::O_DIRECTORY).cast_unsigned();

/// Not in the C library's headers everywhere yet.
const SYS_FCHMODAT2: i64 = 452;

/// The calls that give a file a mode, and which argument that is. The kernel takes these bits out
/// of the mode of `mkdir` itself.
const MODE_ARGUMENTS: &[(i64, u32)] = &[
    (libc::SYS_fchmod, 1),
    (libc::SYS_fchmodat, 2),
    (SYS_FCHMODAT2, 2),
    (libc::SYS_mknodat, 2),
];

#[cfg(target_arch = "x86_64")]
const MODE_ARGUMENTS_HERE: &[(i64, u32)] = &[
    (libc::SYS_chmod, 1),
    (libc::SYS_creat, 1),
    (libc::SYS_mknod, 1),
];
#[cfg(not(target_arch = "x86_64"))]
const MODE_ARGUMENTS_HERE: &[(i64, u32)] = &[];

/// The calls that may make a file, and which argument their flags are; the mode comes after.
#[cfg(target_arch = "x86_64")]
const OPENING: &[(i64, u32)] = &[(libc::SYS_openat, 2), (libc::SYS_open, 1)];
#[cfg(not(target_arch = "x86_64"))]
const OPENING: &[(i64, u32)] = &[(libc::SYS_openat, 2)];

/// Every flag of `clone` that makes a namespace.
const NEW_NAMESPACES: u32 = 0x7E02_0000;

/// Pushes characters into a terminal's input, as if typed.
const TIOCSTI: u32 = 0x5412;
/// The same by way of the console's selection.
const TIOCLINUX: u32 = 0x541C;

/// `personality` values that change nothing: Linux, and the question which it is.
const HARMLESS_PERSONALITIES: [u32; 2] = [0, 0xFFFF_FFFF];

/// Whose processes have a number for a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Numbered {
    /// Its own: it has a process namespace.
    Own,
    /// Those of the machine, of which it must touch none.
    All,
}

/// Calls that change another process by its number, which is their first argument; 0 is whoever
/// calls. Of the same user that takes no further right: a limit of file sizes or of processor time
/// ends a process as surely as a signal.
const BY_NUMBER: &[i64] = &[
    libc::SYS_prlimit64,
    libc::SYS_sched_setaffinity,
    libc::SYS_sched_setattr,
    libc::SYS_sched_setparam,
    libc::SYS_sched_setscheduler,
    libc::SYS_migrate_pages,
    libc::SYS_move_pages,
];

/// The same, behind an argument that says what the number is of, and its value for one process.
const BY_KIND_AND_NUMBER: &[(i64, u32)] = &[
    (libc::SYS_setpriority, PRIO_PROCESS),
    (libc::SYS_ioprio_set, IOPRIO_WHO_PROCESS),
];

/// Of another type in each C library, and not in their headers.
const PRIO_PROCESS: u32 = 0;
const IOPRIO_WHO_PROCESS: u32 = 1;

/// The filter for a command with or without a network.
pub(super) fn filter(network: Network, numbered: Numbered) -> Vec<libc::sock_filter> {
    let mut filter = Filter::for_architecture(ARCHITECTURE);
    filter.numbers_from(FIRST_UNKNOWN, Verdict::Errno(ENOSYS));
    for number in REFUSED.iter().chain(REFUSED_HERE) {
        filter.call(*number, Verdict::Errno(EPERM));
    }
    // Its flags are in memory, where a filter cannot look; libraries fall back to clone.
    filter.call(libc::SYS_clone3, Verdict::Errno(ENOSYS));
    filter.by_bits(
        libc::SYS_clone,
        0,
        NEW_NAMESPACES,
        Verdict::Errno(EPERM),
        Verdict::Allow,
    );
    no_lent_rights(&mut filter);
    match numbered {
        Numbered::Own => {}
        Numbered::All => itself_only(&mut filter),
    }
    filter.by_value(
        libc::SYS_ioctl,
        whole(1),
        &[TIOCSTI, TIOCLINUX],
        Verdict::Errno(EPERM),
        Verdict::Allow,
    );
    filter.by_value(
        libc::SYS_personality,
        whole(0),
        &HARMLESS_PERSONALITIES,
        Verdict::Allow,
        Verdict::Errno(EPERM),
    );
    match network {
        Network::Off => no_network(&mut filter),
        Network::Alone => no_connection(&mut filter),
        // A local socket has a name in the file system, which is not the network's to keep.
        Network::Outlet => filter.by_value(
            libc::SYS_socket,
            whole(0),
            &[
                libc::AF_INET.cast_unsigned(),
                libc::AF_INET6.cast_unsigned(),
                libc::AF_NETLINK.cast_unsigned(),
            ],
            Verdict::Allow,
            Verdict::Errno(EAFNOSUPPORT),
        ),
        Network::On => filter.by_value(
            libc::SYS_socket,
            whole(0),
            &[
                libc::AF_UNIX.cast_unsigned(),
                libc::AF_INET.cast_unsigned(),
                libc::AF_INET6.cast_unsigned(),
                libc::AF_NETLINK.cast_unsigned(),
            ],
            Verdict::Allow,
            Verdict::Errno(EAFNOSUPPORT),
        ),
    }
    filter.finish()
}

/// The same filter as the bytes that other programs take from a file: an array of the kernel's
/// `struct sock_filter`, in the byte order of this machine.
#[must_use]
pub fn seccomp_program(network: Network) -> Vec<u8> {
    filter(network, Numbered::Own)
        .iter()
        .flat_map(|step| {
            let code = step.code.to_ne_bytes();
            let k = step.k.to_ne_bytes();
            [code[0], code[1], step.jt, step.jf, k[0], k[1], k[2], k[3]]
        })
        .collect()
}

fn itself_only(filter: &mut Filter) {
    for number in BY_NUMBER {
        let refused = Verdict::Errno(EPERM);
        filter.by_value(*number, whole(0), &[0], Verdict::Allow, refused);
    }
    for (number, of_process) in BY_KIND_AND_NUMBER {
        filter.by_two_values(
            *number,
            (whole(0), *of_process),
            (whole(1), [0, 0]),
            Verdict::Errno(EPERM),
        );
    }
}

fn no_lent_rights(filter: &mut Filter) {
    for (number, mode) in MODE_ARGUMENTS.iter().chain(MODE_ARGUMENTS_HERE) {
        filter.by_bits(
            *number,
            *mode,
            LENDING_BITS,
            Verdict::Errno(EPERM),
            Verdict::Allow,
        );
    }
    for (number, flags) in OPENING {
        filter.by_bits_of_two(
            *number,
            Argument {
                index: *flags,
                mask: CREATING,
            },
            Argument {
                index: flags + 1,
                mask: LENDING_BITS,
            },
            Verdict::Errno(EPERM),
            Verdict::Allow,
        );
    }
    // Its mode is in memory, too; libraries fall back to openat.
    filter.call(libc::SYS_openat2, Verdict::Errno(ENOSYS));
}

fn no_network(filter: &mut Filter) {
    for number in [
        libc::SYS_socket,
        libc::SYS_connect,
        libc::SYS_bind,
        libc::SYS_listen,
        libc::SYS_accept,
        libc::SYS_accept4,
    ] {
        filter.call(number, Verdict::Errno(EACCES));
    }
    connected_only(filter, libc::SYS_socketpair);
}

/// Local sockets of the connected kinds, and none that is ever connected. Those that are not
/// connected could send to a name without it.
fn no_connection(filter: &mut Filter) {
    filter.call(libc::SYS_connect, Verdict::Errno(EACCES));
    connected_only(filter, libc::SYS_socket);
    connected_only(filter, libc::SYS_socketpair);
}

/// Allows what makes sockets only to make local ones that have to be connected before they carry
/// anything.
fn connected_only(filter: &mut Filter, number: i64) {
    /// The type without `SOCK_CLOEXEC` and `SOCK_NONBLOCK`.
    const TYPE: u32 = 0xF;
    filter.by_two_values(
        number,
        (whole(0), libc::AF_UNIX.cast_unsigned()),
        (
            Argument {
                index: 1,
                mask: TYPE,
            },
            [
                libc::SOCK_STREAM.cast_unsigned(),
                libc::SOCK_SEQPACKET.cast_unsigned(),
            ],
        ),
        Verdict::Errno(EACCES),
    );
}

const fn whole(index: u32) -> Argument {
    Argument {
        index,
        mask: u32::MAX,
    }
}

#[cfg(test)]
mod tests;
