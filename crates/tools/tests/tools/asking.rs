//! Tools that do nothing but ask the person of the session.

use std::sync::Arc;

use async_trait::async_trait;
use outfitter_core::{
    CallEnd, Code, Effect, Effects, Facts, Mode, Outcome, Reply, Selection, Tool, ToolContext,
    ToolError, ToolSpec,
};
use outfitter_tools::Found;
use rstest::rstest;
use serde_json::{Value, json};

use crate::support::{Probe, World, call};

/// Says of itself that it only asks.
struct Asks {
    probe: Probe,
    would: Effects,
}

impl Asks {
    fn new(effects: Effects, would: Effects) -> Self {
        let probe = Probe::new("asks").spec(|spec| spec.effects = effects);
        Self { probe, would }
    }
}

#[async_trait]
impl Tool for Asks {
    fn spec(&self) -> &ToolSpec {
        &self.probe.spec
    }

    fn only_asks(&self) -> bool {
        true
    }

    fn facts(&self, _: &Value) -> Result<Facts, ToolError> {
        let mut facts = Facts::of(self.spec());
        facts.effects = self.would;
        Ok(facts)
    }

    async fn call(&self, _: &ToolContext, _: Value) -> Result<Reply, ToolError> {
        Ok(Outcome::json(json!("asked")).into())
    }
}

const MESSAGE: Effects = Effects::of(&[Effect::Message]);
const OTHERS: Effects = Effects::of(&[Effect::MessageOther]);
const MORE: Effects = Effects::of(&[Effect::Message, Effect::Write]);

#[rstest]
#[case::a_plan(Mode::Plan, MESSAGE, MESSAGE, None)]
#[case::a_chat(Mode::Chat, MESSAGE, MESSAGE, Some(Code::NotPermitted))]
#[case::somebody_else(Mode::Plan, OTHERS, OTHERS, Some(Code::NotPermitted))]
#[case::and_more(Mode::Plan, MORE, MORE, Some(Code::NotPermitted))]
#[case::more_with_these_arguments(Mode::Plan, MESSAGE, MORE, Some(Code::NotPermitted))]
#[tokio::test]
async fn a_plan_could_not_ask_the_person_to_confirm_it(
    #[case] mode: Mode,
    #[case] effects: Effects,
    #[case] would: Effects,
    #[case] refused: Option<Code>,
) {
    let world = World::of(vec![Arc::new(Asks::new(effects, would))]);
    let selection = Selection {
        mode,
        ..Selection::default()
    };
    let proxy = world.registry.seal(world.grant.clone(), selection);
    let view = proxy.view(&world.facts());
    let end = world.pipeline.run(&view, call("asks", "{}"), &world.run);
    let CallEnd::Output(output) = end.await.unwrap() else {
        panic!("it does not wait");
    };
    assert_eq!(output.error.as_ref().map(|error| error.code), refused);
    if refused.is_none() {
        assert!(matches!(view.find("asks"), Found::Callable(_)));
    }
}

#[tokio::test]
async fn who_may_tell_nobody_anything_does_not_ask_in_a_plan_either() {
    let world = World::of(vec![Arc::new(Asks::new(MESSAGE, MESSAGE))]);
    let selection = Selection {
        mode: Mode::Plan,
        effects: Effects::READ,
        ..Selection::default()
    };
    let proxy = world.registry.seal(world.grant.clone(), selection);
    let view = proxy.view(&world.facts());
    assert!(matches!(view.find("asks"), Found::NotPermitted));
}
