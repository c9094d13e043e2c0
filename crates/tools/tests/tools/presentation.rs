//! Which tools are before a model where there are many, and how the others are found.

use std::collections::BTreeSet;
use std::sync::Arc;

use outfitter_core::{
    CallEnd, Code, EntryBody, Exposure, NameSet, Role, Selection, SessionFacts, Tool, ToolIndex,
    ToolName, ToolOutput,
};
use outfitter_tools::{
    Found, Presentation, Suggestion, ToolView, ToolsConfig, expand_tools, get_tool_schema,
    list_tools, tool_search,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::{Probe, World, call};

fn name(text: &str) -> ToolName {
    ToolName::new(text).unwrap()
}

/// A tool that says of itself what a search goes by.
fn described(name: &str, description: &str, keywords: &[&'static str]) -> Arc<dyn Tool> {
    let keywords: Vec<Arc<str>> = keywords.iter().map(|&word| word.into()).collect();
    Arc::new(Probe::new(name).spec(move |spec| {
        spec.description = description.into();
        spec.keywords = keywords;
    }))
}

fn about_tools() -> Vec<Arc<dyn Tool>> {
    vec![
        expand_tools(),
        tool_search(),
        list_tools(),
        get_tool_schema(),
    ]
}

fn office() -> Vec<Arc<dyn Tool>> {
    let mut tools = about_tools();
    tools.extend([
        described(
            "calendarList",
            "Lists appointments of a day.",
            &["日程", "日历"],
        ),
        described("mail_send", "Sends a letter by mail.", &["邮件", "发送"]),
        described(
            "ticket_open",
            "Opens a ticket for a fault.",
            &["工单", "故障"],
        ),
        described("weather_now", "Tells the weather in a city.", &["天气"]),
        described("file_read", "Reads a file.", &["读取文件"]),
    ]);
    let hidden = Probe::new("weather_secret").spec(|spec| {
        spec.exposure = Exposure::Hidden;
        spec.description = "Tells the weather in secret.".into();
    });
    let above = Probe::new("weather_admin").spec(|spec| {
        spec.min_role = Role::Admin;
        spec.description = "Tells the weather to admins.".into();
    });
    tools.push(Arc::new(hidden));
    tools.push(Arc::new(above));
    tools
}

fn world_with(tools: Vec<Arc<dyn Tool>>, presentation: Presentation) -> World {
    let world = World::of(tools);
    world.registry.configure(ToolsConfig {
        presentation,
        ..ToolsConfig::default()
    });
    world
}

fn trimming(threshold: usize) -> Presentation {
    Presentation {
        suggestion: Suggestion::Lexical,
        threshold,
        ..Presentation::default()
    }
}

fn view(world: &World, suggested: Option<&[&str]>, expanded: &[&str]) -> Arc<ToolView> {
    let set = |names: &[&str]| Arc::new(names.iter().map(|text| name(text)).collect());
    let facts = SessionFacts {
        suggested: suggested.map(set),
        expanded: set(expanded),
        ..world.facts()
    };
    let proxy = world
        .registry
        .seal(world.grant.clone(), Selection::default());
    proxy.view(&facts)
}

fn shown(view: &ToolView) -> Vec<&str> {
    view.presented().map(ToolName::as_str).collect()
}

async fn made(world: &World, view: &Arc<ToolView>, name: &str, args: Value) -> Arc<ToolOutput> {
    let mut run = world.run.clone();
    run.services = run.services.with::<dyn ToolIndex>(view.clone());
    let end = world
        .pipeline
        .run(view, call(name, &args.to_string()), &run);
    match end.await.unwrap() {
        CallEnd::Output(output) => output,
        CallEnd::Waiting(interrupt) => panic!("waits: {interrupt:?}"),
    }
}

const ALL: [&str; 5] = [
    "calendarList",
    "file_read",
    "mail_send",
    "ticket_open",
    "weather_now",
];

fn plain() -> Vec<Arc<dyn Tool>> {
    let mut tools = about_tools();
    tools.extend(ALL.map(|name| described(name, &format!("Does {name}."), &[])));
    tools
}

#[test]
fn up_to_the_threshold_all_are_shown_whatever_was_chosen_and_no_way_to_more() {
    // The two ways in are listed too.
    let world = world_with(plain(), trimming(7));
    assert_eq!(shown(&view(&world, Some(&[]), &[])), ALL);
    assert_eq!(view(&world, Some(&[]), &[]).to_choose(), None);
}

#[test]
fn above_it_the_baseline_what_was_chosen_and_the_ways_to_the_rest_are_shown() {
    let world = world_with(plain(), trimming(6));
    let chosen = view(&world, Some(&["mail_send"]), &["weather_now"]);
    let expected = [
        "file_read",
        "mail_send",
        "tool_expand_tools",
        "tool_search",
        "weather_now",
    ];
    assert_eq!(shown(&chosen), expected);
    assert!(matches!(chosen.find("ticket_open"), Found::NotPresented(_)));
    let reminder = chosen.reminder().unwrap();
    assert!(
        reminder.contains("2 more tools") && reminder.contains("tool_search"),
        "{reminder}"
    );
    // Until somebody chose, nothing is kept back.
    assert_eq!(shown(&view(&world, None, &[])), ALL);
    assert!(view(&world, None, &[]).to_choose().is_some());
}

#[test]
fn nothing_is_kept_back_where_it_could_not_be_found() {
    let tools = plain()
        .into_iter()
        .filter(|tool| !["tool_search", "tool_expand_tools"].contains(&tool.spec().name.as_str()));
    let world = world_with(tools.collect(), trimming(1));
    assert_eq!(view(&world, None, &[]).to_choose(), None);
    assert_eq!(shown(&view(&world, Some(&[]), &[])), ALL);
}

#[test]
fn switched_off_nothing_is_chosen_however_many_there_are() {
    let off = Presentation {
        suggestion: Suggestion::Off,
        threshold: 1,
        ..Presentation::default()
    };
    let world = world_with(plain(), off);
    assert_eq!(shown(&view(&world, Some(&["mail_send"]), &[])), ALL);
}

#[test]
fn a_suggestion_shows_nothing_that_may_not_be_used() {
    let world = world_with(office(), trimming(1));
    let all = view(
        &world,
        Some(&["weather_admin", "weather_secret", "no_such"]),
        &["weather_admin"],
    );
    assert!(
        !shown(&all)
            .iter()
            .any(|name| name.contains("admin") || name.contains("secret"))
    );
    assert!(!shown(&all).contains(&"no_such"));
}

#[test]
fn tools_that_the_operator_defers_are_told_by_a_line_until_they_are_asked_for() {
    let deferring = Presentation {
        defer: NameSet::of(["*_*"]),
        ..Presentation::default()
    };
    let world = world_with(plain(), deferring);
    let before = view(&world, None, &[]);
    assert_eq!(
        shown(&before),
        ["calendarList", "tool_expand_tools", "tool_search"],
        "the ways to more are never deferred"
    );
    let reminder = before.reminder().unwrap();
    assert!(
        reminder.contains("- mail_send: Does mail_send."),
        "{reminder}"
    );
    assert!(shown(&view(&world, None, &["mail_send"])).contains(&"mail_send"));
}

#[test]
fn the_reminder_is_bounded_and_says_how_many_it_leaves_out() {
    let mut tools = about_tools();
    let long = "tells ".repeat(40);
    tools.extend((0..500).map(|at| described(&format!("far_{at:03}"), &long, &[])));
    let deferring = Presentation {
        defer: NameSet::of(["far_*"]),
        ..Presentation::default()
    };
    let reminder = view(&world_with(tools, deferring), None, &[])
        .reminder()
        .unwrap();
    assert!(reminder.len() < 9_000, "{}", reminder.len());
    let told = reminder
        .lines()
        .filter(|line| line.starts_with("- "))
        .count();
    assert!(
        reminder.contains(&format!("and {} more", 500 - told)),
        "{reminder}"
    );
}

#[tokio::test]
async fn a_search_gives_schemas_of_the_exact_shape_and_shows_what_it_found() {
    let world = world_with(office(), trimming(2));
    let before = view(&world, Some(&["mail_send"]), &[]);
    let args = json!({"query": "weather in the city", "limit": 3});
    let output = made(&world, &before, "tool_search", args).await;
    let result = output.result.as_ref().unwrap();
    let keys = |value: &Value| -> BTreeSet<String> {
        value.as_object().unwrap().keys().cloned().collect()
    };
    assert_eq!(
        keys(result),
        ["newly_discovered", "tools"].map(str::to_owned).into()
    );
    assert_eq!(
        keys(&result["tools"][0]),
        ["description", "input_schema", "name", "score"]
            .map(str::to_owned)
            .into()
    );
    assert_eq!(result["tools"].as_array().unwrap().len(), 1, "{result}");
    assert_eq!(result["tools"][0]["name"], "weather_now");
    assert!(result["tools"][0]["score"].as_f64().unwrap() > 0.0);
    assert_eq!(result["newly_discovered"], json!(["weather_now"]));
    let activated = EntryBody::Activated(vec![name("weather_now")]);
    assert!(world.journal.entries().contains(&activated));
    let after = view(&world, Some(&["mail_send"]), &["weather_now"]);
    assert!(
        made(&world, &after, "weather_now", json!({}))
            .await
            .error
            .is_none()
    );
    let again = made(&world, &after, "tool_search", json!({"query": "weather"})).await;
    assert_eq!(
        again.result.as_ref().unwrap()["newly_discovered"],
        json!([])
    );
}

#[rstest::rstest]
#[case("明天有什么日程安排", "calendarList")]
#[case("给客户发送邮件", "mail_send")]
#[case("打印机故障，开一个工单", "ticket_open")]
#[case("北京天气怎么样", "weather_now")]
#[case("calendar", "calendarList")]
#[case("ticket", "ticket_open")]
#[case("send letters", "mail_send")]
#[case("weather_now", "weather_now")]
fn the_best_tool_is_found_in_both_languages(#[case] query: &str, #[case] best: &str) {
    let world = world_with(office(), Presentation::default());
    let found = view(&world, None, &[]).search(query, 5);
    assert_eq!(found[0].schema.name.as_str(), best);
}

#[tokio::test]
async fn what_is_not_for_the_caller_is_neither_found_nor_listed_nor_described() {
    let world = world_with(office(), Presentation::default()).role(Role::User);
    let view = view(&world, None, &[]);
    for (tool, args) in [
        (
            "tool_search",
            json!({"query": "weather admin secret", "limit": 20}),
        ),
        ("list_tools", json!({})),
    ] {
        let output = made(&world, &view, tool, args).await;
        let tools = output.result.as_ref().unwrap()["tools"].to_string();
        assert!(tools.contains("weather_now"), "{tools}");
        assert!(
            !tools.contains("admin") && !tools.contains("secret"),
            "{tools}"
        );
    }
    let mut refusals = BTreeSet::new();
    for forbidden in ["weather_admin", "weather_secret", "no_such_tool"] {
        let output = made(&world, &view, "get_tool_schema", json!({"name": forbidden})).await;
        let error = output.error.as_ref().unwrap();
        assert_eq!(error.code, Code::NotFound);
        let text = serde_json::to_string(error).unwrap();
        refusals.insert(text.replace(forbidden, "NAME"));
    }
    assert_eq!(refusals.len(), 1, "one answer for all three: {refusals:?}");
}

#[tokio::test]
async fn the_old_names_are_never_shown_and_tell_the_truth() {
    let world = world_with(plain(), trimming(2));
    let view = view(&world, Some(&[]), &[]);
    assert!(
        !shown(&view)
            .iter()
            .any(|name| ["list_tools", "get_tool_schema"].contains(name))
    );
    let output = made(&world, &view, "list_tools", json!({})).await;
    let tools = output.result.as_ref().unwrap()["tools"]
        .as_array()
        .unwrap()
        .clone();
    let named: Vec<&str> = tools
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert!(
        named.contains(&"mail_send") && !named.contains(&"list_tools"),
        "{named:?}"
    );
    let one = made(
        &world,
        &view,
        "get_tool_schema",
        json!({"name": "mail_send"}),
    )
    .await;
    let one = one.result.as_ref().unwrap().clone();
    assert_eq!(one["name"], "mail_send");
    assert!(one["input_schema"].is_object());
    assert!(
        !world
            .journal
            .entries()
            .iter()
            .any(|entry| matches!(entry, EntryBody::Activated(_))),
        "to look at a schema shows no tool"
    );
}

#[tokio::test]
async fn a_call_of_a_tool_that_was_trimmed_gets_its_schema_and_the_way_at_once() {
    let world = world_with(plain(), trimming(2));
    let view = view(&world, Some(&[]), &[]);
    let output = made(&world, &view, "mail_send", json!({})).await;
    let error = output.error.as_ref().unwrap();
    assert_eq!(error.code, Code::NotPresented);
    assert!(error.expected.as_ref().unwrap().is_object());
    assert!(error.hint.as_ref().unwrap().contains("tool_expand_tools"));
}

#[test]
fn what_fits_a_conversation_is_ranked_and_bounded_and_leaves_the_baseline_out() {
    let world = world_with(office(), trimming(2));
    let view = view(&world, None, &[]);
    let names =
        |list: Vec<ToolName>| -> Vec<String> { list.iter().map(ToString::to_string).collect() };
    let words = "read the file, then tell me the weather and send a letter";
    assert_eq!(names(view.fitting(words, 1)).len(), 1);
    let all: BTreeSet<String> = names(view.fitting(words, 9)).into_iter().collect();
    assert_eq!(all, ["mail_send", "weather_now"].map(str::to_owned).into());
    let told = view.candidates("weather", 10_000);
    assert_eq!(told[0].name.as_str(), "weather_now");
    assert_eq!(
        told[0].line, "Tells the weather in a city.",
        "the whole line"
    );
    assert!(view.candidates("weather", 45).len() < told.len());
}

#[test]
fn each_tool_about_tools_says_when_it_is_used_and_when_not_and_is_found_in_chinese() {
    for tool in about_tools() {
        let spec = tool.spec();
        for word in ["Use it", "Not for", "tool_"] {
            assert!(
                spec.description.contains(word),
                "{}: no {word:?}",
                spec.name
            );
        }
        let chinese =
            |word: &Arc<str>| word.chars().any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c));
        assert!(
            spec.keywords.iter().any(chinese),
            "{} has no Chinese keyword",
            spec.name
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]
    #[test]
    fn what_is_shown_can_be_found_and_what_is_found_can_be_called(
        exposures in prop::collection::vec(0_u8..4, 8),
        admin in prop::collection::vec(any::<bool>(), 8),
        suggested in prop::option::of(prop::collection::vec(0_usize..9, 0..5)),
        expanded in prop::collection::vec(0_usize..9, 0..5),
        threshold in 1_usize..12,
        deferred in 0_usize..9,
    ) {
        let of = |at: usize| format!("thing_{at}");
        let mut tools = about_tools();
        for at in 0..8 {
            let exposure = [Exposure::Always, Exposure::Listed, Exposure::Deferred, Exposure::Hidden]
                [usize::from(exposures[at])];
            let role = if admin[at] { Role::Admin } else { Role::Guest };
            tools.push(Arc::new(Probe::new(&of(at)).spec(move |spec| {
                spec.exposure = exposure;
                spec.min_role = role;
            })));
        }
        let world = world_with(tools, Presentation {
            defer: NameSet::of([of(deferred)]),
            ..trimming(threshold)
        });
        let texts = |list: &[usize]| -> Vec<String> { list.iter().map(|&at| of(at)).collect() };
        let suggested = suggested.map(|list| texts(&list));
        let suggested: Option<Vec<&str>> =
            suggested.as_ref().map(|list| list.iter().map(String::as_str).collect());
        let expanded = texts(&expanded);
        let expanded: Vec<&str> = expanded.iter().map(String::as_str).collect();
        let view = view(&world, suggested.as_deref(), &expanded);

        let listed: BTreeSet<ToolName> =
            view.tools().into_iter().map(|tool| tool.schema.name).collect();
        for presented in view.presented() {
            prop_assert!(listed.contains(presented), "{presented} is shown and not found");
        }
        for found in view.search("thing", 100) {
            prop_assert!(listed.contains(&found.schema.name));
        }
        for name in &listed {
            let found = view.find(name.as_str());
            prop_assert!(matches!(found, Found::Callable(_) | Found::NotPresented(_)));
        }
        // Of the rest, only hidden tools that are for this caller answer.
        for (at, is_admin) in admin.iter().copied().enumerate().take(8) {
            let answers = !matches!(view.find(&of(at)), Found::NotPermitted);
            prop_assert_eq!(answers, !is_admin);
            prop_assert!(!listed.contains(&name(&of(at))) || !is_admin);
        }
    }
}
