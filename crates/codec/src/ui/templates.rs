//! Each template and the node it becomes.

use outfitter_core::ArtifactId;
use serde_json::Value;

use super::bind::{filled, find, safe_url};
use super::budget::{CELL, CODE_BYTES, Lines, TEXT_BYTES};
use super::compile::Compiler;
use super::hints::{Button, Hints};
use super::lines::{json_text, sorted_keys};
use super::schema::{Action, DiagnosticCode, Node};
use super::{diff, generic, nodes};

/// Buttons of one node, and bytes of what one sends.
const ACTIONS: usize = 8;
const PROMPT_BYTES: usize = 2_000;

impl<'a> Compiler<'a> {
    pub(super) fn template(&mut self, hints: Hints, path: &str, depth: usize) -> Option<Node> {
        Some(match hints {
            Hints::Group { title, children } => {
                let title = self.title(title, path);
                let children: Vec<Node> = children
                    .iter()
                    .enumerate()
                    .map_while(|(at, child)| {
                        let path = format!("{path}/children/{at}");
                        (!self.budget.starved()).then(|| self.node(child, &path, depth - 1))
                    })
                    .flatten()
                    .collect();
                if children.is_empty() {
                    return None;
                }
                Node::Group { title, children }
            }
            Hints::Text { text, tone } => {
                let words = self.filled(&text, path);
                let (text, omitted) = self.budget.block(&words, TEXT_BYTES);
                if omitted > 0 {
                    let message = format!("{omitted} bytes of the text are not shown");
                    self.fault(DiagnosticCode::Truncated, path, &message);
                }
                Node::Text { text, tone }
            }
            Hints::KeyValues {
                title,
                from,
                entries,
            } => {
                let object = self.find(&from, path)?;
                let Some(map) = object.as_object() else {
                    return self.wrong(path, "key_values needs an object");
                };
                let entries = if entries.is_empty() {
                    generic::members(&sorted_keys(map))
                } else {
                    entries
                };
                let title = self.title(title, path);
                let entries = nodes::entries(object, &entries, path, &mut self.budget);
                Node::KeyValues {
                    title,
                    entries: entries.shown,
                    omitted: entries.omitted,
                }
            }
            Hints::Table {
                title,
                from,
                columns,
                empty,
            } => {
                let rows = self.list(&from, path, "table needs a list of rows")?;
                let fields = if columns.is_empty() {
                    generic::inferred(rows)
                } else {
                    columns
                };
                let title = self.title(title, path);
                let empty = self.title(empty.filter(|_| rows.is_empty()), path);
                let columns = nodes::columns(&fields, path, &mut self.budget);
                let shown = &fields[..columns.len()];
                let rows = nodes::rows(rows, shown, path, &mut self.budget);
                Node::Table {
                    title,
                    columns,
                    rows: rows.shown,
                    omitted: rows.omitted,
                    empty,
                }
            }
            Hints::List {
                title,
                from,
                path: part,
                ordered,
                format,
                empty,
            } => {
                let items = self.list(&from, path, "list needs a list")?;
                let title = self.title(title, path);
                let empty = self.title(empty.filter(|_| items.is_empty()), path);
                let items = nodes::items(items, &part, format, path, &mut self.budget);
                Node::List {
                    title,
                    ordered,
                    items: items.shown,
                    omitted: items.omitted,
                    empty,
                }
            }
            Hints::Code {
                title,
                from,
                language,
            } => {
                let value = self.find(&from, path)?;
                let title = self.title(title, path);
                let language = language.map(|word| self.budget.label(&word.to_lowercase()));
                let (text, omitted) = match value.as_str() {
                    Some(text) => self.budget.block(text, CODE_BYTES),
                    None => self.budget.block(&json_text(value, CODE_BYTES), CODE_BYTES),
                };
                Node::Code {
                    title,
                    language,
                    text,
                    omitted,
                }
            }
            Hints::Diff { title, from } => {
                let Some(text) = self.find(&from, path)?.as_str() else {
                    return self.wrong(path, "diff needs a text");
                };
                let title = self.title(title, path);
                let (lines, omitted) = diff::lines(text, &mut self.budget);
                Node::Diff {
                    title,
                    lines,
                    omitted,
                }
            }
            Hints::Link { label, url } => {
                let url = self.filled(&url, path);
                let url = safe_url(&url, path, &mut self.budget)?;
                let label = match label {
                    Some(label) => self.filled(&label, path),
                    None => url.clone(),
                };
                let label = self.budget.label(&label);
                Node::Link { label, url }
            }
            Hints::Image { alt, url, artifact } => {
                if url.is_some() == artifact.is_some() {
                    return self.wrong(path, "image needs a url or an artifact, one of both");
                }
                let url = match url {
                    Some(url) => {
                        let url = self.filled(&url, path);
                        Some(safe_url(&url, path, &mut self.budget)?)
                    }
                    None => None,
                };
                let artifact = match artifact {
                    Some(artifact) => Some(self.artifact(&artifact, path)?),
                    None => None,
                };
                let alt = self.filled(&alt, path);
                let alt = self.budget.label(&alt);
                Node::Image { alt, url, artifact }
            }
            Hints::Chart {
                title,
                from,
                style,
                x,
                series,
            } => {
                let rows = self.list(&from, path, "chart needs a list of rows")?;
                let title = self.title(title, path);
                let series = nodes::series(rows, &x, &series, &mut self.budget);
                if series.shown.iter().all(|series| series.points.is_empty()) {
                    return self.wrong(path, "chart found no numbers");
                }
                Node::Chart {
                    title,
                    style,
                    series: series.shown,
                    omitted: series.omitted,
                }
            }
            Hints::Actions { actions } => self.actions(&actions, path)?,
        })
    }

