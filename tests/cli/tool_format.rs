//! `tools show --format`.

use rstest::rstest;

use crate::world::World;

#[rstest]
#[case("openai")]
#[case("anthropic")]
#[case("mcp")]
fn a_tool_is_shown_as_others_have_it(#[case] format: &str) {
    let args = ["tools", "show", "calculator", "--format", format];
    let ran = World::new().run(&args);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    insta::with_settings!({ snapshot_suffix => format }, {
        insta::assert_snapshot!(ran.stdout);
    });
}

#[test]
fn a_tool_that_is_none_has_no_form() {
    let ran = World::new().run(&["tools", "show", "calculater", "--format", "mcp"]);
    assert_eq!(ran.code, 5, "{}", ran.shown());
    assert!(
        ran.stderr.contains("did you mean calculator"),
        "{}",
        ran.stderr
    );
}
