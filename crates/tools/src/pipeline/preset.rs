//! Presets: what the operator sets is put to the arguments, and what the model gives of it is
//! refused. From here on the arguments are the whole; what the model wrote stays what is recorded.

use outfitter_core::{Code, ErrorInfo};
use serde_json::{Value, json};

use super::{Refusal, Shown, Stage};
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
            Ok(Shown {
                head,
                args: whole,
                tool,
            })
        }
        Err(error) => Err(Refusal::new(head, args, error.into_info())),
    }
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
