//! Points in time: RFC 3339, or a day.

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use crate::fault::Fault;

/// Reads an instant. A day is its first instant, UTC.
pub(crate) fn parse(argument: &str, text: &str) -> Result<Timestamp, Fault> {
    // Only a day: an instant without its offset is nobody's.
    let day = || {
        let day = Date::strptime("%Y-%m-%d", text).ok()?;
        let start = TimeZone::UTC.to_timestamp(day.at(0, 0, 0, 0)).ok()?;
        Some(start)
    };
    text.parse().ok().or_else(day).ok_or_else(|| {
        Fault::invalid(
            argument,
            format!("{argument} is neither a day nor an instant as RFC 3339 has them: {text:?}"),
        )
    })
}
