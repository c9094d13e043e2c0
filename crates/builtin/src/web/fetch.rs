//! `fetch_webpages`: pages as text.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use outfitter_core::{
    ArtifactId, Bytes, Code, Effect, Effects, ErrorInfo, Outcome, OutcomeState, REDACTED, Reply,
    Role, Tool, ToolContext, ToolError, ToolSpec, address_secrets, redact_addresses,
};
use outfitter_net::reqwest::Url;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::Hops;
use super::fetcher::{Bounds, Fetched, Fetcher};
use super::page::Style;
use super::result::{Form, Readable, head, keep, readable};
use super::share::fair;
use crate::args;
use crate::spec::{Words, object, spec};

/// How many pages one call fetches.
const MAX_URLS: usize = 10;

/// The longest URL.
const MAX_URL_CHARS: usize = 4096;

/// The most characters of each page that a call can ask for.
const MAX_CHARS: u64 = 200_000;

/// The longest a page can be waited for.
const MAX_TIMEOUT_SECONDS: u64 = 300;

/// What a call needs beside waiting for pages.
const SLACK: Duration = Duration::from_secs(30);

const WORDS: Words<'static> = Words {
    name: "fetch_webpages",
    description: "Fetches web pages by their URLs and gives what they say as Markdown, text or as \
        they came. Use it when you know where something is on the web: documentation, articles, \
        JSON. It does not search, runs no scripts of a page and reaches public addresses only. A \
        page that is longer than max_chars is kept whole: read_artifact reads on in it. For files \
        of the workspace use file_read; for what a picture shows use analyze_image.",
    keywords: &[
        "web", "url", "http", "download", "page", "internet", "browse", "网页", "网址", "抓取",
        "下载", "浏览", "链接",
    ],
};

/// Fetches pages.
pub struct FetchWebpages {
    spec: ToolSpec,
    fetcher: Arc<Fetcher>,
}

