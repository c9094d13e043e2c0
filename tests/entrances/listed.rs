//! What waits, in the lists of sessions.

use serde_json::json;

use crate::served::{Serving, ends};
use crate::waiting::{question, touch, turns, waits, world};

#[test]
fn a_question_of_a_server_that_was_killed_stood_in_no_list() {
    let calls = [question("one", &json!({"type": "string"})), touch("two")];
    let world = world(&turns(&calls), "");
    let serving = Serving::start(&world);
    let lines = serving.at.run("s").lines();
    ends(&lines, "waiting");
    let asked = [
        ("question", waits(&lines, "question", "one")),
        ("approval", waits(&lines, "approval", "two")),
    ];
    serving.kill();
    let listed = world.run(&["sessions", "list", "--json"]).exits(0).json();
    let shown = world
        .run(&["sessions", "show", "s", "--json"])
        .exits(0)
        .json();
    for waiting in [&listed["sessions"][0]["waiting"], &shown["waiting"]] {
        let told = waiting.as_array().unwrap().iter();
        let told: Vec<_> = told
            .map(|one| {
                (
                    one["kind"].as_str().unwrap(),
                    one["id"].as_str().unwrap().to_owned(),
                )
            })
            .collect();
        assert_eq!(told, asked, "{waiting}");
        let answer = waiting[0]["answer"].as_str().unwrap();
        assert_eq!(
            answer,
            format!("outfitter sessions answer {} VALUE", asked[0].1)
        );
    }
    for args in [&["sessions", "list"][..], &["sessions", "show", "s"]] {
        let text = world.run(args).exits(0).stdout;
        assert!(text.contains("what of one?"), "{text}");
        for (_, id) in &asked {
            assert!(
                text.contains(&format!("outfitter sessions answer {id}")),
                "{text}"
            );
        }
    }
    for (id, value) in [(&asked[0].1, "word"), (&asked[1].1, "false")] {
        world.run(&["sessions", "answer", id, value, "--json"]);
    }
    let listed = world.run(&["sessions", "list", "--json"]).exits(0).json();
    assert!(listed["sessions"][0].get("waiting").is_none(), "{listed}");
}
