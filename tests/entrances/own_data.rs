//! Our own data, where the sessions of everybody lie: no tool of one session reaches another's, or
//! the log, whatever the configuration opens.

use serde_json::{Value, json};

use crate::within::Within;
use crate::world::World;

/// In the words of one person, and in nobody else's.
const MARK: &str = "zq7precious7qz";

const ANN: &str = "birds/ann/admin";
const BOB: &str = "birds/bob/admin";

/// A server that opens all it can open: admins' file tools reach the machine, and commands read
/// and write above and in the data directory.
fn open_wide(world: &World) -> Within<'_> {
    let (root, data) = (world.root(), world.data(""));
    std::fs::create_dir_all(data.join("files")).unwrap();
    Within::start_with(
        world,
        |config| {
            config.files.admin_open = true;
            config.tools.max_result_tokens = 50_000;
            config.sandbox.read = vec![root.clone(), data.clone(), data.join("files")];
            config.sandbox.write = vec![data.join("files"), data.join("artifacts")];
        },
        |builder| builder,
    )
}

fn failed(output: &Value, what: &str) {
    let text = output.to_string();
    assert_ne!(output["status"], "success", "{what}: {text}");
    assert!(!text.contains(MARK), "{what}: {text}");
}

#[test]
fn no_file_tool_of_an_admin_reaches_our_data_whatever_is_open() {
    let world = World::new();
    let within = open_wide(&world);
    let (ann, bob) = (within.by(ANN), within.by(BOB));
    let write = json!({"path": "secret.txt", "content": MARK});
    ann.call("s", "file_write", &write).is(200);
    bob.call(
        "s",
        "file_write",
        &json!({"path": "own.txt", "content": "own"}),
    )
    .is(200);
    let data = world.data("");
    let hers = data.join("files/birds/ann/s");
    assert!(hers.join("secret.txt").is_file());
    // What is open is open: the attack is not refused for another reason.
    world.write("beside.txt", "beside");
    let beside = json!({"path": world.work("beside.txt")});
    let output = bob.call("s", "file_read", &beside).is(200).json();
    assert_eq!(output["status"], "success", "{output}");

    std::os::unix::fs::symlink(&data, world.work("link")).unwrap();
    let mut files = vec![
        hers.join("secret.txt").display().to_string(),
        data.join("outfitter.db").display().to_string(),
        data.join("outfitter.db-wal").display().to_string(),
        world.work("link/outfitter.db").display().to_string(),
        world
            .work("link/files/birds/ann/s/secret.txt")
            .display()
            .to_string(),
        "../../ann/s/secret.txt".to_owned(),
        "../../../../outfitter.db".to_owned(),
    ];
    files.push(files[0].replace("/files/", "/./FILES/../files//"));
    files.push(files[0].replace("secret", "se\u{200b}cret"));
    for path in &files {
        for (tool, arguments) in [
            ("file_read", json!({"path": path})),
            ("file_write", json!({"path": path, "content": "gone"})),
            (
                "file_write",
                json!({"path": path, "content": "gone", "mode": "append"}),
            ),
            (
                "file_update",
                json!({"path": path, "operations": [{"kind": "lines", "start": 1, "end": 1, "new": ""}]}),
            ),
            (
                "apply_patch",
                json!({"patch": format!("*** Begin Patch\n*** Delete File: {path}\n*** End Patch")}),
            ),
            ("grep", json!({"pattern": "precious", "path": path})),
            ("analyze_image", json!({"image": path})),
            ("render_html2png", json!({"path": path})),
        ] {
            failed(
                &bob.call("s", tool, &arguments).json(),
                &format!("{tool} {path}"),
            );
        }
    }
    let new = hers.join("new.txt");
    failed(
        &bob.call("s", "file_write", &json!({"path": new, "content": "x"}))
            .json(),
        "make a file",
    );
    for dir in [
        data.clone(),
        data.join("files"),
        data.join("files/birds"),
        hers.clone(),
        data.join("artifacts"),
        world.work("link"),
        world.work("link/files/birds/ann"),
    ] {
        for (tool, arguments) in [
            (
                "list_dir",
                json!({"path": dir, "depth": 9, "include_hidden": true}),
            ),
            ("file_read", json!({"path": dir})),
            ("glob", json!({"pattern": "**", "path": dir})),
            ("grep", json!({"pattern": "precious", "path": dir})),
        ] {
            failed(
                &bob.call("s", tool, &arguments).json(),
                &format!("{tool} {}", dir.display()),
            );
        }
    }
    // From above it is passed over.
    for (tool, arguments) in [
        (
            "list_dir",
            json!({"path": world.root(), "depth": 20, "include_hidden": true, "max_items": 2000}),
        ),
        ("glob", json!({"pattern": "**/*.txt", "path": world.root()})),
        ("grep", json!({"pattern": "precious", "path": world.root()})),
    ] {
        let output = bob.call("s", tool, &arguments).is(200).json();
        assert_eq!(output["status"], "success", "{output}");
        let result = output["result"].to_string();
        let found = format!(
            "{}{}",
            output["result"]["entries"], output["result"]["files"]
        );
        assert!(
            !result.contains(MARK) && !found.contains("secret.txt"),
            "{tool}: {result}"
        );
    }
    // One's own is still there, by each name.
    let own = data.join("files/birds/bob/s/own.txt");
    for path in [json!("own.txt"), json!(own), json!("./own.txt")] {
        let output = bob
            .call("s", "file_read", &json!({"path": path}))
            .is(200)
            .json();
        assert_eq!(output["status"], "success", "{output}");
    }
    assert_eq!(
        std::fs::read_to_string(hers.join("secret.txt")).unwrap(),
        MARK
    );
    assert!(!new.exists());
}

