//! What a server was given is not told again by what it says: in no log, no event, no error and no
//! diagnosis.

use std::io::Write;
use std::sync::{Arc, Mutex};

use outfitter_core::REDACTED;
use rstest::rstest;
use serde_json::json;

use crate::support::{Odd, call_in, until, watched};

/// It is another text where it is written as JSON.
const KEY: &str = "sentinel-\"quoted\"-key";

/// What it has of it in either form.
const SENTINEL: &str = "sentinel";

/// Where the words of a server come out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// The log of the program, to which everything is written.
    Log,
    /// The lines that are shown while a call runs.
    Progress,
    /// What the call comes to.
    Error,
    /// What is wrong with what the server offers.
    Faults,
    /// What the server printed last.
    Printed,
    /// Why it does not run.
    LastError,
}

const PLACES: [Place; 6] = [
    Place::Log,
    Place::Progress,
    Place::Error,
    Place::Faults,
    Place::Printed,
    Place::LastError,
];

/// A log in memory.
#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[rstest]
#[case::notification("log", &[Place::Log])]
#[case::reply_to_nothing("nobody", &[Place::Log, Place::Error])]
#[case::result_that_does_not_fit("misfit", &[Place::Log])]
#[case::progress("progress", &[Place::Progress])]
#[case::lines_that_are_no_messages("noise", &[Place::Printed])]
#[case::refusal("error", &[Place::Error])]
#[case::refusal_of_parameters("parameters", &[Place::Error])]
#[case::failure("fails", &[Place::Error])]
#[case::reply_that_is_cut_off("garbled", &[])]
#[case::end("dies", &[Place::Error, Place::Printed, Place::LastError, Place::Log])]
#[case::list("nothing", &[Place::Faults])]
#[tokio::test]
async fn a_server_said_again_what_it_was_given(#[case] way: &str, #[case] places: &[Place]) {
    let written = Written::default();
    let log = written.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_writer(move || log.clone())
        .finish();
    // All tasks of the runtime are on this thread.
    let _logging = tracing::subscriber::set_default(subscriber);
    let odd = Odd::start_with("blabs", &[], |server| {
        server.env = vec![("KEY".into(), KEY.into())];
    });
    odd.until_ready().await;
    let (cx, shown) = watched();
    let call = || call_in(&odd.source, "echo", json!({"way": way}), &cx);
    // Two at once: what is no reply to one of them could be to either.
    let ended = tokio::join!(call(), call());
    if way == "dies" {
        until(|| odd.source.status().last_error.is_some()).await;
    }
    let errors = [ended.0, ended.1].map(|ended| match ended {
        Ok(outcome) => format!("{:?}", outcome.failed),
        Err(error) => format!("{error} {error:?}"),
    });
    let log = String::from_utf8(written.0.lock().unwrap().clone()).unwrap();
    for place in PLACES {
        let told = match place {
            Place::Log => log.clone(),
            Place::Progress => shown.lock().unwrap().clone(),
            Place::Error => errors.join("\n"),
            Place::Faults => odd.faults().join("\n"),
            Place::Printed => odd.source.stderr(),
            Place::LastError => odd.source.status().last_error.unwrap_or_default(),
        };
        assert!(!told.contains(SENTINEL), "{place:?}: {told}");
        if places.contains(&place) {
            assert!(told.contains(REDACTED), "{place:?}: {told:?}");
        }
    }
}
