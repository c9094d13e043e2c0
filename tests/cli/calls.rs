//! What a direct call leaves behind.

use crate::world::World;

#[test]
fn a_call_in_no_session_leaves_no_folder_of_one() {
    let world = World::new();
    let args = ["tools", "call", "calculator", "--args"];
    let ran = world.run(&[&args[..], &["{\"expression\": \"6 * 7\"}"]].concat());
    assert_eq!(ran.code, 0, "{}", ran.shown());
    let mut folders = vec![world.path("")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            assert!(!name.starts_with("ses_"), "{}", path.display());
            if path.is_dir() {
                folders.push(path);
            }
        }
    }
}

#[test]
fn a_call_for_programs_whose_arguments_could_not_be_read_printed_no_output() {
    let world = World::new();
    let ran = world.run(&["--json", "tools", "call", "calculator", "--args", "@nofile"]);
    assert_eq!(ran.code, 2, "{}", ran.shown());
    let output = ran.json();
    assert_eq!(output["tool_name"], "calculator");
    assert_eq!(output["status"], "error");
    assert_eq!(output["error"]["code"], "usage");
    // People are told the same, and no output.
    let ran = world.run(&["tools", "call", "calculator", "--args", "@nofile"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
}

/// The document of a call that was never made.
fn unmade(world: &World, more: &[&str], variables: &[(&str, &str)]) -> serde_json::Value {
    let call = ["tools", "call", "calculator", "--args", "{}", "--json"];
    let ran = world.run_with(&[&call[..], more].concat(), variables);
    let output = ran.json();
    assert_eq!(output["v"], 1, "{}", ran.shown());
    assert_eq!(output["tool_name"], "calculator");
    assert!(output["tool_call_id"].is_string(), "{output}");
    assert_eq!(output["status"], "error");
    assert_ne!(ran.code, 0);
    output
}

#[test]
fn a_call_for_programs_that_could_not_begin_printed_no_output() {
    let world = World::new();
    let output = unmade(&world, &["--workspace", "none"], &[]);
    assert_eq!(output["error"]["code"], "usage", "{output}");
    let world = World::with("[agent]\nmax_trns = 1\n");
    let output = unmade(&world, &[], &[]);
    assert_eq!(output["error"]["code"], "usage", "{output}");
    let world = World::with("[tools]\navailable = [\"calculatr\"]\n");
    let output = unmade(&world, &[], &[]);
    let message = output["error"]["message"].as_str().unwrap();
    assert!(message.contains("did you mean calculator?"), "{output}");
    // A backend that cannot be set up.
    let world = World::with(
        "[sandbox]\nbackend = \"ssh\"\nssh = { host = \"127.0.0.1\", port = 1, user = \"u\", \
         known_hosts = \"none\", key_file = \"none\", workspace = \"/w\" }\n",
    );
    let output = unmade(&world, &["--session", "s"], &[]);
    assert_eq!(output["error"]["code"], "unavailable", "{output}");
}
