//! The file tools, end to end: what must not be reached is not, what must stay stays.

use std::os::unix::fs::symlink;

use rstest::rstest;
use serde_json::{Value, json};

use crate::direct::{called, error, result};
use crate::world::World;

/// Calls of every file tool on this path.
fn calls_on(path: &str) -> Vec<(&'static str, Value)> {
    vec![
        ("file_read", json!({"path": path})),
        ("file_write", json!({"path": path, "content": "x"})),
        (
            "file_write",
            json!({"path": path, "content": "x", "mode": "append"}),
        ),
        (
            "file_update",
            json!({"path": path, "operations": [{"kind": "replace", "old": "sentinel", "new": "x"}]}),
        ),
        ("list_dir", json!({"path": path})),
        ("grep", json!({"pattern": "sentinel", "path": path})),
        ("glob", json!({"pattern": "*", "path": path})),
        (
            "apply_patch",
            patch(&format!("*** Update File: {path}\n-sentinel\n+x\n")),
        ),
        ("apply_patch", patch(&format!("*** Delete File: {path}\n"))),
        ("apply_patch", patch(&format!("*** Add File: {path}\n+x\n"))),
    ]
}

fn patch(body: &str) -> Value {
    json!({"patch": format!("*** Begin Patch\n{body}*** End Patch\n")})
}

/// D01 and D03: no link and no spelling leads out.
#[test]
fn nothing_outside_the_workspace_is_reached_by_any_spelling() {
    let world = World::new();
    let outside = world.root().join("outside");
    std::fs::create_dir(&outside).unwrap();
    std::fs::write(outside.join("secret.txt"), "sentinel").unwrap();
    symlink(&outside, world.work("link")).unwrap();
    symlink(outside.join("secret.txt"), world.work("link.txt")).unwrap();
    symlink("../outside", world.work("relative")).unwrap();
    world.write("inner/a.txt", "a");
    let there = outside.display().to_string();
    let spellings = [
        "link/secret.txt".to_owned(),
        "link.txt".to_owned(),
        "relative/secret.txt".to_owned(),
        "../outside/secret.txt".to_owned(),
        "inner/../../outside/secret.txt".to_owned(),
        "./inner/..//../outside/./secret.txt".to_owned(),
        format!("{there}/secret.txt"),
        format!("{}/../outside/secret.txt", world.work("").display()),
        format!("/proc/self/root{there}/secret.txt"),
        "/proc/self/cwd/../outside/secret.txt".to_owned(),
        "/etc/passwd".to_owned(),
        "link".to_owned(),
        "relative".to_owned(),
        "..".to_owned(),
        "/".to_owned(),
    ];
    for path in &spellings {
        for (tool, args) in calls_on(path) {
            let (_, output) = called(&world, tool, &args.to_string(), &[]);
            let said = output.to_string();
            assert!(output["error"].is_object(), "{tool} {path}: {said}");
            assert!(!said.contains("root:x:0"), "{tool} {path}: {said}");
        }
    }
    // Nor by looking around from inside.
    let found = result(&world, "grep", &json!({"pattern": "sentinel"}));
    assert_eq!(found["count"], 0, "{found}");
    let found = result(&world, "glob", &json!({"pattern": "**/secret.txt"}));
    assert_eq!(found["count"], 0, "{found}");
    assert_eq!(
        std::fs::read_to_string(outside.join("secret.txt")).unwrap(),
        "sentinel"
    );
    assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 1);
}

/// D01, the other way.
#[test]
fn links_inside_the_workspace_work() {
    let world = World::new();
    world.write("real/a.txt", "sentinel\n");
    symlink("real", world.work("link")).unwrap();
    let read = result(&world, "file_read", &json!({"path": "link/a.txt"}));
    assert!(read["content"].to_string().contains("sentinel"));
    result(
        &world,
        "file_write",
        &json!({"path": "link/b.txt", "content": "b"}),
    );
    assert!(world.work("real/b.txt").exists());
}

#[test]
fn a_final_link_is_refused_on_write_and_its_target_named() {
    let world = World::new();
    world.write("real.txt", "sentinel");
    symlink("real.txt", world.work("link.txt")).unwrap();
    let refused = error(
        &world,
        "file_write",
        &json!({"path": "link.txt", "content": "x"}),
    );
    assert!(refused.to_string().contains("real.txt"), "{refused}");
    assert_eq!(
        std::fs::read_to_string(world.work("real.txt")).unwrap(),
        "sentinel"
    );
    assert!(world.work("link.txt").is_symlink());
}

