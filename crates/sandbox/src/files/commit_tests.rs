//! Several changes: all of them or none.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use outfitter_core::{Bytes, Hash, Reach};
use rstest::rstest;

use super::*;
use crate::files::LocalFiles;
use crate::protected::Protected;

fn change(path: &str, to: Becomes) -> FileChange {
    FileChange {
        path: path.to_owned(),
        reach: Reach::Workspace,
        to,
    }
}

fn created(path: &str, text: &'static str) -> FileChange {
    let bytes = Bytes::from_static(text.as_bytes());
    let mode = NewMode::Plain;
    change(path, Becomes::Created { bytes, mode })
}

fn replaced(path: &str, before: &str, after: &'static str) -> FileChange {
    let (bytes, if_hash) = (Bytes::from_static(after.as_bytes()), Hash::of(before));
    change(path, Becomes::Replaced { bytes, if_hash })
}

fn removed(path: &str, before: &str) -> FileChange {
    let if_hash = Hash::of(before);
    change(path, Becomes::Removed { if_hash })
}

/// Everything beneath a directory: paths, kinds, modes, contents.
fn all(dir: &Path) -> BTreeMap<String, (u32, Vec<u8>)> {
    let mut found = BTreeMap::new();
    let mut open = vec![dir.to_path_buf()];
    while let Some(here) = open.pop() {
        for entry in fs::read_dir(here).unwrap() {
            let entry = entry.unwrap();
            let meta = entry.metadata().unwrap();
            let content = if meta.is_dir() {
                open.push(entry.path());
                Vec::new()
            } else {
                fs::read(entry.path()).unwrap()
            };
            let path = entry
                .path()
                .strip_prefix(dir)
                .unwrap()
                .display()
                .to_string();
            found.insert(path, (meta.permissions().mode(), content));
        }
    }
    found
}

fn workspace() -> (tempfile::TempDir, LocalFiles) {
    let dir = tempfile::tempdir().unwrap();
    for name in ["a", "b", "c"] {
        fs::write(dir.path().join(name), name).unwrap();
    }
    fs::set_permissions(dir.path().join("b"), fs::Permissions::from_mode(0o751)).unwrap();
    let files = LocalFiles::open(dir.path(), Protected::of_system()).unwrap();
    (dir, files)
}

/// One change of four fails at the last moment: none is left of the others, not even a
/// directory, a mode or a file in the making.
#[rstest]
#[case::replacing(replaced("c", "c", "C"))]
#[case::removing(removed("c", "c"))]
fn what_was_made_is_unmade_when_a_later_change_fails(#[case] failing: FileChange) {
    let (dir, files) = workspace();
    let changes = [
        created("new/deep/f", "f"),
        replaced("a", "a", "A"),
        removed("b", "b"),
        failing,
    ];
    let interfere = || fs::write(dir.path().join("c"), "not c").unwrap();
    let error = commit_between(files.inner(), &changes, &Gone::default(), interfere);
    assert!(error.is_err());
    let mut wanted = {
        let (dir, _) = workspace();
        all(dir.path())
    };
    wanted.get_mut("c").unwrap().1 = b"not c".to_vec();
    assert_eq!(all(dir.path()), wanted);
}

#[test]
fn a_name_that_is_taken_at_the_last_moment_stays_whose_it_is() {
    let (dir, files) = workspace();
    let changes = [removed("a", "a"), created("d", "ours")];
    let interfere = || fs::write(dir.path().join("d"), "theirs").unwrap();
    let error = commit_between(files.inner(), &changes, &Gone::default(), interfere);
    assert!(matches!(error, Err(FilesError::Exists { .. })), "{error:?}");
    assert_eq!(fs::read(dir.path().join("a")).unwrap(), b"a");
    assert_eq!(fs::read(dir.path().join("d")).unwrap(), b"theirs");
    assert_eq!(all(dir.path()).len(), 4);
}

#[test]
fn a_renamed_file_keeps_its_mode() {
    let (dir, files) = workspace();
    let renamed = FileChange {
        to: Becomes::Created {
            bytes: Bytes::from_static(b"b"),
            mode: NewMode::Of("b".to_owned()),
        },
        ..created("sub/b2", "")
    };
    let changes = [renamed, removed("b", "b")];
    commit_between(files.inner(), &changes, &Gone::default(), || {}).unwrap();
    let after = all(dir.path());
    assert_eq!(after["sub/b2"].0 & 0o777, 0o751);
    assert!(!after.contains_key("b"));
    assert_eq!(after.len(), 4);
}

#[rstest]
#[case::stale(replaced("a", "old", "A"))]
#[case::there_already(created("a", "A"))]
#[case::not_there(removed("z", "z"))]
#[case::metadata(created(".git/hooks/pre-commit", "x"))]
#[case::outside(created("../x", "x"))]
#[case::through_a_file(created("a/b", "x"))]
#[case::twice(replaced("./b", "b", "BB"))]
fn nothing_is_made_where_one_is_refused(#[case] refused: FileChange) {
    let (dir, files) = workspace();
    let before = all(dir.path());
    let changes = [created("new/f", "f"), replaced("b", "b", "B"), refused];
    assert!(commit(files.inner(), &changes, &Gone::default()).is_err());
    assert_eq!(all(dir.path()), before);
}

/// It was said to be busy, as if somebody else had changed it.
#[test]
fn two_names_of_one_file_changed_together_were_said_to_be_busy() {
    let (dir, files) = workspace();
    fs::hard_link(dir.path().join("a"), dir.path().join("z")).unwrap();
    let before = all(dir.path());
    for changes in [
        [replaced("a", "a", "1"), replaced("z", "a", "2")],
        [removed("a", "a"), replaced("z", "a", "2")],
        [removed("z", "a"), removed("a", "a")],
    ] {
        let error = commit(files.inner(), &changes, &Gone::default()).unwrap_err();
        assert!(error.to_string().contains("second name"), "{error}");
        assert_eq!(all(dir.path()), before);
    }
}
