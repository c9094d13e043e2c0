//! The server's process.

use std::io;
use std::path::PathBuf;

use rmcp::ServiceExt as _;
use rmcp::service::{QuitReason, ServerInitializeError};
use rmcp::transport::stdio_pipes;
use tokio::task::JoinError;

use crate::{Notes, NotesError, NotesServer};

/// Why the server ended.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// There is nothing to serve.
    #[error("open the notes: {0}")]
    Notes(#[from] NotesError),
    /// There is no runtime.
    #[error("start: {0}")]
    Runtime(#[from] io::Error),
    /// The client did not say what it has to say first.
    #[error("agree with the client: {0}")]
    Client(#[from] Box<ServerInitializeError>),
    /// It broke.
    #[error("go on: {0}")]
    Broken(#[from] JoinError),
}

/// Serves notes over standard input and output until the input ends.
///
/// On one thread, with pipes that do not block: each call then costs a few microseconds instead of
/// a journey to another thread and back.
///
/// # Errors
/// [`ServeError`].
pub fn serve(file: Option<PathBuf>) -> Result<(), ServeError> {
    let server = NotesServer::new(Notes::open(file)?);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let served = runtime.block_on(async {
        let running = match server.serve(stdio_pipes()).await {
            Ok(running) => running,
            // A client that goes away before it says anything wants nothing.
            Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
            Err(error) => return Err(Box::new(error).into()),
        };
        match running.waiting().await? {
            QuitReason::Closed | QuitReason::Cancelled => Ok(()),
            QuitReason::JoinError(error) => Err(error.into()),
            _ => Ok(()),
        }
    });
    // A read that still waits shall not keep the process.
    runtime.shutdown_background();
    served
}
