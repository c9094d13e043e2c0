//! The MCP servers of the configuration.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use outfitter_core::{NameSet, SourceId, ToolSource};
use outfitter_mcp::{Enabled, McpSource, ServerStatus, Start, StdioServer};

use super::begun::{Begun, State};
use super::programs::pairs;
use crate::config::sections::McpServer;
use crate::env::{self, Name};
use crate::helpers;
use crate::outfit::specs::SpecFiles;
use crate::outfit::{BuildError, Outfitter};

impl Outfitter {
    /// How many MCP servers there are once all were begun.
    pub(super) fn servers_to_begin(&self) -> usize {
        let mcp = &self.config().mcp;
        match &self.supervisor {
            Some(_) if mcp.enabled => mcp.servers.len(),
            Some(_) | None => 0,
        }
    }

    /// Starts those of the MCP servers that are wanted, each once. All of them are registered, or
    /// none: a failure can be tried again.
    pub(super) fn begin_servers(
        &self,
        state: &mut State,
        wanted: impl Fn(&str) -> bool,
    ) -> Result<(), BuildError> {
        let Some(supervisor) = &self.supervisor else {
            return Ok(());
        };
        let config = self.config();
        if !config.mcp.enabled {
            return Ok(());
        }
        let variables = [env::PATH, env::HOME, env::LANG, env::TZ];
        let variable = |name: Name| Some((OsString::from(name.as_str()), self.text(name)?));
        let host = outfitter_mcp::Host {
            supervisor: supervisor.clone(),
            env: variables.into_iter().filter_map(variable).collect(),
            clock: self.clock.clone(),
            specs: Some(Arc::new(SpecFiles::of_servers(&self.data_dir))),
        };
        let mut begun = Vec::new();
        for (name, server) in &config.mcp.servers {
            if !wanted(name) || state.servers.contains_key(name) {
                continue;
            }
            let server = self.server(name, server)?;
            let source = McpSource::start(server, host.clone()).map_err(BuildError::Mcp)?;
            begun.push((name.clone(), Begun::now(Arc::new(source))));
        }
        let sources = begun.iter();
        let sources: Vec<_> = sources
            .map(|(_, source)| source.it.clone() as Arc<dyn ToolSource>)
            .collect();
        self.register(&sources)?;
        state.servers.extend(begun);
        Ok(())
    }

    fn server(&self, name: &str, server: &McpServer) -> Result<StdioServer, BuildError> {
        let wrong = |why: &str| BuildError::Server {
            name: name.to_owned(),
            why: why.to_owned(),
        };
        let id = SourceId::new(name).map_err(|error| wrong(&error.to_string()))?;
        let (command, before) = match (&server.command, server.builtin.as_deref()) {
            (Some(command), None) => (OsString::from(command), Vec::new()),
            (None, Some(helper)) => helpers::server(helper).ok_or_else(|| {
                wrong(&format!(
                    "there is no built-in server {helper:?}, only {}",
                    helpers::SERVERS
                ))
            })?,
            (None, None) => return Err(wrong("it has neither command nor builtin")),
            (Some(_), Some(_)) => return Err(wrong("it has both command and builtin")),
        };
        let cwd = server.cwd.clone().unwrap_or_else(|| self.home_or_here());
        let args = server.args.iter().map(OsString::from);
        let mut built = StdioServer::new(id, command, cwd).args(before.into_iter().chain(args));
        built.env = pairs(&server.env)
            .map(|(name, value)| (name.into(), value.into()))
            .collect();
        built.state = if server.enabled {
            Enabled::Yes
        } else {
            Enabled::No
        };
        built.start = if server.lazy {
            Start::AtFirstCall
        } else {
            Start::AtOnce
        };
        built.tools = NameSet::of(server.tools.iter().map(String::as_str));
        built.min_role = server.min_role;
        built.connect_timeout = Duration::from_secs(server.connect_timeout_seconds.into());
        built.call_timeout = Duration::from_secs(server.call_timeout_seconds.into());
        built.concurrency = server.concurrency as usize;
        Ok(built)
    }

    /// How the MCP servers stand that were begun.
    #[must_use]
    pub fn servers(&self) -> Vec<ServerStatus> {
        let state = self.connections.lock();
        let servers = state.servers.values();
        servers.map(|server| server.it.status()).collect()
    }

    fn home_or_here(&self) -> PathBuf {
        let home = self
            .environment
            .directory(env::HOME)
            .filter(|home| home.is_dir());
        home.unwrap_or_else(|| self.environment.current_dir())
            .to_owned()
    }
}
