//! Decimals of bounded size.

use std::str::FromStr;

use bigdecimal::num_bigint::Sign;
use bigdecimal::{BigDecimal, RoundingMode, Zero};
use outfitter_core::{Code, ToolError};
use serde::Deserialize;
use serde_json::Value;

/// How many digits a number may have, those that an exponent stands for included.
const MAX_DIGITS: u64 = 4000;

/// How many significant digits of a quotient that never ends are given.
const QUOTIENT_DIGITS: u64 = 40;

/// What can be done with two numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Operation {
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`
    Divide,
    /// `%`, with the sign of the left number
    Modulo,
    /// `^`
    Power,
}

/// A number, and whether a quotient on the way to it was rounded.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Result {
    pub(super) value: BigDecimal,
    pub(super) rounded: bool,
}

/// Reads digits with an optional sign, point and exponent.
pub(super) fn read(text: &str) -> std::result::Result<BigDecimal, String> {
    let refusal = || format!("{text:?} is not a number of at most {MAX_DIGITS} digits");
    let text = text.trim();
    if let Some(at) = text.find(['e', 'E']) {
        let exponent: i64 = text[at + 1..].parse().map_err(|_| refusal())?;
        if exponent.unsigned_abs() > MAX_DIGITS {
            return Err(refusal());
        }
    }
    let plain = |c: char| c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E' | '+' | '-');
    if text.len() as u64 > MAX_DIGITS || !text.chars().all(plain) {
        return Err(refusal());
    }
    let value = BigDecimal::from_str(text).map_err(|_| refusal())?;
    if size(&value) > MAX_DIGITS {
        return Err(refusal());
    }
    Ok(value)
}

impl Result {
    pub(super) fn exact(value: BigDecimal) -> Self {
        Self {
            value,
            rounded: false,
        }
    }

    pub(super) fn negated(self) -> Self {
        Self {
            value: -self.value,
            rounded: self.rounded,
        }
    }

    pub(super) fn apply(
        self,
        operation: Operation,
        right: Self,
    ) -> std::result::Result<Self, ToolError> {
        let (left, exponent_rounded) = (self.value, right.rounded);
        let rounded = self.rounded || exponent_rounded;
        let right = right.value;
        let (value, rounds) = match operation {
            Operation::Add => (left + right, false),
            Operation::Subtract => (left - right, false),
            Operation::Multiply => (left * right, false),
            Operation::Divide => divide(&left, &right)?,
            Operation::Modulo => {
                refuse_zero(&right)?;
                (left % right, false)
            }
            Operation::Power => power(left, &right)?,
        };
        let value = value.normalized();
        if size(&value) > MAX_DIGITS {
            return Err(too_large());
        }
        Ok(Self {
            value,
            rounded: rounded || rounds,
        })
    }
}

/// A JSON number where it says exactly this, else the digits.
pub(super) fn to_json(value: &BigDecimal) -> Value {
    let text = value.normalized().to_plain_string();
    if let Ok(whole) = text.parse::<i64>() {
        return whole.into();
    }
    if let Ok(float) = text.parse::<f64>()
        && float.is_finite()
        && !value.is_integer()
        && BigDecimal::from_str(&float.to_string()).is_ok_and(|read| read == *value)
    {
        return float.into();
    }
    text.into()
}

/// The digits a number is written with when it is written out.
fn size(value: &BigDecimal) -> u64 {
    value.digits() + value.fractional_digit_count().unsigned_abs()
}

fn refuse_zero(divisor: &BigDecimal) -> std::result::Result<(), ToolError> {
    if divisor.is_zero() {
        return Err(ToolError::failed("division by zero"));
    }
    Ok(())
}

fn divide(
    left: &BigDecimal,
    right: &BigDecimal,
) -> std::result::Result<(BigDecimal, bool), ToolError> {
    refuse_zero(right)?;
    let quotient = (left / right).normalized();
    if &quotient * right == *left {
        return Ok((quotient, false));
    }
    let Some(digits) = std::num::NonZeroU64::new(QUOTIENT_DIGITS) else {
        return Ok((quotient, true));
    };
    Ok((
        quotient.with_precision_round(digits, RoundingMode::HalfEven),
        true,
    ))
}

fn power(
    base: BigDecimal,
    exponent: &BigDecimal,
) -> std::result::Result<(BigDecimal, bool), ToolError> {
    if !exponent.is_integer() {
        return Err(ToolError::failed("an exponent must be a whole number"));
    }
    let times: u64 = exponent
        .abs()
        .to_plain_string()
        .parse()
        .ok()
        .filter(|times| *times <= MAX_DIGITS * 4)
        .ok_or_else(too_large)?;
    let size_at_most = size(&base.normalized()).saturating_mul(times);
    let trivial = base.is_zero() || base.abs() == 1;
    if !trivial && size_at_most > MAX_DIGITS * 4 {
        return Err(too_large());
    }
    let mut value = BigDecimal::from(1);
    let mut square = base;
    let mut left = times;
    while left > 0 {
        if left % 2 == 1 {
            value *= &square;
        }
        left /= 2;
        if left > 0 {
            square = square.square();
        }
    }
    if exponent.sign() == Sign::Minus {
        return divide(&BigDecimal::from(1), &value);
    }
    Ok((value, false))
}

fn too_large() -> ToolError {
    ToolError::new(
        Code::TooLarge,
        format!("a number on the way would have more than {MAX_DIGITS} digits"),
    )
}
