//! The contacts of a person: who there is to speak to, what is known of them, and how often one
//! should speak where.
//!
//! `search`, `person` and `frequency` are what a source of contacts answers (`[contacts] source` in
//! `outfitter.toml`); `add` is how they come here.

mod add;
mod ask;
mod describe;
mod store;

use outfitter_core::{Code, Principal};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::answer::Answer;
use crate::fault::Fault;
pub(crate) use describe::subcommands;
pub(crate) use store::Contacts;

/// Does what a subcommand of the contacts is for.
pub(crate) fn run(
    name: &str,
    args: Map<String, Value>,
    who: &Principal,
    contacts: &Contacts,
) -> Result<Answer, Fault> {
    match name {
        "search" => ask::search(&arguments(args)?, &contacts.of(who)?),
        "person" => ask::person(&arguments(args)?, &contacts.of(who)?),
        "frequency" => ask::frequency(&arguments(args)?, &contacts.of(who)?),
        "add" => add::run(arguments(args)?, who, contacts),
        name => Err(Fault::usage(format!("there is no contacts {name}"))),
    }
}

fn arguments<T: DeserializeOwned>(args: Map<String, Value>) -> Result<T, Fault> {
    serde_json::from_value(Value::Object(args)).map_err(|error| {
        Fault::new(
            Code::InvalidArguments,
            format!("the arguments do not fit: {error}"),
        )
    })
}
