//! What a session sees of the catalogue: through a real registry, proxy and view.

use futures_util::StreamExt as _;
use outfitter_core::{
    Exposure, Generation, NameSet, Selection, SessionAuthority as _, ToolSource as _,
};
use outfitter_skills::{SkillProxy, SkillSource};
use outfitter_tools::{Found, ToolView};
use serde_json::{Value, json};

use crate::world::{World, names, registry, sealed, view};

/// The names a model can choose from.
fn choices(view: &ToolView) -> Value {
    let schemas = view.schemas();
    let schema = schemas
        .iter()
        .find(|schema| schema.name.as_str() == "load_skill");
    schema.map_or(Value::Null, |schema| {
        schema.parameters["properties"]["skill_name"]["enum"].clone()
    })
}

#[test]
fn a_session_can_choose_from_its_own_skills_and_no_others() {
    let world = World::new();
    world.plain(&["calendar", "citations", "report"]);
    let registry = registry(&world.catalog());
    let all = sealed(&registry, NameSet::all());
    assert_eq!(
        choices(&view(&all)),
        json!(["calendar", "citations", "report"])
    );
    let some = sealed(&registry, NameSet::of(["report", "c*"]));
    let fewer = some.narrow(Selection {
        skills: NameSet::of(["citations", "other"]),
        ..Selection::default()
    });
    assert_eq!(choices(&view(&fewer)), json!(["citations"]));
    assert!(view(&fewer).skills().has("citations") && !view(&fewer).skills().has("report"));
}

#[test]
fn a_session_without_skills_is_not_shown_the_tool() {
    let world = World::new();
    world.plain(&["report"]).skill(
        "person",
        "name: person\ndescription: d\ndisable-model-invocation: true",
    );
    let registry = registry(&world.catalog());
    for skills in [NameSet::none(), NameSet::of(["person"])] {
        let view = view(&sealed(&registry, skills));
        assert_eq!(view.presented().count(), 0);
        let Found::Callable(spec) = view.find("load_skill") else {
            panic!("it still answers");
        };
        assert_eq!(spec.exposure, Exposure::Hidden);
    }
}

#[test]
fn without_any_skill_there_is_no_tool() {
    let world = World::new();
    let registry = registry(&world.catalog());
    assert_eq!(
        view(&sealed(&registry, NameSet::all())).find("load_skill"),
        Found::Unknown(vec![])
    );
    let faults = registry.faults();
    assert_eq!(faults.len(), 1);
    assert_eq!(
        faults[0].fault.why,
        "root_missing: there is no such directory"
    );
}

#[test]
fn what_the_operator_makes_available_narrows_everybody() {
    let world = World::new();
    world.plain(&["calendar", "report"]);
    let catalog = world.catalog();
    let registry = registry(&catalog);
    let proxy = sealed(&registry, NameSet::all());
    assert_eq!(choices(&view(&proxy)), json!(["calendar", "report"]));
    catalog.configure(NameSet::of(["cal*"]));
    assert_eq!(choices(&view(&proxy)), json!(["calendar"]));
    assert_eq!(
        names(&SkillProxy::new(
            &catalog,
            &NameSet::of(["report", "calendar"])
        )),
        ["calendar"]
    );
    catalog.configure(NameSet::none());
    assert_eq!(choices(&view(&proxy)), Value::Null);
}

#[test]
fn a_child_can_only_have_less() {
    let world = World::new();
    world.plain(&["a", "b", "c"]);
    let parent = world.proxy().narrow(&NameSet::of(["a", "b"]));
    assert_eq!(names(&parent.narrow(&NameSet::of(["b", "c"]))), ["b"]);
    assert_eq!(names(&parent.narrow(&NameSet::all())), ["a", "b"]);
    assert!(parent.get("c").is_none());
    assert_eq!(parent.close_names("cc"), Vec::<String>::new());
}

/// A thousand names in every request would cost more than they are worth.
#[test]
fn very_many_skills_are_not_all_named_in_the_schema() {
    let world = World::new();
    for number in 0..outfitter_skills::limits::MAX_NAMED_IN_SCHEMA + 1 {
        world.plain(&[&format!("s{number}")]);
    }
    let view = view(&sealed(&registry(&world.catalog()), NameSet::all()));
    assert_eq!(choices(&view), Value::Null);
    assert_eq!(view.presented().count(), 1);
}

#[test]
fn names_that_no_skill_has_are_found_before_a_run() {
    let world = World::new();
    world.plain(&["calendar", "report"]);
    let unknown = world.catalog().unknown_names(["report", "calender"]);
    assert_eq!(unknown.len(), 1);
    assert_eq!(
        (unknown[0].name.as_str(), unknown[0].close.as_slice()),
        ("calender", &["calendar".to_owned()][..])
    );
}

#[test]
fn a_pack_grants_no_tool() {
    let world = World::new();
    world.skill(
        "greedy",
        "name: greedy\ndescription: d\ntools: execute_shell_command\nallowed-tools: Bash(*)",
    );
    let view = view(&sealed(&registry(&world.catalog()), NameSet::all()));
    let shown: Vec<&str> = view
        .presented()
        .map(outfitter_core::ToolName::as_str)
        .collect();
    assert_eq!(shown, ["load_skill"]);
    assert!(view.may_call("load_skill") && !view.may_call("execute_shell_command"));
}

#[tokio::test]
async fn changes_are_told_to_whoever_follows() {
    let world = World::new();
    world.plain(&["report"]);
    let catalog = world.catalog();
    let source = SkillSource::new(catalog.clone());
    let mut changes = source.changes();
    let before = source.snapshot();
    assert!(
        std::sync::Arc::ptr_eq(&before, &source.snapshot()),
        "nothing changed, nothing is made anew"
    );
    world.plain(&["tables"]);
    catalog.reload();
    assert_eq!(
        changes.next().await,
        Some(Generation(before.generation.0 + 1))
    );
    assert_ne!(source.snapshot().generation, before.generation);
}
