//! `render_html2png`: HTML as a picture.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use outfitter_core::{
    Cancel, Code, Effect, Effects, Facts, NewArtifact, Outcome, Reply, Role, Scope, Targets, Tool,
    ToolContext, ToolError, ToolSpec, chain,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::FileAccess;
use crate::args;
use crate::given::{self, NotRead};
use crate::spec::{Words, object, spec};
use crate::web::decode;

/// The longest page.
const MAX_HTML_BYTES: u64 = 4 << 20;

/// The narrowest and lowest window.
const MIN_SIDE: u64 = 16;

/// The widest and highest window.
const MAX_SIDE: u64 = 4096;

/// How long a call may take: a browser that waits for its turn, starts and shows a page.
const TIMEOUT: Duration = Duration::from_secs(150);

const MIME: &str = "image/png";

const WORDS: Words<'static> = Words {
    name: "render_html2png",
    description: "Renders HTML to a PNG picture with a headless Chromium and keeps it as an \
        artifact. Use it to show a chart, a table or a design, or to see what a page looks like: \
        analyze_image tells what is in the picture. Everything must stand in the HTML, styles, \
        scripts and pictures (as data: URLs), because the network is off and no other file is \
        loaded. Not for pages on the web: fetch_webpages gives their text.",
    keywords: &[
        "html",
        "css",
        "render",
        "screenshot",
        "png",
        "picture",
        "chart",
        "browser",
        "chromium",
        "渲染",
        "截图",
        "网页",
        "图片",
        "图表",
    ],
};

/// A page, and how it is shown.
#[derive(Debug, Clone, Copy)]
pub struct PageToRender<'a> {
    /// Its HTML. Nothing else is loaded.
    pub html: &'a str,
    /// The width of the window, in pixels.
    pub width: u32,
    /// The height of the window, in pixels.
    pub height: u32,
    /// Whether the picture is as high as the page, where that is higher than the window.
    pub full_page: bool,
}

/// A picture of a page.
#[derive(Debug, Clone)]
pub struct RenderedPage {
    /// As PNG.
    pub png: Vec<u8>,
    /// How high the page is, where the whole of it was asked for; more than the picture where that
    /// would have been too large.
    pub page_height: Option<u32>,
    /// Whether its scripts were stopped because they came to no end.
    pub stopped: bool,
}

/// What shows pages: a seam among the services of a call.
#[async_trait]
pub trait PageRenderer: Send + Sync {
    /// Shows a page. It reaches neither the network nor files.
    ///
    /// # Errors
    /// [`ToolError`], `unavailable` with a hint where there is no browser.
    async fn render(
        &self,
        page: PageToRender<'_>,
        cancel: &Cancel,
    ) -> Result<RenderedPage, ToolError>;
}

/// Makes pictures of HTML, by the [`PageRenderer`] among the services.
pub struct RenderHtml2png {
    spec: ToolSpec,
    access: FileAccess,
}

