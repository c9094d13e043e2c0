//! The body of a call, as it is sent.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};
use outfitter_core::{Bytes, Code, ErrorInfo, ToolContext, ToolError, canonical};
use serde_json::{Map, Value};

use super::arguments::{at, inputs, named, pointer};
use super::body::{Body, From};
use super::field::{MAX_UPLOAD_BYTES, Sent};
use super::flat::{Need, Place};
use super::media::{Media, MediaTypes, Transfer, UNKNOWN};
use super::multipart::{self, Part};
use super::operation::Operation;
use super::parameter::{Input, Style};
use super::styled::pairs;
use super::text::percent_encode;
use crate::FileAccess;
use crate::given::{Given, GivenFile, NotRead};

/// A body, and its media type.
pub(super) struct Written {
    pub(super) kind: String,
    pub(super) bytes: Bytes,
}

impl Written {
    fn of(kind: &str, bytes: impl Into<Bytes>) -> Self {
        Self {
            kind: kind.to_owned(),
            bytes: bytes.into(),
        }
    }
}

/// Writes the body of a call, where it has one.
pub(super) async fn written(
    cx: &ToolContext,
    operation: &Operation,
    args: &Map<String, Value>,
) -> Result<Option<Written>, ToolError> {
    let Some(body) = &operation.body else {
        return Ok(None);
    };
    match &body.from {
        From::Whole(property) => match args.get(property) {
            Some(value) => whole(cx, body, property, value).await.map(Some),
            None => Ok(None),
        },
        From::Fields { required, .. } => {
            let fields: Vec<(&Input, &Value)> = inputs(operation, Place::Body, args).collect();
            if fields.is_empty() && body.need == Need::Optional {
                return Ok(None);
            }
            let is_there = |name: &str| fields.iter().any(|(input, _)| input.name == name);
            if let Some(name) = required.iter().find(|name| !is_there(name)) {
                let message =
                    format!("a body without {name:?} is none; give it, or none of the body");
                return Err(ToolError::invalid(
                    named(operation, Place::Body, name),
                    message,
                ));
            }
            of_fields(cx, body, &fields).await.map(Some)
        }
    }
}

async fn whole(
    cx: &ToolContext,
    body: &Body,
    property: &str,
    value: &Value,
) -> Result<Written, ToolError> {
    match (&body.media, value) {
        (Media::Json(kind), value) => Ok(Written::of(kind, canonical(value))),
        (Media::Text(kind), Value::String(text)) => Ok(Written::of(kind, text.clone())),
        (Media::Bytes(kinds, transfer), Value::String(text)) => {
            let mut files = Files::of(cx);
            let (file, kind) = files.read(text, kinds, pointer(property)).await?;
            Ok(Written::of(&kind, transferred(*transfer, file.bytes)))
        }
        (Media::Text(_) | Media::Bytes(..) | Media::Form | Media::Multipart, _) => {
            Err(ToolError::invalid(pointer(property), "it has to be a text"))
        }
    }
}

async fn of_fields(
    cx: &ToolContext,
    body: &Body,
    fields: &[(&Input, &Value)],
) -> Result<Written, ToolError> {
    match &body.media {
        Media::Json(kind) | Media::Text(kind) => {
            let fields = fields.iter();
            let object: Map<String, Value> = fields
                .map(|(input, value)| (input.name.clone(), (*value).clone()))
                .collect();
            Ok(Written::of(kind, canonical(&Value::Object(object))))
        }
        Media::Form => {
            let mut all: Vec<String> = Vec::new();
            for (input, value) in fields {
                let pairs = match input.form {
                    Style::Json => each(value)
                        .map(|(_, text)| (input.name.clone(), form(&text)))
                        .collect(),
                    _ => pairs(input, value, form)?,
                };
                let pairs = pairs.into_iter();
                all.extend(pairs.map(|(name, value)| format!("{}={value}", form(&name))));
            }
            let kind = "application/x-www-form-urlencoded";
            Ok(Written::of(kind, all.join("&")))
        }
        Media::Multipart => {
            let parts = parts(cx, body, fields).await?;
            // Large files take a while.
            let written = tokio::task::spawn_blocking(move || multipart::write(&parts)).await;
            let (kind, bytes) = written.map_err(|error| {
                ToolError::internal("the body was not written").with_source(error)
            })?;
            Ok(Written::of(&kind, bytes))
        }
        // All of it is one argument.
        Media::Bytes(..) => Ok(Written::of(UNKNOWN, Bytes::new())),
    }
}

