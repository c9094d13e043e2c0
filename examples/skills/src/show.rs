//! What a session makes of packs, as text for people.

use std::fmt::Write as _;
use std::path::Path;

use outfitter_core::NameSet;
use outfitter_skills::{Discovery, SkillCatalog, SkillProxy, limits};

/// What a model is told of the skills below `root`, what was left out of them, and which of them a
/// prompt is about.
#[must_use]
pub fn show(root: &Path, prompt: &str) -> String {
    let catalog = SkillCatalog::new();
    let snapshot = catalog.add_skill_dir(root);
    // What a session may use: here everything; a name or a pattern less in a real one.
    let proxy = SkillProxy::new(&catalog, &NameSet::all());

    let mut text = proxy.catalogue(limits::CATALOGUE_BYTES).text;
    for diagnostic in snapshot.diagnostics() {
        let _ = writeln!(text, "{diagnostic}");
    }
    for found in proxy.discover(prompt, Discovery::default()) {
        let words: Vec<&str> = found.words.iter().map(|(word, _)| word.as_str()).collect();
        let _ = writeln!(text, "{} fits by: {}", found.name, words.join(", "));
    }
    text
}
