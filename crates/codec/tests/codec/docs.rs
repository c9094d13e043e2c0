//! The pages of `docs/protocols/` say what is true: every example is read by the schemas, and the
//! runs are those the encoder writes.
//!
//! A fence of JSON names its schema: ```` ```json event ````, `json tool-output`, `json ui-hints` and
//! so on. A fence of a whole run is ```` ```ndjson ```` or ```` ```sse ````; one of hints is followed
//! by the result they are bound to and by what they compile to; ```` ```input ```` is a client's.

use outfitter_codec::agui::{ClientEra, RunAgentInput, Transcript};
use outfitter_codec::ui::compile_hints;
use outfitter_codec::{Watched, check_lines};
use outfitter_core::UiHints;
use serde_json::Value;

use crate::agui::{encoded, frame, frames};
use crate::samples::{lines, run, waiting_run};
use crate::schemas::{assert_fits, closed, protocols};

struct Example {
    page: &'static str,
    info: String,
    text: String,
}

fn examples() -> Vec<Example> {
    ["events.md", "tool-output.md", "ag-ui.md", "ui-schema.md"]
        .into_iter()
        .flat_map(|page| {
            let text = std::fs::read_to_string(protocols().join(page)).unwrap();
            fences(page, &text)
        })
        .collect()
}

fn fences(page: &'static str, text: &str) -> Vec<Example> {
    let mut found = Vec::new();
    let mut open: Option<Example> = None;
    for line in text.lines() {
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(info)) => {
                open = Some(Example {
                    page,
                    info: info.to_owned(),
                    text: String::new(),
                });
            }
            (Some(_), Some(_)) => found.extend(open.take()),
            (Some(example), None) => {
                example.text.push_str(line);
                example.text.push('\n');
            }
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "{page} ends inside an example");
    found
}

#[test]
fn every_json_example_fits_the_schema_it_names() {
    let mut count = 0;
    for Example { page, info, text } in examples() {
        let Some(kind) = info.strip_prefix("json") else {
            continue;
        };
        let name = kind.trim();
        assert!(
            !name.is_empty(),
            "{page}: an example names no schema\n{text}"
        );
        assert_fits(&closed(&format!("{name}.schema.json")), &text);
        count += 1;
    }
    assert!(count >= 12, "only {count} examples were found");
}

#[test]
fn the_runs_in_the_page_are_what_the_encoder_writes() {
    let shown: Vec<String> = examples()
        .into_iter()
        .filter(|example| example.info == "ndjson")
        .map(|example| example.text)
        .collect();
    assert_eq!(shown, [lines(&run()), lines(&waiting_run())]);
    for text in shown {
        assert_eq!(check_lines(Watched::Live, &text), Ok(()));
    }
}

#[test]
fn every_type_of_line_has_its_heading() {
    let page = std::fs::read_to_string(protocols().join("events.md")).unwrap();
    for line in lines(&crate::samples::every_kind()).lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let heading = format!("\n### {}\n", line["type"].as_str().unwrap());
        assert!(page.contains(&heading), "{heading}");
    }
}

#[test]
fn the_ag_ui_runs_in_the_page_are_what_the_encoder_writes() {
    let shown: Vec<String> = examples()
        .into_iter()
        .filter(|example| example.info == "sse")
        .map(|example| example.text)
        .collect();
    let told = |events: &[outfitter_core::Event]| {
        let one = frame("r1", ClientEra::One);
        frames(&encoded(one, Transcript::new(), events))
    };
    assert_eq!(shown, [told(&run()), told(&waiting_run())]);
}

#[test]
fn the_inputs_in_the_page_are_read() {
    let inputs: Vec<RunAgentInput> = examples()
        .into_iter()
        .filter(|example| example.info == "input")
        .map(|example| RunAgentInput::parse(example.text.as_bytes()).unwrap())
        .collect();
    assert_eq!(inputs.len(), 2);
    assert_eq!(inputs[0].new_user_messages(|_| false)[0].text, "Say hello.");
    assert_eq!(inputs[1].resume.len(), 1);
}

/// Hints, a result, and the schema they make: the page shows all three.
#[test]
fn the_hints_in_the_page_compile_to_what_it_shows() {
    let read = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    let examples = examples();
    let mut shown = 0;
    for triple in examples.windows(3) {
        if triple[1].info == "result" {
            assert_eq!(
                [&*triple[0].info, &*triple[2].info],
                ["json ui-hints", "json ui-schema"]
            );
            let made = compile_hints(&UiHints(read(&triple[0].text)), &read(&triple[1].text));
            let made = serde_json::to_value(made).unwrap();
            assert_eq!(made, read(&triple[2].text), "{made}");
            shown += 1;
        }
    }
    assert_eq!(shown, 3);
}

#[test]
fn every_ag_ui_event_and_every_template_is_in_its_page() {
    for (page, name, forms, word) in [
        ("ag-ui.md", "agui-event", "/oneOf", "type"),
        ("ui-schema.md", "ui-hints", "/$defs/Hints/oneOf", "template"),
        ("ui-schema.md", "ui-schema", "/$defs/Node/oneOf", "kind"),
    ] {
        let text = std::fs::read_to_string(protocols().join(page)).unwrap();
        let name = format!("{name}.schema.json");
        let schemas = outfitter_codec::schema_files();
        let schema = schemas.iter().find(|file| file.name == name).unwrap();
        let forms = schema.schema.pointer(forms).unwrap().as_array().unwrap();
        assert!(forms.len() >= 11, "{name}: {}", forms.len());
        for form in forms {
            let word = form["properties"][word]["const"].as_str().unwrap();
            assert!(text.contains(&format!("`{word}`")), "{page} lacks {word}");
        }
    }
}
