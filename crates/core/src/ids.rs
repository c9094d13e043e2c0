//! Identifiers. Each is its own type, cheap to clone, and ordered as its text.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use ulid::Ulid;

use crate::Clock;

/// A text that cannot be an identifier of the kind it was given for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{kind} must be {rule}")]
pub struct InvalidId {
    kind: &'static str,
    rule: &'static str,
}

fn mint(prefix: &str, clock: &dyn Clock) -> Arc<str> {
    let at = UNIX_EPOCH + Duration::from_millis(clock.now().0);
    let mut buffer = [0; ulid::ULID_LEN];
    let ulid = Ulid::from_datetime(at);
    let text: &str = ulid.array_to_str(&mut buffer);
    let mut id = String::with_capacity(prefix.len() + text.len());
    id.push_str(prefix);
    id.push_str(text);
    id.into()
}

macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident, $kind:literal, $rule:literal, $valid:expr) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(Arc<str>);

        impl $name {
            /// What such an identifier must be, for people.
            pub const RULE: &'static str = $rule;

            /// Takes the text as it is.
            ///
            /// # Errors
            /// [`InvalidId`] when the text breaks the rule of this kind of identifier.
            pub fn new(text: impl Into<Arc<str>>) -> Result<Self, InvalidId> {
                let text = text.into();
                let valid: fn(&str) -> bool = $valid;
                if valid(&text) { Ok(Self(text)) } else { Err(InvalidId { kind: $kind, rule: $rule }) }
            }

            /// The text of the identifier.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({})", stringify!($name), self.0)
            }
        }

        impl std::borrow::Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl std::str::FromStr for $name {
            type Err = InvalidId;
            fn from_str(text: &str) -> Result<Self, InvalidId> {
                Self::new(text)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                Self::new(text).map_err(serde::de::Error::custom)
            }
        }
    };
}

macro_rules! minted {
    ($name:ident, $prefix:literal) => {
        impl $name {
            #[doc = concat!("A new one: `", $prefix, "` and a ULID whose time is the clock's.")]
            #[must_use]
            pub fn mint(clock: &dyn Clock) -> Self {
                Self(mint($prefix, clock))
            }
        }
    };
}

fn is_session(text: &str) -> bool {
    (1..=128).contains(&text.len())
        && text
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"._:-".contains(&b))
        && text != "."
        && text != ".."
}

fn is_tool_name(text: &str) -> bool {
    (1..=64).contains(&text.len())
        && text
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}

text_id!(
    /// A conversation with its sandbox and proxy. 1–128 characters of `[A-Za-z0-9._:-]`.
    SessionId, "a session id", "1 to 128 characters of A-Z a-z 0-9 . _ : -, and not . or ..", is_session
);
text_id!(
    /// One uninterrupted stretch of a turn.
    RunId, "a run id", "1 to 128 characters of A-Z a-z 0-9 . _ : -, and not . or ..", is_session
);
text_id!(
    /// One tool call. A provider's own id is kept when it is not empty and new in the session.
    CallId, "a call id", "not empty", |text| !text.is_empty()
);
text_id!(
    /// One message.
    MessageId, "a message id", "not empty", |text| !text.is_empty()
);
text_id!(
    /// A call that waits for an answer.
    InterruptId, "an interrupt id", "not empty", |text| !text.is_empty()
);
text_id!(
    /// A yes that holds beyond its session.
    ApprovalId, "an approval id", "1 to 128 characters of A-Z a-z 0-9 . _ : -, and not . or ..", is_session
);
text_id!(
    /// Content too large or too binary to inline. Safe as a file name.
    ArtifactId, "an artifact id", "1 to 128 characters of A-Z a-z 0-9 . _ : -, and not . or ..", is_session
);
text_id!(
    /// A command started in a sandbox. Safe as a file name.
    JobId, "a job id", "1 to 128 characters of A-Z a-z 0-9 . _ : -, and not . or ..", is_session
);
text_id!(
    /// What offers tools: `builtin`, a server's name, a program's name.
    SourceId, "a source id", "not empty", |text| !text.is_empty()
);
text_id!(
    /// A tool's name as models and people write it: at most 64 of `[A-Za-z0-9_-]`, which is what
    /// every provider accepts.
    ToolName, "a tool name", "1 to 64 characters of A-Z a-z 0-9 _ -", is_tool_name
);

impl MessageId {
    /// The id of what is said in a request and kept in no log.
    #[must_use]
    pub fn of_reminder() -> Self {
        Self("msg_reminder".into())
    }

    /// The id of what somebody else sent to a session: the same for the same letter.
    #[must_use]
    pub fn of_letter(letter: &str) -> Self {
        let hash = crate::Hash::of(letter).to_string();
        let digits = hash.rsplit(':').next().unwrap_or_default();
        Self(format!("msg_letter_{}", &digits[..digits.len().min(32)]).into())
    }

    /// Whether it is the id of such a message.
    #[must_use]
    pub fn is_of_letter(&self) -> bool {
        self.0.starts_with("msg_letter_")
    }
}

minted!(SessionId, "ses_");
minted!(RunId, "run_");
minted!(CallId, "call_");
minted!(MessageId, "msg_");
minted!(InterruptId, "int_");
minted!(ApprovalId, "apr_");
minted!(ArtifactId, "art_");
minted!(JobId, "job_");

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SystemClock;
    use rstest::rstest;

    #[rstest]
    #[case("cli", true)]
    #[case("a.b_c:d-9", true)]
    #[case("", false)]
    #[case("..", false)]
    #[case("a/b", false)]
    #[case("ümlaut", false)]
    fn a_session_id_is_safe_as_a_file_name(#[case] text: &str, #[case] valid: bool) {
        assert_eq!(SessionId::new(text).is_ok(), valid);
    }

    #[test]
    fn a_session_id_has_at_most_128_characters() {
        assert!(SessionId::new("x".repeat(128)).is_ok());
        assert!(SessionId::new("x".repeat(129)).is_err());
    }

    #[test]
    fn minted_ids_differ_and_pass_their_own_rule() {
        let (a, b) = (RunId::mint(&SystemClock), RunId::mint(&SystemClock));
        assert_ne!(a, b);
        assert!(RunId::new(a.as_str()).is_ok());
        assert!(a.as_str().starts_with("run_"));
    }
}
