//! Every bound of this crate, by name.

/// The largest SKILL.md, and the largest file of a pack that is read, in bytes.
pub const MAX_FILE_BYTES: usize = 256 * 1024;

/// The largest frontmatter in bytes.
pub const MAX_FRONTMATTER_BYTES: usize = 64 * 1024;

/// The longest name in characters that is loaded at all. The specification allows
/// [`SPEC_NAME_CHARS`].
pub const MAX_NAME_CHARS: usize = 128;

/// The longest name of the Agent Skills specification, in characters.
pub const SPEC_NAME_CHARS: usize = 64;

/// The longest description of the Agent Skills specification, in characters.
pub const SPEC_DESCRIPTION_CHARS: usize = 1024;

/// The longest `compatibility` of the Agent Skills specification, in characters.
pub const SPEC_COMPATIBILITY_CHARS: usize = 500;

/// How many levels below a root are searched: `root/1/2/3/4/5/6/SKILL.md` is found.
pub const MAX_DEPTH: usize = 6;

/// How many directories below one root are searched.
pub const MAX_DIRECTORIES: usize = 10_000;

/// How many entries of one directory are looked at.
pub const MAX_ENTRIES: usize = 20_000;

/// How many diagnostics one root gives; one more says how many there were.
pub const MAX_DIAGNOSTICS: usize = 500;

/// How many files of a pack `load_skill` lists.
pub const MAX_LISTED_FILES: usize = 100;

/// How many entries of a pack are looked at to list its files.
pub const MAX_PACK_ENTRIES: usize = 5_000;

/// How many dependencies, tags or tools one skill may declare; more are left out.
pub const MAX_DECLARED: usize = 100;

/// How many tokens one `load_skill` gives of a skill and its dependencies. It is below the usual
/// limit of a result, so that a result is rarely cut.
pub const LOAD_TOKENS: usize = 10_000;

/// How many tokens the skills have that are in the context from the first request.
pub const PRELOAD_TOKENS: usize = 18_000;

/// How many bytes the catalogue has in a request unless told otherwise.
pub const CATALOGUE_BYTES: usize = 8_000;

/// Up to how many skills the schema of `load_skill` names them all.
pub const MAX_NAMED_IN_SCHEMA: usize = 256;

/// How many skills a prompt finds by itself, unless told otherwise.
pub const MAX_DISCOVERED: usize = 3;

/// The least score of a skill that a prompt finds by itself, unless told otherwise.
pub const MIN_SCORE: f64 = 0.05;

/// How many bytes of a prompt skills are found by.
pub const MAX_QUERY_BYTES: usize = 8_000;
