//! Tokens, of one model call and of the whole run.

use outfitter_core::TokenUsage;

use super::event::AguiUsage;

#[derive(Debug, Default)]
pub(super) struct Used {
    model: Option<(String, String)>,
    total: Option<TokenUsage>,
}

impl Used {
    /// The model is told as `provider/name`.
    pub(super) fn model(&mut self, label: &str) {
        self.model = label
            .split_once('/')
            .map(|(provider, name)| (provider.to_owned(), name.to_owned()));
    }

    /// Adds one model call, and gives it back as it is told.
    pub(super) fn add(&mut self, usage: TokenUsage) -> AguiUsage {
        let total = self.total.get_or_insert_default();
        for (sum, more) in [
            (&mut total.input_tokens, usage.input_tokens),
            (&mut total.output_tokens, usage.output_tokens),
            (&mut total.cache_read_tokens, usage.cache_read_tokens),
            (&mut total.cache_write_tokens, usage.cache_write_tokens),
            (&mut total.reasoning_tokens, usage.reasoning_tokens),
        ] {
            *sum = sum.saturating_add(more);
        }
        self.told(usage)
    }

    /// The whole run; nothing where no model was called.
    pub(super) fn total(&self) -> Vec<AguiUsage> {
        self.total
            .map(|total| self.told(total))
            .into_iter()
            .collect()
    }

    fn told(&self, usage: TokenUsage) -> AguiUsage {
        let (provider, model) = self.model.clone().unzip();
        AguiUsage {
            provider,
            model,
            input_tokens: usage.input_tokens,
            output_tokens: usage.output_tokens,
            total_tokens: usage.input_tokens.saturating_add(usage.output_tokens),
            reasoning_tokens: usage.reasoning_tokens,
            cached_input_tokens: usage.cache_read_tokens,
            cache_write_input_tokens: usage.cache_write_tokens,
        }
    }
}
