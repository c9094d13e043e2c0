//! What a child starts with, and what is said when it cannot start.

use std::path::{Path, PathBuf};

use outfitter_process::{
    ChildSpec, Confined, Confinement, Level, Network, SpawnError, Spawned, Stage,
    SupervisorProgram, probe, spawn,
};
use rstest::rstest;

use crate::kit::{
    Identity, Place, TESTKIT, behind, finish, plain, say, we_are_root, with_files_left_open,
};
use crate::output::shell;

fn program() -> SupervisorProgram {
    SupervisorProgram::at(TESTKIT)
}

fn confined(write: &[&Path]) -> Confinement {
    Confinement::Confined(Confined {
        level: Level::Partial,
        network: Network::Off,
        write: write.iter().map(PathBuf::from).collect(),
        read: vec!["/usr".into()],
        fixed: Vec::new(),
        hide: Vec::new(),
        private: Vec::new(),
        blank: Vec::new(),
    })
}

async fn text_of(spec: ChildSpec) -> String {
    let Spawned {
        mut child,
        mut output,
        ..
    } = spawn(&program(), spec).await.unwrap();
    let mut text = Vec::new();
    while let Some((_, bytes)) = output.next().await.unwrap() {
        text.extend_from_slice(&bytes);
    }
    child.wait().await.unwrap();
    String::from_utf8(text).unwrap()
}

#[rstest]
fn a_child_starts_with_what_it_was_given_and_nothing_else(
    #[values(Identity::Ourselves, Identity::Nobody)] identity: Identity,
    #[values("full", "partial", "unconfined")] level: &str,
) {
    let Some(place) = Place::new(identity) else {
        return;
    };
    let mut command = match level {
        "unconfined" => place.unconfined(),
        level => place.confined(level),
    };
    // Our own environment holds something it must not see.
    command
        .env("SENTINEL", "must-not-be-inherited")
        .args(["--env", "GIVEN=yes"]);
    let script = "env | grep -vE '^(PWD|OLDPWD|_|SHLVL)='; pwd; umask; read x; echo read=$?; cut -d' ' -f1,6 /proc/self/stat | { read pid session; [ $session = $$ ] && echo session; }; \
        grep -E '^Sig(Blk|Ign):' /proc/self/status; (: < /dev/tty) 2>/dev/null || echo no terminal; ulimit -c";
    let got = finish(command.args(["--", "/bin/sh", "-c", script]));
    let expected = format!(
        "PATH=/usr/bin:/bin\nGIVEN=yes\n{}\n0022\nread=1\nsession\nSigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\nno terminal\n0\n",
        place.workspace.display()
    );
    assert_eq!(got.stdout, expected, "{got:?}");
}

#[rstest]
fn what_we_have_open_is_not_open_in_a_child(
    #[values(Identity::Ourselves, Identity::Nobody)] identity: Identity,
    #[values("full", "partial", "unconfined")] level: &str,
) {
    let Some(place) = Place::new(identity) else {
        return;
    };
    let mut command = match level {
        "unconfined" => place.unconfined(),
        level => place.confined(level),
    };
    // The last is the directory that is read for it.
    let list = ["ls", "/proc/self/fd"];
    let got = finish(&mut with_files_left_open(command.arg("--").args(list)));
    assert_eq!(got.stdout, "0\n1\n2\n3\n", "{got:?}");
    // Without us they are there: the test is not blind.
    let control = finish(&mut with_files_left_open(&plain(&list)));
    let there: Vec<&str> = control.stdout.lines().collect();
    assert!(there.contains(&"7") && there.contains(&"9"), "{control:?}");
}

#[tokio::test]
async fn secrets_are_in_no_command_line_and_not_in_the_supervisor() {
    let secret = format!("secret-{}-sentinel", std::process::id());
    let mut spec = shell("echo up; read x; sleep 1000", Path::new("/"));
    spec.env.push(("TOKEN".into(), secret.clone().into()));
    spec.argv = ["/bin/sh", "-c", "echo $TOKEN; exec sleep 1000"]
        .map(Into::into)
        .to_vec();
    let Spawned {
        mut child,
        mut output,
        ..
    } = spawn(&program(), spec).await.unwrap();
    assert_eq!(
        output.next().await.unwrap().unwrap().1,
        format!("{secret}\n")
    );
    assert_eq!(crate::kit::alive(&secret), Vec::<u32>::new());
    let supervisor = child.supervisor_id();
    let environ = std::fs::read(format!("/proc/{supervisor}/environ"));
    // Unreadable for the same user, empty for root.
    assert!(environ.as_ref().map_or(true, Vec::is_empty), "{environ:?}");
    child.kill(std::time::Duration::ZERO).await.unwrap();
}

#[tokio::test]
async fn a_bare_name_is_found_on_the_given_path_only() {
    let mut spec = shell("", Path::new("/"));
    spec.argv = vec!["echo".into(), "found".into()];
    assert_eq!(text_of(spec.clone()).await, "found\n");
    spec.env = vec![("PATH".into(), "/nowhere".into())];
    let error = spawn(&program(), spec).await.unwrap_err();
    assert!(
        matches!(
            error,
            SpawnError::Setup {
                stage: Stage::Execute,
                ..
            }
        ),
        "{error:?}"
    );
}

