//! The corpora, and mutations of them from a fixed seed: what a fuzzer does for hours, for a second
//! and the same each time.

use std::path::Path;

/// What a mutation puts in: what the grammars are made of.
const PIECES: &[&str] = &[
    "/",
    "..",
    "../",
    "//",
    "~",
    "$HOME",
    "\0",
    "\n",
    "\r\n",
    " ",
    "'",
    "\"",
    "\\",
    "`",
    "$(",
    ")",
    "${",
    "}",
    "((",
    "))",
    ";",
    "&",
    "&&",
    "||",
    "|",
    "<",
    ">",
    "<<",
    "<<-",
    "<<<",
    "EOF",
    "{",
    "[",
    "]",
    "*",
    "?",
    "!",
    "#",
    "=",
    "@@",
    "@@ -1,2 +1,2 @@",
    "--- a/x",
    "+++ b/x",
    "/dev/null",
    "-",
    "+",
    "====",
    "*** Begin Patch",
    "*** End Patch",
    "*** Update File: ",
    "\u{202e}",
    "é",
    "\u{feff}",
    "999999999999999999999",
    "-1",
    "{base}",
    "proc",
    "out",
    "a/up",
];

/// Calls `check` with each file of a corpus, and with so many mutations.
pub(crate) fn run(corpus: &str, mutations: u32, mut check: impl FnMut(&[u8])) {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fuzz/corpus")
        .join(corpus);
    let mut paths: Vec<_> = std::fs::read_dir(&dir)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    assert!(paths.len() >= 10, "{} has few files", dir.display());
    let seeds: Vec<Vec<u8>> = paths
        .iter()
        .map(|path| std::fs::read(path).unwrap())
        .collect();
    for seed in &seeds {
        check(seed);
    }
    let mut chance = Chance(0x9e37_79b9_7f4a_7c15);
    for _ in 0..mutations {
        let mut text = seeds[chance.below(seeds.len())].clone();
        for _ in 0..=chance.below(4) {
            mutate(&mut text, &seeds, &mut chance);
        }
        check(&text);
    }
}

fn mutate(text: &mut Vec<u8>, seeds: &[Vec<u8>], chance: &mut Chance) {
    let at = chance.below(text.len() + 1);
    let end = at + chance.below((text.len() - at).min(16) + 1);
    match chance.below(6) {
        0 => drop(text.drain(at..end)),
        1 => {
            let piece = PIECES[chance.below(PIECES.len())];
            text.splice(at..at, piece.bytes());
        }
        2 => {
            let piece = PIECES[chance.below(PIECES.len())];
            text.splice(at..end, piece.bytes());
        }
        3 => {
            let again = text[at..end].to_vec();
            text.splice(at..at, again);
        }
        4 => {
            let other = &seeds[chance.below(seeds.len())];
            let from = chance.below(other.len() + 1);
            text.truncate(at);
            text.extend_from_slice(&other[from..]);
        }
        _ => {
            if let Some(byte) = text.get_mut(at) {
                *byte ^= 1 << chance.below(8);
            }
        }
    }
}

/// Xorshift (Marsaglia, 2003).
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap() % end.max(1)
    }
}
