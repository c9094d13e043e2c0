//! The tools of a server: what can be used of what it lists, and why the rest cannot.

use std::collections::HashSet;
use std::sync::Arc;

use outfitter_core::Fault;
use serde_json::{Map, Value};

use super::connection::{Abandoned, Connection, Unanswered};
use super::server::StdioServer;
use super::wire;

/// The most pages of one list.
const MAX_PAGES: usize = 200;

/// The most tools of one server.
const MAX_TOOLS: usize = 2000;

/// The longest description in bytes; what is longer is cut.
const MAX_DESCRIPTION_BYTES: usize = 8 * 1024;

/// The longest name a tool may have at home, in bytes (the specification says 128 characters).
const MAX_NAME_BYTES: usize = 512;

/// JSON-RPC: no such method.
const METHOD_NOT_FOUND: i64 = -32601;

/// What can be used of a list, and what is wrong with the rest.
#[derive(Debug, Default)]
pub(crate) struct Listed {
    pub(crate) tools: Vec<RemoteTool>,
    pub(crate) faults: Vec<Fault>,
}

/// A tool as its server describes it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RemoteTool {
    /// What it is called at home.
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) input_schema: Value,
    pub(crate) output_schema: Option<Value>,
}

/// Reads all pages.
pub(crate) async fn list(
    connection: &Arc<Connection>,
    server: &StdioServer,
) -> Result<Listed, Unanswered> {
    let mut listed = Listed::default();
    let mut names = HashSet::new();
    let mut cursors = HashSet::new();
    let mut cursor: Option<String> = None;
    for _ in 0..MAX_PAGES {
        let mut params = Map::new();
        if let Some(cursor) = &cursor {
            params.insert("cursor".to_owned(), cursor.clone().into());
        }
        let mut page = match connection
            .ask("tools/list", params, Abandoned::Cancels)
            .await
        {
            Ok(page) => page,
            Err(Unanswered::Fault(wire::Fault::Rpc {
                code: METHOD_NOT_FOUND,
                ..
            })) => {
                listed.fault("tools/list", "it offers no tools");
                return Ok(listed);
            }
            // What came before is good.
            Err(Unanswered::Fault(fault)) if !listed.tools.is_empty() => {
                let why = Unanswered::Fault(fault);
                listed.fault("tools/list", format!("the list ends early: {why}"));
                return Ok(listed);
            }
            Err(error) => return Err(error),
        };
        match page.get_mut("tools").map(Value::take).unwrap_or_default() {
            Value::Array(tools) => tools.into_iter().for_each(|tool| {
                if let Err(fault) = listed.take(tool, server, &mut names) {
                    listed.faults.push(fault);
                }
            }),
            _ => listed.fault("tools/list", "a page of it has no list of tools"),
        }
        if listed.tools.len() >= MAX_TOOLS {
            listed.tools.truncate(MAX_TOOLS);
            listed.fault(
                "tools/list",
                format!("only {MAX_TOOLS} tools of it are taken"),
            );
            return Ok(listed);
        }
        match page
            .get_mut("nextCursor")
            .map(Value::take)
            .unwrap_or_default()
        {
            Value::String(next) if next.is_empty() => return Ok(listed),
            Value::String(next) => {
                if !cursors.insert(next.clone()) {
                    listed.fault("tools/list", "its pages go round in a circle");
                    return Ok(listed);
                }
                cursor = Some(next);
            }
            _ => return Ok(listed),
        }
    }
    listed.fault(
        "tools/list",
        format!("only {MAX_PAGES} pages of it are read"),
    );
    Ok(listed)
}

impl RemoteTool {
    /// As its server would list it.
    pub(crate) fn as_listed(&self) -> Value {
        let mut listed = Map::from_iter([
            ("name".to_owned(), self.name.as_str().into()),
            ("description".to_owned(), self.description.as_str().into()),
            ("inputSchema".to_owned(), self.input_schema.clone()),
        ]);
        if let Some(schema) = &self.output_schema {
            listed.insert("outputSchema".to_owned(), schema.clone());
        }
        Value::Object(listed)
    }
}

