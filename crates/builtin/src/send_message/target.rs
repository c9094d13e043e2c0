//! Whom a message is for.

use outfitter_core::{Principal, ToolError};
use serde_json::Value;

/// Whom a message is for, on some platform.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Addressee {
    /// Whoever takes part in a conversation.
    Stream(String),
    /// Whoever is in a group.
    Group(String),
    /// One person.
    User(String),
}

impl Addressee {
    /// The member of the arguments that says it, and what it says.
    #[must_use]
    pub fn as_pair(&self) -> (&'static str, &str) {
        match self {
            Self::Stream(id) => ("stream_id", id),
            Self::Group(id) => ("group_id", id),
            Self::User(id) => ("user_id", id),
        }
    }

    /// Whether it is who sends it, or their own conversation.
    fn is_own(&self, who: &Principal) -> bool {
        match self {
            Self::Stream(id) => who.stream.as_ref().is_some_and(|own| own.as_str() == id),
            Self::User(id) => who.subject.as_str() == id,
            Self::Group(_) => false,
        }
    }
}

/// Whose a message is, as far as permissions go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// It stays with who sends it.
    Own,
    /// It goes to somebody else.
    Other,
}

/// Whom a call addresses: exactly one. A host that adds where the call comes from to its arguments
/// names the caller's own conversation and person beside the one that was meant; those are left
/// out when there is another.
pub(super) fn target(args: &Value, who: &Principal) -> Result<(Addressee, Reach), ToolError> {
    let text = |name: &str| {
        let text = args.get(name)?.as_str()?.trim();
        (!text.is_empty()).then(|| text.to_owned())
    };
    let named: Vec<Addressee> = [
        text("stream_id").map(Addressee::Stream),
        text("group_id").map(Addressee::Group),
        text("user_id").map(Addressee::User),
    ]
    .into_iter()
    .flatten()
    .collect();
    let meant: Vec<&Addressee> = match &*named {
        [one] => vec![one],
        several => several.iter().filter(|to| !to.is_own(who)).collect(),
    };
    match &*meant {
        [one] => {
            let reach = if one.is_own(who) {
                Reach::Own
            } else {
                Reach::Other
            };
            Ok(((*one).clone(), reach))
        }
        [] if named.is_empty() => Err(ToolError::invalid(
            "",
            "say whom it is for: one of stream_id, group_id and user_id",
        )),
        [] => Err(ToolError::invalid(
            "",
            "only one of stream_id, group_id and user_id: all of these are who sends it",
        )),
        [_, second, ..] => {
            let at = format!("/{}", second.as_pair().0);
            Err(ToolError::invalid(
                &at,
                "only one of stream_id, group_id and user_id",
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use outfitter_core::{Role, StreamId};
    use rstest::rstest;
    use serde_json::json;

    fn ann() -> Principal {
        Principal {
            tenant: "t".into(),
            subject: "ann".into(),
            role: Role::User,
            channel: "chat".into(),
            stream: Some(StreamId::from("home")),
        }
    }

    #[rstest]
    #[case(json!({"stream_id": "home"}), Addressee::Stream("home".into()), Reach::Own)]
    #[case(json!({"user_id": "ann"}), Addressee::User("ann".into()), Reach::Own)]
    #[case(json!({"user_id": "bob"}), Addressee::User("bob".into()), Reach::Other)]
    #[case(json!({"stream_id": "away"}), Addressee::Stream("away".into()), Reach::Other)]
    #[case(json!({"group_id": "g"}), Addressee::Group("g".into()), Reach::Other)]
    // What a host added.
    #[case(json!({"stream_id": "home", "user_id": "bob"}), Addressee::User("bob".into()), Reach::Other)]
    #[case(json!({"stream_id": "home", "user_id": "ann", "group_id": "g"}), Addressee::Group("g".into()), Reach::Other)]
    #[case(json!({"stream_id": "away", "user_id": "ann", "group_id": ""}), Addressee::Stream("away".into()), Reach::Other)]
    fn a_message_is_for_one(#[case] args: Value, #[case] to: Addressee, #[case] reach: Reach) {
        assert_eq!(target(&args, &ann()).unwrap(), (to, reach));
    }

    #[rstest]
    #[case(json!({}), "")]
    #[case(json!({"stream_id": " "}), "")]
    #[case(json!({"stream_id": "home", "user_id": "ann"}), "")]
    #[case(json!({"stream_id": "away", "user_id": "bob"}), "/user_id")]
    #[case(json!({"group_id": "g", "user_id": "bob", "stream_id": "home"}), "/user_id")]
    fn a_message_is_for_no_more_and_no_less(#[case] args: Value, #[case] at: &str) {
        let error = target(&args, &ann()).unwrap_err();
        assert_eq!(error.info().path.as_deref().unwrap_or_default(), at);
    }
}
