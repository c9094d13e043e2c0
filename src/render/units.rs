//! Numbers as people read them.

/// A count with its noun.
pub(super) fn count(number: u64, one: &str, many: &str) -> String {
    match number {
        1 => format!("1 {one}"),
        _ => format!("{} {many}", grouped(number)),
    }
}

/// `1234567` as `1,234,567`.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Bytes in decimal units.
pub(super) fn bytes(number: u64) -> String {
    let scaled =
        |unit: u64, name: &str| format!("{}.{} {name}", number / unit, number % unit * 10 / unit);
    match number {
        0..1000 => count(number, "byte", "bytes"),
        1000..1_000_000 => scaled(1000, "kB"),
        1_000_000..1_000_000_000 => scaled(1_000_000, "MB"),
        _ => scaled(1_000_000_000, "GB"),
    }
}

/// A span of milliseconds.
pub(super) fn span(ms: u64) -> String {
    match ms {
        0..1000 => format!("{ms} ms"),
        1000..60_000 => format!("{}.{} s", ms / 1000, ms % 1000 / 100),
        _ => format!("{} min {} s", ms / 60_000, ms % 60_000 / 1000),
    }
}

/// How many of `whole` steps `value` of `most` is, rounded.
pub(super) fn part(value: f64, most: f64, whole: usize) -> usize {
    // Both casts are exact enough for what a bar can show.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "a share of a few steps; a float to integer cast saturates"
    )]
    let steps = (value / most * whole as f64).round() as usize;
    steps.min(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(grouped(999), "999");
        assert_eq!(count(1, "line", "lines"), "1 line");
        assert_eq!(bytes(1), "1 byte");
        assert_eq!(bytes(12_345), "12.3 kB");
        assert_eq!([part(1.0, 3.0, 24), part(0.0, 0.0, 24)], [8, 0]);
        assert_eq!(span(999), "999 ms");
        assert_eq!(span(1250), "1.2 s");
        assert_eq!(span(83_000), "1 min 23 s");
    }
}
