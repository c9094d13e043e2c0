//! Every bound of the file tools, by name.

/// Bounds an operator may set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileLimits {
    /// The largest content that is written in one call, in bytes.
    pub max_write_bytes: u64,
    /// The most that one import or export copies, in bytes.
    pub max_copy_bytes: u64,
    /// The most files and directories that one import or export copies.
    pub max_copy_entries: u64,
    /// The most that one search fetches from another machine, in bytes.
    pub max_fetched_bytes: u64,
    /// How many bytes the files may have together, if there is a bound.
    pub quota: Option<FileQuota>,
}

/// A bound for all files together. What commands write is not counted as they write it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileQuota {
    /// The bound, in bytes.
    pub bytes: u64,
    /// What counts.
    pub counts: QuotaCounts,
}

/// What a quota counts: sizes, whatever room they take on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuotaCounts {
    /// Every file in the workspace, for one that is the session's own: measured before the first
    /// write and again before a refusal.
    Workspace,
    /// What file tools have added since these files were opened, for a workspace that was there
    /// before.
    Made,
}

impl Default for FileLimits {
    fn default() -> Self {
        Self {
            max_write_bytes: 64 << 20,
            max_copy_bytes: 2 << 30,
            max_copy_entries: 100_000,
            max_fetched_bytes: 1 << 30,
            quota: None,
        }
    }
}

/// Linux takes no longer path.
pub(super) const MAX_PATH_BYTES: usize = 4095;
/// The most bytes one read gives; the caller reads on from there.
pub(super) const MAX_READ_BYTES: u64 = 8 << 20;
/// The piece in which whole files are hashed.
pub(super) const HASH_PIECE: usize = 1 << 20;
/// The deepest directory that a walk enters, counted from where it starts.
pub(super) const MAX_DEPTH: u32 = 128;
/// The most entries that one walk looks at.
pub(super) const MAX_WALKED: u64 = 1_000_000;
/// The most entries of a listing, files of a glob or hits of a search, whatever the caller asks.
pub(super) const MAX_RESULTS: usize = 10_000;
/// The most remarks on what was skipped; the rest is counted.
pub(super) const MAX_REMARKS: usize = 50;
/// The largest ignore file that is read.
pub(super) const MAX_IGNORE_BYTES: u64 = 1 << 20;
/// The longest line of a hit, in characters; of a longer one the part around the match is given.
pub(super) const MAX_LINE_CHARS: usize = 1000;
/// How much of a longer line is kept before the match, in characters.
pub(super) const LINE_LEAD_CHARS: usize = 200;
/// The most characters of a hit that spans lines.
pub(super) const MAX_HIT_CHARS: usize = 4000;
/// The most text of all hits together, in bytes; a search that has so much is cut.
pub(super) const MAX_FOUND_BYTES: u64 = 4 << 20;
/// Text of hits that is held before its turn comes. More files wait to be searched until then.
pub(super) const MAX_AHEAD_BYTES: u64 = 32 << 20;
/// A file that has grown by more than this since its search began is left there.
pub(super) const MAX_GROWTH_BYTES: u64 = 64 << 20;
/// The most lines of context on either side of a hit.
pub(super) const MAX_CONTEXT_LINES: u32 = 1000;
/// The most memory for one line (or, where matches may cross lines, one file) of a search.
pub(super) const MAX_SEARCH_HEAP: usize = 64 << 20;
/// The most memory for a compiled expression.
pub(super) const MAX_REGEX_BYTES: usize = 10 << 20;
/// The most threads of one search.
pub(super) const MAX_SEARCH_THREADS: usize = 4;
/// How often a resolution that raced with a rename is tried again.
pub(super) const MAX_RESOLVE_TRIES: u32 = 128;
/// How many symbolic links a path may have, as in the kernel.
pub(super) const MAX_LINKS: u32 = 40;
/// How often an import starts over because somebody took its name.
pub(super) const MAX_COPY_TRIES: u32 = 8;
/// The most directories that a session remembers to have swept; then it begins anew.
pub(super) const MAX_SWEPT: usize = 4096;
/// How many names of a directory are looked at to sweep it; a write does not wait for more.
pub(super) const MAX_SWEPT_NAMES: u64 = 10_000;
/// The most changes that are made together.
pub(super) const MAX_CHANGES: usize = 256;
