//! What the tests of tools share.

mod growing;
mod screen;
mod script;
mod shelf;
mod workspace;

pub(crate) use growing::Growing;
pub(crate) use screen::Screen;
pub(crate) use script::{Pieces, Print, Script};
pub(crate) use shelf::Shelf;
pub(crate) use workspace::Workspace;

use std::sync::Arc;
use std::time::Duration;

use outfitter_builtin::{BuiltinOptions, builtin_tools};
use outfitter_core::{Outcome, Principal, Reply, Role, Sandbox, Tool, ToolContext, ToolError};
use serde_json::Value;

/// Nothing here takes this long; a test that hangs ends.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// The tools, by name, called as the pipeline calls them: arguments and results are held to the
/// schemas.
pub(crate) struct Tools(Vec<Arc<dyn Tool>>);

impl Tools {
    pub(crate) fn new(options: &BuiltinOptions) -> Self {
        Self(builtin_tools(options))
    }

    fn named(&self, name: &str) -> &dyn Tool {
        let tool = self.0.iter().find(|tool| tool.spec().name.as_str() == name);
        &**tool.expect("a tool of that name")
    }

    /// Whether the arguments fit the schema.
    pub(crate) fn fits(&self, name: &str, args: &Value) -> bool {
        jsonschema::validator_for(&self.named(name).spec().input_schema)
            .unwrap()
            .is_valid(args)
    }

    pub(crate) async fn call(
        &self,
        name: &str,
        cx: &ToolContext,
        args: Value,
    ) -> Result<Outcome, ToolError> {
        assert!(self.fits(name, &args), "{args} does not fit {name}");
        self.call_unchecked(name, cx, args).await
    }

    /// Also with arguments that the pipeline would have refused.
    pub(crate) async fn call_unchecked(
        &self,
        name: &str,
        cx: &ToolContext,
        args: Value,
    ) -> Result<Outcome, ToolError> {
        let tool = self.named(name);
        let reply = tokio::time::timeout(PATIENCE, tool.call(cx, args))
            .await
            .expect("the call ends")?;
        let Reply::Done(outcome) = reply else {
            panic!("no built-in waits");
        };
        let schema = tool.spec().output_schema.clone().expect("an output schema");
        let validator = jsonschema::validator_for(&schema).unwrap();
        if let Err(error) = validator.validate(&outcome.result) {
            panic!("{name}: {error}\n{:#}", outcome.result);
        }
        Ok(*outcome)
    }
}

/// A context of somebody with this role in this sandbox.
pub(crate) fn context(sandbox: Arc<dyn Sandbox>, role: Role) -> ToolContext {
    let mut cx = ToolContext::detached();
    cx.who = Arc::new(Principal {
        role,
        ..(*cx.who).clone()
    });
    cx.sandbox = sandbox;
    cx
}
