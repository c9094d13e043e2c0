//! The files of a session.
//!
//! On this machine every path is resolved by the kernel beneath a directory handle at the moment of use (`openat2`),
//! pinned, judged, and only then opened: what was judged is what is used, whoever renames what
//! meanwhile.
//!
//! - `local`, `remote`: [`LocalFiles`] and the files of another machine, as far as SFTP lets it
//! - `machine`: what a machine can do with files; `here`: this one. All the rest is for both
//! - `session`: what the files of a session are made of
//! - `root`, `place`, `facts`: from a caller's path to what was found
//! - `read`, `write`, `target`, `temporary`, `parents`, `repository`, `turns`: single files
//! - `scan`, `walk`, `ignored`, `notes`: directories
//! - `list`, `find`, `pattern`, `search`, `job`, `decoded`, `hits`, `terms`: what is asked of directories
//! - `commit`, `step`: several changes made together
//! - `copy`, `copy_tree`: import and export
//! - `quota`: how much may be written in all
//!
//! # Paths
//! Relative paths start at the workspace; absolute ones are met by the root they lie in. A path
//! that starts with `~`, `$HOME` or `${HOME}` means the home directory, because that is what is
//! meant by whoever writes it; a directory of that very name is `./~`. Names that are not UTF-8
//! are listed with replacement characters and a remark, and cannot be opened.
//!
//! # Modes
//! A file that replaces another keeps its permission bits, and its owner, access list and `user.`
//! attributes where the system allows.
//! New files and directories in the workspace belong to the user and are made as any program of
//! theirs would make them: `0666` and `0777` less the umask. What is exported to us is `0600` and
//! `0700`, plus the owner's right to execute.
//!
//! # Durability
//! What replaces a file is synced before the rename, so that a power cut leaves the old content or
//! the new. New files and appended bytes are left to the system. A crash in the middle of a write
//! can leave a file whose name begins with `.outfitter-new-`, and nothing else; no listing and no
//! search shows it, and a write in its directory removes it a day later.
//!
//! What replaces a file does not keep its other hard links, and no attribute that the system trusts
//! (capabilities, labels): those were given to the old content.

mod cancel;
mod commit;
mod copy;
mod copy_tree;
mod decoded;
mod error;
mod facts;
mod find;
mod here;
mod hits;
mod ignored;
mod job;
mod limits;
mod list;
mod local;
mod machine;
mod notes;
mod parents;
mod pattern;
mod place;
mod quota;
mod read;
pub(crate) mod remote;
mod repository;
mod root;
mod scan;
mod search;
mod session;
mod step;
mod target;
mod temporary;
mod terms;
mod turns;
mod walk;
mod write;

pub use limits::{FileLimits, FileQuota, QuotaCounts};
pub use local::LocalFiles;
