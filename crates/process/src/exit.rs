//! How a child ended.

/// How the child's own process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ending {
    /// It exited with this code.
    Code(i32),
    /// It was ended by this signal.
    Signal(i32),
}

/// The end of a child and of everything it started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exit {
    /// How the child's own process ended.
    pub ending: Ending,
    /// How many processes of its tree it left behind, which had to be killed; 0 where it was itself
    /// ended from outside, and they with it.
    pub killed_children: u32,
    /// Process ids (as the child's tree counts them) that outlived `SIGKILL` for as long as we
    /// waited: stuck in the kernel.
    pub survivors: Vec<u32>,
    /// Limits that stopped something of it.
    pub reached: Vec<Reached>,
    /// Limits that a control group counted: of these, all that was stopped is in
    /// [`reached`](Self::reached).
    pub counted: Vec<Limit>,
    /// Which limits could not be had here, one sentence each.
    pub notes: Vec<String>,
}

/// A limit that was reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reached {
    /// Which.
    pub limit: Limit,
    /// What it did, in one sentence.
    pub said: String,
}

/// A limit of a tree or of its parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Limit {
    /// [`Limits::memory_bytes`](crate::Limits::memory_bytes).
    Memory,
    /// [`Limits::processes`](crate::Limits::processes).
    Processes,
    /// [`Limits::cpu_seconds`](crate::Limits::cpu_seconds).
    Time,
    /// [`Limits::file_bytes`](crate::Limits::file_bytes).
    FileSize,
}

impl Limit {
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Memory => 0,
            Self::Processes => 1,
            Self::Time => 2,
            Self::FileSize => 3,
        }
    }

    pub(crate) fn from_code(code: u8) -> Option<Self> {
        [Self::Memory, Self::Processes, Self::Time, Self::FileSize]
            .into_iter()
            .find(|limit| limit.code() == code)
    }
}
