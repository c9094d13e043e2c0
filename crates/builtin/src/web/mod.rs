//! The tools that fetch from the web: what a model names is fetched through the address guard.

mod charset;
mod fetch;
mod fetcher;
mod hops;
mod one;
mod page;
mod result;
mod share;
mod table;
mod tags;

pub(crate) use charset::decode;
pub use fetch::FetchWebpages;
pub use fetcher::Fetcher;
pub(crate) use fetcher::{Bounds, told};
pub(crate) use hops::Hops;
pub(crate) use result::{Form, Readable, keep, readable};