impl RenderHtml2png {
    /// Reads files as `access` allows.
    #[must_use]
    pub fn new(access: FileAccess) -> Self {
        let side = |of: &str, default: u64| {
            json!({
                "type": "integer", "minimum": MIN_SIDE, "maximum": MAX_SIDE, "default": default,
                "description": format!("The {of} of the window, in pixels."),
            })
        };
        let input = object(
            &[],
            json!({
                "html": {
                    "type": "string", "minLength": 1, "maxLength": MAX_HTML_BYTES,
                    "description": "The page. Either this or path.",
                },
                "path": {
                    "type": "string", "minLength": 1, "maxLength": 4096,
                    "description": "An HTML file of the workspace. Either this or html.",
                },
                "width": side("width", width()),
                "height": side("height", height()),
                "full_page": {
                    "type": "boolean", "default": true,
                    "description": "Whether the picture is as high as the page, where that is higher than the window.",
                },
            }),
        );
        let output = object(
            &["artifact", "mime", "width", "height"],
            json!({
                "artifact": { "type": "string", "description": "The picture; for analyze_image." },
                "mime": { "type": "string", "const": MIME },
                "width": { "type": "integer", "description": "Of the picture, in pixels." },
                "height": { "type": "integer", "description": "Of the picture, in pixels." },
                "page_height": {
                    "type": "integer",
                    "description": "How high the page is, where the picture does not have all of it.",
                },
                "scripts_stopped": {
                    "type": "boolean",
                    "description": "Scripts of the page came to no end and were stopped.",
                },
            }),
        );
        Self {
            spec: ToolSpec {
                effects: Effects::of(&[Effect::Exec]),
                min_role: Role::User,
                idempotent: true,
                timeout: Some(TIMEOUT),
                ..spec(&WORDS, input, output)
            },
            access,
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    html: Option<String>,
    path: Option<String>,
    #[serde(default = "width", deserialize_with = "args::whole")]
    width: u64,
    #[serde(default = "height", deserialize_with = "args::whole")]
    height: u64,
    #[serde(default = "full_page")]
    full_page: bool,
}

fn width() -> u64 {
    1280
}

fn height() -> u64 {
    800
}

fn full_page() -> bool {
    true
}

#[async_trait]
impl Tool for RenderHtml2png {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn facts(&self, args: &Value) -> Result<Facts, ToolError> {
        let mut facts = Facts::of(&self.spec);
        if let Some(path) = args["path"].as_str() {
            facts.subject = Some(path.to_owned());
            facts.targets = Targets::Paths(vec![path.to_owned()]);
        }
        Ok(facts)
    }

    async fn call(&self, cx: &ToolContext, args: Value) -> Result<Reply, ToolError> {
        let args: Args = args::parse(args)?;
        let html = match (args.html, &args.path) {
            (Some(html), None) => html,
            (None, Some(path)) => self.file(cx, path).await?,
            (Some(_), Some(_)) | (None, None) => {
                let message = "exactly one of html and path is needed";
                return Err(ToolError::invalid("", message));
            }
        };
        if html.len() as u64 > MAX_HTML_BYTES {
            return Err(too_large());
        }
        let page = PageToRender {
            html: &html,
            width: side(args.width, "/width")?,
            height: side(args.height, "/height")?,
            full_page: args.full_page,
        };
        let renderer = cx.services.get::<dyn PageRenderer>();
        let renderer: Arc<dyn PageRenderer> =
            renderer.ok_or_else(|| ToolError::not_set_up("no browser can be started here"))?;
        let shown = renderer.render(page, &cx.cancel).await?;
        let size = imagesize::blob_size(&shown.png)
            .map_err(|_| ToolError::new(Code::Failed, "the browser made no picture"))?;
        let id = keep(cx, shown.png).await?;
        let mut result = json!({
            "artifact": id, "mime": MIME, "width": size.width, "height": size.height,
        });
        if let Some(whole) = shown
            .page_height
            .filter(|whole| *whole as usize > size.height)
        {
            result["page_height"] = whole.into();
        }
        if shown.stopped {
            result["scripts_stopped"] = true.into();
        }
        let mut outcome = Outcome::json(result);
        outcome.artifacts.push(id);
        Ok(outcome.into())
    }
}

impl RenderHtml2png {
    async fn file(&self, cx: &ToolContext, path: &str) -> Result<String, ToolError> {
        match given::at_path(cx, self.access, path, MAX_HTML_BYTES).await {
            // As a browser reads it: what it says of its own encoding counts.
            Ok(bytes) => Ok(decode(&bytes, "")),
            Err(NotRead::TooLarge) => Err(too_large()),
            Err(NotRead::Because(error)) => Err(error.into_info().at("/path").into()),
        }
    }
}

/// The schema was held already where the call came through the pipeline.
fn side(pixels: u64, at: &str) -> Result<u32, ToolError> {
    match u32::try_from(pixels) {
        Ok(side) if (MIN_SIDE..=MAX_SIDE).contains(&pixels) => Ok(side),
        Ok(_) | Err(_) => {
            let message = format!("a window has from {MIN_SIDE} to {MAX_SIDE} pixels");
            Err(ToolError::invalid(at, message))
        }
    }
}

async fn keep(cx: &ToolContext, png: Vec<u8>) -> Result<outfitter_core::ArtifactId, ToolError> {
    let scope = Scope::from(&*cx.who);
    let new = NewArtifact {
        mime: MIME.to_owned(),
        name: "page.png".to_owned(),
    };
    let unkept = |error| {
        let message = format!("the picture was not kept: failed to {}", chain(&error));
        ToolError::new(Code::Failed, message)
    };
    let id = cx.artifacts.create(&scope, &cx.session, new).await;
    let id = id.map_err(unkept)?;
    let kept = cx.artifacts.append(&scope, &cx.session, &id, png.into());
    kept.await.map_err(unkept)?;
    Ok(id)
}

fn too_large() -> ToolError {
    let message = format!("the page has more than {MAX_HTML_BYTES} bytes");
    ToolError::new(Code::TooLarge, message)
}
