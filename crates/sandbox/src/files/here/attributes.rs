//! What a file has beside its content: extended attributes.

use std::ffi::CStr;

use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::XattrFlags;
use rustix::io::Errno;

use super::handle::link_of;

/// What people and programs keep there. What the system keeps there for trust (capabilities,
/// labels, signatures) was given to the old content and does not pass to a new one.
const KEPT_PREFIX: &[u8] = b"user.";

/// Who else may do what with a file: as much its permissions as its mode is.
const ACCESS_LIST: &CStr = c"system.posix_acl_access";

/// The most that a list of names or a value has, in Linux.
const MOST_BYTES: usize = 64 << 10;

/// Whether the permissions of others than owner, group and all were taken over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AccessList {
    /// There was none, or it is kept.
    Whole,
    /// It could not be kept: the bits of the group mean something else without it.
    Lost,
}

/// Takes over what of it may be. A file system that keeps none, and one with no room for more,
/// lose them; they are never worth the write.
pub(super) fn take_over(old: &OwnedFd, new: impl AsFd) -> AccessList {
    let from = link_of(old);
    let mut names = vec![0; MOST_BYTES];
    let Ok(length) = rustix::fs::listxattr(&*from, &mut *names) else {
        return AccessList::Whole;
    };
    let mut list = AccessList::Whole;
    let mut value = vec![0; MOST_BYTES];
    for name in names[..length].split_inclusive(|byte| *byte == 0) {
        let Ok(name) = CStr::from_bytes_with_nul(name) else {
            continue;
        };
        let is_list = name == ACCESS_LIST;
        if !is_list && !name.to_bytes().starts_with(KEPT_PREFIX) {
            continue;
        }
        let kept: Result<(), Errno> =
            rustix::fs::getxattr(&*from, name, &mut *value).and_then(|length| {
                rustix::fs::fsetxattr(&new, name, &value[..length], XattrFlags::empty())
            });
        if is_list && kept.is_err() {
            list = AccessList::Lost;
        }
    }
    list
}
