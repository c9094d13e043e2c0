//! A small table and a verdict.

#![expect(clippy::print_stdout, reason = "a bench prints what it measured")]

use std::process::ExitCode;
use std::time::Duration;

use super::cpu::Cost;

/// Measurements of one machine differ by this much between a busy and a quiet hour. Beyond it a
/// budget is missed.
const NOISE: f64 = 1.25;

/// What was measured, printed as it comes.
#[derive(Default)]
pub(crate) struct Report {
    missed: bool,
}

impl Report {
    pub(crate) fn title(&self, text: &str) {
        println!("\n{text}");
    }

    /// Prints a row for each cost, with its ratio to the first.
    pub(crate) fn costs(&self, costs: &[Cost]) {
        let Some(base) = costs.first() else { return };
        println!(
            "  {:<52} {:>10} {:>19} {:>7}",
            "cpu", "median", "least - most", "ratio"
        );
        for cost in costs {
            println!(
                "  {:<52} {:>10} {:>19} {:>7.2}",
                cost.name,
                time(cost.median),
                format!("{} - {}", time(cost.least), time(cost.most)),
                ratio(cost.median, base.median),
            );
        }
    }

    /// Prints something that is no time.
    pub(crate) fn note(&self, text: &str) {
        println!("  {text}");
    }

    /// Holds a cost to its budget.
    pub(crate) fn budget(&mut self, what: &str, cost: Duration, most: Duration) {
        let (shown, limit) = (time(cost), time(most));
        self.verdict(what, ratio(cost, most), &shown, &limit);
    }

    /// Holds a number to its budget.
    pub(crate) fn budget_of(&mut self, what: &str, found: f64, most: f64, unit: &str) {
        let (shown, limit) = (format!("{found:.1} {unit}"), format!("{most:.1} {unit}"));
        self.verdict(what, found / most, &shown, &limit);
    }

    /// Holds a number to the least that it may be.
    pub(crate) fn at_least(&mut self, what: &str, found: f64, least: f64) {
        let word = self.word(least / found.max(f64::MIN_POSITIVE));
        println!("  budget: {what} >= {least:.2}: {found:.2}, {word}");
    }

    fn verdict(&mut self, what: &str, of_budget: f64, shown: &str, limit: &str) {
        let word = self.word(of_budget);
        println!("  budget: {what} <= {limit}: {shown}, {word}");
    }

    fn word(&mut self, of_budget: f64) -> &'static str {
        if of_budget <= 1.0 {
            "kept"
        } else if of_budget <= NOISE {
            "over, within the noise"
        } else {
            self.missed = true;
            "MISSED"
        }
    }

    /// Says whether something that must hold does.
    pub(crate) fn must(&mut self, what: &str, holds: bool) {
        self.missed |= !holds;
        println!("  {}: {what}", if holds { "holds" } else { "BROKEN" });
    }

    /// The status of the bench: a failure when a budget was missed.
    pub(crate) fn end(&self) -> ExitCode {
        if self.missed {
            ExitCode::FAILURE
        } else {
            ExitCode::SUCCESS
        }
    }
}

pub(crate) fn ratio(of: Duration, to: Duration) -> f64 {
    of.as_secs_f64() / to.as_secs_f64().max(f64::MIN_POSITIVE)
}

/// A time with three digits and its unit.
pub(crate) fn time(time: Duration) -> String {
    let nanos = time.as_secs_f64() * 1e9;
    let (value, unit) = match nanos {
        nanos if nanos < 1e3 => (nanos, "ns"),
        nanos if nanos < 1e6 => (nanos / 1e3, "us"),
        nanos => (nanos / 1e6, "ms"),
    };
    if value < 100.0 {
        format!("{value:.2} {unit}")
    } else {
        format!("{value:.0} {unit}")
    }
}
