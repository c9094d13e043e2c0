//! Sources, names and views.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use futures_core::stream::BoxStream;
use futures_util::StreamExt as _;
use outfitter_core::{
    Fault, Generation, Grant, NameSet, Role, Selection, SourceId, SourceSnapshot, Tool, ToolSource,
    Trust,
};
use outfitter_tools::{Found, SourceRefused, ToolRegistry, ToolsConfig};
use serde_json::json;

use crate::support::{Probe, World, principal, source};

fn tools(names: &[&str]) -> Vec<Arc<dyn Tool>> {
    names
        .iter()
        .map(|name| Arc::new(Probe::new(name)) as Arc<dyn Tool>)
        .collect()
}

fn names(registry: &ToolRegistry) -> Vec<(String, String)> {
    let facts = World::new([]).facts();
    registry
        .seal(Grant::full(Role::Admin), Selection::default())
        .view(&facts)
        .listing()
        .into_iter()
        .map(|tool| (tool.name.to_string(), tool.source.to_string()))
        .collect()
}

fn faults(registry: &ToolRegistry) -> Vec<String> {
    registry
        .faults()
        .into_iter()
        .map(|fault| format!("{}/{}: {}", fault.source, fault.fault.what, fault.fault.why))
        .collect()
}

#[test]
fn nobody_takes_a_name_from_a_built_in_whoever_came_first() {
    let registry = ToolRegistry::default();
    for (id, trust, names) in [
        ("notes", Trust::Remote, &["file_read", "add"][..]),
        (
            "mine",
            Trust::Operator,
            &["file_read", "deploy", "notes__add"][..],
        ),
        ("ours", Trust::Operator, &["deploy"][..]),
        ("builtin", Trust::Builtin, &["file_read"][..]),
    ] {
        registry.add(source(id, trust, tools(names))).unwrap();
    }
    insta::assert_snapshot!(format!("{:#?}\n{:#?}", names(&registry), faults(&registry)));
}

/// Who goes takes along what was theirs, and nothing that others have by a name like it.
#[test]
fn a_source_that_left_took_a_built_in_along() {
    let registry = ToolRegistry::default();
    for (id, trust) in [
        ("builtin", Trust::Builtin),
        ("notes", Trust::Remote),
        ("mine", Trust::Operator),
    ] {
        registry
            .add(source(id, trust, tools(&["file_read"])))
            .unwrap();
    }
    for id in ["notes", "mine"] {
        assert!(registry.remove(&SourceId::new(id).unwrap()));
    }
    assert_eq!(
        names(&registry),
        [("file_read".to_owned(), "builtin".to_owned())]
    );
    assert_eq!(faults(&registry), Vec::<String>::new());
}

#[test]
fn a_prefix_belongs_to_one_source() {
    let registry = ToolRegistry::default();
    registry
        .add(source("notes", Trust::Remote, tools(&["a"])))
        .unwrap();
    for (id, trust) in [("notes", Trust::Remote), ("notes", Trust::Operator)] {
        let refused = registry.add(source(id, trust, tools(&["b"]))).unwrap_err();
        assert_eq!(refused, SourceRefused::Taken(SourceId::new(id).unwrap()));
    }
    let refused = registry
        .add(source("a.b", Trust::Remote, tools(&["b"])))
        .unwrap_err();
    assert!(matches!(refused, SourceRefused::Prefix { .. }));
    assert_eq!(
        names(&registry),
        [("notes__a".to_owned(), "notes".to_owned())]
    );
}

