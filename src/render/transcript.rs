//! The messages of a session as a person reads them.

use std::sync::Arc;

use outfitter_core::{Arguments, Message, MessageRole, Part};

use super::block::{Above, Line, Pieces, To};
use super::text::visible;
use super::{Detail, Face, Ink, call};

/// The messages of a session, with their calls and results.
#[must_use]
pub fn transcript(messages: &[Arc<Message>], face: Face, detail: Detail) -> String {
    let mut pieces = Pieces::together();
    for message in messages {
        match message.role {
            MessageRole::User => block(
                &mut pieces,
                face,
                Ink::Name,
                &format!("> {}", message.content()),
            ),
            MessageRole::System => block(&mut pieces, face, Ink::Quiet, &message.content()),
            MessageRole::Assistant => {
                for part in &message.parts {
                    match part {
                        Part::Text { text } | Part::Refusal { text } => {
                            block(&mut pieces, face, Ink::Plain, text);
                        }
                        Part::Reasoning { text, .. } => block(&mut pieces, face, Ink::Quiet, text),
                        Part::ToolCall(called) => {
                            let arguments = Arguments::parse(called.arguments.clone()).shown();
                            let line =
                                call::call_line(face, &called.name, &called.name, &arguments);
                            lines(&mut pieces, &line);
                        }
                        Part::Image { mime, .. } | Part::File { mime, .. } => {
                            block(&mut pieces, face, Ink::Quiet, &format!("[{mime}]"));
                        }
                        Part::Provider { .. } => {}
                    }
                }
            }
            MessageRole::Tool => {
                if let Some(output) = &message.output {
                    let label = Some(output.tool_name.as_str());
                    lines(
                        &mut pieces,
                        &call::end_lines(face, detail, label, output, None),
                    );
                }
            }
        }
    }
    pieces.take().into_iter().map(|piece| piece.text).collect()
}

fn block(pieces: &mut Pieces, face: Face, ink: Ink, text: &str) {
    let text = visible(text.trim_matches('\n'));
    if text.is_empty() {
        return;
    }
    pieces.begin(Above::Text(To::People, Line::Ended));
    for line in text.lines() {
        pieces.push(To::People, &face.colour.paint(ink, line));
        pieces.push(To::People, "\n");
    }
}

fn lines(pieces: &mut Pieces, text: &str) {
    pieces.begin(Above::Calls);
    pieces.push(To::People, text);
}
