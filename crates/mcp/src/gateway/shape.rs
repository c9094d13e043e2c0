//! Lists where objects have to be. The library takes the values of one for the members of an
//! object, in their order, and so calls what nobody asked for by name.

use rmcp::model::RequestId;
use serde::Deserialize;
use serde_json::value::RawValue;

/// Where messages of the protocol have objects.
#[derive(Deserialize)]
struct Message<'m> {
    id: Option<RequestId>,
    #[serde(borrow)]
    params: Option<&'m RawValue>,
    #[serde(borrow)]
    error: Option<&'m RawValue>,
}

#[derive(Deserialize)]
struct Members<'m> {
    #[serde(borrow)]
    arguments: Option<&'m RawValue>,
    #[serde(borrow, rename = "_meta")]
    meta: Option<&'m RawValue>,
    #[serde(borrow)]
    capabilities: Option<&'m RawValue>,
    #[serde(borrow, rename = "clientInfo")]
    client_info: Option<&'m RawValue>,
}

/// A list where an object has to be.
pub(super) struct ListForObject {
    /// That of the request, which can be answered; none of what is no request.
    pub(super) id: Option<RequestId>,
    /// Where it is in the message.
    pub(super) what: &'static str,
}

/// What of a message is a list and has to be an object. What is no message is for the library to
/// refuse.
pub(super) fn list_for_object(body: &[u8]) -> Option<ListForObject> {
    let found = |id, what| Some(ListForObject { id, what });
    if !body.trim_ascii_start().starts_with(b"{") {
        return None;
    }
    let message: Message<'_> = serde_json::from_slice(body).ok()?;
    if is_list(message.error) {
        return found(message.id, "error");
    }
    let params = message.params?;
    if is_list(Some(params)) {
        return found(message.id, "params");
    }
    let members: Members<'_> = serde_json::from_str(params.get()).ok()?;
    let members = [
        ("params.arguments", members.arguments),
        ("params._meta", members.meta),
        ("params.capabilities", members.capabilities),
        ("params.clientInfo", members.client_info),
    ];
    let mut lists = members.into_iter().filter(|(_, value)| is_list(*value));
    let (what, _) = lists.next()?;
    found(message.id, what)
}

fn is_list(value: Option<&RawValue>) -> bool {
    value.is_some_and(|value| value.get().starts_with('['))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case(r#" ["2.0", 1, "tools/list", {}]"#, None)]
    #[case(r#"{"params": ["echo", {}]}"#, Some("params"))]
    #[case(
        r#"{"params": {"name": "echo", "arguments": [1]}}"#,
        Some("params.arguments")
    )]
    #[case(r#"{"params": {"clientInfo": ["a", "1"]}}"#, Some("params.clientInfo"))]
    #[case(r#"{"params": {"_meta": []}}"#, Some("params._meta"))]
    #[case(r#"{"params": {"arguments": {"list": [1]}}}"#, None)]
    #[case(r#"{"params": null}"#, None)]
    #[case("{", None)]
    fn a_list_was_read_as_an_object(#[case] body: &str, #[case] what: Option<&str>) {
        let found = list_for_object(body.as_bytes());
        assert_eq!(found.map(|list| list.what), what);
    }
}
