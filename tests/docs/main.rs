//! What the pages say is what happens: every example of `README.md` and `docs/` is run or read, and
//! every table that could drift is held to the code.
//!
//! How a block is treated follows from what stands behind its fence:
//!
//! | fence | what is done |
//! |---|---|
//! | `console` | each line `$ …` is run by a shell; what it prints, and `[exit N]` where it fails, is compared. `[..]` stands for a part of a line, a line `...` for any lines |
//! | `console`, beginning with `# not run by the tests: why` | listed on stderr with its reason |
//! | `console`, a line ending with `&` | a server: it runs until the page is over, on a port of its own |
//! | `js` | run by Node, to the end of its AG-UI run; skipped with a reason where its package is not there |
//! | `console needs-full-sandbox` | as `console`; skipped with a reason where this machine has no full sandbox |
//! | `LANGUAGE NAME.EXT` | written to that file before what follows; an `outfitter.toml` is checked, other TOML is read |
//! | `toml` | checked as an `outfitter.toml` |
//! | `json`, `ndjson` | read as JSON |
//! | `rust` | compiled and run as a documentation test: the page stands in `src/doctests.rs` |
//! | `input`, `result`, `sse` of a protocol | nothing here: the tests of `outfitter-codec` write and read them |
//! | `text` | nothing; it may not look like a command |
//!
//! A page is one story: its commands share a home without keys, a workspace, and nothing else.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "helpers of tests may fail the test"
)]

mod block;
mod check;
mod codes_page;
mod examples;
mod page;
mod tools_page;
mod transcript;
mod words;
mod world;
