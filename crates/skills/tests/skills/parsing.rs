//! One SKILL.md: what is read, what is said of it, what the specification says.

use outfitter_skills::{Beside, Checked, Manifest, Place, Problem, check, limits};
use proptest::prelude::*;
use rstest::rstest;

fn of(text: impl AsRef<[u8]>) -> Checked {
    check(
        text.as_ref(),
        Beside {
            directory: "probe",
            skill_yaml: None,
        },
    )
}

fn with(frontmatter: &str) -> Checked {
    of(format!("---\n{frontmatter}\n---\nBody.\n"))
}

fn manifest(checked: &Checked) -> &Manifest {
    &checked
        .document
        .as_ref()
        .unwrap_or_else(|| panic!("{:?}", checked.findings))
        .manifest
}

fn codes(checked: &Checked) -> Vec<&'static str> {
    checked
        .findings
        .iter()
        .map(|finding| finding.code.as_str())
        .collect()
}

const PLAIN: &str = "name: probe\ndescription: What it does.";

#[test]
fn a_file_of_the_specification_has_no_findings() {
    let checked = with(
        "name: probe\ndescription: What it does, and when.\nlicense: MIT\ncompatibility: Needs git\n\
         metadata:\n  author: somebody\n  version: \"1.20\"\nallowed-tools: Bash(git:*) Read",
    );
    assert_eq!(checked.findings, []);
    let manifest = manifest(&checked);
    assert_eq!(manifest.version.as_deref(), Some("1.20"));
    assert_eq!(manifest.allowed_tools, ["Bash(git:*)", "Read"]);
    assert_eq!(checked.document.as_ref().unwrap().instructions, "Body.");
}

#[test]
fn what_the_field_declares_beside_is_read() {
    let checked = with(
        "name: report\ndescription: 生成可靠报告\nversion: 1.2.0\ndependencies: citations\n\
         tags: report, 报告\ntools: web_search",
    );
    let manifest = manifest(&checked);
    assert_eq!(manifest.description, "生成可靠报告");
    assert_eq!(manifest.version.as_deref(), Some("1.2.0"));
    assert_eq!(manifest.dependencies[0].name.as_str(), "citations");
    assert_eq!(manifest.tags, ["report", "报告"]);
    assert_eq!(manifest.tools, ["web_search"]);
    assert!(manifest.model_may_load);
}

/// The verdicts of the reference validator, and the few places where ours is told to differ.
#[rstest]
#[case::plain(PLAIN, true)]
#[case::name_of_a_number("name: 123\ndescription: d", false)]
#[case::unknown_key("name: probe\ndescription: d\nauthor: me", false)]
#[case::no_name("description: d", false)]
#[case::no_description("name: probe", false)]
#[case::empty_description("name: probe\ndescription: \"\"", false)]
#[case::null_description("name: probe\ndescription:", false)]
#[case::upper_case("name: Probe\ndescription: d", false)]
#[case::other_directory("name: other\ndescription: d", false)]
#[case::duplicate("name: probe\nname: probe\ndescription: d", false)]
#[case::flow_is_yaml("name: probe\ndescription: d\nmetadata: {a: b}", true)]
#[case::anchors_are_yaml("name: probe\ndescription: &d text\nlicense: *d", true)]
#[case::tags_are_ignored("name: probe\ndescription: !x text", true)]
#[case::dashes_in_a_value("name: probe\ndescription: Use a---b", true)]
#[case::list_of_tools("name: probe\ndescription: d\nallowed-tools: [Read]", false)]
#[case::nested_metadata("name: probe\ndescription: d\nmetadata: {a: {b: c}}", false)]
#[case::number_in_metadata("name: probe\ndescription: d\nmetadata: {a: 1}", false)]
#[case::metadata_is_a_text("name: probe\ndescription: d\nmetadata: x", false)]
#[case::empty_compatibility("name: probe\ndescription: d\ncompatibility: \"\"", false)]
#[case::compatibility_is_a_list("name: probe\ndescription: d\ncompatibility: [git]", false)]
#[case::license_is_a_map("name: probe\ndescription: d\nlicense: {a: b}", false)]
#[case::unquoted_colon("name: probe\ndescription: Use when: x", false)]
#[case::not_a_mapping("- a\n- b", false)]
#[case::empty("", false)]
fn the_strict_verdict(#[case] frontmatter: &str, #[case] valid: bool) {
    let checked = with(frontmatter);
    assert_eq!(
        checked.violations().next().is_none(),
        valid,
        "{:?}",
        checked.findings
    );
}

