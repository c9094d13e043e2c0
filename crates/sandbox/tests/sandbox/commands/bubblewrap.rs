//! What is true of bubblewrap alone: its own failures, and what of a command is outside of it.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use outfitter_core::{Sandbox, SandboxError};
use outfitter_sandbox::{Host, ProcessSandbox, bwrap, probe};
use rstest::rstest;

use super::kit::{Backend, World, bwrap_is_there, heard, shell, supervisor};

/// One by a `bwrap` that cannot set anything up while there is a file `broken` beside it.
async fn breakable(world: &World) -> Option<ProcessSandbox> {
    if !bwrap_is_there() {
        return None;
    }
    let folder = world.data.with_file_name("bin");
    fs::create_dir(&folder).unwrap();
    let script = format!(
        "#!/bin/sh\nset -- \"$@\"\n[ -e {0}/broken ] && exec /usr/bin/bwrap --bind /no-such-source /x \"$@\"\n\
         exec /usr/bin/bwrap \"$@\"\n",
        folder.display()
    );
    fs::write(folder.join("bwrap"), script).unwrap();
    fs::set_permissions(folder.join("bwrap"), Permissions::from_mode(0o755)).unwrap();
    let session = world.session(Host {
        path: Some(format!("{}:/usr/bin:/bin", folder.display()).into()),
        ..Host::default()
    });
    let policy = world.policy(probe(&supervisor()).await.unwrap());
    Some(bwrap::open(session, policy).await.unwrap())
}

/// It ends with 1 and a line, as many a command does.
#[tokio::test]
async fn a_failure_of_bwrap_at_a_later_command_is_not_the_commands_exit() {
    let world = World::new();
    let Some(sandbox) = breakable(&world).await else {
        return;
    };
    let job = sandbox
        .spawn(shell("echo 'bwrap: of mine' >&2; exit 1"))
        .await;
    assert_eq!(sandbox.wait(&job.unwrap()).await.unwrap().code, Some(1));
    let broken = world.data.with_file_name("bin").join("broken");
    fs::write(&broken, "").unwrap();
    let error = sandbox.spawn(shell("touch ran; exit 1")).await.unwrap_err();
    assert!(
        matches!(&error, SandboxError::Unavailable { reason, .. }
            if reason.contains("bwrap could not set the command up, and nothing was run")
                && reason.contains("/no-such-source")),
        "{error:?}"
    );
    assert!(!world.workspace.join("ran").exists());
    assert_eq!(sandbox.jobs().len(), 1, "one that never ran is no job");
    fs::remove_file(&broken).unwrap();
    let (out, err) = heard(&sandbox, shell("echo again")).await;
    assert_eq!((out.as_str(), err.as_str()), ("again\n", ""));
}

/// Before it comes to `bwrap` itself, too.
#[tokio::test]
async fn a_filter_that_is_gone_is_a_failure_of_the_sandbox() {
    let world = World::new();
    let Some(sandbox) = world.open(Backend::Bwrap).await else {
        return;
    };
    fs::remove_file(world.data.join("session/filter.bpf")).unwrap();
    let error = sandbox.spawn(shell("touch ran")).await.unwrap_err();
    assert!(
        matches!(&error, SandboxError::Unavailable { reason, .. } if reason.contains("filter.bpf")),
        "{error:?}"
    );
    assert!(!world.workspace.join("ran").exists());
}

/// Word that a command is next leaves nothing behind, and nothing of it is open in the command.
#[tokio::test]
async fn no_pipe_is_left_open_or_behind() {
    let world = World::new();
    let Some(sandbox) = world.open(Backend::Bwrap).await else {
        return;
    };
    let (out, _) = heard(&*sandbox, shell("cd /proc/self/fd; echo *")).await;
    assert_eq!(out.trim_end(), "0 1 2 3", "3 is the directory itself");
    let names = fs::read_dir(world.data.join("session")).unwrap().flatten();
    let mut pipes = names.filter(|entry| entry.file_name().to_string_lossy().starts_with("ready"));
    assert!(pipes.next().is_none());
}

