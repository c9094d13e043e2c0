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
use crate::temporary;

/// Where it is written down, in the directory of a session.
const NAME: &str = "elsewhere.json";

/// Where it is put when it cannot be read, for whoever wants to know what it said.
const UNREADABLE: &str = "elsewhere.unreadable";

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

    /// Adds it to what is known of a session. What cannot be read is put aside: the session would
    /// never open again.
    pub(super) fn write_down(self, session_dir: &Path) -> io::Result<()> {
        let path = session_dir.join(NAME);
        let mut folders = match known(session_dir) {
            Ok(folders) => folders,
            Err(error) if is_broken(&error) => {
                let aside = session_dir.join(UNREADABLE);
                tracing::warn!(
                    %error,
                    "where a session had files before cannot be read any more, and is put at {}",
                    aside.display()
                );
                fs::rename(&path, aside)?;
                Vec::new()
            }
            Err(error) => return Err(error),
        };
        if folders.contains(&self) {
            return Ok(());
        }
        folders.push(self);
        let surplus = folders.len().saturating_sub(MOST);
        for forgotten in folders.drain(..surplus) {
            tracing::warn!(
                "no more than {MOST} places of a session are known: whoever deletes the one in {} \
                 will not remove its files at {}",
                session_dir.display(),
                forgotten.shown()
            );
        }
        temporary::replace(&path, &serde_json::to_vec(&Known { folders })?)
    }
}

/// Whether it is not what was written there, as after a power loss, and will never be.
fn is_broken(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof
    )
}

/// What is written down of a session.
pub(super) fn known(session_dir: &Path) -> io::Result<Vec<Elsewhere>> {
    let path = session_dir.join(NAME);
    match path.symlink_metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
        Ok(found) if !found.is_file() || found.len() > MAX_BYTES => {
            let what = "it is not what was written there";
            return Err(io::Error::new(io::ErrorKind::InvalidData, what));
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
    use std::sync::{Arc, Mutex};

    use rstest::rstest;

    use super::*;

    fn place(host: &str) -> Elsewhere {
        Elsewhere {
            host: host.to_owned(),
            port: 22,
            user: "agent".to_owned(),
            workspace: "/home/agent/outfitted".to_owned(),
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

    /// As a power loss leaves a file that was not on the disk before its name was.
    #[rstest]
    #[case::empty(b"")]
    #[case::zeros(&[0; 40])]
    #[case::cut(br#"{"folders":[{"host":"#)]
    #[case::other(b"no json")]
    fn a_session_never_opened_again_whose_places_could_not_be_read(#[case] bytes: &[u8]) {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join(NAME), bytes).unwrap();
        // Nobody takes it for nothing who has to tell what stays behind.
        assert!(known(dir.path()).is_err());
        let (told, written) = told(|| place("a").write_down(dir.path()));
        written.unwrap();
        assert!(told.contains("cannot be read any more"), "{told}");
        assert_eq!(known(dir.path()).unwrap(), [place("a")]);
        assert_eq!(fs::read(dir.path().join(UNREADABLE)).unwrap(), bytes);
    }

    #[test]
    fn what_lies_there_instead_is_put_aside() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join(NAME)).unwrap();
        assert!(known(dir.path()).is_err());
        place("a").write_down(dir.path()).unwrap();
        assert_eq!(known(dir.path()).unwrap(), [place("a")]);
    }

    #[test]
    fn a_place_too_many_was_forgotten_without_a_word() {
        let dir = tempfile::tempdir().unwrap();
        let (said, ()) = told(|| {
            for host in 0..=MOST {
                place(&format!("h{host}")).write_down(dir.path()).unwrap();
            }
        });
        assert!(
            said.contains("/home/agent/outfitted/local/local/one of agent on h0"),
            "{said}"
        );
        assert!(!said.contains("on h1"), "{said}");
    }

    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Lines {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// What is logged meanwhile.
    fn told<T>(work: impl FnOnce() -> T) -> (String, T) {
        let lines = Lines::default();
        let writer = lines.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_writer(move || writer.clone())
            .finish();
        let done = tracing::subscriber::with_default(subscriber, work);
        let text = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
        (text, done)
    }

    #[test]
    fn a_place_is_shown_with_all_that_finds_it() {
        let mut place = place("build.example.com");
        assert_eq!(
            place.shown(),
            "/home/agent/outfitted/local/local/one of agent on build.example.com"
        );
        place.port = 2222;
        assert!(place.shown().ends_with("on build.example.com port 2222"));
    }
}
