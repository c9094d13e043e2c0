//! A client of `/mcp`, in the two forms of the protocol.

use std::net::TcpStream;

use serde_json::{Value, json};

use crate::http::{At, Reply, Whole};

const MODERN: &str = "2026-07-28";
const LEGACY: &str = "2025-11-25";

/// A client.
pub(crate) struct Mcp<'a> {
    at: &'a At,
    /// The session of the older form, which the server gave.
    session: Option<String>,
}

impl<'a> Mcp<'a> {
    /// Without a session, as the protocol is now.
    pub(crate) fn modern(at: &'a At) -> Self {
        Self { at, session: None }
    }

    /// With a session, as it was.
    pub(crate) fn legacy(at: &'a At) -> Self {
        let mut client = Self { at, session: None };
        let hello = json!({
            "protocolVersion": LEGACY, "capabilities": {},
            "clientInfo": {"name": "t", "version": "1"},
        });
        let reply = client.open("initialize", &hello, &[]);
        let session = reply.headers["mcp-session-id"].clone();
        assert_eq!(result(&reply.whole())["protocolVersion"], LEGACY);
        client.session = Some(session);
        let told = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        let headers = client.headers(&[]);
        let headers: Vec<_> = headers.iter().map(|(n, v)| (*n, v.as_str())).collect();
        client
            .at
            .open("POST", "/mcp", &headers, Some(&told))
            .whole()
            .is(202);
        client
    }

    /// The names of the tools.
    pub(crate) fn tools(&self) -> Vec<String> {
        let listed = self.ask("tools/list", json!({}), &[("mcp-method", "tools/list")]);
        let tools = listed["tools"].as_array().unwrap().iter();
        tools
            .map(|tool| tool["name"].as_str().unwrap().to_owned())
            .collect()
    }

    /// The result of a call.
    pub(crate) fn call(&self, tool: &str, arguments: &Value) -> Value {
        let params = json!({"name": tool, "arguments": arguments});
        let headers = [("mcp-method", "tools/call"), ("mcp-name", tool)];
        self.ask("tools/call", params, &headers)
    }

    /// A call whose answer nobody has begun to read.
    pub(crate) fn begin(&self, tool: &str, arguments: &Value) -> TcpStream {
        self.begin_with(tool, arguments, None)
    }

    /// The same, with a token for progress.
    pub(crate) fn begin_with(
        &self,
        tool: &str,
        arguments: &Value,
        token: Option<Value>,
    ) -> TcpStream {
        let mut params = json!({"name": tool, "arguments": arguments});
        let modern = [("mcp-method", "tools/call"), ("mcp-name", tool)];
        let mut headers = self.headers(&[]);
        if self.session.is_none() {
            params["_meta"] = meta();
            headers = self.headers(&modern);
        }
        if let Some(token) = token {
            params["_meta"]["progressToken"] = token;
        }
        let body = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params});
        let headers: Vec<_> = headers.iter().map(|(n, v)| (*n, v.as_str())).collect();
        self.at.begin("POST", "/mcp", &headers, Some(&body))
    }

    /// The session that the server gave.
    pub(crate) fn session(&self) -> &str {
        self.session.as_deref().unwrap()
    }

    /// Calls off what was begun.
    pub(crate) fn cancel(&self) {
        let told = json!({
            "jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7},
        });
        let headers = self.headers(&[]);
        let headers: Vec<_> = headers.iter().map(|(n, v)| (*n, v.as_str())).collect();
        let told = self.at.open("POST", "/mcp", &headers, Some(&told)).whole();
        told.is(202);
    }

    /// Ends the session.
    pub(crate) fn end(&self) {
        let headers = self.headers(&[]);
        let headers: Vec<_> = headers.iter().map(|(n, v)| (*n, v.as_str())).collect();
        let told = self.at.open("DELETE", "/mcp", &headers, None).whole();
        assert!(told.status < 300, "{}", told.text);
    }

    fn ask(&self, method: &str, mut params: Value, headers: &[(&'static str, &str)]) -> Value {
        let modern = self.session.is_none();
        if modern {
            params["_meta"] = meta();
        }
        let headers = if modern { headers } else { &[] };
        result(&self.open(method, &params, headers).whole())
    }

    fn open(&self, method: &str, params: &Value, headers: &[(&'static str, &str)]) -> Reply {
        let body = json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params});
        let headers = self.headers(headers);
        let headers: Vec<_> = headers.iter().map(|(n, v)| (*n, v.as_str())).collect();
        self.at.open("POST", "/mcp", &headers, Some(&body))
    }

    fn headers(&self, more: &[(&'static str, &str)]) -> Vec<(&'static str, String)> {
        let version = if more.is_empty() { LEGACY } else { MODERN };
        let mut all = vec![
            ("accept", "application/json, text/event-stream".to_owned()),
            ("mcp-protocol-version", version.to_owned()),
        ];
        if let Some(session) = &self.session {
            all.push(("mcp-session-id", session.clone()));
        }
        all.extend(
            more.iter()
                .map(|(name, value)| (*name, (*value).to_owned())),
        );
        all
    }
}

/// What every request of the protocol as it is now says of its client.
fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
    })
}

/// The one result of a response, whichever of the two forms it has.
#[track_caller]
fn result(whole: &Whole) -> Value {
    assert_eq!(whole.status, 200, "{}", whole.text);
    let messages = if whole.text.starts_with('{') {
        vec![whole.json()]
    } else {
        whole.sse()
    };
    let result = messages.into_iter().find(|message| message["id"] == 7);
    let result = result.unwrap_or_else(|| panic!("no answer: {}", whole.text));
    assert!(result["error"].is_null(), "{result}");
    result["result"].clone()
}

/// The code of a result; none where it is no error.
#[track_caller]
pub(crate) fn code(result: &Value) -> Option<String> {
    if result["isError"] != true {
        return None;
    }
    let text = result["content"][0]["text"].as_str().unwrap();
    let said: Value = serde_json::from_str(text).unwrap_or_else(|_| panic!("{result}"));
    Some(said["error"]["code"].as_str().unwrap().to_owned())
}
