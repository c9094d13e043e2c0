//! Who acts.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// Parameters by which a model would say who acts. That is known beside a call, never from its
/// arguments, so no tool of ours takes one of these.
pub const IDENTITY_PARAMETERS: [&str; 9] = [
    "stream_id",
    "chat_id",
    "group_id",
    "session_id",
    "user_id",
    "owner",
    "role",
    "tenant",
    "token",
];

macro_rules! word {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub Arc<str>);

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.into())
            }
        }

        impl $name {
            /// The text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }
    };
}

word!(
    /// Whose installation: data of one tenant is never seen by another.
    Tenant
);
word!(
    /// The person or program inside the tenant.
    Subject
);
word!(
    /// By what way the principal came: `cli`, `http`, `mcp`, a channel of a chat host.
    Channel
);
word!(
    /// The conversation of a chat host that the principal speaks in.
    StreamId
);

/// How much a principal may do. `guest < user < admin`.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Asks and looks things up.
    #[default]
    Guest,
    /// Also writes in the workspace.
    User,
    /// Also runs programs.
    Admin,
}

impl Role {
    /// Every role, the least first.
    pub const ALL: [Self; 3] = [Self::Guest, Self::User, Self::Admin];

    /// The word, as it stands in every output.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Guest => "guest",
            Self::User => "user",
            Self::Admin => "admin",
        }
    }
}

impl std::fmt::Display for Role {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Who acts. Made only by a transport, from what it verified; never from a model's words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Principal {
    /// Whose installation.
    pub tenant: Tenant,
    /// Who in it.
    pub subject: Subject,
    /// How much they may do.
    pub role: Role,
    /// By what way they came.
    pub channel: Channel,
    /// The conversation of a chat host, where there is one.
    pub stream: Option<StreamId>,
}
