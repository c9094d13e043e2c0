//! Files of two people on one server, over HTTP: neither learns from any tool that the other's
//! are there, and each has a quota of their own.
//!
//! Everything is tried twice: on what is there, and on what is not. The answers must be the same
//! to the letter, but for the name that was asked for.

use std::path::{Path, PathBuf};

use outfitter_core::Hash;
use serde_json::{Value, json};

use crate::http::At;
use crate::within::Within;
use crate::world::World;

/// What only ann may know.
const WORDS: &str = "zq9plan9qz";
const ANN: &str = "birds/ann/admin";

/// What ann has on this server.
struct Hers {
    dir: PathBuf,
    artifact: String,
    job: String,
}

impl Hers {
    fn made_by(at: &At, world: &World) -> Self {
        let write = |path: &str, content: &str| {
            let output = done(at, "file_write", &json!({"path": path, "content": content}));
            assert_eq!(output["status"], "success", "{output}");
        };
        write("kept.txt", &format!("{WORDS} {}\n", "words ".repeat(5000)));
        write("deep/kept.txt", WORDS);
        let read = done(at, "file_read", &json!({"path": "kept.txt"}));
        let shell = json!({"command": format!("echo {WORDS}; sleep 600"), "block_until_ms": 100});
        let job = done(at, "execute_shell_command", &shell);
        let dir = world.data("files/birds/ann/hers").canonicalize().unwrap();
        assert!(dir.join("kept.txt").exists());
        Self {
            dir,
            artifact: read["artifacts"][0].as_str().unwrap().to_owned(),
            job: job["result"]["task_id"].as_str().unwrap().to_owned(),
        }
    }

    fn files(&self) -> Vec<(PathBuf, Option<Vec<u8>>)> {
        let mut found = Vec::new();
        let mut left = vec![self.dir.clone()];
        while let Some(dir) = left.pop() {
            for entry in std::fs::read_dir(dir).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    left.push(path.clone());
                }
                found.push((path.clone(), std::fs::read(&path).ok()));
            }
        }
        found.sort();
        found
    }
}

/// A call in the session that ann has, or in another's of that name.
fn done(at: &At, tool: &str, arguments: &Value) -> Value {
    at.call("hers", tool, arguments).json()
}

/// What an answer says, whatever it was asked about.
fn answer(at: &At, tool: &str, arguments: &Value, names: &[(&str, &str)]) -> String {
    let output = done(at, tool, arguments);
    let said = json!([
        output["status"],
        output["result"],
        output["error"],
        output["artifacts"]
    ]);
    // How long something took says nothing here.
    let mut said = said;
    if let Some(result) = said[1].as_object_mut() {
        result.remove("duration_ms");
        result.remove("task_id");
    }
    if said[3].is_array() {
        said[3] = Value::Null;
    }
    names.iter().fold(said.to_string(), |said, (name, other)| {
        said.replace(name, other)
    })
}

/// Asks about what is there and about what is not.
fn same(at: &At, tool: &str, of: &dyn Fn(&str) -> Value, names: (&str, &str)) {
    let (there, missing) = names;
    let about_there = answer(at, tool, &of(there), &[]);
    let about_missing = answer(at, tool, &of(missing), &[(missing, there)]);
    assert_eq!(about_there, about_missing, "{tool} {}", of(there));
    assert!(!about_there.contains(WORDS), "{tool}: {about_there}");
}

/// Every tool that takes a path, with the ways that it takes it.
fn calls(path: &str) -> Vec<(&'static str, Value)> {
    let hash = Hash::of(WORDS);
    let patch =
        |body: String| json!({"patch": format!("*** Begin Patch\n{body}\n*** End Patch\n")});
    vec![
        ("file_read", json!({"path": path})),
        ("file_read", json!({"path": path, "start_line": 50_000})),
        ("file_write", json!({"path": path, "content": "x"})),
        (
            "file_write",
            json!({"path": path, "content": "x", "mode": "append"}),
        ),
        (
            "file_write",
            json!({"path": path, "content": "x", "mode": "create"}),
        ),
        (
            "file_write",
            json!({"path": path, "content": "x", "if_hash": hash}),
        ),
        (
            "file_update",
            json!({"path": path, "operations": [{"kind": "replace", "old": WORDS, "new": "x"}]}),
        ),
        (
            "file_update",
            json!({"path": path, "operations": [{"kind": "lines", "start": 1, "end": 1, "new": "x"}], "if_hash": hash}),
        ),
        ("apply_patch", patch(format!("*** Add File: {path}\n+x"))),
        ("apply_patch", patch(format!("*** Delete File: {path}"))),
        (
            "apply_patch",
            patch(format!("*** Update File: {path}\n@@\n-{WORDS}\n+x")),
        ),
        (
            "apply_patch",
            patch(format!(
                "*** Update File: {path}\n*** Move to: mine.txt\n@@\n-{WORDS}\n+x"
            )),
        ),
        (
            "apply_patch",
            patch(format!(
                "*** Update File: own.txt\n*** Move to: {path}\n@@\n-own\n+x"
            )),
        ),
        ("list_dir", json!({"path": path, "include_hidden": true})),
        ("glob", json!({"path": path, "pattern": "**"})),
        ("glob", json!({"pattern": path})),
        ("grep", json!({"path": path, "pattern": "."})),
        ("grep", json!({"glob": path, "pattern": "."})),
        ("analyze_image", json!({"image": path})),
        ("render_html2png", json!({"path": path})),
    ]
}

