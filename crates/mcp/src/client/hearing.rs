//! What a process prints, taken apart: replies, requests, notifications and noise.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::atomic::Ordering;

use outfitter_process::{Output, Stream};
use serde_json::{Value, json};

use super::connection::{Connection, Unanswered, line};
use super::lines::{Line, Lines};
use super::stderr::Ring;
use super::wire::{self, Fault, Incoming};

/// How many lines in a row may be no messages. A banner, a log on the wrong stream and a stack trace
/// are shorter; what prints more than that is no MCP server.
pub(crate) const MAX_NOISE_LINES: usize = 10_000;

/// JSON-RPC: no such method.
const METHOD_NOT_FOUND: i64 = -32601;

/// What came of reading what a server prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Read {
    /// Both streams have ended.
    All,
    /// [`MAX_NOISE_LINES`] in a row were no messages.
    Nonsense,
}

impl Connection {
    /// Reads all it prints, on both streams, until both have ended or it makes no sense.
    pub(crate) async fn read(&self, output: &mut Output, lines: &mut Lines, stderr: &Ring) -> Read {
        loop {
            let mut was_there = true;
            let mut next = pin!(output.next());
            let next = poll_fn(|cx| {
                let next = next.as_mut().poll(cx);
                was_there &= next.is_ready();
                next
            });
            let Ok(Some((stream, bytes))) = next.await else {
                return Read::All;
            };
            self.take(stream, &bytes, lines, stderr);
            if self.noise.load(Ordering::Relaxed) >= MAX_NOISE_LINES {
                return Read::Nonsense;
            }
            // What never stops printing leaves time for all else all the same. To give way has the
            // runtime wake a thread to look for work, which is not to be paid for each reply.
            if was_there {
                tokio::task::yield_now().await;
            }
        }
    }

    /// Takes a piece of what it printed.
    pub(crate) fn take(&self, stream: Stream, bytes: &[u8], lines: &mut Lines, stderr: &Ring) {
        match stream {
            Stream::Stderr => stderr.push(bytes),
            Stream::Stdout => lines.push(bytes, |line| self.take_line(&line, stderr)),
        }
    }

    /// Takes what it printed last, without an end of the line.
    pub(crate) fn finish(&self, lines: &mut Lines, stderr: &Ring) {
        lines.finish(|line| self.take_line(&line, stderr));
    }

    fn take_line(&self, line: &Line<'_>, stderr: &Ring) {
        let mut sense = false;
        let mut each = |incoming| {
            sense |= !matches!(incoming, Incoming::Noise(_));
            self.handle(incoming, stderr);
        };
        match *line {
            Line::Whole(line) => wire::read(line, each),
            Line::TooLong { head, tail, bytes } => each(wire::read_ends(head, tail, bytes)),
        }
        let noise = self.noise.load(Ordering::Relaxed);
        if !sense {
            self.noise.store(noise + 1, Ordering::Relaxed);
        } else if noise < MAX_NOISE_LINES {
            self.noise.store(0, Ordering::Relaxed);
        }
    }

    fn handle(&self, incoming: Incoming, stderr: &Ring) {
        match incoming {
            Incoming::Reply(id, outcome) => {
                let fault = |fault| Unanswered::Fault(self.fit(fault));
                self.answer(id, outcome.map_err(fault));
            }
            Incoming::Request { id, method } => self.reply(&id, &method),
            Incoming::Notification { method, params } => self.hear(&method, &params),
            Incoming::Noise(text) => self.overhear(&text, stderr),
            Incoming::Unreadable(fault) => self.blame(self.fit(fault)),
        }
    }

    /// A fault as it may be told: it may be in words of the server.
    fn fit(&self, fault: Fault) -> Fault {
        let fit = |text: &str| self.secrets.taken_out(text).into_owned();
        match fault {
            Fault::Rpc { code, message } => Fault::Rpc {
                code,
                message: fit(&message),
            },
            Fault::Garbled(why) => Fault::Garbled(fit(&why)),
            Fault::TooLong { bytes } => Fault::TooLong { bytes },
        }
    }

    fn answer(&self, id: u64, outcome: Result<Value, Unanswered>) {
        let open = self.lock().open.remove(&id);
        // Otherwise it is a late reply to what was given up.
        if let Some(open) = open {
            let _ = open.reply.send(outcome);
        }
    }

    /// A reply that cannot be read belongs to the one request that is open, if it is one.
    fn blame(&self, fault: Fault) {
        let only = {
            let asked = self.lock();
            let mut ids = asked.open.keys().copied();
            ids.next().filter(|_| ids.next().is_none())
        };
        match only {
            Some(id) => self.answer(id, Err(Unanswered::Fault(fault))),
            None => tracing::warn!(
                server = &*self.server,
                ?fault,
                "skipped a reply that cannot be read"
            ),
        }
    }

    /// What a server wants of its client, we do not offer; but we answer.
    fn reply(&self, id: &Value, method: &str) {
        let answer = if method == "ping" {
            json!({"jsonrpc": "2.0", "id": id, "result": {}})
        } else {
            let message = format!("this client does not offer {method}");
            let error = json!({"code": METHOD_NOT_FOUND, "message": message});
            json!({"jsonrpc": "2.0", "id": id, "error": error})
        };
        let _ = self.outbox.send(line(&answer));
    }

    fn hear(&self, method: &str, params: &Value) {
        match method {
            "notifications/tools/list_changed" => self.tools_changed.notify_one(),
            "notifications/progress" => self.show(params),
            "notifications/message" => {
                tracing::debug!(
                    server = &*self.server,
                    message = &*self.secrets.taken_out(&params.to_string()),
                    "said"
                );
            }
            _ => {}
        }
    }

    fn show(&self, params: &Value) {
        let token = match &params["progressToken"] {
            Value::Number(number) => number.as_u64(),
            Value::String(text) => text.parse().ok(),
            _ => None,
        };
        let asked = self.lock();
        if let Some(progress) = token
            .and_then(|id| asked.open.get(&id))
            .and_then(|open| open.progress.as_ref())
        {
            // Shown to who is there; a full queue has signs of life enough.
            let line = progress_line(params);
            let _ = progress.try_send(self.secrets.taken_out(&line).into_owned());
        }
    }

    fn overhear(&self, text: &str, stderr: &Ring) {
        // A secret of which a part is cut off is not known as one any more.
        let text = wire::quote(&self.secrets.taken_out(text));
        stderr.push(format!("[stdout] {text}\n").as_bytes());
        if !self.noisy.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                server = &*self.server,
                "prints lines that are no messages; they are kept with its standard error"
            );
        }
    }
}

/// Progress as a line for people.
fn progress_line(params: &Value) -> String {
    let number = |key: &str| params[key].as_f64();
    let share = match (number("progress"), number("total")) {
        (Some(done), Some(total)) => Some(format!("{done}/{total}")),
        (Some(done), None) => Some(done.to_string()),
        (None, _) => None,
    };
    match (params["message"].as_str(), share) {
        (Some(message), Some(share)) => format!("{message} ({share})"),
        (Some(message), None) => message.to_owned(),
        (None, share) => share.unwrap_or_default(),
    }
}
