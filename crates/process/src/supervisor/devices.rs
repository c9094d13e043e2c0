//! The few devices a command needs, and nothing else of `/dev`.

/// The device files that are there, readable and writable.
pub(super) const NODES: [&str; 5] = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
];

/// Symbolic links of a usual `/dev`, each with its target.
pub(super) const LINKS: [(&str, &str); 4] = [
    ("/dev/fd", "/proc/self/fd"),
    ("/dev/stdin", "/proc/self/fd/0"),
    ("/dev/stdout", "/proc/self/fd/1"),
    ("/dev/stderr", "/proc/self/fd/2"),
];

/// Where shared memory lives (Python's semaphores, browsers); a private one, gone with the command.
pub(super) const SHARED_MEMORY: &str = "/dev/shm";

/// The size of the private shared memory.
pub(super) const SHARED_MEMORY_SIZE: &str = "64m";