/// D09: whoever writes there runs what is written.
#[rstest]
#[case(".git/hooks/pre-commit")]
#[case(".GIT/config")]
#[case(".Git/x")]
#[case("./.git/config")]
#[case("sub/../.git/config")]
#[case("sub/.git/config")]
#[case(".git")]
#[case("worktree/.git")]
#[case(".git/")]
#[case(".git//config")]
fn repository_metadata_is_not_written(#[case] path: &str) {
    let world = World::new();
    std::fs::create_dir_all(world.work(".git/hooks")).unwrap();
    std::fs::create_dir_all(world.work("sub")).unwrap();
    let refused = error(&world, "file_write", &json!({"path": path, "content": "x"}));
    assert_ne!(refused["code"], "internal", "{refused}");
    let added = patch(&format!("*** Add File: {path}\n+x\n"));
    let refused = error(&world, "apply_patch", &added);
    assert_ne!(refused["code"], "internal", "{refused}");
    assert_eq!(std::fs::read_dir(world.work(".git")).unwrap().count(), 1);
    assert_eq!(
        std::fs::read_dir(world.work(".git/hooks")).unwrap().count(),
        0
    );
    assert_eq!(std::fs::read_dir(world.work("sub")).unwrap().count(), 0);
}

#[rstest]
#[case(".gitignore")]
#[case("git/x")]
#[case(".github/workflows/ci.yml")]
fn what_only_looks_like_it_is_written(#[case] path: &str) {
    let world = World::new();
    result(
        &world,
        "file_write",
        &json!({"path": path, "content": "x\n"}),
    );
    assert!(world.work(path).exists());
}

/// D03 and D04: credentials are in no tool's reach, even where the workspace is the home itself.
#[test]
fn credentials_are_not_read_where_the_home_is_the_workspace() {
    let world = World::new();
    let home = world.root().join("home");
    let secret = [
        ".ssh/id_rsa",
        ".SSH/id_rsa",
        ".aws/credentials",
        ".netrc",
        ".npmrc",
        ".cargo/credentials.toml",
        ".bash_history",
        ".git-credentials",
        ".config/gh/hosts.yml",
    ];
    for path in secret {
        let path = home.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "sentinel").unwrap();
    }
    let at_home = ["--workspace", &home.display().to_string()];
    for path in secret {
        for path in [path.to_owned(), format!("./{path}"), format!("x/../{path}")] {
            let args = json!({"path": path}).to_string();
            let (_, output) = called(&world, "file_read", &args, &at_home);
            assert!(output["error"].is_object(), "{path}: {output}");
        }
    }
    for (tool, args) in [
        ("grep", json!({"pattern": "sentinel"})),
        ("glob", json!({"pattern": "**/id_rsa"})),
        ("glob", json!({"pattern": "**/.netrc"})),
    ] {
        let (_, output) = called(&world, tool, &args.to_string(), &at_home);
        assert_eq!(output["result"]["count"], 0, "{output}");
    }
}

