//! What a model is told beside the conversation.

use std::sync::Arc;

use async_trait::async_trait;
use outfitter_agent::{Input, Told};
use outfitter_core::*;
use outfitter_tools::expand_tools;
use serde_json::Value;

use crate::harness::*;

struct Deferred(ToolSpec);

#[async_trait]
impl Tool for Deferred {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }
    async fn call(&self, _: &ToolContext, _: Value) -> Result<Reply, ToolError> {
        Ok(Outcome::text("rare indeed").into())
    }
}

fn deferred() -> Arc<dyn Tool> {
    let schema = serde_json::json!({"type": "object"});
    let name = ToolName::new("rare").unwrap();
    let mut spec = ToolSpec::new(name, "Does a rare thing.\nMore.", schema);
    spec.exposure = Exposure::Deferred;
    Arc::new(Deferred(spec))
}

#[tokio::test]
async fn a_deferred_tool_is_reminded_of_at_the_tail_and_shown_once_it_is_expanded() {
    let world = World::new(vec![deferred(), expand_tools()]);
    let script: Script = Arc::new(|replies, _| match replies {
        0 => calls(&[("r0", "rare", "{}")]),
        1 => calls(&[("x", "tool_expand_tools", "{\"tool_names\":[\"rare\"]}")]),
        2 => calls(&[("r1", "rare", "{}")]),
        _ => say("done"),
    });
    let process = world.alive(script.clone());
    let (end, _) = process.prompt("go").await;
    assert_eq!(end.outcome, RunOutcome::Success);
    let outputs = world.outputs().await;
    assert_eq!(
        outputs["r0"][0].error.as_ref().unwrap().code,
        Code::NotPresented
    );
    assert_eq!(outputs["r1"][0].status, Status::Success);
    let asked = process.model.asked.lock().unwrap().clone();
    assert!(
        asked[0].contains("- rare: Does a rare thing."),
        "{}",
        asked[0]
    );
    assert!(
        !asked[0].contains("\"rare\"]"),
        "not shown yet: {}",
        asked[0]
    );
    assert!(
        asked[2].contains("\"tools\":[\"rare\"]"),
        "shown: {}",
        asked[2]
    );
    assert!(!asked[2].contains("- rare:"), "and no reminder any more");

    // It stays shown in the session, after a restart too.
    let restarted = world.alive(Arc::new(|_, _| say("hello")));
    restarted.prompt("again").await;
    assert!(restarted.model.asked.lock().unwrap()[0].contains("\"tools\":[\"rare\"]"));
}

#[tokio::test]
async fn what_a_session_is_told_stands_behind_the_system_prompt_and_the_opening_comes_once() {
    let mut world = World::new(Vec::new());
    world.told = Told {
        skill_catalogue: "you may swim".into(),
        opening: Some("water is wet".into()),
        ..Told::default()
    };
    let process = world.alive(Arc::new(|_, _| say("ok")));
    process.prompt("first").await;
    process.prompt("second").await;
    let asked = process.model.asked.lock().unwrap().clone();
    for request in &asked {
        assert!(request.contains("be brief\\n\\nyou may swim"), "{request}");
        assert_eq!(request.matches("water is wet").count(), 1, "{request}");
    }
    let opening = asked[0].find("water is wet").unwrap();
    assert!(
        opening < asked[0].find("first").unwrap(),
        "before the first words"
    );
    assert!(matches!(
        process.run(Input::Continue).await.0,
        Err(outfitter_agent::RunError::NothingToContinue(_))
    ));
}
