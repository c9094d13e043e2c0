//! Presets: a model neither sees nor gives them, and the record has what it wrote.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use outfitter_core::{Code, EntryBody, Facts, SourceId, Status, ToolError, Trust};
use outfitter_tools::{Found, Preset, PresetFault, Presets, ToolsConfig};
use serde_json::{Value, json};

use crate::support::{Probe, World, source};

fn weather() -> Probe {
    Probe::new("weather").schema(json!({
        "type": "object",
        "properties": {
            "city": {"type": "string"},
            "unit": {"type": "string", "enum": ["C", "F"]},
            "days": {"type": "integer"},
        },
        "required": ["city", "unit"],
        "additionalProperties": false,
    }))
}

fn world(tool: Probe, presets: Presets) -> World {
    let world = World::new([tool]);
    configure(&world, presets);
    world
}

fn configure(world: &World, presets: Presets) {
    world.registry.configure(ToolsConfig {
        presets,
        ..ToolsConfig::default()
    });
}

fn constant(tool: &str, parameter: &str, value: Value) -> Presets {
    let mut presets = Presets::default();
    presets.set(tool, parameter, Preset::Constant(value));
    presets
}

#[tokio::test]
async fn a_preset_is_in_no_schema_and_in_every_call() {
    let world = world(weather(), constant("weather", "unit", json!("C")));
    let schema = world.view().schemas()[0].parameters.clone();
    assert_eq!(
        *schema,
        json!({
            "type": "object",
            "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
            "required": ["city"],
            "additionalProperties": false,
        })
    );
    assert_eq!(*world.view().listing()[0].input_schema, *schema);
    let output = world.output("weather", r#"{"city":"Oslo"}"#).await;
    assert_eq!(output.result, Some(json!({"city": "Oslo", "unit": "C"})));
    // What is recorded is what was written.
    assert_eq!(output.tool_call_args, json!({"city": "Oslo"}));
}

#[tokio::test]
async fn a_model_that_gives_a_preset_is_refused() {
    let world = world(weather(), constant("weather", "unit", json!("C")));
    for given in ["\"C\"", "\"F\"", "null", "7"] {
        let raw = format!(r#"{{"city":"Oslo","unit":{given}}}"#);
        let output = world.output("weather", &raw).await;
        let error = output.error.as_ref().unwrap();
        assert_eq!(error.code, Code::InvalidArguments);
        assert_eq!(error.path.as_deref(), Some("/unit"));
        assert_eq!(error.expected, Some(json!(["city", "days"])));
        assert_eq!(output.result, None);
    }
}

/// Also where the schema lets in what it does not name.
#[tokio::test]
async fn an_open_schema_does_not_let_a_preset_in() {
    let open = Probe::new("open").schema(json!({
        "type": "object", "properties": {"key": {"type": "string"}},
    }));
    let world = world(open, constant("open", "key", json!("ours")));
    let output = world.output("open", r#"{"key":"theirs"}"#).await;
    assert_eq!(output.error.as_ref().unwrap().code, Code::InvalidArguments);
    let output = world.output("open", r#"{"other":"theirs"}"#).await;
    assert_eq!(
        output.result,
        Some(json!({"other": "theirs", "key": "ours"}))
    );
}

#[tokio::test]
async fn what_is_left_is_held_to_the_whole_schema() {
    let world = world(weather(), constant("weather", "unit", json!("C")));
    let output = world.output("weather", r#"{"days":"many"}"#).await;
    let error = output.error.as_ref().unwrap();
    assert_eq!(error.code, Code::InvalidArguments);
    let said = format!("{} {:?}", error.message, error.hint);
    assert!(said.contains("/city") && said.contains("/days"), "{said}");
    assert!(!said.contains("unit"), "{said}");
    assert_eq!(output.tool_call_args, json!({"days": "many"}));
}

#[tokio::test]
async fn a_computed_preset_is_computed_for_each_call() {
    let calls = Arc::new(AtomicU64::new(0));
    let counted = calls.clone();
    let mut presets = Presets::default();
    let compute = move |cx: &outfitter_tools::PresetContext<'_>| {
        let call = counted.fetch_add(1, Ordering::Relaxed);
        Ok(json!(format!(
            "{} {} {call}",
            cx.who.subject.as_str(),
            cx.session
        )))
    };
    presets.set("probe", "by", Preset::Computed(Arc::new(compute)));
    let probe = Probe::new("probe").schema(json!({
        "type": "object", "properties": {"by": {"type": "string"}},
    }));
    let world = world(probe, presets);
    for call in 0..3 {
        let output = world.output("probe", "").await;
        assert_eq!(
            output.result,
            Some(json!({"by": format!("ann ses {call}")}))
        );
    }
    // Refused calls compute nothing.
    world.output("probe", r#"{"by":"me"}"#).await;
    assert_eq!(calls.load(Ordering::Relaxed), 3);
}

#[tokio::test]
async fn a_preset_that_cannot_be_computed_is_not_the_models_fault() {
    type Compute = fn() -> Result<Value, ToolError>;
    let cases: [(Compute, Code); 3] = [
        (|| Err(ToolError::unavailable("no key")), Code::Unavailable),
        (|| panic!("boom"), Code::Internal),
        (|| Ok(json!("K")), Code::Internal),
    ];
    for (compute, code) in cases {
        let mut presets = Presets::default();
        presets.set(
            "weather",
            "unit",
            Preset::Computed(Arc::new(move |_| compute())),
        );
        let world = world(weather(), presets);
        let output = world.output("weather", r#"{"city":"Oslo"}"#).await;
        assert_eq!(output.error.as_ref().unwrap().code, code);
        assert_eq!(output.status, Status::Error);
    }
}

/// Policy and facts see what runs.
#[tokio::test]
async fn a_call_is_judged_with_its_presets() {
    let probe = Probe::new("send")
        .schema(json!({"type": "object", "properties": {"to": {"type": "string"}}}))
        .facts(|spec, args| {
            assert_eq!(args["to"], "ops");
            Ok(Facts::of(spec).about(args["to"].as_str().unwrap()))
        })
        .spec(|spec| spec.effects = outfitter_core::Effects::of(&[outfitter_core::Effect::Write]));
    let world = world(probe, constant("send", "to", json!("ops")));
    let output = world.output("send", "").await;
    assert_eq!(output.status, Status::Success);
    let recorded = format!("{:?}", world.journal.entries());
    assert!(
        world
            .journal
            .entries()
            .iter()
            .any(|entry| matches!(entry, EntryBody::Intent(_))),
        "{recorded}"
    );
}

#[tokio::test]
async fn a_wrapper_does_not_reach_a_tool_around_its_presets() {
    let wraps = Probe::new("wraps").facts(|spec, _| {
        Ok(Facts {
            inner: Some((
                outfitter_core::ToolName::new("weather").unwrap(),
                json!({"city": "x", "unit": "F"}),
            )),
            ..Facts::of(spec)
        })
    });
    let world = World::new([weather(), wraps]);
    configure(&world, constant("weather", "unit", json!("C")));
    let output = world.output("wraps", "").await;
    assert_eq!(output.error.as_ref().unwrap().code, Code::NotPermitted);
}

/// The arguments of a wrapped call are read as those of a direct call: a text that spells a number
/// is one where a number is asked for, and what does not fit is refused.
#[tokio::test]
async fn the_arguments_of_a_wrapped_call_are_read_as_those_of_a_direct_one() {
    for (days, status) in [("3", Status::Success), ("many", Status::Error)] {
        let inner = Probe::new("forecast")
            .schema(json!({"type": "object", "properties": {"days": {"type": "integer"}}}))
            .facts(|spec, args| {
                assert_eq!(args["days"], 3);
                Ok(Facts::of(spec))
            });
        let wraps = Probe::new("wraps").facts(move |spec, _| {
            Ok(Facts {
                inner: Some((
                    outfitter_core::ToolName::new("forecast").unwrap(),
                    json!({"days": days}),
                )),
                ..Facts::of(spec)
            })
        });
        let world = World::new([inner, wraps]);
        let output = world.output("wraps", "").await;
        assert_eq!(output.status, status, "{:?}", output.error);
        let raw = json!({"days": days}).to_string();
        assert_eq!(world.output("forecast", &raw).await.status, status);
    }
}

#[test]
fn presets_that_cannot_be_are_named() {
    let world = World::new([weather()]);
    let mut presets = constant("wether", "unit", json!("C"));
    presets.set("weather", "units", Preset::Constant(json!("C")));
    presets.set("weather", "unit", Preset::Constant(json!("K")));
    presets.set("later__tool", "x", Preset::Constant(json!(1)));
    let faults = world
        .registry
        .preset_faults(&presets, |name| name.starts_with("later"));
    let named: Vec<_> = faults
        .iter()
        .map(
            |PresetFault {
                 tool, parameter, ..
             }| (tool.as_str(), parameter.as_deref()),
        )
        .collect();
    assert_eq!(
        named,
        [
            ("weather", Some("unit")),
            ("weather", Some("units")),
            ("wether", None)
        ]
    );
    // The value may be a secret.
    assert!(
        faults.iter().all(|fault| !fault.why.contains('K')),
        "{faults:?}"
    );
}

/// A tool of a source that came later: it is left out, and said.
#[tokio::test]
async fn a_tool_whose_preset_cannot_be_is_not_called_without_it() {
    let world = World::new([]);
    configure(&world, constant("far__ask", "nothing", json!(1)));
    assert_eq!(world.registry.faults(), []);
    let tools = vec![Arc::new(Probe::new("ask")) as Arc<dyn outfitter_core::Tool>];
    world
        .registry
        .add(source("far", Trust::Remote, tools))
        .unwrap();
    let faults = world.registry.faults();
    assert_eq!(faults.len(), 1);
    assert_eq!(faults[0].source, SourceId::new("far").unwrap());
    assert!(faults[0].fault.why.contains("nothing"), "{faults:?}");
    assert_eq!(world.view().find("far__ask"), Found::NotPermitted);
    assert_eq!(world.view().schemas().len(), 0);
    let output = world.output("far__ask", "{}").await;
    assert_eq!(output.error.as_ref().unwrap().code, Code::NotPermitted);
}

#[tokio::test]
async fn an_alias_is_called_with_the_presets_of_its_tool_and_listed_nowhere() {
    let world = World::new([weather()]);
    world.registry.configure(ToolsConfig {
        aliases: [("forecast".to_owned(), "weather".to_owned())].into(),
        presets: constant("weather", "unit", json!("F")),
        ..ToolsConfig::default()
    });
    let output = world.output("forecast", r#"{"city":"Oslo"}"#).await;
    assert_eq!(output.result, Some(json!({"city": "Oslo", "unit": "F"})));
    let view = world.view();
    let listed: Vec<_> = view
        .listing()
        .iter()
        .map(|tool| tool.name.to_string())
        .collect();
    assert_eq!(listed, ["weather"]);
    assert!(view.presented().all(|name| name.as_str() == "weather"));
    assert_eq!(view.find("forecas"), Found::Unknown(vec![]));
}

#[tokio::test]
async fn a_preset_that_made_a_call_fail_was_blamed_on_an_argument_that_nobody_can_give() {
    let failing = Probe::new("weather")
        .schema(json!({
            "type": "object",
            "properties": {"city": {"type": "string"}, "cwd": {"type": "string"}},
            "additionalProperties": false,
        }))
        .call(|_, args| {
            let path = match args.get("city") {
                Some(_) => "/cwd/0",
                None => "/city",
            };
            let error = ToolError::invalid(path, "/hidden/place is not there");
            Box::pin(async move { Err(error) })
        });
    let world = world(failing, constant("weather", "cwd", json!("/hidden/place")));
    let output = world.output("weather", r#"{"city":"Oslo"}"#).await;
    let error = output.error.clone().unwrap();
    assert_eq!(error.code, Code::InvalidArguments);
    assert_eq!(error.path, None);
    assert!(error.message.contains("the operator has set"), "{error}");
    assert!(error.hint.as_ref().unwrap().contains("[tools] presets"));
    assert!(!format!("{error:?}").contains("hidden"), "{error}");
    // What the model gives is its own.
    let output = world.output("weather", "{}").await;
    let error = output.error.as_ref().unwrap();
    assert_eq!(error.path.as_deref(), Some("/city"));
}
