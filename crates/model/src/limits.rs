//! Every bound of this crate, by name.

use std::time::Duration;

/// The largest reply, counted as it comes over the wire. A megabyte of arguments in small deltas
/// is some ten megabytes there.
pub const MAX_REPLY_BYTES: u64 = 64 * 1024 * 1024;

/// The most that one reply may say, in bytes of text, thoughts, arguments and what is kept for its
/// provider. The longest replies of models have about a million tokens, which is some 4 MB. What is
/// said is shown, stored, indexed and sent again with every turn, so each byte costs several times
/// itself; a reply beyond this is a fault, not an answer.
pub const MAX_SAID_BYTES: u64 = 8 * 1024 * 1024;

/// The largest single event of a stream.
pub const MAX_EVENT_BYTES: usize = 16 * 1024 * 1024;

/// How much of the body of an error status is read.
pub const MAX_ERROR_BODY_BYTES: usize = 64 * 1024;

/// How many characters of a provider's words are kept in an error.
pub const MAX_ERROR_CHARS: usize = 600;

/// The most calls in one reply. The rest is dropped with a warning.
pub const MAX_CALLS: usize = 128;

/// How long the rest of a finished reply is read, so that its connection can be used again.
pub const DRAIN_TIME: Duration = Duration::from_millis(100);

/// How much of the rest of a finished reply is read.
pub const DRAIN_BYTES: usize = 64 * 1024;

/// How long the end mark or the usage may come after the finish reason. A server that gives the
/// reason and then neither ends nor closes has still answered.
pub const END_GRACE: Duration = Duration::from_secs(5);

/// How many times the timeout of a request a whole reply may take, however steadily it comes: an
/// hour by default, which the longest replies of slow models stay below.
pub const WHOLE_REPLY_FACTOR: u32 = 30;

/// How long a whole reply may take in any case.
pub const MIN_WHOLE_REPLY_TIME: Duration = Duration::from_secs(600);

/// The longest `retry-after` that is waited for. A longer one is not worth holding a run for: the
/// call fails with the provider's status at once.
pub const MAX_RETRY_AFTER: Duration = Duration::from_secs(60);

/// What an Anthropic reply may be long, where the wire demands a number and nobody gave one.
pub const DEFAULT_MAX_OUTPUT_TOKENS: u32 = 32_000;

/// How many views of tools are kept as each provider takes them: more than one conversation has,
/// and enough for many at once that have the same few tools.
pub const MAX_SHAPED_VIEWS: usize = 32;
