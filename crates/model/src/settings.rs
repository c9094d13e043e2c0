//! A provider from plain settings.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use outfitter_core::{ModelError, ModelInfo, ModelProvider};
use outfitter_net::reqwest::Url;
use secrecy::SecretString;

use crate::adapted::{Adapted, Adapter};
use crate::anthropic::anthropic;
use crate::http::PhaseTimeouts;
use crate::limits::DEFAULT_MAX_OUTPUT_TOKENS;
use crate::openai::{Dialect, open_ai};
use crate::policy::{ModelCallPolicy, RetryingProvider};
use crate::providers::{PROVIDERS, ProviderDefaults, Wire, provider_defaults};
use crate::responses::responses;
use crate::scripted::{Script, ScriptedProvider};
use crate::shaping::SchemaDialect;

/// How a model calls tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ToolMode {
    /// As its provider has it.
    #[default]
    Native,
    /// By a reply that is held to a schema: for models that have no calls.
    JsonSchema,
}

/// What a person may say about the model. An empty [`ModelSettings::default`] is OpenAI's with its
/// defaults.
#[derive(Clone)]
pub struct ModelSettings {
    /// A name of [`PROVIDERS`].
    pub provider: String,
    /// The model; the provider's default when none.
    pub name: Option<String>,
    /// Where the provider is; its own address when none.
    pub base_url: Option<String>,
    /// The key. Needed at a provider's own address, optional at one that was named here.
    pub api_key: Option<SecretString>,
    /// The variable the key would be in, for the hint when it is missing; the provider's when
    /// none.
    pub api_key_env: Option<String>,
    /// How requests are tried again, and how long one may wait.
    pub policy: ModelCallPolicy,
    /// Whether the model sees pictures; the provider's default when none.
    pub vision: Option<bool>,
    /// How many tokens a request and its reply may have, where it is known.
    pub context_tokens: Option<u64>,
    /// How long a reply may be, for the wire that demands a number.
    pub max_output_tokens: Option<u32>,
    /// The file of the script, for `scripted`.
    pub script: Option<PathBuf>,
    /// How the model calls tools.
    pub tool_mode: ToolMode,
}

impl Default for ModelSettings {
    fn default() -> Self {
        Self {
            provider: "openai".to_owned(),
            name: None,
            base_url: None,
            api_key: None,
            api_key_env: None,
            policy: ModelCallPolicy::default(),
            vision: None,
            context_tokens: None,
            max_output_tokens: None,
            script: None,
            tool_mode: ToolMode::Native,
        }
    }
}

/// Without the key, and without the user part that an address may have.
impl fmt::Debug for ModelSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModelSettings")
            .field("provider", &self.provider)
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

impl ModelSettings {
    /// Settings of one provider, with everything else left to its defaults.
    #[must_use]
    pub fn of(provider: impl Into<String>) -> Self {
        Self {
            provider: provider.into(),
            ..Self::default()
        }
    }

    /// Makes the provider. Only a script's file is read here.
    ///
    /// # Errors
    /// [`ModelError::Setup`], with a hint where there is something to do.
    pub fn build(self) -> Result<Arc<dyn ModelProvider>, ModelError> {
        let Some(defaults) = provider_defaults(&self.provider) else {
            let names: Vec<&str> = PROVIDERS.iter().map(|row| row.name).collect();
            return Err(setup(
                format!("there is no provider {:?}", self.provider),
                format!(
                    "one of {}; any other with an OpenAI-compatible endpoint is `openai` with a base_url",
                    names.join(", ")
                ),
            ));
        };
        if self.tool_mode == ToolMode::JsonSchema
            && !matches!(defaults.wire, Wire::OpenAi | Wire::Scripted)
        {
            return Err(setup(
                format!("{} does not hold replies to a schema", defaults.name),
                "tool_mode = \"json_schema\" is for OpenAI-compatible servers; leave it out here"
                    .to_owned(),
            ));
        }
        match defaults.wire {
            Wire::Scripted => self.scripted(),
            Wire::OpenAi | Wire::Responses | Wire::Anthropic | Wire::Adapted(_) => {
                self.over_http(defaults)
            }
        }
    }

    fn scripted(self) -> Result<Arc<dyn ModelProvider>, ModelError> {
        let Some(file) = &self.script else {
            return Err(setup(
                "the scripted model has no script".to_owned(),
                "set script = FILE under [model]".to_owned(),
            ));
        };
        let script = Script::from_file(file)?;
        let provider = ScriptedProvider::new(script, self.name.as_deref().unwrap_or("script"));
        Ok(match self.vision {
            Some(true) => Arc::new(provider.seeing()),
            Some(false) | None => Arc::new(provider),
        })
    }

