//! The program as its callers meet it, from every entrance: the terminal, `tools call`, NDJSON and
//! AG-UI over HTTP, direct calls over HTTP, MCP, and runs that go on after a crash or an answer.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a helper of a test that cannot go on says so"
)]

// what a test stands on
mod at_work;
mod direct;
mod http;
#[path = "../blackbox/lines.rs"]
#[expect(dead_code, reason = "the black-box tests use the rest of it")]
mod lines;
mod mcp;
mod rows;
mod scripted;
mod served;
mod soon;
#[path = "../../crates/sandbox/tests/sandbox/ssh/sshd.rs"]
#[expect(dead_code, reason = "the tests of the sandbox use the rest of it")]
mod sshd;
mod ways;
mod within;
#[path = "../blackbox/world.rs"]
#[expect(
    dead_code,
    clippy::expect_used,
    reason = "the black-box tests use the rest of it"
)]
mod world;

mod addresses;
mod apis;
mod canary;
mod chatting;
mod contacts;
mod contests;
mod deleting;
mod exposure;
mod far;
mod forms;
mod left;
mod listed;
mod lives;
mod long_calls;
mod messages;
mod own_data;
mod own_jobs;
mod peers;
mod reload;
mod short_of_files;
mod standing;
mod subjects;
mod table;
mod tasks;
mod terminal;
mod together;
mod told;
mod vanishing;
mod views;
mod waiting;
