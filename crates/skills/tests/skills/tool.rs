//! `load_skill` as a model calls it.

use std::fs;

use outfitter_core::{Code, NameSet, Tool, ToolContext};
use outfitter_skills::{LoadSkill, limits};
use rstest::rstest;
use serde_json::{Value, json};

use crate::world::{Has, World, load, write};

fn packs() -> World {
    let world = World::new();
    world
        .skill(
            "report",
            "name: report\ndescription: d\nversion: 1.10\ntools: web_search",
        )
        .plain(&["citations"])
        .file("report/references/style.md", "Short sentences.\n")
        .file("report/logo.png", [0x89, b'P', b'N', b'G', 0xff])
        .file("report/large.txt", "x".repeat(limits::MAX_FILE_BYTES + 1))
        .file("report/.env", "SECRET=1")
        .link("report/inside", "references/style.md")
        .link("report/outside", world.beside("secret.txt"))
        .link("report/etc", "/etc");
    write(&world.beside("secret.txt"), "secret");
    world
}

#[tokio::test]
async fn a_skill_is_given_with_all_of_its_parts() {
    let world = packs();
    let result = load(
        &world.catalog(),
        Has::everything(),
        json!({ "skill_name": "report" }),
    )
    .await
    .unwrap();
    insta::assert_json_snapshot!(result);
    fits_the_schema(&result);
}

#[rstest]
#[case("references/style.md", json!({"content": "Short sentences.\n", "size": 17}))]
#[case("./references/style.md", json!({"content": "Short sentences.\n", "size": 17}))]
#[case("inside", json!({"content": "Short sentences.\n", "size": 17}))]
#[case("logo.png", json!({"binary": true, "size": 5}))]
#[tokio::test]
async fn a_file_of_a_pack_is_given(#[case] path: &str, #[case] expected: Value) {
    let args = json!({ "skill_name": "report", "path": path });
    let result = load(&packs().catalog(), Has::everything(), args)
        .await
        .unwrap();
    for (key, value) in expected.as_object().unwrap() {
        assert_eq!(result[key], *value);
    }
    assert!(result.get("instructions").is_none());
    fits_the_schema(&result);
}

#[rstest]
#[case("/etc/passwd", Code::InvalidArguments)]
#[case("../citations/SKILL.md", Code::InvalidArguments)]
#[case("references/../../citations/SKILL.md", Code::InvalidArguments)]
#[case("..", Code::InvalidArguments)]
#[case("outside", Code::InvalidArguments)]
#[case("etc/passwd", Code::InvalidArguments)]
#[case(".env", Code::InvalidArguments)]
#[case("references/.", Code::InvalidArguments)]
#[case("references", Code::InvalidArguments)]
#[case("", Code::NotFound)]
#[case("nul\0", Code::NotFound)]
#[case("references/styel.md", Code::NotFound)]
#[case("large.txt", Code::TooLarge)]
#[tokio::test]
async fn nothing_outside_of_a_pack_can_be_named(#[case] path: &str, #[case] code: Code) {
    let args = json!({ "skill_name": "report", "path": path });
    let error = load(&packs().catalog(), Has::everything(), args)
        .await
        .unwrap_err();
    assert_eq!(error.code(), code, "{error}");
    assert!(!error.to_string().contains("secret.txt"), "{error}");
}

#[tokio::test]
async fn a_mistyped_name_is_answered_with_what_was_meant() {
    let catalog = packs().catalog();
    let error = load(
        &catalog,
        Has::everything(),
        json!({ "skill_name": "reprot" }),
    )
    .await
    .unwrap_err();
    assert_eq!(error.code(), Code::NotFound);
    assert_eq!(
        error.info().message,
        "there is no skill \"reprot\" in this session"
    );
    assert_eq!(error.info().hint.as_deref(), Some("perhaps report"));
    let args = json!({ "skill_name": "report", "path": "references/styel.md" });
    let world = packs();
    let error = load(&world.catalog(), Has::everything(), args)
        .await
        .unwrap_err();
    assert_eq!(
        error.info().hint.as_deref(),
        Some("perhaps references/style.md")
    );
}

/// Whether a skill is there, not granted, or kept from models: the answer is the same.
#[tokio::test]
async fn a_skill_of_another_session_is_as_if_it_were_not_there() {
    let world = packs();
    world.skill(
        "private",
        "name: private\ndescription: d\ndisable-model-invocation: true",
    );
    let mut answers = Vec::new();
    for name in ["citations", "private", "nothings"] {
        let has = Has {
            skills: NameSet::of(["report", "private"]),
            tools: vec![],
        };
        let error = load(&world.catalog(), has, json!({ "skill_name": name }))
            .await
            .unwrap_err();
        answers.push((
            error.code(),
            error.to_string().replace(name, "NAME"),
            error.info().hint.clone(),
        ));
    }
    assert_eq!(answers[0], answers[2]);
    assert_eq!(answers[1], answers[2]);
}

#[tokio::test]
async fn without_a_session_there_are_no_skills() {
    let tool = LoadSkill::new(packs().catalog());
    let error = tool
        .call(&ToolContext::detached(), json!({ "skill_name": "report" }))
        .await
        .unwrap_err();
    assert_eq!(error.code(), Code::Unavailable);
}

#[expect(clippy::disallowed_methods, reason = "a tree that this test has made")]
#[tokio::test]
async fn a_pack_that_is_gone_is_an_error_that_says_so() {
    let world = packs();
    let catalog = world.catalog();
    fs::remove_dir_all(world.root().join("report")).unwrap();
    let error = load(
        &catalog,
        Has::everything(),
        json!({ "skill_name": "report" }),
    )
    .await
    .unwrap_err();
    assert_eq!(error.code(), Code::NotFound);
}

fn fits_the_schema(result: &Value) {
    let tool = LoadSkill::new(World::new().catalog());
    let schema = tool.spec().output_schema.clone().unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let faults: Vec<String> = validator
        .iter_errors(result)
        .map(|error| error.to_string())
        .collect();
    assert_eq!(faults, Vec::<String>::new());
}

#[test]
fn the_spec_is_as_it_was() {
    let tool = LoadSkill::new(World::new().catalog());
    let spec = tool.spec();
    insta::assert_json_snapshot!(json!({
        "name": spec.name, "description": spec.description, "input_schema": spec.input_schema,
        "output_schema": spec.output_schema, "exposure": spec.exposure, "min_role": spec.min_role,
        "effects": spec.effects, "idempotent": spec.idempotent,
        "keywords": spec.keywords.iter().map(|word| &**word).collect::<Vec<&str>>(),
    }));
}
