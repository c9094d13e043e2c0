#![no_main]

use std::sync::LazyLock;

#[path = "../checks/paths.rs"]
mod check;

static PLACE: LazyLock<check::Place> = LazyLock::new(check::Place::new);

libfuzzer_sys::fuzz_target!(|data: &[u8]| PLACE.check(data));
