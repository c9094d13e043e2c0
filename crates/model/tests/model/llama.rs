//! A real model of 135 million parameters, behind llama.cpp's server, which has no calls: the mode
//! by schema makes them.

use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use outfitter_core::{MessageRole, ModelProvider, ModelRequest, ToolName, ToolSchema};
use outfitter_model::ToolMode;
use serde_json::{Value, json};

use crate::common::{Outcome, ask, message, request, settings, text};
use crate::requests::result_of;

/// The server and the model's file, if a person has said where they are.
fn found() -> Option<(PathBuf, PathBuf)> {
    #[expect(clippy::disallowed_methods, reason = "a test asks where a program is")]
    let path = |name: &str| std::env::var(name).ok().map(PathBuf::from);
    let both = path("OUTFITTER_TEST_LLAMA_SERVER").zip(path("OUTFITTER_TEST_LLAMA_MODEL"));
    #[expect(clippy::print_stdout, reason = "a skip is said")]
    if both.is_none() {
        println!(
            "SKIPPED(llama): OUTFITTER_TEST_LLAMA_SERVER and OUTFITTER_TEST_LLAMA_MODEL name no \
             llama-server and no model; CONTRIBUTING.md says how to have them"
        );
    }
    both
}

type Child = tokio::process::Child;

/// The server, and the model behind it.
async fn served(server: PathBuf, file: PathBuf) -> (Child, Arc<dyn ModelProvider>) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    #[expect(
        clippy::disallowed_types,
        reason = "the test starts the server of others"
    )]
    let child = tokio::process::Command::new(server)
        .args([
            "--host",
            "127.0.0.1",
            "-t",
            "1",
            "-c",
            "4096",
            "-np",
            "1",
            "--temp",
            "0",
        ])
        .args(["--port", &port.to_string(), "-m"])
        .arg(file)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut settings = settings("openai", format!("http://127.0.0.1:{port}/v1"));
    settings.tool_mode = ToolMode::JsonSchema;
    settings.policy.timeout = Duration::from_secs(120);
    // The server answers 503 while it loads, and nothing before that.
    settings.policy.max_retries = 20;
    settings.policy.retry_delay = Duration::from_millis(200);
    (child, settings.build().unwrap())
}

fn echo(said: &str) -> ModelRequest {
    let tool = ToolSchema {
        name: ToolName::new("echo").unwrap(),
        description: "Repeats a text a number of times.".into(),
        parameters: Arc::new(json!({
            "type": "object",
            "properties": {"text": {"type": "string", "maxLength": 40}, "n": {"type": "integer", "minimum": 1, "maximum": 9}},
            "required": ["text", "n"], "additionalProperties": false,
        })),
    };
    ModelRequest {
        system: "You call the tool that is asked for.".into(),
        tools: Arc::new([tool]),
        ..request(vec![message(MessageRole::User, vec![text(said)])])
    }
}

/// A reply is a call whose arguments fit, or an answer.
fn is_one_or_the_other(outcome: &Outcome) -> bool {
    let calls: Vec<_> = outcome.reply.tool_calls().collect();
    for call in &calls {
        assert_eq!(call.name, "echo");
        let arguments: Value = serde_json::from_str(&call.arguments).unwrap();
        assert!(arguments["text"].is_string(), "{arguments}");
        assert!(
            (1..=9).contains(&arguments["n"].as_i64().unwrap()),
            "{arguments}"
        );
    }
    assert!(calls.len() == 1 || !outcome.text().is_empty());
    calls.len() == 1
}

#[tokio::test]
async fn a_model_without_calls_makes_them() {
    let Some((server, file)) = found() else {
        return;
    };
    let (mut child, model) = served(server, file).await;
    let asks = [
        "Call the tool echo with text \"Hello World\" and n 3.",
        "Use echo to repeat \"good morning\" 2 times.",
        "Please echo the word tea 5 times with the tool.",
    ];
    let mut called = Vec::new();
    for said in asks {
        let outcome = ask(&model, echo(said)).await.whole();
        if is_one_or_the_other(&outcome) {
            called.push((said, outcome));
        }
    }
    assert!(!called.is_empty(), "it never called the tool");
    // The result goes back as words, and what comes is again one or the other.
    let (said, first) = called.remove(0);
    let mut request = echo(said);
    request
        .messages
        .push(message(MessageRole::Assistant, first.reply.parts.clone()));
    let id = first.reply.tool_calls().next().unwrap().id.clone();
    request.messages.push(result_of(
        id.as_str(),
        vec![text("Hello World Hello World Hello World")],
    ));
    is_one_or_the_other(&ask(&model, request).await.whole());
    child.kill().await.unwrap();
}
