//! The network by host: what is named is reached, and nothing else.

use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use outfitter_core::{Level, Offset, Refusal, Refused, Sandbox};
use outfitter_sandbox::{
    AllowedHosts, Host, LocalFiles, Protected, Reach, Support, bwrap, local, probe,
};
use rstest::rstest;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use super::kit::{Backend, LIVENESS, World, bwrap_is_there, heard, say, shell, supervisor};

/// A server on this machine that answers everything with one word.
async fn server(tasks: &mut JoinSet<()>, word: &'static str) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tasks.spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut head = [0; 4096];
            let _ = stream.read(&mut head).await;
            let answer = format!(
                "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{word}",
                word.len()
            );
            let _ = stream.write_all(answer.as_bytes()).await;
        }
    });
    port
}

async fn reaching(world: &World, backend: Backend, hosts: &[String]) -> Option<Box<dyn Sandbox>> {
    if backend == Backend::Bwrap && !bwrap_is_there() {
        return None;
    }
    let support = probe(&supervisor()).await.unwrap();
    if support.level < outfitter_process::Level::Full {
        say("SKIPPED(namespace): it takes a network namespace");
        return None;
    }
    let hosts = AllowedHosts::parse(hosts.iter().map(String::as_str)).unwrap();
    let mut policy = world.policy(support);
    policy.reach = Reach::Hosts(Arc::new(hosts));
    let host = Host {
        path: Some("/usr/bin:/bin".into()),
        ..Host::default()
    };
    let session = world.session(host);
    let opened = match backend {
        Backend::Bwrap => bwrap::open(session, policy).await,
        Backend::Local | Backend::Partial | Backend::Passthrough => local::open(session, policy),
        Backend::Ssh => unreachable!("its network is not ours to keep"),
    };
    Some(Box::new(opened.unwrap()))
}

#[rstest]
#[tokio::test]
async fn a_host_that_is_named_is_reached_and_no_other(
    #[values(Backend::Local, Backend::Bwrap)] backend: Backend,
) {
    let world = World::new();
    let mut servers = JoinSet::new();
    let (named, other) = (
        server(&mut servers, "named").await,
        server(&mut servers, "other").await,
    );
    let Some(sandbox) = reaching(&world, backend, &[format!("127.0.0.1:{named}")]).await else {
        return;
    };
    let line = format!(
        "curl -s http://127.0.0.1:{named}/x; echo; curl -sp -x $http_proxy http://127.0.0.1:{named}/; echo; \
         curl -s http://127.0.0.1:{other}/; curl -s http://example.com/; \
         curl -s -m 5 --noproxy '*' http://127.0.0.1:{named}/ || echo direct: refused"
    );
    let (out, err) = heard(&*sandbox, shell(&line)).await;
    assert_eq!(
        out,
        format!(
            "named\nnamed\n127.0.0.1:{other} is not in [sandbox] network\n\
             example.com:80 is not in [sandbox] network\ndirect: refused\n"
        ),
        "{err}"
    );
}

/// What was refused is said with the result, for the operator to allow it.
#[rstest]
#[tokio::test]
async fn what_was_refused_is_told_with_the_end(
    #[values(Backend::Local, Backend::Bwrap)] backend: Backend,
) {
    let world = World::new();
    let Some(sandbox) = reaching(&world, backend, &["example.com".to_owned()]).await else {
        return;
    };
    let job = sandbox
        .spawn(shell("curl -s https://other.example/ || true"))
        .await
        .unwrap();
    let exit = sandbox.wait(&job).await.unwrap();
    let refusal = Refusal {
        refused: Refused::Rule("network"),
        allow: Some("[sandbox] network".to_owned()),
        why: "other.example:443 is not in [sandbox] network".to_owned(),
    };
    assert_eq!(exit.refusals, [refusal]);
    assert_eq!(exit.notices, Vec::<String>::new(), "told once");
}

