//! The model that the configuration names.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use async_trait::async_trait;
use outfitter_core::{
    Cancel, ErrorInfo, ModelError, ModelInfo, ModelProvider, ModelRequest, ModelStream,
};
use outfitter_model::{ModelCallPolicy, ModelSettings, ToolMode, provider_defaults};
use secrecy::SecretString;

use crate::config::{Config, sections};
use crate::env::Environment;

/// The provider that the configuration names, with its key from the environment.
pub(crate) fn provider(
    config: &Config,
    environment: &Environment,
) -> Result<Arc<dyn ModelProvider>, ModelError> {
    let model = &config.model;
    let Some(provider) = &model.provider else {
        return Err(ModelError::Setup {
            message: "no model is chosen".to_owned(),
            hint: Some(
                "set ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY or OLLAMA_HOST, or write \
                 [model] provider in outfitter.toml; `outfitter demo` needs none"
                    .to_owned(),
            ),
        });
    };
    let base_url = model
        .base_url
        .clone()
        .or_else(|| ollama_host(provider, environment));
    ModelSettings {
        provider: provider.clone(),
        name: model.name.clone(),
        base_url,
        api_key: key(config, environment),
        api_key_env: model.api_key_env.clone(),
        policy: policy(model),
        vision: model.vision,
        context_tokens: model.context_tokens,
        max_output_tokens: None,
        script: model.script.clone(),
        tool_mode: match model.tool_mode {
            sections::ToolMode::Native => ToolMode::Native,
            sections::ToolMode::JsonSchema => ToolMode::JsonSchema,
        },
    }
    .build()
}

/// How often, how late and for how long it is asked.
fn policy(model: &sections::Model) -> ModelCallPolicy {
    ModelCallPolicy {
        max_retries: model.max_retries,
        retry_delay: Duration::from_millis(model.retry_delay_ms.into()),
        max_retry_delay: Duration::from_millis(model.max_retry_delay_ms.into()),
        timeout: Duration::from_secs(model.timeout_seconds.into()),
    }
}

/// The model that polishes messages, if the configuration names one. Of the provider of `[model]` it
/// is called as that one is; of another, as that is called usually.
pub(crate) fn polisher(
    config: &Config,
    environment: &Environment,
) -> Option<Arc<dyn ModelProvider>> {
    let (polish_provider, name) = config.send.polish_model.as_deref()?.split_once('/')?;
    let model = &config.model;
    let like = if model.provider.as_deref() == Some(polish_provider) {
        model.clone()
    } else {
        sections::Model {
            timeout_seconds: model.timeout_seconds,
            max_retries: model.max_retries,
            retry_delay_ms: model.retry_delay_ms,
            max_retry_delay_ms: model.max_retry_delay_ms,
            ..sections::Model::default()
        }
    };
    let config = Config {
        model: sections::Model {
            provider: Some(polish_provider.to_owned()),
            name: Some(name.to_owned()),
            tool_mode: sections::ToolMode::Native,
            ..like
        },
        ..config.clone()
    };
    // A message goes also where its model cannot be set up; what is wrong is said with it.
    Some(provider(&config, environment).unwrap_or_else(|error| {
        Arc::new(NoModel::because(error.to_info())) as Arc<dyn ModelProvider>
    }))
}

/// The key of the provider, where the environment has it.
pub(crate) fn key(config: &Config, environment: &Environment) -> Option<SecretString> {
    let usual = || provider_defaults(config.model.provider.as_deref()?)?.api_key_env;
    let name = config.model.api_key_env.as_deref().or_else(usual)?;
    environment.secret(name)
}

/// Where Ollama listens, from its own variable: a host, a host and a port, or a URL.
fn ollama_host(provider: &str, environment: &Environment) -> Option<String> {
    let path = match provider {
        "ollama" => "/v1",
        "ollama-native" => "",
        _ => return None,
    };
    let host = environment.text(crate::env::OLLAMA_HOST)?.trim();
    if host.is_empty() {
        return None;
    }
    let url = if host.contains("://") {
        host.to_owned()
    } else {
        format!("http://{host}")
    };
    let host = url.split("://").nth(1).unwrap_or_default();
    let port = if host.contains(':') { "" } else { ":11434" };
    Some(format!("{}{port}{path}", url.trim_end_matches('/')))
}

/// The model of direct calls: most need none, so it is set up when the first asks for it.
pub(crate) struct OnDemand {
    set_up: Box<dyn Fn() -> Arc<dyn ModelProvider> + Send + Sync>,
    model: OnceLock<Arc<dyn ModelProvider>>,
}

impl OnDemand {
    /// What `set_up` gives, once.
    pub(crate) fn new(set_up: impl Fn() -> Arc<dyn ModelProvider> + Send + Sync + 'static) -> Self {
        Self {
            set_up: Box::new(set_up),
            model: OnceLock::new(),
        }
    }

    fn model(&self) -> &dyn ModelProvider {
        &**self.model.get_or_init(|| (self.set_up)())
    }
}

#[async_trait]
impl ModelProvider for OnDemand {
    fn info(&self) -> &ModelInfo {
        self.model().info()
    }

    async fn stream(
        &self,
        request: ModelRequest,
        cancel: Cancel,
    ) -> Result<ModelStream, ModelError> {
        self.model().stream(request, cancel).await
    }
}

/// The model where none can be set up: whoever asks it is told why.
pub(crate) struct NoModel {
    info: ModelInfo,
    why: ErrorInfo,
}

impl NoModel {
    /// None, for this reason.
    pub(crate) fn because(why: ErrorInfo) -> Self {
        Self {
            info: ModelInfo {
                provider: "none".to_owned(),
                name: "none".to_owned(),
                // Who would show it a picture is told why it is not there, not that it is blind.
                vision: true,
                context_tokens: None,
            },
            why,
        }
    }
}

#[async_trait]
impl ModelProvider for NoModel {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    async fn stream(&self, _: ModelRequest, _: Cancel) -> Result<ModelStream, ModelError> {
        Err(ModelError::Setup {
            message: self.why.message.clone(),
            hint: self.why.hint.clone(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A number for each key, none of them a default or another's.
    #[test]
    fn every_number_of_a_models_policy_gets_where_it_is_used() {
        let policy = policy(&sections::Model {
            timeout_seconds: 3,
            max_retries: 5,
            retry_delay_ms: 7,
            max_retry_delay_ms: 11,
            ..sections::Model::default()
        });
        assert_eq!(policy.timeout, Duration::from_secs(3));
        assert_eq!(policy.max_retries, 5);
        assert_eq!(policy.retry_delay, Duration::from_millis(7));
        assert_eq!(policy.max_retry_delay, Duration::from_millis(11));
    }
}