#[test]
fn a_tool_that_cannot_be_offered_is_a_fault_and_the_others_are_there() {
    let bad: Vec<Arc<dyn Tool>> = vec![
        Arc::new(Probe::new("bad_schema").schema(json!({"type": "object", "properties": 5}))),
        Arc::new(
            Probe::new("asks_who").schema(json!({"type": "object", "properties": {"tenant": {}}})),
        ),
        Arc::new(Probe::new("good")),
        Arc::new(Probe::new("good")),
    ];
    let registry = ToolRegistry::default();
    registry.add(source("mine", Trust::Operator, bad)).unwrap();
    assert_eq!(names(&registry), [("good".to_owned(), "mine".to_owned())]);
    let faults = faults(&registry);
    assert_eq!(faults.len(), 3, "{faults:#?}");
    assert!(
        faults.iter().any(|fault| fault.contains("tenant")),
        "{faults:#?}"
    );
}

#[test]
fn names_that_nothing_has_are_told_with_those_that_were_meant() {
    let registry = ToolRegistry::default();
    registry
        .add(source(
            "builtin",
            Trust::Builtin,
            tools(&["file_read", "grep"]),
        ))
        .unwrap();
    registry
        .add(source("notes", Trust::Remote, tools(&[])))
        .unwrap();
    let set = NameSet::of(["file_*", "grep", "raed_file", "notes__later", "other__x"]);
    let unknown: Vec<(String, Vec<String>)> = registry
        .unknown_names(set.plain_names())
        .into_iter()
        .map(|unknown| (unknown.name, unknown.close))
        .collect();
    assert_eq!(
        unknown,
        [
            ("other__x".to_owned(), vec![]),
            ("raed_file".to_owned(), vec!["file_read".to_owned()]),
        ]
    );
}

#[test]
fn an_alias_answers_and_is_never_listed() {
    let world = World::new([Probe::new("file_read"), Probe::new("list")]);
    world.registry.configure(ToolsConfig {
        aliases: BTreeMap::from([
            ("read".to_owned(), "file_read".to_owned()),
            ("list".to_owned(), "file_read".to_owned()),
            ("gone".to_owned(), "nothing".to_owned()),
        ]),
        ..ToolsConfig::default()
    });
    let view = world.view();
    let listed: Vec<String> = view.presented().map(ToString::to_string).collect();
    assert_eq!(listed, ["file_read", "list"]);
    let found = |name: &str| match view.find(name) {
        Found::Callable(spec) => spec.name.to_string(),
        other => format!("{other:?}"),
    };
    assert_eq!(found("read"), "file_read");
    assert_eq!(found("list"), "list", "a tool of that name wins");
    assert_eq!(found("gone"), "Unknown([])");
}

/// A source whose tools change.
struct Changing {
    id: SourceId,
    now: Mutex<Arc<SourceSnapshot>>,
}

impl Changing {
    fn set(&self, tools: Vec<Arc<dyn Tool>>) {
        let mut now = self.now.lock().unwrap();
        *now = Arc::new(SourceSnapshot {
            generation: Generation(now.generation.0 + 1),
            tools,
            faults: vec![Fault {
                what: "server".to_owned(),
                why: "is slow".to_owned(),
            }],
        });
    }
}

impl ToolSource for Changing {
    fn id(&self) -> &SourceId {
        &self.id
    }
    fn trust(&self) -> Trust {
        Trust::Remote
    }
    fn snapshot(&self) -> Arc<SourceSnapshot> {
        self.now.lock().unwrap().clone()
    }
    fn changes(&self) -> BoxStream<'static, Generation> {
        futures_util::stream::pending().boxed()
    }
}

