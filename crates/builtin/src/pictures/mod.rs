//! The tools of pictures: the one that looks at them, and the one that makes them of HTML.

mod analyze;
mod kind;
mod render;

pub use analyze::AnalyzeImage;
pub use render::{PageRenderer, PageToRender, RenderHtml2png, RenderedPage};
