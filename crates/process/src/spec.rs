//! What to run, and what it may touch.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;

use bytes::Bytes;

/// One child: a program, its whole environment, and its confinement.
///
/// Nothing is inherited: the environment is exactly [`env`](Self::env), standard input is what
/// [`stdin`](Self::stdin) says, the only descriptors are 0 to 2, signals are as a fresh program
/// expects them.
#[derive(Clone)]
pub struct ChildSpec {
    /// The program and its arguments; the first may be a bare name, looked up in the `PATH` of
    /// [`env`](Self::env).
    pub argv: Vec<OsString>,
    /// The environment, complete.
    pub env: Vec<(OsString, OsString)>,
    /// The working directory, absolute.
    pub cwd: PathBuf,
    /// What the child reads as its standard input.
    pub stdin: Stdin,
    /// What the child may touch.
    pub confinement: Confinement,
    /// Resource limits.
    pub limits: Limits,
}

/// The standard input of a child.
#[derive(Clone, Default, PartialEq, Eq)]
pub enum Stdin {
    /// `/dev/null`: it ends at once.
    #[default]
    Null,
    /// These bytes, and then its end. They are there before the child runs, so a child that does not
    /// read them holds nothing up.
    Bytes(Bytes),
    /// What is written to [`Spawned::input`](crate::Spawned::input).
    Pipe,
}

/// Shows which kind it is: what is in it may be a secret.
impl fmt::Debug for Stdin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("Null"),
            Self::Bytes(bytes) => write!(f, "Bytes({})", bytes.len()),
            Self::Pipe => f.write_str("Pipe"),
        }
    }
}

/// Values of the environment may be secrets, so they are counted and not shown.
impl fmt::Debug for ChildSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChildSpec")
            .field("argv", &self.argv.len())
            .field("env", &self.env.len())
            .field("cwd", &self.cwd)
            .field("stdin", &self.stdin)
            .field("confinement", &self.confinement)
            .field("limits", &self.limits)
            .finish()
    }
}

/// Whether the child is held, or only supervised.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Confinement {
    /// Supervised, not confined: the child may do what we may do.
    Unconfined,
    /// Supervised; the child is a program that confines another one. When its tree is asked to end,
    /// it is not: it has to stay until what it holds has ended.
    Wrapper,
    /// The same, and what it holds has a network of its own with one way out, which is
    /// [`Spawned::outlet`](crate::Spawned::outlet): the program that confines is to leave the
    /// network as it finds it.
    WrapperWithOutlet,
    /// Confined as told.
    Confined(Confined),
}

impl Confinement {
    /// Where the supervisor has to be before it knows anything else.
    pub(crate) fn net(&self) -> Net {
        match self {
            Self::Unconfined | Self::Wrapper => Net::Ours,
            Self::WrapperWithOutlet => Net::Own,
            Self::Confined(confined) => match (confined.level, confined.network) {
                (Level::None | Level::Partial, _) | (Level::Full, Network::On) => Net::Ours,
                (Level::Full, Network::Off | Network::Alone | Network::Outlet) => Net::Own,
            },
        }
    }
}

/// Whose network namespace a supervisor, and all that it starts, is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Net {
    Ours,
    Own,
}

/// The confinement of a child.
///
/// Roots are resolved (symbolic links followed) by the supervisor before anything else; what does not
/// exist among [`read`](Self::read), [`fixed`](Self::fixed), [`hide`](Self::hide),
/// [`private`](Self::private) and [`blank`](Self::blank) is skipped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Confined {
    /// How strong. There is no fall-back: a level that cannot be had is a failed spawn.
    pub level: Level,
    /// Whether the network is there.
    pub network: Network,
    /// Trees that may be read and written: the workspace and the scratch folder. Must exist. A root
    /// must not lie in a tree that earlier children could write, unless that tree is a root too.
    pub write: Vec<PathBuf>,
    /// Trees and files that may be read and executed.
    pub read: Vec<PathBuf>,
    /// Trees and files in a writable root that may be read, and neither changed, moved nor removed:
    /// what outside programs run by. Only [`Level::Full`] can do it, and only for what exists: one
    /// that is not there can be made.
    pub fixed: Vec<PathBuf>,
    /// Trees and files that are never readable, also inside a root.
    pub hide: Vec<PathBuf>,
    /// Trees of our own that are hidden too, but for the roots that lie in them: where the scratch
    /// folder of this session is, and those of others are.
    pub private: Vec<PathBuf>,
    /// Files outside the roots that read as empty instead of being refused, for programs that stop
    /// at a configuration file which exists and cannot be opened. Only [`Level::Full`] can do it.
    pub blank: Vec<PathBuf>,
}

/// How much confinement there is, from none to all of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Nothing that would stop anything.
    None,
    /// Landlock and seccomp, without namespaces: contents are safe; the mode, owner and times of
    /// files outside the workspace are not when we are their owner.
    Partial,
    /// Namespaces (mount, process ids, IPC, network when off; user where we are not root), Landlock
    /// and seccomp.
    Full,
}

impl Level {
    /// The word of the configuration and of `run_started`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Partial => "partial",
            Self::Full => "full",
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Whether a confined child has a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Network {
    /// No sockets but `socketpair`, no `connect`.
    Off,
    /// Local sockets can be made and listened on, for programs that will not start without, and none
    /// can be connected: neither to the network nor to a local service, by no name.
    Alone,
    /// Internet and local sockets, as far as the file system shows them.
    On,
    /// A network of its own with one way out, which is [`Spawned::outlet`](crate::Spawned::outlet),
    /// at [`OUTLET`](crate::OUTLET). No local sockets. Only [`Level::Full`] can do it.
    Outlet,
}

/// Resource limits of a child, each no higher than our own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Open files (`RLIMIT_NOFILE`).
    pub open_files: u64,
    /// Processes and threads of the tree, where a control group counts them, which is tried for any
    /// number but the default; or a process namespace, which may let 300 more be there until its
    /// numbers have gone round once. Else of this user (`RLIMIT_NPROC`), which the kernel does not
    /// apply to root.
    pub processes: u64,
    /// Bytes of one file (`RLIMIT_FSIZE`).
    pub file_bytes: u64,
    /// Bytes of memory of the tree, where a control group can be made; else of each process
    /// (`RLIMIT_DATA`). No limit where it is none.
    pub memory_bytes: Option<u64>,
    /// Seconds of the processor that each process may use (`RLIMIT_CPU`): then it gets `SIGXCPU`,
    /// and a second later `SIGKILL`. No limit where it is none.
    pub cpu_seconds: Option<u64>,
}

impl Limits {
    /// The limits where nothing else is said: they stop what runs away, not what works.
    pub const DEFAULT: Self = Self {
        open_files: 65_536,
        processes: 4_096,
        file_bytes: 64 * 1024 * 1024 * 1024,
        memory_bytes: None,
        cpu_seconds: None,
    };
}

impl Default for Limits {
    fn default() -> Self {
        Self::DEFAULT
    }
}
