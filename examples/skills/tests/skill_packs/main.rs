//! The packs as they are, and as a program carries them.

use std::path::Path;

use outfitter_core::NameSet;
use outfitter_skills::{SkillCatalog, SkillProxy, limits};
use skill_packs::{FILES, show, write_packs};

#[test]
fn the_packs_are_shown_as_a_model_is_told_of_them() {
    let root = tempfile::tempdir().unwrap();
    write_packs(root.path()).unwrap();
    insta::assert_snapshot!(show(root.path(), "帮我写一份报告"));
}

#[test]
fn the_program_carries_every_file_of_the_packs() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("packs");
    let catalog = SkillCatalog::new();
    let snapshot = catalog.add_skill_dir(&root);
    let mut files: Vec<String> = snapshot
        .skills()
        .flat_map(|skill| {
            let files = skill.pack.files().unwrap();
            files
                .paths
                .into_iter()
                .map(|path| format!("{}/{path}", skill.name()))
        })
        .collect();
    files.sort();
    let carried: Vec<&str> = FILES.iter().map(|(path, _)| *path).collect();
    assert_eq!(files, carried);
}

#[test]
fn the_report_brings_what_it_is_built_on() {
    let root = tempfile::tempdir().unwrap();
    write_packs(root.path()).unwrap();
    let catalog = SkillCatalog::new();
    catalog.add_skill_dir(root.path());
    let preloaded =
        SkillProxy::new(&catalog, &NameSet::all()).preload(["report"], limits::PRELOAD_TOKENS);
    let names: Vec<String> = preloaded.skills.iter().map(ToString::to_string).collect();
    assert_eq!(names, ["citations", "report"]);
}