    fn over_http(
        self,
        defaults: &'static ProviderDefaults,
    ) -> Result<Arc<dyn ModelProvider>, ModelError> {
        let info = self.info(defaults)?;
        let base = self.base(defaults)?;
        let key = self.key(defaults)?;
        let timeouts = PhaseTimeouts::each(self.policy.timeout);
        let provider: Arc<dyn ModelProvider> = match defaults.wire {
            Wire::Anthropic => {
                let longest = self
                    .max_output_tokens
                    .unwrap_or_else(|| longest(&info.name));
                Arc::new(anthropic(info, base, key, timeouts, longest)?)
            }
            Wire::Responses => Arc::new(responses(info, base, key, timeouts)?),
            Wire::Adapted(adapter) => {
                let provider = Adapted::new(info, adapter, &base, key, timeouts)?;
                return Ok(Arc::new(RetryingProvider::new(
                    Arc::new(provider),
                    self.policy,
                )));
            }
            Wire::OpenAi | Wire::Scripted => {
                let dialect = Dialect {
                    asks_usage: defaults.asks_usage,
                    replays_reasoning: defaults.replays_reasoning,
                    schema: self.schema(defaults),
                };
                Arc::new(open_ai(info, base, key, timeouts, dialect, self.tool_mode)?)
            }
        };
        Ok(Arc::new(RetryingProvider::over_own_deadlines(
            provider,
            self.policy,
        )))
    }

    /// What the server takes of JSON Schema: `openai` at another address is any server.
    fn schema(&self, defaults: &ProviderDefaults) -> SchemaDialect {
        match (defaults.schema, &self.base_url) {
            (SchemaDialect::OpenAiChat, Some(_)) => SchemaDialect::Compatible,
            (own, _) => own,
        }
    }

    fn info(&self, defaults: &ProviderDefaults) -> Result<ModelInfo, ModelError> {
        let name = self.name.as_deref().unwrap_or(defaults.model);
        if name.is_empty() {
            return Err(setup(
                format!("{} has no default model", defaults.name),
                "set name under [model]".to_owned(),
            ));
        }
        Ok(ModelInfo {
            provider: defaults.name.to_owned(),
            name: name.to_owned(),
            vision: self.vision.unwrap_or(defaults.vision),
            context_tokens: self.context_tokens,
        })
    }

    fn base(&self, defaults: &ProviderDefaults) -> Result<Url, ModelError> {
        let given = self.base_url.as_deref().unwrap_or(defaults.base_url).trim();
        if given.is_empty() && defaults.wire == Wire::Adapted(Adapter::Vertex) {
            return Err(setup(
                "vertex has an address per project and region".to_owned(),
                "set base_url to the address of the region, with /v1/projects/PROJECT/locations/REGION behind it"
                    .to_owned(),
            ));
        }
        // The text may hold a credential, so it is not shown.
        let hint = "it is like http://127.0.0.1:8000/v1".to_owned();
        let url = Url::parse(given)
            .map_err(|error| setup(format!("base_url is no url: {error}"), hint.clone()))?;
        if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
            return Err(setup("base_url is not http or https".to_owned(), hint));
        }
        Ok(url)
    }

    fn key(&self, defaults: &ProviderDefaults) -> Result<Option<SecretString>, ModelError> {
        use secrecy::ExposeSecret as _;
        let key = self
            .api_key
            .clone()
            .filter(|key| !key.expose_secret().trim().is_empty());
        let variable = self.api_key_env.as_deref().or(defaults.api_key_env);
        // The address of Vertex is always a given one, and never one without keys.
        let own_address =
            self.base_url.is_none() || defaults.wire == Wire::Adapted(Adapter::Vertex);
        match variable {
            Some(variable) if key.is_none() && own_address => Err(setup(
                format!("there is no key for {}", defaults.name),
                format!("put it in the environment variable {variable}"),
            )),
            // A key is one line; the line break of a file it was read from is not part of it.
            _ => Ok(key.map(|key| SecretString::from(key.expose_secret().trim()))),
        }
    }
}

/// How long a reply may be where nobody said: what the older models refuse to go beyond, or a
/// number that all newer ones take.
fn longest(model: &str) -> u32 {
    match model.strip_prefix("claude-3-") {
        Some(rest) if rest.starts_with('5') => 8_192,
        Some(rest) if !rest.starts_with('7') => 4_096,
        Some(_) | None => DEFAULT_MAX_OUTPUT_TOKENS,
    }
}

fn setup(message: String, hint: String) -> ModelError {
    ModelError::Setup {
        message,
        hint: Some(hint),
    }
}
