//! Which tools are before a model: `[tools] suggestion`, `suggestion_threshold`, `defer`.

use serde_json::{Value, json};

use super::{SCRIPTED, events};
use crate::world::World;

/// The result of each call, by its id.
fn outputs(events: &[Value], id: &str) -> Value {
    let of = |event: &&Value| event["message"]["tool_call_id"] == id;
    let found = events
        .iter()
        .find(of)
        .unwrap_or_else(|| panic!("no result of {id}: {events:?}"));
    found["message"]["metadata"]["tool_agent_output"].clone()
}

const FINDS_IT: &str = r#"
- tool_calls: [{ id: early, name: calculator, arguments: { expression: "6 * 7" } }]
- tool_calls: [{ id: found, name: tool_search, arguments: { query: "计算 6 乘 7", limit: 1 } }]
- tool_calls: [{ id: late, name: calculator, arguments: { expression: "6 * 7" } }]
- text: done
"#;

/// What comes of a calculator that is not shown: refused, found, called.
fn is_found(events: &[Value]) {
    let early = outputs(events, "early");
    assert_eq!(early["error"]["code"], "not_presented", "{early}");
    assert!(early["error"]["expected"]["properties"]["expression"].is_object());
    assert!(
        early["error"]["hint"]
            .as_str()
            .unwrap()
            .contains("tool_expand_tools")
    );
    let found = outputs(events, "found");
    assert_eq!(found["result"]["tools"][0]["name"], "calculator", "{found}");
    assert_eq!(found["result"]["newly_discovered"], json!(["calculator"]));
    assert_eq!(outputs(events, "late")["status"], "success");
}

#[test]
fn where_there_are_too_many_tools_those_that_fit_are_shown() {
    let with = |suggestion: &str, threshold: u32| {
        World::with(&format!(
            "{SCRIPTED}[tools]\nsuggestion = \"{suggestion}\"\nsuggestion_threshold = {threshold}\n"
        ))
    };
    is_found(&events(&with("lexical", 2), FINDS_IT));

    let all = "- tool_calls: [{ id: it, name: calculator, arguments: { expression: \"1\" } }]\n\
               - text: done\n";
    for world in [with("off", 2), with("lexical", 1_000)] {
        assert_eq!(outputs(&events(&world, all), "it")["status"], "success");
    }

    // Asked to choose, the model of this script says nothing, so the words choose, and that is said.
    let told = events(&with("model", 2), FINDS_IT);
    let warned = told.iter().filter(|event| event["code"] == "fallback");
    assert_eq!(warned.count(), 1, "{told:?}");
    is_found(&told);

    let script = all.replacen(
        "- tool_calls",
        "- text: '[\"calculator\"]'\n  tool_calls",
        1,
    );
    let told = events(&with("model", 2), &script);
    assert_eq!(outputs(&told, "it")["status"], "success", "{told:?}");
}

#[test]
fn a_deferred_tool_is_told_by_a_line_and_found_by_a_search() {
    let world = World::with(&format!("{SCRIPTED}[tools]\ndefer = [\"calc*\"]\n"));
    let ran = world.run_with(&["tools", "list", "--json"], &[]);
    let tools = ran.json();
    let tools = tools.as_array().unwrap().iter();
    let calculator = tools
        .clone()
        .find(|tool| tool["name"] == "calculator")
        .unwrap();
    assert_eq!(
        (&calculator["exposure"], &calculator["presented"]),
        (&json!("deferred"), &json!(false))
    );
    let script = FINDS_IT.replacen(
        "- tool_calls",
        "- expect: \"- calculator: \"\n  tool_calls",
        1,
    );
    is_found(&events(&world, &script));
}

#[test]
fn a_session_says_which_tools_are_before_its_model() {
    let world = World::with(&format!(
        "{SCRIPTED}[tools]\navailable = [\"grep\", \"calculator\", \"tool_*\"]\ndefer = [\"calc*\"]\n"
    ));
    let show = |options: &[&str]| {
        let args = [&["sessions", "show", "s"], options].concat();
        let shown = world.run(&args);
        assert_eq!(shown.code, 0, "{}", shown.shown());
        shown
    };
    let run = |script: &str| {
        world.write("here/script.yaml", script);
        let ran = world.run(&["run", "--session", "s", "go"]);
        assert_eq!(ran.code, 0, "{}", ran.shown());
    };
    run("- text: done\n");
    let audit = &show(&["--json"]).json()["audit_status"];
    assert_eq!(audit["tools_expanded"], false);
    let names = audit["suggested_tools"].as_array().unwrap().clone();
    assert!(names.contains(&json!("grep")) && !names.contains(&json!("calculator")));
    run("- text: done\n\
         - tool_calls: [{ id: x, name: tool_expand_tools, arguments: { tool_names: [calculator] } }]\n\
         - text: done\n");
    let audit = &show(&["--json"]).json()["audit_status"];
    assert_eq!(audit["tools_expanded"], true);
    let names = audit["suggested_tools"].as_array().unwrap().clone();
    assert!(names.contains(&json!("calculator")), "{names:?}");
    let text = show(&[]).stdout;
    assert!(
        text.contains("\nsuggested tools  calculator, grep"),
        "{text}"
    );
    assert!(text.ends_with("\ntools expanded   yes\n"), "{text}");
}
