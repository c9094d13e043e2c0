//! Tools that are not shown: deferred ones until they are asked for, hidden ones never. A model is
//! refused what it was not shown, wherever its run comes from; who calls by name was shown nothing
//! and is refused nothing for it, wherever the call comes from.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use outfitter::{
    Arguments, CallEnd, CallId, Cancel, Effects, Exposure, Input, NoSubscriber, Outcome, RawCall,
    Reply, Role, Tool, ToolContext, ToolError, ToolName, ToolSpec,
};
use rstest::rstest;
use serde_json::{Value, json};

use crate::mcp::{self, Mcp};
use crate::rows::said;
use crate::served::{outputs, words};
use crate::within::{Within, whole};
use crate::world::World;

struct Quiet(ToolSpec);

#[async_trait]
impl Tool for Quiet {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    async fn call(&self, _: &ToolContext, _: Value) -> Result<Reply, ToolError> {
        Ok(Outcome::json(json!("heard")).into())
    }
}

fn tool(name: &str, exposure: Exposure, min_role: Role) -> Arc<dyn Tool> {
    let schema = json!({"type": "object", "properties": {}});
    let mut spec = ToolSpec::new(ToolName::new(name).unwrap(), "A tool of the tests.", schema);
    spec.exposure = exposure;
    spec.min_role = min_role;
    spec.effects = Effects::READ;
    Arc::new(Quiet(spec))
}

fn tools(builder: outfitter::Builder) -> outfitter::Builder {
    [
        tool("deferred", Exposure::Deferred, Role::Guest),
        tool("deferred_above", Exposure::Deferred, Role::Admin),
        tool("hidden", Exposure::Hidden, Role::Guest),
        tool("hidden_above", Exposure::Hidden, Role::Admin),
    ]
    .into_iter()
    .fold(builder, outfitter::Builder::tool)
}

const NAMES: [&str; 4] = ["deferred", "deferred_above", "hidden", "hidden_above"];

/// Who calls.
#[derive(Clone, Copy, PartialEq)]
enum By {
    Model,
    ModelThatAskedForThem,
    Name,
}

fn expected(role: Role, by: By) -> Results {
    NAMES
        .into_iter()
        .map(|name| {
            let above = name.ends_with("_above") && role < Role::Admin;
            let unseen = name.starts_with("deferred") && by == By::Model;
            let verdict = match (above, unseen) {
                (true, _) => said("not_permitted"),
                (false, true) => said("not_presented"),
                (false, false) => "success".to_owned(),
            };
            (name, verdict)
        })
        .collect()
}

fn of_output(output: &Value) -> String {
    let status = output["status"]
        .as_str()
        .unwrap_or_else(|| panic!("{output}"));
    match output["error"]["code"].as_str() {
        Some(code) => format!("{status} {code}"),
        None => status.to_owned(),
    }
}

/// What a person writes to the model of these tests.
fn asked() -> String {
    let calls: Vec<Value> = NAMES
        .iter()
        .map(|name| json!({"id": name, "name": name, "arguments": {}}))
        .collect();
    Value::Array(calls).to_string()
}

