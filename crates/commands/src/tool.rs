//! The tool: one tree of commands, as it was when it was described.

use std::sync::{Arc, Weak};

use async_trait::async_trait;
use outfitter_core::{
    Code, Facts, Reply, Role, SessionFacts, SourceStart, Tool, ToolContext, ToolError, ToolName,
    ToolSpec,
};
use serde_json::Value;

use crate::call::Call;
use crate::host::Host;
use crate::jwks_file::JwksFile;
use crate::offer::Offer;
use crate::program::Program;
use crate::spec::{self, Sees};
use crate::subcommand::Subcommand;
use crate::tree::Tree;

pub(crate) struct ProjectTool {
    tree: Arc<Tree>,
    host: Arc<Host>,
    jwks: Arc<JwksFile>,
    offer: Weak<Offer>,
    /// As the highest role sees it.
    spec: ToolSpec,
}

impl ProjectTool {
    pub(crate) fn new(
        name: ToolName,
        tree: Arc<Tree>,
        host: Arc<Host>,
        jwks: Arc<JwksFile>,
        offer: Weak<Offer>,
    ) -> Self {
        let spec = spec::of(&tree, name, &Sees::all());
        Self {
            tree,
            host,
            jwks,
            offer,
            spec,
        }
    }
}

#[async_trait]
impl Tool for ProjectTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn tailor(&self, session: &SessionFacts) -> Option<ToolSpec> {
        let sees = Sees {
            role: session.who.role,
            skills: session.skills.clone(),
        };
        let all = self.tree.subcommands().all(|one| sees.may(one));
        (!all).then(|| spec::of(&self.tree, self.spec.name.clone(), &sees))
    }

    fn facts(&self, args: &Value) -> Result<Facts, ToolError> {
        let call = Call::read(&self.tree, args)?;
        let least = call.subcommand.least_role();
        // Before anybody is asked. What is wrong with the arguments says what they should be, which
        // is nothing for a caller who may not make the call; who that is, only the call knows.
        if least == Role::Guest {
            call.subcommand.check(&call.args)?;
        }
        let effects = call.subcommand.effects;
        Ok(Facts {
            effects,
            min_role: least,
            idempotent: effects.read_only(),
            inner: None,
            subject: Some(call.subcommand.subject()),
            targets: outfitter_core::Targets::Arguments,
            unconfined: None,
        })
    }

    async fn call(&self, cx: &ToolContext, args: Value) -> Result<Reply, ToolError> {
        let call = Call::read(&self.tree, &args)?;
        let least = call.subcommand.least_role();
        // Judged before, for whoever comes by the pipeline.
        if cx.who.role < least {
            return Err(ToolError::new(
                Code::NotPermitted,
                format!("{} needs the role {least}", call.subcommand.subject()),
            ));
        }
        call.subcommand.check(&call.args)?;
        if let Some(offer) = self.offer.upgrade() {
            offer.ask_first(call.program, &cx.cancel).await?;
        }
        // It was judged by what was kept of it.
        if call.program.settings.start == SourceStart::AtFirstCall
            && !call.program.offers(call.subcommand)
        {
            return Err(is_another(call.program, call.subcommand));
        }
        call.program
            .call(&self.host, &self.jwks, cx, call.subcommand, &call.args)
            .await
            .map(Reply::from)
    }
}

/// What a call is told whose subcommand is another than the one that was judged, or gone.
fn is_another(program: &Program, subcommand: &Subcommand) -> ToolError {
    let (name, subject) = (&program.settings.name, subcommand.subject());
    ToolError::new(
        Code::Conflict,
        format!("the program {name} does not offer {subject} as it was known; nothing was called"),
    )
    .with_hint("what it offers now is in the next request")
}