impl Listed {
    /// What can be used of these, at most as many as of a list.
    pub(crate) fn of(tools: Vec<Value>, server: &StdioServer) -> Self {
        let mut listed = Self::default();
        let mut names = HashSet::new();
        for tool in tools.into_iter().take(MAX_TOOLS) {
            if let Err(fault) = listed.take(tool, server, &mut names) {
                listed.faults.push(fault);
            }
        }
        listed
    }

    fn fault(&mut self, what: &str, why: impl Into<String>) {
        self.faults.push(Fault {
            what: what.to_owned(),
            why: why.into(),
        });
    }

    fn take(
        &mut self,
        tool: Value,
        server: &StdioServer,
        names: &mut HashSet<String>,
    ) -> Result<(), Fault> {
        let tool = read(tool)?;
        if !server.tools.has(&tool.name) {
            return Ok(());
        }
        if !names.insert(tool.name.clone()) {
            return Err(Fault {
                what: tool.name,
                why: "it is listed twice".to_owned(),
            });
        }
        self.tools.push(tool);
        Ok(())
    }
}

/// Reads one tool. Everything but its name and its input schema may be missing or odd.
fn read(tool: Value) -> Result<RemoteTool, Fault> {
    let Value::Object(mut tool) = tool else {
        return Err(Fault {
            what: "a tool".to_owned(),
            why: "it is no object".to_owned(),
        });
    };
    let name = match tool.remove("name") {
        Some(Value::String(name)) if !name.is_empty() => name,
        other => {
            let why = match other {
                None | Some(Value::Null) => "it has no name".to_owned(),
                Some(other) => format!("its name is {other}"),
            };
            return Err(Fault {
                what: "a tool".to_owned(),
                why,
            });
        }
    };
    let fault = |name: String, why: &str| {
        Err(Fault {
            what: name,
            why: why.to_owned(),
        })
    };
    if name.len() > MAX_NAME_BYTES {
        let end = name.floor_char_boundary(64);
        return fault(format!("{}…", &name[..end]), "its name is too long");
    }
    let mut input_schema = match tool.remove("inputSchema") {
        Some(Value::Object(schema)) => schema,
        None | Some(Value::Null) => return fault(name, "it has no input schema"),
        Some(_) => return fault(name, "its input schema is no object"),
    };
    // Arguments are always an object; providers want that said.
    let kind = input_schema
        .entry("type")
        .or_insert_with(|| "object".into());
    if kind != "object" {
        return fault(name, "its input schema is not that of an object");
    }
    let title = || {
        let title = tool
            .get("title")
            .or_else(|| tool.get("annotations")?.get("title"));
        title.and_then(Value::as_str)
    };
    let mut description = match tool.get("description").and_then(Value::as_str) {
        Some(description) if !description.trim().is_empty() => description.to_owned(),
        _ => title().unwrap_or_default().to_owned(),
    };
    description.truncate(description.floor_char_boundary(MAX_DESCRIPTION_BYTES));
    Ok(RemoteTool {
        name,
        description,
        input_schema: Value::Object(input_schema),
        output_schema: tool.remove("outputSchema").filter(Value::is_object),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;
    use serde_json::json;

    #[rstest]
    #[case(json!(7), "it is no object")]
    #[case(json!({"inputSchema": {}}), "it has no name")]
    #[case(json!({"name": 7, "inputSchema": {}}), "its name is 7")]
    #[case(json!({"name": "a"}), "it has no input schema")]
    #[case(json!({"name": "a", "inputSchema": null}), "it has no input schema")]
    #[case(json!({"name": "a", "inputSchema": []}), "its input schema is no object")]
    #[case(json!({"name": "a", "inputSchema": {"type": "string"}}), "its input schema is not that of an object")]
    fn a_tool_that_cannot_be_used_says_why(#[case] tool: Value, #[case] why: &str) {
        assert_eq!(read(tool).unwrap_err().why, why);
    }

    #[test]
    fn odd_ornaments_cost_nothing() {
        let tool = read(json!({
            "name": "a.b/c", "title": "A tool", "icons": 7, "annotations": [], "execution": {"x": 1},
            "outputSchema": "none", "_meta": null, "inputSchema": {"properties": {"x": true}},
        }))
        .unwrap();
        assert_eq!(
            tool,
            RemoteTool {
                name: "a.b/c".to_owned(),
                description: "A tool".to_owned(),
                input_schema: json!({"properties": {"x": true}, "type": "object"}),
                output_schema: None,
            }
        );
    }
}
