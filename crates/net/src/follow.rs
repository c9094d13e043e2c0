//! Redirects, followed one by one: each hop is a request of its own, so that the guard judges it
//! like the first.

use reqwest::header::{HeaderMap, LOCATION};
use reqwest::{Method, Request, Response, StatusCode, Url};

use crate::{Client, NetError, Origin};

/// How many redirects are followed.
pub const MAX_REDIRECTS: usize = 10;

/// Where a request ended.
#[derive(Debug)]
pub struct Followed {
    /// The reply that leads nowhere else.
    pub response: Response,
    /// Whose it is.
    pub url: Url,
}

/// Gets a page, wherever it has moved to. `may` is asked before each redirect, with where it comes
/// from and where it leads. The same headers go to every hop, so they may hold nothing that is for
/// one of them alone. Credentials that a redirect puts in its URL are dropped.
///
/// # Errors
/// As [`Client::execute`] for every hop; [`NetError::Redirects`] and [`NetError::Location`]; what
/// `may` says of a hop.
pub async fn get_following<E: From<NetError>>(
    client: &Client,
    url: Url,
    headers: &HeaderMap,
    may: impl Fn(&Url, &Url) -> Result<(), E>,
) -> Result<Followed, E> {
    let mut url = url;
    for _ in 0..=MAX_REDIRECTS {
        let mut request = Request::new(Method::GET, url.clone());
        *request.headers_mut() = headers.clone();
        let response = client.execute(request).await?;
        if !leads_on(response.status()) {
            return Ok(Followed { response, url });
        }
        let Some(location) = response.headers().get(LOCATION) else {
            return Ok(Followed { response, url });
        };
        let next = std::str::from_utf8(location.as_bytes())
            .ok()
            .and_then(|location| url.join(location).ok());
        let Some(mut next) = next else {
            let origin = Origin::of(&url);
            return Err(NetError::Location { origin }.into());
        };
        // They fail only for a URL without a host, which the client refuses.
        let _dropped = (next.set_username(""), next.set_password(None));
        may(&url, &next)?;
        url = next;
    }
    let origin = Origin::of(&url);
    let limit = MAX_REDIRECTS;
    Err(NetError::Redirects { origin, limit }.into())
}

fn leads_on(status: StatusCode) -> bool {
    matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308)
}
