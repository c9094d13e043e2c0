//! What a command asks the proxy for: the head of one request of HTTP/1.1 (RFC 9110 §9.3.6 for
//! `CONNECT`, RFC 9112 §3.2.2 for the absolute form).

use outfitter_net::split_host;

/// A head is no longer.
pub(super) const MAX_HEAD: usize = 32 * 1024;

/// Where `http` listens when nothing else is said.
const HTTP_PORT: u16 = 80;

/// Fields that are for the proxy and not for the server.
const HOP_BY_HOP: [&str; 4] = [
    "connection",
    "proxy-connection",
    "proxy-authorization",
    "keep-alive",
];

/// A request that makes sense.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) kind: Kind,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Bytes both ways.
    Tunnel,
    /// One request, with the head that the server is to get. The connection ends with it, so that
    /// no second request goes to a host that was not looked at.
    Forward(String),
}

/// Reads a whole head, the empty line included. `None` for anything else.
pub(super) fn parse(head: &[u8]) -> Option<Request> {
    let text = std::str::from_utf8(head).ok()?;
    let (line, fields) = text.split_once("\r\n")?;
    let mut words = line.split(' ');
    let (method, target, version) = (words.next()?, words.next()?, words.next()?);
    if words.next().is_some() || !version.starts_with("HTTP/1.") {
        return None;
    }
    if method == "CONNECT" {
        let (host, port) = split_host(target)?;
        return Some(Request {
            host: host.to_owned(),
            port: port?,
            kind: Kind::Tunnel,
        });
    }
    let (scheme, rest) = target.split_once("://")?;
    if !scheme.eq_ignore_ascii_case("http") {
        return None;
    }
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    if authority.contains('@') {
        return None;
    }
    let (host, port) = split_host(authority)?;
    let path = match path.as_bytes().first() {
        Some(b'/') => path.to_owned(),
        _ => format!("/{path}"),
    };
    let mut forwarded = format!("{method} {path} {version}\r\nHost: {authority}\r\n");
    for field in fields.split("\r\n").take_while(|field| !field.is_empty()) {
        // A continued line would belong to a field that may be left out.
        let (name, _) = field
            .split_once(':')
            .filter(|_| !field.starts_with([' ', '\t']))?;
        let name = name.to_ascii_lowercase();
        if name != "host" && !HOP_BY_HOP.contains(&name.as_str()) {
            forwarded.push_str(field);
            forwarded.push_str("\r\n");
        }
    }
    forwarded.push_str("Connection: close\r\n\r\n");
    Some(Request {
        host: host.to_owned(),
        port: port.unwrap_or(HTTP_PORT),
        kind: Kind::Forward(forwarded),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[test]
    fn a_tunnel_names_its_host_and_port() {
        let request = parse(b"CONNECT example.com:443 HTTP/1.1\r\nHost: other\r\n\r\n").unwrap();
        assert_eq!((request.host.as_str(), request.port), ("example.com", 443));
        assert_eq!(request.kind, Kind::Tunnel);
    }

    #[test]
    fn a_request_goes_on_as_the_server_wants_it_and_to_the_host_that_was_looked_at() {
        let head = b"GET http://example.com:81?x HTTP/1.1\r\nHost: elsewhere\r\nProxy-Authorization: a\r\nAccept: */*\r\n\r\n";
        let request = parse(head).unwrap();
        assert_eq!((request.host.as_str(), request.port), ("example.com", 81));
        let Kind::Forward(head) = request.kind else {
            panic!("a tunnel");
        };
        assert_eq!(
            head,
            "GET /?x HTTP/1.1\r\nHost: example.com:81\r\nAccept: */*\r\nConnection: close\r\n\r\n"
        );
    }

    #[rstest]
    fn anything_else_is_no_request(
        #[values(
            "GET / HTTP/1.1\r\n\r\n",
            "GET ftp://x/ HTTP/1.1\r\n\r\n",
            "GET http://a@b/ HTTP/1.1\r\n\r\n",
            "CONNECT example.com HTTP/1.1\r\n\r\n",
            "GET http://x/ HTTP/2\r\n\r\n",
            "GET http://x/ HTTP/1.1\r\n a: b\r\n\r\n",
            "nothing"
        )]
        head: &str,
    ) {
        assert_eq!(parse(head.as_bytes()), None);
    }
}
