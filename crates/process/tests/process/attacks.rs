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
        say("SKIPPED(not-root): /etc/shadow is unreadable for anyone but root anyway");
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

/// What outside programs run by, in the workspace of a command: it could be told what to run there.
#[rstest]
#[case::overwrite("echo x > tool.toml")]
#[case::append("echo x >> tool.toml")]
#[case::truncate("truncate -s 0 tool.toml")]
#[case::remove("rm -f tool.toml")]
#[case::move_away("mv tool.toml other")]
#[case::move_over("echo x > new; mv -f new tool.toml")]
#[case::exchange("echo x > new; mv --exchange new tool.toml")]
#[case::through_a_link("ln -s tool.toml l; echo x > l")]
#[case::through_a_hard_link("ln tool.toml l && echo x > l")]
#[case::through_own_root("echo x > /proc/self/root$PWD/tool.toml")]
#[case::mode("chmod 777 tool.toml")]
#[case::time("touch tool.toml")]
#[case::in_a_directory("echo x > .tool/sub/rules")]
#[case::new_in_a_directory("echo x > .tool/sub/new")]
#[case::the_directory("mv .tool other")]
#[case::all_of_the_directory("rm -rf .tool")]
#[case::deep("echo x > deep/er/tool.toml")]
#[case::a_parent("mv deep other")]
#[case::a_nearer_parent("mv deep/er other")]
#[case::all_of_it("rm -rf ./* ./.tool")]
fn what_is_fixed_in_the_workspace_stays_as_it_is(
    #[case] script: &str,
    #[values(Identity::Ourselves, Identity::Nobody)] identity: Identity,
) {
    let Some(place) = Place::new(identity) else {
        return;
    };
    let at = |name: &str| place.workspace.join(name);
    let fixed = ["tool.toml", ".tool/sub/rules", "deep/er/tool.toml"];
    for directory in [".tool", ".tool/sub", "deep", "deep/er"] {
        place.directory(&at(directory));
    }
    for name in fixed {
        place.file(&at(name), "mine\n");
    }
    let mut command = place.confined("full");
    for name in ["tool.toml", ".tool", "deep/er/tool.toml", "not-there"] {
        command.arg("--fixed").arg(at(name));
    }
    let got = finish(command.args(["--", "/bin/sh", "-c", script]));
    assert!(got.last.starts_with("code="), "did not run: {got:?}");
    assert!(!got.command_succeeded(), "got through: {got:?}");
    for name in fixed {
        let meta = fs::symlink_metadata(at(name)).unwrap();
        assert_eq!(meta.mode() & 0o777, 0o644, "{name}");
        assert_eq!(fs::read_to_string(at(name)).unwrap(), "mine\n", "{name}");
    }
    assert!(!at(".tool/sub/new").exists());
    let control = finish(place.confined("full").args(["--", "/bin/sh", "-c", script]));
    let known = !control.stderr.contains("unrecognized option");
    assert!(
        control.command_succeeded() || !known,
        "the attack itself is broken: {control:?}"
    );
}

#[rstest]
fn what_is_fixed_is_read_and_its_neighbours_are_written(
    #[values(Identity::Ourselves, Identity::Nobody)] identity: Identity,
) {
    let Some(place) = Place::new(identity) else {
        return;
    };
    let at = |name: &str| place.workspace.join(name);
    place.directory(&at("deep"));
    place.file(&at("deep/tool.toml"), "mine\n");
    let mut command = place.confined("full");
    command.arg("--fixed").arg(at("deep/tool.toml"));
    let reading = "cat deep/tool.toml; echo x > deep/new && cat deep/new";
    let got = finish(command.args(["--", "/bin/sh", "-c", reading]));
    assert_eq!(got.stdout, "mine\nx\n", "{got:?}");
}

/// A link that a command left where the next one fixes something.
#[rstest]
#[case::to_the_workspace(".")]
#[case::to_a_secret("/etc/shadow")]
#[case::to_the_machine("/")]
#[case::to_nothing("nowhere")]
#[case::in_a_circle("tool.toml")]
fn a_planted_link_at_what_is_fixed_stops_nothing_and_opens_nothing(
    #[case] target: &str,
    #[values(Identity::Ourselves, Identity::Nobody)] identity: Identity,
) {
    let Some(place) = Place::new(identity) else {
        return;
    };
    std::os::unix::fs::symlink(target, place.workspace.join("tool.toml")).unwrap();
    let mut command = place.confined("full");
    command
        .arg("--fixed")
        .arg(place.workspace.join("tool.toml"));
    let script = "echo ran > seen; cat seen; cat tool.toml/etc/shadow tool.toml";
    let got = finish(command.args(["--", "/bin/sh", "-c", script]));
    assert_eq!(got.stdout, "ran\n", "{got:?}");
}
