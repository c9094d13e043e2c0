//! Another server over the same log.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use outfitter_core::{CallHostError, Scope, SessionId};
use outfitter_server::{SessionHold, SessionHolds};
use serde_json::Value;

use crate::agui::{input, says};
use crate::client::{get, post};
use crate::harness::World;

/// A session is held once another server has done what it is asked for, too.
struct AfterThem {
    at: SocketAddr,
    body: String,
}

struct Held;

impl SessionHold for Held {}

impl AfterThem {
    fn ask(&self) -> String {
        let mut theirs = TcpStream::connect(self.at).unwrap();
        theirs
            .set_read_timeout(Some(Duration::from_secs(60)))
            .unwrap();
        let head = format!(
            "POST /agui HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            self.body.len()
        );
        theirs.write_all(head.as_bytes()).unwrap();
        theirs.write_all(self.body.as_bytes()).unwrap();
        let mut told = String::new();
        theirs.read_to_string(&mut told).unwrap();
        told
    }
}

impl SessionHolds for AfterThem {
    fn hold(&self, _: &Scope, _: &SessionId) -> Result<Box<dyn SessionHold>, CallHostError> {
        // The other server answers on the same threads.
        let told = tokio::task::block_in_place(|| self.ask());
        assert!(told.contains("RUN_FINISHED"), "{told}");
        Ok(Box::new(Held))
    }
}

/// Both looked for the id in the log before either had written it.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_run_that_was_sent_to_two_servers_at_once_was_made_by_both() {
    let mut world = World::new();
    let theirs = world.serve().await;
    let body = input("t", "r1", says("hello"));
    world.holds = Some(Arc::new(AfterThem {
        at: theirs.at,
        body: body.to_string(),
    }));
    let ours = world.serve().await;
    let late = post("/agui", &body).send(ours.at).await;
    late.is_problem(409, "conflict");
    let told = get("/v1/sessions/t/messages").send(ours.at).await.json();
    let told = told["messages"].as_array().unwrap().iter();
    let roles: Vec<&Value> = told.map(|said| &said["role"]).collect();
    assert_eq!(roles, ["user", "assistant"]);
    ours.stop().await;
    theirs.stop().await;
}
