//! Finding by name.

use std::fs;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use outfitter_core::{Files, FilesError, Glob};
use rstest::rstest;

use super::world::{Machine, World, found, here};

async fn world(machine: Machine) -> Option<World<Arc<dyn Files>>> {
    let world = World::on(machine).await?;
    for path in [
        "main.rs",
        "src/lib.rs",
        "src/deep/er/x.rs",
        "src/notes.md",
        "tests/t.rs",
        ".github/workflows/ci.yml",
        "ignored/x.rs",
    ] {
        world.make(path, "");
    }
    world.make(".gitignore", "/ignored/\n");
    Some(world)
}

#[rstest]
#[case::here_only("*.rs", &["main.rs"])]
#[case::every_depth("**/*.rs", &["main.rs", "src/deep/er/x.rs", "src/lib.rs", "tests/t.rs"])]
#[case::braces("{src,tests}/*.{rs,md}", &["src/lib.rs", "src/notes.md", "tests/t.rs"])]
#[case::literal("src/lib.rs", &["src/lib.rs"])]
#[case::below("src/**", &["src/deep/er/x.rs", "src/lib.rs", "src/notes.md"])]
#[case::class("src/[l-n]*", &["src/lib.rs", "src/notes.md"])]
#[case::dots("./src/../src/*.md", &["src/notes.md"])]
#[case::hidden_by_name(".github/**", &[".github/workflows/ci.yml"])]
#[case::hidden_by_pattern("**/.github/**/*.yml", &[".github/workflows/ci.yml"])]
#[case::ignored_but_named("ignored/*", &["ignored/x.rs"])]
#[case::nothing("*.py", &[])]
#[case::no_such_directory("gone/*.rs", &[])]
#[tokio::test]
async fn a_pattern_finds(
    #[case] pattern: &str,
    #[case] expected: &[&str],
    #[values(Machine::Ours, Machine::Theirs)] machine: Machine,
) {
    let Some(world) = world(machine).await else {
        return;
    };
    let globbed = world.glob(".", pattern).await.unwrap();
    assert_eq!(found(&globbed), expected);
    assert_eq!(globbed.count, expected.len() as u64);
}

#[rstest]
#[tokio::test]
async fn a_pattern_is_relative_to_its_directory_or_absolute_in_the_workspace(
    #[values(Machine::Ours, Machine::Theirs)] machine: Machine,
) {
    let Some(world) = world(machine).await else {
        return;
    };
    assert_eq!(
        found(&world.glob("src", "*.rs").await.unwrap()),
        ["src/lib.rs"]
    );
    let absolute = format!("{}/src/*.rs", world.workspace.display());
    assert_eq!(
        found(&world.glob(".", &absolute).await.unwrap()),
        ["src/lib.rs"]
    );
    let error = world.glob(".", "/etc/*").await.unwrap_err();
    assert!(matches!(error, FilesError::Outside { .. }), "{error:?}");
    let error = world.glob("gone", "src/*").await.unwrap_err();
    assert!(matches!(error, FilesError::NotFound { .. }), "{error:?}");
}

#[rstest]
#[tokio::test]
async fn the_last_changed_come_first_and_a_limit_is_said(
    #[values(Machine::Ours, Machine::Theirs)] machine: Machine,
) {
    let Some(world) = World::on(machine).await else {
        return;
    };
    for (age, name) in ["oldest", "middle", "newest"].into_iter().enumerate() {
        let path = world.make(name, "");
        let stamp = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000 + age as u64);
        let file = fs::File::options().write(true).open(path).unwrap();
        file.set_modified(stamp).unwrap();
    }
    let glob = Glob {
        pattern: "*".to_owned(),
        limit: 2,
    };
    let globbed = world.files.glob(here("."), glob).await.unwrap();
    let names: Vec<&str> = globbed
        .files
        .iter()
        .map(|file| file.path.as_str())
        .collect();
    assert_eq!(names, ["newest", "middle"]);
    assert_eq!((globbed.count, globbed.walked.truncated), (3, true));
}

#[rstest]
#[case::unclosed("src/[a")]
#[case::unclosed_brace("{a,b")]
#[case::empty("")]
#[case::only_a_directory("src/")]
#[tokio::test]
async fn a_pattern_that_is_none_is_refused_with_the_reason(
    #[case] pattern: &str,
    #[values(Machine::Ours, Machine::Theirs)] machine: Machine,
) {
    let Some(world) = world(machine).await else {
        return;
    };
    let error = world.glob(".", pattern).await.unwrap_err();
    assert!(
        matches!(&error, FilesError::Invalid { why, .. } if !why.is_empty()),
        "{error:?}"
    );
}

#[rstest]
#[tokio::test]
async fn what_an_ignore_file_hid_is_said_where_nothing_was_found(
    #[values(Machine::Ours, Machine::Theirs)] machine: Machine,
) {
    let Some(world) = world(machine).await else {
        return;
    };
    world.make("x.log", "");
    world.make(".gitignore", "*.log");
    let globbed = world.glob(".", "*.log").await.unwrap();
    assert_eq!(globbed.count, 0);
    assert_eq!(globbed.walked.skipped, ["1 entry left out by .gitignore"]);
}
