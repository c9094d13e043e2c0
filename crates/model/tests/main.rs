//! The wires against a server that sends what providers really send, byte for byte.

#[cfg(test)]
#[path = "model/anthropic.rs"]
mod anthropic;
#[cfg(test)]
#[path = "model/common.rs"]
mod common;
#[cfg(test)]
#[path = "model/fake.rs"]
mod fake;
#[cfg(test)]
#[path = "model/openai.rs"]
mod openai;
#[cfg(test)]
#[path = "model/requests.rs"]
mod requests;
#[cfg(test)]
#[path = "model/settings.rs"]
mod settings;
#[cfg(test)]
#[path = "model/transport.rs"]
mod transport;
