//! The work of a command on a runtime of its own, and what a person or the system stops it with.

use std::future::Future;

use outfitter_core::{Cancel, Code};
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::failure::{Failure, Stop};

/// A runtime for one command.
pub(crate) fn runtime() -> Result<Runtime, Stop> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map(Runtime)
        .map_err(|error| Failure::of(Code::Unavailable, &error).into())
}

/// Does the work of one command.
pub(crate) struct Runtime(tokio::runtime::Runtime);

impl Runtime {
    /// Does the work to its end. A thread that waits for a line on stdin, or for a reader of stdout
    /// who reads nothing, would keep the process for ever after it: it is left behind.
    pub(crate) fn block_on<T>(self, work: impl Future<Output = T>) -> T {
        const WAIT: std::time::Duration = std::time::Duration::from_millis(100);
        let end = self.0.block_on(async {
            survive_a_limit();
            work.await
        });
        self.0.shutdown_timeout(WAIT);
        end
    }
}

/// A file that would grow beyond the limit of the process (`ulimit -f`) ends the process by default.
/// Where the signal is taken, the write fails like one on a full disk. Programs we start do not
/// inherit this.
fn survive_a_limit() {
    let beyond = SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw());
    if let Err(error) = signal(beyond) {
        tracing::warn!(%error, "a limit of the size of files ends the process");
    }
}

/// Runs `work`, and stops it when a person or the system asks. The second time it is left where it
/// is: its processes end with ours.
pub(crate) async fn until_stopped<T>(
    cancel: &Cancel,
    work: impl Future<Output = T>,
) -> Result<T, Stop> {
    until_stopped_by(Signals::listen()?, cancel, work).await
}

/// The same, where these signals stop it.
pub(crate) async fn until_stopped_by<T>(
    mut signals: Signals,
    cancel: &Cancel,
    work: impl Future<Output = T>,
) -> Result<T, Stop> {
    tokio::pin!(work);
    loop {
        tokio::select! {
            biased;
            end = &mut work => return Ok(end),
            () = signals.next() => {}
        }
        if cancel.is_cancelled() {
            let failure = Failure::new(Code::Cancelled, "stop in good order: it was told to twice");
            return Err(Stop::Abandoned(Box::new(failure)));
        }
        cancel.cancel();
    }
}

/// What a person or the system stops a program with.
pub(crate) struct Signals(Vec<Signal>);

impl Signals {
    /// Takes them from now on, so that they do not end the process by themselves.
    pub(crate) fn listen() -> Result<Self, Stop> {
        Self::of(&[
            SignalKind::interrupt(),
            SignalKind::terminate(),
            SignalKind::hangup(),
        ])
    }

    /// The same for who takes the configuration anew with SIGHUP.
    pub(crate) fn but_hangup() -> Result<Self, Stop> {
        Self::of(&[SignalKind::interrupt(), SignalKind::terminate()])
    }

    fn of(kinds: &[SignalKind]) -> Result<Self, Stop> {
        let taken = kinds.iter().map(|kind| signal(*kind));
        let taken: std::io::Result<Vec<Signal>> = taken.collect();
        taken
            .map(Self)
            .map_err(|error| Failure::of(Code::Unavailable, &error).into())
    }

    /// Ends with the next one.
    pub(crate) async fn next(&mut self) {
        let heard = self.0.iter_mut().map(|one| Box::pin(one.recv()));
        futures_util::future::select_all(heard).await;
    }
}
