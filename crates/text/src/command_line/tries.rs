//! Programs that run another in ways that are not known well enough: every word that may begin what
//! they run is tried, so that a rule against it meets it, and the rest stays unseen.

use super::inside::{Seen, UNSEEN, run, script};
use super::parser::Budget;
use super::{Command, Word};

/// How many words may be the beginning of what is run.
const MAX_BEGINNINGS: usize = 8;

/// Appends what the words may run. It is never all.
pub(super) fn tries(
    args: &[Word],
    depth: usize,
    budget: &mut Budget,
    out: &mut Vec<Command>,
) -> Seen {
    let literal = args
        .iter()
        .enumerate()
        .filter(|(_, word)| word.is_literal());
    let beginnings = literal.filter_map(|(at, word)| Some((at, beginning(&word.text)?)));
    for (at, text) in beginnings.take(MAX_BEGINNINGS) {
        if text.contains(char::is_whitespace) {
            script(&[Word::literal(text)], depth, budget, out)?;
        } else {
            let first = std::iter::once(Word::literal(text));
            let words = first.chain(args[at + 1..].iter().cloned()).collect();
            run(words, depth, budget, out)?;
        }
    }
    Ok(Some(UNSEEN))
}

/// What of a word may begin what is run: the word, or the value of an option in it.
fn beginning(word: &str) -> Option<&str> {
    let text = match word.strip_prefix('-') {
        None => word,
        Some(option) if option.starts_with('-') => option.split_once('=')?.1,
        Some(option) => option.split_once(['c', 'x', 'a', 'S'])?.1,
    };
    (!text.is_empty()).then_some(text)
}
