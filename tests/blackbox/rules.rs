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
    let work = home.join("work");
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
        "~/work/keys/a.pem",
        "$HOME/work/keys/a.pem",
        &whole,
        "link/a.pem",
        "open/to-key",
        "link/not-there",
        ".env",
        ".ENV",
        "dotenv",
        "same",
        "~/work/same",
    ] {
        let said = read(path);
        assert!(said.contains("denies it"), "{path}: {said}");
    }
    for path in ["open/b.txt", "also-open", "~/work/open/b.txt"] {
        assert_eq!(read(path), "read", "{path}");
    }
    // A rule may name the file by any of its names, too.
    for args in [
        "~/work/keys",
        "$HOME/work/./keys/**",
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

/// What is allowed by a name is not allowed where that name leads out of it.
#[test]
fn an_allowed_path_that_leads_elsewhere_is_not_allowed() {
    let world = World::new();
    world.config(
        "[permissions]\nrules = [\n\
         { tool = \"file_*\", decision = \"ask\" },\n]\n",
    );
    world.write("src/a.txt", "a");
    world.write("private/b.txt", "b");
    symlink("../private", world.work("src/out")).unwrap();
    assert_eq!(
        code(&world, "file_read", &json!({"path": "src/a.txt"})),
        "needs_approval"
    );
    // An `ask` of another rule is not taken away by an allowance; only what nobody ruled is.
    world.config(
        "[permissions]\nrules = [\n\
         { tool = \"file_read\", args = { path = \"src/**\", start_line = 1 }, decision = \"ask\" },\n]\n",
    );
    assert_eq!(
        code(&world, "file_read", &json!({"path": "src/a.txt"})),
        "needs_approval"
    );
    assert_eq!(
        code(
            &world,
            "file_read",
            &json!({"path": "src/a.txt", "start_line": 2})
        ),
        "none"
    );
    assert_eq!(
        code(&world, "file_read", &json!({"path": "src/out/b.txt"})),
        "needs_approval"
    );
    assert_eq!(
        code(&world, "file_read", &json!({"path": "private/b.txt"})),
        "none"
    );
}
