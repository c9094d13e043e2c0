//! The projection: the one text of a result, within what a model may read.

use bytes::Bytes;
use outfitter_core::{
    ArtifactError, ArtifactId, NewArtifact, Projection, Scope, ToolOutput, Truncated, canonical,
};
use outfitter_text::head_tail::{Budget, Whole, bound};
use outfitter_text::tokens::{Fit, fits};
use serde_json::Value;

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

/// Puts the result into the output, bounded, and gives the text that the model reads.
pub(super) async fn project(
    result: Value,
    text: Option<String>,
    output: &mut ToolOutput,
    limit: usize,
    run: &RunHandle,
) -> String {
    let mut fitter = Fitter { output, limit, run };
    if fitter.output.error.is_some() {
        return fitter.beside_error(result).await;
    }
    match (result, text) {
        (Value::Null, None) => canonical(&Value::Null),
        (result, Some(text)) => {
            fitter.keep_bounded(result).await;
            fitter.fitted(text, Form::Text).await.0
        }
        (Value::String(whole), None) => {
            let (text, _) = fitter.fitted(whole, Form::Text).await;
            fitter.output.result = Some(Value::String(text.clone()));
            text
        }
        (result, None) => {
            let (text, cut) = fitter.fitted(canonical(&result), Form::Json).await;
            fitter.output.result = Some(match cut {
                Cut::Whole => result,
                Cut::Excerpt => Value::String(text.clone()),
            });
            text
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Cut {
    Whole,
    Excerpt,
}

struct Fitter<'a> {
    output: &'a mut ToolOutput,
    limit: usize,
    run: &'a RunHandle,
}

impl Fitter<'_> {
    /// The text, or its excerpt when it is too long.
    async fn fitted(&mut self, whole: String, form: Form) -> (String, Cut) {
        if fits(&whole, self.limit) == Fit::Within {
            return (whole, Cut::Whole);
        }
        let kept = self.keep(&whole, form).await;
        let text = self.excerpt(&whole, form, self.limit, kept.as_ref());
        (text, Cut::Excerpt)
    }

    /// A result that the model reads as another text: whole, unless it is too long for a row.
    async fn keep_bounded(&mut self, result: Value) {
        self.output.result = match result {
            Value::Null => None,
            result => {
                let (text, cut) = self.fitted(canonical(&result), Form::Json).await;
                Some(match cut {
                    Cut::Whole => result,
                    Cut::Excerpt => Value::String(text),
                })
            }
        };
    }

    /// An error, and what there is to show beside it. The excerpt is a string in JSON, so that the
    /// whole stays JSON.
    async fn beside_error(&mut self, result: Value) -> String {
        let error = self.output.error.clone();
        let project = |result: &Value| Projection::of(Some(result), error.as_ref()).0;
        if result.is_null() {
            return Projection::of(None, error.as_ref()).0;
        }
        let mut projection = project(&result);
        self.output.result = Some(result);
        if fits(&projection, self.limit) == Fit::Within {
            return projection;
        }
        let (whole, form) = match self.output.result.take() {
            Some(Value::String(text)) => (text, Form::Text),
            other => (canonical(&other.unwrap_or_default()), Form::Json),
        };
        let kept = self.keep(&whole, form).await;
        let mut tokens = self.limit;
        for _ in 0..MAX_FITTINGS {
            tokens = (tokens / 4 * 3).max(LEAST_TOKENS);
            let excerpt = Value::String(self.excerpt(&whole, form, tokens, kept.as_ref()));
            projection = project(&excerpt);
            self.output.result = Some(excerpt);
            if tokens == LEAST_TOKENS || fits(&projection, self.limit) == Fit::Within {
                break;
            }
        }
        projection
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
