//! The DevTools protocol over a pipe: each message is a JSON object and a zero byte
//! (<https://chromedevtools.github.io/devtools-protocol/>). So nobody else can speak to the browser,
//! and it needs no port.

use std::time::Duration;

use outfitter_process::{Input, Output, Stream};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;

use super::error::BrowserError;

/// The largest message that is taken: a picture of [`MAX_PICTURE_BYTES`] in base64, and what stands
/// around it.
const MAX_MESSAGE_BYTES: usize = MAX_PICTURE_BYTES / 3 * 4 + (1 << 20);

/// The most bytes of a picture.
pub(super) const MAX_PICTURE_BYTES: usize = 32 << 20;

/// How much of what it complained of stands in an error.
const SAID_BYTES: usize = 500;

/// How long its last words may take once it has ended.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// Both directions.
pub(super) struct DevTools {
    input: Input,
    output: Output,
    received: Vec<u8>,
    /// How much of it was looked through for an end.
    scanned: usize,
    said: Vec<u8>,
    last_id: u64,
}

/// What comes in.
pub(super) enum Message {
    /// To a call of ours, by its number.
    Answer(u64, Result<Value, String>),
    /// Something happened.
    Event(String, Value),
}

impl DevTools {
    pub(super) fn new(input: Input, output: Output) -> Self {
        Self {
            input,
            output,
            received: Vec::new(),
            scanned: 0,
            said: Vec::new(),
            last_id: 0,
        }
    }

    /// Sends a call and does not wait for its answer, whose number it gives.
    pub(super) async fn send(
        &mut self,
        session: Option<&str>,
        method: &str,
        params: Value,
    ) -> Result<u64, BrowserError> {
        self.last_id += 1;
        let mut call = json!({ "id": self.last_id, "method": method, "params": params });
        if let Some(session) = session {
            call["sessionId"] = session.into();
        }
        let mut bytes = call.to_string().into_bytes();
        bytes.push(0);
        match self.input.write_all(&bytes).await {
            Ok(()) => Ok(self.last_id),
            Err(_) => Err(self.ended().await),
        }
    }

    /// The next message.
    pub(super) async fn next(&mut self) -> Result<Message, BrowserError> {
        loop {
            if let Some(bytes) = self.whole() {
                return parsed(&bytes);
            }
            if self.received.len() > MAX_MESSAGE_BYTES {
                let most = MAX_PICTURE_BYTES;
                return Err(BrowserError::TooLarge { most });
            }
            match self.output.next().await.map_err(BrowserError::Child)? {
                Some((Stream::Stdout, bytes)) => self.received.extend_from_slice(&bytes),
                Some((Stream::Stderr, bytes)) => self.hear(&bytes),
                None => return Err(self.ended().await),
            }
        }
    }

    fn whole(&mut self) -> Option<Vec<u8>> {
        let from = self.scanned;
        self.scanned = self.received.len();
        let end = from + self.received[from..].iter().position(|byte| *byte == 0)?;
        let rest = self.received.split_off(end + 1);
        let mut bytes = std::mem::replace(&mut self.received, rest);
        bytes.pop();
        self.scanned = 0;
        Some(bytes)
    }

    fn hear(&mut self, bytes: &[u8]) {
        self.said.extend_from_slice(bytes);
        let over = self.said.len().saturating_sub(SAID_BYTES);
        self.said.drain(..over);
    }

    async fn ended(&mut self) -> BrowserError {
        let rest = async {
            while let Ok(Some((stream, bytes))) = self.output.next().await {
                if stream == Stream::Stderr {
                    self.hear(&bytes);
                }
            }
        };
        // What it left open may be held by something that goes on.
        let _ = tokio::time::timeout(LAST_WORDS, rest).await;
        let said = String::from_utf8_lossy(&self.said);
        BrowserError::Ended(match said.trim() {
            "" => String::new(),
            said => format!(": {said}"),
        })
    }
}

fn parsed(bytes: &[u8]) -> Result<Message, BrowserError> {
    let unknown = || BrowserError::Refused("what is no message".to_owned());
    let mut message: Value = serde_json::from_slice(bytes).map_err(|_| unknown())?;
    if let Some(id) = message["id"].as_u64() {
        let answer = match message["error"]["message"].as_str() {
            Some(error) => Err(error.to_owned()),
            None => Ok(message["result"].take()),
        };
        return Ok(Message::Answer(id, answer));
    }
    let method = message["method"].as_str().ok_or_else(unknown)?.to_owned();
    Ok(Message::Event(method, message["params"].take()))
}
