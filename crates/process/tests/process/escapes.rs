//! What a command must not be able to do beyond files, as root and as nobody: sockets, system calls,
//! other processes. Each attack is first shown to work without the sandbox, where it can: a refusal
//! that has another reason proves nothing.

use std::fs;
use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};

use rstest::rstest;

use crate::kit::{Identity, Place, finish, hand_over};

/// Every road to a socket. The network is off, or there are local sockets that cannot be connected.
#[rstest]
#[case::tcp("tcp")]
#[case::udp("udp")]
#[case::unix_in_workspace("unix-stream")]
#[case::unix_datagram("unix-datagram")]
#[case::datagram_pair("datagram-pair")]
#[case::abstract_socket("unix-abstract")]
fn nothing_can_be_reached(
    #[case] attack: &str,
    #[values(Identity::Ourselves, Identity::Nobody)] identity: Identity,
    #[values("full", "partial")] level: &str,
    #[values("off", "alone")] network: &str,
) {
    let Some(place) = Place::new(identity) else {
        return;
    };
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
    // In the workspace, where the path is visible and writable.
    let stream_path = place.workspace.join("stream");
    let _stream = UnixListener::bind(&stream_path).unwrap();
    let datagram_path = place.workspace.join("datagram");
    let _datagram = UnixDatagram::bind(&datagram_path).unwrap();
    for path in [&stream_path, &datagram_path] {
        hand_over(path, identity);
    }
    let name = format!(
        "outfitter-test-{}-{attack}-{level}-{network}-{identity:?}",
        std::process::id()
    );
    let _abstract =
        UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
    let target = match attack {
        "tcp" => tcp.local_addr().unwrap().to_string(),
        "udp" => udp.local_addr().unwrap().to_string(),
        "unix-stream" => stream_path.to_str().unwrap().to_owned(),
        "unix-abstract" => name,
        _ => datagram_path.to_str().unwrap().to_owned(),
    };
    let attacker = place.attacker();
    let command = ["--", &attacker, "attack", attack, &target];
    let mut confined = place.confined(level);
    let got = finish(confined.args(["--network", network]).args(command));
    assert!(got.last.starts_with("code=70 "), "got through: {got:?}");
    assert!(got.stderr.contains("attack refused"), "{got:?}");
    let control = finish(place.unconfined().args(command));
    assert!(
        control.command_succeeded(),
        "the attack itself is broken: {control:?}"
    );
}

#[rstest]
fn a_stream_pair_still_works(
    #[values(Identity::Ourselves, Identity::Nobody)] identity: Identity,
    #[values("full", "partial")] level: &str,
    #[values("off", "alone")] network: &str,
) {
    let Some(place) = Place::new(identity) else {
        return;
    };
    let attacker = place.attacker();
    let got = finish(place.confined(level).args([
        "--network",
        network,
        "--",
        &attacker,
        "attack",
        "stream-pair",
    ]));
    assert!(got.command_succeeded(), "{got:?}");
}

/// What some programs will not start without. With the network off there is not even that.
#[rstest]
fn alone_a_local_socket_can_be_made_and_listened_on(
    #[values(Identity::Ourselves, Identity::Nobody)] identity: Identity,
    #[values("full", "partial")] level: &str,
) {
    let Some(place) = Place::new(identity) else {
        return;
    };
    let attacker = place.attacker();
    for (network, works) in [("alone", true), ("off", false)] {
        let socket = place.workspace.join(network);
        let socket = socket.to_str().unwrap();
        let mut command = place.confined(level);
        command.args(["--network", network, "--", &attacker]);
        let got = finish(command.args(["attack", "unix-listen", socket]));
        assert_eq!(got.command_succeeded(), works, "{network}: {got:?}");
    }
}

#[rstest]
fn with_the_network_on_tcp_works_and_sockets_under_run_and_tmp_are_out_of_sight(
    #[values(Identity::Ourselves, Identity::Nobody)] identity: Identity,
) {
    let Some(place) = Place::new(identity) else {
        return;
    };
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = tcp.local_addr().unwrap().to_string();
    let elsewhere = tempfile::Builder::new().tempdir_in("/tmp").unwrap();
    hand_over(elsewhere.path(), identity);
    let path = elsewhere.path().join("socket");
    let _listener = UnixListener::bind(&path).unwrap();
    hand_over(&path, identity);
    let attacker = place.attacker();
    let run = |attack: &str, target: &str| {
        let mut command = place.confined("full");
        command.args(["--network", "on", "--", &attacker, "attack", attack, target]);
        finish(&mut command)
    };
    let got = run("tcp", &address);
    assert!(got.command_succeeded(), "{got:?}");
    let got = run("unix-stream", path.to_str().unwrap());
    assert!(!got.command_succeeded(), "{got:?}");
    let name = format!("outfitter-test-on-{}-{identity:?}", std::process::id());
    let _abstract =
        UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
    let got = run("unix-abstract", &name);
    assert!(!got.command_succeeded(), "{got:?}");
}

