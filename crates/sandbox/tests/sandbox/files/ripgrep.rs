//! The same matches as ripgrep on a real tree: this repository's own sources.

use std::path::Path;

use outfitter_core::{FileRef, Files, Reach, Search};
use outfitter_sandbox::{LocalFiles, Protected};

use super::world::search;

const RIPGREP: &str = "/usr/bin/rg";

/// What ripgrep prints for a pattern, as `path:line:column in bytes:text`.
#[expect(
    clippy::disallowed_types,
    reason = "the comparison is with another program; nothing of ours is run"
)]
fn ripgrep(tree: &Path, arguments: &[&str]) -> Option<Vec<String>> {
    let output = std::process::Command::new(RIPGREP)
        .args([
            "--no-config",
            "--no-require-git",
            "--no-ignore-global",
            "--no-ignore-dot",
        ])
        .args([
            "--color=never",
            "--no-heading",
            "--line-number",
            "--sort=path",
        ])
        .args(arguments)
        .arg("./")
        .current_dir(tree)
        .env_clear()
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).unwrap();
    let mut lines: Vec<String> = text
        .lines()
        .map(|line| line.trim_start_matches("./").to_owned())
        .collect();
    lines.sort();
    Some(lines)
}

async fn ours(tree: &Path, search: Search) -> Vec<String> {
    let files = LocalFiles::open(tree, Protected::of_system()).unwrap();
    let all = FileRef {
        path: ".",
        reach: Reach::Workspace,
    };
    let found = files.search(all, search).await.unwrap();
    assert!(!found.walked.truncated);
    let mut lines: Vec<String> = found
        .hits
        .iter()
        .map(|hit| format!("{}:{}:{}", hit.path, hit.line, hit.text))
        .collect();
    lines.sort();
    lines
}

#[tokio::test]
async fn the_matches_are_those_of_ripgrep() {
    let tree = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let wide = |pattern: &str| Search {
        limit: 10_000,
        ..search(pattern)
    };
    let cases: [(Search, Vec<&str>); 5] = [
        (wide("symlink"), vec!["symlink"]),
        (wide(r"fn \w+_of\("), vec![r"fn \w+_of\("]),
        (
            Search {
                case_insensitive: true,
                ..wide("OPENAT")
            },
            vec!["-i", "OPENAT"],
        ),
        (
            Search {
                file_type: Some("toml".to_owned()),
                ..wide("workspace")
            },
            vec!["-t", "toml", "workspace"],
        ),
        (
            Search {
                glob: Some("**/src/*.rs".to_owned()),
                ..wide("pub use")
            },
            vec!["-g", "**/src/*.rs", "pub use"],
        ),
    ];
    for (search, arguments) in cases {
        let Some(theirs) = ripgrep(tree, &arguments) else {
            eprintln!("SKIPPED(ripgrep): {RIPGREP} cannot be run here, so nothing was compared");
            return;
        };
        assert!(!theirs.is_empty(), "{arguments:?} matches nothing");
        // Lines over the bound are cut by us, and not by ripgrep.
        let theirs: Vec<String> = theirs
            .into_iter()
            .filter(|line| line.len() < 1000)
            .collect();
        let ours: Vec<String> = ours(tree, search)
            .await
            .into_iter()
            .filter(|line| line.len() < 1000)
            .collect();
        assert_eq!(ours, theirs, "{arguments:?}");
    }
}