#[test]
fn no_command_reaches_our_data_whatever_is_open() {
    let world = World::new();
    let within = open_wide(&world);
    let (ann, bob) = (within.by(ANN), within.by(BOB));
    let write = json!({"path": "secret.txt", "content": MARK});
    ann.call("s", "file_write", &write).is(200);
    let data = world.data("");
    world.write("beside.txt", "beside");
    let line = format!(
        "cat {beside}; cat {data}/outfitter.db*; cat {data}/files/birds/ann/s/secret.txt; \
         grep -r precious {root}; cat ../../ann/s/secret.txt; ls -R {data}; echo x > {data}/files/birds/ann/s/new.txt; \
         rm -f {data}/files/birds/ann/s/secret.txt; ln {data}/files/birds/ann/s/secret.txt hard; cat hard; \
         echo own > own.txt; cat own.txt",
        beside = world.work("beside.txt").display(),
        root = world.root().display(),
        data = data.display(),
    );
    for tool in ["execute_shell_command", "run_command"] {
        let output = bob
            .call("s", tool, &json!({"command": line}))
            .is(200)
            .json();
        let stdout = output["result"]["stdout"]
            .as_str()
            .unwrap_or_else(|| panic!("{output}"));
        assert!(stdout.ends_with("own\n"), "{output}");
        assert!(
            !stdout.contains(MARK) && !stdout.contains("secret"),
            "{output}"
        );
        assert!(!stdout.contains("SQLite"), "{output}");
    }
    let hers = data.join("files/birds/ann/s");
    assert_eq!(
        std::fs::read_to_string(hers.join("secret.txt")).unwrap(),
        MARK
    );
    assert!(!hers.join("new.txt").exists());
}

/// A file of the log that lies elsewhere is as little a file of tools, with what SQLite puts beside
/// it; and no folder of our data is a workspace but a session's own.
#[test]
fn neither_a_log_elsewhere_nor_our_data_as_a_workspace() {
    let world = World::new();
    let call = |tool: &str, args: &Value, more: &[&str]| {
        let args = args.to_string();
        let base = [
            "tools",
            "call",
            tool,
            "--json",
            "--session",
            "s",
            "--args",
            &args,
        ];
        world.run(&[&base[..], more].concat())
    };
    world.config("[store]\nurl = \"sqlite:kept/log\"\n[files]\nadmin_open = true\n");
    let sum = call("calculator", &json!({"expression": "41+1"}), &[]).exits(0);
    assert_eq!(sum.json()["status"], "success");
    assert!(world.work("kept/log").is_file());
    for path in ["kept/log", "kept/LOG", "kept/log-wal", "kept/log-journal"] {
        let args = json!({"path": path, "content": "gone"});
        failed(&call("file_write", &args, &[]).json(), path);
    }
    failed(
        &call("file_read", &json!({"path": "kept/log"}), &[]).json(),
        "read",
    );
    let ok = call(
        "file_write",
        &json!({"path": "kept/log.txt", "content": "x"}),
        &[],
    );
    assert_eq!(ok.exits(0).json()["status"], "success");

    world.config("[files]\nadmin_open = true\n");
    call("calculator", &json!({"expression": "41+1"}), &[]).exits(0);
    let others = world.data("files/local/local/other");
    std::fs::create_dir_all(&others).unwrap();
    for workspace in [world.data(""), world.data("files"), others] {
        let workspace = workspace.display().to_string();
        let ran = call("list_dir", &json!({}), &["--workspace", &workspace]);
        assert_ne!(ran.code, Some(0), "{}", ran.shown());
        assert!(
            ran.stderr.contains("all sessions are kept"),
            "{}",
            ran.shown()
        );
    }
}
