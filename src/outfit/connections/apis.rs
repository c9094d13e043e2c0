//! The APIs of the configuration: their documents read or fetched, their credentials looked up.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use outfitter_builtin::{
    Api, ApiError, ApiSettings, ApiStatus, MAX_DOCUMENT_BYTES, Offer, PLUGIN_APIS, PluginApis,
    fetch_document,
};
use outfitter_core::{Fault, ToolSource as _, chain};
use outfitter_net::reqwest::{Method, Url};
use outfitter_net::{Client, ClientOptions, NetError, OwnAddresses};
use outfitter_text::regular_file::read_regular_text;
use outfitter_tools::is_secret_key;
use serde_json::Value;

use super::begun::{Answered, State};
use super::credentials::{NotSet, secrets};
use crate::config::Config;
use crate::config::sections::{self, ApiMethod};
use crate::env::Environment;
use crate::outfit::Outfitter;

/// Why an API of the configuration is not there. Reads on after "failed to".
#[derive(Debug, thiserror::Error)]
enum NotThere {
    /// What the operator said, or what it offers, cannot be used.
    #[error(transparent)]
    Api(#[from] ApiError),
    /// The client could not be made.
    #[error(transparent)]
    Client(#[from] NetError),
    /// A file that is named cannot be read.
    #[error("read {path}")]
    File {
        path: String,
        #[source]
        source: std::io::Error,
    },
    /// A file that is named has no schema.
    #[error("read {path}: {why}")]
    NoSchema { path: String, why: String },
    /// What the configuration says is no URL.
    #[error("use its url: {0}")]
    Url(String),
    /// A variable that holds a credential is not set.
    #[error(transparent)]
    Variable(#[from] NotSet),
    /// Neither a document nor a URL and a schema.
    #[error("use it: it has neither `openapi` nor `url` and `schema`")]
    Nothing,
}

impl Outfitter {
    /// Reads what APIs offer, once.
    pub(super) fn begin_apis(&self, state: &mut State) {
        if state.apis.is_some() || self.config().plugin_api.apis.is_empty() {
            return;
        }
        let (reader, registry) = (self.api_reader(), self.registry.clone());
        let apis = self.connections.apis.clone();
        state.apis = Some(self.connections.go_on(async move {
            if let Some(read) = reader.read_apis().await {
                let read = Arc::new(read);
                apis.are(read.clone());
                let id = read.id().clone();
                if let Err(refused) = registry.add(read) {
                    registry.miss(id, format!("failed to {}", chain(&refused)));
                }
            }
            Answered::Yes
        }));
    }

    /// Where this process listens itself, for who listens: calls of APIs never go there.
    #[must_use]
    pub fn own_addresses(&self) -> &OwnAddresses {
        &self.own
    }

    /// How much of each API is offered, once they were read.
    #[must_use]
    pub fn apis(&self) -> Vec<ApiStatus> {
        let apis = self.connections.apis.get();
        apis.map(|apis| apis.status()).unwrap_or_default()
    }

    pub(super) fn api_reader(&self) -> ApiReader {
        ApiReader {
            config: self.config(),
            environment: self.environment.clone(),
            own: self.own.clone(),
        }
    }
}

/// What reads APIs, as they are configured now.
pub(super) struct ApiReader {
    config: Arc<Config>,
    environment: Environment,
    own: OwnAddresses,
}

impl ApiReader {
    /// Reads all APIs, the slow ones side by side; none where none is configured. What cannot be
    /// used is a fault of the source.
    pub(super) async fn read_apis(&self) -> Option<PluginApis> {
        let section = &self.config.plugin_api;
        if section.apis.is_empty() {
            return None;
        }
        let options = ClientOptions {
            own: self.own.clone(),
            ..ClientOptions::default()
        };
        let client = Client::operator(options).map_err(|error| chain(&error));
        let each = section.apis.iter().map(|(name, api)| {
            let client = client.clone();
            async move {
                let read = match client {
                    Ok(client) => self.read_api(name, api, &client).await,
                    Err(why) => return Err(fault(name, &why)),
                };
                read.map_err(|error| fault(name, &chain(&error)))
            }
        });
        let (mut apis, mut broken) = (Vec::new(), Vec::new());
        for read in futures_util::future::join_all(each).await {
            match read {
                Ok(api) => apis.push(api),
                Err(fault) => broken.push(fault),
            }
        }
        let source = PluginApis::new(apis, broken, section.allowlist.iter().cloned());
        source
            .inspect_err(|error| tracing::error!(%error, "{PLUGIN_APIS} is no source"))
            .ok()
    }

    async fn read_api(
        &self,
        name: &str,
        api: &sections::Api,
        client: &Client,
    ) -> Result<Api, NotThere> {
        let url = api.url.as_deref().map(parse).transpose()?;
        let timeout = Duration::from_secs(api.timeout_seconds.into());
        let given = |pairs| secrets(pairs, &self.environment);
        let settings = ApiSettings {
            name: name.to_owned(),
            url,
            headers: given(&api.headers)?,
            query: given(&api.query)?,
            timeout,
            is_credential: is_secret_key,
        };
        let offer = match (&api.openapi, &api.schema) {
            (Some(place), _) if is_url(place) => {
                let from = parse(place)?;
                let text = fetch_document(client, &from, timeout).await?;
                let from = Some(from);
                Offer::Document { text, from }
            }
            (Some(path), _) => Offer::Document {
                text: file(path).await?,
                from: None,
            },
            (None, Some(schema)) => Offer::One {
                method: method(api.method),
                schema: match schema {
                    Value::String(path) => schema_in(path).await?,
                    table => table.clone(),
                },
            },
            (None, None) => return Err(NotThere::Nothing),
        };
        let client = client.clone();
        // A large document takes a while.
        let read = move || Api::read(&settings, offer, &client);
        match tokio::task::spawn_blocking(read).await {
            Ok(read) => Ok(read?),
            Err(error) => Err(ApiError::Unreadable {
                why: error.to_string(),
            }
            .into()),
        }
    }
}

fn fault(name: &str, why: &str) -> Fault {
    Fault {
        what: name.to_owned(),
        why: format!("failed to {why}"),
    }
}

fn is_url(place: &str) -> bool {
    Url::parse(place).is_ok_and(|url| matches!(url.scheme(), "http" | "https"))
}

fn parse(text: &str) -> Result<Url, NotThere> {
    Url::parse(text).map_err(|error| NotThere::Url(error.to_string()))
}

fn method(method: ApiMethod) -> Method {
    match method {
        ApiMethod::Get => Method::GET,
        ApiMethod::Post => Method::POST,
        ApiMethod::Put => Method::PUT,
        ApiMethod::Patch => Method::PATCH,
        ApiMethod::Delete => Method::DELETE,
    }
}

async fn file(path: &str) -> Result<String, NotThere> {
    let wrong = |source| NotThere::File {
        path: path.to_owned(),
        source,
    };
    let owned = path.to_owned();
    let read = tokio::task::spawn_blocking(move || {
        read_regular_text(Path::new(&owned), MAX_DOCUMENT_BYTES as u64)
    });
    let read = read.await.map_err(|error| wrong(error.into()))?;
    read.map_err(wrong)
}

async fn schema_in(path: &str) -> Result<Value, NotThere> {
    let text = file(path).await?;
    serde_json::from_str(&text).map_err(|error| NotThere::NoSchema {
        path: path.to_owned(),
        why: format!("it is no JSON: {error}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_that_is_a_pipe_was_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let pipe = dir.path().join("api.json");
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        let error = read_regular_text(&pipe, 10).unwrap_err();
        assert_eq!(error.to_string(), "it is not a regular file");
        let file = dir.path().join("real.json");
        std::fs::write(&file, "{}").unwrap();
        assert_eq!(read_regular_text(&file, 10).unwrap(), "{}");
    }

    /// It was only in the log; it is told of where an MCP server is that is down.
    #[tokio::test]
    async fn apis_that_are_refused_as_a_source_are_missing_with_the_reason() {
        let dir = tempfile::tempdir().unwrap();
        let mut config = Config::default();
        config.store.data_dir = Some(dir.path().to_owned());
        let api = sections::Api {
            url: Some("http://127.0.0.1:9/".to_owned()),
            schema: Some(serde_json::json!({})),
            ..sections::Api::default()
        };
        config.plugin_api.apis.insert("one".to_owned(), api);
        let other = PluginApis::new(Vec::new(), Vec::new(), Vec::new()).unwrap();
        let environment = Environment::of(dir.path(), [("HOME", "/nowhere")]);
        let whole = crate::Builder::new(config, environment)
            .source(Arc::new(other))
            .build()
            .unwrap();
        whole.connect().await.unwrap();
        let faults = whole.faults();
        let [found] = &faults[..] else {
            unreachable!("{faults:?}")
        };
        assert_eq!(found.source.as_str(), PLUGIN_APIS);
        assert_eq!(
            found.fault.why,
            "failed to add the source plugin_api: there is one of that name"
        );
        whole.disconnect().await;
    }
}
