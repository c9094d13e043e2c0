//! What the options of the commands accept.

use rstest::rstest;

use crate::world::World;

#[rstest]
#[case(&["run", "hi", "--role", "root"], "guest, user, admin")]
#[case(&["run", "hi", "--model", "gpt-5"], "it must be PROVIDER/NAME")]
#[case(&["run", "hi", "--session", "a/b"], "1 to 128 characters")]
#[case(&["tools", "call", "grep", "--args", "@"], "a file name must follow the @")]
#[case(&["tools", "show"], "<NAME>")]
#[case(&["sessions", "show", ".."], "1 to 128 characters")]
#[case(&["run", "hi", "--approval", "always"], "ask, never")]
#[case(&["tools", "show", "grep", "--format", "xml"], "openai, anthropic, mcp")]
#[case(&["skills", "show"], "<NAME>")]
#[case(&["run", "hi", "--mode", "yolo"], "agent, plan, chat")]
fn a_wrong_value_says_what_is_right(#[case] args: &[&str], #[case] message: &str) {
    let ran = World::new().run(args);
    assert_eq!(ran.code, 2, "{}", ran.shown());
    assert_eq!(ran.stdout, "");
    let line = ran.stderr.lines().next().unwrap();
    assert!(
        line.starts_with("error: failed to read the command line: "),
        "{line}"
    );
    assert!(line.contains(message), "{line}");
}

#[rstest]
#[case("demo")]
#[case("run")]
#[case("chat")]
#[case("serve")]
#[case("tools")]
#[case("skills")]
#[case("sessions")]
#[case("config")]
#[case("doctor")]
#[case("init")]
fn every_command_says_how_it_is_used_with_an_example(#[case] command: &str) {
    let ran = World::new().run(&[command, "--help"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stdout.contains("Example"), "{}", ran.stdout);
    assert!(
        ran.stdout.contains(&format!("outfitter {command}")),
        "{}",
        ran.stdout
    );
}

#[test]
fn a_provider_that_is_none_is_refused_by_its_flag() {
    let ran = World::new().run(&["run", "hi", "--model", "opnai/gpt-5"]);
    assert_eq!(ran.code, 2, "{}", ran.shown());
    insta::assert_snapshot!(ran.stderr);
}
