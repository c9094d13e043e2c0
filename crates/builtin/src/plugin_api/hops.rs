//! Sending a request, and following where it leads within its origin.

use outfitter_core::ToolName;
use outfitter_net::reqwest::header::LOCATION;
use outfitter_net::reqwest::{Method, Request, Response, Url};
use outfitter_net::{Client, MAX_REDIRECTS, NetError, Origin};

/// What came of a request.
pub(super) enum Sent {
    /// Somebody answered.
    Answered(Response),
    /// It leads to another origin, which is not followed: what was sent is not for it.
    Elsewhere(Url),
    /// It leads to what another call would be, which has rules of its own.
    Another(Another),
}

/// Another call than the one that was made.
pub(super) struct Another {
    /// Where it leads.
    pub(super) to: Url,
    /// The tool of it.
    pub(super) tool: ToolName,
    /// What was answered.
    pub(super) response: Response,
}

/// The tool of a request, where it is that of another call: by its method, where it comes from, and
/// where it goes.
pub(super) type Other<'a> = &'a (dyn Fn(&Method, &Url, &Url) -> Option<ToolName> + Sync);

/// For requests that are of no operation.
pub(super) fn of_none(_: &Method, _: &Url, _: &Url) -> Option<ToolName> {
    None
}

/// Sends a request. A redirect is followed where it stays at the origin, keeps what was asked (307
/// and 308, the others for GET and HEAD, and 303, which asks for a GET), and is no other call. Every
/// hop is guarded as the first.
pub(super) async fn send(
    client: &Client,
    request: Request,
    other: Other<'_>,
) -> Result<Sent, NetError> {
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
        let turns = status == 303 && !reads;
        if matches!(status, 301 | 302) && !reads {
            return Ok(Sent::Answered(response));
        }
        let method = if turns { &Method::GET } else { again.method() };
        if let Some(tool) = other(method, &from, &next) {
            let to = next;
            return Ok(Sent::Another(Another { to, tool, response }));
        }
        if turns {
            let mut get = Request::new(Method::GET, next);
            std::mem::swap(get.headers_mut(), again.headers_mut());
            get.headers_mut()
                .remove(outfitter_net::reqwest::header::CONTENT_TYPE);
            request = get;
            continue;
        }
        *again.url_mut() = next;
        request = again;
    }
    Err(NetError::Redirects {
        origin: Origin::of(request.url()),
        limit: MAX_REDIRECTS,
    })
}
