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
