//! The providers we know by name: where they are, what their key is called, which model is meant
//! when none is named. The one table; `doctor` prints it.

use crate::adapted::Adapter;
use crate::shaping::SchemaDialect;

/// How a provider is talked to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wire {
    /// Chat completions, as OpenAI has them.
    OpenAi,
    /// OpenAI's responses.
    Responses,
    /// The messages API.
    Anthropic,
    /// A wire that is not ours, through a library.
    Adapted(Adapter),
    /// A script instead of a model.
    Scripted,
}

impl Wire {
    /// The word for people.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::OpenAi => "openai-compatible",
            Self::Responses => "openai-responses",
            Self::Anthropic => "anthropic",
            Self::Adapted(Adapter::Gemini) => "gemini",
            Self::Adapted(Adapter::Ollama) => "ollama",
            Self::Adapted(Adapter::Bedrock) => "bedrock converse",
            Self::Adapted(Adapter::Vertex) => "vertex",
            Self::Scripted => "script",
        }
    }
}

/// One row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProviderDefaults {
    /// Its name in `[model] provider`.
    pub name: &'static str,
    /// How it is talked to.
    pub wire: Wire,
    /// Where it is; empty for a script.
    pub base_url: &'static str,
    /// The environment variable of its key; none where there is no key.
    pub api_key_env: Option<&'static str>,
    /// The model meant when none is named; empty where it must be named.
    pub model: &'static str,
    /// Whether that provider's models see pictures, unless `[model] vision` says otherwise.
    pub vision: bool,
    /// Whether usage is asked for with `stream_options`, which one provider refuses.
    pub(crate) asks_usage: bool,
    /// Whether it wants the reasoning of messages with calls back.
    pub(crate) replays_reasoning: bool,
    /// What it takes of JSON Schema at its own address.
    pub(crate) schema: SchemaDialect,
}

const OPENAI_LIKE: ProviderDefaults = ProviderDefaults {
    name: "",
    wire: Wire::OpenAi,
    base_url: "",
    api_key_env: None,
    model: "",
    vision: false,
    asks_usage: true,
    replays_reasoning: false,
    schema: SchemaDialect::Compatible,
};

