//! What all programs are given.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use outfitter_core::{CredentialIssuer, SpecCache};
use outfitter_process::SupervisorProgram;

/// What all programs are given. The environment of our own process is read elsewhere, once.
#[derive(Clone)]
pub struct Host {
    /// Supervises them.
    pub supervisor: SupervisorProgram,
    /// A directory of ours, absolute: each call has a folder in it, for as long as it lasts, which
    /// is its home and its working directory. Made when it is not there.
    pub scratch: PathBuf,
    /// `PATH`.
    pub path: OsString,
    /// `LANG`.
    pub lang: Option<OsString>,
    /// `TZ`.
    pub tz: Option<OsString>,
    /// Signs for each call. Without one, a program that wants credentials is `unavailable`.
    pub issuer: Option<Arc<dyn CredentialIssuer>>,
    /// Where what programs offer is kept, for those that are asked at their first call. Without it
    /// they are asked at once.
    pub specs: Option<Arc<dyn SpecCache>>,
}
