//! Where forecasts come from: a seam of this crate's own, so that a host can bring another.

/// One day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reading {
    /// The highest temperature, in degrees Celsius.
    pub high_c: i32,
    /// The lowest, in degrees Celsius.
    pub low_c: i32,
}

/// Knows the weather of the days to come.
pub trait Station: Send + Sync {
    /// What is expected on the day `ahead` days from today; none where the city is not known.
    fn expect(&self, city: &str, ahead: u8) -> Option<Reading>;
}

/// Makes the weather up: always the same for the same city and day.
#[derive(Debug, Clone, Copy)]
pub struct Simulated;

impl Station for Simulated {
    fn expect(&self, city: &str, ahead: u8) -> Option<Reading> {
        let city = city.trim();
        if city.is_empty() {
            return None;
        }
        let letters = i32::try_from(city.chars().count()).unwrap_or(i32::MAX);
        let high_c = 10 + letters % 15 + i32::from(ahead % 3);
        Some(Reading {
            high_c,
            low_c: high_c - 8,
        })
    }
}
