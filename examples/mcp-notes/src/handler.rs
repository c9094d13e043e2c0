//! What the server offers, and what is done when it is called.

use std::sync::{Arc, Mutex, PoisonError};

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData,
    Implementation, JsonObject, ListToolsResult, PaginatedRequestParams, ServerCapabilities,
    ServerConfig, Tool, ToolAnnotations,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Note, Notes, NotesError, Summary};

/// The server: its notes behind four tools.
#[derive(Debug, Clone, Default)]
pub struct NotesServer(Arc<Mutex<Notes>>);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Add {
    /// What it is about, in a few words.
    title: String,
    /// What it says.
    #[serde(default)]
    text: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct List {
    /// Only notes that hold this text, in any case.
    query: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Which {
    /// The number of the note.
    id: u64,
}

#[derive(Serialize, JsonSchema)]
struct Listed {
    /// The notes, the oldest first.
    notes: Vec<Summary>,
}

impl NotesServer {
    /// A server of these notes.
    #[must_use]
    pub fn new(notes: Notes) -> Self {
        Self(Arc::new(Mutex::new(notes)))
    }

    fn call(&self, name: &str, arguments: JsonObject) -> Result<CallToolResult, ErrorData> {
        // A change is complete or undone, so a panic leaves the notes whole.
        let mut notes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match name {
            "add" => {
                let Add { title, text } = read(arguments)?;
                Ok(said(&notes.add(title, text)))
            }
            "list" => {
                let List { query } = read(arguments)?;
                Ok(said(&Ok(Listed {
                    notes: notes.list(query.as_deref()),
                })))
            }
            "get" => {
                let Which { id } = read(arguments)?;
                Ok(said(&notes.get(id)))
            }
            "delete" => {
                let Which { id } = read(arguments)?;
                Ok(said(&notes.delete(id)))
            }
            other => Err(ErrorData::invalid_params(
                format!("there is no tool {other}"),
                None,
            )),
        }
    }
}

impl ServerHandler for NotesServer {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("mcp-notes", env!("CARGO_PKG_VERSION")))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tools()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        self.call(&request.name, arguments).map(Into::into)
    }
}

fn tools() -> Vec<Tool> {
    let reads = || ToolAnnotations::new().read_only(true);
    vec![
        tool::<Add, Note>("add", "Keeps a new note. Gives it with its number."),
        tool::<List, Listed>(
            "list",
            "Lists the notes with their numbers and titles. For what a note says, use get.",
        )
        .with_annotations(reads()),
        tool::<Which, Note>("get", "Gives one note with what it says.").with_annotations(reads()),
        tool::<Which, Note>("delete", "Throws one note away. Gives it once more."),
    ]
}

fn tool<I: JsonSchema, O: JsonSchema>(name: &'static str, description: &'static str) -> Tool {
    Tool::new(name, description, schema::<I>()).with_raw_output_schema(Arc::new(schema::<O>()))
}

fn schema<T: JsonSchema>() -> JsonObject {
    let schema: Schema = SchemaGenerator::default().into_root_schema_for::<T>();
    match Value::from(schema) {
        Value::Object(schema) => schema,
        _ => JsonObject::new(),
    }
}

fn read<T: DeserializeOwned>(arguments: JsonObject) -> Result<T, ErrorData> {
    serde_json::from_value(Value::Object(arguments))
        .map_err(|error| ErrorData::invalid_params(error.to_string(), None))
}

/// A result as structure and, for clients that know no structure, as text.
fn said<T: Serialize>(result: &Result<T, NotesError>) -> CallToolResult {
    match result {
        Ok(value) => match serde_json::to_value(value) {
            Ok(value) => CallToolResult::structured(value),
            Err(error) => CallToolResult::error(vec![ContentBlock::text(error.to_string())]),
        },
        Err(error) => CallToolResult::error(vec![ContentBlock::text(error.to_string())]),
    }
}
