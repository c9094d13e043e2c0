//! Why the whole cannot be put together.

use outfitter_auth::KeyError;
use outfitter_commands::{CommandTaken, SettingsError};
use outfitter_core::{Code, ErrorInfo, FilesError, InvalidId, ModelError, SandboxError, chain};
use outfitter_mcp::InvalidServer;
use outfitter_tools::SourceRefused;

use super::names::KeyFault;

use super::NotHeld;

/// Why the whole cannot be put together, or a session not opened.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// Keys of the configuration that name what there is not, or set what cannot be: all of them.
    #[error("accept the configuration: {}", first_of(.0))]
    Names(Vec<KeyFault>),
    /// A program of the project can never be used as it is configured.
    #[error("use [commands]")]
    Commands(#[source] SettingsError),
    /// Two programs of the project have one command.
    #[error("use [commands]")]
    CommandTaken(#[source] CommandTaken),
    /// An MCP server can never be used as it is configured.
    #[error(transparent)]
    Mcp(InvalidServer),
    /// An MCP server is not configured wholly.
    #[error("use the MCP server {name}: {why}")]
    Server {
        /// Which one.
        name: String,
        /// What is wrong.
        why: String,
    },
    /// No key to sign with.
    #[error("make a key for credentials")]
    Key(#[source] KeyError),
    /// A source of ours has no name that a source can have.
    #[error("name a source of tools")]
    SourceName(#[source] InvalidId),
    /// A source was not taken.
    #[error("take the tools of a source")]
    Source(#[from] SourceRefused),
    /// `[store] url` names no store.
    #[error("use [store] url")]
    StoreUrl(#[source] outfitter_store::UrlError),
    /// The model cannot be set up.
    #[error(transparent)]
    Model(ModelError),
    /// The sandbox cannot be set up.
    #[error(transparent)]
    Sandbox(SandboxError),
    /// The workspace is no directory that can be used.
    #[error("use the workspace {path}")]
    Workspace {
        /// The directory.
        path: String,
        /// The cause.
        #[source]
        source: FilesError,
    },
    /// There is no such workspace.
    #[error("use the workspace {path}: it is not there")]
    NoWorkspace {
        /// The directory.
        path: String,
    },
    /// Nothing can be held back where everything is the workspace.
    #[error("use the workspace /: a command could write everything, so nothing would hold it back")]
    WholeWorkspace,
    /// The session cannot be held.
    #[error(transparent)]
    NotHeld(NotHeld),
    /// A directory of ours cannot be made.
    #[error("use the data directory {path}")]
    Data {
        /// The directory.
        path: String,
        /// The cause.
        #[source]
        source: std::io::Error,
    },
    /// Neither the configuration nor the environment says where data lives.
    #[error("find a place for data: neither HOME nor [store] data_dir is set")]
    NoDataDir,
}

impl BuildError {
    /// The error as clients read it, with its causes.
    #[must_use]
    pub fn to_info(&self) -> ErrorInfo {
        let (code, hint) = match self {
            Self::NoDataDir => (
                Code::Usage,
                Some("set HOME, or write [store] data_dir in outfitter.toml".to_owned()),
            ),
            Self::Source(_)
            | Self::Names(_)
            | Self::Commands(_)
            | Self::CommandTaken(_)
            | Self::Mcp(_)
            | Self::Server { .. } => (Code::Usage, None),
            Self::Key(_) | Self::SourceName(_) => (Code::Internal, None),
            Self::Workspace { .. } | Self::NoWorkspace { .. } => (
                Code::Usage,
                Some("--workspace names an existing directory".to_owned()),
            ),
            Self::WholeWorkspace => (
                Code::Usage,
                Some(
                    "--workspace names a directory in it; it is the current one otherwise"
                        .to_owned(),
                ),
            ),
            Self::StoreUrl(error) => (Code::Usage, Some(error.hint().to_owned())),
            Self::NotHeld(why) => (why.code(), None),
            Self::Data { .. } => (
                Code::Unavailable,
                Some("set [store] data_dir to a place that you may write to".to_owned()),
            ),
            Self::Model(error) => (error.code(), error.to_info().hint),
            Self::Sandbox(error) => (
                Code::Unavailable,
                match error {
                    SandboxError::Unavailable { hint, .. } => hint.clone(),
                    _ => None,
                },
            ),
        };
        let info = ErrorInfo::new(code, format!("failed to {}", chain(self)));
        match hint {
            Some(hint) => info.with_hint(hint),
            None => info,
        }
    }
}

fn first_of(faults: &[KeyFault]) -> String {
    match faults {
        [] => String::new(),
        [one] => one.to_string(),
        [first, rest @ ..] => format!("{first} (and {} more)", rest.len()),
    }
}
