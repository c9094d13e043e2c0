//! One page in the browser: loaded from what we give it, measured and shown.
//!
//! The page has an address that does not exist. Its HTML is our answer to the one request for it;
//! every other request is refused here, before the kernel would.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use tokio::time::timeout;

use super::chromium::{MAX_PAGE_HEIGHT, MAX_PIXELS, Page, Shot};
use super::devtools::{DevTools, MAX_PICTURE_BYTES, Message};
use super::error::BrowserError;

/// Where the page is. The name is one of those that never exist (RFC 6761, section 6.4).
const ADDRESS: &str = "https://page.invalid/";

/// How long a page may load before its scripts are stopped.
const LOAD_TIME: Duration = Duration::from_secs(10);

/// How long a loaded page goes on, for what it draws by and by.
const LINGER: Duration = Duration::from_millis(500);

/// How long its fonts and its next frame may take after that.
const SETTLE_TIME: Duration = Duration::from_secs(2);

/// Done once fonts are there and a frame was drawn with them.
const SETTLED: &str = "document.fonts.ready.then(() => new Promise(done => \
    requestAnimationFrame(() => requestAnimationFrame(() => done(true)))))";

/// What is inside the page already.
const INLINE: [&str; 2] = ["data:", "blob:"];

pub(super) struct Tab<'a> {
    tools: DevTools,
    session: String,
    /// What is still to be given for its address.
    html: Option<&'a str>,
    loaded: bool,
}

impl<'a> Tab<'a> {
    /// Finds the page that the browser begins with.
    pub(super) async fn first(mut tools: DevTools) -> Result<Self, BrowserError> {
        let id = tools.send(None, "Target.getTargets", json!({})).await?;
        let targets = answer(&mut tools, id).await?;
        let infos = targets["targetInfos"].as_array();
        let mut infos = infos.into_iter().flatten();
        let page = infos.find(|info| info["type"] == "page");
        let target = match page {
            Some(info) => info["targetId"].clone(),
            None => {
                let blank = json!({ "url": "about:blank" });
                let id = tools.send(None, "Target.createTarget", blank).await?;
                answer(&mut tools, id).await?["targetId"].take()
            }
        };
        let params = json!({ "targetId": target, "flatten": true });
        let id = tools.send(None, "Target.attachToTarget", params).await?;
        let attached = answer(&mut tools, id).await?;
        Ok(Self {
            tools,
            session: text(&attached["sessionId"])?,
            html: None,
            loaded: false,
        })
    }

    pub(super) async fn show(&mut self, page: &Page<'a>) -> Result<Shot, BrowserError> {
        self.call("Page.enable", json!({})).await?;
        let window = json!({
            "width": page.width, "height": page.height, "deviceScaleFactor": 1, "mobile": false,
        });
        self.call("Emulation.setDeviceMetricsOverride", window)
            .await?;
        let calm = json!({
            "features": [{ "name": "prefers-reduced-motion", "value": "reduce" }],
        });
        self.call("Emulation.setEmulatedMedia", calm).await?;
        let all = json!({ "patterns": [{ "urlPattern": "*" }] });
        self.call("Fetch.enable", all).await?;
        self.html = Some(page.html);
        // Its answer comes when the page has come, which a script may hold up.
        self.send("Page.navigate", json!({ "url": ADDRESS }))
            .await?;
        let loaded = timeout(LOAD_TIME, self.until_loaded()).await;
        let stopped = match loaded {
            Ok(loaded) => {
                loaded?;
                self.settle().await?
            }
            Err(_) => true,
        };
        if stopped {
            self.stop_scripts().await?;
        }
        let page_height = self.height().await?.max(page.height);
        let most = MAX_PAGE_HEIGHT.min(MAX_PIXELS / page.width);
        let height = match page.full_page {
            true => page_height.min(most),
            false => page.height,
        };
        Ok(Shot {
            png: self.picture(page.width, height).await?,
            page_height: page.full_page.then_some(page_height),
            stopped,
        })
    }

    async fn until_loaded(&mut self) -> Result<(), BrowserError> {
        while !self.loaded {
            self.step().await?;
        }
        Ok(())
    }

    /// Lets it go on for a moment; whether its scripts do not come to rest.
    async fn settle(&mut self) -> Result<bool, BrowserError> {
        let lingered: Result<Result<(), BrowserError>, _> = timeout(LINGER, async {
            loop {
                self.step().await?;
            }
        })
        .await;
        if let Ok(Err(error)) = lingered {
            return Err(error);
        }
        let question = json!({ "expression": SETTLED, "awaitPromise": true });
        match timeout(SETTLE_TIME, self.call("Runtime.evaluate", question)).await {
            // A page may have broken what is asked for; it is shown as it is.
            Ok(Ok(_) | Err(BrowserError::Refused(_))) => Ok(false),
            Ok(Err(error)) => Err(error),
            Err(_) => Ok(true),
        }
    }

