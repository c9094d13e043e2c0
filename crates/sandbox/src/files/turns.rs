//! Turns of writers, so that of two that saw the same content only one wins.

use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher, Hash};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

/// How many writers at most work at once; files that share a turn only wait for each other.
const TURNS: usize = 64;

/// Who writes the same file waits for the same one.
#[derive(Debug)]
pub(super) struct Turns([Mutex<()>; TURNS]);

impl Default for Turns {
    fn default() -> Self {
        Self([const { Mutex::new(()) }; TURNS])
    }
}

impl Turns {
    /// Those of this machine, for all sessions of this process.
    pub(super) fn here() -> Arc<Self> {
        static HERE: LazyLock<Arc<Turns>> = LazyLock::new(Arc::default);
        Arc::clone(&HERE)
    }

    /// Which one is that of a file.
    pub(super) fn of(file: impl Hash) -> usize {
        let hash = BuildHasherDefault::<DefaultHasher>::default().hash_one(file);
        usize::try_from(hash % TURNS as u64).unwrap_or(0)
    }

    /// Waits for one. Who needs several takes them in ascending order.
    pub(super) fn take(&self, turn: usize) -> MutexGuard<'_, ()> {
        self.0[turn].lock().unwrap_or_else(PoisonError::into_inner)
    }
}