#[rstest]
#[case::name_64(format!("name: {}\ndescription: d", "a".repeat(64)), &[Problem::NameNotDirectory])]
#[case::name_65(format!("name: {}\ndescription: d", "a".repeat(65)), &[Problem::NameTooLong, Problem::NameNotDirectory])]
#[case::description_1024(format!("name: probe\ndescription: {}", "文".repeat(1024)), &[])]
#[case::description_1025(format!("name: probe\ndescription: {}", "文".repeat(1025)), &[Problem::DescriptionTooLong])]
#[case::compatibility_500(format!("{PLAIN}\ncompatibility: {}", "x".repeat(500)), &[])]
#[case::compatibility_501(format!("{PLAIN}\ncompatibility: {}", "x".repeat(501)), &[Problem::CompatibilityLength])]
fn lengths_are_counted_in_characters(#[case] frontmatter: String, #[case] expected: &[Problem]) {
    let checked = with(&frontmatter);
    let found: Vec<Problem> = checked
        .findings
        .iter()
        .map(|finding| finding.code)
        .collect();
    assert_eq!(found, expected);
    assert!(checked.document.is_some(), "all of them load");
}

#[rstest]
#[case::byte_order_mark("\u{feff}---\nname: probe\ndescription: d\n---\nB\n", &["byte_order_mark"])]
#[case::crlf("---\r\nname: probe\r\ndescription: d\r\n---\r\nB\r\n", &[])]
#[case::bare_cr("---\rname: probe\rdescription: d\r---\rB\r", &[])]
#[case::blank_lines("\n\n---\nname: probe\ndescription: d\n---\nB\n", &["blank_lines_before"])]
#[case::spaces_after_the_fence("---  \nname: probe\ndescription: d\n---\t\nB\n", &[])]
#[case::no_body("---\nname: probe\ndescription: d\n---", &["no_instructions"])]
#[case::nul_in_the_body("---\nname: probe\ndescription: d\n---\nB\0\n", &["nul_replaced"])]
#[case::folded("---\nname: probe\ndescription: >-\n  d\n  e\n---\nB\n", &[])]
#[case::nested_name("---\nname: probe\nmetadata:\n  name: hijacked\ndescription: d\n---\nB\n", &[])]
fn odd_files_that_load(#[case] text: &str, #[case] expected: &[&str]) {
    let checked = of(text);
    assert_eq!(codes(&checked), expected);
    assert_eq!(manifest(&checked).name.as_str(), "probe");
    let instructions = &checked.document.as_ref().unwrap().instructions;
    assert!(!instructions.contains(['\r', '\0']), "{instructions:?}");
}

#[rstest]
#[case::empty("", "no_frontmatter")]
#[case::four_dashes("----\nname: probe\ndescription: d\n----\n", "no_frontmatter")]
#[case::code_fence("```\n---\nname: probe\ndescription: d\n---\n```", "no_frontmatter")]
#[case::unclosed("---\nname: probe\ndescription: d\n", "frontmatter_unclosed")]
#[case::dots("---\nname: probe\ndescription: d\n...\nB\n", "frontmatter_unclosed")]
#[case::list("---\n- a\n---\n", "not_a_mapping")]
#[case::no_description("---\nname: probe\n---\n", "description_missing")]
#[case::list_as_description("---\nname: probe\ndescription: [a]\n---\n", "description_missing")]
#[case::unusable_name("---\nname: \"a\\nb\"\ndescription: d\n---\n", "name_unusable")]
fn what_cannot_be_used_says_why(#[case] text: &str, #[case] code: &str) {
    let checked = of(text);
    assert_eq!(checked.document, None);
    assert_eq!(codes(&checked).last(), Some(&code));
}

