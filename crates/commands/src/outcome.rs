//! What a call gives back, whatever the program did.

use bytes::Bytes;
use outfitter_core::{ArtifactError, ArtifactId, Code, NewArtifact, Outcome, Scope, ToolContext};
use outfitter_process::Ending;
use serde_json::{Value, json};

use crate::document;
use crate::run::{Ended, Printed};
use crate::scrub::Scrub;
use crate::settings::ProgramSettings;
use crate::subcommand::Subcommand;

/// What a program that ran is reported as.
pub(crate) async fn of(
    cx: &ToolContext,
    settings: &ProgramSettings,
    subcommand: &Subcommand,
    printed: Printed,
    stderr_tail: String,
    scrub: &Scrub,
) -> Outcome {
    let Printed {
        ended,
        stdout,
        time,
    } = printed;
    let name = &settings.name;
    let stdout = match ended {
        Ended::Exited(_) => scrub.clean(stdout),
        Ended::TimedOut | Ended::Cancelled | Ended::TooMuch => scrub.clean_cut(stdout),
    };
    let why = match ended {
        Ended::Exited(ending) => match document::read(subcommand, ending, &stdout) {
            Ok(outcome) => return outcome,
            Err(why) => why,
        },
        Ended::TooMuch => format!("it printed more than {} bytes", settings.max_output_bytes),
        Ended::TimedOut => {
            return Outcome::default().stopped(
                Code::Timeout,
                format!(
                    "{name} was stopped: its time was up ({} s at most)",
                    time.as_secs_f64()
                ),
            );
        }
        Ended::Cancelled => {
            return Outcome::default().stopped(Code::Cancelled, format!("{name} was stopped"));
        }
    };
    let why = settings.secrets().taken_out(&why).into_owned();
    tracing::warn!(
        target: "outfitter::commands",
        program = name,
        subcommand = subcommand.subject(),
        "a program broke its protocol: {why}"
    );
    let mut outcome = Outcome::json(evidence(ended, &stdout, stderr_tail)).stopped(
        Code::ProtocolError,
        format!(
            "{name} broke its protocol at {}: {why}",
            subcommand.subject()
        ),
    );
    if !stdout.is_empty() {
        match keep(cx, subcommand, stdout).await {
            Ok(id) => outcome = outcome.with_artifact(id),
            Err(error) => tracing::warn!(
                target: "outfitter::commands",
                error = &error as &dyn std::error::Error,
                "what a program printed is not kept"
            ),
        }
    }
    outcome
}

/// What helps to find out why.
fn evidence(ended: Ended, stdout: &[u8], stderr_tail: String) -> Value {
    let mut evidence = json!({ "stdout_bytes": stdout.len() });
    match ended {
        Ended::Exited(Ending::Code(code)) => evidence["exit"] = json!(code),
        Ended::Exited(Ending::Signal(signal)) => evidence["signal"] = json!(signal),
        Ended::TimedOut | Ended::Cancelled | Ended::TooMuch => {}
    }
    if !stderr_tail.is_empty() {
        evidence["stderr_tail"] = Value::String(stderr_tail);
    }
    evidence
}

async fn keep(
    cx: &ToolContext,
    subcommand: &Subcommand,
    stdout: Vec<u8>,
) -> Result<ArtifactId, ArtifactError> {
    let scope = Scope::from(&*cx.who);
    let new = NewArtifact {
        mime: match std::str::from_utf8(&stdout) {
            Ok(_) => "text/plain; charset=utf-8".to_owned(),
            Err(_) => "application/octet-stream".to_owned(),
        },
        name: format!("output of {}", subcommand.subject()),
    };
    let id = cx.artifacts.create(&scope, &cx.session, new).await?;
    cx.artifacts
        .append(&scope, &cx.session, &id, Bytes::from(stdout))
        .await?;
    Ok(id)
}
