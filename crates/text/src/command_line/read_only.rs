//! Whether a line only reads. What is not known to do so does not.

use super::inside::base;
use super::wrappers::HARMLESS_VARIABLES;
use super::{Command, CommandLine, Flow, Word, WordKind, find, git, sed};

/// What a line does to the world, as far as its text says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reading {
    /// It reads, and only below where it runs. Links in there may lead out, and files in there may
    /// choose what its programs do: [`reads_of`](super::reads_of).
    Inside,
    /// It reads, and perhaps elsewhere.
    Anywhere,
    /// It may change something.
    Not,
}

impl Reading {
    /// What a line does.
    #[must_use]
    pub fn of(line: &CommandLine) -> Self {
        let all = line.commands.iter().map(of_command);
        all.max().unwrap_or(Self::Inside)
    }
}

fn of_command(command: &Command) -> Reading {
    let harmless = |name: &str| HARMLESS_VARIABLES.contains(&name);
    let streams = command.redirections.iter();
    let writes = streams.clone().any(super::Redirection::writes);
    let sets = command.assignments.iter().any(|set| !harmless(&set.name));
    if command.opaque.is_some() || writes || sets {
        return Reading::Not;
    }
    let Some(program) = command.program() else {
        return if command.words.is_empty() && command.assignments.is_empty() {
            Reading::Inside
        } else {
            Reading::Not
        };
    };
    let folder = program.strip_suffix(base(program)).unwrap_or("");
    let ours = ["", "/bin/", "/usr/bin/"].contains(&folder);
    if !ours || !reads(base(program), &command.words[1..]) {
        return Reading::Not;
    }
    let sources = streams
        .filter(|stream| stream.flow == Flow::Read)
        .map(|stream| &stream.target);
    // Without a folder it goes home, and with `-` to where it was.
    let leaves = program == "cd"
        && !command.words[1..]
            .iter()
            .any(|word| !word.text.is_empty() && !word.text.starts_with('-'));
    if !leaves && command.words[1..].iter().chain(sources).all(is_inside) {
        Reading::Inside
    } else {
        Reading::Anywhere
    }
}

/// Whether a word, if it is a path or holds one, stays below where the command runs.
fn is_inside(word: &Word) -> bool {
    let text = word.text.as_str();
    if text == "/dev/null" {
        return true;
    }
    let option = text.starts_with('-');
    let leads = |part: &str| part.starts_with(['/', '~']) || part == "..";
    let climbs = |part: &str| word.kind == WordKind::Pattern && may_be_parent(part);
    word.kind != WordKind::Dynamic
        && !text.split(['/', '=', ':', ',']).any(climbs)
        && !text.starts_with(['/', '~'])
        && !text.split('/').any(|part| part == "..")
        && !text.split(['=', ':', ',']).any(leads)
        && !text.contains("=..")
        && !(option && (text.contains('/') || text.contains("..")))
}

/// Whether a name with wildcards may be `..`: a shell gives it where the dot that it begins with is
/// written.
fn may_be_parent(name: &str) -> bool {
    let bracket = name.starts_with('[')
        && name
            .split(']')
            .next()
            .is_some_and(|inner| inner.contains(['.', '!', '^']));
    let rest = match name.strip_prefix('.') {
        Some(rest) => rest,
        None if bracket => name.split_once(']').map_or("", |(_, rest)| rest),
        None => return false,
    };
    let one = rest.replace('*', "");
    match one.as_str() {
        "" => rest.contains('*'),
        "?" | "." => true,
        other => other.starts_with('[') && other.ends_with(']'),
    }
}

/// No word is an option that the text does not show.
fn shown(args: &[Word]) -> bool {
    args.iter().all(|word| match word.kind {
        WordKind::Literal => true,
        WordKind::Pattern => !word.text.starts_with(['*', '?', '[', '-']),
        WordKind::Dynamic => false,
    })
}

/// Whether none of these options is there: short letters, and the beginnings of long names.
pub(super) fn without(args: &[Word], letters: &str, names: &[&str]) -> bool {
    shown(args)
        && args.iter().all(|word| {
            let text = word.text.as_str();
            match text.strip_prefix("--") {
                Some("") => true,
                Some(long) => {
                    let long = long.split('=').next().unwrap_or(long);
                    !names
                        .iter()
                        .any(|name| name.starts_with(long) || long.starts_with(name))
                }
                None => {
                    !(text.starts_with('-') && text.contains(|letter| letters.contains(letter)))
                }
            }
        })
}

