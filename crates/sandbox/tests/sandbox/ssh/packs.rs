//! Trees of ours that are laid in on another machine.

use std::fs;
use std::os::unix::fs::symlink;

use outfitter_core::{FilesError, Range, Sandbox};
use outfitter_sandbox::ssh::{LaidPack, open};

use super::server::Server;
use crate::commands::kit::{heard, shell};
use crate::files::world::{here, replace};

const ALL: Range = Range {
    from: 0,
    max: 1 << 20,
};

/// A link that leads out of it would be one to the other machine's file.
#[tokio::test]
async fn a_pack_with_a_link_out_of_it_is_laid_in_without_the_link() {
    let home = tempfile::tempdir().unwrap();
    let Some(server) = Server::with_home(home.path()) else {
        return;
    };
    let pack = server.path("tea");
    fs::create_dir(&pack).unwrap();
    fs::write(pack.join("SKILL.md"), "Boil water.").unwrap();
    symlink("/etc/passwd", pack.join("pw")).unwrap();
    symlink("SKILL.md", pack.join("same")).unwrap();
    let mut session = server.session(server.remote());
    session.packs = vec![LaidPack {
        name: "tea".to_owned(),
        from: pack.clone(),
    }];
    let sandbox = open(session).await.unwrap();
    let [said] = sandbox.left_out() else {
        panic!("{:?}", sandbox.left_out());
    };
    assert!(
        said.starts_with("tea is laid in there without a part"),
        "{said}"
    );
    assert!(said.contains(pack.join("pw").to_str().unwrap()), "{said}");
    let line = "cat $OUTFITTER_SKILLS/tea/same; ls $OUTFITTER_SKILLS/tea";
    let (out, err) = heard(&sandbox, shell(line)).await;
    assert_eq!(
        (out.as_str(), err.as_str()),
        ("Boil water.SKILL.md\nsame\n", "")
    );
}

/// What is laid in is read and run there, written by nobody, and gone with the session.
#[tokio::test]
async fn a_pack_is_laid_in_for_reading_and_gone_with_the_session() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = tempfile::tempdir().unwrap();
    let Some(server) = Server::with_home(home.path()) else {
        return;
    };
    let pack = server.path("tea");
    fs::create_dir_all(pack.join("scripts")).unwrap();
    fs::write(pack.join("SKILL.md"), "Boil water.").unwrap();
    fs::write(pack.join("scripts/run"), "#!/bin/sh\necho brewed\n").unwrap();
    let mode = fs::Permissions::from_mode(0o755);
    fs::set_permissions(pack.join("scripts/run"), mode).unwrap();
    // There is no tree of this name.
    let mut session = server.session(server.remote());
    session.packs = ["tea", "bad"]
        .map(|name| LaidPack {
            name: name.to_owned(),
            from: server.path(name),
        })
        .to_vec();
    let sandbox = open(session).await.unwrap();
    assert_eq!(sandbox.left_out().len(), 1, "{:?}", sandbox.left_out());
    assert!(sandbox.left_out()[0].starts_with("bad is not laid in"));
    let line = "$OUTFITTER_SKILLS/tea/scripts/run; echo $OUTFITTER_SKILLS";
    let (out, _) = heard(&sandbox, shell(line)).await;
    let (said, folder) = out.trim_end().split_once('\n').unwrap();
    assert_eq!(said, "brewed");
    assert!(
        folder.starts_with(home.path().to_str().unwrap()),
        "{folder}"
    );
    let path = format!("{folder}/tea/SKILL.md");
    let read = sandbox.files().read(here(&path), ALL).await.unwrap();
    assert_eq!(&read.bytes[..], b"Boil water.");
    for path in [
        path.clone(),
        format!("{folder}/tea/new"),
        format!("{folder}/new"),
    ] {
        let error = sandbox
            .files()
            .put(here(&path), replace("x"))
            .await
            .unwrap_err();
        assert!(matches!(error, FilesError::Protected { .. }), "{error:?}");
    }
    let mode = fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o222, 0, "{mode:o}");
    assert!(!std::path::Path::new(folder).join("bad").exists());
    drop(sandbox);
    for _ in 0..600 {
        if fs::read_dir(home.path()).unwrap().count() == 0 {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    unreachable!("{folder} stays");
}

/// The folder goes with the connection; who uses it does not notice.
#[tokio::test]
async fn a_pack_is_laid_in_again_where_the_connection_dropped() {
    let home = tempfile::tempdir().unwrap();
    let Some(server) = Server::with_home(home.path()) else {
        return;
    };
    let pack = server.path("tea");
    fs::create_dir_all(&pack).unwrap();
    fs::write(pack.join("SKILL.md"), "Boil water.").unwrap();
    let mut session = server.session(server.remote());
    session.packs = vec![LaidPack {
        name: "tea".to_owned(),
        from: pack,
    }];
    let sandbox = open(session).await.unwrap();
    let line = "cat $OUTFITTER_SKILLS/tea/SKILL.md; echo; echo $OUTFITTER_SKILLS";
    let (before, _) = heard(&sandbox, shell(line)).await;
    for _ in 0..2 {
        server.drop_connections();
        let (out, err) = heard(&sandbox, shell(line)).await;
        assert_eq!((out.as_str(), err.as_str()), (before.as_str(), ""));
        let (_, folder) = out.trim_end().split_once('\n').unwrap();
        let path = format!("{folder}/tea/SKILL.md");
        let read = sandbox.files().read(here(&path), ALL).await.unwrap();
        assert_eq!(&read.bytes[..], b"Boil water.");
        let error = sandbox.files().put(here(&path), replace("x")).await;
        let error = error.unwrap_err();
        assert!(matches!(error, FilesError::Protected { .. }), "{error:?}");
    }
    drop(sandbox);
    for _ in 0..600 {
        if !home.path().join(".outfitter-skills").exists() {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    unreachable!("the folder is still there");
}
