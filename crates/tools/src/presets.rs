//! Arguments that the operator sets: a model neither sees nor gives them.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use outfitter_core::{CallId, Code, Fault, Principal, RunId, SessionId, ToolError, ToolSpec};
use serde_json::{Map, Value};

use crate::names_a_secret;
use crate::registered::Registered;

/// What a preset may depend on.
#[derive(Debug, Clone, Copy)]
pub struct PresetContext<'a> {
    /// Who acts.
    pub who: &'a Principal,
    /// In which session.
    pub session: &'a SessionId,
    /// In which run.
    pub run: &'a RunId,
    /// By which call.
    pub call: &'a CallId,
}

/// Computes a value for one call.
pub type PresetFn = Arc<dyn Fn(&PresetContext<'_>) -> Result<Value, ToolError> + Send + Sync>;

/// The value of one parameter.
#[derive(Clone)]
pub enum Preset {
    /// Always this.
    Constant(Value),
    /// What this computes, anew for each call.
    Computed(PresetFn),
}

impl Preset {
    fn value(&self, cx: &PresetContext<'_>) -> Result<Value, ToolError> {
        match self {
            Self::Constant(value) => Ok(value.clone()),
            // It may be anybody's code.
            Self::Computed(compute) => catch_unwind(AssertUnwindSafe(|| compute(cx)))
                .unwrap_or_else(|_| Err(ToolError::internal("an argument could not be set"))),
        }
    }
}

impl std::fmt::Debug for Preset {
    /// Values may be secrets.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Constant(_) => "Constant",
            Self::Computed(_) => "Computed",
        })
    }
}

/// The presets of one tool, by parameter.
pub(crate) type OfTool = BTreeMap<String, Preset>;

/// Presets by the names of tools and their parameters.
#[derive(Debug, Clone, Default)]
pub struct Presets(BTreeMap<String, Arc<OfTool>>);

/// A preset that cannot be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PresetFault {
    /// The tool.
    pub tool: String,
    /// Its parameter; none where there is no such tool.
    pub parameter: Option<String>,
    /// Why, one fragment.
    pub why: String,
}

impl From<PresetFault> for Fault {
    fn from(fault: PresetFault) -> Self {
        let why = match &fault.parameter {
            Some(parameter) => format!("its preset {parameter}: {}", fault.why),
            None => format!("it has presets, and {}", fault.why),
        };
        Self {
            what: fault.tool,
            why,
        }
    }
}

impl Presets {
    /// These and one more, in the place of one there was.
    pub fn set(&mut self, tool: impl Into<String>, parameter: impl Into<String>, preset: Preset) {
        let presets = self.0.entry(tool.into()).or_default();
        Arc::make_mut(presets).insert(parameter.into(), preset);
    }

    /// These and those, which win.
    #[must_use]
    pub fn over(mut self, those: &Self) -> Self {
        for (tool, presets) in &those.0 {
            for (parameter, preset) in &**presets {
                self.set(tool, parameter, preset.clone());
            }
        }
        self
    }