#[test]
fn a_view_is_the_same_until_something_changes_and_then_it_is_true_again() {
    let world = World::new([Probe::new("file_read")]);
    let changing = Arc::new(Changing {
        id: SourceId::new("notes").unwrap(),
        now: Mutex::default(),
    });
    world.registry.add(changing.clone()).unwrap();
    let proxy = world
        .registry
        .seal(world.grant.clone(), Selection::default());
    let view = || proxy.view(&world.facts());
    let listed = || {
        view()
            .presented()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
    };

    let first = view();
    assert!(Arc::ptr_eq(&first, &view()));
    changing.set(tools(&["add"]));
    assert_eq!(listed(), ["file_read", "notes__add"]);
    assert_ne!(view().hash(), first.hash());
    assert_eq!(faults(&world.registry), ["notes/server: is slow"]);
    changing.set(tools(&[]));
    assert_eq!(listed(), ["file_read"]);
    assert_eq!(view().hash(), first.hash(), "equal content, equal hash");
    assert_eq!(view().schemas(), first.schemas());

    world.registry.configure(ToolsConfig {
        available: NameSet::none(),
        ..ToolsConfig::default()
    });
    assert_eq!(listed(), Vec::<String>::new());
    assert!(world.registry.remove(&changing.id));
    assert!(!world.registry.remove(&changing.id));
}

#[test]
fn a_view_is_made_for_one_principal() {
    let world = World::new([Probe::new("admins_only").spec(|spec| spec.min_role = Role::Admin)]);
    let proxy = world
        .registry
        .seal(Grant::full(Role::Admin), Selection::default());
    let seen = |role| {
        let facts = outfitter_core::SessionFacts {
            who: principal(role),
            ..world.facts()
        };
        proxy.view(&facts).presented().count()
    };
    assert_eq!(
        [seen(Role::Guest), seen(Role::Admin), seen(Role::User)],
        [0, 1, 0]
    );
}

#[tokio::test]
async fn a_tailored_spec_changes_what_is_said_and_never_what_is_allowed() {
    let made = Arc::new(AtomicUsize::new(0));
    let world = World::new([
        Probe::new("load_skill")
            .tailor({
                let made = made.clone();
                move |spec, session| {
                    made.fetch_add(1, Ordering::SeqCst);
                    let mut spec = spec.clone();
                    spec.description = format!("for {}", session.session).into();
                    spec.min_role = Role::Guest;
                    spec.name = outfitter_core::ToolName::new("other").unwrap();
                    spec.input_schema = Arc::new(json!({
                        "type": "object",
                        "properties": {"skill": {"enum": ["a", "b"]}},
                        "required": ["skill"],
                    }));
                    Some(spec)
                }
            })
            .spec(|spec| spec.min_role = Role::User),
        Probe::new("breaks").tailor(|spec, _| {
            let mut spec = spec.clone();
            spec.input_schema = Arc::new(json!({"type": 5}));
            Some(spec)
        }),
        Probe::new("panics").tailor(|_, _| panic!("tailor")),
    ]);
    let proxy = world
        .registry
        .seal(world.grant.clone(), Selection::default());
    let view = proxy.view(&world.facts());
    let _ = proxy.view(&world.facts());
    assert_eq!(made.load(Ordering::SeqCst), 1);
    assert_eq!(
        view.presented()
            .map(ToString::to_string)
            .collect::<Vec<_>>(),
        ["breaks", "load_skill", "panics"]
    );
    let Found::Callable(spec) = view.find("load_skill") else {
        panic!("not there");
    };
    assert_eq!((&*spec.description, spec.min_role), ("for ses", Role::User));
    assert_eq!(view.faults().len(), 2, "{:?}", view.faults());

    assert!(
        world
            .output("load_skill", r#"{"skill":"a"}"#)
            .await
            .error
            .is_none()
    );
    let refused = world.output("load_skill", r#"{"skill":"c"}"#).await;
    insta::assert_json_snapshot!(&refused.error);
}

#[test]
fn a_source_that_could_not_be_had_is_missed_until_it_is_there() {
    let registry = ToolRegistry::default();
    let id = SourceId::new("apis").unwrap();
    registry.miss(id.clone(), "failed to read it");
    registry.miss(id, "failed to read it again");
    assert_eq!(faults(&registry), ["apis/source: failed to read it again"]);
    let there = source("apis", Trust::Operator, tools(&["call_a"]));
    registry.add(there).unwrap();
    assert_eq!(faults(&registry), [""; 0]);
    assert_eq!(names(&registry).len(), 1);
}
