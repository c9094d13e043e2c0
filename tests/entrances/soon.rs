//! What comes to be so by itself.

use std::time::{Duration, Instant};

use crate::world::HANGS;

/// Asks again and again until it is so.
pub(crate) fn soon<T>(mut look: impl FnMut() -> Option<T>) -> T {
    let limit = Instant::now() + HANGS;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < limit, "it never comes to be so");
        std::thread::sleep(Duration::from_millis(20));
    }
}
