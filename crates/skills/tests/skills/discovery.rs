//! Where skills are found, and what is told of the rest.

use std::fs;
use std::path::Path;

use outfitter_core::NameSet;
use outfitter_skills::{Problem, Severity, SkillCatalog, limits};
use rstest::rstest;

use crate::world::{World, names, write};

const SHARED: &str = "name: shared\ndescription: From elsewhere.";

/// Ten shapes that people have on their disks, in one tree.
#[test]
fn a_tree_of_ten_shapes() {
    let world = World::new();
    world
        .plain(&["flat"])
        .skill("group/child", "name: child\ndescription: In a group.")
        .skill("outer", "name: outer\ndescription: Has another inside.")
        .skill(
            "outer/vendor/inner",
            "name: inner\ndescription: Belongs to outer.",
        )
        .skill(".hidden/secret", "name: secret\ndescription: Hidden.")
        .skill(
            "node_modules/package",
            "name: package\ndescription: Installed.",
        )
        .skill(
            "a/b/c/d/e/f/g",
            "name: too-deep\ndescription: On the seventh level.",
        )
        .skill(
            "h/i/j/k/l/m",
            "name: deep\ndescription: On the sixth level.",
        )
        .file("broken/SKILL.md", "no frontmatter")
        .file("empty/notes.txt", "no skill here");
    write(
        &world.beside("elsewhere/SKILL.md"),
        format!("---\n{SHARED}\n---\nBody.\n"),
    );
    world
        .link("linked", world.beside("elsewhere"))
        .link("group/linked", world.beside("elsewhere"))
        .link("loop", world.root())
        .link("group/up", "..")
        .link("nowhere", "gone");

    assert_eq!(world.names(), ["child", "deep", "flat", "outer", "shared"]);
    insta::assert_snapshot!(world.told(Severity::Note).join("\n"));
}

#[test]
fn links_that_go_round_end() {
    let world = World::new();
    world.plain(&["one"]);
    let ring = world.beside("ring");
    fs::create_dir_all(ring.join("in")).unwrap();
    std::os::unix::fs::symlink(&ring, ring.join("in/again")).unwrap();
    std::os::unix::fs::symlink(world.root(), ring.join("back")).unwrap();
    world
        .link("ring", &ring)
        .link("same", &ring)
        .link("self", "self");
    assert_eq!(world.names(), ["one"]);
    assert_eq!(
        world.told(Severity::Refused),
        [
            "link_broken self",
            "link_not_followed ring/back",
            "link_not_followed ring/in/again",
            "link_seen same"
        ]
    );
}

#[test]
fn a_root_may_be_a_skill_or_a_link() {
    let world = World::new();
    world
        .file("SKILL.md", "---\nname: alone\ndescription: d\n---\nB\n")
        .plain(&["inside"]);
    assert_eq!(world.names(), ["alone"]);
    let link = world.beside("link");
    std::os::unix::fs::symlink(world.root(), &link).unwrap();
    let catalog = SkillCatalog::new();
    catalog.add_skill_dir(&link);
    assert_eq!(names(&catalog.proxy(&NameSet::all())), ["alone"]);
}

#[test]
fn a_root_that_is_not_there_is_told() {
    let world = World::new();
    assert_eq!(world.told(Severity::Refused), ["root_missing "]);
    write(&world.root(), "a file");
    assert_eq!(world.told(Severity::Refused), ["root_missing "]);
}

#[rstest]
#[case(&["skill.md"], "skill.md")]
#[case(&["Skill.md", "SKILL.MD"], "SKILL.MD")]
#[case(&["skill.md", "SKILL.md"], "SKILL.md")]
fn the_file_may_be_written_otherwise(#[case] files: &[&str], #[case] taken: &str) {
    let world = World::new();
    for file in files {
        world.file(
            &format!("probe/{file}"),
            format!("---\nname: probe\ndescription: {file}\n---\nB\n"),
        );
    }
    let proxy = world.proxy();
    assert_eq!(proxy.get("probe").unwrap().file, taken);
    let told = world.told(Severity::Warning);
    assert_eq!(told.is_empty(), taken == "SKILL.md", "{told:?}");
}

#[test]
fn a_skill_file_that_leads_out_of_its_pack_is_refused() {
    let world = World::new();
    write(
        &world.beside("outside.md"),
        format!("---\n{SHARED}\n---\nSecret.\n"),
    );
    world
        .link("out/SKILL.md", world.beside("outside.md"))
        .link("up/SKILL.md", "../../outside.md")
        .file("in/real.md", "---\nname: in\ndescription: d\n---\nB\n")
        .link("in/SKILL.md", "real.md");
    fs::create_dir_all(world.root().join("directory/SKILL.md")).unwrap();
    assert_eq!(world.names(), ["in"]);
    assert_eq!(
        world.told(Severity::Refused),
        ["link_outside out/SKILL.md", "link_outside up/SKILL.md"]
    );
}

#[test]
fn a_pipe_is_no_skill_and_blocks_nobody() {
    let world = World::new();
    world.plain(&["flat"]);
    fs::create_dir_all(world.root().join("pipe")).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        world.root().join("pipe/SKILL.md"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
        0,
    )
    .unwrap();
    assert_eq!(world.names(), ["flat"]);
    assert_eq!(
        world.told(Severity::Refused),
        ["link_outside pipe/SKILL.md"]
    );
}

