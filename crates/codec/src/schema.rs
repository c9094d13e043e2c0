//! The JSON Schemas of everything here, made from the wire forms.
//!
//! They are open: fields may be added without a new version, and a reader ignores what it does not
//! know. Only `run_finished.output` is closed, because its four fields are the promise.

use schemars::generate::{SchemaGenerator, SchemaSettings};
use schemars::transform::{Transform, transform_subschemas};
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value, json};

use crate::agui::AguiBody;
use crate::ui::{Hints, UiSchema};
use crate::wire::{
    self, Answered, Approval, Delta, Line, MessageLine, Question, RunFinished, RunStarted,
    ToolCallLine, ToolProgress, Usage, Versioned, Waiting, Warning,
};

/// One file of `docs/protocols/`.
#[derive(Debug, Clone, PartialEq)]
pub struct SchemaFile {
    /// Its name.
    pub name: &'static str,
    /// The schema.
    pub schema: Value,
}

impl SchemaFile {
    /// The text of the file.
    #[must_use]
    pub fn text(&self) -> String {
        format!("{:#}\n", self.schema)
    }
}

/// Every schema of the protocols.
#[must_use]
pub fn schema_files() -> Vec<SchemaFile> {
    vec![
        events(),
        document::<Versioned<wire::ToolOutput<'static>>>(
            "tool-output.schema.json",
            "Outfitter: the result of one call, version 1",
        ),
        list::<Versioned<wire::Listing<'static>>>(
            "tool-list.schema.json",
            "Outfitter: the tools that the caller may use, version 1",
        ),
        document::<Versioned<wire::ErrorDocument<'static>>>(
            "error.schema.json",
            "Outfitter: an error that ends a command, version 1",
        ),
        document::<Versioned<wire::SessionList<'static>>>(
            "session-list.schema.json",
            "Outfitter: the sessions of the caller, version 1",
        ),
        document::<Versioned<wire::SessionMessages<'static>>>(
            "session.schema.json",
            "Outfitter: the messages of a session, version 1",
        ),
        document::<UiSchema>(
            "ui-schema.schema.json",
            "Outfitter: what a renderer draws for one result, version 1",
        ),
        hints(),
        agui(),
    ]
}

/// Hints are closed: a mistyped field is told to the tool's author.
fn hints() -> SchemaFile {
    let mut generator = settings().for_deserialize().into_generator();
    let body = json!({ "allOf": [generator.subschema_for::<Hints>()] });
    let title = "Outfitter: what a result means to a reader, version 1";
    file("ui-hints.schema.json", title, body, generator)
}

/// Every event has its instant beside what it says.
fn agui() -> SchemaFile {
    let mut generator = generator();
    generator.subschema_for::<AguiBody>();
    let title = "Outfitter: one event of the AG-UI 1.0 stream, as this server sends it";
    let mut made = file("agui-event.schema.json", title, json!({}), generator);
    let definitions = made.schema.get_mut("$defs").and_then(Value::as_object_mut);
    let mut events = definitions
        .and_then(|definitions| definitions.shift_remove("AguiBody"))
        .unwrap_or_default();
    let forms = events.get_mut("oneOf").and_then(Value::as_array_mut);
    for form in forms.into_iter().flatten() {
        if let Some(Value::Object(properties)) = form.get_mut("properties") {
            let integer = json!({
                "description": "When, in Unix milliseconds.",
                "type": "integer",
                "minimum": 0,
            });
            properties.insert("timestamp".to_owned(), integer);
        }
        if let Some(Value::Array(required)) = form.get_mut("required") {
            required.push(json!("timestamp"));
        }
    }
    made.schema["oneOf"] = events["oneOf"].take();
    made
}

fn events() -> SchemaFile {
    let mut generator = generator();
    let lines = [
        line::<RunStarted<'static>>(&mut generator),
        line::<Delta<'static>>(&mut generator),
        line::<MessageLine<'static>>(&mut generator),
        line::<ToolCallLine<'static>>(&mut generator),
        line::<ToolProgress<'static>>(&mut generator),
        line::<Question<'static>>(&mut generator),
        line::<Approval<'static>>(&mut generator),
        line::<Waiting<'static>>(&mut generator),
        line::<Answered<'static>>(&mut generator),
        line::<Warning<'static>>(&mut generator),
        line::<Usage>(&mut generator),
        line::<RunFinished<'static>>(&mut generator),
    ];
    let title = "Outfitter: one line of an event stream, version 1";
    let body = json!({ "oneOf": lines });
    file("event.schema.json", title, body, generator)
}

fn line<B: wire::Body + JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<Line<'static, B>>()
}

fn list<T: JsonSchema>(name: &'static str, title: &'static str) -> SchemaFile {
    let mut generator = generator();
    let body = json!({ "type": "array", "items": generator.subschema_for::<T>() });
    file(name, title, body, generator)
}

/// The schema of a document that another crate writes, in the form of those here.
#[must_use]
pub fn document_schema<T: JsonSchema>(name: &'static str, title: &'static str) -> SchemaFile {
    document::<T>(name, title)
}

fn document<T: JsonSchema>(name: &'static str, title: &'static str) -> SchemaFile {
    let mut generator = generator();
    let body = json!({ "allOf": [generator.subschema_for::<T>()] });
    file(name, title, body, generator)
}

fn file(
    name: &'static str,
    title: &'static str,
    body: Value,
    mut generator: SchemaGenerator,
) -> SchemaFile {
    let mut schema = Map::new();
    schema.insert(
        "$schema".to_owned(),
        json!("https://json-schema.org/draft/2020-12/schema"),
    );
    schema.insert("title".to_owned(), json!(title));
    if let Value::Object(body) = body {
        schema.extend(body);
    }
    schema.insert(
        "$defs".to_owned(),
        Value::Object(generator.take_definitions(true)),
    );
    SchemaFile {
        name,
        schema: Value::Object(schema),
    }
}

fn generator() -> SchemaGenerator {
    settings().for_serialize().into_generator()
}

fn settings() -> SchemaSettings {
    SchemaSettings::draft2020_12()
        .with_transform(NeverNull)
        .with_transform(Tidy)
}

/// An optional field is left out, never null: its schema does not offer null either.
#[derive(Debug, Clone)]
struct NeverNull;

impl Transform for NeverNull {
    fn transform(&mut self, schema: &mut Schema) {
        if let Some(Value::Array(types)) = schema.get_mut("type") {
            types.retain(|kind| kind != "null");
            if let [only] = &mut types[..] {
                let only = only.take();
                schema.insert("type".to_owned(), only);
            }
        }
        if let Some(Value::Array(choices)) = schema.get_mut("anyOf") {
            choices.retain(|choice| choice != &json!({ "type": "null" }));
            if let [Value::Object(only)] = &mut choices[..] {
                let only = std::mem::take(only);
                schema.remove("anyOf");
                for (key, value) in only {
                    schema.insert(key, value);
                }
            }
        }
        transform_subschemas(self, schema);
    }
}

/// Rust's number formats and the line breaks of its comments say nothing to other readers.
#[derive(Debug, Clone)]
struct Tidy;

impl Transform for Tidy {
    fn transform(&mut self, schema: &mut Schema) {
        if let Some(Value::String(description)) = schema.get_mut("description") {
            *description = description.replace('\n', " ");
        }
        if let Some(Value::String(format)) = schema.get("format")
            && matches!(format.as_str(), "uint64" | "uint32" | "double")
        {
            schema.remove("format");
        }
        transform_subschemas(self, schema);
    }
}
