//! Addresses as programs read them: many spellings are one place.

use outfitter_core::Pattern;
use url::{Host, Url};

use super::argument::Closely;

/// The schemes whose addresses are read leniently: `http:host`, `http:\\host`, `127.1`.
const LENIENT: [&str; 5] = ["http", "https", "ws", "wss", "ftp"];

/// The characters that make a text a glob.
const GLOB: [char; 4] = ['*', '?', '[', '{'];

/// Whether a text is an address that a glob means, in whatever spelling; none where it is no
/// address of a host. To be so loosely, one of its spellings is enough, without the name and
/// password in it, too.
pub(super) fn is(glob: &str, text: &str, closely: Closely) -> Option<bool> {
    let url = parse(text)?;
    let mut spellings = spellings(&url);
    if closely == Closely::Loosely {
        let mut plain = url.clone();
        // Fails only for addresses without a host, and this one has one.
        let _ = plain.set_username("");
        let _ = plain.set_password(None);
        if let Some(host) = other_host(&plain) {
            let mut other = plain.clone();
            if other.set_host(Some(&host)).is_ok() {
                spellings.extend(self::spellings(&other));
            }
        }
        spellings.extend(self::spellings(&plain));
    }
    let wanted = wanted(glob);
    let matches =
        |wanted: &String, spelling: &String| Pattern::new(wanted.as_str()).matches(spelling);
    Some(
        spellings
            .iter()
            .any(|spelling| wanted.iter().any(|wanted| matches(wanted, spelling))),
    )
}

fn parse(text: &str) -> Option<Url> {
    let url = Url::parse(text).ok()?;
    (LENIENT.contains(&url.scheme()) && url.has_host()).then_some(url)
}

/// As it is written out, and without the `/` that stands for no path.
fn spellings(url: &Url) -> Vec<String> {
    let whole = url.to_string();
    let bare = (url.path() == "/" && url.query().is_none() && url.fragment().is_none())
        .then(|| whole.trim_end_matches('/').to_owned());
    std::iter::once(whole).chain(bare).collect()
}

/// What a host is called, too: without its last dot, an address of version 4 within one of 6.
fn other_host(url: &Url) -> Option<String> {
    match url.host()? {
        Host::Domain(name) => name.strip_suffix('.').map(str::to_owned),
        Host::Ipv6(address) => address.to_ipv4_mapped().map(|four| four.to_string()),
        Host::Ipv4(_) => None,
    }
}

/// A glob as it is written, with its scheme and host in lower case, and as it is written out where
/// it stands for one address.
fn wanted(glob: &str) -> Vec<String> {
    let mut wanted = vec![glob.to_owned()];
    if let Some((scheme, rest)) = glob.split_once("://") {
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (host, path) = rest.split_at(end);
        wanted.push(format!(
            "{}://{}{path}",
            scheme.to_lowercase(),
            host.to_lowercase()
        ));
    }
    if !glob.contains(GLOB) {
        wanted.extend(parse(glob).map(|url| url.to_string()));
    }
    wanted
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case(" http://127.0.0.1/")]
    #[case("\u{1}http://127.0.0.1:8080/x")]
    #[case("ht\ttp://127.0.0.1/")]
    #[case("http://127.\n0.0.1/")]
    #[case("http:\\\\127.0.0.1\\x")]
    #[case("http:/127.0.0.1")]
    #[case("http:127.0.0.1")]
    #[case("HTTP://127.1")]
    #[case("http://0x7f000001/")]
    #[case("http://2130706433")]
    #[case("http://0177.0.0.1")]
    #[case("http://me:pass@127.0.0.1/")]
    #[case("http://[::ffff:127.0.0.1]/")]
    #[case("http://%31%32%37.0.0.1/")]
    #[case("http://１２７.0.0.1/")]
    fn a_rule_on_addresses_was_evaded_by_another_spelling(#[case] text: &str) {
        assert_eq!(is("http://127.0.0.1*", text, Closely::Loosely), Some(true));
    }

    #[rstest]
    #[case("https://a.example", "https://A.example/", true)]
    #[case("https://A.example*", "https://a.example/x", true)]
    #[case("https://a.example/ä", "https://a.example/ä", true)]
    #[case("https://a.example/in/*", "https://a.example/in/../out", false)]
    #[case("https://a.example/in/*", "https://a.example\\in\\..\\out", false)]
    #[case("https://a.example/*", "https://me@a.example/x", false)]
    fn an_address_is_allowed_where_it_leads(
        #[case] glob: &str,
        #[case] text: &str,
        #[case] allowed: bool,
    ) {
        assert_eq!(is(glob, text, Closely::Exactly), Some(allowed));
    }

    #[rstest]
    #[case("a text: of words")]
    #[case("mailto:ann@a.example")]
    #[case("http://")]
    fn what_is_no_address_of_a_host_is_only_a_text(#[case] text: &str) {
        assert_eq!(is("*", text, Closely::Loosely), None);
    }
}
