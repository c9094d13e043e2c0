//! Direct calls that need more than their arguments: a model, the sessions there are, the place of
//! what they keep.

use std::fs::Permissions;
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::path::Path;

use serde_json::{Value, json};

use crate::world::World;

/// A picture of two pixels.
const PNG: &[u8] = &[
    0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0x0d, 0x49, 0x48, 0x44, 0x52, 0, 0, 0,
    2, 0, 0, 0, 1, 8, 2, 0, 0, 0, 0x7b, 0x40, 0xe8, 0xdd, 0, 0, 0, 0x0c, 0x49, 0x44, 0x41, 0x54,
    0x78, 0x9c, 0x63, 0xf8, 0xcf, 0xc0, 0xc0, 0xf0, 0x1f, 0, 7, 1, 1, 0xff, 0x9e, 0xb6, 0x2d, 0x1b,
    0, 0, 0, 0, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82,
];

fn call(world: &World, name: &str, args: &Value, more: &[&str]) -> Value {
    let args = args.to_string();
    let call = ["tools", "call", name, "--json", "--args", &args];
    world.run(&[&call, more].concat()).json()
}

#[test]
fn a_direct_call_had_no_model_although_one_is_configured() {
    let world =
        World::with("[model]\nprovider = \"scripted\"\nscript = \"script.yaml\"\nvision = true\n");
    world.write("here/script.yaml", "- text: two red dots\n");
    std::fs::write(world.path("here/r.png"), PNG).unwrap();
    let output = call(&world, "analyze_image", &json!({"image": "r.png"}), &[]);
    assert_eq!(output["status"], "success", "{output}");
    assert_eq!(output["result"]["description"], "two red dots");
}

#[test]
fn without_a_model_only_a_call_that_needs_one_is_told_so() {
    let world = World::new();
    std::fs::write(world.path("here/r.png"), PNG).unwrap();
    let output = call(&world, "calculator", &json!({"expression": "1"}), &[]);
    assert_eq!(output["status"], "success", "{output}");
    let output = call(&world, "analyze_image", &json!({"image": "r.png"}), &[]);
    let error = &output["error"];
    assert_eq!(error["code"], "unavailable", "{output}");
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("no model is chosen"), "{message}");
    let hint = error["hint"].as_str().unwrap();
    assert!(hint.contains("[model] provider"), "{hint}");
    assert_eq!(output["result"]["width"], 2, "what needs none is told");
}

#[test]
fn a_deferred_tool_could_not_be_called_from_the_command_line() {
    let world = World::with("[tools]\ndefer = [\"current_time\"]\n");
    let output = call(&world, "current_time", &json!({}), &[]);
    assert_eq!(output["status"], "success", "{output}");
}

const INBOX: &str = "[model]\nprovider = \"scripted\"\nscript = \"script.yaml\"\n\
    [channels.home]\nkind = \"inbox\"\n";

#[test]
fn a_message_from_no_session_was_for_no_session_that_there_is() {
    let world = World::with(INBOX);
    world.write("here/script.yaml", "- text: hello\n");
    let ran = world.run(&["run", "--session", "q1", "hi"]);
    assert_eq!(ran.code, 0, "{}", ran.shown());
    let message = |to: &str| {
        let args = json!({"stream_id": to, "text": "are you there?"});
        call(&world, "send_message", &args, &["--approval", "never"])
    };
    // Somebody has to have said yes to messages to others.
    let allow =
        format!("{INBOX}[[permissions.rules]]\ntool = \"send_message\"\ndecision = \"allow\"\n");
    world.write("here/outfitter.toml", &allow);
    let output = message("q1");
    assert_eq!(output["status"], "success", "{output}");
    assert_eq!(message("q2")["error"]["code"], "not_found");
    world.write("here/script.yaml", "- expect: again\n  text: yes\n");
    let ran = world.run(&["run", "--json", "--session", "q1", "again"]);
    assert!(ran.stdout.contains("are you there?"), "{}", ran.shown());
}

#[test]
fn one_of_two_channels_to_a_platform_was_taken_without_a_word() {
    let world = World::with(
        "[channels.one]\nkind = \"file\"\nplatform = \"chat\"\n\
         [channels.two]\nkind = \"file\"\nplatform = \"chat\"\n\
         [[permissions.rules]]\ntool = \"send_message\"\ndecision = \"allow\"\n",
    );
    let send = |platform: Option<&str>| {
        let mut args = json!({"user_id": "ann", "text": "hello"});
        if let Some(platform) = platform {
            args["platform"] = platform.into();
        }
        call(&world, "send_message", &args, &[])
    };
    for platform in [Some("chat"), None] {
        let output = send(platform);
        let error = &output["error"];
        assert_eq!(error["code"], "invalid_arguments", "{output}");
        let message = error["message"].as_str().unwrap();
        assert!(message.contains("the channels one, two"), "{message}");
    }
    let output = send(Some("two"));
    assert_eq!(output["status"], "success", "{output}");
    let kept = world.path("home/.local/share/outfitter/two.jsonl");
    assert!(std::fs::read_to_string(kept).unwrap().contains("hello"));
}

