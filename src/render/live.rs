//! The events of a run as people watch them.

use outfitter_core::{
    CallId, DeltaKind, Event, EventBody, InterruptKind, Message, MessageId, MessageRole, Part,
    RunStarted, SessionId, ToolOutput, UnixMs,
};
use serde_json::Value;

use super::block::{Above, Line, Piece, Pieces, To};
use super::closing::{self, Totals};
use super::progress::{Look, OpenCall};
use super::text::{one_line, visible};
use super::view::{Answer, Detail, Kind, View};
use super::{Ink, call};

/// Turns the events of runs into text, in order. One renderer for a whole conversation.
#[derive(Debug)]
pub struct Renderer {
    view: View,
    pieces: Pieces,
    calls: Vec<OpenCall>,
    /// The call that the last line was about.
    last_call: Option<CallId>,
    writing: Option<Writing>,
    totals: Totals,
    /// What the last run said of itself: the next one does not say it again.
    introduced: String,
}

/// A message whose pieces come in.
#[derive(Debug)]
struct Writing {
    id: MessageId,
    text: Said,
    reasoning: Said,
}

/// What was said of one sort of text. Line breaks at the end wait until more follows.
#[derive(Debug, Default)]
struct Said {
    text: String,
    shown: usize,
}

impl Renderer {
    /// A renderer of this view.
    #[must_use]
    pub fn new(view: View) -> Self {
        Self {
            view,
            pieces: match view.kind {
                Kind::Live => Pieces::apart(),
                Kind::Replay => Pieces::together(),
            },
            calls: Vec::new(),
            last_call: None,
            writing: None,
            totals: Totals::default(),
            introduced: String::new(),
        }
    }

    /// What is to be written now.
    pub fn event(&mut self, event: &Event) -> Vec<Piece> {
        match &event.body {
            EventBody::RunStarted(started) => self.started(event.at, &event.session, started),
            EventBody::Delta {
                message_id,
                kind,
                text,
                tool_call_id: _,
            } => self.delta(message_id, *kind, text),
            EventBody::Message(message) => self.message(event.at, message),
            EventBody::ToolCall {
                tool_call_id,
                tool_name,
                arguments,
            } => self.call(event.at, tool_call_id, tool_name, arguments),
            EventBody::ToolProgress {
                tool_call_id,
                text,
                stream,
                closed,
                dropped_bytes,
            } => self.progress(tool_call_id, |open, look| {
                let mut lines = open.push(look, *stream, text, *dropped_bytes);
                if *closed {
                    lines.push_str(&open.finish(look));
                }
                lines
            }),
            EventBody::Interrupt(interrupt) => {
                let what = match &interrupt.kind {
                    InterruptKind::Question { question, .. } => format!("asks: {question}"),
                    InterruptKind::Approval { reason } => format!("needs an approval: {reason}"),
                    InterruptKind::Delay => "waits".to_owned(),
                    InterruptKind::Remote { what } => format!("waits for {what}"),
                };
                self.note(Ink::Caution, &format!("? {what}"));
            }
            EventBody::Answered { interrupt: _ } => {}
            EventBody::Warning { code: _, message } => {
                self.note(Ink::Caution, &format!("! {message}"));
            }
            EventBody::Usage(usage) => self.totals.add(usage),
            EventBody::RunFinished { outcome, output } => {
                self.end_text();
                if self.view.answer == Answer::AtEnd && !output.answer.is_empty() {
                    let answer = visible(output.answer.trim_end());
                    self.pieces.begin(Above::Nothing);
                    self.pieces.push(To::Data, &answer);
                    self.pieces.push(To::Data, "\n");
                }
                let totals = std::mem::take(&mut self.totals);
                let View { stderr, kind, .. } = self.view;
                let line = closing::line(stderr, kind, &totals, event.at, *outcome, output);
                if self.view.watched() {
                    let actions = closing::actions(stderr, &output.suggested_actions);
                    self.line(Above::Calls, &actions);
                    self.line(Above::Note, &line);
                }
                self.calls.clear();
            }
        }
        self.pieces.take()
    }

