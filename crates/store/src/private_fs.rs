//! Directories and files that only their owner may use, whatever the umask.

use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

/// What a directory of ours allows.
pub(crate) const DIR_MODE: u32 = 0o700;

/// What a file of ours allows.
pub(crate) const FILE_MODE: u32 = 0o600;

/// Makes a directory and those above it that are missing, each 0700. Those that are there already
/// stay as they are.
///
/// # Errors
/// What the system says, also when something on the way is not a directory.
pub fn create_private_dir(path: &Path) -> io::Result<()> {
    if path.as_os_str().is_empty() || path.is_dir() {
        return Ok(());
    }
    if let Some(parent) = path.parent() {
        create_private_dir(parent)?;
    }
    match DirBuilder::new().mode(DIR_MODE).create(path) {
        // A umask only takes bits away; this gives the owner's back.
        Ok(()) => std::fs::set_permissions(path, Permissions::from_mode(DIR_MODE)),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        Err(error) => Err(error),
    }
}

/// Makes an empty file, 0600, if there is none. One that is there stays as it is.
pub(crate) fn create_private_file(path: &Path) -> io::Result<()> {
    let made = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(FILE_MODE)
        .open(path);
    match made {
        Ok(file) => own(&file),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}

/// Sets the mode of a file that was just made.
pub(crate) fn own(file: &File) -> io::Result<()> {
    file.set_permissions(Permissions::from_mode(FILE_MODE))
}
