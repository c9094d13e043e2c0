//! `get_forecast`: a typed set of arguments, a typed result with a schema, errors with codes, and a
//! service of the host.

use outfitter::{Stream, ToolContext, ToolError, emit_tool_progress, tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::station::Station;

/// What is asked for.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct ForecastArguments {
    /// The name of the city.
    #[schemars(length(min = 1, max = 100))]
    pub city: String,
    /// How many days, today included.
    #[serde(default = "three")]
    #[schemars(range(min = 1, max = 7))]
    pub days: u8,
    /// The unit of the temperatures.
    #[serde(default)]
    pub unit: Unit,
}

/// A unit of temperature.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Degrees Celsius.
    #[default]
    Celsius,
    /// Degrees Fahrenheit.
    Fahrenheit,
}

/// What is expected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Forecast {
    /// The city, as it was asked for.
    pub city: String,
    /// The unit of the temperatures.
    pub unit: Unit,
    /// The days, today first.
    pub days: Vec<Day>,
}

/// One day of a forecast.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Day {
    /// The highest temperature.
    pub high: i32,
    /// The lowest temperature.
    pub low: i32,
}

fn three() -> u8 {
    3
}

/// Forecasts the weather of a city for up to seven days. For the weather now use get_weather.
#[tool(
    output = Forecast,
    min_role = "guest",
    timeout_seconds = 10,
    keywords("weather", "天气"),
    register = false
)]
pub async fn get_forecast(
    cx: &ToolContext,
    arguments: ForecastArguments,
) -> Result<Forecast, ToolError> {
    let ForecastArguments { city, days, unit } = arguments;
    let station = cx.service::<dyn Station>("weather station")?;
    let mut found = Vec::new();
    for ahead in 0..days {
        let reading = station
            .expect(&city, ahead)
            .ok_or_else(|| ToolError::not_found(format!("no station knows {city:?}")))?;
        let day = Day {
            high: unit.of_celsius(reading.high_c),
            low: unit.of_celsius(reading.low_c),
        };
        let line = format!("day {}: {} to {}\n", ahead + 1, day.low, day.high);
        emit_tool_progress(cx, &line, Stream::Info);
        found.push(day);
    }
    Ok(Forecast {
        city,
        unit,
        days: found,
    })
}

impl Unit {
    fn of_celsius(self, degrees: i32) -> i32 {
        match self {
            Self::Celsius => degrees,
            Self::Fahrenheit => degrees * 9 / 5 + 32,
        }
    }
}
