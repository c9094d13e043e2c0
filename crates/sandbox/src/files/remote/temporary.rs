//! A file in the making, beside the name that it will take.

use outfitter_core::FilesError;
use rustix::io::Errno;

use super::place::Place;
use crate::files::temporary::temporary_name;
use crate::ssh::sftp::{Attrs, Fault, OpenFlags};

/// A new file is made as any program of the account's makes it; the system takes the umask off.
pub(super) const NEW_FILE: u32 = 0o666;
/// The same of a program.
pub(super) const NEW_PROGRAM: u32 = 0o777;
/// A file that is to replace another is nobody else's until it has the other's mode.
pub(super) const PRIVATE: u32 = 0o600;

/// Removed unless it takes its name.
pub(super) struct Temporary<'a> {
    place: &'a Place<'a>,
    directory: &'a str,
    pub(super) path: Option<String>,
}

impl<'a> Temporary<'a> {
    /// With this content; `like` is what it is to look like.
    pub(super) fn new(
        place: &'a Place<'a>,
        directory: &'a str,
        bytes: &[u8],
        mode: u32,
        like: Option<&Attrs>,
    ) -> Result<Self, FilesError> {
        let sftp = place.sftp();
        let temporary = Self::empty(place, directory);
        let fault = |fault| place.fault(fault);
        let path = temporary.path.as_deref().unwrap_or_default();
        let file = sftp.open(path, OpenFlags::New, mode).map_err(fault)?;
        file.write(0, bytes).map_err(fault)?;
        if let Some(like) = like {
            let new = file.stat().map_err(fault)?;
            if new.owner != like.owner {
                match file.set_owner(like.owner) {
                    // Only root may give files away.
                    Ok(()) | Err(Fault::Denied | Fault::Failed(_)) => {}
                    Err(other) => return Err(fault(other)),
                }
            }
            // No right to act as the owner: that was given to the old content.
            file.set_mode(like.mode & 0o777).map_err(fault)?;
        }
        file.sync().map_err(fault)?;
        Ok(temporary)
    }

    /// A name that nothing has, for what is put out of the way.
    pub(super) fn empty(place: &'a Place<'a>, directory: &'a str) -> Self {
        Self {
            place,
            directory,
            path: Some(beside(directory, &temporary_name())),
        }
    }

    /// Takes the name of another file, or a free one, in one step.
    pub(super) fn take_name(&mut self, name: &str) -> Result<(), Fault> {
        if let Some(path) = &self.path {
            let to = beside(self.directory, name);
            self.place.sftp().replace(path, &to)?;
            self.path = None;
        }
        Ok(())
    }

    /// Takes a name that nothing has; nothing where something has it.
    pub(super) fn take_free_name(&mut self, name: &str) -> Result<bool, FilesError> {
        let Some(path) = &self.path else {
            return Ok(true);
        };
        let to = beside(self.directory, name);
        let sftp = self.place.sftp();
        match sftp.rename(path, &to) {
            Ok(()) => {
                self.path = None;
                Ok(true)
            }
            // SFTP has no word for "it exists".
            Err(Fault::Failed(_)) if sftp.lstat(&to).is_ok() => Ok(false),
            Err(fault) => Err(self.place.fault(fault)),
        }
    }
}

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        if let Some(path) = &self.path {
            let _ = self.place.sftp().remove(path);
        }
    }
}

pub(super) fn beside(directory: &str, name: &str) -> String {
    format!("{}/{name}", directory.trim_end_matches('/'))
}

/// Refuses where nothing can be replaced in one step.
pub(super) fn must_replace(place: &Place<'_>) -> Result<(), FilesError> {
    if place
        .sftp()
        .can()
        .map_err(|fault| place.fault(fault))?
        .replace
    {
        return Ok(());
    }
    Err(FilesError::Unavailable {
        why: "the server of files (SFTP) of the other machine cannot replace a file in one step \
              (posix-rename@openssh.com)"
            .to_owned(),
    })
}

/// The error of something that changed while we looked.
pub(super) fn busy(place: &Place<'_>) -> FilesError {
    place.failed(Errno::BUSY)
}
