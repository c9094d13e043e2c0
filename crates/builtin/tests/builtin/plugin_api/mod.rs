//! Operations of APIs as tools: what they take, what is sent, what comes back.

mod documents;
mod replies;
mod requests;
mod server;

use std::sync::Arc;
use std::time::Duration;

use outfitter_builtin::{Api, ApiError, ApiSettings, Offer, PluginApis};
use outfitter_core::{
    Fault, NameSet, Outcome, Principal, Reply, Role, Tool, ToolContext, ToolError, ToolSource as _,
};
use outfitter_net::reqwest::Url;
use outfitter_net::{Client, ClientOptions};
use serde_json::Value;

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
    source.allow(["library_addC*".to_owned()]);
    assert_eq!(
        whys(&source),
        ["its field \"image\" is a file, and only texts are written"]
    );
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
            let facts = tool.facts(&Value::Null).unwrap();
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
