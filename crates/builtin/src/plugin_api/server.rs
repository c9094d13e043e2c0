//! Where an API is.

use outfitter_core::redact_addresses;
use outfitter_net::Origin;
use outfitter_net::reqwest::Url;
use serde_json::Value;

use super::document::Document;
use super::error::Unusable;

/// What helps where a document does not say where its API is.
const HINT: &str = "say `url` for the API";

/// Where an operation is: what the operator says, else what the document says of the operation, of
/// its path or of all. A document that was fetched may name no other origin than its own: what is
/// sent with every call is not for whoever it names.
pub(super) fn of(
    given: Option<&Url>,
    document: &Document,
    item: &Value,
    operation: &Value,
) -> Result<Url, Unusable> {
    if let Some(url) = given {
        return Ok(url.clone());
    }
    let first = [operation, item, &document.root]
        .into_iter()
        .find_map(|level| level["servers"].as_array()?.first());
    let text = match first {
        Some(server) => filled_in(server)?,
        None => "/".to_owned(),
    };
    let joined = match &document.from {
        Some(from) => from.join(&text),
        None => Url::parse(&text),
    };
    let url = joined.map_err(|_| {
        let text = redact_addresses(&text);
        Unusable::new(format!("its document has {text:?} for a server; {HINT}"))
    })?;
    check(&url)?;
    if let Some(from) = &document.from
        && from.origin() != url.origin()
    {
        return Err(Unusable::new(format!(
            "its document is of {} and leads to {}; {HINT}",
            Origin::of(from),
            Origin::of(&url)
        )));
    }
    Ok(url)
}

/// Checks that something can be appended to a URL, and that it is one to be called.
pub(super) fn check(url: &Url) -> Result<(), Unusable> {
    let wrong = |why: &str| Err(Unusable::new(why));
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
        return wrong("only http and https urls with a host are called");
    }
    if !url.username().is_empty() || url.password().is_some() {
        return wrong("a url has no credentials in it; they go into `headers`");
    }
    if url.query().is_some() || url.fragment().is_some() {
        return wrong("a url here ends with its path; what is always asked goes into `query`");
    }
    Ok(())
}

/// The URL of a server, its variables with their defaults.
fn filled_in(server: &Value) -> Result<String, Unusable> {
    let url = server["url"].as_str().unwrap_or_default();
    let mut text = String::new();
    let mut rest = url;
    while let Some((before, after)) = rest.split_once('{') {
        let filled = after.split_once('}').and_then(|(name, after)| {
            let default = server["variables"].get(name)?.get("default")?;
            Some((default.as_str()?, after))
        });
        let (default, after) = filled.ok_or_else(|| {
            let url = redact_addresses(url);
            Unusable::new(format!(
                "its server {url:?} has a variable without a default; {HINT}"
            ))
        })?;
        text.push_str(before);
        text.push_str(default);
        rest = after;
    }
    text.push_str(rest);
    Ok(text)
}
