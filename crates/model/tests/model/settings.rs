//! What a person sets, and what they are told when it is not enough.

use outfitter_core::{Code, ModelError};
use outfitter_model::{ModelSettings, PROVIDERS, ToolMode, Wire};
use rstest::rstest;
use secrecy::SecretString;

use crate::common::{KEY, ask, hello, settings};
use crate::fake::{Fake, json};

fn refused(settings: ModelSettings) -> (String, String) {
    let Err(error) = settings.build() else {
        panic!("it was built")
    };
    assert_eq!(error.code(), Code::Usage);
    let ModelError::Setup { message, hint } = error else {
        panic!("{error}")
    };
    (message, hint.unwrap_or_default())
}

#[test]
fn a_missing_key_names_its_variable() {
    let (message, hint) = refused(ModelSettings::of("anthropic"));
    assert_eq!(message, "there is no key for anthropic");
    assert!(hint.contains("ANTHROPIC_API_KEY"), "{hint}");
    let (_, hint) = refused(ModelSettings {
        api_key: Some(SecretString::from(" \n")),
        api_key_env: Some("MY_KEY".into()),
        ..ModelSettings::of("openai")
    });
    assert!(hint.contains("MY_KEY"), "{hint}");
}

#[test]
fn an_unknown_provider_lists_the_known_ones() {
    let (message, hint) = refused(ModelSettings::of("opnai"));
    assert_eq!(message, "there is no provider \"opnai\"");
    assert!(
        PROVIDERS.iter().all(|row| hint.contains(row.name)),
        "{hint}"
    );
}

#[rstest]
#[case("not a url")]
#[case("ftp://h/v1")]
#[case("")]
fn a_base_url_that_is_none_is_refused_without_showing_it(#[case] url: &str) {
    let (message, hint) = refused(settings("openai", url.to_owned()));
    assert!(
        message.contains("base_url") && hint.contains("http://"),
        "{message} {hint}"
    );
}

#[test]
fn a_script_needs_a_file_that_is_there() {
    let (message, _) = refused(ModelSettings::of("scripted"));
    assert_eq!(message, "the scripted model has no script");
    let (message, _) = refused(ModelSettings {
        script: Some("/nowhere/script.yaml".into()),
        ..ModelSettings::of("scripted")
    });
    assert!(message.contains("/nowhere/script.yaml"), "{message}");
}

#[tokio::test]
async fn a_script_is_read_from_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("script.yaml");
    std::fs::write(&file, "- { expect: hello, text: hi }\n").unwrap();
    let model = ModelSettings {
        script: Some(file.clone()),
        ..ModelSettings::of("scripted")
    };
    let model = model.build().unwrap();
    assert_eq!(model.info().label(), "scripted/script");
    assert_eq!(ask(&model, hello()).await.whole().text(), "hi");
    std::fs::write(&file, "- text: a\n  txet: b\n").unwrap();
    let (message, _) = refused(ModelSettings {
        script: Some(file),
        ..ModelSettings::of("scripted")
    });
    assert!(
        message.contains("line 2") && message.contains("script.yaml"),
        "{message}"
    );
}

#[test]
fn every_provider_of_the_table_can_be_built() {
    for row in PROVIDERS.iter().filter(|row| row.wire != Wire::Scripted) {
        let model = ModelSettings {
            api_key: row.api_key_env.map(|_| SecretString::from(KEY)),
            name: row.model.is_empty().then(|| "m".to_owned()),
            base_url: row.base_url.is_empty().then(|| "http://h/v1".to_owned()),
            ..ModelSettings::of(row.name)
        };
        let model = model.build().unwrap();
        assert_eq!(model.info().provider, row.name);
    }
}

#[test]
fn vertex_wants_its_address_and_a_key() {
    let (message, hint) = refused(ModelSettings {
        name: Some("gemini-x".into()),
        ..ModelSettings::of("vertex")
    });
    assert_eq!(message, "vertex has an address per project and region");
    assert!(hint.contains("projects/PROJECT/locations/REGION"));
    let (message, _) = refused(ModelSettings {
        name: Some("gemini-x".into()),
        base_url: Some("http://h/v1".into()),
        ..ModelSettings::of("vertex")
    });
    assert_eq!(message, "there is no key for vertex");
}

#[test]
fn a_reply_is_held_to_a_schema_only_where_the_wire_can() {
    for provider in ["anthropic", "openai-responses", "gemini-native"] {
        let (message, _) = refused(ModelSettings {
            api_key: Some(SecretString::from(KEY)),
            tool_mode: ToolMode::JsonSchema,
            ..ModelSettings::of(provider)
        });
        assert!(
            message.contains("does not hold replies to a schema"),
            "{message}"
        );
    }
}

#[test]
fn the_key_is_not_printed() {
    assert!(!format!("{:?}", settings("openai", "http://h".into())).contains(KEY));
}

const WHOLE: &str = r#"{"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}]}"#;

#[tokio::test]
async fn the_key_goes_where_the_wire_has_it() {
    let fake = Fake::start([
        json("200 OK", WHOLE),
        json("200 OK", r#"{"content":[],"stop_reason":"end_turn"}"#),
        json("200 OK", WHOLE),
    ])
    .await;
    for provider in ["openai", "anthropic"] {
        let mut settings = settings(provider, fake.url("/base/v1/"));
        settings.api_key = Some(SecretString::from(format!("{KEY}\n")));
        ask(&settings.build().unwrap(), hello()).await.whole();
    }
    let local = ModelSettings {
        base_url: Some(fake.url("")),
        ..ModelSettings::of("openai")
    };
    ask(&local.build().unwrap(), hello()).await.whole();
    let received = fake.received();
    assert_eq!(received[0].path, "/base/v1/chat/completions");
    assert_eq!(
        received[0].header("authorization"),
        Some("Bearer sk-secret")
    );
    assert_eq!(received[1].path, "/base/v1/messages");
    assert_eq!(received[1].header("x-api-key"), Some(KEY));
    assert_eq!(received[1].header("authorization"), None);
    assert_eq!(received[1].header("anthropic-version"), Some("2023-06-01"));
    assert_eq!(received[2].path, "/v1/chat/completions");
    assert_eq!(
        received[2].header("authorization"),
        None,
        "a server of one's own needs no key"
    );
}

#[tokio::test]
async fn a_model_name_is_sent_as_it_is() {
    let fake = Fake::start([json("200 OK", WHOLE)]).await;
    let mut settings = settings("openai", fake.url(""));
    settings.name = Some("qwen-max".into());
    ask(&settings.build().unwrap(), hello()).await.whole();
    assert_eq!(fake.received()[0].json()["model"], "qwen-max");
}

#[test]
fn a_key_that_no_header_can_carry_is_a_setting_to_correct() {
    let mut settings = settings("openai", "http://h".into());
    settings.api_key = Some(SecretString::from("two\nlines"));
    let (message, _) = refused(settings);
    assert!(!message.contains("lines"), "{message}");
}