#[test]
fn bytes_that_are_no_text_and_files_that_are_too_large_are_refused() {
    assert_eq!(codes(&of(b"---\nname: \xff\n---\n")), ["not_utf8"]);
    assert_eq!(codes(&of(b"\xff\xfe-\0-\0-\0")), ["not_utf8"]);
    let large = format!("---\n{PLAIN}\n---\n{}", "x".repeat(limits::MAX_FILE_BYTES));
    assert_eq!(codes(&of(large)), ["file_too_large"]);
    let wide = format!(
        "---\nname: probe\nx: {}\n---\n",
        "y".repeat(limits::MAX_FRONTMATTER_BYTES)
    );
    assert_eq!(codes(&of(wide)), ["frontmatter_too_large"]);
}

#[rstest]
#[case("description: Use when: x\nname: probe", "Use when: x")]
#[case(
    "name: probe\ndescription: Use `a: b` when: it\n  goes on: there",
    "Use `a: b` when: it goes on: there"
)]
#[case(
    "name: probe\ndescription: Says \"so\": and 'so'",
    "Says \"so\": and 'so'"
)]
#[case("name: probe\ndescription: @mention first", "@mention first")]
#[case("name: probe\ndescription: `code` first", "`code` first")]
#[case("name: probe\ndescription: *bold* claims", "*bold* claims")]
#[case("name: probe\ndescription: Ends with:", "Ends with:")]
fn an_unquoted_colon_loses_nothing_of_the_description(
    #[case] frontmatter: &str,
    #[case] description: &str,
) {
    let checked = with(frontmatter);
    assert_eq!(manifest(&checked).description, description);
    assert_eq!(codes(&checked)[..2], ["yaml_invalid", "yaml_quoted"]);
}

#[test]
fn a_strict_reader_is_told_where_the_colon_is() {
    let checked = with("name: probe\ndescription: Use when: x");
    let first = checked.violations().next().unwrap();
    assert_eq!(first.code, Problem::YamlInvalid);
    assert_eq!(first.at.map(|place| place.line), Some(3));
}

#[test]
fn findings_have_the_place_in_the_file() {
    let checked = with("name: probe\ndescription: d\nauthor: me\nmetadata:\n  a: 1");
    let places: Vec<(&str, Option<Place>)> = checked
        .findings
        .iter()
        .map(|finding| (finding.code.as_str(), finding.at))
        .collect();
    assert_eq!(
        places,
        [
            ("unknown_key", Some(Place { line: 4, column: 1 })),
            ("metadata_not_text", Some(Place { line: 6, column: 6 })),
        ]
    );
}

/// E07: a broken line never drops what another line restricts.
#[rstest]
#[case("name: probe\ndescription: Use when: x\nallowed-tools: Read")]
#[case("name: probe\ndescription: \"Quoted\" then: [more\nallowed-tools: Read")]
#[case("name: probe\nallowed-tools: Read\ndescription: d\ndependencies: [ray[data], pyarrow]")]
#[case("name: probe\n\tdescription: x\ndescription: d\nallowed-tools:\n\t- Read\n- x: [")]
#[case("allowed-tools:\n  - Read\nname: probe\ndescription: 'it's broken'")]
fn e07_a_broken_file_keeps_its_restriction(#[case] frontmatter: &str) {
    let checked = with(frontmatter);
    assert!(
        codes(&checked).contains(&"yaml_invalid"),
        "{:?}",
        checked.findings
    );
    let allowed = &manifest(&checked).allowed_tools;
    assert!(
        allowed.iter().any(|tool| tool.contains("Read")),
        "{allowed:?}"
    );
    assert!(checked.warnings().next().is_some());
}

#[rstest]
#[case("disable-model-invocation: true", false)]
#[case("disable-model-invocation: True", false)]
#[case("disable-model-invocation: false", true)]
fn a_pack_can_keep_itself_from_models(#[case] line: &str, #[case] may: bool) {
    assert_eq!(
        manifest(&with(&format!("{PLAIN}\n{line}"))).model_may_load,
        may
    );
}

#[test]
fn dependencies_may_have_versions() {
    let checked = with(&format!(
        "{PLAIN}\ndependencies:\n  citations: ^1.10\n  tables:"
    ));
    let told: Vec<(&str, Option<&str>)> = manifest(&checked)
        .dependencies
        .iter()
        .map(|dependency| (dependency.name.as_str(), dependency.requirement.as_deref()))
        .collect();
    assert_eq!(told, [("citations", Some("^1.10")), ("tables", None)]);
}

