//! What a string spells.

use outfitter_core::parse_strict;
use serde_json::{Number, Value};

/// What a place takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Boolean,
    Integer,
    Number,
    Array,
    Object,
}

/// Beyond it a float does not tell whole numbers apart.
const LARGEST_EXACT: f64 = 9_007_199_254_740_992.0;

/// The value of this kind that a text spells, all of it, with nothing lost.
pub(super) fn spelled(text: &str, kind: Kind) -> Option<Value> {
    match kind {
        Kind::Boolean => match text {
            "true" => Some(Value::Bool(true)),
            "false" => Some(Value::Bool(false)),
            _ => None,
        },
        Kind::Integer => integer(number(text)?),
        Kind::Number => number(text).map(Value::Number),
        // Space around them means nothing, and keys given twice or integers that no machine holds
        // would lose something.
        Kind::Array => parse_strict(text).ok().filter(Value::is_array),
        Kind::Object => parse_strict(text).ok().filter(Value::is_object),
    }
}

/// A number as JSON writes it (RFC 8259, section 6), if we can hold exactly that one.
fn number(text: &str) -> Option<Number> {
    let begins = text.starts_with(|first: char| first == '-' || first.is_ascii_digit());
    let ends = text.ends_with(|last: char| last.is_ascii_digit());
    if !begins || !ends {
        return None;
    }
    match parse_strict(text) {
        Ok(Value::Number(number)) if is_exactly(&number, text) => Some(number),
        _ => None,
    }
}

/// A whole number, however it is written: `5.0` and `5e0` are 5 (JSON Schema, section 6.1.1).
fn integer(number: Number) -> Option<Value> {
    if number.is_i64() || number.is_u64() {
        return Some(Value::Number(number));
    }
    let float = number.as_f64()?;
    if float.fract() != 0.0 || float.abs() > LARGEST_EXACT {
        return None;
    }
    #[expect(
        clippy::cast_possible_truncation,
        reason = "it is whole and within what a float holds exactly"
    )]
    let whole = float as i64;
    Some(whole.into())
}

/// Whether a number that was read from a text is that of the text. An integer is, or would not
/// have been read; of a float more digits may be written than it holds.
fn is_exactly(number: &Number, text: &str) -> bool {
    if number.is_i64() || number.is_u64() {
        return true;
    }
    let Some(float) = number.as_f64() else {
        return false;
    };
    // Where two decimals are equally short and equally near, writers differ in which they take.
    let text = Decimal::of(text);
    text.is_some()
        && (text == Decimal::of(&format!("{float:e}")) || text == Decimal::of(&number.to_string()))
}

/// A decimal number in the one form that each has: its sign, its digits without zeros around
/// them, and the place of the last one.
#[derive(Debug, PartialEq, Eq)]
struct Decimal {
    negative: bool,
    digits: String,
    exponent: i64,
}

impl Decimal {
    fn of(text: &str) -> Option<Self> {
        let (negative, text) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (digits, exponent) = match text.split_once(['e', 'E']) {
            Some((digits, exponent)) => (digits, exponent.parse::<i64>().ok()?),
            None => (text, 0),
        };
        let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
        let places = i64::try_from(part.len()).ok()?;
        let all = format!("{whole}{part}");
        let kept = all.trim_end_matches('0');
        let dropped = i64::try_from(all.len() - kept.len()).ok()?;
        let digits = kept.trim_start_matches('0').to_owned();
        let exponent = match digits.as_str() {
            "" => 0,
            _ => exponent.checked_sub(places)?.checked_add(dropped)?,
        };
        Some(Self {
            negative,
            digits,
            exponent,
        })
    }
}