/// System calls that lead out, each with the plain refusal of the filter.
#[rstest]
#[case::mount("mount", ".", "Operation not permitted")]
#[case::umount("umount", "/tmp", "Operation not permitted")]
#[case::unshare("unshare", "", "Operation not permitted")]
#[case::clone("clone", "", "Operation not permitted")]
#[case::setns("setns", "", "Operation not permitted")]
#[case::open_tree("open_tree", "/", "Operation not permitted")]
#[case::chroot("chroot", ".", "Operation not permitted")]
#[case::io_uring("io_uring", "", "Operation not permitted")]
#[case::keyctl("keyctl", "", "Operation not permitted")]
#[case::bpf("bpf", "", "Operation not permitted")]
#[case::userfaultfd("userfaultfd", "", "Operation not permitted")]
#[case::own_memory("read-memory", "1", "Operation not permitted")]
#[case::x32("x32", "", "Function not implemented")]
#[case::descriptors("descriptors", "", "only the standard descriptors")]
fn calls_that_lead_out_are_refused(
    #[case] attack: &str,
    #[case] argument: &str,
    #[case] why: &str,
    #[values(Identity::Ourselves, Identity::Nobody)] identity: Identity,
    #[values("full", "partial")] level: &str,
) {
    let Some(place) = Place::new(identity) else {
        return;
    };
    let attacker = place.attacker();
    let got = finish(
        place
            .confined(level)
            .args(["--", &attacker, "attack", attack, argument]),
    );
    assert!(got.stderr.contains("attack refused"), "{got:?}");
    assert!(got.stderr.contains(why), "{got:?}");
}

/// A file that runs as its owner, left in the workspace, would lend the owner's rights to whoever
/// runs it outside, where no `nosuid` stops it. Each way is first shown to work without the sandbox.
#[rstest]
#[case::fchmod("fchmod")]
#[case::fchmodat("fchmodat")]
#[case::fchmodat2("fchmodat2")]
#[case::openat("openat")]
#[case::openat2("openat2")]
#[case::mknodat("mknodat")]
#[cfg_attr(target_arch = "x86_64", case::chmod("chmod"))]
#[cfg_attr(target_arch = "x86_64", case::open("open"))]
#[cfg_attr(target_arch = "x86_64", case::creat("creat"))]
#[cfg_attr(target_arch = "x86_64", case::mknod("mknod"))]
fn a_command_cannot_leave_a_file_that_lends_its_owners_rights(
    #[case] call: &str,
    #[values("4755", "2755")] mode: &str,
    #[values(Identity::Ourselves, Identity::Nobody)] identity: Identity,
    #[values("full", "partial")] level: &str,
) {
    let Some(place) = Place::new(identity) else {
        return;
    };
    let attacker = place.attacker();
    let command = ["--", &attacker, "attack", "lend-rights", call, mode];
    let got = finish(place.confined(level).args(command));
    assert!(got.stderr.contains("attack refused"), "{got:?}");
    let lent = fs::read_dir(&place.workspace)
        .unwrap()
        .flatten()
        .any(|entry| {
            std::os::unix::fs::MetadataExt::mode(&entry.metadata().unwrap()) & 0o6000 != 0
        });
    assert!(!lent, "left behind: {got:?}");
    let control = finish(place.unconfined().args(command));
    let knows_it = !control.stderr.contains("Function not implemented");
    assert!(
        control.command_succeeded() || !knows_it,
        "the attack itself is broken: {control:?}"
    );
}

#[rstest]
fn ordinary_modes_and_the_sticky_bit_are_given(
    #[values(Identity::Ourselves, Identity::Nobody)] identity: Identity,
    #[values("full", "partial")] level: &str,
) {
    let Some(place) = Place::new(identity) else {
        return;
    };
    let script = "cp /bin/true tool && chmod 755 tool && ./tool && mkdir -m 1777 d && stat -c %a tool d; \
        chmod u+s tool || echo refused; chmod g+s d || echo refused";
    let got = finish(place.confined(level).args(["--", "/bin/sh", "-c", script]));
    assert_eq!(got.stdout, "755\n1777\nrefused\nrefused\n", "{got:?}");
}

