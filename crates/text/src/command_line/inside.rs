//! What a command runs: the commands within its arguments, or why they cannot be seen.

use super::parser::{Budget, read};
use super::tries::tries;
use super::wrappers::{HARMLESS_VARIABLES, Wrapper, wrapper};
use super::{Command, Unparsable, Word, WordKind, find, git, sed};

/// What became of looking into a command: why it is opaque, where it is.
pub(super) type Seen = Result<Option<&'static str>, Unparsable>;

pub(super) const UNSEEN: &str = "what it runs shows only when it runs";
const ELSEWHERE: &str = "what it runs stands elsewhere";

/// Appends the commands that `command` runs.
pub(super) fn inside(
    command: &Command,
    depth: usize,
    budget: &mut Budget,
    out: &mut Vec<Command>,
) -> Seen {
    let Some(program) = command.program() else {
        return Ok(None);
    };
    let args = &command.words[1..];
    match base(program) {
        "sh" | "bash" | "dash" | "zsh" | "ksh" | "ash" | "rbash" | "fish" => {
            shell(args, depth, budget, out)
        }
        "eval" => script(args, depth, budget, out),
        "source" | "." => Ok(Some(ELSEWHERE)),
        "alias" if !args.is_empty() => Ok(Some("names mean something else after it")),
        "trap" => trap(args, depth, budget, out),
        "watch" if !args.iter().any(|word| word.text.starts_with("--")) => {
            after_options(args, "-n", depth, budget, out)
        }
        "npm" | "pnpm" | "yarn" | "bun"
            if !args.iter().any(|word| {
                !word.is_literal() || ["exec", "x", "dlx"].contains(&word.text.as_str())
            }) =>
        {
            Ok(None)
        }
        "su" | "runuser" | "script" | "watch" | "parallel" | "entr" | "prlimit" | "setpriv"
        | "nsenter" | "setarch" | "linux32" | "linux64" | "i386" | "i686" | "x86_64"
        | "aarch64" | "fakeroot" | "fakechroot" | "valgrind" | "start-stop-daemon"
        | "systemd-run" | "systemd-inhibit" | "npm" | "pnpm" | "yarn" | "bun" | "npx" | "bunx"
        | "uvx" | "pkexec" | "sg" | "capsh" | "bwrap" | "firejail" | "proot"
        | "dbus-run-session" | "xvfb-run" | "ssh-agent" | "numactl" | "cpulimit" | "catchsegv"
        | "gdb" | "perf" | "unbuffer" | "rlwrap" | "torsocks" | "proxychains" | "proxychains4"
        | "caffeinate" | "cgexec" | "choom" | "uclampset" | "coresched" | "daemonize"
        | "s6-setuidgid" | "chpst" | "gosu" | "su-exec" | "tini" | "dumb-init" | "hyperfine"
        | "ts-node" => tries(args, depth, budget, out),
        name if name.starts_with("ld-linux") || name.starts_with("ld-musl") || name == "ld.so" => {
            tries(args, depth, budget, out)
        }
        "let" => Ok(Some("what it evaluates may run a command")),
        "test" | "["
            if args
                .iter()
                .any(|word| ["-v", "-R"].contains(&word.text.as_str())) =>
        {
            Ok(Some("the name of a variable may run a command"))
        }
        "printf" | "read" | "unset" | "declare" | "typeset" | "local" | "export" | "readonly"
        | "getopts" | "mapfile" | "readarray" | "wait"
            if args
                .iter()
                .any(|word| word.text.contains('[') && word.text.contains(['$', '`'])) =>
        {
            Ok(Some("the name of a variable may run a command"))
        }
        "at" | "batch" | "crontab" | "expect" => Ok(Some(UNSEEN)),
        "find" => {
            for words in find::runs(args) {
                run(words, depth, budget, out)?;
            }
            Ok(None)
        }
        "git" => git::inside(args, depth, budget, out),
        "sed" | "gsed" => Ok(sed::runs_programs(args).then_some("its script may run a program")),
        "awk" | "gawk" | "mawk" | "nawk" => Ok(awk(args)),
        "xargs" => xargs(args, depth, budget, out),
        "env" => env(args, depth, budget, out),
        name => match wrapper(name) {
            Some(wrapper) => wrapped(&wrapper, args, depth, budget, out),
            None => Ok(runs_by_option(name, args)),
        },
    }
}

