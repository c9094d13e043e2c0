//! The pages of `docs/protocols/` say what is true: every example is read by the schemas, and the
//! runs are those the encoder writes.
//!
//! A fence of JSON names its schema: ```` ```json event ````, `json tool-output`, `json tool-list`
//! or `json error`. A fence of a whole run is ```` ```ndjson ````.

use outfitter_codec::{Watched, check_lines};

use crate::samples::{lines, run, waiting_run};
use crate::schemas::{assert_fits, closed, protocols};

struct Example {
    page: &'static str,
    info: String,
    text: String,
}

fn examples() -> Vec<Example> {
    ["events.md", "tool-output.md"]
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
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        let heading = format!("\n### {}\n", line["type"].as_str().unwrap());
        assert!(page.contains(&heading), "{heading}");
    }
}
