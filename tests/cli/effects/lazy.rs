//! What is started or asked at its first call only.

use serde_json::{Value, json};

use super::{PATH, call, listed};
use crate::world::World;

const PROGRAM: &str = env!("CARGO_BIN_EXE_outfitter");

/// A configuration of this many lazy servers and programs, each of which tells when it is started.
fn world(servers: usize, programs: usize) -> World {
    let world = World::with("");
    let here = world.path("here");
    let here = here.to_str().unwrap();
    let mut toml = String::new();
    for number in 0..servers {
        toml.push_str(&format!(
            "[mcp.servers.s{number}]\ncommand = \"sh\"\ncwd = \"{here}\"\nlazy = true\n\
             args = [\"-c\", \"echo s{number} >> starts && exec {PROGRAM} __mcp-notes --file n{number}.json\"]\n"
        ));
    }
    for number in 0..programs {
        toml.push_str(&format!(
            "[commands.p{number}]\nprogram = \"sh\"\nargs = [\"{here}/p{number}.sh\"]\nlazy = true\n"
        ));
        let entry = |subcommand: &str| {
            json!({
                "command": format!("tell{number}"), "subcommand": subcommand, "skill": "telling",
                "summary": "Tells.", "effects": ["read"], "args": {"type": "object"},
                "result": {"type": "object"},
            })
        };
        let description = json!({"v": 1, "name": "p", "commands": [entry("all")]});
        world.write(&format!("here/p{number}.json"), &description.to_string());
        world.write(
            &format!("here/p{number}.sh"),
            &format!(
                "echo p{number} $1 >> {here}/starts\n\
                 if [ \"$1\" = describe ]; then cat {here}/p{number}.json; exit; fi\n\
                 echo '{{\"v\":1,\"status\":\"success\",\"result\":{{}}}}'\n"
            ),
        );
    }
    world.write("here/outfitter.toml", &toml);
    world
}

/// What was started since this was asked last.
fn starts(world: &World) -> Vec<String> {
    let path = world.path("here/starts");
    let text = std::fs::read_to_string(&path).unwrap_or_default();
    let _none = std::fs::remove_file(&path);
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

fn tell(world: &World, number: usize) -> Value {
    let arguments = json!({"command": format!("tell{number}"), "subcommand": "all", "args": {}});
    call(world, "project_cli", &arguments)
}

#[test]
fn a_listing_started_every_program_of_the_project() {
    let world = world(2, 10);
    let first = listed(&world, &[]);
    assert_eq!(starts(&world).len(), 12, "once, where nothing is kept");
    assert!(first.iter().any(|name| name == "project_cli"));
    assert_eq!(listed(&world, &[]), first);
    let doctor = world.run_with(&["doctor"], &[PATH]);
    for says in [
        "p7: idle, 1 command; its first call asks it",
        "s1: idle, 4 tools; its first call starts it",
    ] {
        assert!(doctor.stdout.contains(says), "{}", doctor.shown());
    }
    assert_eq!(starts(&world), [""; 0]);
    // A call asks the one that it is of, and starts no server.
    assert_eq!(tell(&world, 3)["status"], "success");
    assert_eq!(starts(&world), ["p3 describe", "p3 tell3"]);
}

#[test]
fn a_lazy_program_is_asked_at_its_first_call() {
    let world = world(0, 1);
    listed(&world, &[]);
    starts(&world);
    // Another one than was kept is asked at once, and what it offers otherwise is said.
    let script = std::fs::read_to_string(world.path("here/p0.sh")).unwrap();
    world.write("here/p0.sh", &format!("{script}# changed\n"));
    let described = std::fs::read_to_string(world.path("here/p0.json")).unwrap();
    let changed = described.replace("\"all\"", "\"every\"");
    world.write("here/p0.json", &changed);
    let doctor = world.run_with(&["doctor"], &[PATH]);
    let says = "not what was kept of it: new: tell0 every; gone: tell0 all";
    assert!(doctor.stdout.contains(says), "{}", doctor.shown());
    assert_eq!(starts(&world), ["p0 describe"]);
    // The same one that offers something else is found out before it is called.
    world.write("here/p0.json", &described);
    let arguments = json!({"command": "tell0", "subcommand": "every", "args": {}});
    let output = call(&world, "project_cli", &arguments);
    assert_eq!(output["error"]["code"], "conflict", "{output}");
    assert_eq!(starts(&world), ["p0 describe"]);
    assert_eq!(tell(&world, 0)["status"], "success");
}