/// A result that is too long for a model, which is kept whole.
fn long(world: &World) -> String {
    let long: String = (0..40_000).map(|line| format!("line {line}\n")).collect();
    world.write("here/long.txt", &long);
    long
}

#[test]
fn what_a_call_keeps_could_not_be_had_from_the_command_line() {
    let world = World::with("[tools]\nmax_result_tokens = 200\n");
    let text = long(&world);
    let args = json!({"command": "cat long.txt"});
    let output = call(&world, "execute_shell_command", &args, &["--session", "s"]);
    let id = output["artifacts"][0].as_str().unwrap().to_owned();
    let listed = world.run(&["artifacts", "list", "--json"]).json();
    let row = &listed["artifacts"][0];
    assert_eq!((&row["id"], &row["session_id"]), (&json!(id), &json!("s")));
    let shown = world.run(&["artifacts", "list"]).stdout;
    assert!(shown.contains(&id), "{shown}");

    let got = world.run(&["artifacts", "get", &id]);
    assert_eq!(got.code, 0, "{}", got.shown());
    assert!(got.stdout.contains("line 39999"), "all of it");
    let size = row["size"].as_u64().unwrap();
    assert_eq!(got.stdout.len() as u64, size);
    assert!(size as usize >= text.len());
    let got = world.run(&["artifacts", "get", &id, "-o", "kept.txt", "--json"]);
    assert_eq!(got.json()["file"], "kept.txt", "{}", got.shown());
    assert_eq!(
        std::fs::metadata(world.path("here/kept.txt"))
            .unwrap()
            .len(),
        size
    );
    // What is there stays what it is: a device, a link, and who may read a file.
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let put = |file: &str| {
        let got = world.run(&["artifacts", "get", &id, "-o", file]);
        assert_eq!(got.code, 0, "{}", got.shown());
    };
    put("/dev/null");
    let null = std::fs::metadata("/dev/null").unwrap();
    assert!(null.file_type().is_char_device());
    let kept = world.path("here/kept.txt");
    std::fs::set_permissions(&kept, Permissions::from_mode(0o640)).unwrap();
    let link = world.path("here/link.txt");
    std::os::unix::fs::symlink("kept.txt", &link).unwrap();
    put("link.txt");
    assert!(link.is_symlink());
    assert_eq!(mode(&kept), 0o640);

    // Nobody knows the file that is written beside.
    let nowhere = world.run(&["artifacts", "get", &id, "-o", "/nonexist/x"]);
    assert_eq!(nowhere.code, 1, "{}", nowhere.shown());
    assert_eq!(
        nowhere.stderr,
        "error: failed to write /nonexist/x: there is no folder /nonexist\nhint: make the folder \
         first, or name another file\n"
    );
    let no_folder = world.run(&["artifacts", "get", &id, "-o", "kept.txt/x"]);
    assert_eq!(no_folder.code, 1, "{}", no_folder.shown());
    assert!(
        no_folder
            .stderr
            .contains("kept.txt/x: not a directory (os error 20)\n"),
        "{}",
        no_folder.stderr
    );

    let told = world.run(&["artifacts", "get", &id, "--json"]).json();
    assert_eq!(told["artifact"]["size"], size);

    let none = world.run(&["artifacts", "get", "art_none"]);
    assert_eq!(none.code, 5, "{}", none.shown());
    let elsewhere = world.run(&["artifacts", "get", &id, "--session", "t"]);
    assert_eq!(elsewhere.code, 5, "{}", elsewhere.shown());
}

#[test]
fn what_a_call_in_no_session_keeps_went_with_it() {
    let world = World::with("[tools]\nmax_result_tokens = 200\n");
    long(&world);
    let args = json!({"command": "cat long.txt"});
    let output = call(&world, "execute_shell_command", &args, &["--save", "kept"]);
    let id = output["artifacts"][0].as_str().unwrap();
    let mut names: Vec<String> = std::fs::read_dir(world.path("here/kept"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort_unstable();
    assert!(names[0].starts_with(id), "{names:?}");
    let kept = std::fs::read_to_string(world.path("here/kept").join(&names[0])).unwrap();
    assert!(kept.contains("line 39999"));
}
