//! Sending a request, and following where it leads within its origin.

use outfitter_net::reqwest::header::LOCATION;
use outfitter_net::reqwest::{Method, Request, Response, Url};
use outfitter_net::{Client, MAX_REDIRECTS, NetError, Origin};

/// What came of a request.
pub(super) enum Sent {
    /// Somebody answered.
    Answered(Response),
    /// It leads to another origin, which is not followed: what was sent is not for it.
    Elsewhere(Url),
}

/// Sends a request. A redirect is followed where it stays at the origin and keeps what was asked:
/// 307 and 308, the others for GET and HEAD, and 303, which asks for a GET. Every hop is guarded as
/// the first.
pub(super) async fn send(client: &Client, request: Request) -> Result<Sent, NetError> {
    let mut request = request;
    for _ in 0..=MAX_REDIRECTS {
        let again = request.try_clone();
        let from = request.url().clone();
        let response = client.execute(request).await?;
        let status = response.status().as_u16();
        let location = response.headers().get(LOCATION);
        let (Some(mut again), Some(location), 301..=303 | 307 | 308) = (again, location, status)
        else {
            return Ok(Sent::Answered(response));
        };
        let next = std::str::from_utf8(location.as_bytes())
            .ok()
            .and_then(|location| from.join(location).ok())
            .ok_or_else(|| NetError::Location {
                origin: Origin::of(&from),
            })?;
        if next.origin() != from.origin() {
            return Ok(Sent::Elsewhere(next));
        }
        let reads = matches!(*again.method(), Method::GET | Method::HEAD);
        if status == 303 && !reads {
            let mut get = Request::new(Method::GET, next);
            std::mem::swap(get.headers_mut(), again.headers_mut());
            get.headers_mut()
                .remove(outfitter_net::reqwest::header::CONTENT_TYPE);
            request = get;
            continue;
        }
        if matches!(status, 301 | 302) && !reads {
            return Ok(Sent::Answered(response));
        }
        *again.url_mut() = next;
        request = again;
    }
    Err(NetError::Redirects {
        origin: Origin::of(request.url()),
        limit: MAX_REDIRECTS,
    })
}
