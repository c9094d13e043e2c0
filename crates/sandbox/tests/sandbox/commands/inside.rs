//! What a command finds around it.

use std::sync::Arc;

use outfitter_core::{CommandSpec, Sandbox, SystemClock};
use outfitter_sandbox::{
    Host, Limits, LocalFiles, ProcessSandbox, Protected, Session, bwrap, local, probe,
};
use rstest::rstest;

use super::kit::{Backend, World, bwrap_is_there, heard, shell, supervisor};

async fn local(world: &World, host: Host, passed: &[(&str, &str)]) -> ProcessSandbox {
    let mut session = world.session(host);
    session.passed = passed
        .iter()
        .map(|(name, value)| (name.into(), value.into()))
        .collect();
    let support = probe(&supervisor()).await.unwrap();
    local::open(session, world.policy(support)).unwrap()
}

#[tokio::test]
async fn the_environment_is_built_and_complete() {
    let world = World::new();
    let home = world.data.parent().unwrap().join("home");
    for dir in [".rustup/toolchains", ".pyenv/shims", "private/bin"] {
        std::fs::create_dir_all(home.join(dir)).unwrap();
    }
    let host = Host {
        home: Some(home.clone()),
        path: Some(
            format!(
                "{0}/.pyenv/shims:{0}/private/bin:/usr/bin:/bin",
                home.display()
            )
            .into(),
        ),
        timezone: Some("Europe/Vienna".into()),
        ..Host::default()
    };
    let sandbox = local(&world, host, &[("PASSED", "yes")]).await;
    let mut command = shell("env | grep -vE '^(PWD|OLDPWD|_|SHLVL)=' | sort");
    command.env = vec![("OWN".to_owned(), "too".to_owned())];
    let (out, err) = heard(&sandbox, command).await;
    let (home, scratch) = (home.display(), world.data.join("session/scratch"));
    let scratch = scratch.display();
    let expected = format!(
        "CARGO_HOME={scratch}/cargo\nGIT_TERMINAL_PROMPT=0\nHOME={scratch}/home\nLANG=C.UTF-8\n\
         OWN=too\nPASSED=yes\nPATH={home}/.pyenv/shims:/usr/bin:/bin\nPYENV_ROOT={home}/.pyenv\n\
         RUSTUP_HOME={home}/.rustup\nTMPDIR={scratch}/tmp\nTZ=Europe/Vienna\n"
    );
    assert_eq!(out, expected, "{err}");
    let left_out = sandbox.left_out().join("\n");
    assert!(
        left_out.contains("private/bin is on PATH and cannot be read inside"),
        "{left_out}"
    );
}

#[rstest]
#[tokio::test]
async fn scratch_lasts_over_commands_and_comes_back_when_removed(
    #[values(Backend::Local, Backend::Partial, Backend::Bwrap, Backend::Passthrough)]
    backend: Backend,
) {
    let world = World::new();
    let Some(sandbox) = world.open(backend).await else {
        return;
    };
    let (out, err) = heard(
        &*sandbox,
        shell("echo kept > $HOME/file; mktemp >/dev/null && echo temporary"),
    )
    .await;
    assert_eq!(out, "temporary\n", "{err}");
    let (out, _) = heard(&*sandbox, shell("cat $HOME/file; rm -rf $HOME $TMPDIR")).await;
    assert_eq!(out, "kept\n");
    let (out, err) = heard(
        &*sandbox,
        shell("cd $HOME && mktemp >/dev/null && echo again"),
    )
    .await;
    assert_eq!(out, "again\n", "{err}");
}

/// What an earlier command left behind must not widen what the next may touch.
#[tokio::test]
async fn links_left_in_the_scratch_folder_lead_nowhere() {
    let world = World::new();
    let outside = tempfile::Builder::new().tempdir_in("/var/tmp").unwrap();
    let Some(sandbox) = world.open(Backend::Local).await else {
        return;
    };
    let target = outside.path().display();
    let plant =
        format!("rm -rf $HOME $TMPDIR; ln -s {target} $HOME; ln -s {target} $TMPDIR; echo planted");
    assert_eq!(heard(&*sandbox, shell(&plant)).await.0, "planted\n");
    let (out, _) = heard(
        &*sandbox,
        shell("echo x > $HOME/new; echo x > $TMPDIR/new; ls $HOME/; echo done"),
    )
    .await;
    assert_eq!(out, "done\n");
    assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 0);
}

#[tokio::test]
async fn shared_directories_are_empty_and_devices_work() {
    let world = World::new();
    let Some(sandbox) = world.open(Backend::Local).await else {
        return;
    };
    let line = "ls /run; head -c 2 /dev/urandom | wc -c; echo gone > /dev/null; head -c 1 /dev/zero | wc -c; \
        echo to > /dev/stdout; echo $(echo fd | cat /dev/fd/0); (echo x > /dev/full) 2>/dev/null || echo full; \
        echo shared > /dev/shm/x && cat /dev/shm/x; cat /proc/self/comm";
    let (out, err) = heard(&*sandbox, shell(line)).await;
    assert_eq!(out, "2\n1\nto\nfd\nfull\nshared\ncat\n", "{err}");
    assert!(!std::path::Path::new("/dev/shm/x").exists());
}

