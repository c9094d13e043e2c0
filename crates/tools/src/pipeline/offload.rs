//! What is longer than a model may read, set aside.

use bytes::Bytes;
use std::sync::Arc;

use outfitter_core::{
    ArtifactError, ArtifactId, NewArtifact, Projection, Scope, ToolOutput, Truncated, canonical,
};
use outfitter_text::head_tail::{Budget, Whole, bound};
use outfitter_text::tokens::{Fit, fits};
use serde_json::Value;

use super::Bounded;
use super::bound::Says;
use crate::RunHandle;

/// The least that is kept of a result beside an error, in tokens.
const LEAST_TOKENS: usize = 64;

/// How often an excerpt that grew by being quoted in JSON is made smaller.
const MAX_FITTINGS: usize = 6;

/// What a text is, so that an excerpt of it can say so.
#[derive(Clone, Copy)]
enum Form {
    Text,
    Json,
}

/// Whether the model, or a row of the log, would get more than the limit.
pub(super) fn is_over(bounded: &Bounded, limit: usize) -> bool {
    let is_long = |text: &str| fits(text, limit) == Fit::Over;
    is_long(&bounded.text)
        || match (bounded.says, &bounded.output.result) {
            (Says::Text, Some(result)) => is_long(&canonical(result)),
            (Says::Text, None) | (Says::Result, _) => false,
        }
}

/// Sets aside what is over the limit.
pub(super) async fn shorten(bounded: &mut Bounded, limit: usize, run: &RunHandle) {
    let Bounded {
        output, text, says, ..
    } = bounded;
    // Nobody else has it yet.
    let output = Arc::make_mut(output);
    let failed = output.error.is_some();
    let result = output.result.take();
    let mut set_aside = SetAside { output, limit, run };
    let result = match (result, says) {
        (None, _) if failed => None,
        (Some(result), _) if failed => Some(set_aside.beside_error(result, text).await),
        (result, Says::Text) => {
            *text = set_aside.fitted(std::mem::take(text), Form::Text).await.0;
            match result {
                Some(result) => Some(set_aside.fitted_json(result).await),
                None => None,
            }
        }
        (result, Says::Result) => {
            let form = match result {
                Some(Value::String(_)) => Form::Text,
                Some(_) | None => Form::Json,
            };
            *text = set_aside.fitted(std::mem::take(text), form).await.0;
            Some(Value::String(text.clone()))
        }
    };
    set_aside.output.result = result;
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Cut {
    Whole,
    Excerpt,
}

struct SetAside<'a> {
    output: &'a mut ToolOutput,
    limit: usize,
    run: &'a RunHandle,
}

impl SetAside<'_> {
    /// The text, or its excerpt when it is too long.
    async fn fitted(&mut self, whole: String, form: Form) -> (String, Cut) {
        if fits(&whole, self.limit) == Fit::Within {
            return (whole, Cut::Whole);
        }
        let kept = self.keep(&whole, form).await;
        let text = self.excerpt(&whole, form, self.limit, kept.as_ref());
        (text, Cut::Excerpt)
    }

    /// The result, or the excerpt of its JSON when that is too long.
    async fn fitted_json(&mut self, result: Value) -> Value {
        match self.fitted(canonical(&result), Form::Json).await {
            (_, Cut::Whole) => result,
            (text, Cut::Excerpt) => Value::String(text),
        }
    }

    /// The excerpt of a result that stands beside an error. In the projection it is a string in
    /// JSON, so that the whole stays JSON.
    async fn beside_error(&mut self, result: Value, projection: &mut String) -> Value {
        let (whole, form) = match result {
            Value::String(text) => (text, Form::Text),
            other => (canonical(&other), Form::Json),
        };
        let kept = self.keep(&whole, form).await;
        let mut tokens = self.limit;
        let mut excerpt = Value::Null;
        for _ in 0..MAX_FITTINGS {
            tokens = (tokens / 4 * 3).max(LEAST_TOKENS);
            excerpt = Value::String(self.excerpt(&whole, form, tokens, kept.as_ref()));
            *projection = Projection::of(Some(&excerpt), self.output.error.as_ref()).0;
            if tokens == LEAST_TOKENS || fits(projection, self.limit) == Fit::Within {
                break;
            }
        }
        excerpt
    }

    /// Keeps the whole as an artifact. Where there is none to be had, the marker says so.
    async fn keep(&mut self, whole: &str, form: Form) -> Option<ArtifactId> {
        match self.store(whole, form).await {
            Ok(id) => {
                self.output.artifacts.push(id.clone());
                Some(id)
            }
            Err(error) => {
                tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    "a long result was cut and its whole is not kept"
                );
                None
            }
        }
    }

    async fn store(&self, whole: &str, form: Form) -> Result<ArtifactId, ArtifactError> {
        let (scope, session) = (Scope::from(&*self.run.who), &self.run.session);
        let new = NewArtifact {
            mime: match form {
                Form::Text => "text/plain; charset=utf-8".to_owned(),
                Form::Json => "application/json".to_owned(),
            },
            name: format!("result of {}", self.output.tool_name),
        };
        let artifacts = &self.run.artifacts;
        let id = artifacts.create(&scope, session, new).await?;
        let bytes = Bytes::copy_from_slice(whole.as_bytes());
        artifacts.append(&scope, session, &id, bytes).await?;
        Ok(id)
    }

    /// Head and tail of a text with what is left out between them.
    fn excerpt(
        &mut self,
        whole: &str,
        form: Form,
        tokens: usize,
        kept: Option<&ArtifactId>,
    ) -> String {
        let preface = match form {
            Form::Text => String::new(),
            Form::Json => format!(
                "[excerpt of {} bytes of JSON; as it stands it is not JSON]\n",
                whole.len()
            ),
        };
        // A token covers a byte at least.
        let room = Budget::Tokens(tokens.saturating_sub(preface.len()).max(tokens / 2));
        let place = kept.map_or(Whole::NotKept, |id| Whole::Artifact(id.as_str()));
        let ends = bound(whole, room, place);
        if let (Some(omitted), Some(artifact)) = (ends.omitted(), kept) {
            self.output.truncated = Some(Truncated {
                total_bytes: whole.len() as u64,
                omitted_bytes: omitted.bytes,
                artifact: artifact.clone(),
            });
        }
        format!("{preface}{ends}")
    }
}
