//! Who calls a server of this machine.

use std::sync::Arc;

use async_trait::async_trait;
use outfitter_core::{ErrorInfo, Principal, Scope};
use outfitter_server::{Caller, LocalPrincipals, Principals};

use crate::outfit::Outfitter;

/// Everybody who can reach this machine's loopback is the person at it, with the role that the
/// configuration gives callers now.
pub struct ServedPrincipals(Arc<Outfitter>);

impl ServedPrincipals {
    /// The principals of this whole.
    #[must_use]
    pub fn new(whole: Arc<Outfitter>) -> Self {
        Self(whole)
    }

    fn now(&self) -> LocalPrincipals {
        let scope = self.0.local_scope();
        LocalPrincipals {
            tenant: scope.tenant,
            subject: scope.subject,
            role: self.0.config().permissions.http_role,
        }
    }
}

#[async_trait]
impl Principals for ServedPrincipals {
    async fn identify(&self, caller: &Caller<'_>) -> Result<Principal, Box<ErrorInfo>> {
        self.now().identify(caller).await
    }

    fn on_behalf(&self, scope: &Scope) -> Option<Principal> {
        self.now().on_behalf(scope)
    }

    fn known_scopes(&self) -> Vec<Scope> {
        self.now().known_scopes()
    }
}
