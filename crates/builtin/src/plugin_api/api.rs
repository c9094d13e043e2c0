//! All tools of an API.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use outfitter_core::{Fault, ToolName};
use outfitter_net::reqwest::header::{ACCEPT, HeaderValue};
use outfitter_net::reqwest::{Method, Request, Url};
use outfitter_net::{Client, NetError, Origin, read_body};
use serde_json::Value;

use super::call::CallApi;
use super::document::{Document, MAX_DOCUMENT_BYTES};
use super::hops::{Sent, of_none, send};
use super::known::KnownOperations;
use super::operation::{self, METHODS, Stands};
use super::parameter::Reader;
use super::settings::{ApiSettings, Given, Offer};
use super::{ApiError, name};

/// The most operations of one document.
const MAX_OPERATIONS: usize = 2000;

/// Methods that are no tools, as documents write them.
const NO_TOOLS: [&str; 3] = ["options", "trace", "query"];

/// An API that was read: the tools of its operations, and what is missing of them.
pub struct Api {
    pub(super) name: String,
    pub(super) tools: Vec<Arc<CallApi>>,
    pub(super) missing: Vec<Missing>,
}

/// Something that an API cannot offer, or not wholly.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Missing {
    /// The tool it is about; none where it is about the whole.
    pub(super) tool: Option<ToolName>,
    pub(super) what: String,
    pub(super) why: String,
    /// Whether it is an operation that is no tool, and not something of one that is, or of the whole.
    pub(super) whole_operation: bool,
}

impl Api {
    /// Reads what an API offers. Its tools call it with `client`.
    ///
    /// # Errors
    /// [`ApiError`] when nothing of it can be used.
    pub fn read(settings: &ApiSettings, offer: Offer, client: &Client) -> Result<Self, ApiError> {
        settings.check()?;
        let given = Arc::new(Given::of(settings)?);
        let mut api = Self {
            name: settings.name.clone(),
            tools: Vec::new(),
            missing: Vec::new(),
        };
        let tool = |operation, known: &Arc<KnownOperations>| {
            let (given, client) = (given.clone(), client.clone());
            Arc::new(CallApi::new(
                operation,
                settings,
                given,
                known.clone(),
                client,
            ))
        };
        match offer {
            Offer::One { method, schema } => {
                let base = settings.url.clone().ok_or_else(|| ApiError::Url {
                    why: "it has none".to_owned(),
                })?;
                let only = name::only_tool(&settings.name)
                    .ok_or_else(|| ApiError::Name(settings.name.clone()))?;
                let only = operation::only(only, method, base, &schema);
                let only = only.map_err(|why| ApiError::Schema {
                    why: why.to_string(),
                })?;
                api.tools.push(tool(only, &Arc::default()));
            }
            Offer::Document { text, from } => {
                let document = Document::read(&text, from)?;
                let reader = Reader {
                    document: &document,
                    given: &given,
                    is_credential: settings.is_credential,
                };
                let all = api.operations(&document);
                let known = all
                    .iter()
                    .map(|stands| (&stands.method, stands.path, &stands.tool));
                let known = Arc::new(KnownOperations::of(known));
                for stands in all {
                    let name = stands.tool.clone();
                    match operation::read(&reader, settings.url.as_ref(), stands) {
                        Ok(read) => {
                            for why in read.left_out {
                                api.miss(Some(&name), name.as_str(), why);
                            }
                            api.tools.push(tool(read.operation, &known));
                        }
                        Err(why) => api.miss_operation(Some(&name), name.as_str(), why.to_string()),
                    }
                }
                api.look_at_credentials(&document, &given);
            }
        }
        Ok(api)
    }

    /// The operations that are no tools, each with why.
    pub(super) fn left_out(&self) -> Vec<Fault> {
        let operations = self
            .missing
            .iter()
            .filter(|missing| missing.whole_operation);
        let fault = |missing: &Missing| Fault {
            what: missing.what.clone(),
            why: missing.why.clone(),
        };
        operations.map(fault).collect()
    }

    fn miss(&mut self, tool: Option<&ToolName>, what: &str, why: impl Into<String>) {
        self.missing.push(Missing {
            tool: tool.cloned(),
            what: what.to_owned(),
            why: why.into(),
            whole_operation: false,
        });
    }

    fn miss_operation(&mut self, tool: Option<&ToolName>, what: &str, why: impl Into<String>) {
        self.miss(tool, what, why);
        if let Some(missing) = self.missing.last_mut() {
            missing.whole_operation = true;
        }
    }

