//! Operations of APIs as tools: what they take, what is sent, what comes back.

mod documents;
mod hops;
mod refused_uploads;
mod replies;
mod requests;
mod server;
mod styles;
mod uploads;

use std::sync::Arc;
use std::time::Duration;

use outfitter_builtin::{Api, ApiError, ApiSettings, Offer, PluginApis};
use outfitter_core::{
    Code, Fault, NameSet, Outcome, Principal, Reply, Role, Tool, ToolContext, ToolError,
    ToolSource as _, ToolSpec,
};
use outfitter_net::reqwest::Url;
use outfitter_net::{Client, ClientOptions};
use serde_json::{Value, json};

use crate::support::{PATIENCE, Shelf};

const LIBRARY: &str = include_str!("library.yaml");
const ORDERS: &str = include_str!("orders.json");

fn client() -> Client {
    Client::operator(ClientOptions::default()).unwrap()
}

/// `password` and `token` are credentials by their names.
fn settings(name: &str, url: Option<&str>) -> ApiSettings {
    ApiSettings {
        name: name.to_owned(),
        url: url.map(|url| Url::parse(url).unwrap()),
        headers: Vec::new(),
        query: Vec::new(),
        timeout: PATIENCE,
        is_credential: |name| matches!(name, "api_key" | "password" | "token"),
    }
}

fn document(text: &str) -> Offer {
    Offer::Document {
        text: text.to_owned(),
        from: None,
    }
}

fn read(settings: &ApiSettings, offer: Offer) -> Result<Api, ApiError> {
    Api::read(settings, offer, &client())
}

fn offering(api: Api) -> PluginApis {
    PluginApis::new(vec![api], Vec::new(), ["*".to_owned()]).unwrap()
}

fn offered(settings: &ApiSettings, offer: Offer) -> (Vec<Arc<dyn Tool>>, Vec<Fault>) {
    let snapshot = offering(read(settings, offer).unwrap()).snapshot();
    (snapshot.tools.clone(), snapshot.faults.clone())
}

fn library(url: Option<&str>) -> Vec<Arc<dyn Tool>> {
    offered(&settings("library", url), document(LIBRARY)).0
}

fn tool(tools: &[Arc<dyn Tool>], name: &str) -> Arc<dyn Tool> {
    let found = tools.iter().find(|tool| tool.spec().name.as_str() == name);
    found
        .unwrap_or_else(|| panic!("{name} is not there"))
        .clone()
}

fn admin() -> ToolContext {
    let mut cx = ToolContext::detached();
    cx.who = Arc::new(Principal {
        role: Role::Admin,
        ..(*cx.who).clone()
    });
    cx.artifacts = Arc::new(Shelf::default());
    cx
}

/// Calls a tool as the pipeline would: the arguments fit, and so does the result.
async fn call(tool: &dyn Tool, cx: &ToolContext, args: Value) -> Result<Outcome, ToolError> {
    let input = jsonschema::validator_for(&tool.spec().input_schema).unwrap();
    if let Err(error) = input.validate(&args) {
        panic!("{args}: {error}");
    }
    let reply = tokio::time::timeout(PATIENCE, tool.call(cx, args));
    let Reply::Done(outcome) = reply.await.unwrap()? else {
        panic!("it does not wait");
    };
    let output = tool.spec().output_schema.clone().unwrap();
    let output = jsonschema::validator_for(&output).unwrap();
    if let Err(error) = output.validate(&outcome.result) {
        panic!("{}: {error}", outcome.result);
    }
    Ok(*outcome)
}

/// A call of one was told of a name that nobody has.
#[test]
fn an_operation_of_an_api_that_could_not_be_read_was_an_unknown_tool() {
    let api = read(&settings("library", None), document(LIBRARY)).unwrap();
    let broken = Fault {
        what: "shop".to_owned(),
        why: "failed to read it".to_owned(),
    };
    let allowed = ["shop_*", "library_getBook"].map(str::to_owned);
    let source = PluginApis::new(vec![api], vec![broken], allowed).unwrap();
    let why = source.why_missing("call_shop_buy");
    assert_eq!(why.as_deref(), Some("shop: failed to read it"));
    for name in ["call_other_buy", "shop_buy", "file_read", ""] {
        assert_eq!(source.why_missing(name), None, "{name}");
    }
}

