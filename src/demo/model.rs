//! The model of the tour: a script whose words follow from what the tools answered.

use async_trait::async_trait;
use outfitter_core::{
    Cancel, MessageRole, ModelError, ModelInfo, ModelProvider, ModelRequest, ModelStream, Status,
    ToolOutput,
};
use outfitter_model::{Script, ScriptedProvider};

use super::days::{Days, spoken};

const SCRIPT: &str = include_str!("script.yaml");

/// What the script speaks of and cannot know.
#[derive(Debug, Clone)]
pub(crate) struct Surroundings {
    /// The days it offers.
    pub(crate) days: Days,
    /// A port of this machine where somebody listens; 0 for none.
    pub(crate) port: u16,
}

/// The model of the tour. What it says is a function of the request, as a real model's would be:
/// it never praises a refusal that did not happen.
#[derive(Debug)]
pub(crate) struct Tour {
    surroundings: Surroundings,
    info: ModelInfo,
}

impl Tour {
    /// A tour in these surroundings.
    pub(crate) fn new(surroundings: Surroundings) -> Self {
        Self {
            surroundings,
            info: ModelInfo {
                provider: "scripted".to_owned(),
                name: "tour".to_owned(),
                vision: false,
                context_tokens: None,
            },
        }
    }

    fn script(&self, request: &ModelRequest) -> Result<Script, ModelError> {
        let Surroundings { days, port } = &self.surroundings;
        let outputs: Vec<&ToolOutput> = request
            .messages
            .iter()
            .filter(|message| message.role == MessageRole::Tool)
            .filter_map(|message| message.output.as_deref())
            .collect();
        let of = |tool: &str| {
            let tool = tool.to_owned();
            outputs
                .iter()
                .filter(move |output| output.tool_name == tool)
        };
        let commands: Vec<&&ToolOutput> = of("execute_shell_command").collect();
        let second = spoken(days.second);
        let chosen = of("ask_user").any(|output| {
            let answer = output
                .result
                .as_ref()
                .and_then(|result| result.get("answer"));
            answer.and_then(serde_json::Value::as_str) == Some(&second)
        });
        let day = if chosen { days.second } else { days.first };
        let values = [
            ("ran", ran(commands.first()).to_owned()),
            ("tried", tried(commands.get(1)).to_owned()),
            ("first", spoken(days.first)),
            ("second", second),
            ("day", spoken(day)),
            ("start", format!("{day}T09:00:00Z")),
            ("report", format!("{}T12:00:00Z", days.report)),
            ("port", port.to_string()),
        ];
        let script = values
            .iter()
            .fold(SCRIPT.to_owned(), |script, (name, value)| {
                script.replace(&format!("{{{{{name}}}}}"), value)
            });
        Script::from_text(&script)
    }
}

// The words below are put between quotes of YAML, where a line ends with `\\n`.

/// What there is to say of the script that was run.
fn ran(output: Option<&&&ToolOutput>) -> &'static str {
    let done = output
        .is_some_and(|output| output.status == Status::Success && printed(output).contains("Kiel"));
    match done {
        true => "That fits the data. I'll write it down.",
        false => "The script could not run here. I'll write down what it would print.",
    }
}

/// What there is to say of what was tried.
fn tried(output: Option<&&&ToolOutput>) -> &'static str {
    let Some(output) = output.filter(|output| output.status == Status::Success) else {
        return "The command was not even run: nothing would hold it back on this machine.";
    };
    let printed = printed(output);
    if printed.contains("NOT refused") {
        "Not all of it was refused: the sandbox of this machine is weaker than it\\nshould be, and \
         `outfitter doctor` says why."
    } else if printed.contains("not tried") {
        "What could be tried was refused by the sandbox, as it should be."
    } else {
        "All three were refused by the sandbox, as they should be."
    }
}

fn printed(output: &ToolOutput) -> &str {
    let result = output.result.as_ref();
    let stdout = result.and_then(|result| result.get("stdout"));
    stdout
        .and_then(serde_json::Value::as_str)
        .unwrap_or_default()
}

#[async_trait]
impl ModelProvider for Tour {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    async fn stream(
        &self,
        request: ModelRequest,
        cancel: Cancel,
    ) -> Result<ModelStream, ModelError> {
        let script = self.script(&request)?;
        ScriptedProvider::new(script, &self.info.name)
            .stream(request, cancel)
            .await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use outfitter_core::{CallId, UnixMs};
    use rstest::rstest;
    use serde_json::json;

    fn output(status: Status, stdout: &str) -> ToolOutput {
        ToolOutput {
            tool_name: "execute_shell_command".to_owned(),
            resolved: None,
            tool_call_id: CallId::new("c1").unwrap(),
            tool_call_args: json!({}),
            status,
            result: Some(json!({ "stdout": stdout })),
            error: None,
            ui_hints: None,
            artifacts: Vec::new(),
            truncated: None,
        }
    }

    #[rstest]
    #[case(
        Status::Success,
        "refused: a\nrefused: b\nrefused: c\n",
        "All three were refused"
    )]
    #[case(
        Status::Success,
        "refused: a\nNOT refused: b\n",
        "Not all of it was refused"
    )]
    #[case(
        Status::Success,
        "refused: a\nnot tried: b\n",
        "What could be tried was refused"
    )]
    #[case(Status::Denied, "", "The command was not even run")]
    fn only_what_happened_is_praised(
        #[case] status: Status,
        #[case] stdout: &str,
        #[case] said: &str,
    ) {
        let output = output(status, stdout);
        assert!(tried(Some(&&&output)).starts_with(said));
    }

    #[test]
    fn every_word_of_the_script_is_filled() {
        let tour = Tour::new(Surroundings {
            days: Days::after(UnixMs(1_798_502_400_000)),
            port: 1,
        });
        let request = ModelRequest {
            system: "".into(),
            messages: Vec::new(),
            tools: [].into(),
        };
        let script = format!("{:?}", tour.script(&request).unwrap());
        assert!(!script.contains("{{"), "{script}");
    }
}
