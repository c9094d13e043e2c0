//! The tool that looks at pictures.

mod analyze;
mod kind;

pub use analyze::AnalyzeImage;
