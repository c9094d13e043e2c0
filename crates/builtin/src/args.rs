//! Arguments as values of their own types.

use outfitter_core::ToolError;
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer};
use serde_json::{Number, Value};

/// The arguments as `T`. They fit the schema already where they came through the pipeline.
pub(crate) fn parse<T: DeserializeOwned>(args: Value) -> Result<T, ToolError> {
    serde_json::from_value(args).map_err(|error| ToolError::invalid("", error.to_string()))
}

/// Refuses what no path, command or name may hold.
pub(crate) fn without_nul(text: &str, at: &str) -> Result<(), ToolError> {
    if text.contains('\0') {
        return Err(ToolError::invalid(at, "a NUL character cannot stand here"));
    }
    Ok(())
}

/// A whole number. JSON Schema says that `5.0` is one, so it is one here.
pub(crate) fn whole<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    const LARGEST_EXACT: f64 = 9_007_199_254_740_992.0;
    let number = Number::deserialize(deserializer)?;
    if let Some(whole) = number.as_u64() {
        return Ok(whole);
    }
    match number.as_f64() {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "checked to be whole, not negative and exact"
        )]
        Some(float) if float.fract() == 0.0 && (0.0..=LARGEST_EXACT).contains(&float) => {
            Ok(float as u64)
        }
        _ => Err(D::Error::custom(format!("{number} is not a whole number"))),
    }
}

/// A whole number or nothing.
pub(crate) fn maybe_whole<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<u64>, D::Error> {
    whole(deserializer).map(Some)
}

/// A size for this machine; one too large for it is as good as no limit.
pub(crate) fn to_usize(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;
    use serde_json::json;

    #[derive(Deserialize)]
    struct One {
        #[serde(deserialize_with = "whole")]
        n: u64,
    }

    #[rstest]
    #[case(json!({"n": 5}), Some(5))]
    #[case(json!({"n": 5.0}), Some(5))]
    #[case(json!({"n": 5.5}), None)]
    #[case(json!({"n": -1}), None)]
    #[case(json!({"n": 1e300}), None)]
    #[case(json!({"n": "5"}), None)]
    fn a_whole_number_may_be_written_with_a_point(#[case] args: Value, #[case] whole: Option<u64>) {
        assert_eq!(parse::<One>(args).ok().map(|one| one.n), whole);
    }
}
