//! The last lines of a run: what may follow, and what it took.

use outfitter_core::{RunOutcome, RunOutput, SuggestedAction, TokenUsage, UnixMs, UsageSource};

use super::text::one_line;
use super::{Face, Ink, Kind, units};

/// What a run took so far.
#[derive(Debug, Default)]
pub(super) struct Totals {
    began: Option<UnixMs>,
    model_calls: u64,
    tokens: TokenUsage,
    pub(super) tool_calls: u64,
}

impl Totals {
    pub(super) fn since(began: UnixMs) -> Self {
        Self {
            began: Some(began),
            ..Self::default()
        }
    }

    pub(super) fn add(&mut self, usage: &TokenUsage) {
        self.model_calls += 1;
        self.tokens.input_tokens += usage.input_tokens;
        self.tokens.output_tokens += usage.output_tokens;
        self.tokens.cache_read_tokens += usage.cache_read_tokens;
        if usage.source == UsageSource::Estimated {
            self.tokens.source = UsageSource::Estimated;
        }
    }

    /// The words for what was used.
    fn words(&self, now: UnixMs) -> Vec<String> {
        let mut words = Vec::new();
        if self.model_calls > 0 {
            let about = match self.tokens.source {
                UsageSource::Reported => "",
                UsageSource::Estimated => "about ",
            };
            let cached = match self.tokens.cache_read_tokens {
                0 => String::new(),
                cached => format!(" ({} from cache)", units::grouped(cached)),
            };
            words.push(units::count(self.model_calls, "model call", "model calls"));
            words.push(format!(
                "{about}{} tokens in{cached}, {} out",
                units::grouped(self.tokens.input_tokens),
                units::grouped(self.tokens.output_tokens)
            ));
        }
        if self.tool_calls > 0 {
            words.push(units::count(self.tool_calls, "tool call", "tool calls"));
        }
        if let Some(began) = self.began {
            words.push(units::span(now.0.saturating_sub(began.0)));
        }
        words
    }
}

/// The line, empty when there is nothing to say. Why a live run failed is said by the command that
/// ran it; a replay says it here.
pub(super) fn line(
    face: Face,
    kind: Kind,
    totals: &Totals,
    now: UnixMs,
    outcome: RunOutcome,
    output: &RunOutput,
) -> String {
    let (word, ink) = match outcome {
        RunOutcome::Success => (None, Ink::Quiet),
        RunOutcome::Failed => (Some("failed"), Ink::Bad),
        RunOutcome::Cancelled => (Some("cancelled"), Ink::Caution),
        RunOutcome::Waiting => (Some("waiting for an answer"), Ink::Caution),
        RunOutcome::Limit => (Some("stopped at a limit"), Ink::Caution),
    };
    let mut first = word.map(str::to_owned).unwrap_or_default();
    if let (Kind::Replay, Some(error)) = (kind, &output.error) {
        first.push_str(&format!(": {}: {}", error.code, one_line(&error.message)));
    }
    let words = totals.words(now).join(" · ");
    let mut out = face.colour.paint(ink, &first);
    if !first.is_empty() && !words.is_empty() {
        out.push_str("  ");
    }
    face.colour.paint_into(&mut out, Ink::Quiet, &words);
    if !out.is_empty() {
        out.push('\n');
    }
    out
}

/// What might be done next, one a line. It is shown and never done: a person types it, or does not.
pub(super) fn actions(face: Face, actions: &[SuggestedAction]) -> String {
    let mut out = String::new();
    for SuggestedAction {
        label,
        prompt,
        command,
    } in actions
    {
        let (mark, what) = match (prompt, command) {
            (Some(prompt), _) => (">", prompt),
            (None, Some(command)) => ("$", command),
            (None, None) => continue,
        };
        out.push_str(&face.colour.paint(Ink::Active, mark));
        out.push(' ');
        out.push_str(&one_line(what));
        face.colour
            .paint_into(&mut out, Ink::Quiet, &format!("  ({})", one_line(label)));
        out.push('\n');
    }
    out
}
