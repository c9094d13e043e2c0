//! What comes of replies, on both wires.

use rstest::rstest;

use crate::fake::{Step, send};
use crate::provider::Provider;
use crate::wire::Wire::{self, Anthropic, OpenAi};
use crate::wire::{Part, Reply, Stop, answer, call, calls};
use crate::world::World;

/// Whatever a session has been through, its next request is one that a strict provider accepts.
#[track_caller]
pub(crate) fn goes_on(world: &World, provider: &Provider, wire: Wire, session: &str) {
    provider.then(answer(wire, "going on"));
    let ran = world
        .run(&["run", "--json", "--session", session, "and", "now?"])
        .exits(0);
    assert_eq!(ran.lines().answer(), "going on");
    provider.last_request();
}

#[rstest]
fn an_answer_alone_is_on_stdout_and_nothing_else(#[values(OpenAi, Anthropic)] wire: Wire) {
    let provider = Provider::start(wire);
    let world = provider.world();
    provider.then(answer(wire, "It is 42."));
    let ran = world.run(&["run", "what", "is", "it?"]).exits(0);
    assert_eq!(ran.stdout, "It is 42.\n");
    let asked = provider.last_request();
    let last = asked["messages"].as_array().unwrap().last().unwrap();
    assert!(last.to_string().contains("what is it?"), "{last}");
    assert_eq!(asked["stream"], true);
    let key = provider
        .last_header("authorization")
        .or_else(|| provider.last_header("x-api-key"));
    assert!(key.unwrap().ends_with(crate::world::KEY));
}

#[rstest]
fn text_and_thought_come_as_they_are_streamed(#[values(OpenAi, Anthropic)] wire: Wire) {
    let provider = Provider::start(wire);
    let world = provider.world();
    let parts = [
        Part::Thought("Hm — 好的, let me see…"),
        Part::Text("Grüße aus 北京 👋🏽, \u{2028}and \"quotes\"\n\ttoo."),
    ];
    provider.then(Reply::new(wire, &parts, Stop::Done).whole());
    let lines = world
        .run(&["run", "--json", "--session", "s", "hi"])
        .exits(0)
        .lines();
    assert_eq!(lines.deltas("reasoning"), "Hm — 好的, let me see…");
    let text = "Grüße aus 北京 👋🏽, \u{2028}and \"quotes\"\n\ttoo.";
    assert_eq!(lines.deltas("text"), text);
    assert_eq!(lines.answer(), text);
    assert_eq!(lines.messages("assistant")[0]["content"], text);
    let usage = lines.all("usage");
    assert_eq!(
        (&usage[0]["input_tokens"], &usage[0]["source"]),
        (&11.into(), &"reported".into())
    );
    goes_on(&world, &provider, wire, "s");
}

