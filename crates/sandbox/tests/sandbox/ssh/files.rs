//! Files on another machine, where they differ from files of this one.

use std::fs;
use std::os::unix::fs::symlink;
use std::time::Duration;

use outfitter_core::{
    Becomes, Bytes, Deadline, FileChange, FileRef, FilesError, Hash, LeadsTo, NewMode, Put,
    PutMode, Range, Reach, Sandbox, SandboxError,
};
use outfitter_sandbox::ssh::open;
use outfitter_sandbox::{FileLimits, FileQuota, QuotaCounts};
use rstest::rstest;

use super::server::Server;
use crate::commands::kit::{heard, shell};
use crate::files::denied::SPELLINGS;
use crate::files::world::{Machine, SECRET, World, here, hits, is_denial, put, replace, search};

const ALL: Range = Range {
    from: 0,
    max: 1 << 20,
};

#[tokio::test]
async fn the_spellings_of_a_secret_are_denials_to_read_and_to_write() {
    let Some(world) = World::on(Machine::Theirs).await else {
        return;
    };
    fs::create_dir(world.path("sub")).unwrap();
    world.link("link-to-ssh", world.home.join(".ssh"));
    let home = world.home.to_str().unwrap();
    let by_name = SPELLINGS.iter().filter(|path| !path.contains("hard-link"));
    for reach in [Reach::Workspace, Reach::Host] {
        for spelling in by_name.clone() {
            let path = spelling.replacen('H', home, usize::from(spelling.starts_with('H')));
            let file = FileRef { path: &path, reach };
            let read = world.files.read(file, ALL).await.unwrap_err();
            assert!(is_denial(&read), "read {path}, {reach:?}: {read:?}");
            let hash = world.files.hash(file).await.unwrap_err();
            assert!(is_denial(&hash), "hash {path}, {reach:?}: {hash:?}");
            let write = world.files.put(file, replace("x")).await.unwrap_err();
            assert!(is_denial(&write), "write {path}, {reach:?}: {write:?}");
        }
    }
    let key = fs::read_to_string(world.home.join(".ssh/id_rsa")).unwrap();
    assert_eq!(key, SECRET);
}

/// The corpus that the resolution of paths on this machine is tried with, and more.
#[tokio::test]
async fn no_path_of_the_corpus_leads_out() {
    let Some(world) = World::on(Machine::Theirs).await else {
        return;
    };
    world.make("d/file.txt", "inside");
    world.link("out", &world.outside);
    world.link("d/out", "../../../outside");
    world.link("in", "d");
    world.link("loop", "loop");
    world.link("root", "/");
    world.link("proc", "/proc/self/root");
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/paths");
    let mut paths: Vec<String> = fs::read_dir(corpus)
        .unwrap()
        .map(|entry| fs::read(entry.unwrap().path()).unwrap())
        .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        .collect();
    assert!(paths.len() > 5, "{paths:?}");
    let outside = world.outside.display();
    for path in [
        "out/secret.txt",
        "d/out/secret.txt",
        "in/../d/out/./secret.txt",
        "d/../../../outside/secret.txt",
        "root/etc/passwd",
        "loop/x",
        "in/out/../secret.txt",
        "d/file.txt/../../../../outside/secret.txt",
    ] {
        paths.push(path.to_owned());
    }
    paths.push(format!("{outside}/secret.txt"));
    paths.push(format!("root{outside}/secret.txt"));
    paths.push(format!("proc{outside}/secret.txt"));
    let before: Vec<_> = fs::read_dir(&world.outside).unwrap().collect();
    for path in &paths {
        if let Ok(chunk) = world.files.read(here(path), ALL).await {
            assert_ne!(&chunk.bytes[..], SECRET.as_bytes(), "{path:?}");
        }
        let found = world.files.search(here(path), search("secret of")).await;
        assert_eq!(found.unwrap_or_default().hits, [], "{path:?}");
        let _ = world.files.put(here(path), replace("written")).await;
    }
    assert_eq!(fs::read_dir(&world.outside).unwrap().count(), before.len());
    let secret = fs::read_to_string(world.outside.join("secret.txt")).unwrap();
    assert_eq!(secret, SECRET);
}

