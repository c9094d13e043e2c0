//! What would be asked where nobody can answer.

use rstest::rstest;
use serde_json::json;

use crate::provider::Provider;
use crate::wire::Wire::OpenAi;
use crate::wire::{answer, call, calls};
use crate::world::{READ, Start, World};

/// What nothing isolates asks for each command.
const ASKS: &str = "[sandbox]\nbackend = \"passthrough\"\nrequire = \"none\"\n";

fn stays_as_it_was(world: &World) {
    assert!(!world.work("done.txt").exists(), "nobody said yes");
}

/// C10: whatever stdin is that is no terminal, closed or a pipe that is never written to and never
/// closed, nobody is waited for: the call is denied, and the run goes on to its end.
#[rstest]
fn c10_a_run_waited_for_an_answer_on_a_pipe(
    #[values(false, true)] held_open: bool,
    #[values(&[][..], &["--json"])] form: &[&str],
) {
    let provider = Provider::start(OpenAi);
    let world = provider.world();
    world.config(ASKS);
    let args = json!({"command": "touch done.txt"}).to_string();
    provider.then(calls(OpenAi, &[call("c1", "execute_shell_command", &args)]));
    provider.then(answer(OpenAi, "went on"));
    let start = Start {
        stdin: held_open,
        ..READ
    };
    let running = world.start_as(&[&["run", "--session", "s", "go"], form].concat(), start);
    // Stdin stays as it is until the program has ended.
    let ran = running.wait().exits(0);
    assert!(ran.stdout.contains("went on"), "{}", ran.shown());
    stays_as_it_was(&world);
    let told = crate::requests::results(OpenAi, &provider.last_request());
    assert_eq!(told.len(), 1);
    assert!(
        told[0].1.contains("needs_approval") || told[0].1.contains("denied"),
        "{told:?}"
    );
    let replay = world.run(&["sessions", "replay", "s", "--json"]).exits(0);
    let lines = crate::lines::Lines::replayed(&replay.stdout);
    assert_eq!(lines.outputs()[0]["status"], "denied");
    assert_eq!(lines.outcome(), "success");
}

/// The same for a direct call, which nobody is asked about either.
#[rstest]
fn c10_a_direct_call_waited_for_an_answer_on_a_pipe(#[values(false, true)] held_open: bool) {
    let world = World::new();
    world.config(ASKS);
    let start = Start {
        stdin: held_open,
        ..READ
    };
    let args = [
        "tools",
        "call",
        "execute_shell_command",
        "--args",
        r#"{"command":"touch done.txt"}"#,
        "--json",
    ];
    let ran = world.start_as(&args, start).wait().exits(4);
    assert_eq!(ran.json()["error"]["code"], "needs_approval");
    stays_as_it_was(&world);
}
