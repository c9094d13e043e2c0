//! `fetch_webpages`: pages as text.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use outfitter_core::{
    Effect, Effects, Outcome, OutcomeState, Reply, Role, Tool, ToolContext, ToolError, ToolSpec,
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::Hops;
use super::fetcher::{Bounds, Fetcher};
use super::one::{One, TOKENS_OF_IDS};
use super::page::Style;
use super::result::Form;
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

impl Format {
    fn form(self) -> Form {
        match self {
            Self::Markdown => Form::Read(Style::Markdown),
            Self::Text => Form::Read(Style::Text),
            Self::Raw => Form::Raw,
        }
    }
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
                if let Err(error) = one.fill(cx, fetched, args.format.form()).await {
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
