//! Every key, tool and code names the test that proves it (`tests/ledger`), and nothing that
//! `docs/not-yet.md` speaks of is there already.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use rstest::rstest;
use serde_json::Value;
use syn::{Attribute, Item, ItemMacro};

use crate::world::World;

fn read(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A page of the ledger: what is proved, and the files and functions that prove it. What one test
/// proves where it is made and another where it is configured names both.
fn ledger(page: &str) -> BTreeMap<String, Vec<String>> {
    let text = read(&format!("tests/ledger/{page}.toml"));
    let rows: BTreeMap<String, toml::Value> =
        toml::from_str(&text).unwrap_or_else(|error| panic!("tests/ledger/{page}.toml: {error}"));
    let tests = |named: &toml::Value| -> Vec<String> {
        let one = std::slice::from_ref(named);
        let each = named.as_array().map_or(one, Vec::as_slice).iter();
        each.map(|test| test.as_str().unwrap_or_default().to_owned())
            .collect()
    };
    rows.iter()
        .map(|(what, named)| (what.clone(), tests(named)))
        .collect()
}

/// What is wrong with the tests that each row names.
fn faults(ledger: &BTreeMap<String, Vec<String>>) -> Vec<String> {
    let mut faults = Vec::new();
    for (what, tests) in ledger {
        if tests.is_empty() {
            faults.push(format!("{what}: no test"));
        }
        faults.extend(
            tests
                .iter()
                .filter_map(|test| Some(format!("{what}: {}", fault(test)?))),
        );
    }
    faults
}

/// The keys of the file, with those of tables in a section as `section.table.key` and of tables by
/// name as `section.NAME.key`.
fn keys() -> BTreeSet<String> {
    let schema = World::new().run(&["config", "schema"]).json();
    let mut found = BTreeSet::new();
    for (section, table) in schema["properties"].as_object().unwrap() {
        if !by_name(section, table, &mut found) && !rows(section, table, &mut found) {
            below(section, table, &mut found);
        }
    }
    found
}

fn below(path: &str, table: &Value, found: &mut BTreeSet<String>) {
    for (name, key) in table["properties"].as_object().unwrap() {
        let path = format!("{path}.{name}");
        if key["properties"].is_object() {
            below(&path, key, found);
        } else if !by_name(&path, key, found) {
            found.insert(path);
        }
    }
}

/// A section that is a list of tables.
fn rows(path: &str, table: &Value, found: &mut BTreeSet<String>) -> bool {
    let each = &table["items"];
    if !each["properties"].is_object() {
        return false;
    }
    found.insert(path.to_owned());
    below(path, each, found);
    true
}

fn by_name(path: &str, table: &Value, found: &mut BTreeSet<String>) -> bool {
    let each = &table["additionalProperties"];
    if !each["properties"].is_object() {
        return false;
    }
    found.insert(path.to_owned());
    below(&format!("{path}.NAME"), each, found);
    true
}

/// The tools that are in no list and answer all the same: what an old conversation may call.
const UNLISTED: [(&str, &str); 2] = [
    ("get_tool_schema", r#"{"name":"calculator"}"#),
    ("list_tools", "{}"),
];

/// The tools that ship, with all there is connected, for somebody who may use all. Those of the
/// server are its own.
fn tools() -> BTreeSet<String> {
    let world = World::with(
        "[mcp.servers.notes]\nbuiltin = \"notes\"\n[commands.planner]\nprogram = \"planner\"\n\
         [plugin_api]\nallowlist = [\"api\"]\n\
         apis.api = { url = \"http://127.0.0.1:1/\", schema = {} }\n",
    );
    world.write(
        "here/skills/tea/SKILL.md",
        "---\nname: tea\ndescription: Makes tea.\n---\nBoil water.\n",
    );
    let list = world
        .run(&["tools", "list", "--json", "--role", "admin"])
        .json();
    let names = list.as_array().unwrap().iter();
    let mut tools: BTreeSet<String> = names
        .map(|tool| tool["name"].as_str().unwrap().to_owned())
        .filter(|name| !name.contains("__"))
        .collect();
    for (name, args) in UNLISTED {
        assert!(tools.insert(name.to_owned()), "{name} is listed");
        let ran = world.run(&["tools", "call", name, "--json", "--args", args]);
        assert_eq!(ran.json()["status"], "success", "{}", ran.shown());
    }
    tools
}

fn codes() -> BTreeSet<String> {
    outfitter::Code::ALL
        .iter()
        .map(ToString::to_string)
        .collect()
}

#[rstest]
#[case("keys", keys())]
#[case("tools", tools())]
#[case("codes", codes())]
fn everything_names_the_test_that_proves_it(#[case] page: &str, #[case] all: BTreeSet<String>) {
    assert!(all.len() > 10, "{all:?}");
    let ledger = ledger(page);
    let named: BTreeSet<String> = ledger.keys().cloned().collect();
    let missing: Vec<_> = all.difference(&named).collect();
    let gone: Vec<_> = named.difference(&all).collect();
    assert!(
        missing.is_empty(),
        "not in tests/ledger/{page}.toml: {missing:?}"
    );
    assert!(
        gone.is_empty(),
        "only in tests/ledger/{page}.toml: {gone:?}"
    );
    let faults = faults(&ledger);
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// The kinds of failures that are kept in mind, of schemas (A), output (B), commands (C), files (D)
/// and permissions (E).
const REPORTED: &[&str] = &[
    "A01", "A02", "A03", "A04", "A05", "A06", "A07", "A10", "A12", "A14", "B01", "B02", "B03",
    "B04", "C01", "C02", "C04", "C06", "C07", "C08", "C09", "C10", "D01", "D03", "D04", "D05",
    "D06", "D07", "D09", "E01", "E03", "E04", "E06", "E07",
];

#[rstest]
#[case("reports", REPORTED)]
#[case("defects", &[])]
fn every_failure_that_is_kept_in_mind_names_its_tests(
    #[case] page: &str,
    #[case] at_least: &[&str],
) {
    let ledger = ledger(page);
    assert!(ledger.len() >= 30, "{}", ledger.len());
    let missing: Vec<_> = at_least
        .iter()
        .filter(|id| !ledger.contains_key(**id))
        .collect();
    assert!(
        missing.is_empty(),
        "not in tests/ledger/{page}.toml: {missing:?}"
    );
    let faults = faults(&ledger);
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// What is wrong with the name of a test; none where there is such a test.
fn fault(test: &str) -> Option<String> {
    let Some((file, name)) = test.split_once("::") else {
        return Some(format!("{test:?} is not FILE::TEST"));
    };
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    let Ok(text) = std::fs::read_to_string(path) else {
        return Some(format!("there is no file {file}"));
    };
    match syn::parse_file(&text) {
        Err(error) => Some(format!("{file}: {error}")),
        Ok(parsed) if has_test(&parsed.items, name) => None,
        Ok(_) => Some(format!("{file} has no test {name}")),
    }
}

/// The tests that `docs/security.md` names: the last cell of each row of its tables.
fn attempts(page: &str) -> Vec<&str> {
    page.lines()
        .filter_map(|line| line.strip_prefix("| ")?.strip_suffix("` |"))
        .filter_map(|row| Some(row.rsplit_once("| `")?.1))
        .collect()
}

/// How many ways out `docs/security.md` has to name at the least.
const LEAST_ATTEMPTS: usize = 120;

#[test]
fn every_attempt_to_escape_names_the_test_that_makes_it() {
    let page = read("docs/security.md");
    let tests = attempts(&page);
    let rows = page.lines().filter(|line| line.starts_with("| ")).count();
    let heads = page.matches("| attempted | stopped by | test |").count();
    assert_eq!(rows, tests.len() + heads, "a row has no test");
    let different: BTreeSet<_> = tests.iter().collect();
    assert!(different.len() >= LEAST_ATTEMPTS, "{}", different.len());
    assert_eq!(different.len(), tests.len(), "a test is named twice");
    let faults: Vec<_> = tests.iter().filter_map(|test| fault(test)).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

fn has_test(items: &[Item], name: &str) -> bool {
    items.iter().any(|item| match item {
        Item::Fn(function) => function.sig.ident == name && is_test(&function.attrs),
        Item::Mod(module) => {
            let items = module.content.as_ref().map(|(_, items)| items.as_slice());
            has_test(items.unwrap_or_default(), name)
        }
        Item::Macro(table) => is_of_the_table(table, name),
        _ => false,
    })
}

/// The one macro that makes tests, of what stands in it: the same for each backend of the sandbox.
fn is_of_the_table(table: &ItemMacro, name: &str) -> bool {
    let words: Vec<String> = table
        .mac
        .tokens
        .clone()
        .into_iter()
        .map(|word| word.to_string())
        .collect();
    let named = words.windows(3).any(|words| words == ["async", "fn", name]);
    let ignored = words.iter().any(|word| word.starts_with("[ignore"));
    table.mac.path.is_ident("on_every_backend") && named && !ignored
}

fn is_test(attributes: &[Attribute]) -> bool {
    let ignored = attributes.iter().any(|one| one.path().is_ident("ignore"));
    let test = attributes.iter().any(|one| {
        let last = one.path().segments.last();
        last.is_some_and(|word| word.ident == "test" || word.ident == "rstest")
    });
    test && !ignored
}

#[test]
fn the_rule_itself_knows_a_test_when_it_sees_one() {
    for (text, is) in [
        ("#[test] fn a() {}", true),
        (
            "#[tokio::test(flavor = \"multi_thread\")] async fn a() {}",
            true,
        ),
        ("#[rstest] #[case(1)] fn a(#[case] n: u8) {}", true),
        ("mod tests { #[test] fn a() {} }", true),
        ("#[test] #[ignore] fn a() {}", false),
        ("on_every_backend! { async fn a(w, s, b) {} }", true),
        (
            "on_every_backend! { #[ignore] async fn a(w, s, b) {} }",
            false,
        ),
        ("on_every_backend! { async fn b(w, s, b) { a() } }", false),
        ("something_else! { async fn a() {} }", false),
        ("fn a() {}", false),
        ("#[test] fn b() {}", false),
        ("// #[test] fn a() {}", false),
    ] {
        let file = syn::parse_file(text).unwrap();
        assert_eq!(has_test(&file.items, "a"), is, "{text}");
    }
    assert!(fault("tests/cli/ledger.rs::fault").is_some());
    assert!(fault("tests/cli/none.rs::a").is_some());
    assert!(fault("a").is_some());
}

/// The keys that a page names, as `[section] key`, and more of that section after commas.
fn keys_named(page: &str) -> Vec<String> {
    let mut named = Vec::new();
    let mut section: Option<&str> = None;
    let mut parts = page.split('`');
    let mut between = parts.next().unwrap_or_default();
    while let Some(code) = parts.next() {
        if let Some((name, key)) = code
            .strip_prefix('[')
            .and_then(|rest| rest.split_once("] "))
        {
            section = Some(name);
            named.push(format!("{name}.{key}"));
        } else if let (Some(section), ", ") = (section, between) {
            named.push(format!("{section}.{code}"));
        } else {
            section = None;
        }
        between = parts.next().unwrap_or_default();
    }
    named
}

#[test]
fn what_is_not_yet_is_not_there() {
    let page = read("docs/not-yet.md");
    let named = keys_named(&page);
    assert!(named.contains(&"agent.max_cost".to_owned()), "{named:?}");
    let known = keys();
    let there: Vec<_> = named.iter().filter(|key| known.contains(*key)).collect();
    assert!(
        there.is_empty(),
        "docs/not-yet.md names keys that are there: {there:?}"
    );
    let words: BTreeSet<&str> = page.split('`').skip(1).step_by(2).collect();
    let tools = tools();
    let there: Vec<_> = tools
        .iter()
        .filter(|name| words.iter().any(|word| is_of(name, word)))
        .collect();
    assert!(
        there.is_empty(),
        "docs/not-yet.md names tools that are there: {there:?}"
    );
}

/// Whether a word of a page is a name, or a form of names, such as `call_{api}`, that it has.
fn is_of(name: &str, word: &str) -> bool {
    let open = word.split_once('{');
    match open.and_then(|(before, rest)| Some((before, rest.split_once('}')?.1))) {
        None => name == word,
        Some((before, after)) => {
            let rest = name.strip_prefix(before);
            rest.and_then(|rest| rest.strip_suffix(after))
                .is_some_and(|between| !between.is_empty())
        }
    }
}

#[rstest]
#[case("call_{api}", "call_api", true)]
#[case("{server}__read", "notes__read", true)]
#[case("call_{api}", "call_", false)]
#[case("call_{api}", "calculator", false)]
#[case("calculator", "calculator", true)]
#[case("call_{api", "call_api", false)]
fn a_form_of_names_on_the_page_of_what_is_not_yet_stands_for_each_of_them(
    #[case] word: &str,
    #[case] name: &str,
    #[case] is: bool,
) {
    assert_eq!(is_of(name, word), is);
}