/// The form of the older packs: a heading, and perhaps a skill.yaml.
#[test]
fn a_heading_stands_for_the_frontmatter() {
    let text = "# Skill: My Skill\n\n## 用途\n描述这个技能解决什么问题。\n\n## 步骤\n1. ...\n";
    let beside = Beside {
        directory: "my_skill",
        skill_yaml: None,
    };
    let checked = check(text.as_bytes(), beside);
    let read = manifest(&checked);
    assert_eq!(
        (read.name.as_str(), read.description.as_str()),
        ("my_skill", "描述这个技能解决什么问题。")
    );
    assert!(
        checked
            .document
            .as_ref()
            .unwrap()
            .instructions
            .contains("## 步骤")
    );
    assert_eq!(codes(&checked)[0], "heading_form");

    let yaml = b"id: other\nname: My Skill\ndescription: From the file.\nversion: 2.10\n";
    let checked = check(
        text.as_bytes(),
        Beside {
            skill_yaml: Some(yaml),
            ..beside
        },
    );
    let read = manifest(&checked);
    assert_eq!(
        (read.name.as_str(), read.description.as_str()),
        ("other", "From the file.")
    );
    assert_eq!(read.version.as_deref(), Some("2.10"));

    let plain = check(b"# My Skill\n\nText.\n", beside);
    assert_eq!(plain.document, None, "any other heading is no skill");
}

#[test]
fn a_bomb_in_a_frontmatter_is_an_error_of_that_file() {
    let mut bomb = String::from("name: probe\ndescription: d\na0: &a0 [x, x, x, x, x, x, x, x]\n");
    for level in 1..10 {
        bomb.push_str(&format!(
            "a{level}: &a{level} [{}]\n",
            format!("*a{}, ", level - 1).repeat(8)
        ));
    }
    let checked = with(&bomb);
    assert!(codes(&checked).contains(&"yaml_invalid"));
    assert_eq!(
        manifest(&checked).name.as_str(),
        "probe",
        "and is read line by line"
    );
}

fn probable_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("---\n".to_owned()),
        Just("name: ".to_owned()),
        Just("description: ".to_owned()),
        Just("allowed-tools: ".to_owned()),
        Just("dependencies: ".to_owned()),
        Just("metadata:\n".to_owned()),
        Just("\n".to_owned()),
        Just(": ".to_owned()),
        Just("  - ".to_owned()),
        Just("[".to_owned()),
        Just("{".to_owned()),
        Just("]".to_owned()),
        Just("\"".to_owned()),
        Just("'".to_owned()),
        Just("|\n".to_owned()),
        Just("&a ".to_owned()),
        Just("*a ".to_owned()),
        Just("!!x ".to_owned()),
        Just("<<: ".to_owned()),
        Just("\t".to_owned()),
        Just("\r\n".to_owned()),
        Just("\u{feff}".to_owned()),
        Just("# Skill: ".to_owned()),
        "[a-z0-9文 ]{0,6}",
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn any_bytes_are_read_or_refused_with_a_reason(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let checked = of(&bytes);
        prop_assert!(checked.document.is_some() || !checked.findings.is_empty());
    }

    #[test]
    fn any_text_is_read_or_refused_with_a_reason(text in probable_text(), fenced in any::<bool>()) {
        let checked = if fenced { with(&text) } else { of(&text) };
        match &checked.document {
            Some(document) => {
                prop_assert!(!document.manifest.description.is_empty());
                prop_assert!(!document.manifest.name.as_str().is_empty());
            }
            None => prop_assert!(checked.violations().next().is_some()),
        }
        prop_assert_eq!(of(&text), of(&text), "the same text is always read the same");
    }

    #[test]
    fn any_description_on_one_line_survives(words in "[a-zA-Z][a-zA-Z0-9:,.`#@ \"'()-]{0,60}") {
        let words = words.trim();
        let checked = with(&format!("name: probe\ndescription: {words}"));
        let read = &manifest(&checked).description;
        let kept = words.find(" #").map_or(words, |comment| words[..comment].trim_end());
        prop_assert!(read == words || read == kept, "{words:?} became {read:?}");
    }
}
