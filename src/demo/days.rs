//! The days that the tour speaks of: soon, and never in the past.

use jiff::ToSpan as _;
use jiff::civil::{Date, Weekday};
use jiff::tz::TimeZone;
use outfitter_core::UnixMs;

/// The days that the tour speaks of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Days {
    /// The first that is offered.
    pub(super) first: Date,
    /// The other.
    pub(super) second: Date,
    /// When the next report is due.
    pub(super) report: Date,
}

impl Days {
    /// The days after this moment: a Tuesday, the Thursday behind it, the Monday behind that.
    pub(crate) fn after(now: UnixMs) -> Self {
        let now = i64::try_from(now.0).ok();
        let now = now.and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok());
        let today = TimeZone::UTC.to_datetime(now.unwrap_or_default()).date();
        let next = |from: Date, day| from.nth_weekday(1, day).unwrap_or(from);
        let tomorrow = today.saturating_add(1.day());
        let first = next(tomorrow, Weekday::Tuesday);
        let second = next(first, Weekday::Thursday);
        Self {
            first,
            second,
            report: next(second, Weekday::Monday),
        }
    }
}

/// A day as a person says it.
pub(super) fn spoken(day: Date) -> String {
    day.strftime("%A, %-d %B").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_soon_and_in_order() {
        // Tuesday, 29 December 2026.
        let days = Days::after(UnixMs(1_798_502_400_000));
        assert_eq!(spoken(days.first), "Tuesday, 5 January");
        assert_eq!(spoken(days.second), "Thursday, 7 January");
        assert_eq!(days.report.to_string(), "2027-01-11");
    }
}