    fn started(&mut self, at: UnixMs, session: &SessionId, started: &RunStarted) {
        self.totals = Totals::since(at);
        if !self.view.watched() {
            return;
        }
        let mut words = Vec::new();
        words.extend(started.model.clone());
        let sandbox = &started.sandbox;
        words.push(format!("sandbox {} ({})", sandbox.backend, sandbox.level));
        words.push(format!("session {session}"));
        if self.view.detail == Detail::Full {
            words.push(format!("tools {}", started.tools.join(", ")));
            if !started.skills.is_empty() {
                words.push(format!("skills {}", started.skills.join(", ")));
            }
        }
        if let Some(workflow) = &started.workflow {
            words.push(format!("workflow {workflow}"));
        }
        if let Some(run) = &started.resumes {
            words.push(format!("continues {run}"));
        }
        let words = words.join(" · ");
        if self.introduced != words {
            self.note(Ink::Quiet, &words);
            self.introduced = words;
        }
    }

    fn delta(&mut self, id: &MessageId, kind: DeltaKind, text: &str) {
        if self
            .writing
            .as_ref()
            .is_none_or(|writing| writing.id != *id)
        {
            self.end_text();
            self.writing = Some(Writing {
                id: id.clone(),
                text: Said::default(),
                reasoning: Said::default(),
            });
        }
        let Some(mut writing) = self.writing.take() else {
            return;
        };
        match kind {
            DeltaKind::Text => {
                writing.text.text.push_str(text);
                if self.view.answer == Answer::Streamed {
                    self.say(&mut writing.text, Ink::Plain, To::Data);
                }
            }
            DeltaKind::Reasoning => {
                writing.reasoning.text.push_str(text);
                if self.view.watched() {
                    self.say(&mut writing.reasoning, Ink::Quiet, To::People);
                }
            }
            DeltaKind::ToolArguments => {}
        }
        self.writing = Some(writing);
    }

    /// Writes what has not been written, but for line breaks at the end.
    fn say(&mut self, said: &mut Said, ink: Ink, to: To) {
        let whole = said.text.trim_end_matches('\n').len();
        let Some(mut next) = said.text.get(said.shown..whole) else {
            return;
        };
        if said.shown == 0 {
            next = next.trim_start_matches('\n');
            if next.is_empty() {
                return;
            }
            self.pieces.begin(Above::Text(to, Line::Open));
        }
        let face = match to {
            To::Data => self.view.stdout,
            To::People => self.view.stderr,
        };
        // Colour ends before a line does, so that no line depends on the one before.
        let mut painted = String::new();
        for line in visible(next).split_inclusive('\n') {
            let words = line.trim_end_matches('\n');
            face.colour.paint_into(&mut painted, ink, words);
            painted.push_str(&line[words.len()..]);
        }
        self.pieces.push(to, &painted);
        self.pieces.leave_open(to);
        said.shown = whole;
    }

    fn end_text(&mut self) {
        self.writing = None;
        self.pieces.end_line();
    }

    fn message(&mut self, at: UnixMs, message: &Message) {
        match message.role {
            MessageRole::Assistant => self.assistant(message),
            MessageRole::Tool => {
                if let Some(output) = &message.output {
                    self.ended(at, output);
                }
            }
            // Not what the person here typed, so they have not seen it.
            MessageRole::User if message.id.is_of_letter() && self.view.kind != Kind::Replay => {
                self.whole(Ink::Caution, &message.content(), To::People);
            }
            MessageRole::User if self.view.kind == Kind::Replay => {
                self.whole(Ink::Name, &format!("> {}", message.content()), To::Data);
            }
            MessageRole::User | MessageRole::System => {}
        }
    }

