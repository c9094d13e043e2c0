//! `calculator`: exact decimal arithmetic.

mod evaluate;
mod number;

use async_trait::async_trait;
use outfitter_core::{Effects, Outcome, Reply, Tool, ToolContext, ToolError, ToolSpec};
use serde::Deserialize;
use serde_json::{Number, Value, json};

use crate::args;
use crate::spec::{Words, object, spec};
use number::{Operation, Result as Computed};

/// The longest expression.
const MAX_EXPRESSION_CHARS: usize = 1000;

const WORDS: Words<'static> = Words {
    name: "calculator",
    description: "Computes with exact decimals: an expression with + - * / % ^ and parentheses, or \
        one operation on two numbers. Use it for every calculation whose result matters (money, \
        totals, percentages) instead of computing in your head. It knows no variables, functions, \
        units or dates: for the date use current_time. A quotient that does not end within 100 digits is \
        rounded to 40 and says so.",
    keywords: &[
        "math",
        "arithmetic",
        "calculate",
        "compute",
        "add",
        "subtract",
        "multiply",
        "divide",
        "modulo",
        "power",
        "percent",
        "计算",
        "计算器",
        "算术",
        "数学",
        "加减乘除",
        "求和",
    ],
};

/// Computes. A number in a result is a JSON number where that is exact, else a string of digits.
#[derive(Debug)]
pub struct Calculator {
    spec: ToolSpec,
}

impl Default for Calculator {
    fn default() -> Self {
        let operand = |side: &str| {
            json!({
                "type": ["number", "string"],
                "description": format!("The {side} operand, with operation; a string keeps every digit."),
            })
        };
        let input = object(
            &[],
            json!({
                "expression": {
                    "type": "string", "minLength": 1, "maxLength": MAX_EXPRESSION_CHARS,
                    "description": "What to compute, for example (19.99 * 3 - 5) / 2. ^ is power with a whole exponent, % is the remainder. Either this or operation, left and right.",
                },
                "operation": {
                    "type": "string",
                    "enum": ["add", "subtract", "multiply", "divide", "modulo", "power"],
                    "description": "One operation on left and right, instead of expression.",
                },
                "left": operand("left"),
                "right": operand("right"),
            }),
        );
        let output = object(
            &["value"],
            json!({
                "value": {
                    "type": ["number", "string"],
                    "description": "A JSON number where that is exact, else the digits as a string.",
                },
                "rounded": { "const": true, "description": "There when a quotient on the way did not end." },
            }),
        );
        Self {
            spec: ToolSpec {
                effects: Effects::NONE,
                idempotent: true,
                ..spec(&WORDS, input, output)
            },
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    expression: Option<String>,
    operation: Option<Operation>,
    left: Option<Operand>,
    right: Option<Operand>,
}

/// A number as JSON has it, or its digits.
#[derive(Deserialize)]
#[serde(try_from = "Value")]
struct Operand(String);

impl TryFrom<Value> for Operand {
    type Error = String;

    fn try_from(value: Value) -> Result<Self, String> {
        match value {
            Value::Number(number) => Ok(Self(Number::to_string(&number))),
            Value::String(digits) => Ok(Self(digits)),
            other => Err(format!("{other} is not a number")),
        }
    }
}

#[async_trait]
impl Tool for Calculator {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, _: &ToolContext, args: Value) -> Result<Reply, ToolError> {
        Ok(Outcome::json(calculate(args)?).into())
    }
}

fn calculate(args: Value) -> Result<Value, ToolError> {
    let args: Args = args::parse(args)?;
    let computed = match args {
        Args {
            expression: Some(expression),
            operation: None,
            left: None,
            right: None,
        } => {
            if expression.chars().count() > MAX_EXPRESSION_CHARS {
                return Err(ToolError::invalid(
                    "/expression",
                    format!("the expression has more than {MAX_EXPRESSION_CHARS} characters"),
                ));
            }
            evaluate::evaluate(&expression)?
        }
        Args {
            expression: None,
            operation: Some(operation),
            left: Some(left),
            right: Some(right),
        } => {
            let left = number::read(&left.0).map_err(|why| ToolError::invalid("/left", why))?;
            let right = number::read(&right.0).map_err(|why| ToolError::invalid("/right", why))?;
            Computed::exact(left).apply(operation, Computed::exact(right))?
        }
        _ => {
            return Err(ToolError::invalid(
                "",
                "give either expression alone, or operation with left and right",
            ));
        }
    };
    let mut result = json!({ "value": number::to_json(&computed.value) });
    if computed.rounded {
        result["rounded"] = Value::Bool(true);
    }
    Ok(result)
}

#[cfg(test)]
mod tests {
    use super::*;
    use outfitter_core::Code;
    use rstest::rstest;