#[test]
fn nothing_is_offered_that_is_not_on_the_list() {
    let api = read(&settings("library", None), document(LIBRARY)).unwrap();
    let source = PluginApis::new(vec![api], Vec::new(), []).unwrap();
    let now = source.snapshot();
    assert!(now.tools.is_empty() && now.faults.is_empty());
    let names = |source: &PluginApis| -> Vec<String> {
        let snapshot = source.snapshot();
        let names = snapshot
            .tools
            .iter()
            .map(|tool| tool.spec().name.to_string());
        names.collect()
    };
    // With or without what all begin with, and as globs; at once.
    source.allow(["library_getBook", "call_library_has*", "other_*"].map(str::to_owned));
    assert_eq!(
        names(&source),
        ["call_library_getBook", "call_library_hasBook"]
    );
    assert!(source.snapshot().generation > now.generation);
    // What is wrong with other operations is nobody's business; a name of none is.
    let whys = |source: &PluginApis| -> Vec<String> {
        let snapshot = source.snapshot();
        let faults = snapshot
            .faults
            .iter()
            .filter(|fault| fault.what != "credentials");
        faults.map(|fault| fault.why.clone()).collect()
    };
    assert_eq!(whys(&source), ["no operation is called \"other_*\""]);
    source.allow(["library_getBok".to_owned()]);
    assert!(names(&source).is_empty());
    let close = "no operation is called \"library_getBok\", did you mean \"library_getBook\"?";
    assert_eq!(whys(&source), [close]);
    source.allow(["library_elsew*".to_owned()]);
    assert_eq!(
        whys(&source),
        [
            "the reference \"https://example.com/parameters.yaml#/Page\" leads out of the document; \
          only those inside it are followed"
        ]
    );
}

/// Arguments that a call cannot do without.
fn needed(spec: &ToolSpec) -> Value {
    let required = spec.input_schema["required"].as_array();
    let names = required.into_iter().flatten().filter_map(Value::as_str);
    names.map(|name| (name, json!("1"))).collect()
}

/// A yes that is remembered is for a subject.
#[test]
fn a_yes_to_one_pod_is_none_to_another() {
    let pod = |server: &str| {
        let path = |name: &str| json!({"name": name, "in": "path", "required": true, "schema": {"type": "string"}});
        let text = json!({
            "openapi": "3.1.0",
            "servers": [{"url": server}],
            "paths": {"/namespaces/{namespace}/pods/{name}": {"delete": {
                "operationId": "deletePod",
                "parameters": [path("namespace"), path("name")],
            }}},
        });
        offered(&settings("k", None), document(&text.to_string())).0
    };
    let about = |server: &str, args: Value| {
        let tools = pod(server);
        tool(&tools, "call_k_deletePod").facts(&args)
    };
    let subject = |server: &str, namespace: &str, name: &str| {
        let args = json!({"namespace": namespace, "name": name});
        about(server, args).unwrap().subject.unwrap()
    };
    let yes = subject("https://k.invalid/api/v1/", "test", "a b");
    assert_eq!(
        yes,
        "DELETE https://k.invalid/api/v1/namespaces/test/pods/a%20b"
    );
    assert_ne!(subject("https://k.invalid/api/v1", "test", "b"), yes);
    assert_ne!(subject("https://k.invalid/api/v1", "live", "a b"), yes);
    assert_ne!(subject("https://k.invalid/api/v2", "test", "a b"), yes);
    // Nobody is asked about a call that leads elsewhere.
    for args in [
        json!({"namespace": "..", "name": "a"}),
        json!({"name": "a"}),
    ] {
        let error = about("https://k.invalid", args).unwrap_err();
        assert_eq!(error.code(), Code::InvalidArguments);
    }
}

#[test]
fn an_operation_is_for_administrators_and_says_what_it_does_to_the_world() {
    let told: Vec<String> = library(None)
        .iter()
        .map(|tool| {
            let spec = tool.spec();
            assert_eq!(spec.min_role, Role::Admin);
            assert!(NameSet::of(["call_library_*"]).has(spec.name.as_str()));
            let effects = serde_json::to_string(&spec.effects).unwrap();
            let facts = tool.facts(&needed(spec)).unwrap();
            assert_eq!(
                (facts.effects, facts.idempotent),
                (spec.effects, spec.idempotent)
            );
            let subject = facts.subject.unwrap();
            format!("{} {effects} {} {subject}", spec.name, spec.idempotent)
        })
        .collect();
    insta::assert_snapshot!(told.join("\n"));
}

#[test]
fn a_timeout_of_the_call_outlasts_that_of_the_request() {
    let mut settings = settings("library", None);
    settings.timeout = Duration::from_secs(7);
    let (tools, _) = offered(&settings, document(LIBRARY));
    assert!(tools[0].spec().timeout.unwrap() > settings.timeout);
}
