//! What a turn follows, and what may follow it: `[agent] workflow`, `[[workflows]]`,
//! `[agent] suggested_actions`.

use rstest::rstest;
use serde_json::{Value, json};

use super::{PATH, SCRIPTED};
use crate::world::World;

const RELEASE: &str = "[[workflows]]\nname = \"release\"\ndescription = \"Publishes a new version.\"\n\
                       steps = [\"Write the changelog.\", \"Tag it.\"]\n";

const TRIAGE: &str = "[[workflows]]\nname = \"triage\"\ndescription = \"整理缺陷报告，找出重复的。\"\n\
                      steps = [\"Read each report.\"]\n";

fn world(agent: &str) -> World {
    World::with(&format!("{SCRIPTED}[agent]\n{agent}\n{RELEASE}{TRIAGE}"))
}

/// The events of a run of these words, by a model whose last message must have `expect`.
fn asked(world: &World, args: &[&str], script: &Value) -> Vec<Value> {
    world.write("here/script.yaml", &script.to_string());
    let ran = world.run_with(&[&["run", "--json"], args].concat(), &[PATH]);
    assert_eq!(ran.code, 0, "{}", ran.shown());
    let lines = ran.stdout.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn told(step: &str) -> Value {
    json!([{ "expect": step, "text": "done" }])
}

#[rstest]
#[case::by_its_name("workflow = \"release\"", &["hello"], "2. Tag it.", "release")]
#[case::by_a_flag("", &["--workflow", "triage", "hello"], "1. Read each report.", "triage")]
#[case::over_the_file("workflow = \"release\"", &["--workflow", "triage", "hello"], "Read each", "triage")]
#[case::by_its_words("workflow = \"lexical\"", &["publish the new version"], "Tag it.", "release")]
#[case::in_chinese("workflow = \"lexical\"", &["帮我整理一下缺陷"], "Read each report.", "triage")]
fn a_turn_follows_a_workflow_and_says_which(
    #[case] agent: &str,
    #[case] args: &[&str],
    #[case] step: &str,
    #[case] name: &str,
) {
    let events = asked(&world(agent), args, &told(step));
    assert_eq!(events[0]["workflow"], name);
}

#[test]
fn a_turn_that_is_about_none_follows_none() {
    for agent in ["", "workflow = \"off\"", "workflow = \"lexical\""] {
        let events = asked(&world(agent), &["how are you?"], &told("how are you?"));
        assert_eq!(events[0].get("workflow"), None);
    }
    let off = ["--workflow", "off", "publish the new version"];
    let events = asked(&world("workflow = \"release\""), &off, &told("publish"));
    assert_eq!(events[0].get("workflow"), None);
}

#[test]
fn the_model_chooses_where_it_is_asked_to() {
    let world = world("workflow = \"model\"");
    // The script answers both with its first turn: the question beside, and the request.
    let script = json!([{ "text": "[\"triage\"]" }]);
    let events = asked(&world, &["hello"], &script);
    assert_eq!(events[0]["workflow"], "triage");
    let usages = events.iter().filter(|event| event["type"] == "usage");
    assert_eq!(usages.count(), 2);

    let script = json!([{ "text": "release!" }]);
    let events = asked(&world, &["publish the new version"], &script);
    assert_eq!(events[0]["workflow"], "release");
    assert_eq!(events[1]["code"], "fallback", "{events:?}");
}

#[test]
fn a_turn_that_goes_on_keeps_its_workflow_and_takes_no_other() {
    let world = world("");
    let script = json!([{ "expect": "Tag it.", "error": { "kind": "truncated" } }]);
    world.write("here/script.yaml", &script.to_string());
    let args = ["run", "--session", "s", "--workflow", "release", "go"];
    let ran = world.run_with(&args, &[PATH]);
    assert_ne!(ran.code, 0, "{}", ran.shown());
    let again = ["run", "--session", "s", "--workflow", "triage"];
    let ran = world.run_with(&again, &[PATH]);
    assert_eq!(ran.code, 2, "{}", ran.shown());
    assert!(ran.stderr.contains("keeps its workflow"), "{}", ran.stderr);
    let events = asked(&world, &["--session", "s"], &told("Tag it."));
    assert_eq!(events[0]["workflow"], "release");
}

#[rstest]
#[case::no_such_name(
    "[agent]\nworkflow = \"relaese\"\n",
    2,
    "`agent.workflow` must be off, lexical, model or the name of a workflow, not \"relaese\", did you mean release?"
)]
#[case::no_name("[[workflows]]\nsteps = [\"a\"]\n", 5, "`workflows.1` has no `name`")]
#[case::another_alphabet(
    "[[workflows]]\nname = \"a b\"\nsteps = [\"a\"]\n",
    6,
    "`workflows.1` has a `name` that is not 1 to 64 of A-Z a-z 0-9 _ -: \"a b\""
)]
#[case::taken(
    "[[workflows]]\nname = \"model\"\nsteps = [\"a\"]\n",
    6,
    "`workflows.1` has a `name` that means something else in `agent.workflow`: \"model\""
)]
#[case::twice(
    "[[workflows]]\nname = \"release\"\nsteps = [\"a\"]\n",
    6,
    "`workflows.1` has the `name` of `workflows.0`: \"release\""
)]
#[case::no_steps("[[workflows]]\nname = \"a\"\n", 5, "`workflows.1` has no `steps`")]
#[case::steps_of_nothing(
    "[[workflows]]\nname = \"a\"\nsteps = []\n",
    7,
    "`workflows.1` has no `steps`"
)]
#[case::an_empty_step(
    "[[workflows]]\nname = \"a\"\nsteps = [\"x\", \" \"]\n",
    7,
    "`workflows.1` has an empty step, `steps.1`"
)]
#[case::an_unknown_key(
    "[[workflows]]\nname = \"a\"\nstep = [\"x\"]\n",
    7,
    "unknown key `workflows.1.step`, the nearest is `workflows.1.steps`"
)]
#[case::another_type(
    "[[workflows]]\nname = 1\nsteps = [\"x\"]\n",
    6,
    "`workflows.1.name` must be text, not 1"
)]
#[case::a_table("workflows = 1\n", 0, "`workflows` must be a list of tables, not 1")]
fn what_is_no_workflow_is_said_at_its_place(
    #[case] toml: &str,
    #[case] line: usize,
    #[case] message: &str,
) {
    let (toml, line) = match line {
        0 => (toml.to_owned(), 1),
        2 => (format!("{toml}{RELEASE}"), 2),
        line => (format!("{RELEASE}{toml}"), line),
    };
    let ran = World::with(&toml).run(&["config", "check"]);
    assert_eq!(ran.code, 2, "{}", ran.shown());
    let first = ran.stdout.lines().next().unwrap();
    assert!(
        first.starts_with(&format!("outfitter.toml:{line}:")),
        "{first}"
    );
    assert!(first.ends_with(message), "{first}");
}

