//! What a command must not be able to do, as root and as nobody. Each attack is first shown to work
//! without the sandbox, where it can: a refusal that has another reason proves nothing.

use std::fs;
use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::path::Path;

use rstest::rstest;

use crate::kit::{Identity, Place, finish, hand_over, say, we_are_root};

/// All that an attack on a file could change.
fn fingerprint(dir: &Path) -> Vec<String> {
    let mut seen: Vec<String> = fs::read_dir(dir)
        .unwrap()
        .flatten()
        .map(|entry| entry.path())
        .chain([dir.to_owned()])
        .map(|path| {
            let meta = path.symlink_metadata().unwrap();
            format!(
                "{} mode={:o} owner={}:{} links={} modified={}.{} changed={}.{} {:?}",
                path.display(),
                meta.mode(),
                meta.uid(),
                meta.gid(),
                meta.nlink(),
                meta.mtime(),
                meta.mtime_nsec(),
                meta.ctime(),
                meta.ctime_nsec(),
                meta.is_file().then(|| fs::read(&path).ok())
            )
        })
        .collect();
    seen.sort();
    seen
}

fn shell(script: &str, place: &Place) -> Vec<String> {
    let script = script.replace("OUTSIDE", place.outside.to_str().unwrap());
    ["--", "/bin/sh", "-c"]
        .into_iter()
        .map(str::to_owned)
        .chain([script])
        .collect()
}

/// Changes outside the workspace: none at `full`; at `partial` none to contents and names.
#[rstest]
#[case::overwrite("echo x > OUTSIDE/victim")]
#[case::append("echo x >> OUTSIDE/victim")]
#[case::truncate("truncate -s 0 OUTSIDE/victim")]
#[case::create("echo x > OUTSIDE/new")]
#[case::make_directory("mkdir OUTSIDE/new")]
#[case::make_fifo("mkfifo OUTSIDE/new")]
#[case::make_link("ln -s /etc OUTSIDE/new")]
#[case::remove("rm OUTSIDE/victim")]
#[case::rename("mv OUTSIDE/victim OUTSIDE/moved")]
#[case::move_away("mv OUTSIDE/victim stolen")]
#[case::hard_link_in("ln OUTSIDE/victim stolen && echo x >> stolen")]
#[case::hard_link_there("ln OUTSIDE/victim OUTSIDE/second")]
#[case::through_own_link("ln -s OUTSIDE trap && echo x > trap/victim")]
#[case::through_own_root("echo x > /proc/self/root/OUTSIDE/victim")]
#[case::through_own_directory("cd OUTSIDE && echo x > /proc/self/cwd/victim")]
fn contents_outside_the_workspace_stay(
    #[case] script: &str,
    #[values(Identity::Ourselves, Identity::Nobody)] identity: Identity,
    #[values("full", "partial")] level: &str,
) {
    let Some(place) = Place::new(identity) else {
        return;
    };
    let before = fingerprint(&place.outside);
    let got = finish(place.confined(level).args(shell(script, &place)));
    assert!(got.last.starts_with("code="), "did not run: {got:?}");
    assert!(!got.command_succeeded(), "got through: {got:?}");
    assert_eq!(fingerprint(&place.outside), before);

    let control = finish(place.unconfined().args(shell(script, &place)));
    assert!(
        control.command_succeeded(),
        "the attack itself is broken: {control:?}"
    );
    assert_ne!(fingerprint(&place.outside), before);
}

/// What Landlock alone leaves open, and a read-only mount does not.
#[rstest]
#[case::mode("chmod 0777 OUTSIDE/victim")]
#[case::directory_mode("chmod 0777 OUTSIDE")]
#[case::times("touch -d 2001-01-01 OUTSIDE/victim")]
#[case::owner("chown $(id -u):$(id -g) OUTSIDE/victim && chmod 0600 OUTSIDE/victim")]
#[case::mode_through_own_root("chmod 0777 /proc/self/root/OUTSIDE/victim")]
fn attributes_outside_the_workspace_stay(
    #[case] script: &str,
    #[values(Identity::Ourselves, Identity::Nobody)] identity: Identity,
) {
    let Some(place) = Place::new(identity) else {
        return;
    };
    let before = fingerprint(&place.outside);
    let got = finish(place.confined("full").args(shell(script, &place)));
    assert!(got.last.starts_with("code="), "did not run: {got:?}");
    assert!(!got.command_succeeded(), "got through: {got:?}");
    assert_eq!(fingerprint(&place.outside), before);

    let control = finish(place.unconfined().args(shell(script, &place)));
    assert!(
        control.command_succeeded(),
        "the attack itself is broken: {control:?}"
    );
    assert_ne!(fingerprint(&place.outside), before);
}