/// Every provider, by name.
pub const PROVIDERS: &[ProviderDefaults] = &[
    ProviderDefaults {
        name: "anthropic",
        wire: Wire::Anthropic,
        base_url: "https://api.anthropic.com",
        api_key_env: Some("ANTHROPIC_API_KEY"),
        model: "claude-sonnet-4-5",
        vision: true,
        ..OPENAI_LIKE
    },
    ProviderDefaults {
        name: "bedrock",
        wire: Wire::Adapted(Adapter::Bedrock),
        base_url: "https://bedrock-runtime.us-east-1.amazonaws.com",
        api_key_env: Some("AWS_BEARER_TOKEN_BEDROCK"),
        ..OPENAI_LIKE
    },
    ProviderDefaults {
        name: "cohere",
        base_url: "https://api.cohere.ai/compatibility/v1",
        api_key_env: Some("COHERE_API_KEY"),
        model: "command-a-03-2025",
        ..OPENAI_LIKE
    },
    ProviderDefaults {
        name: "deepseek",
        base_url: "https://api.deepseek.com/v1",
        api_key_env: Some("DEEPSEEK_API_KEY"),
        model: "deepseek-chat",
        replays_reasoning: true,
        ..OPENAI_LIKE
    },
    ProviderDefaults {
        name: "gemini",
        base_url: "https://generativelanguage.googleapis.com/v1beta/openai",
        api_key_env: Some("GEMINI_API_KEY"),
        model: "gemini-flash-latest",
        vision: true,
        schema: SchemaDialect::GeminiCompatible,
        ..OPENAI_LIKE
    },
    ProviderDefaults {
        name: "gemini-native",
        wire: Wire::Adapted(Adapter::Gemini),
        base_url: "https://generativelanguage.googleapis.com/v1beta",
        api_key_env: Some("GEMINI_API_KEY"),
        model: "gemini-flash-latest",
        vision: true,
        ..OPENAI_LIKE
    },
    ProviderDefaults {
        name: "groq",
        base_url: "https://api.groq.com/openai/v1",
        api_key_env: Some("GROQ_API_KEY"),
        model: "openai/gpt-oss-120b",
        ..OPENAI_LIKE
    },
    ProviderDefaults {
        name: "mistral",
        base_url: "https://api.mistral.ai/v1",
        api_key_env: Some("MISTRAL_API_KEY"),
        model: "mistral-medium-latest",
        vision: true,
        asks_usage: false,
        ..OPENAI_LIKE
    },
    ProviderDefaults {
        name: "moonshot",
        base_url: "https://api.moonshot.ai/v1",
        api_key_env: Some("MOONSHOT_API_KEY"),
        model: "kimi-latest",
        replays_reasoning: true,
        ..OPENAI_LIKE
    },
    ProviderDefaults {
        name: "ollama",
        base_url: "http://127.0.0.1:11434/v1",
        model: "qwen3",
        schema: SchemaDialect::Ollama,
        ..OPENAI_LIKE
    },
    ProviderDefaults {
        name: "ollama-native",
        wire: Wire::Adapted(Adapter::Ollama),
        base_url: "http://127.0.0.1:11434",
        model: "qwen3",
        ..OPENAI_LIKE
    },
    ProviderDefaults {
        name: "openai",
        base_url: "https://api.openai.com/v1",
        api_key_env: Some("OPENAI_API_KEY"),
        model: "gpt-5.1",
        vision: true,
        schema: SchemaDialect::OpenAiChat,
        ..OPENAI_LIKE
    },
    ProviderDefaults {
        name: "openai-responses",
        wire: Wire::Responses,
        base_url: "https://api.openai.com/v1",
        api_key_env: Some("OPENAI_API_KEY"),
        model: "gpt-5.1",
        vision: true,
        ..OPENAI_LIKE
    },
    ProviderDefaults {
        name: "openrouter",
        base_url: "https://openrouter.ai/api/v1",
        api_key_env: Some("OPENROUTER_API_KEY"),
        model: "openrouter/auto",
        ..OPENAI_LIKE
    },
    ProviderDefaults {
        name: "qwen",
        base_url: "https://dashscope.aliyuncs.com/compatible-mode/v1",
        api_key_env: Some("DASHSCOPE_API_KEY"),
        model: "qwen-max",
        ..OPENAI_LIKE
    },
    ProviderDefaults {
        name: "scripted",
        wire: Wire::Scripted,
        model: "script",
        ..OPENAI_LIKE
    },
    ProviderDefaults {
        name: "together",
        base_url: "https://api.together.xyz/v1",
        api_key_env: Some("TOGETHER_API_KEY"),
        ..OPENAI_LIKE
    },
    ProviderDefaults {
        name: "vertex",
        wire: Wire::Adapted(Adapter::Vertex),
        api_key_env: Some("VERTEX_API_KEY"),
        vision: true,
        ..OPENAI_LIKE
    },
    ProviderDefaults {
        name: "xai",
        base_url: "https://api.x.ai/v1",
        api_key_env: Some("XAI_API_KEY"),
        model: "grok-4",
        vision: true,
        ..OPENAI_LIKE
    },
];

/// The row of a provider.
#[must_use]
pub fn provider_defaults(name: &str) -> Option<&'static ProviderDefaults> {
    PROVIDERS.iter().find(|provider| provider.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table() {
        let rows: Vec<String> = PROVIDERS
            .iter()
            .map(|row| {
                format!(
                    "{} | {} | {} | {} | {}",
                    row.name,
                    row.wire.as_str(),
                    row.base_url,
                    row.api_key_env.unwrap_or("-"),
                    row.model
                )
            })
            .collect();
        insta::assert_snapshot!(rows.join("\n"));
    }

    #[test]
    fn the_page_about_models_has_the_table() {
        let page = include_str!("../../../docs/models.md");
        let said = |text: &str| match text {
            "" => "–".to_owned(),
            text => format!("`{text}`"),
        };
        let rows = PROVIDERS.iter().filter(|row| row.wire != Wire::Scripted);
        let rows: Vec<String> = rows
            .map(|row| {
                format!(
                    "| `{}` | {} | {} | {} | {} |\n",
                    row.name,
                    row.wire.as_str(),
                    said(row.base_url),
                    said(row.api_key_env.unwrap_or_default()),
                    said(row.model)
                )
            })
            .collect();
        assert!(page.contains(&rows.concat()), "{}", rows.concat());
    }

    #[test]
    fn names_are_sorted_and_addresses_have_no_slash_at_the_end() {
        assert!(PROVIDERS.is_sorted_by(|a, b| a.name < b.name));
        assert!(PROVIDERS.iter().all(|row| !row.base_url.ends_with('/')));
    }
}
