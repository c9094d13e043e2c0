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
