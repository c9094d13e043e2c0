//! What makes programs run outside the sandbox later is not changed by commands, where it is there.

use std::fs;

use outfitter_sandbox::{Host, LocalFiles, Protected, Reach, bwrap, local, probe};

use outfitter_core::Offset;
use rstest::rstest;

use super::kit::{Backend, LIVENESS, World, bwrap_is_there, heard, shell, supervisor};

const ATTACKS: &str = "for f in outfitter.toml .outfitter/rules; do
    echo x > $f; echo x >> $f; rm -f $f; mv $f other; ln $f l && echo x > l;
    echo x > new && mv -f new $f; chmod 777 $f; done 2>/dev/null
    mv .outfitter other 2>/dev/null; echo x 2>/dev/null > .outfitter/new; rm -rf ./* .outfitter 2>/dev/null
    cat outfitter.toml .outfitter/rules; echo x > made; ls";

#[rstest]
#[tokio::test]
async fn a_command_does_not_change_the_workspaces_configuration(
    #[values(Backend::Local, Backend::Bwrap)] backend: Backend,
) {
    let world = World::new();
    fs::create_dir(world.workspace.join(".outfitter")).unwrap();
    for name in ["outfitter.toml", ".outfitter/rules"] {
        fs::write(world.workspace.join(name), "mine\n").unwrap();
    }
    let Some(sandbox) = world.open(backend).await else {
        return;
    };
    assert_eq!(
        sandbox.info().level,
        outfitter_core::Level::Full,
        "only a mount namespace can keep it: {:?}",
        sandbox.info().missing
    );
    let (out, _) = heard(&*sandbox, shell(ATTACKS)).await;
    assert_eq!(out, "mine\nmine\nmade\noutfitter.toml\n");
    for name in ["outfitter.toml", ".outfitter/rules"] {
        let content = fs::read_to_string(world.workspace.join(name)).unwrap();
        assert_eq!(content, "mine\n", "{name}");
    }
}

/// What appears while the session goes on is kept from the next command on.
#[rstest]
#[tokio::test]
async fn configuration_made_meanwhile_is_kept_as_well(
    #[values(Backend::Local, Backend::Bwrap)] backend: Backend,
) {
    let world = World::new();
    let Some(sandbox) = world.open(backend).await else {
        return;
    };
    let (out, _) = heard(&*sandbox, shell("echo started")).await;
    assert_eq!(out, "started\n");
    fs::write(world.workspace.join("outfitter.toml"), "mine\n").unwrap();
    let (out, _) = heard(
        &*sandbox,
        shell("echo x > outfitter.toml || cat outfitter.toml"),
    )
    .await;
    assert_eq!(out, "mine\n");
}

#[rstest]
#[tokio::test]
async fn in_a_home_what_a_login_runs_is_kept(
    #[values(Backend::Local, Backend::Bwrap)] backend: Backend,
) {
    if backend == Backend::Bwrap && !bwrap_is_there() {
        return;
    }
    let world = World::new();
    let at = |name: &str| world.workspace.join(name);
    fs::create_dir_all(at(".config/fish")).unwrap();
    for name in [".bashrc", ".config/fish/config.fish"] {
        fs::write(at(name), "mine\n").unwrap();
    }
    let host = Host {
        path: Some("/usr/bin:/bin".into()),
        ..Host::default()
    };
    let mut session = world.session(host);
    session.files =
        LocalFiles::open(&world.workspace, Protected::of_home(&world.workspace)).unwrap();
    let policy = world.policy(probe(&supervisor()).await.unwrap());
    assert_eq!(policy.reach, Reach::Nothing);
    let opened = match backend {
        Backend::Bwrap => bwrap::open(session, policy).await,
        Backend::Local | Backend::Partial | Backend::Passthrough => local::open(session, policy),
        Backend::Ssh => unreachable!("its workspace is not on this machine"),
    };
    let sandbox = opened.unwrap();
    let script = "for f in .bashrc .config/fish/config.fish; do echo x >> $f; rm -f $f; done 2>/dev/null
        mv .config other 2>/dev/null; cat .bashrc .config/fish/config.fish; echo y > .config/mine && echo free";
    let (out, _) = heard(&sandbox, shell(script)).await;
    assert_eq!(out, "mine\nmine\nfree\n");
}

/// With bubblewrap a name is looked at, and mounted a little later. What is put there in between is
/// not run beside, is not shown, and does not make the file writable.
#[tokio::test]
async fn a_protected_file_that_is_exchanged_while_a_command_starts_opens_nothing() {
    let world = World::new();
    let Some(sandbox) = world.open(Backend::Bwrap).await else {
        return;
    };
    let secret = world.data.join("secret");
    fs::write(&secret, "sentinel\n").unwrap();
    // It began when there was no such file, so that it is free to make one, and to exchange it.
    let line = format!(
        "ln -s {0} link; echo begun; while :; do echo mine > file; mv file outfitter.toml; \
         cp -P link other; mv other outfitter.toml; done",
        secret.display()
    );
    let swapping = sandbox.spawn(shell(&line)).await.unwrap();
    sandbox
        .output(&swapping, Offset(0), 10, LIVENESS)
        .await
        .unwrap();
    let (mut ran, mut refused) = (0, 0);
    for _ in 0..60 {
        let line = "cat outfitter.toml; echo more >> outfitter.toml; true";
        let Ok(job) = sandbox.spawn(shell(line)).await else {
            refused += 1;
            continue;
        };
        let exit = sandbox.wait(&job).await.unwrap();
        let printed = sandbox
            .output(&job, Offset(0), 4096, LIVENESS)
            .await
            .unwrap();
        let printed = format!("{:?}", printed.pieces);
        assert!(!printed.contains("sentinel"), "{printed}");
        match exit.code {
            Some(0) => ran += 1,
            _ => refused += 1,
        }
    }
    sandbox
        .kill(&swapping, std::time::Duration::ZERO)
        .await
        .unwrap();
    assert_eq!(fs::read_to_string(&secret).unwrap(), "sentinel\n");
    assert_eq!(ran + refused, 60, "each ran or was refused");
}