    /// Ends what runs, and lets nothing begin again.
    async fn stop_scripts(&mut self) -> Result<(), BrowserError> {
        let off = json!({ "value": true });
        self.call("Emulation.setScriptExecutionDisabled", off)
            .await?;
        match self.call("Runtime.terminateExecution", json!({})).await {
            // There was nothing to end any more.
            Ok(_) | Err(BrowserError::Refused(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    async fn height(&mut self) -> Result<u32, BrowserError> {
        let metrics = self.call("Page.getLayoutMetrics", json!({})).await?;
        let height = metrics["cssContentSize"]["height"].as_f64();
        let height = height.ok_or_else(|| BrowserError::Refused("no height".to_owned()))?;
        // A number of a page: as large as it likes.
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "it is between the two"
        )]
        Ok(height.ceil().clamp(1.0, f64::from(u32::MAX)) as u32)
    }

    async fn picture(&mut self, width: u32, height: u32) -> Result<Vec<u8>, BrowserError> {
        let what = json!({
            "format": "png",
            "captureBeyondViewport": true,
            "clip": { "x": 0, "y": 0, "width": width, "height": height, "scale": 1 },
        });
        let shot = self.call("Page.captureScreenshot", what).await?;
        let png = shot["data"].as_str().unwrap_or_default();
        let png = STANDARD.decode(png);
        let png = png.map_err(|_| BrowserError::Refused("a picture in no base64".to_owned()))?;
        if png.len() > MAX_PICTURE_BYTES {
            let most = MAX_PICTURE_BYTES;
            return Err(BrowserError::TooLarge { most });
        }
        Ok(png)
    }

    async fn send(&mut self, method: &str, params: Value) -> Result<u64, BrowserError> {
        self.tools.send(Some(&self.session), method, params).await
    }

    async fn call(&mut self, method: &str, params: Value) -> Result<Value, BrowserError> {
        let id = self.send(method, params).await?;
        loop {
            if let Some((of, answer)) = self.step().await?
                && of == id
            {
                return answer.map_err(|said| BrowserError::Refused(format!("{method}: {said}")));
            }
        }
    }

    /// Takes one message, and does what an event asks for.
    async fn step(&mut self) -> Result<Option<(u64, Result<Value, String>)>, BrowserError> {
        match self.tools.next().await? {
            Message::Answer(id, answer) => return Ok(Some((id, answer))),
            Message::Event(method, params) => match method.as_str() {
                "Fetch.requestPaused" => self.decide(&params).await?,
                // Nobody is there to answer.
                "Page.javascriptDialogOpening" => {
                    let no = json!({ "accept": false });
                    self.send("Page.handleJavaScriptDialog", no).await?;
                }
                "Page.loadEventFired" => self.loaded = true,
                "Inspector.targetCrashed" => {
                    return Err(BrowserError::Ended(" while it showed the page".to_owned()));
                }
                _ => {}
            },
        }
        Ok(None)
    }

    /// One request of the page.
    async fn decide(&mut self, params: &Value) -> Result<(), BrowserError> {
        let request = &params["requestId"];
        let url = params["request"]["url"].as_str().unwrap_or_default();
        if url == ADDRESS
            && let Some(html) = self.html.take()
        {
            let page = json!({
                "requestId": request,
                "responseCode": 200,
                "responseHeaders": [
                    { "name": "Content-Type", "value": "text/html; charset=utf-8" },
                ],
                "body": STANDARD.encode(html),
            });
            self.send("Fetch.fulfillRequest", page).await?;
        } else if INLINE.iter().any(|scheme| url.starts_with(scheme)) {
            self.send("Fetch.continueRequest", json!({ "requestId": request }))
                .await?;
        } else {
            // Not "blocked", which would show a page about it where a script wanted to go there.
            let no = json!({ "requestId": request, "errorReason": "Aborted" });
            self.send("Fetch.failRequest", no).await?;
        }
        Ok(())
    }
}

/// The answer to a call of nobody's page.
async fn answer(tools: &mut DevTools, id: u64) -> Result<Value, BrowserError> {
    loop {
        if let Message::Answer(of, answer) = tools.next().await?
            && of == id
        {
            return answer.map_err(BrowserError::Refused);
        }
    }
}

fn text(value: &Value) -> Result<String, BrowserError> {
    let text = value.as_str().map(ToOwned::to_owned);
    text.ok_or_else(|| BrowserError::Refused("a page without a name".to_owned()))
}