/// Paths to a name in ann's workspace, `NAME` where it stands.
fn spellings(hers: &Path) -> Vec<String> {
    let hers = hers.display();
    vec![
        format!("{hers}/NAME"),
        format!("{hers}/../../ann/./hers//NAME"),
        format!("{hers}/deep/NAME"),
        format!("/proc/self/root{hers}/NAME"),
        "../../ann/hers/NAME".to_owned(),
        "../hers/../../ann/hers/NAME".to_owned(),
        "to-dir/NAME".to_owned(),
        "to-NAME".to_owned(),
        "to-NAME/x".to_owned(),
    ]
}

/// Puts links to what is ann's into the workspace of another, as a command can.
fn link(at: &At, world: &World, who: &str, hers: &Path) {
    let own = json!({"path": "own.txt", "content": "own\n"});
    assert_eq!(done(at, "file_write", &own)["status"], "success");
    let (tenant, subject) = who.split_once('/').unwrap();
    let subject = subject.split('/').next().unwrap();
    let dir = world.data(&format!("files/{tenant}/{subject}/hers"));
    for (name, to) in [
        ("to-dir", hers.to_owned()),
        ("to-kept.txt", hers.join("kept.txt")),
        ("to-gone.txt", hers.join("gone.txt")),
    ] {
        std::os::unix::fs::symlink(to, dir.join(name)).unwrap();
    }
}

fn world_of(world: &World, admin_open: bool) -> Within<'_> {
    Within::start_with(
        world,
        |config| {
            config.files.admin_open = admin_open;
            config.tools.max_result_tokens = 2000;
        },
        |builder| builder,
    )
}

#[test]
fn no_tool_tells_whether_a_file_of_another_is_there() {
    for (open, who) in [
        (false, "birds/bob/admin"),
        (true, "birds/bob/admin"),
        (false, "birds/bob/user"),
        (false, "cats/ann/user"),
    ] {
        let world = World::new();
        let within = world_of(&world, open);
        let hers = Hers::made_by(&within.by(ANN), &world);
        let before = hers.files();
        let at = within.by(who);
        link(&at, &world, who, &hers.dir);
        for spelling in spellings(&hers.dir) {
            let path = |name: &str| spelling.replace("NAME", name);
            for at_call in 0..calls("").len() {
                let tool = calls("")[at_call].0;
                let of = |name: &str| calls(&path(name))[at_call].1.clone();
                same(&at, tool, &of, ("kept.txt", "gone.txt"));
            }
        }
        // Nor whether somebody of that name, or such a session, is there.
        let base = hers.dir.parent().unwrap().parent().unwrap();
        for (there, missing) in [("ann/hers", "ann/herz"), ("ann/hers", "abc/hers")] {
            let path = |name: &str| base.join(name).join("kept.txt").display().to_string();
            for at_call in 0..calls("").len() {
                let tool = calls("")[at_call].0;
                let of = |name: &str| calls(&path(name))[at_call].1.clone();
                same(&at, tool, &of, (there, missing));
            }
        }
        assert_eq!(hers.files(), before, "{who}");
    }
}

#[test]
fn no_id_of_another_is_an_id() {
    let world = World::new();
    let within = world_of(&world, false);
    let hers = Hers::made_by(&within.by(ANN), &world);
    for who in ["birds/bob/admin", "cats/ann/admin"] {
        let at = within.by(who);
        let other = |id: &str| {
            let last = if id.ends_with('0') { '1' } else { '0' };
            format!("{}{last}", &id[..id.len() - 1])
        };
        let (artifact, job) = (&*hers.artifact, &*hers.job);
        let made_up = (&*other(artifact), &*other(job));
        for (tool, field) in [("read_artifact", "id"), ("analyze_image", "image")] {
            same(&at, tool, &|id| json!({ field: id }), (artifact, made_up.0));
        }
        for tool in ["await_shell", "kill_shell"] {
            same(&at, tool, &|id| json!({"task_id": id}), (job, made_up.1));
        }
        let of = |id: &str| {
            let whole = at.get(&format!("/v1/artifacts/{id}"));
            (whole.status, whole.text.replace(id, "ID"))
        };
        assert_eq!(of(artifact), of(made_up.0));
    }
    // Hers is still at work.
    let ended = done(&within.by(ANN), "kill_shell", &json!({"task_id": hers.job}));
    assert_eq!(ended["result"]["status"], "killed", "{ended}");
}

