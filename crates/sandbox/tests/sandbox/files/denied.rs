//! What is protected stays so in every spelling, by every operation, wherever the workspace is.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use outfitter_core::{Files, FilesError, Range, Reach};
use outfitter_sandbox::{LocalFiles, Protected};
use rstest::rstest;

use super::world::{Machine, SECRET, World, anywhere, here, is_denial, paths, replace};

/// Twenty spellings of `~/.ssh/id_rsa`; H stands for the home, the workspace is `H/ws`.
pub(crate) const SPELLINGS: [&str; 20] = [
    "H/.ssh/id_rsa",
    "H/./.ssh/id_rsa",
    "H//.ssh//id_rsa",
    "H/ws/../.ssh/id_rsa",
    "H/ws/./.././.ssh/./id_rsa",
    "H/.ssh/../.ssh/id_rsa",
    "H/.SSH/id_rsa",
    "H/.Ssh/ID_RSA",
    "../.ssh/id_rsa",
    ".././/.ssh/id_rsa",
    "sub/../../.ssh/id_rsa",
    "~/.ssh/id_rsa",
    "~//.ssh/id_rsa",
    "~/ws/../.ssh/id_rsa",
    "$HOME/.ssh/id_rsa",
    "${HOME}/.ssh/id_rsa",
    "H/．ssh/id_rsa",
    "H/.s\u{200b}sh/id_rsa",
    "link-to-ssh/id_rsa",
    "hard-link-to-key",
];

async fn world(machine: Machine) -> Option<World<Arc<dyn Files>>> {
    let world = World::on(machine).await?;
    fs::create_dir(world.path("sub")).unwrap();
    world.link("link-to-ssh", world.home.join(".ssh"));
    fs::hard_link(
        world.home.join(".ssh/id_rsa"),
        world.path("hard-link-to-key"),
    )
    .unwrap();
    Some(world)
}

#[tokio::test]
async fn twenty_spellings_are_twenty_denials_to_read_and_to_write() {
    let world = world(Machine::Ours).await.unwrap();
    let home = world.home.to_str().unwrap();
    for reach in [Reach::Workspace, Reach::Host] {
        for spelling in SPELLINGS {
            let path = spelling.replacen('H', home, usize::from(spelling.starts_with('H')));
            let file = outfitter_core::FileRef { path: &path, reach };
            let range = Range { from: 0, max: 100 };
            let read = world.files.read(file, range).await.unwrap_err();
            assert!(is_denial(&read), "read {path}, {reach:?}: {read:?}");
            let hash = world.files.hash(file).await.unwrap_err();
            assert!(is_denial(&hash), "hash {path}, {reach:?}: {hash:?}");
            let write = world.files.put(file, replace("x")).await.unwrap_err();
            assert!(is_denial(&write), "write {path}, {reach:?}: {write:?}");
        }
    }
    let key = fs::read_to_string(world.home.join(".ssh/id_rsa")).unwrap();
    assert_eq!(key, SECRET);
}

#[rstest]
#[tokio::test]
async fn a_workspace_that_is_the_home_protects_its_secrets(
    #[values(Machine::Ours, Machine::Theirs)] machine: Machine,
) {
    let Some(world) = World::at(machine, "home").await else {
        return;
    };
    world.make("notes.txt", SECRET);
    world.make(".cargo/credentials.toml", SECRET);
    world.make(".cargo/config.toml", "plain");
    for path in [
        ".ssh/id_rsa",
        "./.SSH/id_rsa",
        ".cargo/credentials.toml",
        ".netrc",
        ".aws/credentials",
        ".config/gh/hosts.yml",
        ".bash_history",
    ] {
        let error = world.read(path).await.unwrap_err();
        assert!(
            matches!(error, FilesError::Protected { .. }),
            "{path}: {error:?}"
        );
        let error = world.write(path, "x").await.unwrap_err();
        assert!(
            matches!(error, FilesError::Protected { .. }),
            "{path}: {error:?}"
        );
    }
    assert!(
        !world.path(".aws").exists(),
        "no parent of a protected file is made"
    );
    assert_eq!(world.read(".cargo/config.toml").await.unwrap(), "plain");

    let mut search = super::world::search("secret");
    search.glob = Some("{**,.**/**}".to_owned());
    let found = world.files.search(here("."), search).await.unwrap();
    let found: Vec<&str> = found.hits.iter().map(|hit| hit.path.as_str()).collect();
    assert_eq!(found, ["notes.txt"]);

    let all = outfitter_core::List {
        depth: 3,
        max_items: 100,
        hidden: true,
        ignored: true,
    };
    let listed = world.files.list(here("."), all).await.unwrap();
    assert_eq!(
        paths(&listed),
        [".cargo", ".cargo/config.toml", "notes.txt"]
    );
    assert_eq!(listed.walked.skipped.len(), 2, "{:?}", listed.walked);
}

#[tokio::test]
async fn a_search_does_not_read_a_secret_through_a_hard_link() {
    let world = world(Machine::Ours).await.unwrap();
    world.make("plain.txt", SECRET);
    let found = world.grep(".", "secret").await.unwrap();
    assert_eq!(super::world::hits(&found).len(), 1, "{found:?}");
    assert!(
        found
            .walked
            .skipped
            .iter()
            .any(|line| line.starts_with("hard-link-to-key:")),
        "{:?}",
        found.walked
    );
}

#[tokio::test]
async fn a_secret_that_is_a_link_protects_what_it_leads_to() {
    let world = World::new();
    world.make("dotfiles/netrc", SECRET);
    std::os::unix::fs::symlink(world.path("dotfiles/netrc"), world.home.join(".netrc")).unwrap();
    let error = world.read("dotfiles/netrc").await.unwrap_err();
    assert!(matches!(error, FilesError::Protected { .. }), "{error:?}");
}

