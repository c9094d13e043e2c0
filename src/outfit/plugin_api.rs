//! The APIs of the configuration: their documents read or fetched, their credentials looked up.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use outfitter_builtin::{
    Api, ApiError, ApiSettings, ApiStatus, MAX_DOCUMENT_BYTES, Offer, PLUGIN_APIS, PluginApis,
    fetch_document,
};
use outfitter_core::{Fault, chain};
use outfitter_net::reqwest::{Method, Url};
use outfitter_net::{Client, ClientOptions, NetError, OwnAddresses};
use outfitter_text::regular_file::read_regular_text;
use outfitter_tools::is_secret_key;
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::Value;

use super::Outfitter;
use crate::config::Config;
use crate::config::sections::{self, ApiMethod};
use crate::env::Environment;

/// What stands before the name of a variable, as the last word of a header.
const FROM_ENVIRONMENT: &str = "env:";

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
    #[error("send {header} with every call: the variable {variable} is not set")]
    Variable { header: String, variable: String },
    /// Neither a document nor a URL and a schema.
    #[error("use it: it has neither `openapi` nor `url` and `schema`")]
    Nothing,
}

impl Outfitter {
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

/// What is sent with every call, with what the environment holds of it.
fn secrets(
    pairs: &std::collections::BTreeMap<String, String>,
    environment: &Environment,
) -> Result<Vec<(String, SecretString)>, NotThere> {
    let each = pairs.iter().map(|(name, text)| {
        let value = match variable(text) {
            None => SecretString::from(text.clone()),
            Some((before, variable)) => {
                let held = environment.secret(variable);
                let held = held.ok_or_else(|| NotThere::Variable {
                    header: name.clone(),
                    variable: variable.to_owned(),
                })?;
                SecretString::from(format!("{before}{}", held.expose_secret()))
            }
        };
        Ok((name.clone(), value))
    });
    each.collect()
}

/// The variable that a text names as its last word, and what stands before it.
fn variable(text: &str) -> Option<(&str, &str)> {
    let start = text.rfind(' ').map_or(0, |at| at + 1);
    let (before, word) = text.split_at(start);
    let name = word.strip_prefix(FROM_ENVIRONMENT)?;
    let is_name = !name.is_empty()
        && !name.starts_with(|first: char| first.is_ascii_digit())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    is_name.then_some((before, name))
}

/// The secrets among what is sent with every call: what the environment holds, and what stands under
/// a secret's name.
pub(super) fn secrets_of(
    config: &Config,
    environment: &Environment,
    is_secret: fn(&str) -> bool,
) -> Vec<SecretString> {
    let apis = config.plugin_api.apis.values();
    let pairs = apis.flat_map(|api| api.headers.iter().chain(&api.query));
    let of = |(name, text): (&String, &String)| match variable(text) {
        Some((_, variable)) => environment.secret(variable).into_iter().collect(),
        // `Bearer abc` is told as `abc`, too.
        None if is_secret(name) => {
            let last = text.rsplit(' ').next().unwrap_or_default();
            vec![text.clone().into(), last.to_owned().into()]
        }
        None => Vec::new(),
    };
    pairs.flat_map(of).collect()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("env:KEY", Some(("", "KEY")))]
    #[case("Bearer env:MY_KEY_2", Some(("Bearer ", "MY_KEY_2")))]
    #[case("Bearer env:", None)]
    #[case("env:2", None)]
    #[case("env:A B", None)]
    #[case("xenv:A", None)]
    #[case("", None)]
    fn the_last_word_may_name_a_variable(#[case] text: &str, #[case] named: Option<(&str, &str)>) {
        assert_eq!(variable(text), named);
    }

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
}
