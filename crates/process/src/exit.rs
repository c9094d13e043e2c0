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
    /// How many other processes of its tree were still there and had to be killed.
    pub killed_children: u32,
    /// Process ids (as the child's tree counts them) that outlived `SIGKILL` for as long as we
    /// waited: stuck in the kernel.
    pub survivors: Vec<u32>,
}
