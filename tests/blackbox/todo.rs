//! The list of tasks, end to end.

use serde_json::{Value, json};

use crate::direct::called;
use crate::provider::Provider;
use crate::wire::{Wire::OpenAi, answer, call, calls};
use crate::world::World;

fn list(world: &World, session: &str) -> Value {
    let (_, output) = called(world, "todo_read", "{}", &["--session", session]);
    output["result"].clone()
}

/// Each call here is a program of its own: what it knows of the list is in the log.
#[test]
fn the_list_is_in_the_log_of_its_session() {
    let world = World::new();
    let write = |session: &str, args: Value| {
        let (_, output) = called(
            &world,
            "todo_write",
            &args.to_string(),
            &["--session", session],
        );
        assert_eq!(output["status"], "success", "{output}");
        output["result"]["summary"]["total"].clone()
    };
    let task =
        |id: &str, status: &str| json!({"id": id, "content": format!("do {id}"), "status": status});
    assert_eq!(
        write(
            "s",
            json!({"tasks": [task("a", "pending"), task("b", "pending")]})
        ),
        2
    );
    assert_eq!(
        write(
            "s",
            json!({"tasks": [task("b", "completed"), task("c", "in_progress")]})
        ),
        3
    );
    let known = list(&world, "s");
    assert_eq!(
        known["summary"],
        json!({"total": 3, "pending": 1, "in_progress": 1, "completed": 1})
    );
    assert_eq!(list(&world, "other")["summary"]["total"], 0);
}

/// Writes of one reply run at once, and the next program knows them all.
#[test]
fn writes_of_one_reply_are_all_kept() {
    let provider = Provider::start(OpenAi);
    let world = provider.world();
    let writes: Vec<(String, String)> = (0..8)
        .map(|n| {
            let task = json!({"id": format!("t{n}"), "content": "x", "status": "pending"});
            (format!("c{n}"), json!({ "tasks": [task] }).to_string())
        })
        .collect();
    let writes: Vec<_> = writes
        .iter()
        .map(|(id, args)| call(id, "todo_write", args))
        .collect();
    provider.then(calls(OpenAi, &writes));
    provider.then(answer(OpenAi, "ok"));
    world
        .run(&["run", "--json", "--session", "s", "hi"])
        .exits(0);
    assert_eq!(list(&world, "s")["summary"]["total"], 8);
}
