//! The folders that a session has had on other machines: written down here before they are made, so
//! that they are known once the configuration names another place.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use outfitter_core::{Scope, SessionId};
use serde::{Deserialize, Serialize};

use super::Outfitter;
use super::folders::{Folders, looked};
use crate::config::sections::{Backend, Ssh};

/// Where it is written down, in the directory of a session.
const NAME: &str = "elsewhere.json";

/// The most that is read of it.
const MAX_BYTES: u64 = 256 * 1024;

/// The most folders that are known of one session; the last ones are.
const MOST: usize = 64;

/// A folder of one session on another machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Elsewhere {
    host: String,
    port: u16,
    user: String,
    /// The workspace there, and the folder in it.
    workspace: String,
    folder: String,
}

/// The file.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Known {
    folders: Vec<Elsewhere>,
}

impl Elsewhere {
    pub(super) fn of(settings: &Ssh, folder: &str) -> Self {
        Self {
            host: settings.host.clone(),
            port: settings.port,
            user: settings.user.clone(),
            workspace: settings.workspace.clone(),
            folder: folder.to_owned(),
        }
    }

    /// For people.
    pub(super) fn shown(&self) -> String {
        let Self {
            host,
            port,
            user,
            workspace,
            folder,
        } = self;
        let port = match port {
            22 => String::new(),
            port => format!(" port {port}"),
        };
        format!("{workspace}/{folder} of {user} on {host}{port}")
    }

    /// Adds it to what is known of a session.
    pub(super) fn write_down(self, session_dir: &Path) -> io::Result<()> {
        let mut folders = known(session_dir)?;
        if folders.contains(&self) {
            return Ok(());
        }
        folders.push(self);
        let surplus = folders.len().saturating_sub(MOST);
        folders.drain(..surplus);
        let text = serde_json::to_vec(&Known { folders })?;
        let new = session_dir.join(format!("{NAME}.new"));
        fs::write(&new, text)?;
        fs::rename(new, session_dir.join(NAME))
    }
}

/// What is written down of a session.
pub(super) fn known(session_dir: &Path) -> io::Result<Vec<Elsewhere>> {
    let path = session_dir.join(NAME);
    match path.symlink_metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
        Ok(found) if !found.is_file() || found.len() > MAX_BYTES => {
            return Err(io::Error::other("it is not what was written there"));
        }
        Ok(_) => {}
    }
    let known: Known = serde_json::from_slice(&fs::read(path)?)?;
    Ok(known.folders)
}

impl Outfitter {
    /// Where the configuration has the sessions of a server now, if that is on another machine.
    pub(super) fn is_named(&self, place: &Elsewhere) -> bool {
        let config = self.config();
        config.sandbox.backend == Backend::Ssh
            && config
                .sandbox
                .ssh
                .as_ref()
                .is_some_and(|settings| Elsewhere::of(settings, &place.folder) == *place)
    }

    /// Says where a session that is opened here has files that it does not see.
    pub(super) fn tell_of_elsewhere(&self, scope: &Scope, session: &SessionId) {
        match known(&self.session_dir(scope, session)) {
            Ok(places) => {
                for place in places.iter().filter(|place| !self.is_named(place)) {
                    let at = place.shown();
                    tracing::warn!(
                        %session,
                        "the session had its files elsewhere before, and does not see them: {at}"
                    );
                }
            }
            Err(error) => {
                tracing::warn!(%error, %session, "where the session had files before cannot be read");
            }
        }
    }

    /// The same of all sessions, one sentence each.
    pub(super) async fn all_elsewhere(&self, root: &Path) -> (Vec<String>, Vec<String>) {
        let Folders { found, mut unread } = looked(root, super::folders::folders).await;
        let mut places = Vec::new();
        for folder in found {
            match known(&folder) {
                Ok(known) => {
                    let unseen = known.into_iter().filter(|place| !self.is_named(place));
                    places.extend(unseen.map(|place| of_session(&folder, &place)));
                }
                Err(error) => unread.push(format!(
                    "{} cannot be read: {error}",
                    folder.join(NAME).display()
                )),
            }
        }
        (places, unread)
    }
}

fn of_session(folder: &Path, place: &Elsewhere) -> String {
    let session = folder.file_name().map(PathBuf::from).unwrap_or_default();
    format!(
        "the session {} had its files at {}, which [sandbox] does not name now",
        session.display(),
        place.shown()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(host: &str) -> Elsewhere {
        Elsewhere {
            host: host.to_owned(),
            port: 22,
            user: "agent".to_owned(),
            workspace: "/home/agent/work".to_owned(),
            folder: "local/local/one".to_owned(),
        }
    }

    #[test]
    fn each_place_is_known_once() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(known(dir.path()).unwrap(), []);
        for host in ["a", "b", "a"] {
            place(host).write_down(dir.path()).unwrap();
        }
        assert_eq!(known(dir.path()).unwrap(), [place("a"), place("b")]);
        for host in 0..100 {
            place(&host.to_string()).write_down(dir.path()).unwrap();
        }
        let last = known(dir.path()).unwrap();
        assert_eq!((last.len(), last.last()), (MOST, Some(&place("99"))));
    }

    #[test]
    fn what_is_not_ours_is_an_error_and_not_nothing() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join(NAME), "no json").unwrap();
        assert!(known(dir.path()).is_err());
        assert!(place("a").write_down(dir.path()).is_err());
        assert_eq!(fs::read(dir.path().join(NAME)).unwrap(), b"no json");
    }

    #[test]
    fn a_place_is_shown_with_all_that_finds_it() {
        let mut place = place("build.example.com");
        assert_eq!(
            place.shown(),
            "/home/agent/work/local/local/one of agent on build.example.com"
        );
        place.port = 2222;
        assert!(place.shown().ends_with("on build.example.com port 2222"));
    }
}
