//! Who calls.

use async_trait::async_trait;
use outfitter_core::{Channel, Code, ErrorInfo, Principal, Role, Scope, Subject, Tenant};

/// What a request says of who sends it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller<'a> {
    /// The bearer token, where one was sent.
    pub bearer: Option<&'a str>,
    /// By what way: `http`, `agui` or `mcp`.
    pub channel: Channel,
}

/// Makes principals of what a transport verified.
#[async_trait]
pub trait Principals: Send + Sync {
    /// Who calls.
    ///
    /// # Errors
    /// [`Code::Unauthenticated`] for a credential that nothing accepts, and for none where one is
    /// needed.
    async fn identify(&self, caller: &Caller<'_>) -> Result<Principal, Box<ErrorInfo>>;

    /// Who goes on with what waits or broke off in this scope when nobody calls; none where that
    /// is not known.
    fn on_behalf(&self, scope: &Scope) -> Option<Principal>;

    /// The scopes whose sessions are looked at when the server starts.
    fn known_scopes(&self) -> Vec<Scope>;
}

/// Everybody who can reach this machine's loopback is one person, with one role.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalPrincipals {
    /// Of this installation.
    pub tenant: Tenant,
    /// Who.
    pub subject: Subject,
    /// How much they may do.
    pub role: Role,
}

impl LocalPrincipals {
    fn by(&self, channel: Channel) -> Principal {
        Principal {
            tenant: self.tenant.clone(),
            subject: self.subject.clone(),
            role: self.role,
            channel,
            stream: None,
        }
    }

    fn scope(&self) -> Scope {
        Scope {
            tenant: self.tenant.clone(),
            subject: self.subject.clone(),
        }
    }
}

#[async_trait]
impl Principals for LocalPrincipals {
    async fn identify(&self, caller: &Caller<'_>) -> Result<Principal, Box<ErrorInfo>> {
        match caller.bearer {
            None => Ok(self.by(caller.channel.clone())),
            Some(_) => Err(Box::new(
                ErrorInfo::new(
                    Code::Unauthenticated,
                    "the bearer token is not accepted: no authentication is configured here",
                )
                .with_hint("send no Authorization header"),
            )),
        }
    }

    fn on_behalf(&self, scope: &Scope) -> Option<Principal> {
        (self.scope() == *scope).then(|| self.by(Channel::from("http")))
    }

    fn known_scopes(&self) -> Vec<Scope> {
        vec![self.scope()]
    }
}
