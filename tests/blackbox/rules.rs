//! Rules of `[permissions]` about files: they mean the file, however it is named.

use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use crate::direct::called;
use crate::world::World;

fn code(world: &World, tool: &str, args: &Value) -> String {
    let (_, output) = called(world, tool, &args.to_string(), &[]);
    output["error"]["code"]
        .as_str()
        .unwrap_or("none")
        .to_owned()
}

/// D04: names in other letters, through the home, through links, and of hard links.
#[test]
fn d04_every_name_of_a_denied_file_is_denied() {
    let world = World::new();
    // The workspace lies in the home, so that `~` leads into it.
    let home = world.root().join("home");
    let work = home.join("project");
    std::fs::create_dir_all(work.join("keys/old")).unwrap();
    std::fs::create_dir(work.join("open")).unwrap();
    for (path, text) in [
        ("keys/a.pem", "key"),
        (".env", "key"),
        ("open/b.txt", "open"),
    ] {
        std::fs::write(work.join(path), text).unwrap();
    }
    symlink("keys", work.join("link")).unwrap();
    symlink("../keys/a.pem", work.join("open/to-key")).unwrap();
    symlink(".env", work.join("dotenv")).unwrap();
    std::fs::hard_link(work.join(".env"), work.join("same")).unwrap();
    std::fs::hard_link(work.join("open/b.txt"), work.join("also-open")).unwrap();
    let deny = |rules: &str| world.config(&format!("[permissions]\nrules = [{rules}]\n"));
    let read = |path: &str| {
        let workspace = work.display().to_string();
        let args = json!({"path": path}).to_string();
        let (_, output) = called(&world, "file_read", &args, &["--workspace", &workspace]);
        output["error"]["message"]
            .as_str()
            .unwrap_or("read")
            .to_owned()
    };
    let whole = work.join("keys/a.pem").display().to_string();

    deny(
        "{ tool = \"file_*\", args = \"keys/**\", decision = \"deny\" }, { tool = \"file_*\", args = \".env\", decision = \"deny\" }",
    );
    for path in [
        "keys/a.pem",
        "KEYS/A.PEM",
        "./keys//../keys/a.pem",
        "ke\u{200d}ys/a.pem",
        "~/project/keys/a.pem",
        "$HOME/project/keys/a.pem",
        &whole,
        "link/a.pem",
        "open/to-key",
        "link/not-there",
        ".env",
        ".ENV",
        "dotenv",
        "same",
        "~/project/same",
    ] {
        let said = read(path);
        assert!(said.contains("denies it"), "{path}: {said}");
    }
    for path in ["open/b.txt", "also-open", "~/project/open/b.txt"] {
        assert_eq!(read(path), "read", "{path}");
    }
    // A rule may name the file by any of its names, too.
    for args in [
        "~/project/keys",
        "$HOME/project/./keys/**",
        "link",
        "./link/a.pem",
        "open/to-key",
    ] {
        deny(&format!(
            "{{ tool = \"file_*\", args = {args:?}, decision = \"deny\" }}"
        ));
        let said = read("keys/a.pem");
        assert!(said.contains("denies it"), "{args}: {said}");
        assert_eq!(read("open/b.txt"), "read", "{args}");
    }
}

/// All of a table must be so; what a call leaves out has its default, and a path is what it leads
/// to as well.
#[test]
fn a_table_holds_all_of_its_arguments_by_default_and_through_links_too() {
    let world = World::new();
    world.config(
        "[permissions]\nrules = [\n\
         { tool = \"file_read\", args = { path = \"private/**\", start_line = 1 }, decision = \"ask\" },\n]\n",
    );
    world.write("private/a.txt", "a\nb\n");
    world.write("open/b.txt", "b");
    symlink("../private", world.work("open/in")).unwrap();
    for (args, expected) in [
        (json!({"path": "private/a.txt"}), "needs_approval"),
        (
            json!({"path": "private/a.txt", "start_line": 1}),
            "needs_approval",
        ),
        (json!({"path": "open/in/a.txt"}), "needs_approval"),
        (json!({"path": "private/a.txt", "start_line": 2}), "none"),
        (json!({"path": "open/b.txt"}), "none"),
    ] {
        assert_eq!(code(&world, "file_read", &args), expected, "{args}");
    }
}