/// Two people's sessions on one server have folders beside each other there.
#[tokio::test]
async fn a_session_reaches_nothing_of_the_folder_of_another() {
    let Some(server) = Server::start() else {
        return;
    };
    let session = |folder: &str| {
        let mut session = server.session(server.remote());
        session.own_folder = Some(folder.to_owned());
        session
    };
    let hers = open(session("ada/s1")).await.unwrap();
    let his = open(session("ben/s1")).await.unwrap();
    let place = server.path("workspace/ada/s1");
    assert!(hers.info().workspace.ends_with("workspace/ada/s1"));
    hers.files()
        .put(here("hers.txt"), replace(SECRET))
        .await
        .unwrap();
    assert_eq!(fs::read_to_string(place.join("hers.txt")).unwrap(), SECRET);
    let own = server.path("workspace/ben/s1");
    symlink("../../ada/s1", own.join("up")).unwrap();
    symlink("../../ada/s1/hers.txt", own.join("file")).unwrap();
    symlink(&place, own.join("far")).unwrap();
    let absolute = place.join("hers.txt").display().to_string();
    for path in [
        "../../ada/s1/hers.txt",
        "up/hers.txt",
        "far/hers.txt",
        "file",
        &absolute,
    ] {
        let files = his.files();
        let refused = [
            files.read(here(path), ALL).await.unwrap_err(),
            files.hash(here(path)).await.unwrap_err(),
            files
                .search(here(path), search("secret"))
                .await
                .unwrap_err(),
            files.put(here(path), replace("x")).await.unwrap_err(),
            files
                .export(here(path), server.path("copy"))
                .await
                .unwrap_err(),
        ];
        for error in refused {
            assert!(
                matches!(
                    error,
                    FilesError::Outside { .. } | FilesError::Symlink { .. }
                ),
                "{path}: {error:?}"
            );
        }
    }
    assert_eq!(fs::read_to_string(place.join("hers.txt")).unwrap(), SECRET);
}

#[tokio::test]
async fn after_a_dropped_connection_the_next_call_works() {
    let Some(server) = Server::start() else {
        return;
    };
    let sandbox = server.open().await;
    let files = sandbox.files();
    files.put(here("a"), replace("one")).await.unwrap();
    for round in 0..3 {
        server.drop_connections();
        let read = files.read(here("a"), ALL).await.unwrap();
        assert_eq!(&read.bytes[..], b"one", "{round}");
        server.drop_connections();
        let append = put("+", PutMode::Append, None);
        files.put(here("log"), append).await.unwrap();
    }
    assert_eq!(fs::read(server.path("workspace/log")).unwrap(), b"+++");
}

#[tokio::test]
async fn a_machine_that_is_gone_is_said_to_be_and_nothing_hangs() {
    let Some(mut server) = Server::start() else {
        return;
    };
    let sandbox = server.open().await;
    server.stop();
    let error = sandbox.files().read(here("a"), ALL).await.unwrap_err();
    assert!(
        matches!(&error, FilesError::Unavailable { why } if why.contains("cannot be reached")),
        "{error:?}"
    );
}

#[rstest]
#[case::none("", "server of files")]
#[case::one_that_ends("Subsystem sftp /bin/true\n", "server of files")]
#[case::another_language("Subsystem sftp /bin/cat\n", "server of files")]
#[tokio::test]
async fn a_machine_without_a_server_of_files_is_refused(
    #[case] subsystem: &str,
    #[case] why: &str,
) {
    let Some(server) = Server::start_with(subsystem) else {
        return;
    };
    match open(server.session(server.remote())).await {
        Err(SandboxError::Unavailable { reason, .. }) => assert!(reason.contains(why), "{reason}"),
        Err(other) => unreachable!("{other}"),
        Ok(_) => unreachable!("it was opened"),
    }
}

/// What was there is back when a later change cannot be made.
#[tokio::test]
async fn changes_made_together_are_all_made_or_none() {
    let Some(world) = World::on(Machine::Theirs).await else {
        return;
    };
    world.make("a", "old a");
    world.make_mode("a", 0o750);
    world.make("gone", "old gone");
    let change = |path: &str, to| FileChange {
        path: path.to_owned(),
        reach: Reach::Workspace,
        to,
    };
    let bytes = |text: &str| Bytes::copy_from_slice(text.as_bytes());
    let changes = |last: &str| {
        vec![
            change(
                "a",
                Becomes::Replaced {
                    bytes: bytes("new a"),
                    if_hash: Hash::of("old a"),
                },
            ),
            change(
                "gone",
                Becomes::Removed {
                    if_hash: Hash::of("old gone"),
                },
            ),
            change(
                last,
                Becomes::Created {
                    bytes: bytes("made"),
                    mode: NewMode::Of("a".to_owned()),
                },
            ),
        ]
    };
    // Judged before anything is made.
    let error = world.files.commit(changes(".git/x")).await.unwrap_err();
    assert!(matches!(error, FilesError::Protected { .. }), "{error:?}");
    // A name that is taken while all is made ready is met by a link there.
    world.link("taken", "nowhere");
    let error = world.files.commit(changes("taken")).await.unwrap_err();
    assert!(matches!(error, FilesError::Symlink { .. }), "{error:?}");
    assert_eq!(world.bytes("a"), b"old a");
    assert_eq!(world.bytes("gone"), b"old gone");
    world.files.commit(changes("d/new")).await.unwrap();
    assert_eq!(world.bytes("a"), b"new a");
    assert_eq!(world.bytes("d/new"), b"made");
    assert!(!world.path("gone").exists());
    let mode = |path: &str| {
        use std::os::unix::fs::PermissionsExt as _;
        fs::metadata(world.path(path)).unwrap().permissions().mode() & 0o777
    };
    assert_eq!((mode("a"), mode("d/new")), (0o750, 0o750));
    let left: Vec<_> = fs::read_dir(&world.workspace)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with(".outfitter-"))
        .collect();
    assert_eq!(left, [""; 0]);
}

