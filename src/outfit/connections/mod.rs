//! What is connected once it is needed: the MCP servers, the programs of the project, the APIs.
//!
//! Nothing is connected before it is needed, and a tool that is always there needs nothing. What is
//! begun goes on by itself, and what answers late joins at the next view.
//!
//! - [`needed`]: which of them a call or a listing needs
//! - [`settle`]: beginning with those, and how long is waited for them; ending all
//! - [`begun`]: what was begun, and whether it has answered
//! - [`servers`], [`programs`], [`apis`]: each of the three as the configuration has it
//! - [`credentials`]: what is sent with every call of an API, out of the environment
//! - [`pending`]: what has not answered yet, for people

mod apis;
mod begun;
mod credentials;
mod needed;
mod pending;
mod programs;
mod servers;
mod settle;

pub(super) use begun::Connections;
pub(super) use credentials::secrets_of;
pub use needed::{Needed, SETTLE_TIME};
pub use pending::Pending;