/// The loader of every program obeys this variable, also one that runs outside to build the sandbox.
#[rstest]
#[tokio::test]
async fn no_variable_of_a_command_reaches_a_program_outside(
    #[values(Backend::Local, Backend::Partial, Backend::Bwrap, Backend::Passthrough)]
    backend: Backend,
) {
    let world = World::new();
    let Some(sandbox) = world.open(backend).await else {
        return;
    };
    let outside = world.data.with_file_name("outside");
    fs::create_dir(&outside).unwrap();
    let mut command = shell("echo \"$LD_DEBUG\"");
    command.env = vec![
        ("LD_DEBUG".to_owned(), "files".to_owned()),
        (
            "LD_DEBUG_OUTPUT".to_owned(),
            outside.join("trace").display().to_string(),
        ),
    ];
    let (out, _) = heard(&*sandbox, command).await;
    assert!(out.contains("files"), "the command has it: {out}");
    let traces = fs::read_dir(&outside).unwrap().count();
    match backend {
        // The test is not blind.
        Backend::Passthrough => assert!(traces > 0),
        _ => assert_eq!(traces, 0),
    }
}

#[tokio::test]
async fn a_variable_that_no_shell_can_set_is_refused_and_not_dropped() {
    let world = World::new();
    let Some(sandbox) = world.open(Backend::Bwrap).await else {
        return;
    };
    let mut command = shell("touch ran");
    command.env = vec![("A.B".to_owned(), "x".to_owned())];
    let error = sandbox.spawn(command).await.unwrap_err();
    assert!(
        matches!(&error, SandboxError::Invalid(why) if why.contains("\"A.B\"")),
        "{error:?}"
    );
}

#[tokio::test]
async fn the_value_of_a_variable_is_whole_and_in_no_command_line() {
    let world = World::new();
    let Some(sandbox) = world.open(Backend::Bwrap).await else {
        return;
    };
    let secret = format!("a 'b'\n\"$c\" \\ {}-{}", "sentinel", std::process::id());
    let marker = format!("sentinel-{}", std::process::id());
    let mut command = shell("printf %s \"$TOKEN\"; : >up; until [ -e go ]; do sleep 0.01; done");
    command.env = vec![("TOKEN".to_owned(), secret.clone())];
    let job = sandbox.spawn(command).await.unwrap();
    while !world.workspace.join("up").exists() {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    assert_eq!(super::kit::alive(&marker), Vec::<u32>::new());
    fs::write(world.workspace.join("go"), "").unwrap();
    sandbox.wait(&job).await.unwrap();
    let all = sandbox.tail(&job, 1000).await.unwrap();
    let said: Vec<u8> = all
        .pieces
        .iter()
        .flat_map(|(_, bytes)| bytes.to_vec())
        .collect();
    assert_eq!(String::from_utf8(said).unwrap(), secret);
}

/// Made a second time, the link at `/etc/localtime` would be in its own way.
#[tokio::test]
async fn bwrap_shows_a_readable_tree_around_what_is_shown_anyway() {
    if !bwrap_is_there() {
        return;
    }
    let world = World::new();
    let session = world.session(Host {
        path: Some("/usr/bin:/bin".into()),
        ..Host::default()
    });
    let mut policy = world.policy(probe(&supervisor()).await.unwrap());
    policy.read = vec!["/etc".into()];
    let sandbox = bwrap::open(session, policy).await.unwrap();
    let job = sandbox
        .spawn(shell("readlink /etc/localtime || :; echo ran"))
        .await
        .unwrap();
    let exit = sandbox.wait(&job).await.unwrap();
    assert_eq!(exit.code, Some(0), "{exit:?}");
    let (out, err) = heard(&sandbox, shell("echo ran")).await;
    assert_eq!((out.as_str(), err.as_str()), ("ran\n", ""));
}

/// Each was told in the words of another failure: to install what is there, or that there is no such
/// directory.
#[tokio::test]
async fn what_is_there_and_not_to_be_used_was_told_as_absent() {
    let world = World::new();
    let program = world.workspace.join("bwrap");
    fs::write(&program, "").unwrap();
    let host = Host {
        path: Some(world.workspace.clone().into()),
        ..Host::default()
    };
    let policy = world.policy(probe(&supervisor()).await.unwrap());
    match bwrap::open(world.session(host), policy).await.err() {
        Some(SandboxError::Unavailable { reason, hint }) => {
            assert!(reason.contains("lies in the workspace"), "{reason}");
            assert!(!hint.unwrap().contains("install"));
        }
        other => panic!("{other:?}"),
    }
    let Some(sandbox) = world.open(Backend::Bwrap).await else {
        return;
    };
    for (workdir, words) in [
        ("/var", "not shown inside"),
        ("nowhere", "no such directory"),
    ] {
        let mut command = shell("true");
        command.workdir = workdir.to_owned();
        match sandbox.spawn(command).await {
            Err(SandboxError::Workdir(why)) => assert!(why.contains(words), "{why}"),
            other => panic!("{other:?}"),
        }
    }
}
