//! What a command must not be able to do to files, as root and as nobody. Each attack is first shown to work
//! without the sandbox, where it can: a refusal that has another reason proves nothing.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rstest::rstest;

use crate::kit::{Identity, Place, finish, say, we_are_root};

/// All that an attack on a file could change.
fn fingerprint(dir: &Path) -> Vec<String> {
    let mut seen: Vec<String> = fs::read_dir(dir)
        .unwrap()
        .flatten()
        .map(|entry| entry.path())
        .chain([dir.to_owned()])
        .map(|path| {
            let meta = path.symlink_metadata().unwrap();
            format!(
                "{} mode={:o} owner={}:{} links={} modified={}.{} changed={}.{} {:?}",
                path.display(),
                meta.mode(),
                meta.uid(),
                meta.gid(),
                meta.nlink(),
                meta.mtime(),
                meta.mtime_nsec(),
                meta.ctime(),
                meta.ctime_nsec(),
                meta.is_file().then(|| fs::read(&path).ok())
            )
        })
        .collect();
    seen.sort();
    seen
}

fn shell(script: &str, place: &Place) -> Vec<String> {
    let script = script.replace("OUTSIDE", place.outside.to_str().unwrap());
    ["--", "/bin/sh", "-c"]
        .into_iter()
        .map(str::to_owned)
        .chain([script])
        .collect()
}

/// Changes outside the workspace: none at `full`; at `partial` none to contents and names.
#[rstest]
#[case::overwrite("echo x > OUTSIDE/victim")]
#[case::append("echo x >> OUTSIDE/victim")]
#[case::truncate("truncate -s 0 OUTSIDE/victim")]
#[case::create("echo x > OUTSIDE/new")]
#[case::make_directory("mkdir OUTSIDE/new")]
#[case::make_fifo("mkfifo OUTSIDE/new")]
#[case::make_link("ln -s /etc OUTSIDE/new")]
#[case::remove("rm OUTSIDE/victim")]
#[case::rename("mv OUTSIDE/victim OUTSIDE/moved")]
#[case::move_away("mv OUTSIDE/victim stolen")]
#[case::hard_link_in("ln OUTSIDE/victim stolen && echo x >> stolen")]
#[case::hard_link_there("ln OUTSIDE/victim OUTSIDE/second")]
#[case::through_own_link("ln -s OUTSIDE trap && echo x > trap/victim")]
#[case::through_own_root("echo x > /proc/self/root/OUTSIDE/victim")]
#[case::through_own_directory("cd OUTSIDE && echo x > /proc/self/cwd/victim")]
fn contents_outside_the_workspace_stay(
    #[case] script: &str,
    #[values(Identity::Ourselves, Identity::Nobody)] identity: Identity,
    #[values("full", "partial")] level: &str,
) {
    let Some(place) = Place::new(identity) else {
        return;
    };
    let before = fingerprint(&place.outside);
    let got = finish(place.confined(level).args(shell(script, &place)));
    assert!(got.last.starts_with("code="), "did not run: {got:?}");
    assert!(!got.command_succeeded(), "got through: {got:?}");
    assert_eq!(fingerprint(&place.outside), before);

    let control = finish(place.unconfined().args(shell(script, &place)));
    assert!(
        control.command_succeeded(),
        "the attack itself is broken: {control:?}"
    );
    assert_ne!(fingerprint(&place.outside), before);
}

/// What Landlock alone leaves open, and a read-only mount does not.
#[rstest]
#[case::mode("chmod 0777 OUTSIDE/victim")]
#[case::directory_mode("chmod 0777 OUTSIDE")]
#[case::times("touch -d 2001-01-01 OUTSIDE/victim")]
#[case::owner("chown $(id -u):$(id -g) OUTSIDE/victim && chmod 0600 OUTSIDE/victim")]
#[case::mode_through_own_root("chmod 0777 /proc/self/root/OUTSIDE/victim")]
fn attributes_outside_the_workspace_stay(
    #[case] script: &str,
    #[values(Identity::Ourselves, Identity::Nobody)] identity: Identity,
) {
    let Some(place) = Place::new(identity) else {
        return;
    };
    let before = fingerprint(&place.outside);
    let got = finish(place.confined("full").args(shell(script, &place)));
    assert!(got.last.starts_with("code="), "did not run: {got:?}");
    assert!(!got.command_succeeded(), "got through: {got:?}");
    assert_eq!(fingerprint(&place.outside), before);

    let control = finish(place.unconfined().args(shell(script, &place)));
    assert!(
        control.command_succeeded(),
        "the attack itself is broken: {control:?}"
    );
    assert_ne!(fingerprint(&place.outside), before);
}

