//! What is done by several at once, or wholly or not at all, in a program that embeds the whole.

use std::sync::Arc;

use outfitter::config::sections::McpServer;
use outfitter::{BuildError, NativeSource, Principal, Role, Served, SessionId, SourceId, Trust};
use outfitter_agent::SessionSource as _;

use crate::within::whole;
use crate::world::World;

fn id(text: &str) -> SourceId {
    SourceId::new(text).unwrap()
}

fn source(name: &str) -> Arc<NativeSource> {
    Arc::new(NativeSource::new(id(name), Trust::Remote, Vec::new()))
}

/// One of two servers has a name that is taken: neither is registered, and a second try says the
/// same.
#[tokio::test(flavor = "multi_thread")]
async fn sources_are_registered_all_or_none() {
    let world = World::new();
    let whole = whole(
        &world,
        |config| {
            for name in ["alpha", "notes"] {
                let server = McpServer {
                    builtin: Some("notes".to_owned()),
                    ..McpServer::default()
                };
                config.mcp.servers.insert(name.to_owned(), server);
            }
        },
        |builder| builder.source(source("notes")),
    );
    for _ in 0..2 {
        match whole.connect().await {
            Err(BuildError::Source(_)) => {}
            other => panic!("{other:?}"),
        }
    }
    // There is none of that name.
    whole.registry().add(source("alpha")).unwrap();
    assert!(!whole.registry().remove(&id("beta")));
}

/// Two requests that come at once for one session get the same sandbox: a second one would end the
/// commands of the first.
#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_is_opened_twice_at_once_has_one_sandbox() {
    let world = World::new();
    let whole = Arc::new(whole(&world, |_| {}, |builder| builder));
    let served = Arc::new(Served::new(whole));
    let open = |session: &str| {
        let who = Arc::new(Principal {
            tenant: "t".into(),
            subject: "s".into(),
            role: Role::Admin,
            channel: "http".into(),
            stream: None,
        });
        let (served, session) = (served.clone(), SessionId::new(session).unwrap());
        async move { served.open(who, &session).await.unwrap() }
    };
    let all = futures_util::future::join_all((0..8).map(|_| open("one"))).await;
    let other = open("other").await;
    for session in &all {
        assert!(Arc::ptr_eq(&session.sandbox, &all[0].sandbox));
        assert!(!Arc::ptr_eq(&session.sandbox, &other.sandbox));
    }
}

/// A program that embeds the whole reloads it, too; its agents take the new configuration, and
/// what it set itself stays.
#[tokio::test]
async fn an_embedding_program_reloads_the_whole() {
    let world = World::new();
    let whole = whole(
        &world,
        |_| {},
        |builder| builder.preset("current_time", "timezone", |_| Ok("Asia/Tokyo".into())),
    );
    let agent = whole.agent().unwrap();
    assert_eq!(agent.parts().settings.limits.max_turns, 40);
    let mut config = (*whole.config()).clone();
    config.agent.max_turns = 7;
    config.server.heartbeat_seconds = 9;
    let plan = whole.reload(&config).unwrap();
    assert_eq!(plan.hot, ["agent.max_turns"]);
    assert_eq!(plan.restart, ["server.heartbeat_seconds"]);
    assert_eq!(agent.parts().settings.limits.max_turns, 7);
    assert_eq!(whole.config().server.heartbeat_seconds, 15);

    config.agent.max_turns = 8;
    config.tools.available = vec!["calculater".to_owned(), "grepp".to_owned()];
    config.skills.available = vec!["none".to_owned()];
    let refused = whole.reload(&config).unwrap_err();
    assert_eq!(refused.problems.len(), 3, "{refused}");
    assert!(refused.to_info().message.contains("grepp"), "{refused}");
    assert_eq!(agent.parts().settings.limits.max_turns, 7);
    assert_eq!(whole.config().agent.max_turns, 7);
    let view = whole.view(outfitter::Attended::No);
    let clock = view
        .listing()
        .into_iter()
        .find(|tool| tool.name.as_str() == "current_time");
    assert!(!clock.unwrap().input_schema.to_string().contains("timezone"));
}

#[test]
fn a_preset_of_the_program_that_cannot_be_is_no_whole() {
    let world = World::new();
    let build = |tool: &'static str, parameter: &'static str| {
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            whole(
                &world,
                |_| {},
                |builder| builder.preset(tool, parameter, |_| Ok("x".into())),
            )
        }))
        .is_ok()
    };
    assert!(build("current_time", "timezone"));
    assert!(!build("current_time", "timezon"));
    assert!(!build("curent_time", "timezone"));
}