/// A name that is allowed does not open the private network that it is made to lead to.
#[rstest]
#[tokio::test]
async fn an_allowed_name_that_leads_to_this_machine_is_refused(
    #[values(Backend::Local, Backend::Bwrap)] backend: Backend,
) {
    let world = World::new();
    let mut servers = JoinSet::new();
    let port = server(&mut servers, "private").await;
    let hostname = std::fs::read_to_string("/etc/hostname").unwrap_or_default();
    let name = hostname.trim();
    let leads_here = tokio::net::lookup_host((name, port)).await;
    let is_private = leads_here
        .is_ok_and(|mut found| found.any(|found| !outfitter_net::address::is_public(found.ip())));
    if !is_private {
        say("SKIPPED(hostname): this machine's own name leads nowhere private");
        return;
    }
    let Some(sandbox) = reaching(&world, backend, &[name.to_owned()]).await else {
        return;
    };
    let (out, _) = heard(&*sandbox, shell(&format!("curl -s http://{name}:{port}/"))).await;
    assert!(out.contains("which is not public"), "{out}");
    // What would open it is said, and opens it.
    let entry = out.split('"').nth(1).unwrap().to_owned();
    let named = [name.to_owned(), entry];
    let Some(sandbox) = reaching(&world, backend, &named).await else {
        return;
    };
    let (out, _) = heard(&*sandbox, shell(&format!("curl -s http://{name}:{port}/"))).await;
    assert_eq!(out, "private", "{named:?}");
}

/// No list opens the place where this program listens itself.
#[tokio::test]
async fn a_command_reached_the_server_that_runs_it() {
    let world = World::new();
    let mut servers = JoinSet::new();
    let port = server(&mut servers, "itself").await;
    let support = probe(&supervisor()).await.unwrap();
    if support.level < outfitter_process::Level::Full {
        say("SKIPPED(namespace): it takes a network namespace");
        return;
    }
    let own = outfitter_net::OwnAddresses::default();
    own.add(([127, 0, 0, 1], port).into());
    let hosts = AllowedHosts::parse(["127.0.0.0/8", "localhost"]).unwrap();
    let mut policy = world.policy(support);
    policy.reach = Reach::Hosts(Arc::new(hosts.but_not(own)));
    let host = Host {
        path: Some("/usr/bin:/bin".into()),
        ..Host::default()
    };
    let sandbox = local::open(world.session(host), policy).unwrap();
    for name in ["127.0.0.1", "localhost"] {
        let line = format!("curl -s http://{name}:{port}/");
        let job = sandbox.spawn(shell(&line)).await.unwrap();
        let exit = sandbox.wait(&job).await.unwrap();
        assert_eq!(
            exit.stdout_bytes as usize,
            format!(
                "{name}:{port} is where this program listens itself, which no command reaches\n"
            )
            .len()
        );
        assert_eq!(exit.refusals[0].allow, None, "no key opens it");
    }
}

/// Two commands at once have a network each: neither reaches what the other listens on, though both
/// find their way out at the same address.
#[rstest]
#[tokio::test]
async fn each_command_has_a_network_of_its_own(
    #[values(Backend::Local, Backend::Bwrap)] backend: Backend,
) {
    let world = World::new();
    let mut servers = JoinSet::new();
    let port = server(&mut servers, "named").await;
    let Some(sandbox) = reaching(&world, backend, &[format!("127.0.0.1:{port}")]).await else {
        return;
    };
    let listens = "python3 -c 'import socket, time; s = socket.create_server((\"127.0.0.1\", 8123)); \
        print(\"up\", flush=True); time.sleep(300)'";
    let first = sandbox.spawn(shell(listens)).await.unwrap();
    let up = sandbox
        .output(&first, Offset(0), 10, LIVENESS)
        .await
        .unwrap();
    assert!(!up.ended, "it does not listen: {up:?}");
    let line = format!(
        "python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", 8123), 3)' 2>&1 | tail -n 1; \
         curl -s http://127.0.0.1:{port}/"
    );
    let (out, err) = heard(&*sandbox, shell(&line)).await;
    assert!(
        out.contains("refused") && out.ends_with("named"),
        "{out}{err}"
    );
    let killed = sandbox.kill(&first, Duration::ZERO).await.unwrap();
    assert!(killed.was_running && killed.survivors.is_empty());
}

