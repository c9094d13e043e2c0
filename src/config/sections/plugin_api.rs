//! `[plugin_api]`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::formats::{PathOrUrl, TableOrPath, Url};

/// APIs whose operations are tools, `call_API_OPERATION`, for administrators.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PluginApi {
    /// The operations that are: names of tools and globs with `*` and `?`, with or without their
    /// `call_`. Without any, there is none.
    #[schemars(extend("uniqueItems" = true))]
    pub allowlist: Vec<String>,
    /// An API: an OpenAPI document, or one operation.
    pub apis: BTreeMap<String, Api>,
}

/// An API: an OpenAPI document, or one operation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Api {
    /// Its OpenAPI document, 3.0 or 3.1, in JSON or YAML: the path of a file, or a URL.
    #[schemars(with = "Option<PathOrUrl>")]
    pub openapi: Option<String>,
    /// Where it is. With a document it wins over what that says of servers; without one it is that
    /// of the one operation, `call_API`.
    #[schemars(with = "Option<Url>")]
    pub url: Option<String>,
    /// The method of the one operation. The arguments go into the query of a `GET` or `DELETE`, else
    /// into a body of JSON.
    pub method: ApiMethod,
    /// The JSON Schema of the arguments of the one operation: a table, or the path of a file.
    #[schemars(with = "Option<TableOrPath>")]
    pub schema: Option<Value>,
    /// Headers that are sent with every call, credentials among them: texts, whose last word may be
    /// `env:VARIABLE` for what that variable holds.
    #[schemars(extend("writeOnly" = true))]
    pub headers: BTreeMap<String, String>,
    /// The same as parameters of the query.
    #[schemars(extend("writeOnly" = true))]
    pub query: BTreeMap<String, String>,
    /// How many seconds a call may take, and the fetching of its document.
    #[schemars(range(min = 1, max = 3600))]
    pub timeout_seconds: u32,
}

impl Default for Api {
    fn default() -> Self {
        Self {
            openapi: None,
            url: None,
            method: ApiMethod::Post,
            schema: None,
            headers: BTreeMap::new(),
            query: BTreeMap::new(),
            timeout_seconds: 30,
        }
    }
}

/// A method of HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
#[schemars(inline)]
pub enum ApiMethod {
    /// Reads.
    Get,
    /// Does something.
    #[default]
    Post,
    /// Sets something.
    Put,
    /// Changes something.
    Patch,
    /// Removes something.
    Delete,
}