#[rstest]
#[case::file("cat OUTSIDE/victim")]
#[case::listing("ls OUTSIDE")]
#[case::through_own_root("cat /proc/self/root/OUTSIDE/victim")]
#[case::through_own_link("ln -s OUTSIDE/victim trap && cat trap")]
fn contents_outside_the_roots_are_unreadable(
    #[case] script: &str,
    #[values(Identity::Ourselves, Identity::Nobody)] identity: Identity,
    #[values("full", "partial")] level: &str,
) {
    let Some(place) = Place::new(identity) else {
        return;
    };
    let got = finish(place.confined(level).args(shell(script, &place)));
    assert!(!got.command_succeeded(), "got through: {got:?}");
    assert!(
        !got.stdout.contains("precious") && !got.stdout.contains("victim"),
        "{got:?}"
    );
    fs::remove_file(place.workspace.join("trap")).ok();
    let control = finish(place.unconfined().args(shell(script, &place)));
    assert!(
        control.command_succeeded(),
        "the attack itself is broken: {control:?}"
    );
}

#[rstest]
fn the_shadow_file_is_unreadable_even_for_root(#[values("full", "partial")] level: &str) {
    if !we_are_root() {
        say("skipped: /etc/shadow is unreadable for anyone but root anyway");
        return;
    }
    let place = Place::new(Identity::Ourselves).unwrap();
    let script = "cat /etc/shadow";
    let control = finish(place.unconfined().args(shell(script, &place)));
    assert!(control.stdout.contains("root:"), "{control:?}");
    // Also when all of /etc but this was meant to be readable.
    for extra in [vec![], vec!["--read", "/etc", "--hide", "/etc/shadow"]] {
        let got = finish(
            place
                .confined(level)
                .args(extra)
                .args(shell(script, &place)),
        );
        assert!(!got.stdout.contains("root:"), "{got:?}");
    }
}

#[rstest]
fn hidden_paths_are_covered_inside_a_root(
    #[values(Identity::Ourselves, Identity::Nobody)] identity: Identity,
) {
    let Some(place) = Place::new(identity) else {
        return;
    };
    let keys = place.workspace.join(".ssh");
    place.directory(&keys);
    place.file(&keys.join("id"), "precious\n");
    let netrc = place.workspace.join(".netrc");
    place.file(&netrc, "precious\n");
    place.file(&place.workspace.join("open"), "public\n");

    let script = "cat open .netrc .ssh/id; ls .ssh; mv .ssh moved; rm -rf .ssh .netrc; cat .netrc; umount .ssh";
    let mut command = place.confined("full");
    command.arg("--hide").arg(&keys).arg("--hide").arg(&netrc);
    let got = finish(command.args(shell(script, &place)));
    assert!(got.stdout.contains("public"), "{got:?}");
    assert!(!got.stdout.contains("precious"), "{got:?}");
    assert_eq!(fs::read_to_string(keys.join("id")).unwrap(), "precious\n");
    assert_eq!(fs::read_to_string(&netrc).unwrap(), "precious\n");
}

/// Two commands of one session: the first rearranges, the second reads.
#[rstest]
fn what_is_hidden_cannot_be_moved_out_of_the_way(
    #[values(Identity::Ourselves, Identity::Nobody)] identity: Identity,
) {
    let Some(place) = Place::new(identity) else {
        return;
    };
    let config = place.workspace.join(".config");
    let hub = config.join("gh");
    for path in [&config, &hub] {
        place.directory(path);
    }
    place.file(&hub.join("hosts.yml"), "precious\n");
    let run = |script: &str| {
        let mut command = place.confined("full");
        command.arg("--hide").arg(hub.join("hosts.yml"));
        finish(command.args(shell(script, &place)))
    };
    let moved = run(
        "mv .config away || mv .config/gh .config/away || mv .config/gh/hosts.yml x; echo done",
    );
    assert_eq!(moved.stdout, "done\n", "{moved:?}");
    let got = run(
        "grep -r precious . ; ln .config/gh/hosts.yml x; echo y > .config/new && cat .config/new",
    );
    assert_eq!(got.stdout, "y\n", "{got:?}");
    assert_eq!(
        fs::read_to_string(hub.join("hosts.yml")).unwrap(),
        "precious\n"
    );
}

