//! The calendar.

mod read;
mod write;

use outfitter_core::Principal;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::answer::Answer;
use crate::fault::Fault;
use crate::store::Store;

/// Does what a subcommand of the calendar is for.
pub(crate) fn run(
    name: &str,
    args: Map<String, Value>,
    who: &Principal,
    store: &Store,
) -> Result<Answer, Fault> {
    match name {
        "read" => read::run(&arguments(args)?, who, store),
        "write" => write::run(arguments(args)?, who, store),
        name => Err(Fault::usage(format!("there is no calendar {name}"))),
    }
}

fn arguments<T: DeserializeOwned>(args: Map<String, Value>) -> Result<T, Fault> {
    serde_json::from_value(Value::Object(args)).map_err(|error| {
        Fault::new(
            outfitter_core::Code::InvalidArguments,
            format!("the arguments do not fit: {error}"),
        )
    })
}
