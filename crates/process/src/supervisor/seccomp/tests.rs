//! What the filter answers, asked as the kernel would.

use super::super::bpf::interpreter::decide;
use super::*;

const ALLOW: u32 = libc::SECCOMP_RET_ALLOW;

fn errno(errno: i32) -> u32 {
    libc::SECCOMP_RET_ERRNO | errno.cast_unsigned()
}

fn ask(network: Network, number: i64, args: [u64; 2]) -> u32 {
    let number = u32::try_from(number).unwrap();
    let args = [args[0], args[1], 0, 0, 0, 0];
    decide(&filter(network, Numbered::Own), ARCHITECTURE, number, args)
}

#[test]
fn every_refused_call_is_refused_with_and_without_a_network() {
    for network in [Network::Off, Network::Alone, Network::Outlet, Network::On] {
        for number in REFUSED.iter().chain(REFUSED_HERE) {
            assert_eq!(ask(network, *number, [0, 0]), errno(EPERM), "call {number}");
        }
        assert_eq!(ask(network, libc::SYS_clone3, [0, 0]), errno(ENOSYS));
    }
}

/// With one of them a command ended the program that ran it, where it saw its number.
#[test]
fn a_process_was_changed_by_its_number() {
    let of = |number: i64, args: [u64; 2], numbered| {
        let number = u32::try_from(number).unwrap();
        let args = [args[0], args[1], 0, 0, 0, 0];
        decide(&filter(Network::Off, numbered), ARCHITECTURE, number, args)
    };
    for number in BY_NUMBER {
        assert_eq!(of(*number, [0, 7], Numbered::All), ALLOW);
        assert_eq!(of(*number, [77, 7], Numbered::All), errno(EPERM));
        assert_eq!(of(*number, [77, 7], Numbered::Own), ALLOW);
    }
    for (number, of_process) in BY_KIND_AND_NUMBER {
        let kind = u64::from(*of_process);
        assert_eq!(of(*number, [kind, 0], Numbered::All), ALLOW);
        assert_eq!(of(*number, [kind, 77], Numbered::All), errno(EPERM));
        assert_eq!(of(*number, [kind + 2, 0], Numbered::All), errno(EPERM));
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
    let program = filter(Network::Off, Numbered::All);
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
    decide(
        &filter(Network::On, Numbered::Own),
        ARCHITECTURE,
        number,
        args,
    )
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
fn alone_local_sockets_exist_that_carry_nothing_before_they_are_connected() {
    let make = |call: i64, family: i32, kind: i32| {
        let args = [family, kind].map(|n| u64::from(n.cast_unsigned()));
        ask(Network::Alone, call, args)
    };
    for call in [libc::SYS_socket, libc::SYS_socketpair] {
        for kind in [libc::SOCK_STREAM, libc::SOCK_SEQPACKET] {
            assert_eq!(make(call, libc::AF_UNIX, kind | libc::SOCK_CLOEXEC), ALLOW);
        }
        for kind in [libc::SOCK_DGRAM, libc::SOCK_RAW] {
            assert_eq!(make(call, libc::AF_UNIX, kind), errno(EACCES));
        }
        for family in [
            libc::AF_INET,
            libc::AF_INET6,
            libc::AF_NETLINK,
            libc::AF_VSOCK,
        ] {
            let kind = libc::SOCK_STREAM;
            assert_eq!(make(call, family, kind), errno(EACCES));
        }
    }
    let connect = ask(Network::Alone, libc::SYS_connect, [3, 0]);
    assert_eq!(connect, errno(EACCES));
    for number in [libc::SYS_bind, libc::SYS_listen, libc::SYS_accept4] {
        assert_eq!(ask(Network::Alone, number, [3, 0]), ALLOW);
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