    /// The tools that have any.
    pub fn tools(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    pub(crate) fn of(&self, tool: &str) -> Option<&Arc<OfTool>> {
        self.0.get(tool)
    }

    /// The tool as it is with its presets: they are in no schema that is shown, while arguments
    /// are held to the whole.
    pub(crate) fn fitted(
        &self,
        tool: Arc<Registered>,
    ) -> Result<Arc<Registered>, Vec<PresetFault>> {
        let Some(presets) = self.of(tool.spec.name.as_str()) else {
            return Ok(tool);
        };
        let faults = faults(&tool, presets);
        if !faults.is_empty() {
            return Err(faults);
        }
        let mut schema = Value::clone(&tool.spec.input_schema);
        hide(&mut schema, presets, MAX_COMBINATORS);
        Ok(Arc::new(Registered {
            spec: Arc::new(ToolSpec {
                input_schema: Arc::new(schema),
                ..ToolSpec::clone(&tool.spec)
            }),
            presets: Some(presets.clone()),
            ..Registered::clone(&tool)
        }))
    }
}

/// How deep the combinators of a schema are followed where parameters are hidden.
const MAX_COMBINATORS: usize = 8;

/// What is wrong with the presets of a tool: parameters it has not, values that do not fit.
pub(crate) fn faults(tool: &Registered, presets: &OfTool) -> Vec<PresetFault> {
    let fault = |parameter: &str, why: String| PresetFault {
        tool: tool.spec.name.to_string(),
        parameter: Some(parameter.to_owned()),
        why,
    };
    let mut faults = Vec::new();
    for (parameter, preset) in presets {
        if !has_parameter(&tool.spec.input_schema, parameter, MAX_COMBINATORS) {
            faults.push(fault(
                parameter,
                "the tool has no such parameter".to_owned(),
            ));
        } else if let Preset::Constant(value) = preset
            && let Some(why) = unfit(tool, &Map::from_iter([(parameter.clone(), value.clone())]))
                .or_else(|| refused(tool, parameter, value))
        {
            faults.push(fault(parameter, why));
        }
    }
    faults
}

/// Why one of these values does not fit its parameter. What else is wrong with the arguments is
/// not looked at.
fn unfit(tool: &Registered, values: &Map<String, Value>) -> Option<String> {
    let whole = Value::Object(values.clone());
    let mut errors = tool.validator.iter_errors(&whole);
    errors.find_map(|error| {
        let at = error.instance_path().as_str();
        let parameter = at.strip_prefix('/')?.split('/').next()?;
        let parameter = parameter.replace("~1", "/").replace("~0", "~");
        // The value itself may be a secret.
        values
            .contains_key(&parameter)
            .then(|| format!("its value does not fit the schema: {}", error.masked()))
    })
}

/// Why the tool itself does not take this value of one of its parameters, which its schema cannot
/// say. What it says of the rest of the arguments, which are not there, is not looked at.
fn refused(tool: &Registered, parameter: &str, value: &Value) -> Option<String> {
    let args = Value::Object(Map::from_iter([(parameter.to_owned(), value.clone())]));
    // It may be anybody's code.
    let facts = catch_unwind(AssertUnwindSafe(|| tool.tool.facts(&args)));
    let error = facts.ok()?.err()?;
    let info = error.info();
    let pointer = format!("/{}", parameter.replace('~', "~0").replace('/', "~1"));
    if info.code != Code::InvalidArguments || info.path.as_deref() != Some(&pointer) {
        return None;
    }
    Some(match names_a_secret(parameter) {
        true => "the tool does not take its value".to_owned(),
        false => info.message.clone(),
    })
}

/// The arguments with their presets.
pub(crate) fn merged(
    tool: &Registered,
    presets: &OfTool,
    written: &Value,
    cx: &PresetContext<'_>,
) -> Result<Value, ToolError> {
    let mut values = Map::new();
    for (parameter, preset) in presets {
        values.insert(parameter.clone(), preset.value(cx)?);
    }
    let computed = presets
        .values()
        .any(|preset| matches!(preset, Preset::Computed(_)));
    if computed && let Some(why) = unfit(tool, &values) {
        tracing::error!(tool = %tool.spec.name, %why, "a preset does not fit");
        return Err(ToolError::internal(
            "an argument that is set for this tool does not fit it; this is not your fault",
        ));
    }
    let mut whole = written.clone();
    if let Value::Object(map) = &mut whole {
        map.extend(values);
    }
    Ok(whole)
}

/// The parameters that a schema shows.
pub(crate) fn shown_parameters(schema: &Value) -> Vec<&str> {
    let properties = schema.get("properties").and_then(Value::as_object);
    properties
        .map(|map| map.keys().map(String::as_str).collect())
        .unwrap_or_default()
}

fn has_parameter(schema: &Value, parameter: &str, depth: usize) -> bool {
    let here = schema
        .get("properties")
        .and_then(Value::as_object)
        .is_some_and(|properties| properties.contains_key(parameter));
    let Some(depth) = depth.checked_sub(1) else {
        return here;
    };
    here || COMBINATORS
        .iter()
        .filter_map(|keyword| schema.get(keyword)?.as_array())
        .flatten()
        .any(|branch| has_parameter(branch, parameter, depth))
}

const COMBINATORS: [&str; 3] = ["allOf", "anyOf", "oneOf"];

/// Takes parameters out of a schema, so that nothing in it speaks of them.
fn hide(schema: &mut Value, presets: &OfTool, depth: usize) {
    let Value::Object(schema) = schema else {
        return;
    };
    for keyword in ["properties", "dependentRequired", "dependentSchemas"] {
        if let Some(Value::Object(map)) = schema.get_mut(keyword) {
            map.retain(|name, _| !presets.contains_key(name));
        }
    }
    if let Some(Value::Array(required)) = schema.get_mut("required") {
        required.retain(|name| name.as_str().is_none_or(|name| !presets.contains_key(name)));
        if required.is_empty() {
            schema.remove("required");
        }
    }
    let Some(depth) = depth.checked_sub(1) else {
        return;
    };
    for keyword in COMBINATORS {
        if let Some(Value::Array(branches)) = schema.get_mut(keyword) {
            for branch in branches {
                hide(branch, presets, depth);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn presets(names: &[&str]) -> OfTool {
        let presets = names.iter().map(|name| (*name).to_owned());
        presets
            .map(|name| (name, Preset::Constant(Value::Null)))
            .collect()
    }

    #[test]
    fn nothing_in_a_schema_speaks_of_what_is_hidden() {
        let mut schema = json!({
            "type": "object",
            "properties": {"a": {"type": "string"}, "secret": {"type": "string"}},
            "required": ["secret"],
            "additionalProperties": false,
            "anyOf": [
                {"required": ["a"]},
                {"required": ["a", "secret"], "properties": {"secret": {"minLength": 3}}},
            ],
            "dependentRequired": {"secret": ["a"]},
        });
        hide(&mut schema, &presets(&["secret"]), MAX_COMBINATORS);
        assert!(!schema.to_string().contains("secret"), "{schema}");
        assert_eq!(schema["properties"], json!({"a": {"type": "string"}}));
        assert_eq!(schema["additionalProperties"], json!(false));
        assert!(schema.get("required").is_none());
    }

    #[test]
    fn a_parameter_of_a_branch_is_one() {
        let schema =
            json!({"oneOf": [{"properties": {"a": {}}}, {"allOf": [{"properties": {"b": {}}}]}]});
        assert!(has_parameter(&schema, "a", MAX_COMBINATORS));
        assert!(has_parameter(&schema, "b", MAX_COMBINATORS));
        assert!(!has_parameter(&schema, "c", MAX_COMBINATORS));
    }

    #[test]
    fn a_preset_does_not_tell_its_value() {
        let shown = format!("{:?}", Preset::Constant(json!("hunter22")));
        assert!(!shown.contains("hunter22"));
    }
}