/// The parts of a form: a list is one for each item, an object is JSON, a file is its bytes.
async fn parts(
    cx: &ToolContext,
    body: &Body,
    fields: &[(&Input, &Value)],
) -> Result<Vec<Part>, ToolError> {
    let From::Fields { fields: known, .. } = &body.from else {
        return Ok(Vec::new());
    };
    let mut files = Files::of(cx);
    let mut parts = Vec::new();
    for (input, value) in fields {
        let field = known.get(&input.name);
        let any = MediaTypes::default();
        let kinds = field.map_or(&any, |field| &field.kinds);
        if let Some(Sent::File(transfer)) = field.map(|field| field.sent) {
            for (at, text) in texts(&at(input), value)? {
                let (file, kind) = files.read(text, kinds, at).await?;
                parts.push(Part {
                    name: input.name.clone(),
                    file: Some(file.name),
                    kind: Some(kind),
                    bytes: transferred(transfer, file.bytes),
                });
            }
            continue;
        }
        let said = kinds.first();
        if input.form != Style::Json {
            let pairs = pairs(input, value, str::to_owned)?;
            parts.extend(pairs.into_iter().map(|(name, text)| Part {
                name,
                file: None,
                kind: None,
                bytes: text.into(),
            }));
            continue;
        }
        parts.extend(each(value).map(|(usual, text)| Part {
            name: input.name.clone(),
            file: None,
            kind: said.or(usual).map(str::to_owned),
            bytes: text.into(),
        }));
    }
    Ok(parts)
}

/// The texts that name files, each with where it stands.
fn texts<'v>(at: &str, value: &'v Value) -> Result<Vec<(String, &'v str)>, ToolError> {
    let list = value.as_array();
    let one = list.is_none().then(|| (at.to_owned(), value));
    let items = list.into_iter().flatten().enumerate();
    let items = items.map(|(index, item)| (format!("{at}/{index}"), item));
    let each = items.chain(one).map(|(at, value)| match value.as_str() {
        Some(text) => Ok((at, text)),
        None => Err(ToolError::invalid(at, "it has to be the path of a file")),
    });
    each.collect()
}

/// The files of one call, which have a bound together.
struct Files<'c> {
    cx: &'c ToolContext,
    left: u64,
}

impl<'c> Files<'c> {
    fn of(cx: &'c ToolContext) -> Self {
        Self {
            cx,
            left: MAX_UPLOAD_BYTES,
        }
    }

    /// Reads one, and says what it is.
    async fn read(
        &mut self,
        text: &str,
        kinds: &MediaTypes,
        at: String,
    ) -> Result<(GivenFile, String), ToolError> {
        // Whatever is opened to administrators, what leaves is of the workspace.
        let given = Given::of(text);
        let read = given.read(self.cx, FileAccess::WORKSPACE, self.left);
        let file = read.await.map_err(|error| match error {
            NotRead::TooLarge => {
                let message =
                    format!("the files of a call have at most {MAX_UPLOAD_BYTES} bytes together");
                ErrorInfo::new(Code::TooLarge, message).at(&at).into()
            }
            NotRead::Because(error) => ToolError::from(error.into_info().at(&at)),
        })?;
        self.left = self.left.saturating_sub(file.bytes.len() as u64);
        let kind = kinds.of_file(&file.name, file.mime.as_deref(), &file.bytes);
        let kind = kind.map_err(|why| ToolError::invalid(at, why))?;
        Ok((file, kind))
    }
}

fn transferred(transfer: Transfer, bytes: Vec<u8>) -> Bytes {
    match transfer {
        Transfer::Bytes => bytes.into(),
        Transfer::Base64 { url: false } => STANDARD.encode(bytes).into(),
        Transfer::Base64 { url: true } => URL_SAFE.encode(bytes).into(),
    }
}

/// The texts of a field, and what they are where they are no plain text: a list is one for each
/// item, an object is JSON.
fn each(value: &Value) -> impl Iterator<Item = (Option<&'static str>, String)> {
    let list = value.as_array();
    let one = list.is_none().then_some(value);
    list.into_iter()
        .flatten()
        .chain(one)
        .map(|value| match value {
            Value::String(text) => (None, text.clone()),
            Value::Null => (None, String::new()),
            other @ (Value::Bool(_) | Value::Number(_)) => (None, canonical(other)),
            other @ (Value::Array(_) | Value::Object(_)) => {
                (Some("application/json"), canonical(other))
            }
        })
}

/// As forms are written: a space is a plus.
fn form(text: &str) -> String {
    percent_encode(text).replace("%20", "+")
}
