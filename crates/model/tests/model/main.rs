//! The wires against a server that sends what providers really send, byte for byte.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests say what must hold"
)]

mod adapted;
mod anthropic;
mod bounds;
mod common;
mod connections;
mod fake;
mod json_mode;
mod llama;
mod openai;
mod requests;
mod responses;
mod settings;
mod tool_form;
mod transport;
