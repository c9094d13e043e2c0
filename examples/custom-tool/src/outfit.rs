//! What this crate adds to a program.

use std::sync::Arc;

use outfitter::Builder;

use crate::forecast::get_forecast;
use crate::station::{Simulated, Station};

/// Adds what this crate has. `get_weather` is not named here: it registered itself.
#[must_use]
pub fn outfit(builder: Builder) -> Builder {
    builder
        .tool(get_forecast::tool())
        .service::<dyn Station>(Arc::new(Simulated))
}
