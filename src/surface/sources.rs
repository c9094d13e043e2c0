//! MCP servers and skills, given to a program in its own code.

use std::path::PathBuf;
use std::sync::Arc;

use outfitter_core::{InvalidId, SourceId, ToolSpec, Trust};
use outfitter_tools::{LazySource, StartTools};

use crate::Builder;
use crate::config::Config;
use crate::config::sections::McpServer;

impl Builder {
    /// Adds an MCP server that is started and spoken to over its standard input and output, as
    /// `[mcp.servers.NAME]` of a configuration does. Its tools are called `NAME__tool`, and what
    /// they may is decided like that of any other. It is started when the first session is opened.
    ///
    /// ```
    /// use outfitter::config::{Config, sections::McpServer};
    /// use outfitter::{Builder, env::Environment};
    ///
    /// let server = McpServer {
    ///     command: Some("my-mcp".to_owned()),
    ///     args: vec!["--stdio".to_owned()],
    ///     ..McpServer::default()
    /// };
    /// let builder = Builder::new(Config::default(), Environment::default())
    ///     .register_mcp_server("my_mcp", server);
    /// ```
    #[must_use]
    pub fn register_mcp_server(self, name: &str, server: McpServer) -> Self {
        self.configured(|config| {
            config.mcp.servers.insert(name.to_owned(), server);
        })
    }

    /// Adds tools that are made only at the first call of one of them: until then they are listed by
    /// what is known of them. For an MCP server, [`McpServer::lazy`] says the same.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use outfitter::{Builder, StartTools, Tool, ToolError, ToolName, ToolSpec};
    /// use outfitter::{config::Config, env::Environment};
    ///
    /// struct Camera;
    ///
    /// #[async_trait::async_trait]
    /// impl StartTools for Camera {
    ///     async fn start(&self) -> Result<Vec<Arc<dyn Tool>>, ToolError> {
    ///         Err(ToolError::unavailable("there is no camera"))
    ///     }
    /// }
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let schema = serde_json::json!({ "type": "object" });
    /// let look = ToolSpec::new(ToolName::new("look")?, "Takes a picture.", schema);
    /// let builder = Builder::new(Config::default(), Environment::default())
    ///     .lazy_tools("camera", vec![look], Camera)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`outfitter_core::InvalidId`] when a source cannot be called so.
    pub fn lazy_tools(
        self,
        name: &str,
        known: Vec<ToolSpec>,
        start: impl StartTools + 'static,
    ) -> Result<Self, InvalidId> {
        let id = SourceId::new(name)?;
        let source = LazySource::new(id, Trust::Operator, known, start);
        Ok(self.source(Arc::new(source)))
    }

    /// Adds a directory of skills: each directory in it with a `SKILL.md` is one, as for
    /// `[skills] dirs` of a configuration.
    ///
    /// ```
    /// use outfitter::{Builder, NameSet, SkillProxy, config::Config, env::Environment};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let root = tempfile::tempdir()?;
    /// let skill = root.path().join("my_skill");
    /// std::fs::create_dir(&skill)?;
    /// std::fs::write(skill.join("SKILL.md"), "---
    /// name: my_skill
    /// description: Does one thing well. Use it for that thing.
    /// ---
    /// 1. Do it.
    /// ")?;
    ///
    /// let mut config = Config::default();
    /// config.store.data_dir = Some(root.path().join("data"));
    /// let outfitter = Builder::new(config, Environment::of(root.path(), [("HOME", "/nowhere")]))
    ///     .add_skill_dir(root.path())
    ///     .build()?;
    /// let proxy = SkillProxy::new(outfitter.skills(), &NameSet::of(["my_skill"]));
    /// assert!(proxy.get("my_skill").is_some());
    /// assert!(SkillProxy::new(outfitter.skills(), &NameSet::none()).get("my_skill").is_none());
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn add_skill_dir(self, dir: impl Into<PathBuf>) -> Self {
        let dir = dir.into();
        self.configured(|config: &mut Config| config.skills.dirs.push(dir))
    }
}
