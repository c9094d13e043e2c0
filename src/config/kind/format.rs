//! What a text must be.

use serde_json::Value;

use crate::config::variable_word::is_variable;

/// What a text must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::config) enum Format {
    Any,
    Path,
    /// A path, or a name without a slash, which is looked for as a shell would.
    Program,
    Variable,
    HttpUrl,
    /// A path where it does not begin as a URL does.
    PathOrUrl,
    StoreUrl,
    /// An IP address and a port.
    Address,
    /// An IP address.
    Ip,
    /// A host that commands may reach.
    Host,
}

impl Format {
    pub(super) fn of(schema: &Value) -> Self {
        match schema.get("format").and_then(Value::as_str) {
            Some("path") => Self::Path,
            Some("program") => Self::Program,
            Some("address") => Self::Address,
            Some("host") => Self::Host,
            Some("ip") => Self::Ip,
            Some("variable") => Self::Variable,
            Some("http-url") => Self::HttpUrl,
            Some("path-or-url") => Self::PathOrUrl,
            Some("store-url") => Self::StoreUrl,
            _ => Self::Any,
        }
    }

    pub(super) fn expects(self) -> &'static str {
        match self {
            Self::Any => "text",
            Self::Path => "a path",
            Self::Program => "the name or the path of a program",
            Self::Address => "an address and a port, as 127.0.0.1:8470",
            Self::Ip => "an IP address",
            Self::Host => "a host, as example.com, *.example.com or 192.0.2.1:8080",
            Self::Variable => "the name of an environment variable, not what it holds",
            Self::HttpUrl => "a URL of http or https",
            Self::PathOrUrl => "a path, or a URL of http or https",
            Self::StoreUrl => "sqlite:PATH or memory:",
        }
    }

    pub(in crate::config) fn accepts(self, text: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Path | Self::Program => !text.is_empty() && !text.contains('\0'),
            Self::Address => text.parse::<std::net::SocketAddr>().is_ok(),
            Self::Ip => text.parse::<std::net::IpAddr>().is_ok(),
            Self::Host => outfitter_sandbox::AllowedHosts::parse([text]).is_ok(),
            Self::Variable => is_variable(text),
            Self::HttpUrl => url::Url::parse(text)
                .is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host()),
            Self::PathOrUrl if is_url(text) => Self::HttpUrl.accepts(text),
            Self::PathOrUrl => Self::Path.accepts(text),
            Self::StoreUrl => {
                text == "memory:"
                    || text
                        .strip_prefix("sqlite:")
                        .is_some_and(|path| Self::Path.accepts(path))
            }
        }
    }
}

/// Whether a text begins as a URL that is fetched does.
pub(in crate::config) fn is_url(text: &str) -> bool {
    let scheme = text.split("://").next().unwrap_or_default();
    let fetched = ["http", "https"]
        .iter()
        .any(|one| scheme.eq_ignore_ascii_case(one));
    fetched && scheme.len() < text.len()
}
