//! What a line that only reads depends on where nothing holds it: which files it opens, and whether
//! some file chooses what its programs do.

use std::collections::BTreeSet;

use super::inside::base;
use super::read_only::without;
use super::{Command, CommandLine, Flow, Word, WordKind};

/// How many paths of a line are looked at.
pub const MAX_READS: usize = 512;

/// The longest word that may be a path, in bytes.
const MAX_PATH_BYTES: usize = 4096;

const TOO_MANY: &str = "it has more words than are looked at";
const MOVES: &str = "it changes where it runs on the way";
const NAMES: &str = "it names files by a pattern, and what those lead to shows only when it runs";
const LINKS: &str = "it follows links that it finds on the way";

/// The paths that a line opens, as seen from where it runs, where it is one that
/// [only reads](super::Reading::Inside); more than these it does not open. `text` is the line as it
/// was written.
///
/// # Errors
/// Why it may do more than that without a sandbox, one fragment: some file chooses what a program
/// does, or what it opens cannot be told.
pub fn reads_of(text: &str, line: &CommandLine) -> Result<BTreeSet<String>, &'static str> {
    let base = moved(text, line)?;
    let mut found = BTreeSet::new();
    for command in &line.commands {
        let args = command.words.get(1..).unwrap_or(&[]);
        if let Some(why) = command.program().and_then(|program| beyond(program, args)) {
            return Err(why);
        }
        for word in args.iter().chain(sources(command)) {
            if word.kind != WordKind::Literal {
                return Err(NAMES);
            }
            found.extend(paths_in(&word.text));
            if found.len() > MAX_READS {
                return Err(TOO_MANY);
            }
        }
    }
    if let Some(base) = base {
        let there: Vec<String> = found.iter().map(|path| format!("{base}/{path}")).collect();
        found.extend(there);
    }
    Ok(found)
}

/// The folder that a line goes to before anything else, if it goes anywhere.
fn moved<'l>(text: &str, line: &'l CommandLine) -> Result<Option<&'l str>, &'static str> {
    let mut moves = line
        .commands
        .iter()
        .filter(|command| command.program() == Some("cd"));
    let Some(first) = moves.next() else {
        return Ok(None);
    };
    // At the very start it is in no loop and runs once.
    let at_once = text.trim_start().starts_with("cd ") && moves.next().is_none();
    match &first.words[1..] {
        [to] if at_once && to.is_literal() && !to.text.starts_with('-') => Ok(Some(&to.text)),
        _ => Err(MOVES),
    }
}

fn sources(command: &Command) -> impl Iterator<Item = &Word> {
    let streams = command.redirections.iter();
    streams
        .filter(|stream| stream.flow == Flow::Read)
        .map(|stream| &stream.target)
}

/// Why a program that only reads may do more, or elsewhere, by what is in the workspace.
fn beyond(program: &str, args: &[Word]) -> Option<&'static str> {
    let is = |wanted: &str| args.iter().any(|word| word.text == wanted);
    let follows = |letters: &str| {
        let names = ["dereference", "follow"];
        (!without(args, letters, &names)).then_some(LINKS)
    };
    match base(program) {
        "git" if args.len() == 1 && (is("--version") || is("version")) => None,
        "git" => Some("git runs what the configuration and the attributes of the repository say"),
        "rg" if !is("--no-config") => Some(
            "rg reads options from a file that may be one of the workspace (--no-config: none)",
        ),
        "rg" => follows("L"),
        "grep" | "egrep" | "fgrep" => follows("R"),
        "ls" => follows("LH"),
        "du" => follows("LDH"),
        "tree" => follows("l"),
        "diff" if !is("--no-dereference") => Some(LINKS),
        "find" => {
            if is("-L") || is("-H") || is("-follow") {
                return Some(LINKS);
            }
            (is("-execdir") || is("-okdir")).then_some(MOVES)
        }
        "env" => (!without(args, "C", &["chdir"])).then_some(MOVES),
        _ => None,
    }
}

/// The paths that a word may be or hold: itself, what an option has for a value, and the parts
/// of lists.
fn paths_in(word: &str) -> Vec<String> {
    if word == "/dev/null" || word.len() > MAX_PATH_BYTES {
        return Vec::new();
    }
    let mut found: Vec<&str> = word.split(['=', ':', ',']).collect();
    found.push(word);
    if let Some((_, value)) = word.split_once('=') {
        found.push(value);
    }
    if word.starts_with('-') && !word.starts_with("--") {
        // `-flink`, `-rflink`
        found.extend(word.char_indices().skip(2).map(|(at, _)| &word[at..]));
    }
    let is_path = |text: &&str| !text.is_empty() && !text.starts_with('-');
    found
        .into_iter()
        .filter(is_path)
        .map(str::to_owned)
        .collect()
}