/// A readable root in the workspace is replaced by a link to something else.
#[rstest]
fn a_root_replaced_by_a_link_opens_nothing(
    #[values(Identity::Ourselves, Identity::Nobody)] identity: Identity,
    #[values("full", "partial")] level: &str,
) {
    let Some(place) = Place::new(identity) else {
        return;
    };
    let tools = place.workspace.join("tools");
    place.directory(&tools);
    let run = |script: &str| {
        let mut command = place.confined(level);
        command.arg("--read").arg(&tools);
        finish(command.args(shell(script, &place)))
    };
    let planted = run("rmdir tools && ln -s OUTSIDE tools && echo planted");
    assert_eq!(planted.stdout, "planted\n", "{planted:?}");
    let got = run("cat tools/victim; cat OUTSIDE/victim; echo done");
    assert_eq!(got.stdout, "done\n", "{got:?}");
}

#[rstest]
fn a_private_tree_in_the_workspace_is_covered_but_for_the_root_in_it(
    #[values(Identity::Ourselves, Identity::Nobody)] identity: Identity,
) {
    let Some(place) = Place::new(identity) else {
        return;
    };
    let data = place.workspace.join("data");
    let scratch = data.join("scratch");
    place.directory(&data);
    place.directory(&scratch);
    place.file(&data.join("database"), "precious\n");
    let script = "cat data/database; ls data; echo x > data/scratch/kept && echo x > data/new";
    let mut command = place.confined("full");
    command
        .arg("--private")
        .arg(&data)
        .arg("--write")
        .arg(&scratch);
    let got = finish(command.args(shell(script, &place)));
    assert_eq!(got.stdout, "scratch\n", "{got:?}");
    assert!(!got.command_succeeded(), "{got:?}");
    assert_eq!(fs::read_to_string(scratch.join("kept")).unwrap(), "x\n");
    assert!(!data.join("new").exists());
    assert_eq!(
        fs::read_to_string(data.join("database")).unwrap(),
        "precious\n"
    );
}

#[rstest]
fn a_blank_file_outside_the_roots_reads_as_empty(
    #[values(Identity::Ourselves, Identity::Nobody)] identity: Identity,
) {
    let Some(place) = Place::new(identity) else {
        return;
    };
    let script = "cat OUTSIDE/victim && echo read";
    let mut command = place.confined("full");
    command.arg("--blank").arg(place.outside.join("victim"));
    let got = finish(command.args(shell(script, &place)));
    assert_eq!(got.stdout, "read\n", "{got:?}");
}

#[rstest]
fn at_partial_a_hidden_path_in_a_readable_root_is_left_out_and_in_a_writable_one_refused(
    #[values(Identity::Ourselves, Identity::Nobody)] identity: Identity,
) {
    let Some(place) = Place::new(identity) else {
        return;
    };
    let secret = place.outside.join("secret");
    place.directory(&secret);
    place.file(&secret.join("key"), "precious\n");
    let script = "cat OUTSIDE/victim; cat OUTSIDE/secret/key";
    let mut command = place.confined("partial");
    command
        .arg("--read")
        .arg(&place.outside)
        .arg("--hide")
        .arg(&secret);
    let got = finish(command.args(shell(script, &place)));
    assert_eq!(got.stdout, "precious\n", "only the victim's: {got:?}");
    assert!(!got.command_succeeded(), "{got:?}");

    let mut command = place.confined("partial");
    command
        .arg("--write")
        .arg(&place.outside)
        .arg("--hide")
        .arg(&secret);
    let got = finish(command.args(shell(script, &place)));
    assert!(
        !got.success && got.last.contains("only a mount namespace can hide it"),
        "{got:?}"
    );
}

/// Every road to a socket. The network is off.
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
        "outfitter-test-{}-{attack}-{level}-{identity:?}",
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
    let got = finish(place.confined(level).args(command));
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
) {
    let Some(place) = Place::new(identity) else {
        return;
    };
    let attacker = place.attacker();
    let got = finish(
        place
            .confined(level)
            .args(["--", &attacker, "attack", "stream-pair"]),
    );
    assert!(got.command_succeeded(), "{got:?}");
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