    /// The operations of a document, each with a name that no other has.
    fn operations<'d>(&mut self, document: &'d Document) -> Vec<Stands<'d>> {
        let mut found = Vec::new();
        let mut names = BTreeSet::new();
        let paths = document.root["paths"].as_object().into_iter().flatten();
        for (path, item) in paths.filter(|(path, _)| !path.starts_with("x-")) {
            let item = match document.resolve(item) {
                Ok(item) if item.is_object() => item,
                Ok(_) => {
                    self.miss(None, path, "it is no object");
                    continue;
                }
                Err(why) => {
                    self.miss(None, path, why.to_string());
                    continue;
                }
            };
            for (word, said) in item.as_object().into_iter().flatten() {
                let known = METHODS.contains(&word.as_str());
                if !(known || NO_TOOLS.contains(&word.as_str())) || !said.is_object() {
                    continue;
                }
                let Ok(method) = Method::from_bytes(word.to_uppercase().as_bytes()) else {
                    continue;
                };
                if found.len() >= MAX_OPERATIONS {
                    let why = format!("only {MAX_OPERATIONS} operations of it are read");
                    self.miss(None, "document", why);
                    return found;
                }
                let id = said["operationId"].as_str().filter(|id| !id.is_empty());
                let own = id.map_or_else(|| name::without_id(&method, path), str::to_owned);
                let Some(tool) = name::tool(&self.name, &own) else {
                    self.miss_operation(None, &own, "nothing of its name can stand in a tool's");
                    continue;
                };
                if !known {
                    let why = format!("an operation of {method} is no tool");
                    self.miss_operation(Some(&tool), tool.as_str(), why);
                    continue;
                }
                if !names.insert(tool.clone()) {
                    let why = format!("{own:?} has the name {tool} of another operation");
                    self.miss_operation(Some(&tool), tool.as_str(), why);
                    continue;
                }
                found.push(Stands {
                    tool,
                    method,
                    path,
                    item,
                    said,
                });
            }
        }
        found
    }

    /// Says which credentials the document speaks of that nobody gave.
    fn look_at_credentials(&mut self, document: &Document, given: &Given) {
        let schemes = document.root.pointer("/components/securitySchemes");
        let schemes = schemes.and_then(Value::as_object);
        let needed = document.root["security"].as_array().into_iter().flatten();
        let mut unmet: Vec<String> = Vec::new();
        for requirement in needed {
            let mut missing =
                requirement
                    .as_object()
                    .into_iter()
                    .flatten()
                    .filter_map(|(name, _)| {
                        let scheme = document.resolve(schemes?.get(name)?).ok()?;
                        let key = scheme["name"].as_str().unwrap_or_default();
                        let there = match (scheme["type"].as_str()?, scheme["in"].as_str()) {
                            ("apiKey", Some("header")) => given.has_header(key),
                            ("apiKey", Some("query")) => given.has_query(key),
                            ("apiKey", Some("cookie")) => given.has_cookie(key),
                            _ => given.has_header("authorization"),
                        };
                        (!there).then(|| name.clone())
                    });
            match missing.next() {
                // One that is met is enough.
                None => return,
                Some(name) => unmet.push(name),
            }
        }
        if !unmet.is_empty() {
            let why = format!(
                "it asks for the credentials {}, and neither `headers` nor `query` has them",
                unmet.join(" or ")
            );
            self.miss(None, "credentials", why);
        }
    }
}

/// Fetches a document, from the origin of its URL and no other.
///
/// # Errors
/// [`ApiError::Fetch`] and [`ApiError::NotThere`], [`ApiError::TooLarge`],
/// [`ApiError::Unreadable`].
pub async fn fetch_document(
    client: &Client,
    url: &Url,
    timeout: Duration,
) -> Result<String, ApiError> {
    let origin = Origin::of(url);
    let mut request = Request::new(Method::GET, url.clone());
    let accept = HeaderValue::from_static("application/json, application/yaml, */*;q=0.5");
    request.headers_mut().insert(ACCEPT, accept);
    let fetched = async {
        match send(client, request, &of_none)
            .await
            .map_err(ApiError::Fetch)?
        {
            Sent::Another(another) => Err(ApiError::NotThere {
                why: format!("{origin} leads on to {}", Origin::of(&another.to)),
            }),
            Sent::Elsewhere(to) => Err(ApiError::NotThere {
                why: format!("{origin} leads on to {}", Origin::of(&to)),
            }),
            Sent::Answered(response) if !response.status().is_success() => {
                let status = response.status().as_u16();
                Err(ApiError::NotThere {
                    why: format!("{origin} answered {status}"),
                })
            }
            Sent::Answered(response) => {
                let body = read_body(response, MAX_DOCUMENT_BYTES);
                let body = body.await.map_err(ApiError::Fetch)?;
                if body.cut {
                    return Err(ApiError::TooLarge {
                        limit: MAX_DOCUMENT_BYTES,
                    });
                }
                String::from_utf8(body.bytes).map_err(|_| ApiError::Unreadable {
                    why: "it is not UTF-8".to_owned(),
                })
            }
        }
    };
    match tokio::time::timeout(timeout, fetched).await {
        Ok(fetched) => fetched,
        Err(_) => Err(ApiError::Fetch(NetError::Timeout { origin })),
    }
}
