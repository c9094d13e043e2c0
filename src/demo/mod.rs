//! The tour: a scripted model leads the real loop through the real tools in a temporary workspace.

mod days;
mod layout;
mod model;

pub(crate) use days::Days;
pub(crate) use layout::{PROMPT, Place};
pub(crate) use model::{Surroundings, Tour};
