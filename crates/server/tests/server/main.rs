//! The HTTP surface, over real sockets, real logs and the real pipeline.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "tests say what must hold, and skips say why"
)]

mod agui;
mod answers;
mod at_once;
mod beside;
mod client;
mod events;
mod full_disk;
mod gate;
mod gated;
mod hang_ups;
mod harness;
mod interrupts;
mod isolation;
mod life;
mod mcp;
mod mistaken;
mod page;
mod peers;
mod probes;
mod runs;
mod sessions;
mod stops;
mod tools;