#[rstest]
#[case(Role::Guest, "local/local/guest")]
#[case(Role::Admin, "local/local/admin")]
fn who_calls_by_name_was_refused_what_only_a_model_was_not_shown(
    #[case] role: Role,
    #[case] token: &'static str,
) {
    let world = World::new();
    let within = Within::start(&world, tools);
    let at = within.by(token);
    let holds = |way: &str, by: By, got: Results| {
        assert_eq!(got, expected(role, by), "{way}");
    };
    let of_lines = |lines: &[Value]| -> Results {
        let outputs = outputs(lines);
        let of = |name| outputs.iter().find(|output| output["tool_call_id"] == name);
        NAMES
            .map(|name| {
                (
                    name,
                    of_output(of(name).unwrap_or_else(|| panic!("{lines:#?}"))),
                )
            })
            .into()
    };

    let run = |session: &str, input: String| {
        let body = json!({"session_id": session, "input": input});
        at.post("/v1/runs", &body).is(200).lines()
    };
    holds("ndjson", By::Model, of_lines(&run("ndjson", asked())));
    let direct = |session: &str| {
        let call = |name| of_output(&at.call(session, name, &json!({})).json());
        NAMES.map(|name| (name, call(name))).into()
    };
    holds("http-call", By::Name, direct("http-call"));
    // Also where the last request of the session showed a model less.
    holds("http-call after a run", By::Name, direct("ndjson"));
    let mut input = words("m1");
    input["messages"][0]["content"] = json!(asked());
    input["protocolVersion"] = json!("1.0");
    let told = at.agui("agui", "r1", &input).sse();
    let result = |name: &str| {
        let mut results = told
            .iter()
            .filter(|event| event["type"] == "TOOL_CALL_RESULT");
        let result = results.find(|event| event["toolCallId"] == name).unwrap();
        of_output(&result["metadata"]["outfitter"])
    };
    let agui = NAMES.map(|name| (name, result(name)));
    holds("agui", By::Model, agui.into());
    for client in [Mcp::modern(&at), Mcp::legacy(&at)] {
        let listed = client.tools();
        let told = |name: &str| listed.iter().any(|listed| listed == name);
        assert!(told("deferred") && !told("hidden"), "{listed:?}");
        assert_eq!(told("deferred_above"), role == Role::Admin, "{listed:?}");
        for name in [
            "ask_user",
            "questionnaire",
            "tool_expand_tools",
            "tool_search",
        ] {
            assert!(!told(name), "{name} can do nothing there: {listed:?}");
        }
        let call = |name| match mcp::code(&client.call(name, &json!({}))) {
            Some(code) => said(&code),
            None => "success".to_owned(),
        };
        let mcp = NAMES.map(|name| (name, call(name)));
        holds("mcp", By::Name, mcp.into());
    }
    let (direct_there, run_there) = in_process(&world, role);
    holds("terminal, a direct call", By::Name, direct_there);
    holds("terminal, a run", By::Model, run_there);

    // Asked for once, it is there for the rest of the session, at each entrance.
    let names = json!({"tool_names": ["deferred", "deferred_above"]});
    let expand = json!([{"id": "e", "name": "tool_expand_tools", "arguments": names}]);
    run("expanded", expand.to_string());
    let lines = run("expanded", asked());
    holds("expanded", By::ModelThatAskedForThem, of_lines(&lines));
    holds("expanded, a direct call", By::Name, direct("expanded"));
    let audit = at.get("/v1/sessions/expanded").json();
    assert_eq!(audit["audit_status"]["tools_expanded"], true);
}

/// As the command line makes direct calls and runs.
fn in_process(world: &World, role: Role) -> (Results, Results) {
    let whole = whole(world, |_| {}, tools);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let session = whole
            .open(outfitter::SessionOptions {
                id: outfitter::SessionId::new("terminal").unwrap(),
                role,
                workspace: world.work(""),
                attended: outfitter::Attended::No,
                prompt: None,
            })
            .await
            .unwrap();
        let (mut all, mut of_run) = (BTreeMap::new(), BTreeMap::new());
        for name in NAMES {
            let call = RawCall {
                id: CallId::mint(&**whole.clock()),
                name: name.to_owned(),
                arguments: Arguments::parse("{}"),
            };
            let caller = whole.caller();
            let end = caller.call(&session, call, Cancel::new(), Arc::new(NoSubscriber));
            let CallEnd::Output(output) = end.await.unwrap() else {
                panic!("{name} waits");
            };
            all.insert(name, of_output(&serde_json::to_value(&*output).unwrap()));
        }
        let input = Input::Prompt(asked());
        let agent = whole.agent().unwrap();
        let run = agent.run(&session, input, Cancel::new(), Arc::new(NoSubscriber));
        run.await.unwrap();
        let scope = whole.local_scope();
        let from = outfitter::Seq(1);
        let page = whole
            .log()
            .read(&scope, &session.id, from, 1_000)
            .await
            .unwrap();
        for entry in page.entries {
            let outfitter::EntryBody::Event(outfitter::EventBody::Message(message)) = &entry.body
            else {
                continue;
            };
            let Some(output) = &message.output else {
                continue;
            };
            let name = NAMES
                .into_iter()
                .find(|name| *name == output.tool_call_id.as_str());
            if let Some(name) = name {
                let output = of_output(&serde_json::to_value(&**output).unwrap());
                of_run.insert(name, output);
            }
        }
        (all, of_run)
    })
}

type Results = BTreeMap<&'static str, String>;