impl FetchWebpages {
    /// Fetches with this.
    #[must_use]
    pub fn new(fetcher: Arc<Fetcher>) -> Self {
        let timeout = fetcher.timeout().as_secs().min(MAX_TIMEOUT_SECONDS);
        let input = object(
            &["urls"],
            json!({
                "urls": {
                    "type": "array", "minItems": 1, "maxItems": MAX_URLS,
                    "items": { "type": "string", "minLength": 1, "maxLength": MAX_URL_CHARS },
                    "description": "The pages: http or https.",
                },
                "max_chars": {
                    "type": "integer", "minimum": 100, "maximum": MAX_CHARS, "default": 8000,
                    "description": "How many characters of each page to give.",
                },
                "timeout_seconds": {
                    "type": "integer", "minimum": 1, "maximum": MAX_TIMEOUT_SECONDS,
                    "default": timeout,
                    "description": "How long to wait for each page.",
                },
                "format": {
                    "type": "string", "enum": ["markdown", "text", "raw"], "default": "markdown",
                    "description": "markdown keeps headings, lists and links; raw is the page as it came.",
                },
            }),
        );
        let result = object(
            &["url"],
            json!({
                "url": { "type": "string", "description": "As it was asked for, without secrets." },
                "final_url": { "type": "string", "description": "After all redirects, without secrets." },
                "status": { "type": "integer", "description": "Of HTTP." },
                "title": { "type": "string" },
                "content": { "type": "string" },
                "artifact": { "type": "string", "description": "All of it, where content is not. For read_artifact." },
                "error": { "type": "object", "description": "Why there is no page, or not the one that was asked for." },
            }),
        );
        let output = object(
            &["results"],
            json!({
                "results": { "type": "array", "items": result, "description": "One for each URL, in order." },
            }),
        );
        Self {
            spec: ToolSpec {
                effects: Effects::of(&[Effect::Network]),
                min_role: Role::User,
                idempotent: true,
                timeout: Some(Duration::from_secs(MAX_TIMEOUT_SECONDS) + SLACK),
                ..spec(&WORDS, input, output)
            },
            fetcher,
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    urls: Vec<String>,
    #[serde(default = "max_chars", deserialize_with = "args::whole")]
    max_chars: u64,
    #[serde(default, deserialize_with = "args::maybe_whole")]
    timeout_seconds: Option<u64>,
    #[serde(default)]
    format: Format,
}

fn max_chars() -> u64 {
    8000
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Format {
    #[default]
    Markdown,
    Text,
    Raw,
}

#[async_trait]
impl Tool for FetchWebpages {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, cx: &ToolContext, args: Value) -> Result<Reply, ToolError> {
        let given = args.clone();
        let args: Args = args::parse(args)?;
        if args.urls.is_empty() || args.urls.len() > MAX_URLS {
            let message = format!("between 1 and {MAX_URLS} urls are fetched at once");
            return Err(ToolError::invalid("/urls", message));
        }
        // One alone, whatever else this call fetches.
        let alone = |url: &str| {
            let mut alone = given.clone();
            alone["urls"] = json!([url]);
            alone
        };
        let hops = Hops::of(cx, &self.spec.name, &alone);
        let pages = args.urls.iter().map(|url| self.page(cx, url, &args, &hops));
        let mut pages = futures_util::future::join_all(pages).await;
        share(cx, &mut pages, &args, self.fetcher.max_result_tokens()).await?;
        Ok(outcome(pages).into())
    }
}

impl FetchWebpages {
    async fn page(&self, cx: &ToolContext, url: &str, args: &Args, hops: &Hops<'_>) -> One {
        let mut one = One::of(url);
        let timeout = args.timeout_seconds.map(Duration::from_secs);
        let bounds = Bounds {
            timeout: timeout.unwrap_or(self.fetcher.timeout()),
            max: u64::MAX,
        };
        match self.fetcher.fetch(cx, url, bounds, hops).await {
            Ok(fetched) => {
                if let Err(error) = one.fill(cx, fetched, args).await {
                    one.fail(error.into_info());
                }
            }
            Err(error) => one.fail(error.into_info()),
        }
        one
    }
}

/// Puts into each page as much of its text as was asked for and as the pages together have room
/// for. What has none is kept.
async fn share(
    cx: &ToolContext,
    pages: &mut Vec<One>,
    args: &Args,
    limit: usize,
) -> Result<(), ToolError> {
    let wanted = args::to_usize(args.max_chars);
    let limit = limit.saturating_sub(pages.len() * TOKENS_OF_IDS);
    let shown = std::mem::take(pages);
    // Counting the tokens of many pages takes a while; other calls go on meanwhile.
    let (shared, chars) = tokio::task::spawn_blocking(move || {
        let result = |chars| {
            let pages = shown.iter().map(|page| page.shown(chars));
            json!({ "results": pages.collect::<Vec<_>>() })
        };
        let chars = fair(wanted, limit, result);
        (shown, chars)
    })
    .await
    .map_err(|error| ToolError::internal(format!("failed to read the pages: {error}")))?;
    *pages = shared;
    for page in pages {
        page.put(cx, chars).await;
    }
    Ok(())
}

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
const TOKENS_OF_IDS: usize = 16;

/// One result while it is made.
struct One {
    json: Map<String, Value>,
    /// What it says, until it is known how much of that there is room for.
    text: Option<Text>,
    error: Option<ErrorInfo>,
    artifact: Option<ArtifactId>,
}

impl One {
    fn of(url: &str) -> Self {
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
    fn shown(&self, chars: usize) -> Value {
        let mut json = self.json.clone();
        if let Some(text) = &self.text {
            let content = text.content(chars, Some(SOME_ARTIFACT));
            json.insert("content".to_owned(), content.into());
            json.insert("artifact".to_owned(), SOME_ARTIFACT.into());
        }
        Value::Object(json)
    }

    async fn put(&mut self, cx: &ToolContext, chars: usize) {
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

    fn fail(&mut self, mut error: ErrorInfo) {
        for text in std::iter::once(&mut error.message).chain(&mut error.hint) {
            *text = redact_addresses(text).into_owned();
        }
        self.set("error", json!(error));
        self.error = Some(error);
    }

    async fn fill(
        &mut self,
        cx: &ToolContext,
        fetched: Fetched,
        args: &Args,
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
        let form = match args.format {
            Format::Markdown => Form::Read(Style::Markdown),
            Format::Text => Form::Read(Style::Text),
            Format::Raw => Form::Raw,
        };
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

/// All results. Where every one failed, so did the call.
fn outcome(pages: Vec<One>) -> Outcome {
    let failures = pages.iter().filter(|page| page.error.is_some()).count();
    let first = pages.iter().find_map(|page| page.error.clone());
    let all = failures == pages.len();
    let artifacts = pages
        .iter()
        .filter_map(|page| page.artifact.clone())
        .collect();
    let results: Vec<_> = pages.into_iter().map(|page| page.json).collect();
    let outcome = Outcome {
        artifacts,
        state: if failures > 0 && !all {
            OutcomeState::Partial
        } else {
            OutcomeState::Complete
        },
        ..Outcome::json(json!({ "results": results }))
    };
    match first {
        Some(mut error) if all => {
            if failures > 1 {
                error.message = format!(
                    "none of {failures} pages came; the first: {}",
                    error.message
                );
            }
            outcome.failing(error)
        }
        _ => outcome,
    }
}
