//! A real Chromium, where there is one.

mod held;
mod picture;
mod shown;

use std::path::{Path, PathBuf};

use outfitter_core::Cancel;
use outfitter_sandbox::SupervisorProgram;
use outfitter_sandbox::browser::{BrowserError, Chromium, Page, Shot};

use crate::commands::kit::say;
use picture::Picture;

const CHROMIUM: &str = "/usr/lib/chromium/chromium";

fn supervisor() -> SupervisorProgram {
    SupervisorProgram::at(env!("CARGO_BIN_EXE_outfitter-sandbox-testkit"))
}

/// `None`, after saying so, where there is none.
fn chromium() -> Option<Chromium> {
    if Path::new(CHROMIUM).is_file() {
        let programs = vec![PathBuf::from(CHROMIUM)];
        return Some(Chromium::one_of(supervisor(), programs));
    }
    say("SKIPPED(chromium): there is none here; on Debian: apt-get install chromium");
    None
}

const fn page(html: &str) -> Page<'_> {
    Page {
        html,
        width: 100,
        height: 60,
        full_page: false,
    }
}

async fn shot(browser: &Chromium, page: Page<'_>) -> Result<Shot, BrowserError> {
    browser.show(page, &Cancel::new()).await
}

async fn seen(browser: &Chromium, html: &str) -> Picture {
    Picture::of(&shot(browser, page(html)).await.unwrap().png)
}
