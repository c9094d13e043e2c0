//! The sandbox on another machine.

use std::path::Path;
use std::time::Duration;

use outfitter_core::{Level, NameSet, Sandbox as _, SandboxError, Scope, SessionId, chain};
use outfitter_sandbox::ProcessSandbox;
use outfitter_sandbox::ssh::{self, Identity, LaidPack, Remote, SshSession};
use outfitter_store::path_segment;

use super::backends::BackendFound;
use super::elsewhere::{Elsewhere, known};
use super::{BuildError, Outfitter};
use crate::config::sections::{Backend, Require, Ssh};

impl Outfitter {
    /// The sandbox of a session there. What is not there, or is not who it should be, is an error:
    /// nothing runs here instead.
    pub(super) async fn remote(
        &self,
        scope: &Scope,
        session: &SessionId,
        workspace: &Path,
    ) -> Result<ProcessSandbox, BuildError> {
        let config = self.config();
        let settings = config.sandbox.ssh.as_ref().ok_or_else(|| {
            unavailable("[sandbox] backend = \"ssh\" needs [sandbox] ssh, which names the account")
        })?;
        let session_dir = self.session_dir(scope, session);
        let _entered = super::sandbox::enter(&session_dir)?;
        // Sessions of a server are beside each other; one of the terminal works in the folder itself.
        let is_served = workspace == self.served_workspace(scope, session);
        let own_folder = is_served.then(|| folder_of(scope, session));
        self.tell_of_elsewhere(scope, session);
        if let Some(folder) = &own_folder {
            // Before it is there: what is not written down is never found again.
            let written = Elsewhere::of(settings, folder).write_down(&session_dir);
            written.map_err(|source| BuildError::Data {
                path: session_dir.display().to_string(),
                source,
            })?;
        }
        let passed = self.passed().into_iter();
        let passed = passed.filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        });
        let opened = ssh::open(SshSession {
            remote: self.account(settings)?,
            session_dir,
            passed: passed.collect(),
            require: match config.sandbox.require {
                // What it is without a word; a word for it is a problem of the configuration.
                Require::None | Require::Partial => Level::None,
                Require::Full => Level::Full,
            },
            own_folder,
            packs: self.packs(),
            file_limits: self.file_limits(scope, session, workspace),
            clock: self.clock.clone(),
        })
        .await
        .map_err(BuildError::Sandbox)?;
        for left_out in opened.left_out() {
            tracing::warn!("the sandbox leaves something out: {left_out}");
        }
        Ok(opened)
    }

    /// Removes the folders that a session which is deleted has on other machines, as far as the
    /// configuration names them still. Says what stays behind, one sentence each.
    pub(super) async fn forget_remote(&self, scope: &Scope, session: &SessionId) -> Vec<String> {
        let mut left = Vec::new();
        // One that was never served has none there.
        let mut is_there = self
            .served_workspace(scope, session)
            .symlink_metadata()
            .is_ok();
        match known(&self.session_dir(scope, session)) {
            Ok(places) => {
                let (named, unnamed): (Vec<_>, Vec<_>) =
                    places.iter().partition(|place| self.is_named(place));
                is_there |= !named.is_empty();
                left.extend(unnamed.into_iter().map(|place| {
                    let at = place.shown();
                    format!("{at} stays behind: [sandbox] does not name it now")
                }));
            }
            Err(error) => left.push(format!("where it had files before cannot be read: {error}")),
        }
        for what in &left {
            tracing::error!(%session, "of a deleted session {what}");
        }
        if is_there {
            left.extend(self.forget_remote_now(scope, session).await);
        }
        left
    }

    /// The one that the configuration names.
    async fn forget_remote_now(&self, scope: &Scope, session: &SessionId) -> Option<String> {
        let config = self.config();
        let settings = config.sandbox.ssh.as_ref()?;
        if config.sandbox.backend != Backend::Ssh {
            return None;
        }
        let folder = folder_of(scope, session);
        let removed = match self.account(settings) {
            Ok(account) => ssh::remove(account, &folder)
                .await
                .map_err(BuildError::Sandbox),
            Err(error) => Err(error),
        };
        let why = removed.err()?.to_info().message;
        let (host, workspace) = (&settings.host, &settings.workspace);
        let left = format!("{workspace}/{folder} stays behind on {host}: {why}");
        tracing::error!(%session, "of a deleted session {left}");
        Some(left)
    }

    /// The skills, as they are laid in there: their scripts are run where commands run.
    fn packs(&self) -> Vec<LaidPack> {
        let proxy = self.skills.proxy(&NameSet::all());
        let packs = proxy.listed().map(|skill| LaidPack {
            name: skill.name().to_string(),
            from: skill.pack.directory().to_owned(),
        });
        packs.collect()
    }

    fn account(&self, settings: &Ssh) -> Result<Remote, BuildError> {
        let identity = match (&settings.key_file, &settings.agent) {
            (Some(path), None) => Identity::KeyFile {
                path: path.clone(),
                passphrase: match &settings.passphrase_env {
                    Some(name) => Some(self.environment.secret(name).ok_or_else(|| {
                        unavailable(&format!(
                            "[sandbox.ssh] passphrase_env names {name}, which is not set"
                        ))
                    })?),
                    None => None,
                },
            },
            (None, Some(socket)) => Identity::Agent(socket.clone()),
            (Some(_), Some(_)) | (None, None) => {
                return Err(unavailable(
                    "[sandbox] ssh needs one of `key_file` and `agent`",
                ));
            }
        };
        Ok(Remote {
            host: settings.host.clone(),
            port: settings.port,
            user: settings.user.clone(),
            identity,
            known_hosts: settings.known_hosts.clone(),
            workspace: settings.workspace.clone(),
            connect_timeout: Duration::from_secs(settings.connect_timeout_seconds.into()),
            keepalive: Duration::from_secs(settings.keepalive_seconds.into()),
        })
    }

    /// What is found there, by connecting; where no account is named, what it would need.
    pub(super) async fn remote_found(&self) -> BackendFound {
        let Some(account) = self.config().sandbox.ssh.clone() else {
            return BackendFound {
                backend: Backend::Ssh,
                level: Some(Level::None),
                finding: "not set up, and not tried: it needs [sandbox] ssh with host, user, \
                          known_hosts, workspace, and key_file or agent; level none: nothing \
                          confines a command within that account"
                    .to_owned(),
                hint: None,
            };
        };
        let session = SessionId::mint(&*self.clock);
        let scope = self.local_scope();
        let here = self.environment.current_dir();
        let opened = Box::pin(self.remote(&scope, &session, here)).await;
        let found = match opened {
            Ok(sandbox) => BackendFound {
                backend: Backend::Ssh,
                level: Some(Level::None),
                finding: format!(
                    "level none: {}@{} port {}, {}, workspace {}; nothing confines a command within \
                     that account{}",
                    account.user,
                    account.host,
                    account.port,
                    sandbox.machine().unwrap_or_default(),
                    sandbox.info().workspace.display(),
                    said_after(sandbox.left_out()),
                ),
                hint: None,
            },
            Err(BuildError::Sandbox(SandboxError::Unavailable { reason, hint })) => BackendFound {
                backend: Backend::Ssh,
                level: None,
                finding: reason,
                hint,
            },
            Err(error) => BackendFound {
                backend: Backend::Ssh,
                level: None,
                finding: chain(&error),
                hint: None,
            },
        };
        self.forget_session_dir(&scope, &session).await;
        found
    }
}

/// What could not be laid in, behind what is found.
fn said_after(left_out: &[String]) -> String {
    left_out.iter().map(|why| format!("; {why}")).collect()
}

/// Where a session that is served has its files there, beneath the workspace.
fn folder_of(scope: &Scope, session: &SessionId) -> String {
    let parts = [
        path_segment(scope.tenant.as_str()),
        path_segment(scope.subject.as_str()),
        session.as_str().to_owned(),
    ];
    parts.join("/")
}

fn unavailable(reason: &str) -> BuildError {
    BuildError::Sandbox(SandboxError::Unavailable {
        reason: reason.to_owned(),
        hint: None,
    })
}
