//! What pages read like: tables, pages of scripts, and many at once.

use outfitter_builtin::WebOptions;
use rstest::rstest;
use serde_json::json;

use crate::web::{fetch, one, open, page};

#[tokio::test]
async fn ten_pages_were_cut_in_the_middle_of_their_json_and_some_were_gone() {
    let long = "All tea is made of water and of leaves. ".repeat(400);
    let mut urls: Vec<String> = (0..9)
        .map(|_| page("text/plain", long.as_bytes()))
        .collect();
    urls.insert(4, page("text/plain", b"short"));
    let options = WebOptions {
        max_result_tokens: 3000,
        ..open()
    };
    let got = fetch(&options, json!({ "urls": urls, "max_chars": 8000 })).await;
    let whole = outfitter_core::canonical(&got.result);
    let tokens = outfitter_text::tokens::count(&whole);
    assert!((2000..=3000).contains(&tokens), "{tokens}");
    let results = got.result["results"].as_array().unwrap();
    let asked: Vec<&str> = results
        .iter()
        .map(|one| one["url"].as_str().unwrap())
        .collect();
    assert_eq!(asked, urls);
    assert_eq!(results[4]["content"], "short");
    assert!(results[4].get("artifact").is_none());
    for one in results.iter().filter(|one| one["content"] != "short") {
        let content = one["content"].as_str().unwrap();
        let id = one["artifact"].as_str().unwrap();
        assert!(content.starts_with("All tea is made of water"), "{content}");
        assert!(content.ends_with(&format!("more characters are in the artifact {id}]")));
    }
    assert_eq!(got.artifacts.len(), 9);
}

#[rstest]
#[case::of_scripts(
    "<title>App</title><div id=root></div><script src=a.js></script>",
    "[no text without its scripts"
)]
#[case::that_says_so(
    "<noscript>Turn them on</noscript><script>go()</script>",
    "[no text without its scripts"
)]
#[case::empty("<title>None</title><p> </p>", "[the page has no text]")]
#[tokio::test]
async fn a_page_that_needs_scripts_came_as_a_success_without_a_word(
    #[case] html: &str,
    #[case] says: &str,
) {
    for format in ["markdown", "text"] {
        let got = one("text/html", html.as_bytes(), json!({ "format": format })).await;
        let content = got["content"].as_str().unwrap();
        assert!(content.starts_with(says), "{content}");
    }
    let raw = one("text/html", html.as_bytes(), json!({ "format": "raw" })).await;
    assert_eq!(raw["content"], html);
}

#[rstest]
#[case::heads(
    "<table><caption>Teas</caption><thead><tr><th>Kind<th>Minutes</thead><tr><td>green<td>3<tr><td>black<td>5</table>after",
    "Teas\n\n| Kind | Minutes |\n| --- | --- |\n| green | 3 |\n| black | 5 |\n\nafter"
)]
#[case::what_would_end_a_cell(
    "<table><tr><td>a|b<td><p>one<br>two</table>",
    "| a\\|b | one two |\n| --- | --- |"
)]
#[case::spans_and_gaps(
    "<table><tr><td colspan=2>wide<td>c<tr><td>a<td><td>c<tr><td>only</table>",
    "| wide | | c |\n| --- | --- | --- |\n| a | | c |\n| only |"
)]
#[case::links(
    "<table><tr><td><a href='http://o/x'>x</a><td>y</table>",
    "| [x](http://o/x) | y |\n| --- | --- |"
)]
#[case::a_layout(
    "<table><tr><td><h1>Head</h1><p>First.<p>Second.</td><td>menu</td></table>",
    "# Head\n\nFirst.\n\nSecond.\n\nmenu"
)]
#[case::one_in_another(
    "<table><tr><td>menu<td>x<table><tr><td>a<td>b</table></table>",
    "menu\n\nx\n\n| a | b |\n| --- | --- |"
)]
#[case::cells_of_no_table("<td>a<td>b", "a b")]
#[tokio::test]
async fn a_table_was_no_table_in_markdown(#[case] html: &str, #[case] expected: &str) {
    let got = one("text/html", html.as_bytes(), json!({})).await;
    assert_eq!(got["content"], expected);
}

#[tokio::test]
async fn a_table_is_words_where_words_are_asked_for() {
    let html = "<table><tr><th>Kind<th>Minutes<tr><td>green<td>3</table>";
    let got = one("text/html", html.as_bytes(), json!({ "format": "text" })).await;
    assert_eq!(got["content"], "Kind | Minutes\ngreen | 3");
}

#[tokio::test]
async fn tables_without_end_take_time_in_proportion() {
    for piece in [
        "<table><tr><td>x",
        "<td colspan=99999>",
        "<tr><td>",
        "<table>",
    ] {
        let html = piece.repeat(40_000);
        let got = one("text/html", html.as_bytes(), json!({})).await;
        assert!(got.get("error").is_none(), "{piece}");
    }
}
