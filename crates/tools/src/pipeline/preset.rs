//! Presets: what the operator sets is put to the arguments, and what the model gives of it is
//! refused. From here on the arguments are the whole; what the model wrote stays what is recorded.

use outfitter_core::{Code, ErrorInfo};
use serde_json::{Value, json};

use super::{Head, Refusal, Shown, Stage};
use crate::RunHandle;
use crate::presets::{OfTool, PresetContext, merged, shown_parameters};
use crate::registered::Registered;
use crate::schema_hint::schema_hint;

pub(crate) fn preset<'v>(shown: Shown<'v>, run: &RunHandle) -> Stage<Shown<'v>> {
    let Shown {
        mut head,
        args,
        tool,
    } = shown;
    let Some(presets) = &tool.presets else {
        return Ok(Shown { head, args, tool });
    };
    if let Some(error) = given(&args, presets, tool) {
        return Err(Refusal::new(head, args, error));
    }
    let cx = PresetContext {
        who: &run.who,
        session: &run.session,
        run: &run.run,
        call: &head.id,
    };
    match merged(tool, presets, &args, &cx) {
        Ok(whole) => {
            head.written = Some(args);
            head.presets = Some(presets.clone());
            Ok(Shown {
                head,
                args: whole,
                tool,
            })
        }
        Err(error) => Err(Refusal::new(head, args, error.into_info())),
    }
}

/// An error over a preset, as the model is told of it: it cannot give another, and its value is
/// none of its business.
pub(super) fn not_to_blame(error: &mut ErrorInfo, head: &Head) {
    let (Some(presets), Some(path)) = (&head.presets, &error.path) else {
        return;
    };
    let Some(first) = path
        .strip_prefix('/')
        .and_then(|path| path.split('/').next())
    else {
        return;
    };
    let parameter = first.replace("~1", "/").replace("~0", "~");
    if !presets.contains_key(&parameter) {
        return;
    }
    let tool = &head.name;
    tracing::error!(%tool, %parameter, %error, "a call failed over its preset");
    let message = format!(
        "what the operator has set for {tool} does not fit; it is no argument that you give"
    );
    *error = ErrorInfo::new(error.code, message)
        .with_hint("tell the person: the operator has to look at [tools] presets");
}

/// A preset that the model gave all the same: to it, there is no such parameter.
fn given(args: &Value, presets: &OfTool, tool: &Registered) -> Option<ErrorInfo> {
    let args = args.as_object()?;
    let name = presets.keys().find(|name| args.contains_key(*name))?;
    let schema = &tool.spec.input_schema;
    let path = format!("/{}", name.replace('~', "~0").replace('/', "~1"));
    let message = format!("the arguments do not fit the schema: {path} is not known");
    let mut error = ErrorInfo::new(Code::InvalidArguments, message);
    error.expected = Some(json!(shown_parameters(schema)));
    error.path = Some(path);
    Some(error.with_hint(schema_hint(schema)))
}
