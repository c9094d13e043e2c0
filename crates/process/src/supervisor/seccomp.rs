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

/// The filter for a command with or without a network.
pub(super) fn filter(network: Network) -> Vec<libc::sock_filter> {
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
    filter(network)
        .iter()
        .flat_map(|step| {
            let code = step.code.to_ne_bytes();
            let k = step.k.to_ne_bytes();
            [code[0], code[1], step.jt, step.jf, k[0], k[1], k[2], k[3]]
        })
        .collect()
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
    /// The type without `SOCK_CLOEXEC` and `SOCK_NONBLOCK`.
    const TYPE: u32 = 0xF;
    filter.by_two_values(
        libc::SYS_socketpair,
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
mod tests {
    use super::super::bpf::interpreter::decide;
    use super::*;

    const ALLOW: u32 = libc::SECCOMP_RET_ALLOW;

    fn errno(errno: i32) -> u32 {
        libc::SECCOMP_RET_ERRNO | errno.cast_unsigned()
    }

    fn ask(network: Network, number: i64, args: [u64; 2]) -> u32 {
        let number = u32::try_from(number).unwrap();
        let args = [args[0], args[1], 0, 0, 0, 0];
        decide(&filter(network), ARCHITECTURE, number, args)
    }

    #[test]
    fn every_refused_call_is_refused_with_and_without_a_network() {
        for network in [Network::Off, Network::On] {
            for number in REFUSED.iter().chain(REFUSED_HERE) {
                assert_eq!(ask(network, *number, [0, 0]), errno(EPERM), "call {number}");
            }
            assert_eq!(ask(network, libc::SYS_clone3, [0, 0]), errno(ENOSYS));
        }
    }

    #[test]
    fn ordinary_calls_are_allowed() {
        for number in [
            libc::SYS_read,
            libc::SYS_openat,
            libc::SYS_execve,
            libc::SYS_wait4,
        ] {
            assert_eq!(ask(Network::Off, number, [0, 0]), ALLOW, "call {number}");
        }
    }

    #[test]
    fn a_foreign_architecture_is_killed_and_foreign_numbers_do_not_exist() {
        let program = filter(Network::Off);
        let i386 = 0x4000_0003;
        assert_eq!(
            decide(&program, i386, 1, [0; 6]),
            libc::SECCOMP_RET_KILL_PROCESS
        );
        let x32_socket = 0x4000_0000 | 41;
        for number in [x32_socket, FIRST_UNKNOWN, u32::MAX] {
            assert_eq!(
                decide(&program, ARCHITECTURE, number, [0; 6]),
                errno(ENOSYS)
            );
        }
    }

    #[test]
    fn clone_may_make_processes_and_threads_but_no_namespaces() {
        let fork = u64::from(libc::SIGCHLD.cast_unsigned());
        assert_eq!(ask(Network::Off, libc::SYS_clone, [fork, 0]), ALLOW);
        for bit in [17, 25, 26, 27, 28, 29, 30] {
            let flags = fork | 1 << bit;
            assert_eq!(
                ask(Network::Off, libc::SYS_clone, [flags, 0]),
                errno(EPERM),
                "bit {bit}"
            );
        }
    }

    fn decide_all(number: i64, args: [u64; 6]) -> u32 {
        let number = u32::try_from(number).unwrap();
        decide(&filter(Network::On), ARCHITECTURE, number, args)
    }

    #[test]
    fn no_call_gives_a_file_a_bit_that_lends_its_owners_rights() {
        let calls = MODE_ARGUMENTS.iter().chain(MODE_ARGUMENTS_HERE);
        for (number, index) in calls {
            for mode in [0o4755, 0o2755, 0o104_755, 0o6000, 0xFFFF_FFFF_0000_0800] {
                let mut args = [0; 6];
                args[*index as usize] = mode;
                assert_eq!(decide_all(*number, args), errno(EPERM), "call {number}");
            }
            for mode in [0o755, 0o1777, 0o100_644] {
                let mut args = [0; 6];
                args[*index as usize] = mode;
                assert_eq!(decide_all(*number, args), ALLOW, "call {number}");
            }
        }
        assert_eq!(decide_all(libc::SYS_openat2, [0; 6]), errno(ENOSYS));
    }

    #[test]
    fn opening_looks_at_the_mode_only_where_a_file_may_be_made() {
        for (number, index) in OPENING {
            let ask_open = |flags: i32, mode: u64| {
                let mut args = [0; 6];
                args[*index as usize] = u64::from(flags.cast_unsigned());
                args[*index as usize + 1] = mode;
                decide_all(*number, args)
            };
            for flags in [libc::O_CREAT, libc::O_TMPFILE, libc::O_CREAT | libc::O_RDWR] {
                assert_eq!(ask_open(flags, 0o4755), errno(EPERM), "{flags:#o}");
                assert_eq!(ask_open(flags, 0o2644), errno(EPERM), "{flags:#o}");
                assert_eq!(ask_open(flags, 0o1755), ALLOW, "{flags:#o}");
            }
            for flags in [libc::O_RDONLY, libc::O_RDWR, libc::O_DIRECTORY] {
                assert_eq!(ask_open(flags, 0o7777), ALLOW, "{flags:#o}");
            }
        }
    }

    #[test]
    fn typing_into_a_terminal_is_refused_even_with_high_bits_set() {
        for request in [0x5412, 0x541C, 0xFFFF_FFFF_0000_5412] {
            assert_eq!(
                ask(Network::On, libc::SYS_ioctl, [0, request]),
                errno(EPERM)
            );
        }
        assert_eq!(ask(Network::On, libc::SYS_ioctl, [0, 0x5401]), ALLOW);
    }

    #[test]
    fn without_a_network_only_connected_stream_pairs_exist() {
        let ask_pair = |family: i32, kind: i32| {
            let args = [family, kind].map(|n| u64::from(n.cast_unsigned()));
            ask(Network::Off, libc::SYS_socketpair, args)
        };
        let cloexec = libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
        assert_eq!(ask_pair(libc::AF_UNIX, libc::SOCK_STREAM | cloexec), ALLOW);
        assert_eq!(ask_pair(libc::AF_UNIX, libc::SOCK_SEQPACKET), ALLOW);
        assert_eq!(
            ask_pair(libc::AF_UNIX, libc::SOCK_DGRAM | cloexec),
            errno(EACCES)
        );
        assert_eq!(ask_pair(libc::AF_UNIX, libc::SOCK_RAW), errno(EACCES));
        assert_eq!(ask_pair(libc::AF_TIPC, libc::SOCK_STREAM), errno(EACCES));
        for family in [libc::AF_UNIX, libc::AF_INET, libc::AF_INET6, libc::AF_VSOCK] {
            let family = u64::from(family.cast_unsigned());
            assert_eq!(
                ask(Network::Off, libc::SYS_socket, [family, 1]),
                errno(EACCES)
            );
        }
        for number in [libc::SYS_connect, libc::SYS_bind] {
            assert_eq!(ask(Network::Off, number, [3, 0]), errno(EACCES));
        }
    }

    #[test]
    fn with_a_network_only_the_usual_families_exist() {
        let ask_family = |family: i32| {
            ask(
                Network::On,
                libc::SYS_socket,
                [u64::from(family.cast_unsigned()), 1],
            )
        };
        for family in [
            libc::AF_UNIX,
            libc::AF_INET,
            libc::AF_INET6,
            libc::AF_NETLINK,
        ] {
            assert_eq!(ask_family(family), ALLOW);
        }
        for family in [
            libc::AF_PACKET,
            libc::AF_VSOCK,
            libc::AF_ALG,
            libc::AF_BLUETOOTH,
        ] {
            assert_eq!(ask_family(family), errno(EAFNOSUPPORT));
        }
        assert_eq!(ask(Network::On, libc::SYS_connect, [3, 0]), ALLOW);
    }
}
