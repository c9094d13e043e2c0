//! Event lines, held to their schema and their order.

use std::sync::OnceLock;

use jsonschema::Validator;
use outfitter_codec::{Watched, check_lines};
use serde_json::Value;

/// The event lines of one or more runs.
#[derive(Debug)]
pub(crate) struct Lines(Vec<Value>);

impl Lines {
    /// Lines as they were told while a run was made.
    #[track_caller]
    pub(crate) fn live(text: &str) -> Self {
        let lines = Self::of(text, Watched::Live);
        let last = lines.0.last().unwrap();
        assert_eq!(last["type"], "run_finished", "{text}");
        assert_eq!(lines.all("run_finished").len(), 1, "{text}");
        lines
    }

    /// Lines as they were told while a turn was made that waited in between: all its runs but the
    /// last ended waiting.
    #[track_caller]
    pub(crate) fn live_turn(text: &str) -> Self {
        let lines = Self::of(text, Watched::Live);
        let ends: Vec<_> = lines.all("run_finished");
        let (last, before) = ends.split_last().unwrap();
        assert_eq!(*last, lines.finished(), "{text}");
        assert!(
            before.iter().all(|end| end["outcome"] == "waiting"),
            "{text}"
        );
        lines
    }

    /// Lines of a log.
    #[track_caller]
    pub(crate) fn replayed(text: &str) -> Self {
        Self::of(text, Watched::Replayed)
    }

    #[track_caller]
    fn of(text: &str, watched: Watched) -> Self {
        assert!(text.ends_with('\n'), "{text:?}");
        check_lines(watched, text).unwrap_or_else(|fault| panic!("{fault}: {text}"));
        let lines = text.lines().map(|line| {
            let value: Value = serde_json::from_str(line).unwrap();
            assert_fits("event.schema.json", &value);
            value
        });
        Self(lines.collect())
    }

    /// The lines of a type.
    pub(crate) fn all(&self, kind: &str) -> Vec<&Value> {
        self.0.iter().filter(|line| line["type"] == kind).collect()
    }

    pub(crate) fn finished(&self) -> &Value {
        self.0.last().unwrap()
    }

    pub(crate) fn outcome(&self) -> &str {
        self.finished()["outcome"].as_str().unwrap()
    }

    /// The code of the error that the run ended with.
    pub(crate) fn code(&self) -> &str {
        self.finished()["output"]["error"]["code"]
            .as_str()
            .unwrap_or_default()
    }

    pub(crate) fn answer(&self) -> &str {
        self.finished()["output"]["answer"].as_str().unwrap()
    }

    /// The deltas of a kind, put together.
    pub(crate) fn deltas(&self, kind: &str) -> String {
        let deltas = self.all("delta").into_iter();
        deltas
            .filter(|line| line["kind"] == kind)
            .map(|line| line["text"].as_str().unwrap())
            .collect()
    }

    /// What a stream of a call printed.
    pub(crate) fn progress(&self, stream: &str) -> String {
        let pieces = self.all("tool_progress").into_iter();
        pieces
            .filter(|line| line["stream"] == stream)
            .map(|line| line["text"].as_str().unwrap())
            .collect()
    }

    /// The messages of a role.
    pub(crate) fn messages(&self, role: &str) -> Vec<&Value> {
        let messages = self.all("message").into_iter();
        messages
            .map(|line| &line["message"])
            .filter(|message| message["role"] == role)
            .collect()
    }

    /// The result documents of the calls, as they finished.
    pub(crate) fn outputs(&self) -> Vec<&Value> {
        let results = self.messages("tool").into_iter();
        results
            .map(|message| &message["metadata"]["tool_agent_output"])
            .collect()
    }

    /// The warnings, by code.
    pub(crate) fn warnings(&self) -> Vec<&str> {
        let warnings = self.all("warning").into_iter();
        warnings
            .map(|line| line["code"].as_str().unwrap())
            .collect()
    }
}

/// Fails the test unless the value fits one of the published schemas.
#[track_caller]
pub(crate) fn assert_fits(schema: &str, value: &Value) {
    static SCHEMAS: OnceLock<Vec<(String, Validator)>> = OnceLock::new();
    let schemas = SCHEMAS.get_or_init(|| {
        let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/protocols");
        let files = std::fs::read_dir(dir).unwrap().flatten();
        files
            .filter(|file| file.path().extension().is_some_and(|is| is == "json"))
            .map(|file| {
                let text = std::fs::read_to_string(file.path()).unwrap();
                let schema: Value = serde_json::from_str(&text).unwrap();
                let name = file.file_name().to_string_lossy().into_owned();
                (name, jsonschema::validator_for(&schema).unwrap())
            })
            .collect()
    });
    let (_, validator) = schemas.iter().find(|(name, _)| name == schema).unwrap();
    if let Err(error) = validator.validate(value) {
        panic!("{error} at {}: {value}", error.instance_path());
    }
}
