//! What there is, as callers are told of it.

use std::sync::Arc;

use async_trait::async_trait;
use outfitter_core::{Attended, Listing, NameSet, Principal, Scope, SessionFacts, SessionId};
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

    fn mcp_servers(&self, _: &Principal) -> Vec<Value> {
        self.whole
            .servers()
            .into_iter()
            .filter_map(|server| serde_json::to_value(server).ok())
            .collect()
    }

    fn diagnostics(&self, _: &Principal) -> Vec<Value> {
        let faults = self.whole.faults().into_iter();
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