    #[rstest]
    #[case("1 + 2 * 3", json!(7))]
    #[case("(1 + 2) * 3", json!(9))]
    #[case("0.1 + 0.2", json!(0.3))]
    #[case("-2 ^ 2", json!(-4))]
    #[case("(-2) ^ 2", json!(4))]
    #[case("2 ^ 3 ^ 2", json!(512))]
    #[case("2 ** -2", json!(0.25))]
    #[case("2^-1", json!(0.5))]
    #[case("7 % 3", json!(1))]
    #[case("-7 % 3", json!(-1))]
    #[case("10 - 4 - 3", json!(3))]
    #[case("100 / 8", json!(12.5))]
    #[case("3 × 4 ÷ 2 − 1", json!(5))]
    #[case("--5", json!(5))]
    #[case("+5", json!(5))]
    #[case("1.50", json!(1.5))]
    #[case("1e3", json!(1000))]
    #[case("1.5E-3", json!(0.0015))]
    #[case(".5", json!(0.5))]
    #[case("0 * -1", json!(0))]
    #[case("9223372036854775807", json!(9_223_372_036_854_775_807_i64))]
    #[case("9223372036854775807 + 1", json!("9223372036854775808"))]
    #[case("0.1234567890123456789", json!("0.1234567890123456789"))]
    #[case("2^100", json!("1267650600228229401496703205376"))]
    fn an_expression_is_computed_exactly(#[case] expression: &str, #[case] value: Value) {
        assert_eq!(
            calculate(json!({"expression": expression})).unwrap(),
            json!({"value": value})
        );
    }

    #[rstest]
    #[case("add", json!(0.1), json!(0.2), json!(0.3))]
    #[case("subtract", json!(1), json!("0.9"), json!(0.1))]
    #[case("multiply", json!(-3), json!(4), json!(-12))]
    #[case("divide", json!(1), json!(4), json!(0.25))]
    #[case("modulo", json!(10), json!(4), json!(2))]
    #[case("power", json!(2), json!(10), json!(1024))]
    fn an_operation_is_computed_exactly(
        #[case] operation: &str,
        #[case] left: Value,
        #[case] right: Value,
        #[case] value: Value,
    ) {
        let args = json!({"operation": operation, "left": left, "right": right});
        assert_eq!(calculate(args).unwrap(), json!({"value": value}));
    }

    #[test]
    fn a_quotient_that_never_ends_says_that_it_is_rounded() {
        let result = calculate(json!({"expression": "2 / 3"})).unwrap();
        assert_eq!(
            result,
            json!({"value": format!("0.{}7", "6".repeat(39)), "rounded": true})
        );
    }

    #[rstest]
    #[case("1 / 0")]
    #[case("1 % 0")]
    #[case("5 / (3 - 3)")]
    #[case("0 ^ -1")]
    fn division_by_zero_is_an_error(#[case] expression: &str) {
        let error = calculate(json!({"expression": expression})).unwrap_err();
        assert_eq!(error.code(), Code::Failed);
        assert_eq!(error.to_string(), "division by zero");
    }

    #[rstest]
    #[case("9^9^9")]
    #[case("9^9^9^9^9^9")]
    #[case("10^10001")]
    #[case("1e99999999999999999999")]
    #[case("1e5000")]
    #[case("(1e999)^999")]
    #[case("2^1000000")]
    fn what_would_not_end_is_refused(#[case] expression: &str) {
        let error = calculate(json!({"expression": expression})).unwrap_err();
        assert!(
            matches!(error.code(), Code::TooLarge | Code::InvalidArguments),
            "{error}"
        );
    }

    #[test]
    fn deep_nesting_is_refused_and_does_not_overflow() {
        for opening in ["(", "-"] {
            let expression = format!("{}1", opening.repeat(990));
            let error = calculate(json!({"expression": expression})).unwrap_err();
            assert_eq!(error.code(), Code::InvalidArguments, "{opening}");
        }
        let error = calculate(json!({"expression": "1".repeat(1001)})).unwrap_err();
        assert_eq!(error.code(), Code::InvalidArguments);
    }

    #[rstest]
    #[case("", "nothing to compute")]
    #[case("1 +", "the expression ends where a number is expected")]
    #[case("1 2", "\"2\" at character 3 is not expected there")]
    #[case("(1", "a closing parenthesis is missing")]
    #[case("1)", "\")\" at character 2 is not expected there")]
    #[case("sin(1)", "\"s\" at character 1 is not expected there")]
    #[case("1.2.3", "\".\" at character 4 is not expected there")]
    #[case("5%", "the expression ends where a number is expected")]
    fn a_broken_expression_says_where(#[case] expression: &str, #[case] message: &str) {
        let error = calculate(json!({"expression": expression})).unwrap_err();
        assert_eq!(error.code(), Code::InvalidArguments);
        assert_eq!(error.to_string(), message);
        assert_eq!(error.info().path.as_deref(), Some("/expression"));
    }

    #[rstest]
    #[case(json!({}))]
    #[case(json!({"expression": "1", "left": 2}))]
    #[case(json!({"operation": "add", "left": 2}))]
    #[case(json!({"operation": "add", "left": 2, "right": "two"}))]
    #[case(json!({"expression": "1", "precision": 3}))]
    fn arguments_that_do_not_belong_together_are_refused(#[case] args: Value) {
        assert_eq!(calculate(args).unwrap_err().code(), Code::InvalidArguments);
    }

    #[test]
    fn a_fractional_exponent_is_refused() {
        let error = calculate(json!({"expression": "2 ^ 0.5"})).unwrap_err();
        assert_eq!(error.to_string(), "an exponent must be a whole number");
    }
}
