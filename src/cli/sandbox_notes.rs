//! What `config explain` says of the sandbox beside its keys.

use super::Invocation;
use super::failure::Stop;
use super::stopping::runtime;
use crate::config::Loaded;
use crate::config::explain::Note;

/// The lists in effect. What cannot be put together is left out here: `config check` says why.
pub(super) fn sandbox_notes(at: &Invocation<'_>, loaded: &Loaded) -> Result<Vec<Note>, Stop> {
    if loaded.config.store.data_dir.is_none() {
        return Ok(Vec::new());
    }
    let Ok(whole) = at.build(loaded) else {
        return Ok(Vec::new());
    };
    let notes = runtime()?.block_on(whole.explain_sandbox());
    Ok(notes.unwrap_or_else(|error| {
        vec![Note {
            name: "sandbox_level".to_owned(),
            about: "What runs commands here, and how well it holds them.".to_owned(),
            lines: vec![error.to_info().message],
        }]
    }))
}