#[test]
fn one_bad_pack_never_stops_the_rest() {
    let world = World::new();
    world
        .plain(&["good"])
        .file("bytes/SKILL.md", b"---\nname: \xff\n---\n")
        .file("large/SKILL.md", "x".repeat(limits::MAX_FILE_BYTES + 1))
        .file("unclosed/SKILL.md", "---\nname: x\n")
        .skill("undescribed", "name: undescribed");
    assert_eq!(world.names(), ["good"]);
    assert_eq!(
        world.told(Severity::Refused),
        [
            "description_missing undescribed/SKILL.md",
            "file_too_large large/SKILL.md",
            "frontmatter_unclosed unclosed/SKILL.md",
            "not_utf8 bytes/SKILL.md",
        ]
    );
}

fn described(catalog: &SkillCatalog) -> Vec<String> {
    catalog
        .snapshot()
        .skills()
        .map(|skill| format!("{}: {}", skill.name(), skill.manifest.description))
        .collect()
}

fn duplicates(catalog: &SkillCatalog) -> Vec<String> {
    let snapshot = catalog.snapshot();
    let of_name = snapshot
        .diagnostics()
        .iter()
        .filter(|told| told.code == Problem::DuplicateName);
    of_name.map(|told| told.message.clone()).collect()
}

fn pack(directory: &Path, name: &str, description: &str) {
    write(
        &directory.join("SKILL.md"),
        format!("---\nname: {name}\ndescription: {description}\n---\nB\n"),
    );
}

#[test]
fn the_project_beats_the_person_and_both_paths_are_told() {
    let world = World::new();
    let (project, person) = (world.beside("project"), world.beside("person"));
    pack(&project.join("report"), "report", "the project's");
    pack(&person.join("report"), "report", "the person's");
    let catalog = SkillCatalog::new();
    catalog.add_skill_dir(&project);
    catalog.add_skill_dir(&person);
    assert_eq!(described(&catalog), ["report: the project's"]);
    let told = duplicates(&catalog);
    assert_eq!(told.len(), 1);
    for path in [
        project.join("report/SKILL.md"),
        person.join("report/SKILL.md"),
    ] {
        assert!(told[0].contains(path.to_str().unwrap()), "{told:?}");
    }
}

#[test]
fn within_a_root_the_nearer_then_the_first_counts() {
    let world = World::new();
    pack(&world.root().join("a/deep"), "report", "deeper");
    pack(&world.root().join("z"), "report", "nearer");
    pack(&world.root().join("m"), "other", "first");
    pack(&world.root().join("n"), "other", "second");
    let catalog = world.catalog();
    assert_eq!(described(&catalog), ["other: first", "report: nearer"]);
    assert_eq!(duplicates(&catalog).len(), 2);
}

#[test]
fn names_that_differ_by_case_are_one_too_many() {
    let world = World::new();
    pack(&world.root().join("a"), "Calendar", "first");
    pack(&world.root().join("b"), "calendar", "second");
    let catalog = world.catalog();
    assert_eq!(described(&catalog), ["Calendar: first"]);
    let told = duplicates(&catalog);
    assert!(told[0].contains("is called calendar like"), "{told:?}");
}

#[test]
fn diagnostics_are_bounded_and_say_how_many_there_were() {
    let world = World::new();
    for number in 0..limits::MAX_DIAGNOSTICS + 7 {
        fs::create_dir_all(world.root().join(format!(".hidden-{number}"))).unwrap();
    }
    let snapshot = world.catalog().snapshot();
    assert_eq!(snapshot.diagnostics().len(), limits::MAX_DIAGNOSTICS + 1);
    let last = snapshot.diagnostics().last().unwrap();
    assert_eq!(last.code, Problem::MoreDiagnostics);
    assert!(last.message.starts_with("7 more"), "{last}");
}

#[test]
fn a_strict_verdict_is_kept_with_the_skill() {
    let world = World::new();
    world
        .plain(&["strict"])
        .skill("lenient", "name: Lenient\ndescription: d\nauthor: me");
    let proxy = world.proxy();
    assert!(proxy.get("strict").unwrap().is_strictly_valid());
    let lenient = proxy.get("Lenient").unwrap();
    assert!(!lenient.is_strictly_valid());
    let codes: Vec<&str> = lenient
        .findings
        .iter()
        .map(|finding| finding.code.as_str())
        .collect();
    assert_eq!(
        codes,
        ["unknown_key", "name_characters", "name_not_directory"]
    );
}

#[expect(clippy::disallowed_methods, reason = "a tree that this test has made")]
#[test]
fn a_reload_sees_what_has_changed() {
    let world = World::new();
    world.plain(&["one"]);
    let catalog = world.catalog();
    let before = catalog.snapshot();
    world.plain(&["two"]);
    fs::remove_dir_all(world.root().join("one")).unwrap();
    let after = catalog.reload();
    assert!(after.get("two").is_some() && after.get("one").is_none());
    assert!(before.get("one").is_some(), "a session keeps what it has");
    assert!(after.generation() > before.generation());
}