#[rstest]
#[tokio::test]
async fn the_data_directory_is_out_of_sight_even_in_a_workspace_that_holds_it(
    #[values(Backend::Local, Backend::Bwrap)] backend: Backend,
) {
    let dir = tempfile::Builder::new().tempdir_in("/var/tmp").unwrap();
    let workspace = dir.path().canonicalize().unwrap();
    let data = workspace.join(".local/share/outfitter");
    std::fs::create_dir_all(data.join("sessions/other")).unwrap();
    std::fs::write(data.join("outfitter.db"), "precious").unwrap();
    std::fs::write(data.join("sessions/other/file"), "precious").unwrap();
    let session = Session {
        supervisor: supervisor(),
        session_dir: data.join("sessions/own"),
        files: LocalFiles::open(&workspace, Protected::of_home(&workspace).and_path(&data))
            .unwrap(),
        host: Host {
            home: Some(workspace.clone()),
            ..Host::default()
        },
        passed: Vec::new(),
        limits: Limits::DEFAULT,
        clock: Arc::new(SystemClock),
    };
    let support = probe(&supervisor()).await.unwrap();
    if support.level < outfitter_process::Level::Full {
        super::kit::say(&format!(
            "SKIPPED(namespace): needs a mount namespace: {:?}",
            support.reasons
        ));
        return;
    }
    let world = World::new();
    let mut policy = world.policy(support);
    policy.data_dir.clone_from(&data);
    let sandbox: Box<dyn Sandbox> = match backend {
        Backend::Bwrap if !bwrap_is_there() => return,
        Backend::Bwrap => Box::new(bwrap::open(session, policy).await.unwrap()),
        _ => Box::new(local::open(session, policy).unwrap()),
    };
    let line = "ls .local/share/outfitter/sessions/other; mv .local moved; mv .local/share .local/moved; cat .local/share/outfitter/outfitter.db; cat .local/share/outfitter/sessions/other/file; \
        echo own > $HOME/file && cat $HOME/file; rm -rf .local/share/outfitter; echo x > .local/share/outfitter/new; \
        rm -rf .local/share/outfitter/sessions/other; echo y > here && cat here";
    let (out, err) = heard(&*sandbox, shell(line)).await;
    assert_eq!(out, "own\ny\n", "{err}");
    assert_eq!(
        std::fs::read_to_string(data.join("outfitter.db")).unwrap(),
        "precious"
    );
    assert!(!data.join("new").exists());
    assert!(data.join("sessions/other/file").exists());
}

#[tokio::test]
async fn a_session_opened_again_finds_its_scratch_folder() {
    let world = World::new();
    let Some(first) = world.open(Backend::Local).await else {
        return;
    };
    heard(&*first, shell("echo kept > $HOME/file")).await;
    drop(first);
    let Some(second) = world.open(Backend::Local).await else {
        return;
    };
    let command: CommandSpec = shell("cat $HOME/file");
    assert_eq!(heard(&*second, command).await.0, "kept\n");
    assert_eq!(second.jobs().len(), 2, "and the command of before");
}

/// What the operator opens does not open our own data, and neither does a virtual environment that
/// says it is made of what lies there.
#[tokio::test]
async fn our_own_data_is_opened_by_nothing() {
    let world = World::new();
    let other = world.data.join("files/t/bob/s");
    for path in ["lib/python3.12/os.py", "bin/python3", "secret"] {
        let path = other.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "precious").unwrap();
    }
    std::os::unix::fs::symlink(&other, world.workspace.join("way")).unwrap();
    let forged = format!("home = {}/bin\n", other.display());
    std::fs::create_dir(world.workspace.join(".venv")).unwrap();
    std::fs::write(world.workspace.join(".venv/pyvenv.cfg"), forged).unwrap();
    for (read, write) in [
        (vec![], vec![]),
        (vec![world.data.clone()], vec![]),
        (vec![other.clone(), world.workspace.join("way")], vec![]),
        (vec![], vec![other.clone()]),
        (
            vec![world.data.parent().unwrap().to_owned()],
            vec![world.data.join("files")],
        ),
    ] {
        let support = probe(&supervisor()).await.unwrap();
        let mut policy = world.policy(support);
        policy.read.clone_from(&read);
        policy.write.clone_from(&write);
        let sandbox = local::open(world.session(Host::default()), policy).unwrap();
        let line = format!(
            "cat {0}/secret way/secret; echo x > {0}/new; rm -f {0}/secret; echo own > own && cat own",
            other.display()
        );
        let (out, err) = heard(&sandbox, shell(&line)).await;
        assert_eq!(out, "own\n", "{read:?} {write:?}: {err}");
        let said = sandbox.left_out().join("\n");
        let inside = read
            .iter()
            .chain(&write)
            .any(|path| path.starts_with(&world.data));
        assert_eq!(said.contains("lies in our own data"), inside, "{said}");
    }
    assert!(other.join("secret").is_file() && !other.join("new").exists());
}

/// What is above a workspace may be covered inside; it is there all the same, and what lies beside
/// it is not.
#[rstest]
#[tokio::test]
async fn a_workspace_below_tmp_could_not_be_worked_in(
    #[values(Backend::Local, Backend::Partial, Backend::Bwrap, Backend::Passthrough)]
    backend: Backend,
) {
    let world = World::within(tempfile::tempdir_in("/tmp").unwrap());
    let beside = world.workspace.with_file_name("beside");
    std::fs::write(&beside, "theirs").unwrap();
    std::fs::write(world.workspace.join("there"), "mine\n").unwrap();
    let Some(sandbox) = world.open(backend).await else {
        return;
    };
    let line = "pwd; cat there; echo new > made && mkdir -p a/b && mv made a/b/ && cat a/b/made; \
                cat ../beside 2>/dev/null";
    let (out, err) = heard(&*sandbox, shell(line)).await;
    let seen = match backend {
        Backend::Passthrough => "theirs",
        _ => "",
    };
    let expected = format!("{}\nmine\nnew\n{seen}", world.workspace.display());
    assert_eq!(out, expected, "{err}");
    let made = world.workspace.join("a/b/made");
    assert_eq!(std::fs::read_to_string(made).unwrap(), "new\n");
}