/// Sockets of this machine have names in the file system, and are no hosts.
#[rstest]
#[tokio::test]
async fn local_sockets_stay_closed(#[values(Backend::Local, Backend::Bwrap)] backend: Backend) {
    let world = World::new();
    let Some(sandbox) = reaching(&world, backend, &["example.com".to_owned()]).await else {
        return;
    };
    let line = "python3 -c 'import socket; socket.socket(socket.AF_UNIX)' 2>&1 | tail -n 1; \
        python3 -c 'import socket; socket.create_connection((\"192.0.2.1\", 80), 3)' 2>&1 | tail -n 1; \
        ls /sys/class/net 2>/dev/null | wc -l; cat /proc/net/dev | tail -n +3 | wc -l";
    let (out, _) = heard(&*sandbox, shell(line)).await;
    let lines: Vec<&str> = out.lines().collect();
    assert!(lines[0].contains("not supported"), "{out}");
    assert!(lines[1].contains("unreachable"), "{out}");
    assert_eq!(lines[3], "1", "only the loopback device: {out}");
}

#[tokio::test]
async fn where_it_cannot_be_kept_to_hosts_nothing_is_opened() {
    let world = World::new();
    let mut policy = world.policy(Support {
        level: outfitter_process::Level::Partial,
        landlock_abi: 7,
        reasons: vec!["full: failed to make namespaces: not here".to_owned()],
    });
    policy.require = Level::None;
    policy.reach = Reach::Hosts(Arc::new(AllowedHosts::parse(["example.com"]).unwrap()));
    let error = local::open(world.session(Host::default()), policy)
        .err()
        .unwrap();
    assert!(error.to_string().contains("not here"), "{error}");
}

/// A socket is connected to and not opened: what could not even be listed answered.
#[tokio::test]
async fn a_socket_in_a_directory_that_is_kept_was_connected_to() {
    let support = probe(&supervisor()).await.unwrap();
    if support.level < outfitter_process::Level::Full {
        say("SKIPPED(namespace): it takes mounts");
        return;
    }
    // Not in `/tmp`, which is empty inside.
    let Ok(home) = tempfile::tempdir_in("/var") else {
        say("SKIPPED(not-root): nothing outside can be made here");
        return;
    };
    let home = home.path();
    let world = World::new();
    let kept = home.join(".docker/run");
    std::fs::create_dir_all(&kept).unwrap();
    let listens = |path: PathBuf| (UnixListener::bind(&path).unwrap(), path);
    let outside = [
        listens(kept.join("docker.sock")),
        listens(home.join("x.sock")),
    ];
    let inside = listens(world.workspace.join("own.sock"));
    let mut session = world.session(Host {
        path: Some("/usr/bin:/bin".into()),
        ..Host::default()
    });
    let protected = Protected::of_home(home);
    session.files = LocalFiles::open(&world.workspace, protected).unwrap();
    let mut policy = world.policy(support);
    policy.reach = Reach::Everything;
    let sandbox = local::open(session, policy).unwrap();
    // One that is made later: the directory itself is out of reach.
    let line = |path: &Path| {
        shell(&format!(
            "python3 -c 'import socket; socket.socket(socket.AF_UNIX).connect(\"{}\"); \
             print(\"connected\")' 2>/dev/null",
            path.display()
        ))
    };
    let (out, _) = heard(&sandbox, line(&inside.1)).await;
    if out.is_empty() {
        say("SKIPPED(python): there is nothing to connect with");
        return;
    }
    for (_, path) in &outside {
        let (out, _) = heard(&sandbox, line(path)).await;
        assert_eq!(out, "", "{} was reached", path.display());
    }
    let later = kept.join("later.sock");
    let waits = format!(
        "echo up; until [ -e go ]; do sleep 0.01; done; {}",
        match line(&later).command {
            outfitter_core::CommandLine::Shell(line) => line,
            outfitter_core::CommandLine::Program(words) => words.join(" "),
        }
    );
    let job = sandbox.spawn(shell(&waits)).await.unwrap();
    sandbox.output(&job, Offset(0), 10, LIVENESS).await.unwrap();
    let _later = UnixListener::bind(&later).unwrap();
    std::fs::write(world.workspace.join("go"), "").unwrap();
    let exit = sandbox.wait(&job).await.unwrap();
    assert_eq!(exit.stdout_bytes, 3, "{exit:?}");
}
