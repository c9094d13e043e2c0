//! Credentials are never readable, wherever the workspace is and whoever asks.

use std::fs;
use std::path::Path;

use outfitter_core::Sandbox;
use outfitter_sandbox::{Host, LocalFiles, Protected, bwrap, local, probe};
use rstest::rstest;

use super::kit::{
    Backend, Identity, World, bwrap_is_there, hand_over, heard, run_in, shell, supervisor, testkit,
};

/// Every one holds the same word.
const SECRETS: [&str; 17] = [
    ".ssh/id_ed25519",
    ".ssh/config",
    ".aws/credentials",
    ".netrc",
    ".npmrc",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".git-credentials",
    ".config/git/credentials",
    ".config/gh/hosts.yml",
    ".bash_history",
    ".zsh_history",
    ".python_history",
    ".node_repl_history",
    ".psql_history",
    ".local/share/fish/fish_history",
    ".local/share/uv/credentials/credentials.toml",
];

fn all_of(dir: &Path, identity: Identity) {
    hand_over(dir, identity);
    for entry in fs::read_dir(dir).unwrap().flatten() {
        if entry.file_type().unwrap().is_dir() {
            all_of(&entry.path(), identity);
        } else {
            hand_over(&entry.path(), identity);
        }
    }
}

#[rstest]
fn no_credential_can_be_read_by_a_command(
    #[values(Identity::Ourselves, Identity::Nobody)] identity: Identity,
    #[values("", "project")] workspace: &str,
    #[values(Backend::Local, Backend::Bwrap)] backend: Backend,
) {
    if backend == Backend::Bwrap && !bwrap_is_there() {
        return;
    }
    let Some(mut command) = testkit(identity) else {
        return;
    };
    // Not below /tmp, where everything would be out of sight anyway.
    let dir = tempfile::Builder::new().tempdir_in("/var/tmp").unwrap();
    let home = dir.path().canonicalize().unwrap();
    for secret in SECRETS {
        fs::create_dir_all(home.join(secret).parent().unwrap()).unwrap();
        fs::write(home.join(secret), "precious\n").unwrap();
    }
    for dir in [
        "project",
        ".cargo/bin",
        ".local/bin",
        ".local/share/uv/tools",
        "data",
    ] {
        fs::create_dir_all(home.join(dir)).unwrap();
    }
    fs::write(home.join(".local/bin/tool"), "#!/bin/sh\necho tool\n").unwrap();
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(home.join(".local/bin/tool"), executable).unwrap();
    all_of(&home, identity);

    let paths: Vec<String> = SECRETS
        .iter()
        .map(|name| home.join(name).display().to_string())
        .collect();
    let list = paths.join(" ");
    let line = format!(
        "tool; for f in {list}; do cat $f; cat /proc/self/root$f; ln $f stolen; cat stolen; cp $f copy; cat copy; done 2>/dev/null; \
         grep -r precious {0}/.ssh {0}/.cargo {0}/.local {0}/.config 2>/dev/null; true",
        home.display()
    );
    command.env("HOME", &home);
    command.env(
        "PATH",
        format!("{}/.local/bin:/usr/bin:/bin", home.display()),
    );
    let got = run_in(
        command,
        backend,
        (&home.join(workspace), &home.join("data")),
        &line,
    );
    assert_eq!(got.stdout, "tool\n", "{got:?}");
    assert!(got.succeeded(), "{got:?}");
    for secret in SECRETS {
        assert_eq!(fs::read_to_string(home.join(secret)).unwrap(), "precious\n");
    }

    // The same line without a sandbox shows them: the test is not blind.
    let mut command = testkit(identity).unwrap();
    command.env("HOME", &home).env("PATH", "/usr/bin:/bin");
    let control = run_in(
        command,
        Backend::Passthrough,
        (&home.join(workspace), &home.join("data")),
        &line,
    );
    assert!(
        control.stdout.matches("precious").count() >= SECRETS.len(),
        "{control:?}"
    );
}

/// A home and what is opened of it, beneath it and by name.
async fn opened(
    world: &World,
    backend: Backend,
    home: &Path,
    read: &[&str],
) -> Option<Box<dyn Sandbox>> {
    if backend == Backend::Bwrap && !bwrap_is_there() {
        return None;
    }
    let mut session = world.session(Host {
        path: Some("/usr/bin:/bin".into()),
        ..Host::default()
    });
    session.files = LocalFiles::open(&world.workspace, Protected::of_home(home)).unwrap();
    let mut policy = world.policy(probe(&supervisor()).await.unwrap());
    policy.read = read.iter().map(|path| home.join(path)).collect();
    if backend == Backend::Partial {
        policy.support.level = policy.support.level.min(outfitter_process::Level::Partial);
    }
    Some(match backend {
        Backend::Bwrap => Box::new(bwrap::open(session, policy).await.unwrap()),
        _ => Box::new(local::open(session, policy).unwrap()),
    })
}

/// As root everything could be read.
#[rstest]
#[tokio::test]
async fn a_folder_that_is_opened_shows_no_credential_in_it(
    #[values(Backend::Local, Backend::Partial, Backend::Bwrap)] backend: Backend,
) {
    let world = World::new();
    let dir = tempfile::Builder::new().tempdir_in("/var/tmp").unwrap();
    let home = dir.path().canonicalize().unwrap();
    let credentials = [
        ".kube/config",
        ".docker/config.json",
        ".mozilla/x/logins.json",
    ];
    for path in credentials {
        fs::create_dir_all(home.join(path).parent().unwrap()).unwrap();
        fs::write(home.join(path), "precious\n").unwrap();
    }
    fs::write(home.join("notes"), "plain\n").unwrap();
    let Some(sandbox) = opened(&world, backend, &home, &["", "/etc"]).await else {
        return;
    };
    // Rules of Landlock alone can only allow: then the folder itself is not listed.
    let line = format!(
        "for f in notes {}; do cat {}/$f; done; cat /etc/ssh/ssh_host_*_key /etc/shadow /etc/sudoers",
        credentials.join(" "),
        home.display()
    );
    let (out, _) = heard(&*sandbox, shell(&line)).await;
    assert_eq!(out, "plain\n");
    let (out, _) = heard(&*sandbox, shell("cat /etc/hostname | wc -l")).await;
    assert_eq!(out, "1\n", "the folder itself is open");
}

#[rstest]
#[tokio::test]
async fn a_credential_that_is_opened_by_its_own_name_is_the_only_one(
    #[values(Backend::Local, Backend::Partial, Backend::Bwrap)] backend: Backend,
) {
    let world = World::new();
    let dir = tempfile::Builder::new().tempdir_in("/var/tmp").unwrap();
    let home = dir.path().canonicalize().unwrap();
    let all = [
        ".kube/config",
        ".kube/cache/token",
        ".docker/config.json",
        ".ssh/id",
    ];
    for path in all {
        fs::create_dir_all(home.join(path).parent().unwrap()).unwrap();
        fs::write(home.join(path), format!("{path}\n")).unwrap();
    }
    let read = ["", ".kube/config"];
    let Some(sandbox) = opened(&world, backend, &home, &read).await else {
        return;
    };
    let files = all.join(" ");
    let line = format!("for f in {files}; do cat {}/$f; done", home.display());
    let (out, _) = heard(&*sandbox, shell(&line)).await;
    assert_eq!(out, ".kube/config\n");
}