/// The name of a program without the folder it is in.
pub(super) fn base(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

/// A command that is run, and what it runs in turn.
pub(super) fn run(
    words: Vec<Word>,
    depth: usize,
    budget: &mut Budget,
    out: &mut Vec<Command>,
) -> Result<(), Unparsable> {
    let fault = |why| Unparsable { at: 0, why };
    if words.is_empty() {
        return Ok(());
    }
    if depth >= super::MAX_DEPTH {
        return Err(fault("it is nested too deep"));
    }
    if budget.steps > budget.most {
        return Err(fault("texts stand in texts too often"));
    }
    budget.commands += 1;
    if budget.commands > super::MAX_COMMANDS {
        return Err(fault("there are too many commands"));
    }
    budget.steps += words.iter().map(|word| word.text.len()).sum::<usize>();
    let mut command = Command {
        words,
        ..Command::default()
    };
    let place = out.len();
    command.opaque = match command.program() {
        None => Some(UNSEEN),
        Some(_) => inside(&command, depth + 1, budget, out).unwrap_or(Some(UNSEEN)),
    };
    out.insert(place, command);
    Ok(())
}

/// Words that together are a text for a shell.
pub(super) fn script(
    words: &[Word],
    depth: usize,
    budget: &mut Budget,
    out: &mut Vec<Command>,
) -> Seen {
    if !words.iter().all(Word::is_literal) {
        return Ok(Some(UNSEEN));
    }
    let words: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
    if depth >= super::MAX_DEPTH {
        return Ok(Some(UNSEEN));
    }
    match read(&words.join(" "), depth + 1, budget, out) {
        Ok(()) => Ok(None),
        Err(_) => Ok(Some("what it runs cannot be read")),
    }
}

fn shell(args: &[Word], depth: usize, budget: &mut Budget, out: &mut Vec<Command>) -> Seen {
    let mut takes = false;
    for (at, word) in args.iter().enumerate() {
        if word.kind == WordKind::Dynamic {
            return Ok(Some(UNSEEN));
        }
        match word.text.as_str() {
            "--norc" | "--noprofile" | "--posix" | "--login" | "--" => {}
            text if text.starts_with("--") => return Ok(Some(UNSEEN)),
            text if text.starts_with('-') && text.len() > 1 => {
                if text.contains(['o', 'O', 'i', 's']) {
                    return Ok(Some(UNSEEN));
                }
                takes |= text.contains('c');
            }
            text if text.starts_with('+') => {}
            _ if takes => return script(&args[at..=at], depth, budget, out),
            _ => return Ok(Some(ELSEWHERE)),
        }
    }
    Ok(Some(ELSEWHERE))
}

/// The text that comes first.
fn trap(args: &[Word], depth: usize, budget: &mut Budget, out: &mut Vec<Command>) -> Seen {
    let at = usize::from(args.first().is_some_and(|word| word.text == "--"));
    script(args.get(at..at + 1).unwrap_or(&[]), depth, budget, out)
}

fn after_options(
    args: &[Word],
    with_value: &str,
    depth: usize,
    budget: &mut Budget,
    out: &mut Vec<Command>,
) -> Seen {
    let mut at = 0;
    while let Some(word) = args.get(at).filter(|word| word.text.starts_with('-')) {
        at += if word.text == with_value { 2 } else { 1 };
    }
    script(args.get(at..).unwrap_or(&[]), depth, budget, out)
}

fn xargs(args: &[Word], depth: usize, budget: &mut Budget, out: &mut Vec<Command>) -> Seen {
    let options = Wrapper {
        flags: "0rtpxo",
        values: "adEILnPs",
        operands: 0,
    };
    let Some(at) = options.command(args) else {
        return tries(args, depth, budget, out);
    };
    let mut words = args[at..].to_vec();
    if words.is_empty() {
        return Ok(None);
    }
    words.push(Word {
        text: "{}".to_owned(),
        kind: WordKind::Dynamic,
    });
    // What it reads may stand anywhere with -I.
    let places = args[..at].iter().any(|word| word.text.starts_with("-I"));
    if places {
        for word in &mut words {
            word.kind = WordKind::Dynamic;
        }
    }
    run(words, depth, budget, out)?;
    Ok(None)
}

fn env(args: &[Word], depth: usize, budget: &mut Budget, out: &mut Vec<Command>) -> Seen {
    let options = Wrapper {
        flags: "i0v",
        values: "uC",
        operands: 0,
    };
    if let Some(seen) = split_by_env(args, depth, budget, out) {
        return seen;
    }
    let Some(mut at) = options.command(args) else {
        return tries(args, depth, budget, out);
    };
    // `-` is `-i`.
    at += usize::from(args.get(at).is_some_and(|word| word.text == "-"));
    while let Some((name, _)) = args.get(at).and_then(|word| word.text.split_once('=')) {
        if !HARMLESS_VARIABLES.contains(&name) {
            tries(&args[at + 1..], depth, budget, out)?;
            return Ok(Some("a variable changes what it runs"));
        }
        at += 1;
    }
    run(args[at..].to_vec(), depth, budget, out)?;
    Ok(None)
}

fn wrapped(
    wrapper: &Wrapper,
    args: &[Word],
    depth: usize,
    budget: &mut Budget,
    out: &mut Vec<Command>,
) -> Seen {
    let begins = |at: &usize| {
        args.get(*at)
            .is_none_or(|word| !word.text.starts_with('-') && !word.text.contains('='))
    };
    match wrapper.command(args).filter(begins) {
        Some(at) => {
            run(args[at..].to_vec(), depth, budget, out)?;
            Ok(None)
        }
        None => tries(args, depth, budget, out),
    }
}

/// `-S TEXT` and its other spellings: the text is split into words, which stand in its place.
fn split_by_env(
    args: &[Word],
    depth: usize,
    budget: &mut Budget,
    out: &mut Vec<Command>,
) -> Option<Seen> {
    for (at, word) in args.iter().enumerate() {
        let option = word.text.strip_prefix('-')?;
        let (text, after) = match option.strip_prefix('-') {
            Some(long) => match long.split_once('=') {
                Some((name, text)) if !name.is_empty() && "split-string".starts_with(name) => {
                    (text, at + 1)
                }
                None if !long.is_empty() && "split-string".starts_with(long) => {
                    (args.get(at + 1)?.text.as_str(), at + 2)
                }
                _ => continue,
            },
            None => match option.split_once('S') {
                Some((_, "")) => (args.get(at + 1)?.text.as_str(), at + 2),
                Some((_, text)) => (text, at + 1),
                None => continue,
            },
        };
        let plain = args[..after].iter().all(Word::is_literal)
            && !text.contains(['\\', '$', '#', '\'', '"', '`']);
        let words = text.split_whitespace().map(Word::literal);
        let words: Vec<Word> = words.chain(args[after..].iter().cloned()).collect();
        return Some(if depth >= super::MAX_DEPTH {
            Ok(Some(UNSEEN))
        } else if plain {
            env(&words, depth + 1, budget, out)
        } else {
            let seen = script(&[Word::literal(text)], depth, budget, out);
            seen.and_then(|_| tries(&words, depth, budget, out))
        });
    }
    None
}

fn awk(args: &[Word]) -> Option<&'static str> {
    let bad = |word: &Word| {
        let text = word.text.as_str();
        !word.is_literal()
            || ["system", "getline", "|", "@", ">", "ARGV", "ARGC", "SYMTAB"]
                .iter()
                .any(|part| text.contains(part))
            || ["-f", "-i", "-l", "-E", "--"]
                .iter()
                .any(|option| text.starts_with(option))
    };
    args.iter()
        .any(bad)
        .then_some("its program may run another")
}

/// Programs that run another where an option says so.
fn runs_by_option(name: &str, args: &[Word]) -> Option<&'static str> {
    let options: &[&str] = match name {
        "tar" | "bsdtar" => &[
            "--checkpoint-action",
            "--to-command",
            "--use-compress-program",
            "--rsh-command",
            "--new-volume-script",
            "-I",
            "-F",
        ],
        "rsync" => &["-e", "--rsh", "--rsync-path"],
        "ssh" | "scp" | "sftp" => &["-o", "-F", "-S"],
        "sort" => &["--compress-program"],
        "rg" => &["--pre", "--hostname-bin"],
        "fd" | "fdfind" => &["-x", "-X", "--exec"],
        "zip" => &["-TT", "--unzip-command"],
        "man" => &["-P", "--pager", "-H"],
        _ => return None,
    };
    let runs = args.iter().any(|word| {
        let text = word.text.as_str();
        word.kind == WordKind::Dynamic
            || options.iter().any(|option| {
                text.starts_with(option)
                    || text.len() > 3
                        && text.starts_with("--")
                        && option.starts_with(text.split('=').next().unwrap_or(text))
            })
    });
    runs.then_some("an option may name a program to run")
}
