//! Paths among arguments: files that a call reads, beside what else it is told.

use super::*;
use serde_json::Value;

fn table(decision: Verdict, args: Value) -> Rule {
    let Value::Object(args) = args else {
        unreachable!("a table")
    };
    Rule {
        args: Some(RuleArgs::Table(args.into_iter().collect())),
        ..rule(decision, "x")
    }
}

/// `photo` and the items of `more` that are no artifacts are paths.
fn judged(rules: Vec<Rule>, args: &Value) -> Verdict {
    let more = args["more"].as_array().into_iter().flatten();
    let texts = more.chain([&args["photo"]]).filter_map(Value::as_str);
    let paths: Vec<String> = texts
        .filter(|text| !text.starts_with("art_") || text.contains('/'))
        .map(str::to_owned)
        .collect();
    decide(Verdict::Ask, rules, Targets::Reads(paths), "", args)
}

#[test]
fn a_file_that_is_sent_was_held_to_the_text_of_its_path_only() {
    use Verdict::{Ask, Deny};
    for denied in [
        || rule(Deny, "photo=secrets/*"),
        || table(Deny, json!({ "photo": "secrets/*" })),
        || table(Deny, json!({ "photo": ["b", "secrets/*"], "album": 7 })),
    ] {
        let of = |path: &str| judged(vec![denied()], &json!({ "photo": path, "album": 7 }));
        for path in [
            "secrets/a",
            "./x/../secrets/a",
            "SECRETS/a",
            "/home/u/ws/secrets/a/b",
        ] {
            assert_eq!(of(path), Deny, "{path}");
        }
        assert_eq!(of("open/a"), Ask);
    }
    // One of a list is enough, also beside what is no path.
    let more = || vec![rule(Deny, "more=secrets/*")];
    assert_eq!(
        judged(more(), &json!({ "more": ["a", "./secrets/b"] })),
        Deny
    );
    assert_eq!(judged(more(), &json!({ "more": ["art_1", "a"] })), Ask);
    let kept = || vec![rule(Deny, "more=art_*")];
    assert_eq!(judged(kept(), &json!({ "more": ["art_1", "a"] })), Deny);
}

#[test]
fn what_is_allowed_to_be_sent_is_each_file_and_not_its_text() {
    use Verdict::{Allow, Ask};
    let open = || vec![rule(Allow, "photo=open/**"), rule(Allow, "more=open/**")];
    assert_eq!(judged(open(), &json!({ "photo": "open/a" })), Allow);
    assert_eq!(
        judged(open(), &json!({ "photo": "open/../secrets/a" })),
        Ask
    );
    assert_eq!(
        judged(open(), &json!({ "photo": "open/a", "more": ["b"] })),
        Ask
    );
    let both = json!({ "photo": "open/a", "more": ["open/b"] });
    assert_eq!(judged(open(), &both), Allow);
    // What is no path is held to its text, and allows no file.
    let mixed = json!({ "more": ["open/b", "art_1"] });
    assert_eq!(judged(open(), &mixed), Ask);
    let all = || vec![table(Allow, json!({ "more": ["open/**", "art_*"] }))];
    assert_eq!(judged(all(), &mixed), Allow);
    assert_eq!(judged(all(), &json!({ "more": ["art_1/../x"] })), Ask);
    // A rule on another argument is one on the call.
    let album = || vec![table(Allow, json!({ "album": 7 }))];
    assert_eq!(judged(album(), &json!({ "photo": "a", "album": 7 })), Allow);
    assert_eq!(judged(album(), &json!({ "photo": "a", "album": 8 })), Ask);
}
