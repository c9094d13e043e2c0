//! `get_weather`: parameters, a value, and progress.

use outfitter::{Stream, ToolContext, emit_tool_progress, tool};
use serde::Serialize;

/// The weather of a city.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Weather {
    /// The city, as it was asked for.
    pub city: String,
    /// The temperature in degrees Celsius.
    pub temp_c: i32,
    /// In a word.
    pub condition: &'static str,
}

/// Looks up the weather of a city.
///
/// The name and the description that a model reads stand in the attribute; without them they would
/// be the function's name and this comment.
#[tool(
    name = "get_weather",
    description = "按城市名查询天气",
    min_role = "guest"
)]
pub async fn get_weather(
    cx: &ToolContext,
    /// The name of the city, in any language.
    city: String,
) -> Weather {
    let line = format!("asking for the weather in {city}\n");
    emit_tool_progress(cx, &line, Stream::Info);
    Weather {
        city,
        temp_c: 23,
        condition: "sunny",
    }
}
