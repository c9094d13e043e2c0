//! What `#[tool]` makes of functions.

use outfitter_core::{
    Code, Effect, Effects, ErrorInfo, Exposure, Outcome, Reply, Role, ToolContext, ToolError,
    ToolSpec,
};
use outfitter_tools::{NativeSource, tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::support::World;

/// The weather in a city,
/// now.
///
/// Not for other days.
#[tool(crate = outfitter_tools, name = "get_weather")]
async fn get_weather(
    /// The name of the city.
    city: String,
    /// How many days.
    #[serde(default)]
    #[schemars(range(max = 7))]
    days: u8,
    unit: Option<Unit>,
) -> Value {
    json!({"city": city, "days": days, "metric": unit.is_none()})
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Unit {
    Celsius,
    Fahrenheit,
}

#[derive(Debug, Deserialize, JsonSchema, Serialize)]
struct Sum {
    /// The numbers.
    numbers: Vec<i64>,
}

/// Adds.
#[tool(
    crate = outfitter_tools,
    effects(read, exec),
    min_role = "admin",
    exposure = "always",
    timeout_seconds = 9,
    idempotent,
    keywords("sum", "和"),
    output = Sum,
    register = false
)]
fn add_all(cx: &ToolContext, args: Sum) -> Result<Sum, String> {
    assert_eq!(cx.who.subject.as_str(), "ann");
    match args.numbers.as_slice() {
        [] => Err("there is nothing to add".to_owned()),
        numbers => Ok(Sum {
            numbers: vec![numbers.iter().sum()],
        }),
    }
}

struct Refused;

impl From<Refused> for ToolError {
    fn from(_: Refused) -> Self {
        Self::new(Code::Conflict, "somebody was faster")
    }
}

type Aliased<T> = Result<T, Refused>;

/// Ends in as many ways as there are.
#[tool(crate = outfitter_tools, register = false)]
async fn any_end(how: String, cx: &ToolContext) -> Aliased<Reply> {
    cx.progress.info("begun");
    match how.as_str() {
        "outcome" => Ok(Outcome::text("an outcome").into()),
        _ => Err(Refused),
    }
}

/// Gives an outcome.
#[tool(crate = outfitter_tools, register = false)]
async fn outcome_of(Sum { numbers }: Sum) -> Outcome {
    Outcome::json(json!(numbers)).failing(ErrorInfo::new(Code::Failed, "beside"))
}

/// Has names that Rust keeps for itself.
#[tool(crate = outfitter_tools, register = false)]
fn r#match(r#type: String, mut times: u8) -> String {
    times += 1;
    r#type.repeat(times.into())
}

/// Is not there, and neither is its tool.
#[tool(crate = outfitter_tools)]
#[cfg(any())]
fn left_out(missing: NoSuchType) {}

/// Gives nothing.
#[tool(crate = outfitter_tools, register = false)]
fn nothing() {}

fn spec(tool: &dyn outfitter_core::Tool) -> Value {
    let ToolSpec {
        name,
        description,
        input_schema,
        output_schema,
        exposure,
        min_role,
        effects,
        idempotent,
        timeout,
        keywords,
    } = tool.spec();
    json!({
        "name": name, "description": description, "input": input_schema, "output": output_schema,
        "exposure": exposure, "min_role": min_role, "effects": effects, "idempotent": idempotent,
        "timeout": timeout.map(|span| span.as_secs()), "keywords": keywords,
    })
}

#[test]
fn parameters_become_a_schema_with_their_doc_comments() {
    insta::assert_json_snapshot!(spec(&*get_weather::tool()));
}

#[test]
fn options_become_the_spec() {
    let tool = add_all::tool();
    assert_eq!(
        tool.spec().effects,
        Effects::of(&[Effect::Read, Effect::Exec])
    );
    assert_eq!(tool.spec().min_role, Role::Admin);
    assert_eq!(tool.spec().exposure, Exposure::Always);
    insta::assert_json_snapshot!(spec(&*tool));
}

#[tokio::test]
async fn functions_take_and_give_what_they_say() {
    let world = World::of(vec![
        get_weather::tool(),
        add_all::tool(),
        any_end::tool(),
        outcome_of::tool(),
        nothing::tool(),
        r#match::tool(),
    ])
    .role(Role::Admin);
    let mut rows = Vec::new();
    for (name, raw) in [
        ("get_weather", r#"{"city":"Oslo"}"#),
        (
            "get_weather",
            r#"{"city":"Oslo","days":2,"unit":"celsius"}"#,
        ),
        ("get_weather", r#"{"city":"Oslo","unit":null}"#),
        ("get_weather", r#"{"city":"Oslo","days":8}"#),
        ("get_weather", r#"{"city":"Oslo","contry":"NO"}"#),
        ("add_all", r#"{"numbers":[1,2]}"#),
        ("add_all", r#"{"numbers":[]}"#),
        ("add_all", r#"{"numbers":[1],"more":true}"#),
        ("any_end", r#"{"how":"outcome"}"#),
        ("any_end", r#"{"how":"other"}"#),
        ("outcome_of", r#"{"numbers":[3]}"#),
        ("nothing", ""),
        ("match", r#"{"type":"ab","times":1}"#),
        ("match", r#"{"type":"ab","times":256}"#),
    ] {
        let output = world.output(name, raw).await;
        rows.push(format!(
            "{name} {raw}\n  {} {}",
            output.status.as_str(),
            world.read_by_model()
        ));
    }
    insta::assert_snapshot!(rows.join("\n"));
}

#[test]
fn a_function_stays_callable() {
    nothing();
}

#[test]
fn only_what_is_to_be_registered_is() {
    let source = NativeSource::linked(
        outfitter_core::SourceId::new("linked").unwrap(),
        outfitter_core::Trust::Operator,
        |tool| tool.package == "outfitter-tools",
    );
    let names: Vec<String> = outfitter_core::ToolSource::snapshot(&source)
        .tools
        .iter()
        .map(|tool| tool.spec().name.to_string())
        .collect();
    assert_eq!(names, ["get_weather"]);
}