    /// What was streamed of a message is not written again; what was lost on the way is.
    fn assistant(&mut self, message: &Message) {
        let content = message.content();
        let mut said = match self.writing.take() {
            Some(writing) if writing.id == message.id => writing,
            _ => {
                self.reasoning_of(message);
                Writing {
                    id: message.id.clone(),
                    text: Said::default(),
                    reasoning: Said::default(),
                }
            }
        };
        let narrates = message.tool_calls().next().is_some();
        match self.view.answer {
            Answer::Streamed => {
                if content.starts_with(&said.text.text) {
                    said.text.text = content;
                    self.say(&mut said.text, Ink::Plain, To::Data);
                } else {
                    self.whole(Ink::Plain, &content, To::Data);
                }
            }
            Answer::AtEnd if narrates && self.view.watched() => {
                self.whole(Ink::Plain, &content, To::People);
            }
            Answer::AtEnd => {}
        }
        self.end_text();
    }

    fn reasoning_of(&mut self, message: &Message) {
        if !self.view.watched() {
            return;
        }
        let thoughts: String = message
            .parts
            .iter()
            .filter_map(|part| match part {
                Part::Reasoning { text, .. } => Some(text.as_str()),
                _ => None,
            })
            .collect();
        self.whole(Ink::Quiet, &thoughts, To::People);
    }

    /// Writes a whole text as a block of its own.
    fn whole(&mut self, ink: Ink, text: &str, to: To) {
        let mut said = Said {
            text: text.to_owned(),
            shown: 0,
        };
        self.say(&mut said, ink, to);
        self.pieces.end_line();
    }

    fn call(&mut self, at: UnixMs, id: &CallId, tool: &str, arguments: &Value) {
        self.end_text();
        self.totals.tool_calls += 1;
        let same = self
            .calls
            .iter()
            .filter(|open| open.label.split(' ').next() == Some(tool));
        let label = match same.count() {
            0 => tool.to_owned(),
            others => format!("{tool} #{}", others + 1),
        };
        let face = self.view.stderr;
        let line = call::call_line(face, &label, tool, arguments);
        self.line(Above::Calls, &line);
        if self.view.detail == Detail::Full {
            let arguments = format!("{arguments:#}");
            self.line(
                Above::Calls,
                &call::lines(face, Ink::Quiet, &arguments, usize::MAX),
            );
        }
        self.calls.push(OpenCall::new(id.clone(), label, at));
        self.last_call = Some(id.clone());
    }

    fn progress(&mut self, id: &CallId, lines: impl FnOnce(&mut OpenCall, &Look<'_>) -> String) {
        let alone = self.is_plain_whose(id);
        let Some(open) = self.calls.iter_mut().find(|open| open.id == *id) else {
            return;
        };
        let label = (!alone).then(|| one_line(&open.label));
        let look = Look {
            face: self.view.stderr,
            detail: self.view.detail,
            label: label.as_deref(),
        };
        let lines = lines(open, &look);
        if !lines.is_empty() {
            self.end_text();
            self.line(Above::Calls, &lines);
            self.last_call = Some(id.clone());
        }
    }

    fn ended(&mut self, at: UnixMs, output: &ToolOutput) {
        let id = &output.tool_call_id;
        self.progress(id, OpenCall::finish);
        self.end_text();
        let alone = self.is_plain_whose(id);
        let open = self.calls.iter().position(|open| open.id == *id);
        let open = open.map(|at| self.calls.remove(at));
        let label = open
            .as_ref()
            .map_or(output.tool_name.as_str(), |open| &open.label);
        let took = open.as_ref().map(|open| at.0.saturating_sub(open.begun.0));
        let lines = call::end_lines(
            self.view.stderr,
            self.view.detail,
            (!alone).then_some(label),
            output,
            took,
        );
        self.line(Above::Calls, &lines);
        self.last_call = Some(id.clone());
    }

    /// Whether a reader can tell that a line is about this call: it is the only one that is open,
    /// and the line above is about it too.
    fn is_plain_whose(&self, id: &CallId) -> bool {
        self.calls.len() <= 1 && self.last_call.as_ref() == Some(id)
    }

    fn note(&mut self, ink: Ink, text: &str) {
        self.end_text();
        let line = self.view.stderr.colour.paint(ink, &one_line(text));
        self.line(Above::Note, &format!("{line}\n"));
    }

    fn line(&mut self, above: Above, text: &str) {
        if !text.is_empty() {
            self.pieces.begin(above);
            self.pieces.push(To::People, text);
        }
    }
}