/// D04: a hard link to a credential is the credential.
#[test]
fn a_hard_link_to_a_credential_is_not_read() {
    let world = World::new();
    let home = world.root().join("home");
    std::fs::create_dir_all(home.join(".ssh")).unwrap();
    std::fs::write(home.join(".ssh/id_rsa"), "sentinel").unwrap();
    std::fs::hard_link(home.join(".ssh/id_rsa"), world.work("innocent.txt")).unwrap();
    let (_, output) = called(&world, "file_read", r#"{"path":"innocent.txt"}"#, &[]);
    assert!(output["error"].is_object(), "{output}");
}

/// D07: only the bytes that are meant differ.
#[test]
fn an_edit_changes_its_bytes_and_no_other() {
    let world = World::new();
    let before = b"\xef\xbb\xbffirst\r\nsecond\r\nthird\r\n";
    world.write("a.txt", before);
    let operations = json!([{"kind": "replace", "old": "first\nsecond", "new": "first\n2nd"}]);
    let done = result(
        &world,
        "file_update",
        &json!({"path": "a.txt", "operations": operations}),
    );
    assert_eq!(done["replacements"], 1);
    let after = std::fs::read(world.work("a.txt")).unwrap();
    assert_eq!(after, b"\xef\xbb\xbffirst\r\n2nd\r\nthird\r\n");
}

/// D07: GBK stays GBK, and what is not touched is not written anew.
#[test]
fn an_edit_keeps_the_encoding() {
    let world = World::new();
    // "你好\n世界 one\n你好\n", often enough to be recognised.
    let line = b"\xc4\xe3\xba\xc3\xa3\xac\xca\xc0\xbd\xe7\xa1\xa3";
    let before = [&line.repeat(20)[..], b"\none\n", &line.repeat(20)].concat();
    world.write("gbk.txt", &before);
    let operations = json!([{"kind": "replace", "old": "one", "new": "two"}]);
    result(
        &world,
        "file_update",
        &json!({"path": "gbk.txt", "operations": operations}),
    );
    let after = [&line.repeat(20)[..], b"\ntwo\n", &line.repeat(20)].concat();
    assert_eq!(std::fs::read(world.work("gbk.txt")).unwrap(), after);
}

#[test]
fn an_edit_that_matches_nothing_or_too_much_changes_nothing() {
    let world = World::new();
    world.write("a.txt", "same\nsame\n");
    // The first change is right; it is not made either.
    let right = json!({"kind": "lines", "start": 1, "end": 1, "new": "same"});
    for old in ["none", "same"] {
        let wrong = json!({"kind": "replace", "old": old, "new": "x"});
        let args = json!({"path": "a.txt", "operations": [right, wrong]});
        error(&world, "file_update", &args);
        assert_eq!(
            std::fs::read_to_string(world.work("a.txt")).unwrap(),
            "same\nsame\n"
        );
    }
    let operations = json!([{"kind": "replace", "old": "same", "new": "x"}]);
    let refused = error(
        &world,
        "file_update",
        &json!({"path": "a.txt", "operations": operations}),
    );
    assert!(refused["message"].to_string().contains('2'), "{refused}");
}

/// D06: of two that read the same, the second to write is told; also where size and time say that
/// nothing has changed.
#[test]
fn a_write_from_a_stale_reading_is_refused() {
    let world = World::new();
    world.write("a.txt", "one\n");
    let read = result(&world, "file_read", &json!({"path": "a.txt"}));
    let (hash, file) = (read["hash"].clone(), world.work("a.txt"));
    let time = std::fs::metadata(&file).unwrap().modified().unwrap();
    result(
        &world,
        "file_write",
        &json!({"path": "a.txt", "content": "two\n", "if_hash": hash}),
    );
    let same_time = std::fs::File::options().write(true).open(&file).unwrap();
    same_time.set_modified(time).unwrap();
    drop(same_time);
    let operations = json!([{"kind": "lines", "start": 1, "end": 1, "new": "six"}]);
    for (tool, args) in [
        (
            "file_write",
            json!({"path": "a.txt", "content": "six\n", "if_hash": hash}),
        ),
        (
            "file_update",
            json!({"path": "a.txt", "operations": operations, "if_hash": hash}),
        ),
    ] {
        let refused = error(&world, tool, &args);
        assert_eq!(refused["code"], "conflict", "{refused}");
        assert!(
            refused["hint"].to_string().contains("read it again"),
            "{refused}"
        );
    }
    // A patch says itself what it was made from.
    let stale = patch("*** Update File: a.txt\n-one\n+six\n");
    assert_eq!(error(&world, "apply_patch", &stale)["code"], "failed");
    assert_eq!(std::fs::read(&file).unwrap(), b"two\n");
}

#[test]
fn a_range_of_a_long_file_is_that_range() {
    let world = World::new();
    let text: String = (1..=50_000)
        .map(|at| format!("line number {at}\n"))
        .collect();
    world.write("long.txt", text);
    let read = result(
        &world,
        "file_read",
        &json!({"path": "long.txt", "start_line": 49_990, "end_line": 49_992}),
    );
    assert_eq!(read["total_lines"], 50_000);
    let content = read["content"].as_str().unwrap();
    assert_eq!(content.lines().count(), 3);
    assert!(content.contains("49990| line number 49990"), "{content}");
}

#[test]
fn a_long_file_is_cut_where_it_says_so() {
    let world = World::new();
    world.write("long.txt", "x".repeat(10 * 1024 * 1024));
    let (ran, output) = called(
        &world,
        "file_read",
        r#"{"path":"long.txt"}"#,
        &["--session", "s"],
    );
    assert_eq!(output["status"], "success", "{}", output["error"]);
    assert!(output["truncated"]["total_bytes"].as_u64() > Some(200_000));
    assert!(output["truncated"]["artifact"].is_string());
    assert!(ran.stdout.len() < 2 * 1024 * 1024);
}

#[rstest]
#[case::nul("a\0b")]
#[case::empty("")]
fn a_path_that_is_none_is_an_argument_error(#[case] path: &str) {
    for (tool, args) in calls_on(path) {
        let refused = error(&World::new(), tool, &args);
        assert_eq!(refused["code"], "invalid_arguments", "{tool}: {refused}");
    }
}

#[test]
fn what_is_no_file_does_not_hang() {
    let world = World::new();
    let fifo = world.work("fifo");
    rustix::fs::mkfifoat(
        rustix::fs::CWD,
        &fifo,
        rustix::fs::Mode::from_raw_mode(0o600),
    )
    .unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(world.work("socket")).unwrap();
    for path in ["fifo", "socket"] {
        let refused = error(&world, "file_read", &json!({"path": path}));
        assert_ne!(refused["code"], "internal", "{refused}");
        error(&world, "file_write", &json!({"path": path, "content": "x"}));
    }
    result(&world, "grep", &json!({"pattern": "x"}));
    result(&world, "list_dir", &json!({}));
}

#[test]
fn binary_files_are_told_and_not_shown() {
    let world = World::new();
    world.write("a.bin", [0, 159, 146, 150, 0, 1, 2, 255]);
    let read = result(&world, "file_read", &json!({"path": "a.bin"}));
    assert_eq!((&read["binary"], &read["size"]), (&json!(true), &json!(8)));
    assert!(read.get("content").is_none());
}

#[test]
fn a_workspace_that_is_not_there_is_an_error() {
    let world = World::new();
    let args = [
        "tools",
        "call",
        "list_dir",
        "--json",
        "--workspace",
        "nowhere",
    ];
    let ran = world.run(&args);
    assert_ne!(ran.code, Some(0));
    assert!(ran.stderr.contains("nowhere"), "{}", ran.stderr);
}

/// Our own data is nobody's workspace.
#[test]
fn the_store_is_not_read_by_a_tool_even_where_it_lies_in_the_workspace() {
    let world = World::new();
    world.config("[store]\ndata_dir = \"data\"\n");
    let args = r#"{"expression":"41+1"}"#;
    called(&world, "calculator", args, &["--session", "s"]);
    assert!(world.work("data/outfitter.db").exists());
    for path in [
        "data/outfitter.db",
        "data/../data/outfitter.db",
        "./data//outfitter.db",
    ] {
        let refused = error(&world, "file_read", &json!({"path": path}));
        assert_ne!(refused["code"], "internal", "{refused}");
    }
    let found = result(&world, "grep", &json!({"pattern": "41\\+1"}));
    assert_eq!(found["count"], 0, "{found}");
}

/// A file has what was written to it, whatever that looks like, and shows it to who reads it.
#[test]
fn a_file_lost_the_keys_of_the_addresses_in_it() {
    let world = World::new();
    let source = "const A: &str = \"https://me:hunter22@a.example/?api_key=a1b2c3d4e5f6a7b8\";\n\
                  password = \"https://a.example/?token=ghp_S3S3S3S3S3S3S3S3\"\n\
                  image: docker://alpine:3.19@sha256:6457d53fb065d6f250e1504b9bc42d5b\n";
    let write = json!({"path": "a.rs", "content": source});
    result(&world, "file_write", &write);
    let added: String = source.lines().map(|line| format!("+{line}\n")).collect();
    let added = patch(&format!("*** Add File: b.rs\n{added}"));
    result(&world, "apply_patch", &added);
    world.write("c.rs", "here\n");
    let replace = json!({"kind": "replace", "old": "here\n", "new": source});
    let update = json!({"path": "c.rs", "operations": [replace]});
    result(&world, "file_update", &update);
    for path in ["a.rs", "b.rs", "c.rs"] {
        let kept = std::fs::read_to_string(world.work(path)).unwrap();
        assert_eq!(kept, source, "{path}");
        let read = result(&world, "file_read", &json!({"path": path}));
        let content = read["content"].as_str().unwrap();
        for line in source.lines() {
            assert!(content.contains(line), "{content}");
        }
    }
    let found = result(&world, "grep", &json!({"pattern": "api_key=a1b2"}));
    assert_eq!(found["count"], 3, "{found}");
    assert!(
        found.to_string().contains("me:hunter22@a.example"),
        "{found}"
    );
}
