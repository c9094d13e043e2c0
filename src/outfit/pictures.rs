//! Pictures of pages, by the Chromium of this machine.

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use outfitter_builtin::{PageRenderer, PageToRender, RenderedPage};
use outfitter_core::{Cancel, Code, Services, ToolError, chain};
use outfitter_process::SupervisorProgram;
use outfitter_sandbox::browser::{BrowserError, Chromium, Page};

use super::Outfitter;
use crate::env::{self, Environment};

/// A browser that is held as commands are, and looked for when a page is to be shown.
struct Pictures(Chromium);

/// The services, with one that shows pages where the application has none of its own. There is one
/// for all sessions, because it says how many browsers run at once.
pub(super) fn among(
    services: Services,
    supervisor: Option<&SupervisorProgram>,
    environment: &Environment,
) -> Services {
    let Some(supervisor) = supervisor else {
        return services;
    };
    if services.get::<dyn PageRenderer>().is_some() {
        return services;
    }
    let chromium = usual(supervisor, environment);
    services.with::<dyn PageRenderer>(Arc::new(Pictures(chromium)))
}

fn usual(supervisor: &SupervisorProgram, environment: &Environment) -> Chromium {
    let path = environment.os(env::PATH).and_then(|path| path.to_str());
    Chromium::usual(supervisor.clone(), path.unwrap_or_default())
}

impl Outfitter {
    /// The browser of this machine that shows pages, where one is there now.
    #[must_use]
    pub fn browser(&self) -> Option<PathBuf> {
        let supervisor = self.supervisor.as_ref()?;
        let chromium = usual(supervisor, &self.environment);
        chromium.program().map(ToOwned::to_owned)
    }
}

/// How one comes to a browser.
pub(crate) const BROWSER_HINT: &str = "install it, on Debian with: apt-get install chromium";

#[async_trait]
impl PageRenderer for Pictures {
    async fn render(
        &self,
        page: PageToRender<'_>,
        cancel: &Cancel,
    ) -> Result<RenderedPage, ToolError> {
        let page = Page {
            html: page.html,
            width: page.width,
            height: page.height,
            full_page: page.full_page,
        };
        match self.0.show(page, cancel).await {
            Ok(shot) => Ok(RenderedPage {
                png: shot.png,
                page_height: shot.page_height,
                stopped: shot.stopped,
            }),
            Err(error) => Err(told(&error)),
        }
    }
}

fn told(error: &BrowserError) -> ToolError {
    let message = chain(error);
    match error {
        BrowserError::Missing => ToolError::not_set_up(message).with_hint(BROWSER_HINT),
        BrowserError::Unheld(_) => ToolError::not_set_up(message)
            .with_hint("outfitter doctor says what this machine can hold programs with"),
        BrowserError::Spawn(_) => ToolError::unavailable(message),
        BrowserError::Timeout { .. } => ToolError::new(Code::Timeout, message),
        BrowserError::TooLarge { .. } => ToolError::new(Code::TooLarge, message),
        BrowserError::Cancelled => ToolError::new(Code::Cancelled, message),
        BrowserError::Child(_)
        | BrowserError::Folder(_)
        | BrowserError::Ended(_)
        | BrowserError::Refused(_) => ToolError::failed(message),
        _ => ToolError::failed(message),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_browser_it_is_said_how_to_have_one() {
        let error = told(&BrowserError::Missing);
        assert_eq!(error.code(), Code::Unavailable);
        let hint = error.info().hint.clone();
        assert!(hint.is_some_and(|hint| hint.contains("apt-get install chromium")));
    }

    #[test]
    fn what_cannot_be_held_is_not_run() {
        let error = told(&BrowserError::Unheld("no Landlock".to_owned()));
        assert_eq!(error.code(), Code::Unavailable);
        assert!(error.to_string().contains("no Landlock"), "{error}");
    }
}