#[test]
fn no_command_sees_what_another_has() {
    let world = World::new();
    let within = world_of(&world, false);
    let hers = Hers::made_by(&within.by(ANN), &world);
    let who = "birds/bob/admin";
    let at = within.by(who);
    link(&at, &world, who, &hers.dir);
    let before = hers.files();
    let dir = hers.dir.display().to_string();
    for path in [
        format!("{dir}/NAME"),
        "to-NAME".to_owned(),
        "to-dir/NAME".to_owned(),
    ] {
        for command in [
            "cat",
            "ls -la",
            "test -e",
            "stat -L",
            "touch",
            "rm -f",
            "cd",
            "ln -f own.txt",
        ] {
            let of = |name: &str| {
                let path = path.replace("NAME", name);
                json!({"command": format!("{command} {path}; echo $?")})
            };
            same(&at, "execute_shell_command", &of, ("kept.txt", "gone.txt"));
        }
    }
    // Nor by where it would run.
    for (there, missing) in [("hers", "herz"), ("hers/deep", "hers/seep")] {
        let base = hers.dir.parent().unwrap().display();
        let of = |name: &str| json!({"command": "pwd", "workdir": format!("{base}/{name}")});
        same(&at, "execute_shell_command", &of, (there, missing));
        let of = |name: &str| json!({"command": "pwd", "cwd": format!("{base}/{name}")});
        same(&at, "run_command", &of, (there, missing));
    }
    assert_eq!(hers.files(), before);
}

/// One MiB for each session.
fn small(world: &World) -> Within<'_> {
    Within::start_with(
        world,
        |config| config.files.quota_mb = Some(1),
        |builder| builder,
    )
}

#[test]
fn what_is_over_the_quota_is_refused_and_every_file_stays_as_it_was() {
    let world = World::new();
    let within = small(&world);
    let at = within.by(ANN);
    let most = "a".repeat(1000) + "\n";
    let first = json!({"path": "first.txt", "content": most.repeat(900)});
    assert_eq!(done(&at, "file_write", &first)["status"], "success");
    let dir = world.data("files/birds/ann/hers");
    let before = std::fs::read(dir.join("first.txt")).unwrap();
    let much = "b".repeat(200_000);
    let old = "a".repeat(1000);
    for (tool, arguments) in [
        (
            "file_write",
            json!({"path": "new/second.txt", "content": much}),
        ),
        (
            "file_write",
            json!({"path": "first.txt", "content": most.repeat(1100)}),
        ),
        (
            "file_write",
            json!({"path": "first.txt", "content": much, "mode": "append"}),
        ),
        (
            "file_update",
            json!({"path": "first.txt", "operations": [{"kind": "lines", "start": 1, "end": 1, "new": much}]}),
        ),
        (
            "file_update",
            json!({"path": "first.txt", "operations": [{"kind": "replace", "old": old, "new": format!("{old}{old}"), "all": true}]}),
        ),
        (
            "apply_patch",
            json!({"patch": format!("*** Begin Patch\n*** Add File: new/second.txt\n+{much}\n*** End Patch\n")}),
        ),
    ] {
        let output = done(&at, tool, &arguments);
        assert_eq!(
            output["error"]["code"], "too_large",
            "{tool}: {}",
            output["error"]
        );
        let said = output["error"]["message"].as_str().unwrap();
        assert!(said.contains("[files] quota_mb"), "{said}");
        assert_eq!(
            std::fs::read(dir.join("first.txt")).unwrap(),
            before,
            "{tool}"
        );
        assert!(!dir.join("new").exists(), "{tool}");
    }
    // What makes no more of it is written all the same.
    let shorter = json!({"path": "first.txt", "content": "short\n"});
    assert_eq!(done(&at, "file_write", &shorter)["status"], "success");
    let again = json!({"path": "first.txt", "content": most.repeat(900)});
    assert_eq!(done(&at, "file_write", &again)["status"], "success");
    // Another has room of their own.
    let output = done(&within.by("birds/bob/user"), "file_write", &first);
    assert_eq!(output["status"], "success", "{output}");
}

#[test]
fn what_commands_wrote_counts_at_the_next_write() {
    let world = World::new();
    let within = small(&world);
    let at = within.by(ANN);
    let note = |text: &str| {
        done(
            &at,
            "file_write",
            &json!({"path": "note.txt", "content": text}),
        )
    };
    assert_eq!(note("one")["status"], "success");
    let run = |command: &str| {
        let output = done(&at, "execute_shell_command", &json!({"command": command}));
        assert_eq!(output["result"]["exit_code"], 0, "{output}");
    };
    run("head -c 2000000 /dev/zero > big");
    let output = note("one and more");
    assert_eq!(output["error"]["code"], "too_large", "{output}");
    let kept = std::fs::read(world.data("files/birds/ann/hers/note.txt")).unwrap();
    assert_eq!(kept, b"one");
    run("rm big");
    assert_eq!(note("one and more")["status"], "success");
}
