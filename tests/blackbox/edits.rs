//! What one file tool shows, the next one takes.

use rstest::rstest;
use serde_json::json;

use crate::direct::result;
use crate::world::World;

/// The number that `file_read` puts before a line, and that `grep` gives for it, is the one by which
/// `file_update` changes it.
#[rstest]
#[case::lf("\n")]
#[case::crlf("\r\n")]
fn reading_and_writing_counted_lines_differently(#[case] end: &str) {
    let text = |changed: usize| -> String {
        (1..=12)
            .map(|n| {
                let word = if n == changed { "changed" } else { "line" };
                format!("{word} {n}{end}")
            })
            .collect()
    };
    for line in [1, 2, 7, 12] {
        let world = World::new();
        world.write("a.txt", text(0));
        let read = result(
            &world,
            "file_read",
            &json!({"path": "a.txt", "start_line": line, "end_line": line}),
        );
        let shown = read["content"].as_str().unwrap();
        let (number, words) = shown.split_once("| ").unwrap();
        assert_eq!(words, format!("line {line}"));
        let number: u64 = number.trim().parse().unwrap();
        let found = result(
            &world,
            "grep",
            &json!({"pattern": format!("line {line}$"), "path": "a.txt"}),
        );
        let hit = &found["matches"][0];
        assert_eq!(hit["line"], number, "{found}");
        let operations = json!([{
            "kind": "lines", "start": number, "end": number, "new": format!("changed {line}"),
        }]);
        result(
            &world,
            "file_update",
            &json!({"path": "a.txt", "operations": operations}),
        );
        let after = std::fs::read_to_string(world.work("a.txt")).unwrap();
        assert_eq!(after, text(line));
    }
}
