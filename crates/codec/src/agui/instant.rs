//! An instant as RFC 3339 says it.

use outfitter_core::UnixMs;

const DAY: u64 = 86_400_000;

/// The last millisecond of the year 9999, after which the form has no room.
const LAST: u64 = 253_402_300_799_999;

/// The instant in UTC, to the millisecond: `2026-01-01T00:00:00.125Z`.
pub(super) fn rfc3339(at: UnixMs) -> String {
    let ms = at.0.min(LAST);
    let (year, month, day) = date(ms / DAY);
    let time = ms % DAY;
    format!(
        "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}.{:03}Z",
        time / 3_600_000,
        time / 60_000 % 60,
        time / 1_000 % 60,
        time % 1_000
    )
}

/// The day of the Gregorian calendar, of days since 1970. Years begin in March here, so that the
/// odd day of a leap year is the last of its year.
fn date(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let era = days / 146_097;
    let of_era = days % 146_097;
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let (month, early) = if month < 10 {
        (month + 3, 0)
    } else {
        (month - 9, 1)
    };
    (era * 400 + year + early, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case(0, "1970-01-01T00:00:00.000Z")]
    #[case(951_782_399_999, "2000-02-28T23:59:59.999Z")]
    #[case(951_782_400_000, "2000-02-29T00:00:00.000Z")]
    #[case(951_868_800_000, "2000-03-01T00:00:00.000Z")]
    #[case(1_767_225_600_125, "2026-01-01T00:00:00.125Z")]
    #[case(4_107_542_400_000, "2100-03-01T00:00:00.000Z")]
    #[case(u64::MAX, "9999-12-31T23:59:59.999Z")]
    fn an_instant_reads_as_the_calendar_says(#[case] ms: u64, #[case] text: &str) {
        assert_eq!(rfc3339(UnixMs(ms)), text);
    }
}
