//! As an agent uses it: through `project_cli`, with nothing but the protocol between them.

use std::sync::Arc;

use outfitter_commands::{Host, ProgramSettings, ProjectCli};
use outfitter_core::{
    Cancel, Code, Outcome, Principal, Reply, Role, SessionFacts, Tool, ToolContext, ToolError,
    ToolSource as _,
};
use outfitter_process::SupervisorProgram;
use serde_json::{Value, json};

use crate::support::{PLANNER, World, ada, supervisor, who};

struct Agent {
    tool: Arc<dyn Tool>,
    _world: World,
}

impl Agent {
    async fn new() -> Self {
        let world = World::new();
        let host = Host {
            supervisor: SupervisorProgram::at(supervisor()),
            scratch: world.dir.path().join("scratch"),
            path: "/usr/bin:/bin".into(),
            lang: None,
            tz: None,
            issuer: Some(world.issuer.clone()),
            specs: None,
        };
        let mut settings = ProgramSettings::new("planner", PLANNER);
        let calendar = world.calendar().to_str().unwrap().to_owned();
        settings.env = vec![("PLANNER_DIR".to_owned(), calendar)];
        let source = ProjectCli::new(host, [settings]).unwrap();
        source.describe().await.unwrap();
        let snapshot = source.snapshot();
        assert!(snapshot.faults.is_empty(), "{:?}", snapshot.faults);
        Self {
            tool: snapshot.tools[0].clone(),
            _world: world,
        }
    }

    async fn call(&self, who: &Arc<Principal>, subcommand: &str, args: Value) -> Outcome {
        self.try_call(who, subcommand, args).await.unwrap()
    }

    async fn try_call(
        &self,
        who: &Arc<Principal>,
        subcommand: &str,
        args: Value,
    ) -> Result<Outcome, ToolError> {
        let cx = ToolContext {
            who: who.clone(),
            cancel: Cancel::new(),
            ..ToolContext::detached()
        };
        let args = json!({ "command": "calendar", "subcommand": subcommand, "args": args });
        self.tool.facts(&args)?;
        match self.tool.call(&cx, args).await? {
            Reply::Done(outcome) => Ok(*outcome),
            Reply::Wait(ask) => panic!("it waits: {ask:?}"),
        }
    }
}

#[tokio::test]
async fn an_agent_writes_and_reads_the_calendar_of_its_person() {
    let agent = Agent::new().await;
    let written = agent
        .call(
            &ada(),
            "write",
            json!({
                "title": "--json; rm -rf /", "start": "2026-12-01T09:00:00Z",
                "notes": "x".repeat(10_000), "attendees": ["bob"],
            }),
        )
        .await;
    assert_eq!(written.failed, None);
    assert_eq!(written.result["event"]["title"], "--json; rm -rf /");
    assert_eq!(written.ui.unwrap().0["template"], "key_values");

    let read = agent
        .call(&ada(), "read", json!({ "from": "2026-12-01", "limit": 5 }))
        .await;
    assert_eq!(read.result["count"], 1);
    let ui = read.ui.unwrap().0;
    assert_eq!(
        (&ui["template"], &ui["from"]),
        (&json!("table"), &json!("/events"))
    );
    // Hints and result stay apart.
    assert!(read.result.get("ui").is_none());
}

#[tokio::test]
async fn an_event_of_somebody_else_is_not_found() {
    let agent = Agent::new().await;
    let written = agent
        .call(
            &ada(),
            "write",
            json!({ "title": "x", "start": "2026-12-01" }),
        )
        .await;
    let id = written.result["event"]["id"].clone();
    for other in [
        who("acme", "bob", Role::Admin),
        who("umbrella", "ada", Role::Admin),
    ] {
        let read = agent.call(&other, "read", json!({ "id": id })).await;
        assert_eq!(read.failed.unwrap().code, Code::NotFound);
        let all = agent.call(&other, "read", json!({})).await;
        assert_eq!(all.result["count"], 0);
    }
}

#[tokio::test]
async fn what_the_program_says_no_to_is_an_error_with_its_place() {
    let agent = Agent::new().await;
    let args = json!({ "title": "x", "start": "tomorrow" });
    let error = agent.call(&ada(), "write", args).await.failed.unwrap();
    assert_eq!(error.code, Code::InvalidArguments);
    assert_eq!(error.path.as_deref(), Some("/args/start"));
}

#[tokio::test]
async fn arguments_are_held_to_the_schema_before_the_program_runs() {
    let agent = Agent::new().await;
    let error = agent
        .try_call(&ada(), "write", json!({ "title": "x" }))
        .await
        .unwrap_err();
    assert_eq!(error.code(), Code::InvalidArguments, "{error}");
    let error = agent
        .try_call(&ada(), "read", json!({ "limit": 1000, "owner": "bob" }))
        .await
        .unwrap_err();
    let message = &error.info().message;
    assert!(
        message.contains("/args/limit") && message.contains("/args/owner"),
        "{message}"
    );
}

#[tokio::test]
async fn a_guest_reads_and_is_told_of_nothing_else() {
    let agent = Agent::new().await;
    let guest = who("acme", "ada", Role::Guest);
    let read = agent.call(&guest, "read", json!({})).await;
    assert_eq!(read.failed, None);
    let args = json!({ "title": "x", "start": "2026-12-01" });
    let error = agent.try_call(&guest, "write", args).await.unwrap_err();
    assert_eq!(error.code(), Code::NotPermitted);
    let spec = agent
        .tool
        .tailor(&SessionFacts {
            who: guest,
            session: ToolContext::detached().session,
            attended: outfitter_core::Attended::No,
            expanded: Arc::default(),
            suggested: None,
            skills: outfitter_core::NameSet::all(),
        })
        .unwrap();
    assert!(spec.description.contains("calendar read"));
    assert!(!spec.description.contains("calendar write"));
}

#[tokio::test]
async fn what_a_model_is_told_names_no_credential_and_nobody() {
    let agent = Agent::new().await;
    insta::assert_snapshot!(agent.tool.spec().description);
    let shown = format!(
        "{} {}",
        agent.tool.spec().description,
        agent.tool.spec().input_schema
    );
    for word in [
        "token",
        "credential",
        "owner",
        "session",
        "tenant",
        "user_id",
    ] {
        assert!(!shown.contains(word), "{word}: {shown}");
    }
}
