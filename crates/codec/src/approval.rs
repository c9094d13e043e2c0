//! What an answer to an approval can say.

use outfitter_core::{ApprovalScope, Interrupt};
use serde_json::Value;

/// For how long a yes to what waits can hold: `once`, and what else its schema has.
pub(crate) fn scopes(interrupt: &Interrupt) -> impl Iterator<Item = ApprovalScope> {
    let forms = interrupt
        .schema
        .as_ref()
        .and_then(|schema| schema.get("anyOf"))
        .and_then(Value::as_array);
    let longer = forms
        .into_iter()
        .flatten()
        .filter_map(|form| form.pointer("/const/scope").and_then(Value::as_str))
        .filter_map(ApprovalScope::of);
    std::iter::once(ApprovalScope::Once).chain(longer)
}

#[cfg(test)]
mod tests {
    use outfitter_core::{
        Audience, CallId, Hash, InterruptId, InterruptKind, OnExpiry, Role, UnixMs,
    };
    use serde_json::json;

    use super::*;

    #[test]
    fn the_scopes_are_those_that_an_answer_can_have() {
        let with = |schema: Option<Value>| Interrupt {
            id: InterruptId::new("int_1").unwrap(),
            call: CallId::new("c").unwrap(),
            kind: InterruptKind::Approval {
                reason: String::new(),
            },
            schema,
            audience: Audience {
                tenant: "t".into(),
                subject: "s".into(),
                min_role: Role::Guest,
            },
            expires: UnixMs(1),
            on_expiry: OnExpiry::Deny,
            args_hash: Hash::of(b""),
            state: Value::Null,
        };
        let one = |scope: &str| json!({ "const": { "approved": true, "scope": scope } });
        let forms = json!({ "anyOf": [{ "type": "boolean" }, one("session"), one("always")] });
        let once = [ApprovalScope::Once];
        let of = |schema| scopes(&with(schema)).collect::<Vec<_>>();
        assert_eq!(of(None), once);
        assert_eq!(of(Some(json!({ "type": "boolean" }))), once);
        assert_eq!(of(Some(forms)), ApprovalScope::ALL);
    }
}
