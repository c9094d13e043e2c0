//! The sections one by one, and the whole.

use std::sync::Arc;

use outfitter_agent::{SectionName, SystemPrompt, Told};
use outfitter_core::Mode;
use rstest::rstest;

use super::*;

fn config(change: impl FnOnce(&mut Config)) -> Config {
    let mut config = Config::default();
    change(&mut config);
    config
}

fn whole(config: &Config) -> SystemPrompt {
    let told = Told {
        skill_catalogue: "# Skills\n\n- tea: Makes tea.".into(),
        ..Told::default()
    };
    SystemPrompt::of(&common(config), &told, config.agent.mode)
}

fn section(config: &Config, name: SectionName) -> Option<Arc<str>> {
    let prompt = whole(config);
    let found = prompt.sections().iter().find(|one| one.name == name)?;
    Some(found.text.clone())
}

#[test]
fn the_whole() {
    insta::assert_snapshot!(whole(&Config::default()).text());
}

#[test]
fn instructions() {
    let told = section(&Config::default(), SectionName::Instructions);
    insta::assert_snapshot!(told.unwrap());
    let own = config(|config| config.agent.system_prompt = Some("You make tea.".to_owned()));
    let told = section(&own, SectionName::Instructions);
    assert_eq!(told.as_deref(), Some("You make tea."));
    // It takes the place of ours, and of nothing else.
    let rest = |config: &Config| {
        let prompt = whole(config);
        prompt.sections()[1..].to_vec()
    };
    assert_eq!(rest(&own), rest(&Config::default()));
}

#[test]
fn tools() {
    let told = section(&Config::default(), SectionName::Tools);
    insta::assert_snapshot!(told.unwrap());
    let none = config(|config| config.tools.available = Vec::new());
    for name in [SectionName::Tools, SectionName::Environment] {
        assert_eq!(section(&none, name), None);
    }
}

#[rstest]
#[case::usual("usual", |_: &mut Config| {})]
#[case::hosts("hosts", |config: &mut Config| {
    let hosts = (0..22).map(|n| format!("h{n}.example.com"));
    config.sandbox.network = Network::Hosts(hosts.collect());
})]
#[case::network("network", |config: &mut Config| config.sandbox.network = Network::All(true))]
#[case::no_sandbox("no_sandbox", |config: &mut Config| {
    config.sandbox.backend = Backend::Passthrough;
})]
#[case::no_commands("no_commands", |config: &mut Config| config.shell.enabled = false)]
fn environment_follows_the_configuration(#[case] name: &str, #[case] change: fn(&mut Config)) {
    let told = section(&config(change), SectionName::Environment);
    insta::assert_snapshot!(format!("environment_{name}"), told.unwrap());
}

#[test]
fn nothing_that_changes_with_a_turn_or_a_machine_is_in_it() {
    let text = whole(&Config::default()).text();
    assert_eq!(text, whole(&Config::default()).text());
    assert!(!text.chars().any(|c| c.is_ascii_digit()), "{text}");
    assert!(!text.contains("/home"), "{text}");
}

#[test]
fn without_tools_nothing_of_them_is_said() {
    let chat = config(|config| config.agent.mode = Mode::Chat);
    let prompt = whole(&chat);
    let names: Vec<&str> = prompt.sections().iter().map(|s| s.name.as_str()).collect();
    assert_eq!(names, ["instructions", "mode"]);
}
