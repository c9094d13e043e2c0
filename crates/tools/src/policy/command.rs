//! A pattern of words against the commands of a line.

use outfitter_core::Pattern;
use std::borrow::Cow;

use outfitter_text::command_line::{Command, CommandLine, Word, WordKind, is_harmless_variable};
use outfitter_text::{is_deceptive, is_invisible, without_invisible};

use super::Fit;

/// Whether every command of a line is one that some pattern allows, and does nothing beside.
pub(super) fn all(patterns: &[&str], line: &CommandLine) -> bool {
    let split = |pattern: &&str| pattern.split_whitespace().map(str::to_owned).collect();
    let patterns: Vec<Vec<String>> = patterns.iter().map(split).collect();
    let allowed = |command: &Command| {
        let harmless = |name: &str| is_harmless_variable(name);
        command.opaque.is_none()
            && command.redirections.iter().all(|stream| !stream.writes())
            && command.assignments.iter().all(|set| harmless(&set.name))
            && patterns
                .iter()
                .any(|pattern| exactly(pattern, &command.words))
    };
    !line.commands.is_empty() && line.commands.iter().all(allowed)
}

fn exactly(pattern: &[String], words: &[Word]) -> bool {
    let (fixed, open) = match pattern.split_last() {
        Some((last, fixed)) if last == "*" => (fixed, true),
        _ => (pattern, false),
    };
    let enough = if open {
        words.len() >= fixed.len()
    } else {
        words.len() == fixed.len()
    };
    // What shows otherwise than it is has been allowed by nobody.
    let shows = words.iter().enumerate().all(|(at, word)| {
        let fixed = at < fixed.len();
        !word
            .text
            .contains(|c| is_deceptive(c) || fixed && is_invisible(c))
    });
    enough
        && shows
        && fixed
            .iter()
            .zip(words)
            .enumerate()
            .all(|(at, (glob, word))| {
                let text = if at == 0 {
                    system(&word.text)
                } else {
                    &word.text
                };
                word.kind == WordKind::Literal && Pattern::new(glob.as_str()).matches(text)
            })
}

/// The name of a program of the system; another is called by its path.
fn system(program: &str) -> &str {
    ["/bin/", "/usr/bin/"]
        .iter()
        .find_map(|folder| program.strip_prefix(folder))
        .filter(|name| !name.contains('/'))
        .unwrap_or(program)
}

/// How surely some command of a line is one that the pattern means, whatever options stand between.
pub(super) fn any(pattern: &str, line: &CommandLine) -> Fit {
    let words: Vec<&str> = pattern
        .split_whitespace()
        .filter(|word| *word != "*")
        .collect();
    let each = line.commands.iter().map(|command| {
        let fit = loosely(&words, &command.words).max(loosely(&words, &shown(&command.words)));
        if command.opaque.is_some() {
            fit.max(Fit::Maybe)
        } else {
            fit
        }
    });
    each.max().unwrap_or(Fit::No)
}

/// The words as a reader sees them.
fn shown(words: &[Word]) -> Cow<'_, [Word]> {
    if words.iter().all(|word| !word.text.contains(is_invisible)) {
        return Cow::Borrowed(words);
    }
    let shown = words.iter().map(|word| Word {
        text: without_invisible(&word.text),
        kind: word.kind,
    });
    Cow::Owned(shown.collect())
}

fn loosely(pattern: &[&str], words: &[Word]) -> Fit {
    let (Some((program, rest)), Some((first, args))) = (pattern.split_first(), words.split_first())
    else {
        return if pattern.is_empty() {
            Fit::Yes
        } else {
            Fit::No
        };
    };
    let called = Pattern::new(*program);
    let name = first.text.rsplit('/').next().unwrap_or(&first.text);
    if first.kind != WordKind::Literal {
        return Fit::Maybe;
    }
    if !called.matches(&first.text) && !called.matches(name) {
        return Fit::No;
    }
    let (options, operands): (Vec<&str>, Vec<&str>) =
        rest.iter().copied().partition(|word| word.starts_with('-'));
    let has = |wanted: &&str| said(name, wanted, args);
    let options = options.iter().map(has).min().unwrap_or(Fit::Yes);
    options.min(in_order(&operands, args))
}

/// Options that programs have under several names, all of them for the same.
const SPELLINGS: [(&[&str], &[&str]); 3] = [
    (&["rm", "cp", "scp"], &["r", "R", "recursive"]),
    (&["chmod", "chown", "chgrp"], &["R", "recursive"]),
    (
        &["rm", "cp", "mv", "ln", "git", "docker", "podman"],
        &["f", "force"],
    ),
];

/// The names of an option of a program, itself among them.
fn spellings<'a>(program: &str, option: &'a str) -> Vec<&'a str> {
    let others = SPELLINGS
        .iter()
        .filter(|(programs, names)| programs.contains(&program) && names.contains(&option));
    let mut all = vec![option];
    all.extend(others.flat_map(|(_, names)| names.iter()));
    all
}

/// Whether an option is said, also among others, letter by letter, by another of its names, or with
/// its name cut short.
fn said(program: &str, wanted: &str, args: &[Word]) -> Fit {
    let literal = |word: &&Word| word.kind == WordKind::Literal;
    let texts = || args.iter().filter(literal).map(|word| word.text.as_str());
    let one = |option: &str| {
        spellings(program, option).into_iter().any(|name| {
            texts().any(|text| match text.strip_prefix("--") {
                Some(given) => {
                    let given = given.split('=').next().unwrap_or_default();
                    !given.is_empty() && name.len() > 1 && name.starts_with(given)
                }
                None => name.len() == 1 && text.starts_with('-') && text.contains(name),
            })
        })
    };
    let there = match wanted.strip_prefix("--") {
        Some(name) => one(name) || texts().any(|text| Pattern::new(wanted).matches(text)),
        None => wanted[1..]
            .chars()
            .all(|letter| one(letter.encode_utf8(&mut [0; 4]))),
    };
    if there {
        Fit::Yes
    } else if args.iter().any(|word| word.kind != WordKind::Literal) {
        Fit::Maybe
    } else {
        Fit::No
    }
}

/// Whether the words come in this order, each after nothing but options and their values.
fn in_order(wanted: &[&str], args: &[Word]) -> Fit {
    let mut places = vec![(0, Fit::Yes)];
    for glob in wanted {
        let mut after: Vec<(usize, Fit)> = Vec::new();
        for (start, fit) in places {
            let mut value = false;
            for (at, word) in args.iter().enumerate().skip(start) {
                let text = word.text.as_str();
                let here = match word.kind {
                    WordKind::Dynamic => Fit::Maybe,
                    WordKind::Literal | WordKind::Pattern if Pattern::new(*glob).matches(text) => {
                        Fit::Yes
                    }
                    WordKind::Pattern => Fit::Maybe,
                    WordKind::Literal => Fit::No,
                };
                if here != Fit::No
                    && !after
                        .iter()
                        .any(|(place, known)| *place == at + 1 && *known >= fit.min(here))
                {
                    after.push((at + 1, fit.min(here)));
                }
                let option = text.starts_with('-');
                if !option && !value && word.kind == WordKind::Literal {
                    break;
                }
                value = option;
            }
        }
        if after.is_empty() {
            return Fit::No;
        }
        // Only the best way to each of the first places matters; more are no other answer.
        after.sort_unstable_by_key(|(at, fit)| (*at, std::cmp::Reverse(*fit)));
        after.dedup_by_key(|(at, _)| *at);
        places = after;
    }
    places
        .into_iter()
        .map(|(_, fit)| fit)
        .max()
        .unwrap_or(Fit::No)
}
