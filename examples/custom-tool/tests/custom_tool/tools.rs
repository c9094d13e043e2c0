//! The tools, called as the pipeline calls them but without one.

use std::path::Path;
use std::sync::{Arc, Mutex};

use custom_tool::Station;
use custom_tool::forecast::get_forecast;
use custom_tool::station::{Reading, Simulated};
use custom_tool::weather::get_weather;
use outfitter::{
    Code, Progress, ProgressSink, Reply, Stream, Tool, ToolContext, ToolError, testing,
};
use serde_json::{Value, json};

/// Gathers what a tool shows.
#[derive(Default)]
struct Shown(Mutex<Vec<u8>>);

impl ProgressSink for Shown {
    fn emit(&self, _: Stream, bytes: &[u8]) {
        self.0.lock().unwrap().extend_from_slice(bytes);
    }
}

async fn result(tool: &dyn Tool, cx: &ToolContext, args: Value) -> Result<Value, ToolError> {
    match tool.call(cx, args).await? {
        Reply::Done(outcome) => Ok(outcome.result),
        Reply::Wait(_) => panic!("these tools never wait"),
    }
}

fn context(root: &Path) -> ToolContext {
    let mut cx = testing::context(root).unwrap();
    cx.services = cx.services.with::<dyn Station>(Arc::new(Simulated));
    cx
}

#[tokio::test]
async fn get_weather_gives_a_value_and_says_what_it_does_meanwhile() {
    let root = tempfile::tempdir().unwrap();
    let shown = Arc::new(Shown::default());
    let mut cx = context(root.path());
    cx.progress = Progress::into(shown.clone());
    let weather = result(&*get_weather::tool(), &cx, json!({ "city": "Oslo" })).await;
    assert_eq!(
        weather.unwrap(),
        json!({ "city": "Oslo", "temp_c": 23, "condition": "sunny" })
    );
    let shown = String::from_utf8(shown.0.lock().unwrap().clone()).unwrap();
    assert_eq!(shown, "asking for the weather in Oslo\n");
}

#[tokio::test]
async fn the_function_behind_a_tool_stays_a_function() {
    let weather = get_weather(&ToolContext::detached(), "上海".to_owned()).await;
    assert_eq!((weather.city.as_str(), weather.temp_c), ("上海", 23));
}

#[tokio::test]
async fn a_typed_set_of_arguments_has_its_defaults() {
    let root = tempfile::tempdir().unwrap();
    let cx = context(root.path());
    let tool = get_forecast::tool();
    let celsius = result(&*tool, &cx, json!({ "city": "Oslo" })).await;
    assert_eq!(
        celsius.unwrap(),
        json!({ "city": "Oslo", "unit": "celsius", "days": [
            { "high": 14, "low": 6 }, { "high": 15, "low": 7 }, { "high": 16, "low": 8 },
        ] })
    );
    let args = json!({ "city": "Oslo", "days": 1, "unit": "fahrenheit" });
    let fahrenheit = result(&*tool, &cx, args).await;
    assert_eq!(
        fahrenheit.unwrap()["days"],
        json!([{ "high": 57, "low": 42 }])
    );
}

#[tokio::test]
async fn without_its_service_a_tool_is_unavailable() {
    let root = tempfile::tempdir().unwrap();
    let cx = testing::context(root.path()).unwrap();
    let error = result(&*get_forecast::tool(), &cx, json!({ "city": "Oslo" })).await;
    assert_eq!(error.unwrap_err().code(), Code::Unavailable);
}

#[tokio::test]
async fn an_error_of_a_tool_keeps_its_code() {
    struct Silent;
    impl Station for Silent {
        fn expect(&self, _: &str, _: u8) -> Option<Reading> {
            None
        }
    }
    let mut cx = ToolContext::detached();
    cx.services = cx.services.with::<dyn Station>(Arc::new(Silent));
    let error = result(&*get_forecast::tool(), &cx, json!({ "city": "Atlantis" })).await;
    let error = error.unwrap_err();
    assert_eq!(error.code(), Code::NotFound);
    assert_eq!(error.info().message, "no station knows \"Atlantis\"");
}