/// Sixteen at once, over one channel.
#[tokio::test]
async fn many_calls_at_once_each_get_their_own_answer() {
    let Some(world) = World::on(Machine::Theirs).await else {
        return;
    };
    let mut calls = tokio::task::JoinSet::new();
    for number in 0..16 {
        let files = world.files.clone();
        calls.spawn(async move {
            let text = format!("{number}").repeat(50_000);
            let path = format!("d{number}/file");
            let put = Put {
                bytes: Bytes::from(text.clone()),
                mode: PutMode::Create,
                if_hash: None,
            };
            files.put(here(&path), put).await.unwrap();
            let range = Range {
                from: 3,
                max: 1 << 20,
            };
            let read = files.read(here(&path), range).await.unwrap();
            assert_eq!(&read.bytes[..], &text.as_bytes()[3..]);
        });
    }
    while let Some(done) = calls.join_next().await {
        done.unwrap();
    }
}

/// It knows no more than how they are spelled, and a rule must not take that for what they are.
#[tokio::test]
async fn where_nobody_can_wait_what_a_path_leads_to_is_unknown_and_not_itself() {
    let Some(server) = Server::start() else {
        return;
    };
    let sandbox = open(server.session(server.remote())).await.unwrap();
    let workspace = server.path("workspace");
    fs::create_dir(workspace.join("secrets")).unwrap();
    symlink("secrets", workspace.join("docs")).unwrap();
    // One thread has to ask and to drive the connection.
    assert_eq!(
        sandbox.files().leads_to("docs/k", Deadline::NEVER),
        LeadsTo::Unknown
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn where_the_machine_does_not_answer_what_a_path_leads_to_is_unknown() {
    let Some(mut server) = Server::start() else {
        return;
    };
    let sandbox = open(server.session(server.remote())).await.unwrap();
    let known = sandbox.files().leads_to("docs", Deadline::NEVER);
    assert!(matches!(known, LeadsTo::Path(_)), "{known:?}");
    server.stop();
    assert_eq!(
        sandbox.files().leads_to("docs", Deadline::NEVER),
        LeadsTo::Unknown
    );
}

/// A machine that had nothing more to say held a call up for a minute with each of its paths.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_paths_lead_to_is_unknown_by_the_deadline_of_all_and_told_after_it() {
    let Some(server) = Server::start() else {
        return;
    };
    let sandbox = open(server.session(server.remote())).await.unwrap();
    let files = sandbox.files();
    let over = Deadline::after(Duration::ZERO);
    for _ in 0..100 {
        assert_eq!(files.leads_to("docs", over), LeadsTo::Unknown);
    }
    // And nothing of it is in the way of the next question: a connection has ten channels, and who
    // lets go of a question half way had one more each time.
    for round in 0..40 {
        let short = Deadline::after(Duration::from_micros(25 * round));
        let _path_or_unknown = files.leads_to("docs", short);
        let known = files.leads_to("docs", Deadline::NEVER);
        assert!(matches!(known, LeadsTo::Path(_)), "{known:?}");
    }
}

#[rstest]
#[case::of_one_file("a.txt")]
#[case::of_a_tree(".")]
#[tokio::test]
async fn a_search_fetches_no_more_than_it_may_and_says_so(#[case] at: &str) {
    let limits = FileLimits {
        max_fetched_bytes: 20,
        ..FileLimits::default()
    };
    let Some(world) = World::limited_on(Machine::Theirs, limits).await else {
        return;
    };
    world.make("a.txt", "needle one\n12345678\nneedle two\n");
    world.make("b.txt", "needle three\n");
    let found = world.grep(at, "needle").await.unwrap();
    assert_eq!(hits(&found), ["a.txt:1:1:needle one"]);
    assert!(found.walked.truncated);
    let why = "not searched to its end: more than 20 bytes would be fetched";
    let said = format!("{:?}", found.walked);
    assert!(said.contains(why) && said.contains("a.txt"), "{said}");
}

#[tokio::test]
async fn what_a_command_wrote_there_counts_at_the_next_write() {
    let Some(server) = Server::start() else {
        return;
    };
    let mut session = server.session(server.remote());
    session.file_limits.quota = Some(FileQuota {
        bytes: 1000,
        counts: QuotaCounts::Workspace,
    });
    let sandbox = open(session).await.unwrap();
    let write = |path| sandbox.files().put(here(path), replace("x"));
    write("a").await.unwrap();
    heard(&sandbox, shell("head -c 5000 /dev/zero > big")).await;
    let error = write("b").await.unwrap_err();
    assert!(
        matches!(error, FilesError::OverQuota { used: 5001, .. }),
        "{error:?}"
    );
    heard(&sandbox, shell("rm big")).await;
    write("b").await.unwrap();
}
