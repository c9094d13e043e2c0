//! What there is, as callers are told of it.

use std::collections::HashSet;
use std::sync::Arc;

use async_trait::async_trait;
use outfitter_core::{
    Attended, Listing, NameSet, Principal, Role, Scope, SessionFacts, SessionId, SourceId,
};
use outfitter_server::Directory;
use serde_json::{Value, json};

use super::Served;

#[async_trait]
impl Directory for Served {
    fn tools(&self, who: &Principal) -> Vec<Listing> {
        let proxy = self.sealed(who.role);
        let facts = SessionFacts {
            who: Arc::new(who.clone()),
            session: SessionId::mint(&**self.whole.clock()),
            attended: Attended::Yes,
            expanded: Arc::default(),
            suggested: None,
            skills: proxy.grant().skills.clone(),
        };
        proxy.view(&facts).listing()
    }

    fn skills(&self, _: &Principal) -> Vec<Value> {
        let proxy = self.whole.skills().proxy(&NameSet::all());
        proxy
            .listed()
            .map(|skill| {
                json!({
                    "name": skill.name().as_str(),
                    "description": skill.manifest.description,
                })
            })
            .collect()
    }

    /// Those that the caller may use.
    fn mcp_servers(&self, who: &Principal) -> Vec<Value> {
        let config = self.whole.config();
        let theirs = |name: &str| {
            let server = config.mcp.servers.get(name);
            server.is_none_or(|server| who.role >= server.min_role)
        };
        self.whole
            .servers()
            .into_iter()
            .filter(|server| theirs(&server.name))
            .filter_map(|server| serde_json::to_value(server).ok())
            .collect()
    }

    /// To guests, what concerns the sources of their own tools: the rest says what else there is,
    /// and where.
    fn diagnostics(&self, who: &Principal) -> Vec<Value> {
        let faults = self.whole.faults().into_iter();
        if who.role == Role::Guest {
            let theirs: HashSet<SourceId> = self
                .tools(who)
                .into_iter()
                .map(|tool| tool.source)
                .collect();
            return faults
                .filter(|fault| theirs.contains(&fault.source))
                .filter_map(|fault| serde_json::to_value(fault).ok())
                .collect();
        }
        let faults = faults.filter_map(|fault| serde_json::to_value(fault).ok());
        let idle = self.whole.idle_keys().idle.into_iter();
        let idle = idle.map(|idle| {
            let fault = json!({ "what": idle.key, "why": idle.why });
            json!({ "source": "configuration", "fault": fault })
        });
        faults.chain(idle).collect()
    }

    async fn sandboxed(&self) -> bool {
        self.whole.isolates().await
    }

    async fn jobs(&self, scope: &Scope, session: &SessionId) -> Vec<Value> {
        let jobs = self.whole.session_jobs(scope, session).await.into_iter();
        jobs.filter_map(|job| serde_json::to_value(job).ok())
            .collect()
    }
}
