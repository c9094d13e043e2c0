//! What a session of the tests is told of a server.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use outfitter_core::{Level, SystemClock};
use outfitter_sandbox::ProcessSandbox;
use outfitter_sandbox::ssh::{Identity, Remote, SshSession, open};

use super::sshd::FILES;
pub(crate) use super::sshd::Server;

impl Server {
    /// `None`, after saying why, where there is no `sshd`.
    pub(crate) fn start() -> Option<Self> {
        Self::start_with(FILES)
    }

    /// The same for an account with this home.
    pub(crate) fn with_home(home: &Path) -> Option<Self> {
        Self::start_with(&format!("{FILES}SetEnv HOME={}\n", home.display()))
    }

    /// The end of the server and of all its connections.
    pub(crate) fn stop(&mut self) {
        self.drop_connections();
        let _ = self.process.kill();
        let _ = self.process.wait();
    }

    /// One of the keys, of the names `client` and `other`.
    pub(crate) fn key(&self, name: &str) -> Identity {
        Identity::KeyFile {
            path: self.path(name),
            passphrase: None,
        }
    }

    pub(crate) fn remote(&self) -> Remote {
        Remote {
            host: "127.0.0.1".to_owned(),
            port: self.port,
            user: self.user.clone(),
            identity: self.key("client"),
            known_hosts: self.path("known"),
            workspace: self.path("workspace").display().to_string(),
            connect_timeout: Duration::from_secs(60),
            keepalive: Duration::from_secs(15),
        }
    }

    pub(crate) fn session(&self, remote: Remote) -> SshSession {
        SshSession {
            remote,
            session_dir: self.path("session"),
            passed: Vec::new(),
            require: Level::None,
            own_folder: None,
            packs: Vec::new(),
            file_limits: outfitter_sandbox::FileLimits::default(),
            clock: Arc::new(SystemClock),
        }
    }

    pub(crate) async fn open(&self) -> ProcessSandbox {
        open(self.session(self.remote())).await.unwrap()
    }
}
