//! What children leave behind: trees of any depth and with any permission bits.
//!
//! A child may make a directory in a directory as often as it likes. So nothing here calls itself
//! for each level, holds a descriptor for each level, or writes a path out: a tree is gone through by
//! handles, one directory at a time, and through no link.
//!
//! - [`remove_tree`], [`remove_tree_in_pool`]: the one deletion of a tree
//! - [`Passing`]: a directory that goes when its value goes
//! - [`bytes_beneath`]: how much there is

mod count;
mod descent;
mod passing;
mod remove;
mod stays;

pub use count::bytes_beneath;
pub use passing::Passing;
pub use remove::{Removed, remove_tree, remove_tree_in_pool};
pub use stays::StaysBehind;