/// Other processes of the same user: the parent of everything is this test.
#[rstest]
#[case::kill("kill")]
#[case::ptrace("ptrace")]
#[case::memory("read-memory")]
fn other_processes_cannot_be_touched(
    #[case] attack: &str,
    #[values(Identity::Ourselves, Identity::Nobody)] identity: Identity,
    #[values("full", "partial")] level: &str,
) {
    let Some(place) = Place::new(identity) else {
        return;
    };
    // A process of the same user outside any sandbox.
    let marker = format!("86399.{}", 100 + attack.len());
    let mut other = crate::kit::start(place.unconfined().args(["--", "/bin/sleep", &marker]));
    let pid = wait_for(&marker);
    let attacker = place.attacker();
    let command = ["--", &attacker, "attack", attack, &pid.to_string()];
    let got = finish(place.confined(level).args(command));
    assert!(got.stderr.contains("attack refused"), "{got:?}");
    assert!(
        other.0.try_wait().unwrap().is_none(),
        "the other process was ended"
    );
}

/// The sleeping process itself, not the one that was asked to start it.
fn wait_for(marker: &str) -> u32 {
    for _ in 0..500 {
        for pid in crate::kit::alive(marker) {
            let is_sleep = fs::read_to_string(format!("/proc/{pid}/comm"))
                .is_ok_and(|name| name.trim() == "sleep");
            if is_sleep {
                return pid;
            }
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    panic!("no sleeping process appeared");
}

#[rstest]
fn the_environment_of_other_processes_is_unreadable(
    #[values(Identity::Ourselves, Identity::Nobody)] identity: Identity,
    #[values("full", "partial")] level: &str,
) {
    let Some(place) = Place::new(identity) else {
        return;
    };
    // Every process that can be seen at all, supervisor and parent among them.
    let script = r#"for p in /proc/[0-9]*; do [ "$p" = "/proc/$$" ] && continue;
        head -c 1 $p/environ >/dev/null 2>&1 && case $(readlink $p/exe) in */head|*/dash|*/sh) ;; ?*) echo "read $p";; esac;
        ls $p/fd >/dev/null 2>&1 && case $(readlink $p/exe) in */ls|*/dash|*/sh) ;; ?*) echo "listed $p";; esac;
        ls $p/root/ >/dev/null 2>&1 && case $(readlink $p/exe) in */ls|*/dash|*/sh) ;; ?*) echo "entered $p";; esac;
        done; echo done"#;
    let got = finish(place.confined(level).args(["--", "/bin/sh", "-c", script]));
    assert_eq!(got.stdout, "done\n", "{got:?}");
}

#[rstest]
fn at_full_no_other_process_is_even_visible(
    #[values(Identity::Ourselves, Identity::Nobody)] identity: Identity,
) {
    let Some(place) = Place::new(identity) else {
        return;
    };
    let script = "for p in /proc/[0-9]*; do echo ${p#/proc/}; done; kill -9 1; echo alive";
    let got = finish(place.confined("full").args(["--", "/bin/sh", "-c", script]));
    assert_eq!(got.stdout, "1\n2\nalive\n", "{got:?}");
}

#[rstest]
fn the_kernel_cannot_be_configured(
    #[values(Identity::Ourselves, Identity::Nobody)] identity: Identity,
    #[values("full", "partial")] level: &str,
) {
    let Some(place) = Place::new(identity) else {
        return;
    };
    let before = fs::read("/proc/sys/kernel/core_pattern").unwrap();
    let script = "cat /proc/sys/kernel/core_pattern > saved && cat saved > /proc/sys/kernel/core_pattern && echo written";
    let got = finish(place.confined(level).args(["--", "/bin/sh", "-c", script]));
    assert!(!got.stdout.contains("written"), "{got:?}");
    assert_eq!(fs::read("/proc/sys/kernel/core_pattern").unwrap(), before);
}

#[rstest]
fn no_capability_and_no_new_privilege_is_left(
    #[values(Identity::Ourselves, Identity::Nobody)] identity: Identity,
    #[values("full", "partial", "none")] level: &str,
) {
    let Some(place) = Place::new(identity) else {
        return;
    };
    let script = "grep -E '^(Cap(Inh|Prm|Eff|Amb)|NoNewPrivs|Seccomp):' /proc/self/status";
    let got = finish(place.confined(level).args(["--", "/bin/sh", "-c", script]));
    let zero = "0000000000000000";
    let expected = format!(
        "CapInh:\t{zero}\nCapPrm:\t{zero}\nCapEff:\t{zero}\nCapAmb:\t{zero}\nNoNewPrivs:\t1\nSeccomp:\t2\n"
    );
    assert_eq!(got.stdout, expected, "{got:?}");
}
