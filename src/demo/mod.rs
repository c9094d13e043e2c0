//! The tour: a scripted model leads the real loop through the real tools in a temporary workspace.

use std::io;
use std::path::Path;

use outfitter_core::ModelError;
use outfitter_model::{Script, ScriptedProvider};

const SCRIPT: &str = include_str!("script.yaml");

/// What the person of the tour asks for.
pub(crate) const PROMPT: &str = "Please check the tide gauge report: something about its numbers \
                                 is off. Fix it, run it, and write a short summary.";

/// The files of the tour's workspace.
const FILES: [(&str, &str); 3] = [
    ("README.md", include_str!("workspace/README.md")),
    (
        "data/readings.csv",
        include_str!("workspace/data/readings.csv"),
    ),
    (
        "scripts/report.sh",
        include_str!("workspace/scripts/report.sh"),
    ),
];

/// The model of the tour.
pub(crate) fn model() -> Result<ScriptedProvider, ModelError> {
    Ok(ScriptedProvider::new(Script::from_text(SCRIPT)?, "tour"))
}

/// Lays the files of the tour out.
pub(crate) fn lay_out(workspace: &Path) -> io::Result<()> {
    for (name, content) in FILES {
        let path = workspace.join(name);
        if let Some(dir) = path.parent() {
            std::fs::create_dir_all(dir)?;
        }
        std::fs::write(path, content)?;
    }
    Ok(())
}
