//! What a client sends to start or to resume a run.
//!
//! Our log is the history. A client sends its own with every run; only the words that the person
//! has added are taken of it. Whatever else it says of the conversation is not looked at: it could
//! say anything.

use outfitter_core::SessionId;
use serde_json::{Map, Value};

use super::read::{At, InputError};
use super::resume::{self, ResumeEntry};

/// Bytes of a run's id.
const RUN_ID_BYTES: usize = 256;

/// What a client can read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientEra {
    /// AG-UI 1.0 and later: it says `protocolVersion`.
    One,
    /// AG-UI 0.0.x: an outcome that it does not know would end its run with a fault of its own.
    Before,
}

impl ClientEra {
    /// The era of a client that says this version, or none.
    #[must_use]
    pub fn of(version: Option<&str>) -> Self {
        let major = version.and_then(|version| version.split('.').next()?.parse::<u32>().ok());
        match major {
            Some(1..) => Self::One,
            Some(0) | None => Self::Before,
        }
    }
}

/// Who speaks, as far as it matters here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InputRole {
    /// The person.
    User,
    /// The model or a tool: what a person said before it was said before.
    Reply,
    /// Anything else: reasoning, activity, instructions, and roles that are not known.
    Aside,
}

/// One message of a client's history.
#[derive(Debug, Clone, PartialEq)]
pub struct InputMessage {
    /// Its id, where it has one.
    pub id: Option<String>,
    /// Who speaks.
    pub role: InputRole,
    /// The text of a person's message; empty for the others, which are not looked at.
    pub text: String,
    /// The types of the parts that were left out of the text: pictures, sounds, documents.
    pub left_out: Vec<String>,
}

/// Something that the application says of the situation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContextItem {
    /// What it is.
    pub description: String,
    /// What it says.
    pub value: String,
}

/// What a client sends to start or to resume a run. Fields that are not known are passed over, and
/// `null` stands for nothing, as clients of before send it.
#[derive(Debug, Clone, PartialEq)]
pub struct RunAgentInput {
    /// The session.
    pub thread: SessionId,
    /// The run, by the client's own id.
    pub run: String,
    /// The run that the client names as its parent.
    pub parent_run: Option<String>,
    /// What the client can read.
    pub era: ClientEra,
    /// The client's state; an empty object where it has none.
    pub state: Value,
    /// The client's history.
    pub messages: Vec<InputMessage>,
    /// The names of the tools that the client offers to run itself.
    pub tools: Vec<String>,
    /// What the application says of the situation.
    pub context: Vec<ContextItem>,
    /// What is passed through to the agent.
    pub forwarded: Option<Value>,
    /// Answers to what waits.
    pub resume: Vec<ResumeEntry>,
}

impl RunAgentInput {
    /// Reads a body.
    ///
    /// # Errors
    /// [`InputError`]: the body does not parse, or it does not fit.
    pub fn parse(body: &[u8]) -> Result<Self, InputError> {
        let value: Value = serde_json::from_slice(body).map_err(InputError::Syntax)?;
        Self::read(&At::root(&value))
    }

    fn read(input: &At<'_>) -> Result<Self, InputError> {
        let thread = input.member("threadId")?;
        let run = input.member("runId")?;
        let id = run.text()?;
        if id.is_empty() || id.len() > RUN_ID_BYTES {
            return Err(run.fault("1 to 256 bytes"));
        }
        let messages = input.member("messages")?;
        if messages.value.is_none() {
            return Err(messages.fault("a list"));
        }
        let version = input.member("protocolVersion")?.optional_text()?;
        Ok(Self {
            thread: SessionId::new(thread.text()?).map_err(|_| thread.fault(SessionId::RULE))?,
            run: id.to_owned(),
            parent_run: owned(input.member("parentRunId")?.optional_text()?),
            era: ClientEra::of(version),
            state: input
                .member("state")?
                .value
                .cloned()
                .unwrap_or_else(|| Value::Object(Map::new())),
            messages: each(&messages, message)?,
            tools: each(&input.member("tools")?, |tool| {
                Ok(tool.member("name")?.text()?.to_owned())
            })?,
            context: each(&input.member("context")?, |item| {
                Ok(ContextItem {
                    description: item.member("description")?.text()?.to_owned(),
                    value: item.member("value")?.text()?.to_owned(),
                })
            })?,
            forwarded: input.member("forwardedProps")?.value.cloned(),
            resume: each(&input.member("resume")?, resume::entry)?,
        })
    }

    /// The person's messages that are new: those at the end of the history, after the last reply
    /// and after the last message whose id is `known`. Instructions and thoughts among them are
    /// passed over. There are none when a run is resumed and nothing was added.
    pub fn new_user_messages(&self, known: impl Fn(&str) -> bool) -> Vec<&InputMessage> {
        let is_known = |message: &InputMessage| message.id.as_deref().is_some_and(&known);
        let old = self
            .messages
            .iter()
            .rposition(|message| message.role == InputRole::Reply || is_known(message))
            .map_or(0, |last| last + 1);
        self.messages[old..]
            .iter()
            .filter(|message| message.role == InputRole::User)
            .collect()
    }
}

fn each<T>(
    list: &At<'_>,
    read: impl Fn(&At<'_>) -> Result<T, InputError>,
) -> Result<Vec<T>, InputError> {
    list.items()?.iter().map(read).collect()
}

fn owned(text: Option<&str>) -> Option<String> {
    text.map(str::to_owned)
}

fn message(message: &At<'_>) -> Result<InputMessage, InputError> {
    let role = match message.member("role")?.text()? {
        "user" => InputRole::User,
        "assistant" | "tool" => InputRole::Reply,
        _ => InputRole::Aside,
    };
    let mut read = InputMessage {
        id: owned(message.member("id")?.optional_text()?),
        role,
        text: String::new(),
        left_out: Vec::new(),
    };
    if role == InputRole::User {
        let content = message.member("content")?;
        match content.value {
            Some(Value::String(text)) => read.text.push_str(text),
            Some(Value::Array(_)) => {
                for part in content.items()? {
                    match part.member("type")?.text()? {
                        "text" => read.text.push_str(part.member("text")?.text()?),
                        other => read.left_out.push(other.to_owned()),
                    }
                }
            }
            _ => return Err(content.fault("a text or a list of parts")),
        }
    }
    Ok(read)
}