#[test]
fn a_workflow_has_bounds() {
    let rows: String = (0..101)
        .map(|n| format!("[[workflows]]\nname = \"w{n}\"\nsteps = [\"a\"]\n"))
        .collect();
    let long = "x".repeat(2_001);
    let steps = vec!["a"; 51].join("\", \"");
    for (toml, message) in [
        (rows, "has 101 of at most 100"),
        (
            format!("[[workflows]]\nname = \"w\"\nsteps = [\"{long}\"]\n"),
            "has a step of more than 2000 characters",
        ),
        (
            format!("[[workflows]]\nname = \"w\"\nsteps = [\"{steps}\"]\n"),
            "has 51 `steps` of at most 50",
        ),
        (
            format!("[[workflows]]\nname = \"w\"\ndescription = \"{long}\"\nsteps = [\"a\"]\n"),
            "has a `description` of more than 1000 characters",
        ),
        (
            format!(
                "[[workflows]]\nname = \"{}\"\nsteps = [\"a\"]\n",
                "w".repeat(65)
            ),
            "is not 1 to 64 of",
        ),
    ] {
        let ran = World::with(&toml).run(&["config", "check"]);
        assert_eq!(ran.code, 2, "{}", ran.shown());
        assert!(ran.stdout.contains(message), "{}", ran.shown());
    }
}

#[test]
fn what_is_explained_gives_the_same_workflows_again() {
    let world = world("workflow = \"lexical\"");
    let ran = world.run(&["config", "explain"]);
    assert_eq!(ran.code, 0, "{}", ran.shown());
    assert!(
        ran.stdout
            .contains("[[workflows]]  # outfitter.toml:6:1\nname = \"release\"\n"),
        "{}",
        ran.stdout
    );
    let again = World::with(&ran.stdout);
    let keys = |world: &World| {
        let document = world.run(&["config", "explain", "--json"]).json();
        let rows = document["keys"].as_array().unwrap().clone();
        let row = rows.into_iter().find(|row| row["key"] == "workflows");
        row.unwrap()["value"].clone()
    };
    assert_eq!(keys(&again), keys(&world));
    assert_eq!(keys(&world)[0]["name"], "release");
    let none = World::new().run(&["config", "explain"]).stdout;
    assert!(none.contains("# there are none"), "{none}");
    assert!(!none.contains("\n[workflows]"), "{none}");
}

#[test]
fn what_may_follow_an_answer_is_asked_for_and_shown() {
    let world = world("suggested_actions = true");
    // The script answers both with its first turn: the request, and the question beside.
    let answer = "It is mended. [{\"label\": \"Test\", \"command\": \"cargo test\"}, \
                  {\"label\": \"More\", \"prompt\": \"explain \\u001b[31mit\"}]";
    let script = json!([{ "text": answer }]);
    let events = asked(&world, &["mend it"], &script);
    let output = &events.last().unwrap()["output"];
    assert_eq!(
        output["suggested_actions"],
        json!([
            { "label": "Test", "command": "cargo test" },
            { "label": "More", "prompt": "explain \u{1b}[31mit" },
        ])
    );
    let usages = events.iter().filter(|event| event["type"] == "usage");
    assert_eq!(usages.count(), 2);

    let shown = world.run_with(&["run", "-v", "mend it"], &[PATH]);
    assert!(
        shown.stdout.starts_with("It is mended."),
        "{}",
        shown.shown()
    );
    assert!(
        shown
            .stderr
            .contains("$ cargo test  (Test)\n> explain ␛[31mit  (More)\n"),
        "{}",
        shown.shown()
    );
    // Nobody else is asked.
    let quiet = self::world("");
    let events = asked(&quiet, &["mend it"], &json!([{ "text": "It is mended." }]));
    let output = &events.last().unwrap()["output"];
    assert_eq!(output["suggested_actions"], json!([]));
}
