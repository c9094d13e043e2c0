//! What the tour finds where it begins, and its configuration.

use std::io;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::config::Config;
use crate::config::sections::{McpServer, Program};

/// What the person of the tour asks for.
pub(crate) const PROMPT: &str = "Please check the tide gauge report: something about its numbers \
                                 is off.\nFix it, run it, and write a short summary.";

/// The files, from the temporary directory.
const FILES: [(&str, &str); 5] = [
    ("workspace/README.md", include_str!("workspace/README.md")),
    (
        "workspace/data/readings.csv",
        include_str!("workspace/data/readings.csv"),
    ),
    (
        "workspace/scripts/report.sh",
        include_str!("workspace/scripts/report.sh"),
    ),
    (
        "workspace/scripts/try.sh",
        include_str!("workspace/scripts/try.sh"),
    ),
    (
        "skills/gauge-report/SKILL.md",
        include_str!("skills/gauge-report/SKILL.md"),
    ),
];

/// A directory for one tour. It is gone when this is.
pub(crate) struct Place(TempDir);

impl Place {
    /// Makes it, with the files of the tour.
    pub(crate) fn lay_out() -> io::Result<Self> {
        let dir = tempfile::Builder::new()
            .prefix("outfitter-demo-")
            .tempdir()?;
        for (name, content) in FILES {
            let path = dir.path().join(name);
            if let Some(parent) = path.parent() {
                std::fs::create_dir_all(parent)?;
            }
            std::fs::write(path, content)?;
        }
        Ok(Self(dir))
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// Where its tools work.
    pub(crate) fn workspace(&self) -> PathBuf {
        self.path().join("workspace")
    }

    /// The configuration: a store in memory, a skill, an MCP server, a program of the project.
    pub(crate) fn config(&self) -> Config {
        let mut config = Config::default();
        let data = self.path().join("data");
        config.store.url = Some("memory:".to_owned());
        config.skills.dirs = vec![self.path().join("skills")];
        config.mcp.servers.insert(
            "notes".to_owned(),
            McpServer {
                builtin: Some("notes".to_owned()),
                ..McpServer::default()
            },
        );
        let calendar = data.join("planner").display().to_string();
        config.commands.insert(
            "planner".to_owned(),
            Program {
                program: "planner".to_owned(),
                env: [("PLANNER_DIR".to_owned(), calendar)].into(),
                ..Program::default()
            },
        );
        config.store.data_dir = Some(data);
        config
    }
}
