//! Calls as odd providers make them: each is made once and has one result.

use rstest::rstest;
use serde_json::{Value, json};

use crate::provider::Provider;
use crate::replies::goes_on;
use crate::requests::{self, results};
use crate::wire::Wire::{self, Anthropic, OpenAi};
use crate::wire::{Call, Part, Reply, Stop, answer, call, calls};
use crate::world::World;

/// A run of these parts and then an answer. Gives its result documents in the order of the calls.
struct Made {
    provider: Provider,
    world: World,
    outputs: Vec<Value>,
}

#[track_caller]
fn made(wire: Wire, parts: &[Part<'_>], stop: Stop) -> Made {
    made_of(wire, Reply::new(wire, parts, stop).whole())
}

#[track_caller]
fn made_of(wire: Wire, steps: Vec<crate::fake::Step>) -> Made {
    let provider = Provider::start(wire);
    let world = provider.world();
    world.write("a.txt", "content of a\n");
    world.write("b.txt", "content of b\n");
    provider.then(steps);
    provider.then(answer(wire, "done"));
    let lines = world
        .run(&["run", "--json", "--session", "s", "hi"])
        .exits(0)
        .lines();
    assert_eq!(lines.answer(), "done");
    let mut outputs: Vec<Value> = lines.outputs().into_iter().cloned().collect();
    let order = requests::calls(wire, &provider.last_request());
    let place = |output: &Value| {
        let id = output["tool_call_id"].as_str().unwrap();
        order.iter().position(|made| made == id)
    };
    outputs.sort_by_key(place);
    Made {
        provider,
        world,
        outputs,
    }
}

impl Made {
    #[track_caller]
    fn goes_on(&self, wire: Wire) {
        goes_on(&self.world, &self.provider, wire, "s");
    }

    fn results(&self, wire: Wire) -> Vec<(String, String)> {
        results(wire, &self.provider.last_request())
    }
}

#[rstest]
fn several_calls_run_at_once_and_their_results_are_in_call_order(
    #[values(OpenAi, Anthropic)] wire: Wire,
) {
    let parts = [
        call("c1", "file_read", r#"{"path":"a.txt"}"#),
        call("c2", "calculator", r#"{"expression":"2"}"#),
        call("c3", "file_read", r#"{"path":"b.txt"}"#),
        call("c4", "calculator", r#"{"expression":"4"}"#),
    ];
    let made = made(wire, &parts, Stop::Calls);
    let results = made.results(wire);
    let ids: Vec<&str> = results.iter().map(|(id, _)| id.as_str()).collect();
    assert_eq!(ids, ["c1", "c2", "c3", "c4"]);
    assert!(results[0].1.contains("content of a"), "{results:?}");
    assert!(results[2].1.contains("content of b"), "{results:?}");
    made.goes_on(wire);
}

#[rstest]
fn arguments_in_one_byte_pieces_are_whole(#[values(OpenAi, Anthropic)] wire: Wire) {
    let arguments = r#"{"path": "neu/ü.txt", "content": "größer\n\"x\"\u00e9"}"#;
    let parts = [call("c1", "file_write", arguments)];
    let made = made_of(wire, Reply::in_pieces(wire, 1, &parts, Stop::Calls).whole());
    assert_eq!(made.outputs[0]["status"], "success", "{:?}", made.outputs);
    let written = std::fs::read_to_string(made.world.work("neu/ü.txt")).unwrap();
    assert_eq!(written, "größer\n\"x\"é");
    made.goes_on(wire);
}

#[rstest]
fn arguments_cut_off_by_length_never_run(
    #[values(OpenAi, Anthropic)] wire: Wire,
    #[values(Stop::Length, Stop::Calls)] stop: Stop,
) {
    let cut = r#"{"path":"new.txt","content":"abc"#;
    let made = made(wire, &[call("c1", "file_write", cut)], stop);
    assert!(!made.world.work("new.txt").exists());
    let error = &made.outputs[0]["error"];
    assert_eq!(error["code"], "invalid_arguments", "{error}");
    assert_eq!(made.outputs[0]["tool_call_args"], cut);
    let request = made.provider.last_request().to_string();
    assert!(
        request.contains(&cut.replace('"', "\\\"")),
        "the arguments are replayed as they were sent: {request}"
    );
    made.goes_on(wire);
}

#[rstest]
#[case::empty("")]
#[case::blank(" \n")]
#[case::null("null")]
#[case::object("{}")]
fn empty_arguments_are_an_empty_object(
    #[values(OpenAi, Anthropic)] wire: Wire,
    #[case] arguments: &str,
) {
    let parts = [
        call("c1", "current_time", arguments),
        call("c2", "file_read", arguments),
    ];
    let made = made(wire, &parts, Stop::Calls);
    assert_eq!(made.outputs[0]["status"], "success", "{:?}", made.outputs);
    let error = &made.outputs[1]["error"];
    assert_eq!(error["code"], "invalid_arguments");
    assert!(error.to_string().contains("path"), "{error}");
    made.goes_on(wire);
}

#[rstest]
#[case::list("[1]")]
#[case::number("7")]
#[case::text("\"path\"")]
#[case::twice(r#"{"path":"a.txt","path":"b.txt"}"#)]
#[case::two_objects(r#"{"path":"a.txt"} {"path":"b.txt"}"#)]
#[case::big(r#"{"path":"a.txt","start_line":123456789012345678901234567890}"#)]
#[case::nul(r#"{"path":"a\u0000.txt"}"#)]
#[case::surrogate(r#"{"path":"\ud800"}"#)]
#[case::deep(
    "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["
)]
fn arguments_that_no_tool_can_take_are_refused_with_words(
    #[values(OpenAi, Anthropic)] wire: Wire,
    #[case] arguments: &str,
) {
    let made = made(wire, &[call("c1", "file_read", arguments)], Stop::Calls);
    assert_eq!(
        made.outputs[0]["error"]["code"], "invalid_arguments",
        "{:?}",
        made.outputs
    );
    made.goes_on(wire);
}

#[rstest]
fn two_calls_with_one_id_are_two_calls(#[values(OpenAi, Anthropic)] wire: Wire) {
    let parts = [
        call("x", "file_read", r#"{"path":"a.txt"}"#),
        call("x", "file_read", r#"{"path":"b.txt"}"#),
    ];
    let made = made(wire, &parts, Stop::Calls);
    let results = made.results(wire);
    assert_eq!(results.len(), 2);
    assert_ne!(results[0].0, results[1].0);
    assert!(results[0].1.contains("content of a"), "{results:?}");
    assert!(results[1].1.contains("content of b"), "{results:?}");
    made.goes_on(wire);
    let again = made.results(wire);
    assert_eq!(results, again, "the ids stay the same");
}

#[rstest]
fn a_call_without_an_id_gets_one(#[values(OpenAi, Anthropic)] wire: Wire) {
    let nameless = |arguments| {
        Part::Call(Call {
            id: None,
            name: "file_read",
            arguments,
        })
    };
    let parts = [
        nameless(r#"{"path":"a.txt"}"#),
        nameless(r#"{"path":"b.txt"}"#),
    ];
    let made = made(wire, &parts, Stop::Calls);
    let results = made.results(wire);
    assert!(results[0].1.contains("content of a"), "{results:?}");
    assert!(results[1].1.contains("content of b"), "{results:?}");
    made.goes_on(wire);
}

#[rstest]
fn an_id_used_again_in_a_later_turn_is_another_call(#[values(OpenAi, Anthropic)] wire: Wire) {
    let provider = Provider::start(wire);
    let world = provider.world();
    world.write("a.txt", "content of a\n");
    world.write("b.txt", "content of b\n");
    for path in ["a.txt", "b.txt", "a.txt"] {
        let arguments = json!({"path": path}).to_string();
        provider.then(calls(wire, &[call("call_0", "file_read", &arguments)]));
    }
    provider.then(answer(wire, "done"));
    world
        .run(&["run", "--json", "--session", "s", "hi"])
        .exits(0)
        .lines();
    let results = results(wire, &provider.last_request());
    let has = ["content of a", "content of b", "content of a"];
    for ((_, text), has) in results.iter().zip(has) {
        assert!(text.contains(has), "{results:?}");
    }
    goes_on(&world, &provider, wire, "s");
    // Also in another process, which knows of the ids from the log alone.
    provider.then(calls(
        wire,
        &[call("call_0", "file_read", r#"{"path":"b.txt"}"#)],
    ));
    goes_on(&world, &provider, wire, "s");
}

#[rstest]
#[case::close("raed_file")]
#[case::case("File_Read")]
#[case::dotted("functions.file_read")]
#[case::later("search_memory")]
#[case::long("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa")]
#[case::chinese("读文件")]
#[case::control("a\u{1b}[31m\n")]
fn a_made_up_name_is_an_error_that_the_model_can_act_on(
    #[values(OpenAi, Anthropic)] wire: Wire,
    #[case] name: &str,
) {
    let made = made(wire, &[call("c1", name, "{}")], Stop::Calls);
    assert_eq!(
        made.outputs[0]["error"]["code"], "unknown_tool",
        "{:?}",
        made.outputs
    );
    if name == "File_Read" {
        let told = &made.results(wire)[0].1;
        assert!(told.contains("file_read"), "{told}");
    }
    made.goes_on(wire);
}

#[rstest]
fn a_name_that_a_role_may_not_use_is_refused_and_the_run_goes_on(
    #[values(OpenAi, Anthropic)] wire: Wire,
) {
    let provider = Provider::start(wire);
    let world = provider.world();
    world.write("a.txt", "content of a\n");
    provider.then(calls(
        wire,
        &[
            call("c1", "file_read", r#"{"path":"a.txt"}"#),
            call("c2", "execute_shell_command", r#"{"command":"touch x"}"#),
            call("c3", "calculator", r#"{"expression":"1"}"#),
        ],
    ));
    provider.then(answer(wire, "done"));
    let run = ["run", "--json", "--session", "s", "--role", "guest", "hi"];
    let lines = world.run(&run).exits(0).lines();
    let codes: Vec<&Value> = lines
        .outputs()
        .into_iter()
        .map(|output| &output["error"]["code"])
        .collect();
    assert_eq!(
        codes
            .iter()
            .filter(|code| **code == "not_permitted")
            .count(),
        2
    );
    assert!(!world.work("x").exists());
    let shown = tool_names(&provider.requests()[0]);
    assert!(shown.contains(&"calculator".to_owned()), "{shown:?}");
    for hidden in ["file_read", "list_dir", "execute_shell_command"] {
        assert!(!shown.contains(&hidden.to_owned()), "{shown:?}");
    }
    goes_on(&world, &provider, wire, "s");
}

#[rstest]
fn twenty_calls_of_one_reply_have_twenty_results(#[values(OpenAi, Anthropic)] wire: Wire) {
    let names: Vec<(String, String)> = (0..20)
        .map(|at| {
            (
                format!("c{at}"),
                json!({"expression": format!("{at}+1")}).to_string(),
            )
        })
        .collect();
    let parts: Vec<Part<'_>> = names
        .iter()
        .map(|(id, arguments)| call(id, "calculator", arguments))
        .collect();
    let made = made(wire, &parts, Stop::Calls);
    let results = made.results(wire);
    for (at, (id, text)) in results.iter().enumerate() {
        assert_eq!(*id, format!("c{at}"));
        assert!(text.contains(&(at + 1).to_string()), "{text}");
    }
    assert_eq!(results.len(), 20);
    made.goes_on(wire);
}

/// The names of the tools of a request.
fn tool_names(request: &Value) -> Vec<String> {
    let tools = request["tools"].as_array().unwrap().iter();
    tools
        .map(|tool| match &tool["name"] {
            Value::String(name) => name.clone(),
            _ => tool["function"]["name"].as_str().unwrap().to_owned(),
        })
        .collect()
}
