//! Which skills a prompt is about.

use outfitter_skills::{Discovered, Discovery};
use rstest::rstest;

use crate::world::World;

fn world() -> World {
    let world = World::new();
    world
        .skill(
            "report",
            "name: report\ndescription: Writes reliable reports with sources.\ntags: weekly, 周报",
        )
        .skill(
            "calendar",
            "name: calendar\ndescription: 查询、创建和修改日程安排",
        )
        .skill(
            "citations",
            "name: citations\ndescription: Checks the sources a text cites.",
        )
        .skill(
            "deploy",
            "name: deploy\ndescription: Ships a service to production.",
        )
        .skill(
            "person",
            "name: person\ndescription: Reports for persons.\ndisable-model-invocation: true",
        );
    world
}

fn found(prompt: &str) -> Vec<Discovered> {
    world().proxy().discover(prompt, Discovery::default())
}

#[rstest]
#[case("please write a report on last week's sales", &["report"])]
#[case("帮我安排明天的日程", &["calendar"])]
#[case("写一份周报", &["report"])]
#[case("which sources does this text cite?", &["citations", "report"])]
#[case("good morning, how are you?", &[])]
#[case("", &[])]
fn a_prompt_finds_the_skills_it_is_about(#[case] prompt: &str, #[case] expected: &[&str]) {
    let names: Vec<String> = found(prompt)
        .iter()
        .map(|found| found.name.to_string())
        .collect();
    assert_eq!(names, expected, "{:?}", found(prompt));
}

#[test]
fn a_score_says_which_words_it_comes_from() {
    let found = found("a report with sources, please");
    assert_eq!(found[0].name.as_str(), "report");
    let words: Vec<&str> = found[0]
        .words
        .iter()
        .map(|(word, _)| word.as_str())
        .collect();
    assert_eq!(words, ["report", "source"]);
    let sum: f64 = found[0].words.iter().map(|(_, worth)| worth).sum();
    assert!((found[0].score - sum).abs() < 1e-9);
}

#[test]
fn there_are_at_most_as_many_as_asked_for_and_none_below_the_bar() {
    let proxy = world().proxy();
    let one = proxy.discover(
        "report sources calendar deploy 日程",
        Discovery {
            limit: 1,
            ..Discovery::default()
        },
    );
    assert_eq!(one.len(), 1);
    let none = proxy.discover(
        "report",
        Discovery {
            min_score: 1e9,
            ..Discovery::default()
        },
    );
    assert_eq!(none, []);
}

#[test]
fn a_prompt_of_any_size_is_looked_at_in_bounds() {
    let prompt = format!("{} report", "日程 ".repeat(100_000));
    let names: Vec<String> = found(&prompt)
        .iter()
        .map(|found| found.name.to_string())
        .collect();
    assert_eq!(
        names,
        ["calendar"],
        "what stands beyond the bound is not looked at"
    );
}