#[rstest]
#[case::file("cat OUTSIDE/victim")]
#[case::listing("ls OUTSIDE")]
#[case::through_own_root("cat /proc/self/root/OUTSIDE/victim")]
#[case::through_own_link("ln -s OUTSIDE/victim trap && cat trap")]
fn contents_outside_the_roots_are_unreadable(
    #[case] script: &str,
    #[values(Identity::Ourselves, Identity::Nobody)] identity: Identity,
    #[values("full", "partial")] level: &str,
) {
    let Some(place) = Place::new(identity) else {
        return;
    };
    let got = finish(place.confined(level).args(shell(script, &place)));
    assert!(!got.command_succeeded(), "got through: {got:?}");
    assert!(
        !got.stdout.contains("precious") && !got.stdout.contains("victim"),
        "{got:?}"
    );
    fs::remove_file(place.workspace.join("trap")).ok();
    let control = finish(place.unconfined().args(shell(script, &place)));
    assert!(
        control.command_succeeded(),
        "the attack itself is broken: {control:?}"
    );
}

#[rstest]
fn the_shadow_file_is_unreadable_even_for_root(#[values("full", "partial")] level: &str) {
    if !we_are_root() {
        say("skipped: /etc/shadow is unreadable for anyone but root anyway");
        return;
    }
    let place = Place::new(Identity::Ourselves).unwrap();
    let script = "cat /etc/shadow";
    let control = finish(place.unconfined().args(shell(script, &place)));
    assert!(control.stdout.contains("root:"), "{control:?}");
    // Also when all of /etc but this was meant to be readable.
    for extra in [vec![], vec!["--read", "/etc", "--hide", "/etc/shadow"]] {
        let got = finish(
            place
                .confined(level)
                .args(extra)
                .args(shell(script, &place)),
        );
        assert!(!got.stdout.contains("root:"), "{got:?}");
    }
}

#[rstest]
fn hidden_paths_are_covered_inside_a_root(
    #[values(Identity::Ourselves, Identity::Nobody)] identity: Identity,
) {
    let Some(place) = Place::new(identity) else {
        return;
    };
    let keys = place.workspace.join(".ssh");
    place.directory(&keys);
    place.file(&keys.join("id"), "precious\n");
    let netrc = place.workspace.join(".netrc");
    place.file(&netrc, "precious\n");
    place.file(&place.workspace.join("open"), "public\n");

    let script = "cat open .netrc .ssh/id; ls .ssh; mv .ssh moved; rm -rf .ssh .netrc; cat .netrc; umount .ssh";
    let mut command = place.confined("full");
    command.arg("--hide").arg(&keys).arg("--hide").arg(&netrc);
    let got = finish(command.args(shell(script, &place)));
    assert!(got.stdout.contains("public"), "{got:?}");
    assert!(!got.stdout.contains("precious"), "{got:?}");
    assert_eq!(fs::read_to_string(keys.join("id")).unwrap(), "precious\n");
    assert_eq!(fs::read_to_string(&netrc).unwrap(), "precious\n");
}

/// Two commands of one session: the first rearranges, the second reads.
#[rstest]
fn what_is_hidden_cannot_be_moved_out_of_the_way(
    #[values(Identity::Ourselves, Identity::Nobody)] identity: Identity,
) {
    let Some(place) = Place::new(identity) else {
        return;
    };
    let config = place.workspace.join(".config");
    let hub = config.join("gh");
    for path in [&config, &hub] {
        place.directory(path);
    }
    place.file(&hub.join("hosts.yml"), "precious\n");
    let run = |script: &str| {
        let mut command = place.confined("full");
        command.arg("--hide").arg(hub.join("hosts.yml"));
        finish(command.args(shell(script, &place)))
    };
    let moved = run(
        "mv .config away || mv .config/gh .config/away || mv .config/gh/hosts.yml x; echo done",
    );
    assert_eq!(moved.stdout, "done\n", "{moved:?}");
    let got = run(
        "grep -r precious . ; ln .config/gh/hosts.yml x; echo y > .config/new && cat .config/new",
    );
    assert_eq!(got.stdout, "y\n", "{got:?}");
    assert_eq!(
        fs::read_to_string(hub.join("hosts.yml")).unwrap(),
        "precious\n"
    );
}