    fn find(&mut self, from: &str, path: &str) -> Option<&'a Value> {
        find(self.result, from, path, &mut self.budget)
    }

    fn list(&mut self, from: &str, path: &str, otherwise: &str) -> Option<&'a [Value]> {
        match self.find(from, path)? {
            Value::Array(items) => Some(items),
            _ => self.wrong(path, otherwise),
        }
    }

    fn wrong<T>(&mut self, path: &str, message: &str) -> Option<T> {
        self.fault(DiagnosticCode::WrongType, path, message);
        None
    }

    fn filled(&mut self, words: &str, path: &str) -> String {
        filled(words, self.result, path, &mut self.budget)
    }

    fn title(&mut self, words: Option<String>, path: &str) -> Option<String> {
        let words = self.filled(&words?, path);
        Some(self.budget.label(&words))
    }

    fn artifact(&mut self, id: &str, path: &str) -> Option<String> {
        let id = self.filled(id, path);
        match ArtifactId::new(id.as_str()) {
            Ok(id) => self
                .budget
                .pay(id.as_str().len())
                .then(|| id.as_str().to_owned()),
            Err(_) => self.wrong(path, "image needs the id of an artifact"),
        }
    }

    /// Buttons. They say and send what the tool's author wrote: nothing of a result may speak for
    /// the reader.
    fn actions(&mut self, buttons: &[Button], path: &str) -> Option<Node> {
        if buttons.len() > ACTIONS {
            self.fault(
                DiagnosticCode::TooMany,
                path,
                "there are more than 8 buttons",
            );
        }
        let mut actions = Vec::new();
        for button in buttons.iter().take(ACTIONS) {
            if !self.budget.pay(CELL) {
                break;
            }
            actions.push(Action {
                label: self.budget.label(&button.label),
                prompt: self.budget.short(&button.prompt, PROMPT_BYTES, Lines::Many),
            });
        }
        (!actions.is_empty()).then_some(Node::Actions { actions })
    }
}
