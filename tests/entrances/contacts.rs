//! Contacts, from outside: found in a program of the project.

use serde_json::{Value, json};

use crate::direct::call;
use crate::world::World;

fn with_contacts(more: &str) -> World {
    let world = World::new();
    world.config(&format!(
        "[commands.planner]\nprogram = \"planner\"\nenv = {{ PLANNER_DIR = {:?} }}\n{more}",
        world.work("planner")
    ));
    for (id, name) in [("u1", "Bob Reed"), ("u2", "Bobby"), ("u3", "小明")] {
        let mut contact = json!({"id": id, "name": name, "platform": "mail"});
        if id == "u1" {
            contact["conversation"] = json!("s1");
            contact["about"] = json!("likes tea");
            contact["frequency"] = json!(0.5);
        }
        let add = json!({"command": "contacts", "subcommand": "add", "args": contact});
        call(&world, "project_cli", &add).exits(0);
    }
    world
}

#[test]
fn contacts_come_from_the_program_that_is_named() {
    let world = with_contacts("[contacts]\nsource = \"planner\"\n[search]\nmax_results = 1\n");
    let result =
        |tool: &str, args: Value| call(&world, tool, &args).exits(0).json()["result"].clone();
    let bob = json!({"user_id": "u1", "name": "Bob Reed", "platform": "mail", "stream_id": "s1"});
    let ming = json!({"user_id": "u3", "name": "小明", "platform": "mail"});
    assert_eq!(
        result("search_users", json!({"keyword": "bob", "limit": 20})),
        json!({"users": [bob], "count": 1}),
        "the installation's limit holds"
    );
    assert_eq!(
        result("search_users", json!({"keywords": ["nobody", "的小明"]})),
        json!({"users": [ming], "count": 1})
    );
    assert_eq!(
        result("search_users", json!({"keyword": "nobody"})),
        json!({"users": [], "count": 0})
    );
    assert_eq!(
        result("query_person", json!({"person_name": "Bob Reed"})),
        json!({
            "person_id": "u1",
            "profile": {"name": "Bob Reed", "platform": "mail", "groups": [], "about": "likes tea"},
        })
    );
    assert_eq!(
        result("get_frequency", json!({"chat": "s1"})),
        json!({"value": 0.5})
    );
    let unknown = call(&world, "query_person", &json!({"person_name": "Zoe"}))
        .exits(5)
        .json();
    assert_eq!(unknown["error"]["code"], "not_found");
}

#[test]
fn contacts_of_a_program_that_is_not_named_are_not_asked_for() {
    let world =
        with_contacts("[commands.other]\nprogram = \"./other\"\n[contacts]\nsource = \"other\"\n");
    let output = call(&world, "search_users", &json!({"keyword": "bob"}));
    let output = output.exits(1).json();
    assert_eq!(output["error"]["code"], "unavailable", "{output}");
}

#[test]
fn what_a_source_of_contacts_cannot_do_is_no_fault_of_the_arguments() {
    let world = World::new();
    let search = json!({
        "command": "contacts", "subcommand": "search", "skill": "contacts",
        "summary": "People.", "effects": ["read"],
        "args": {"type": "object", "properties": {
            "keyword": {"type": "string"}, "limit": {"type": "integer"},
        }},
        "result": {"type": "object"},
    });
    let described = json!({"v": 1, "name": "crm", "commands": [search]});
    world.write(
        "crm",
        format!(
            "#!/bin/sh\nif [ \"$1\" = describe ]; then echo '{described}'\n\
             else echo '{{\"v\":1,\"status\":\"success\",\"result\":{{\"users\":[]}}}}'; fi\n"
        ),
    );
    let crm = world.work("crm");
    std::fs::set_permissions(&crm, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    world.config(&format!(
        "[commands.crm]\nprogram = {crm:?}\n[contacts]\nsource = \"crm\"\n"
    ));
    call(&world, "search_users", &json!({"keyword": "bob"})).exits(0);
    let output = call(&world, "query_person", &json!({"person_name": "Bob"}));
    let error = &output.exits(1).json()["error"];
    assert_eq!(error["code"], "unavailable", "{error}");
    assert_eq!(error["retryable"], false, "{error}");
    assert_eq!(
        error["message"], "the program crm knows no contacts person",
        "{error}"
    );
}

#[test]
fn without_a_source_there_are_no_contacts() {
    let world = with_contacts("");
    for (tool, args) in [
        ("search_users", json!({"keyword": "bob"})),
        ("query_person", json!({"person_name": "Bob Reed"})),
        ("get_frequency", json!({"chat": "s1"})),
    ] {
        let output = call(&world, tool, &args).exits(1).json();
        assert_eq!(output["error"]["code"], "unavailable", "{tool}");
        let hint = output["error"]["hint"].as_str().unwrap();
        assert!(hint.contains("[contacts] source"), "{hint}");
    }
}