/// A readable root in the workspace is replaced by a link to something else.
#[rstest]
fn a_root_replaced_by_a_link_opens_nothing(
    #[values(Identity::Ourselves, Identity::Nobody)] identity: Identity,
    #[values("full", "partial")] level: &str,
) {
    let Some(place) = Place::new(identity) else {
        return;
    };
    let tools = place.workspace.join("tools");
    place.directory(&tools);
    let run = |script: &str| {
        let mut command = place.confined(level);
        command.arg("--read").arg(&tools);
        finish(command.args(shell(script, &place)))
    };
    let planted = run("rmdir tools && ln -s OUTSIDE tools && echo planted");
    assert_eq!(planted.stdout, "planted\n", "{planted:?}");
    let got = run("cat tools/victim; cat OUTSIDE/victim; echo done");
    assert_eq!(got.stdout, "done\n", "{got:?}");
}

#[rstest]
fn a_private_tree_in_the_workspace_is_covered_but_for_the_root_in_it(
    #[values(Identity::Ourselves, Identity::Nobody)] identity: Identity,
) {
    let Some(place) = Place::new(identity) else {
        return;
    };
    let data = place.workspace.join("data");
    let scratch = data.join("scratch");
    place.directory(&data);
    place.directory(&scratch);
    place.file(&data.join("database"), "precious\n");
    let script = "cat data/database; ls data; echo x > data/scratch/kept && echo x > data/new";
    let mut command = place.confined("full");
    command
        .arg("--private")
        .arg(&data)
        .arg("--write")
        .arg(&scratch);
    let got = finish(command.args(shell(script, &place)));
    assert_eq!(got.stdout, "scratch\n", "{got:?}");
    assert!(!got.command_succeeded(), "{got:?}");
    assert_eq!(fs::read_to_string(scratch.join("kept")).unwrap(), "x\n");
    assert!(!data.join("new").exists());
    assert_eq!(
        fs::read_to_string(data.join("database")).unwrap(),
        "precious\n"
    );
}

#[rstest]
fn a_blank_file_outside_the_roots_reads_as_empty(
    #[values(Identity::Ourselves, Identity::Nobody)] identity: Identity,
) {
    let Some(place) = Place::new(identity) else {
        return;
    };
    let script = "cat OUTSIDE/victim && echo read";
    let mut command = place.confined("full");
    command.arg("--blank").arg(place.outside.join("victim"));
    let got = finish(command.args(shell(script, &place)));
    assert_eq!(got.stdout, "read\n", "{got:?}");
}

#[rstest]
fn at_partial_a_hidden_path_in_a_readable_root_is_left_out_and_in_a_writable_one_refused(
    #[values(Identity::Ourselves, Identity::Nobody)] identity: Identity,
) {
    let Some(place) = Place::new(identity) else {
        return;
    };
    let secret = place.outside.join("secret");
    place.directory(&secret);
    place.file(&secret.join("key"), "precious\n");
    let script = "cat OUTSIDE/victim; cat OUTSIDE/secret/key";
    let mut command = place.confined("partial");
    command
        .arg("--read")
        .arg(&place.outside)
        .arg("--hide")
        .arg(&secret);
    let got = finish(command.args(shell(script, &place)));
    assert_eq!(got.stdout, "precious\n", "only the victim's: {got:?}");
    assert!(!got.command_succeeded(), "{got:?}");

    let mut command = place.confined("partial");
    command
        .arg("--write")
        .arg(&place.outside)
        .arg("--hide")
        .arg(&secret);
    let got = finish(command.args(shell(script, &place)));
    assert!(
        !got.success && got.last.contains("only a mount namespace can hide it"),
        "{got:?}"
    );
}