#[tokio::test]
async fn a_missing_working_directory_is_told_apart() {
    let dir = tempfile::tempdir().unwrap();
    let spec = shell("true", &dir.path().join("gone"));
    let error = spawn(&program(), spec).await.unwrap_err();
    assert!(
        matches!(
            error,
            SpawnError::Setup {
                stage: Stage::WorkingDirectory,
                ..
            }
        ),
        "{error:?}"
    );
}

#[tokio::test]
async fn a_program_that_is_no_supervisor_is_named_as_such() {
    let spec = shell("true", Path::new("/"));
    let error = spawn(&SupervisorProgram::at("/bin/true"), spec.clone())
        .await
        .unwrap_err();
    assert!(matches!(error, SpawnError::NotASupervisor), "{error:?}");
    let error = spawn(&SupervisorProgram::at("/nowhere"), spec)
        .await
        .unwrap_err();
    assert!(matches!(error, SpawnError::Io { .. }), "{error:?}");
}

#[rstest]
#[case::no_program(|spec: &mut ChildSpec| spec.argv.clear())]
#[case::empty_program(|spec: &mut ChildSpec| spec.argv = vec!["".into()])]
#[case::zero_in_argument(|spec: &mut ChildSpec| spec.argv.push("a\0b".into()))]
#[case::name_with_equals(|spec: &mut ChildSpec| spec.env.push(("A=B".into(), "".into())))]
#[case::zero_in_value(|spec: &mut ChildSpec| spec.env.push(("A".into(), "\0".into())))]
#[case::relative_directory(|spec: &mut ChildSpec| spec.cwd = "here".into())]
#[case::relative_root(|spec: &mut ChildSpec| spec.confinement = confined(&[Path::new("here")]))]
#[tokio::test]
async fn an_impossible_specification_starts_nothing(#[case] spoil: fn(&mut ChildSpec)) {
    let mut spec = shell("true", Path::new("/"));
    spoil(&mut spec);
    let error = spawn(&program(), spec).await.unwrap_err();
    assert!(matches!(error, SpawnError::Invalid(_)), "{error:?}");
}

#[rstest]
#[case::missing("/nowhere/at/all")]
#[case::everything("/")]
#[tokio::test]
async fn a_writable_root_that_cannot_be_is_refused(#[case] root: &str) {
    let mut spec = shell("true", Path::new("/"));
    spec.confinement = confined(&[Path::new(root)]);
    let error = spawn(&program(), spec).await.unwrap_err();
    assert!(
        matches!(
            error,
            SpawnError::Setup {
                stage: Stage::Roots,
                ..
            }
        ),
        "{error:?}"
    );
}

#[tokio::test]
async fn a_program_outside_the_roots_is_not_executed() {
    let dir = tempfile::tempdir().unwrap();
    let mut spec = shell("true", dir.path());
    spec.confinement = confined(&[dir.path()]);
    let elsewhere = tempfile::Builder::new().tempdir_in("/var/tmp").unwrap();
    let script = elsewhere.path().join("script");
    std::fs::copy("/bin/true", &script).unwrap();
    spec.argv = vec![script.into()];
    let error = spawn(&program(), spec).await.unwrap_err();
    assert!(
        matches!(
            error,
            SpawnError::Setup {
                stage: Stage::Execute,
                ..
            }
        ),
        "{error:?}"
    );
}

#[tokio::test]
async fn what_the_probe_promises_can_be_had_and_required() {
    let support = probe(&program()).await.unwrap();
    assert!(support.require(support.level).is_ok());
    assert_eq!(
        support.level == Level::Full,
        support.reasons.is_empty(),
        "{support:?}"
    );
    if support.level < Level::Full {
        let refusal = support.require(Level::Full).unwrap_err().to_string();
        assert!(refusal.contains(&support.reasons[0]), "{refusal}");
    }
}

/// On another system the compiler says so, in one sentence, before anything else can be wrong.
#[test]
fn other_systems_are_refused_in_a_sentence() {
    let opening = include_str!("../../src/lib.rs");
    assert!(opening.contains("\nmod system;\n"), "nothing refuses them");
    let source = include_str!("../../src/system.rs");
    let refusal =
        "#[cfg(not(target_os = \"linux\"))]\ncompile_error!(\n    \"Outfitter runs on Linux: ";
    assert!(source.contains(refusal), "{source}");
}

/// They were left as they were, and nothing was said.
#[tokio::test]
async fn more_local_sockets_than_are_covered_are_told() {
    let place = Place::new(Identity::Ourselves).unwrap();
    let support = probe(&program()).await.unwrap();
    if support.level < Level::Full || !we_are_root() {
        say("SKIPPED(namespace): there is no network here that nobody else listens in");
        return;
    }
    let told = |sockets: bool| {
        let mut confined = place.confined("full");
        confined.args(["--network", "on"]);
        if sockets {
            confined.arg("--listen-often").arg(&place.outside);
        }
        confined.args(["--", "/bin/sh", "-c", "echo runs"]);
        let got = finish(&mut behind(&["unshare", "--net"], &confined));
        assert_eq!(got.stdout, "runs\n", "{got:?}");
        let note = got.stderr.lines().find(|line| line.contains("sockets"));
        note.map(ToOwned::to_owned)
    };
    assert_eq!(told(false), None);
    // A younger kernel holds all of them.
    let expected = (support.landlock_abi < 9).then_some(
        "6 local sockets of this machine were not covered, because more than 1024 listen here: the \
         command could connect to those that it may write to",
    );
    assert_eq!(told(true).as_deref(), expected);
}
