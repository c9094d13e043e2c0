//! A browser without a window that shows one page and is gone.
//!
//! - [`chromium`]: which program, and what holds it
//! - `devtools`: what we say to it and hear from it, over its standard streams
//! - `tab`: the page in it: loaded, measured, shown
//! - `folder`: what it may write, which goes away with it
//! - [`error`]: why there is no picture
//!
//! Chromium's own sandbox is switched off: it is made of namespaces and set-user-ID programs, which
//! nothing that we hold can have. Ours takes its place, around all of it: it reads programs and
//! fonts, writes one empty folder, and connects to nothing.

pub mod chromium;
mod devtools;
pub mod error;
mod folder;
mod tab;

pub use chromium::{Chromium, MAX_PAGE_HEIGHT, MAX_PIXELS, Page, Shot};
pub use error::BrowserError;