fn operands(args: &[Word]) -> usize {
    args.iter()
        .filter(|word| !word.text.starts_with('-'))
        .count()
}

fn reads(program: &str, args: &[Word]) -> bool {
    match program {
        "cat" | "head" | "tail" | "ls" | "pwd" | "echo" | "true" | "false" | ":" | "test" | "["
        | "basename" | "dirname" | "realpath" | "readlink" | "stat" | "df" | "cut" | "tr"
        | "nl" | "od" | "cmp" | "diff" | "comm" | "join" | "paste" | "fold" | "expand" | "rev"
        | "tac" | "seq" | "sleep" | "id" | "whoami" | "uname" | "arch" | "nproc" | "which"
        | "type" | "grep" | "egrep" | "fgrep" | "printenv" | "free" | "uptime" | "cd" | "exit"
        | "hexdump" => true,
        "printf" => without(args, "v", &[]),
        // The names of the files may stand in a file.
        "wc" | "du" => without(args, "", &["files0-from"]),
        "md5sum" | "sha1sum" | "sha256sum" | "sha512sum" | "cksum" => {
            without(args, "c", &["check"])
        }
        "strings" => shown(args) && !args.iter().any(|word| word.text.starts_with('@')),
        "ps" => shown(args) && !shows_environments(args),
        "jq" => {
            let names = ["from-file", "library-path"];
            let loads = |word: &Word| {
                let text = word.text.as_str();
                ["import", "include", "modulemeta"]
                    .iter()
                    .any(|what| text.contains(what))
            };
            without(args, "fL", &names) && !args.iter().any(loads)
        }
        "sort" => without(
            args,
            "oT",
            &[
                "output",
                "compress-program",
                "temporary-directory",
                "files0-from",
            ],
        ),
        "uniq" => shown(args) && operands(args) <= 1,
        "tree" => without(args, "oR", &["output"]),
        "file" => without(args, "Cf", &["compile", "files-from"]),
        "rg" => without(args, "", &["pre", "hostname-bin"]),
        "date" => {
            shown(args)
                && args.iter().all(|word| {
                    word.text.starts_with('+')
                        || ["-u", "-R", "-I", "--utc", "--iso-8601"].contains(&word.text.as_str())
                })
        }
        "find" => find::reads_only(args),
        "sed" => sed::reads_only(args),
        // What could run or write is opaque already.
        "awk" | "gawk" | "mawk" => shown(args),
        "git" => git::reads_only(args),
        // What they run is judged beside them.
        "env" | "nice" | "timeout" | "command" | "xargs" | "sh" | "bash" | "dash" => true,
        "time" => without(args, "o", &["output"]),
        // Not cargo, rustc, go, node, npm or python: what stands in front of them on many machines
        // runs the one that a file of the workspace names.
        "gcc" | "make" => args.len() == 1 && args[0].is_literal() && args[0].text == "--version",
        _ => false,
    }
}

/// Whether `ps` shows the environments of processes: with `e` in options without a dash, and with
/// `-E` elsewhere.
fn shows_environments(args: &[Word]) -> bool {
    let mut value = false;
    args.iter().any(|word| {
        let text = word.text.as_str();
        let of_option = std::mem::replace(&mut value, next_is_its_value(text));
        match text.strip_prefix('-') {
            Some(long) if long.starts_with('-') => long.contains("env"),
            // With letters of the other kind it may be read as without a dash.
            Some(letters) => {
                letters.contains('E')
                    || letters.contains("env")
                    || letters.contains('e') && letters.contains(['a', 'x', 'u'])
            }
            None if of_option => text.contains("env"),
            None => text.contains(['e', 'E']),
        }
    })
}

/// Whether the word behind an option of `ps` is its value. The first letter that takes one has what
/// stands behind it in the same word; only where nothing does it is the next word.
fn next_is_its_value(option: &str) -> bool {
    let takes = ['o', 'O', 'p', 'C', 'u', 'U', 't', 'g', 'G'];
    match option.strip_prefix('-') {
        Some(long) if long.starts_with('-') => ["--format", "--sort", "--pid"].contains(&option),
        Some(letters) => letters
            .find(takes)
            .is_some_and(|at| at + 1 == letters.len()),
        None => false,
    }
}