#[rstest]
#[case::shadow("/etc/shadow")]
#[case::our_environment("/proc/self/environ")]
#[case::a_link_of_proc("/proc/self/root/etc/passwd")]
#[tokio::test]
async fn the_whole_machine_is_not_its_secrets(
    #[case] path: &str,
    #[values(Machine::Ours, Machine::Theirs)] machine: Machine,
) {
    let Some(world) = World::on(machine).await else {
        return;
    };
    let range = Range { from: 0, max: 10 };
    let error = world.files.read(anywhere(path), range).await.unwrap_err();
    assert!(matches!(error, FilesError::Protected { .. }), "{error:?}");
}

#[rstest]
#[tokio::test]
async fn the_whole_machine_is_reached_only_by_who_may(
    #[values(Machine::Ours, Machine::Theirs)] machine: Machine,
) {
    let Some(world) = World::on(machine).await else {
        return;
    };
    let path = world.outside.join("secret.txt");
    let path = path.to_str().unwrap();
    let range = Range { from: 4, max: 6 };
    let chunk = world.files.read(anywhere(path), range).await.unwrap();
    assert_eq!(&chunk.bytes[..], b"secret");
    let chunk = world
        .files
        .read(anywhere("../../outside/secret.txt"), range)
        .await
        .unwrap();
    assert_eq!(&chunk.bytes[..], b"secret");
    let error = world.files.read(here(path), range).await.unwrap_err();
    assert!(matches!(error, FilesError::Outside { .. }), "{error:?}");
}

#[tokio::test]
async fn rules_of_the_operator_hold_too() {
    let world = World::new();
    world.make("deep/.env", SECRET);
    world.make("private/clé.txt", SECRET);
    let protected = Protected::of_home(&world.home)
        .and_name(".env")
        .and_path(&world.path("private/clé.txt"));
    let files = LocalFiles::open(&world.workspace, protected).unwrap();
    let range = Range { from: 0, max: 10 };
    for path in [
        "deep/.env",
        "deep/.ENV",
        "deep/.Env",
        "private/cle\u{301}.txt",
        "private/CLÉ.txt",
    ] {
        let error = files.read(here(path), range).await.unwrap_err();
        assert!(
            matches!(error, FilesError::Protected { .. }),
            "{path}: {error:?}"
        );
    }
}

#[test]
fn a_protected_directory_cannot_be_the_workspace() {
    let world = World::new();
    let error = LocalFiles::open(&world.home.join(".ssh"), Protected::of_home(&world.home));
    assert!(matches!(error, Err(FilesError::Protected { .. })));
}

#[test]
fn what_exists_is_named_for_the_sandbox_of_commands() {
    let world = World::new();
    fs::create_dir(world.home.join(".cargo")).unwrap();
    fs::write(world.home.join(".cargo/credentials.toml"), "").unwrap();
    let existing = Protected::of_home(&world.home).existing();
    let has = |path: &str| existing.contains(&world.home.join(path));
    assert!(
        has(".ssh") && has(".cargo/credentials.toml"),
        "{existing:?}"
    );
    assert!(!has(".aws"), "{existing:?}");
    assert!(!existing.iter().any(|path| path.starts_with("/proc")));
    assert!(existing.iter().all(|path| Path::new(path).exists()));
}

/// Also where the operator has opened the machine to administrators.
#[rstest]
#[case::a_key_store(".gnupg/private-keys-v1.d/x", false)]
#[case::containers(".docker/config.json", false)]
#[case::a_cluster(".kube/config", false)]
#[case::a_registry(".cargo/credentials.toml", false)]
#[case::another_registry(".pypirc", false)]
#[case::packages(".npmrc", false)]
#[case::hosts(".netrc", false)]
#[case::a_cloud(".aws/credentials", false)]
#[case::another_cloud(".config/gcloud/credentials.db", false)]
#[case::a_third_cloud(".azure/msal_token_cache.json", false)]
#[case::a_forge(".config/gh/config.yml", false)]
#[case::a_browser(".mozilla/firefox/p/logins.json", false)]
#[case::another_browser(".config/google-chrome/Default/Cookies", false)]
#[case::a_shell(".bashrc", true)]
#[case::another_shell(".zshrc", true)]
#[case::a_login(".profile", true)]
#[case::git(".gitconfig", true)]
#[case::cargo(".cargo/config.toml", true)]
#[case::a_desktop(".config/autostart/x.desktop", true)]
#[case::a_service(".config/systemd/user/x.service", true)]
#[tokio::test]
async fn no_file_tool_writes_a_credential_or_what_starts_programs(
    #[case] path: &str,
    #[case] is_read: bool,
    #[values(Machine::Ours, Machine::Theirs)] machine: Machine,
    #[values(true, false)] is_there: bool,
) {
    let Some(world) = World::at(machine, "home/ws").await else {
        return;
    };
    let file = world.home.join(path);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    if is_there {
        fs::write(&file, "old").unwrap();
    }
    let name = file.to_str().unwrap();
    let range = Range { from: 0, max: 100 };
    for file in [anywhere(name), here(name)] {
        let error = world.files.put(file, replace("new")).await.unwrap_err();
        assert!(is_denial(&error), "{name}: {error:?}");
    }
    let read = world.files.read(anywhere(name), range).await;
    match read {
        Ok(chunk) => assert!(is_read && is_there && &chunk.bytes[..] == b"old"),
        Err(error) if is_read => assert!(!is_there || is_denial(&error), "{error:?}"),
        Err(error) => assert!(is_denial(&error), "{name}: {error:?}"),
    }
    let now = fs::read_to_string(&file).ok();
    assert_eq!(now.as_deref(), is_there.then_some("old"));
}
