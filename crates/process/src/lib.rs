//! Supervised children.
//!
//! A child is never started by the server itself. [`spawn`] asks a nursery (the same binary, executed
//! once: [`run_if_supervisor`] is the first line of its `main`) to fork a supervisor, hands that a
//! [`ChildSpec`] over a socket of its own, and gets back a [`Child`] and its [`Output`]. The
//! supervisor builds the confinement, is the reaper of everything the child starts, and takes the
//! whole tree down when the child ends, when it is told to, or when we die.
//!
//! - [`spec`]: what to run and what it may touch
//! - [`child`], [`input`] and [`output`]: the async side that the server holds
//! - [`outlet`]: the one way out of a network of its own
//! - [`remains`]: what they leave behind, removed and counted however deep it is
//! - [`OnDisk`]: whether a program is the same as before
//! - [`probe`]: what this machine can really enforce, found out by doing it
//! - `start`, `nursery`: the way to a supervisor
//! - `loss`: what becomes of a child whose supervisor was killed
//! - `supervisor`: the single-threaded side, between us and the child
//!
//! This is the only crate of the house with unsafe code; it is all in `sys` and in the few system
//! calls nobody wraps.

pub mod child;
mod descriptors;
pub mod error;
pub mod exit;
pub mod input;
mod landlock_rights;
mod loss;
mod nursery;
mod on_disk;
pub mod outlet;
pub mod output;
pub mod probe;
pub mod program;
pub mod remains;
pub mod spec;
mod stage;
mod start;
mod supervisor;
mod sys;
mod system;
mod validate;
mod wire;

pub use child::{Child, Spawned};
pub use error::{ChildError, Remainder, SpawnError};
pub use exit::{Ending, Exit, Limit, Reached};
pub use input::Input;
pub use landlock_rights::LandlockSupport;
pub use on_disk::OnDisk;
pub use outlet::OUTLET;
pub use output::{Output, Stream};
pub use probe::{Support, limits_held_by, probe};
pub use program::{SupervisorProgram, run_if_supervisor};
pub use spec::{ChildSpec, Confined, Confinement, Level, Limits, Network, Stdin};
pub use stage::Stage;
pub use start::spawn;
pub use supervisor::seccomp_program;