#[rstest]
#[case::bytes(1)]
#[case::inside_characters(3)]
#[case::five(5)]
fn a_stream_cut_anywhere_is_the_same_reply(
    #[values(OpenAi, Anthropic)] wire: Wire,
    #[case] size: usize,
) {
    let provider = Provider::start(wire);
    let world = provider.world();
    let text = "你好，世界 👩‍👩‍👧‍👦 é";
    let parts = [
        Part::Text(text),
        call("c1", "calculator", r#"{"expression":"6*7"}"#),
    ];
    provider.then(Reply::new(wire, &parts, Stop::Calls).cut(size));
    provider.then(answer(wire, "42"));
    let lines = world
        .run(&["run", "--json", "--session", "s", "hi"])
        .exits(0)
        .lines();
    assert_eq!(lines.messages("assistant")[0]["content"], text);
    assert_eq!(lines.outputs()[0]["result"]["value"], 42);
    goes_on(&world, &provider, wire, "s");
}

#[rstest]
fn frames_with_crlf_are_frames(
    #[values(OpenAi, Anthropic)] wire: Wire,
    #[values(5, 4096)] size: usize,
) {
    let provider = Provider::start(wire);
    let world = provider.world();
    let reply = Reply::new(
        wire,
        &[call("c1", "calculator", r#"{"expression":"6*7"}"#)],
        Stop::Calls,
    );
    provider.then(crate::fake::stream_in(
        size,
        &reply.body().replace('\n', "\r\n"),
    ));
    provider.then(answer(wire, "fine"));
    let lines = world.run(&["run", "--json", "hi"]).exits(0).lines();
    assert_eq!(lines.answer(), "fine");
    assert_eq!(lines.outputs()[0]["status"], "success");
}

#[rstest]
fn text_between_calls_stays_in_its_place(#[values(OpenAi, Anthropic)] wire: Wire) {
    let provider = Provider::start(wire);
    let world = provider.world();
    let parts = [
        Part::Text("First. "),
        call("a", "calculator", r#"{"expression":"1"}"#),
        Part::Text("Then. "),
        call("b", "calculator", r#"{"expression":"2"}"#),
        Part::Text("Last."),
    ];
    provider.then(calls(wire, &parts));
    provider.then(answer(wire, "done"));
    let lines = world
        .run(&["run", "--json", "--session", "s", "hi"])
        .exits(0)
        .lines();
    let message = lines.messages("assistant")[0];
    assert_eq!(message["content"], "First. Then. Last.");
    let names: Vec<&str> = message["tool_calls"]
        .as_array()
        .unwrap()
        .iter()
        .map(|call| call["id"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["a", "b"]);
    goes_on(&world, &provider, wire, "s");
}

#[rstest]
fn a_reply_with_nothing_in_it_ends_the_run_clearly(#[values(OpenAi, Anthropic)] wire: Wire) {
    let provider = Provider::start(wire);
    let world = provider.world();
    provider.then(Reply::new(wire, &[], Stop::Done).whole());
    let ran = world.run(&["run", "--json", "--session", "s", "hi"]);
    let lines = ran.lines();
    assert_eq!(lines.answer(), "");
    assert!(ran.code.is_some());
    goes_on(&world, &provider, wire, "s");
}

#[rstest]
fn blank_text_beside_a_call_does_not_spoil_the_history(#[values(OpenAi, Anthropic)] wire: Wire) {
    let provider = Provider::start(wire);
    let world = provider.world();
    let parts = [
        Part::Text("\n\n"),
        call("a", "calculator", r#"{"expression":"1"}"#),
    ];
    provider.then(calls(wire, &parts));
    provider.then(answer(wire, " \n"));
    world
        .run(&["run", "--json", "--session", "s", "hi"])
        .exits(0)
        .lines();
    goes_on(&world, &provider, wire, "s");
}

#[rstest]
fn an_answer_cut_off_by_length_is_kept_and_said_to_be_cut(#[values(OpenAi, Anthropic)] wire: Wire) {
    let provider = Provider::start(wire);
    let world = provider.world();
    provider.then(Reply::new(wire, &[Part::Text("It begins well and")], Stop::Length).whole());
    let lines = world
        .run(&["run", "--json", "--session", "s", "hi"])
        .lines();
    assert_eq!(lines.answer(), "It begins well and");
    assert!(lines.warnings().contains(&"truncated"), "{lines:?}");
    goes_on(&world, &provider, wire, "s");
}

#[rstest]
fn a_run_stops_at_its_turns_and_the_next_one_goes_on(#[values(OpenAi, Anthropic)] wire: Wire) {
    let provider = Provider::start(wire);
    let world = provider.world().with("OUTFITTER_AGENT__MAX_TURNS", "3");
    for turn in 0..3 {
        let id = format!("c{turn}");
        provider.then(calls(wire, &[call(&id, "current_time", "")]));
    }
    let ran = world
        .run(&["run", "--json", "--session", "s", "hi"])
        .exits(1);
    assert_eq!(
        (ran.lines().outcome(), ran.lines().code()),
        ("limit", "limit")
    );
    assert_eq!(provider.requests().len(), 3);
    provider.then(answer(wire, "at last"));
    let ran = world.run(&["run", "--json", "--session", "s"]).exits(0);
    assert_eq!(ran.lines().answer(), "at last");
    goes_on(&world, &provider, wire, "s");
}

/// A server that counts nothing and closes its connection instead of saying the length.
#[test]
fn a_plain_old_server_is_understood() {
    let provider = Provider::start(OpenAi);
    let world = provider.world();
    let frame = r#"data: {"choices":[{"delta":{"content":"plain"},"finish_reason":"stop"}]}"#;
    provider.then(vec![
        crate::fake::close_delimited_head(),
        send(format!("{frame}\n\n")),
        Step::Close,
    ]);
    let ran = world.run(&["run", "--json", "hi"]).exits(0);
    assert_eq!(ran.lines().answer(), "plain");
    assert_eq!(ran.lines().all("usage")[0]["source"], "estimated");
}

/// What was begun with one provider can go on with another of the other wire.
#[rstest]
#[case(OpenAi, Anthropic)]
#[case(Anthropic, OpenAi)]
fn a_session_moves_to_another_wire(#[case] from: Wire, #[case] to: Wire) {
    let first = Provider::start(from);
    let mut world = first.world();
    first.then(calls(
        from,
        &[
            Part::Thought("hm"),
            Part::Text(" "),
            call(
                "functions.calculator:0",
                "calculator",
                r#"{"expression":"1"}"#,
            ),
            call("functions.calculator.0", "no such tool!", r#"{"expr"#),
        ],
    ));
    first.then(answer(from, "one"));
    world
        .run(&["run", "--json", "--session", "s", "hi"])
        .exits(0)
        .lines();
    let second = Provider::start(to);
    second.serve(&mut world);
    goes_on(&world, &second, to, "s");
    let request = second.last_request();
    assert_eq!(crate::requests::results(to, &request).len(), 2);
}
