//! One page of the result of `fetch_webpages`, while it is made.

use outfitter_core::{
    ArtifactId, Bytes, Code, ErrorInfo, REDACTED, ToolContext, ToolError, address_secrets,
    redact_addresses,
};
use outfitter_net::reqwest::Url;
use serde_json::{Map, Value, json};

use super::fetcher::Fetched;
use super::result::{Form, Readable, head, keep, readable};

/// The text of a page.
struct Text {
    text: String,
    mime: &'static str,
    /// What it is kept as.
    name: String,
    /// How many bytes were read, where there were more.
    cut: Option<usize>,
}

impl Text {
    /// The first characters, and what there is to say of the others. `kept` is where they are.
    fn content(&self, chars: usize, kept: Option<&str>) -> String {
        let (shown, more) = head(&self.text, chars);
        let mut content = shown.to_owned();
        if more > 0 {
            content.push_str(&match kept {
                Some(id) => format!("\n[{more} more characters are in the artifact {id}]"),
                None => format!("\n[{more} more characters were left out]"),
            });
        }
        if let Some(bytes) = self.cut {
            content.push_str(&format!(
                "\n[only the first {bytes} bytes of the page were read: [web] max_bytes]"
            ));
        }
        content
    }
}

/// An id such as artifacts have, to count.
const SOME_ARTIFACT: &str = "art_01KBAXZQ7J9WM3T5VCE8RNH2YD";

/// By how many tokens the ids of the artifact of a page may be longer.
pub(super) const TOKENS_OF_IDS: usize = 16;

/// One result while it is made.
pub(super) struct One {
    pub(super) json: Map<String, Value>,
    /// What it says, until it is known how much of that there is room for.
    text: Option<Text>,
    pub(super) error: Option<ErrorInfo>,
    pub(super) artifact: Option<ArtifactId>,
}

impl One {
    pub(super) fn of(url: &str) -> Self {
        Self {
            json: Map::from_iter([("url".to_owned(), json!(redact_addresses(url)))]),
            text: None,
            error: None,
            artifact: None,
        }
    }

    fn set(&mut self, key: &str, value: impl Into<Value>) {
        self.json.insert(key.to_owned(), value.into());
    }

    /// As it will be with so many characters of its text.
    pub(super) fn shown(&self, chars: usize) -> Value {
        let mut json = self.json.clone();
        if let Some(text) = &self.text {
            let content = text.content(chars, Some(SOME_ARTIFACT));
            json.insert("content".to_owned(), content.into());
            json.insert("artifact".to_owned(), SOME_ARTIFACT.into());
        }
        Value::Object(json)
    }

    /// Puts in so many characters of its text, and keeps all of it where there are more.
    pub(super) async fn put(&mut self, cx: &ToolContext, chars: usize) {
        let Some(text) = self.text.take() else {
            return;
        };
        if head(&text.text, chars).1 > 0 {
            let whole = text.text.clone().into();
            self.artifact = keep(cx, text.mime, &text.name, whole).await;
        }
        let kept = self.artifact.as_ref().map(ArtifactId::as_str);
        let content = text.content(chars, kept);
        let kept = kept.map(str::to_owned);
        self.set("content", content);
        if let Some(id) = kept {
            self.set("artifact", id);
        }
    }

    /// There is no page, or not the one that was asked for.
    pub(super) fn fail(&mut self, mut error: ErrorInfo) {
        for text in std::iter::once(&mut error.message).chain(&mut error.hint) {
            *text = redact_addresses(text).into_owned();
        }
        self.set("error", json!(error));
        self.error = Some(error);
    }

    /// Takes what came, as this.
    pub(super) async fn fill(
        &mut self,
        cx: &ToolContext,
        fetched: Fetched,
        form: Form,
    ) -> Result<(), ToolError> {
        let Fetched {
            url,
            status,
            content_type,
            body,
        } = fetched;
        // The page's links that lead nowhere else lead to its address, so it is this one for them.
        let shown = redact_addresses(url.as_str());
        let secrets = address_secrets(url.as_str());
        let base = Url::parse(&shown).unwrap_or_else(|_| url.clone());
        self.set("final_url", shown.into_owned());
        self.set("status", status);
        let cut = body.cut.then_some(body.bytes.len());
        let name = base.path_segments().and_then(|mut parts| parts.next_back());
        let name = name.filter(|name| !name.is_empty()).unwrap_or("page");
        let name: String = name.chars().take(100).collect();
        let bytes = Bytes::from(body.bytes);
        let shared = bytes.clone();
        let read = move || readable(&shared, &content_type, &base, form);
        let read = tokio::task::spawn_blocking(read)
            .await
            .map_err(|error| ToolError::internal(format!("failed to read the page: {error}")))?;
        match read {
            Readable::Text { title, text, mime } => {
                // A page may say the address that a redirect led to, which no argument names.
                let text = without(text, &secrets);
                self.set("title", without(title, &secrets));
                self.text = Some(Text {
                    text,
                    mime,
                    name,
                    cut,
                });
            }
            Readable::Binary(mime) => {
                let size = bytes.len();
                let whole = if cut.is_some() { "more than " } else { "" };
                if cut.is_none() {
                    self.artifact = keep(cx, &mime, &name, bytes).await;
                }
                let kept = match &self.artifact {
                    Some(id) => format!("; it is kept as the artifact {id}"),
                    None => String::new(),
                };
                self.set("title", "");
                self.set(
                    "content",
                    format!("[no text: {mime}, {whole}{size} bytes{kept}]"),
                );
            }
        }
        if let Some(id) = self.artifact.clone() {
            self.set("artifact", id.as_str());
        }
        match status {
            404 | 410 => self.fail(answered(Code::NotFound, status)),
            429 => self.fail(answered(Code::RateLimited, status)),
            500.. => self.fail(answered(Code::Unavailable, status)),
            400.. => self.fail(answered(Code::Failed, status)),
            _ => {}
        }
        Ok(())
    }
}

fn without(text: String, secrets: &[String]) -> String {
    let cut = |text: String, secret: &String| text.replace(secret, REDACTED);
    secrets.iter().fold(text, cut)
}

fn answered(code: Code, status: u16) -> ErrorInfo {
    ErrorInfo::new(code, format!("the server answered {status}"))
}
