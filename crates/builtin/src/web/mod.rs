//! The tools that fetch from the web: what a model names is fetched through the address guard.

mod charset;
mod fetch;
mod fetcher;
mod page;
mod result;

pub use fetch::FetchWebpages;
pub use fetcher::Fetcher;
