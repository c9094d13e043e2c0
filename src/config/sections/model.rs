//! `[model]`.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::formats::{FilePath, ProviderWord, Url, VariableName};

/// Which model answers, and how it is called.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Model {
    /// The provider; `openai` with a `base_url` is any service that speaks its chat completions.
    /// Without one, the first of `ANTHROPIC_API_KEY`, `OPENAI_API_KEY`, `GEMINI_API_KEY` and
    /// `OLLAMA_HOST` that is set decides.
    #[schemars(with = "Option<ProviderWord>")]
    pub provider: Option<String>,
    /// The model's name at its provider. Without one, the provider's default.
    #[schemars(length(min = 1))]
    pub name: Option<String>,
    /// Where the provider listens. Without it, where it usually does.
    #[schemars(with = "Option<Url>")]
    pub base_url: Option<String>,
    /// The name of the environment variable that has the key. Without one, the provider's usual.
    #[schemars(with = "Option<VariableName>")]
    pub api_key_env: Option<String>,
    /// How many seconds a request waits for its reply to begin, and then for each next piece that
    /// says something: comments and empty pieces do not count. Connecting may take half of it, and
    /// at most 10 seconds; a whole reply may take 30 times as long, or 10 minutes where that is more.
    #[schemars(range(min = 1, max = 86_400))]
    pub timeout_seconds: u32,
    /// How often a request is tried again while nothing of its reply has been shown.
    #[schemars(range(min = 0, max = 20))]
    pub max_retries: u32,
    /// How many milliseconds pass before it is tried again the first time. It doubles each time.
    #[schemars(range(min = 0, max = 600_000))]
    pub retry_delay_ms: u32,
    /// The most milliseconds that pass before it is tried again.
    #[schemars(range(min = 0, max = 600_000))]
    pub max_retry_delay_ms: u32,
    /// The file with the turns of the `scripted` provider.
    #[schemars(with = "Option<FilePath>")]
    pub script: Option<PathBuf>,
    /// How many tokens a request and its reply may have together. Without it, what is known of the
    /// model.
    #[schemars(range(min = 1, max = 1_000_000_000))]
    pub context_tokens: Option<u64>,
    /// Whose tokens are counted where a limit is in tokens. For models with another vocabulary the
    /// counts are estimates.
    pub tokenizer: Tokenizer,
    /// Whether the model can see pictures. Without it, what is known of the model.
    pub vision: Option<bool>,
    /// How the model calls tools: as its provider has it, or by a reply that is held to a schema, for
    /// models that have no calls, behind an OpenAI-compatible server.
    pub tool_mode: ToolMode,
}

impl Default for Model {
    fn default() -> Self {
        Self {
            provider: None,
            name: None,
            base_url: None,
            api_key_env: None,
            timeout_seconds: 120,
            max_retries: 2,
            retry_delay_ms: 500,
            max_retry_delay_ms: 8000,
            script: None,
            context_tokens: None,
            tokenizer: Tokenizer::O200kBase,
            vision: None,
            tool_mode: ToolMode::Native,
        }
    }
}

/// How a model calls tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline, rename_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum ToolMode {
    /// As its provider has it.
    Native,
    /// The tools stand in the prompt, and the reply is either a call or an answer, by its schema.
    JsonSchema,
}

/// A vocabulary of tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline, rename_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum Tokenizer {
    /// The vocabulary of OpenAI's present models.
    #[serde(rename = "o200k_base")]
    O200kBase,
    /// The vocabulary of OpenAI's models before, and of many that follow them.
    #[serde(rename = "cl100k_base")]
    Cl100kBase,
}
