//! Two people's files on one server: neither can name, list, find, search, hash or copy the
//! other's.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use outfitter_core::{
    Becomes, Bytes, FileChange, Files, FilesError, Glob, Hash, List, NewMode, PutMode, Range, Reach,
};
use outfitter_sandbox::{LocalFiles, Protected};
use rstest::rstest;
use tempfile::TempDir;

use super::world::{here, put, search};

const HERS: &str = "what only she may know";

struct Server {
    dir: TempDir,
    his: LocalFiles,
}

/// A server's data as it lays out workspaces: tenant, subject, session.
fn server() -> Server {
    let dir = tempfile::tempdir().unwrap();
    for (subject, file) in [("ada", "hers.txt"), ("ben", "his.txt")] {
        let workspace = dir.path().join("files/local").join(subject).join("s1");
        fs::create_dir_all(&workspace).unwrap();
        fs::write(workspace.join(file), HERS).unwrap();
    }
    let ben = dir.path().join("files/local/ben/s1");
    // Links that a command of his could have made.
    symlink("../../ada/s1", ben.join("up")).unwrap();
    symlink("../../ada/s1/hers.txt", ben.join("file")).unwrap();
    symlink(dir.path().join("files/local/ada/s1"), ben.join("far")).unwrap();
    symlink("up", ben.join("twice")).unwrap();
    let his = LocalFiles::open(&ben, Protected::of_system()).unwrap();
    Server { dir, his }
}

fn is_refused<T: std::fmt::Debug>(result: &Result<T, FilesError>) {
    assert!(
        matches!(
            result,
            Err(FilesError::Outside { .. } | FilesError::Symlink { .. })
        ),
        "{result:?}"
    );
}

/// Everything in her workspace.
fn hers(dir: &Path) -> Vec<(String, Vec<u8>)> {
    fs::read_dir(dir.join("files/local/ada/s1"))
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            (path.display().to_string(), fs::read(&path).unwrap())
        })
        .collect()
}

#[rstest]
#[case::up("../../ada/s1/hers.txt")]
#[case::in_and_up("./x/../../../ada/s1/hers.txt")]
#[case::absolute("{base}/files/local/ada/s1/hers.txt")]
#[case::absolute_by_his("{base}/files/local/ben/s1/../../ada/s1/hers.txt")]
#[case::doubled("{base}//files/./local/ada/s1/hers.txt")]
#[case::a_relative_link("up/hers.txt")]
#[case::an_absolute_link("far/hers.txt")]
#[case::a_link_to_a_link("twice/hers.txt")]
#[case::a_link_to_the_file("file")]
#[case::by_the_process("/proc/self/root{base}/files/local/ada/s1/hers.txt")]
#[tokio::test]
async fn no_spelling_reaches_the_file_of_another(#[case] spelling: &str) {
    let server = server();
    let base = server.dir.path().canonicalize().unwrap();
    fs::create_dir(base.join("files/local/ben/s1/x")).unwrap();
    let path = &*spelling.replace("{base}", base.to_str().unwrap());
    let before = hers(&base);
    let files = &server.his;
    if spelling.starts_with("/proc") {
        let error = files.hash(here(path)).await.unwrap_err();
        assert!(matches!(error, FilesError::Protected { .. }), "{error:?}");
    } else {
        is_refused(&files.hash(here(path)).await);
        is_refused(&files.read(here(path), Range { from: 0, max: 99 }).await);
        is_refused(&files.export(here(path), base.join("copy")).await);
        is_refused(&files.search(here(path), search("know")).await);
        for mode in [PutMode::Replace, PutMode::Append, PutMode::Create] {
            is_refused(&files.put(here(path), put("x", mode, None)).await);
        }
        for to in [
            Becomes::Removed {
                if_hash: Hash::of(HERS),
            },
            Becomes::Replaced {
                bytes: Bytes::from_static(b"x"),
                if_hash: Hash::of(HERS),
            },
            Becomes::Created {
                bytes: Bytes::from_static(b"x"),
                mode: NewMode::Plain,
            },
        ] {
            let change = FileChange {
                path: path.to_owned(),
                reach: Reach::Workspace,
                to,
            };
            is_refused(&files.commit(vec![change]).await);
        }
    }
    assert!(!base.join("copy").exists());
    assert_eq!(hers(&base), before);
}

#[rstest]
#[case::up("../../ada/s1")]
#[case::all("../..")]
#[case::a_link("up")]
#[case::far("far")]
#[case::twice("twice")]
#[tokio::test]
async fn no_directory_of_another_is_looked_into(#[case] path: &str) {
    let server = server();
    let files = &server.his;
    let list = List {
        depth: 5,
        max_items: 100,
        hidden: true,
        ignored: true,
    };
    is_refused(&files.list(here(path), list.clone()).await);
    let glob = |pattern: &str| Glob {
        pattern: pattern.to_owned(),
        limit: 100,
    };
    is_refused(&files.glob(here(path), glob("**")).await);
    is_refused(&files.search(here(path), search("know")).await);
    is_refused(
        &files
            .export(here(path), server.dir.path().join("copy"))
            .await,
    );
    // From his own, her name and content are nowhere.
    let listed = files.list(here("."), list).await.unwrap();
    let names: Vec<_> = listed.entries.iter().map(|entry| &*entry.path).collect();
    assert_eq!(names, ["far", "file", "his.txt", "twice", "up"]);
    let found = files.search(here("."), search("know")).await.unwrap();
    let paths: Vec<_> = found.hits.iter().map(|hit| &*hit.path).collect();
    assert_eq!(paths, ["his.txt"]);
    for pattern in ["../../ada/**", "up/*", "**/hers.txt", "*/hers.txt"] {
        let found = files.glob(here("."), glob(pattern)).await;
        assert!(
            found.as_ref().map_or(true, |found| found.files.is_empty()),
            "{pattern}: {found:?}"
        );
    }
}
