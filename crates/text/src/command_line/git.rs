//! `git`: what of it only reads, and the many ways in which it runs programs.

use super::inside::{Seen, script};
use super::parser::Budget;
use super::{Command, Word, WordKind};

const RUNS: &str = "an option may name a program to run";

/// The commands that it runs, or why they cannot be seen.
pub(super) fn inside(
    args: &[Word],
    depth: usize,
    budget: &mut Budget,
    out: &mut Vec<Command>,
) -> Seen {
    let mut at = 0;
    while let Some(word) = args.get(at) {
        match word.text.as_str() {
            "-C" | "--git-dir" | "--work-tree" | "--namespace" => at += 2,
            "--no-pager" | "-P" | "--bare" | "--no-optional-locks" | "--version" | "--help" => {
                at += 1;
            }
            text if text.starts_with("--git-dir=") || text.starts_with("--work-tree=") => at += 1,
            text if text.starts_with('-') => return Ok(Some(RUNS)),
            _ => break,
        }
    }
    let Some((sub, rest)) = args.get(at..).and_then(<[Word]>::split_first) else {
        return Ok(None);
    };
    if !sub.is_literal() {
        return Ok(Some("which command of git it is shows only when it runs"));
    }
    let operand = |number: usize| rest.get(number).map(|word| word.text.as_str());
    match (sub.text.as_str(), operand(0)) {
        ("submodule", Some("foreach")) => {
            let own = rest[1..]
                .iter()
                .take_while(|word| word.text.starts_with("--"))
                .count();
            return script(&rest[1 + own..], depth, budget, out);
        }
        ("bisect", Some("run")) => return script(&rest[1..], depth, budget, out),
        (
            "filter-branch" | "difftool" | "mergetool" | "instaweb" | "web--browse" | "send-email"
            | "hook",
            _,
        ) => {
            return Ok(Some(RUNS));
        }
        ("config", _)
            if rest
                .iter()
                .any(|word| !word.is_literal() || names_a_program(&word.text)) =>
        {
            return Ok(Some("the setting may name a program to run"));
        }
        _ => {}
    }
    let runs = rest.iter().any(|word| {
        let text = word.text.as_str();
        let long = [
            "--exec",
            "--upload-pack",
            "--receive-pack",
            "--open-files-in-pager",
            "--extcmd",
            "--ext-diff",
            "--config",
            "--template",
        ];
        let name = text.split('=').next().unwrap_or(text);
        let short = match sub.text.as_str() {
            "rebase" => &["-x"][..],
            "grep" => &["-O"],
            "clone" => &["-u", "-c"],
            _ => &[],
        };
        word.kind == WordKind::Dynamic
            && matches!(
                sub.text.as_str(),
                "rebase" | "clone" | "fetch" | "pull" | "push" | "ls-remote" | "grep"
            )
            || name.len() > 3
                && name.starts_with("--")
                && long.iter().any(|option| option.starts_with(name))
            || short.iter().any(|option| text.starts_with(option))
            || text.contains("ext::")
    });
    Ok(runs.then_some(RUNS))
}

/// Whether a setting names a program, or where more settings are.
fn names_a_program(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    let key = key.split('=').next().unwrap_or(&key);
    let ends = [
        "pager",
        "editor",
        "sshcommand",
        "fsmonitor",
        "hookspath",
        "askpass",
        "gitproxy",
        "textconv",
        "command",
        "cmd",
        "driver",
        "process",
        "clean",
        "smudge",
        "helper",
        "external",
        "program",
        "path",
        "uploadpack",
        "receivepack",
        "templatedir",
        "insteadof",
        "attributesfile",
    ];
    key.starts_with("alias.")
        || key.starts_with("pager.")
        || key.starts_with("include")
        || key.contains('.') && ends.iter().any(|end| key.ends_with(end))
        || key.starts_with('-')
            && key != "--global"
            && key != "--get"
            && key != "--list"
            && key != "-l"
            && key != "--local"
}

/// Whether it only reads.
pub(super) fn reads_only(args: &[Word]) -> bool {
    let mut rest = args;
    while let Some((first, after)) = rest.split_first() {
        if first.text == "--no-pager" || first.text == "-P" {
            rest = after;
        } else {
            break;
        }
    }
    let Some((sub, rest)) = rest.split_first() else {
        return true;
    };
    let plain = rest.iter().all(|word| {
        let text = word.text.as_str();
        let bad = [
            "--ou",
            "--ext",
            "--text",
            "--filt",
            "--exec",
            "--open",
            "--up",
            "-O",
            "-o",
            "--no-index",
        ];
        word.kind != WordKind::Dynamic && !bad.iter().any(|option| text.starts_with(option))
    });
    let all = |known: &[&str]| rest.iter().all(|word| known.contains(&word.text.as_str()));
    let first = rest.first().map(|word| word.text.as_str());
    plain
        && sub.is_literal()
        && match sub.text.as_str() {
            "status" | "log" | "show" | "diff" | "rev-parse" | "ls-files" | "ls-tree"
            | "cat-file" | "blame" | "annotate" | "describe" | "shortlog" | "rev-list"
            | "merge-base" | "grep" | "for-each-ref" | "show-ref" | "name-rev" | "whatchanged"
            | "diff-tree" | "version" | "--version" | "count-objects" | "check-ignore" => true,
            "branch" => all(&[
                "-a",
                "-r",
                "-v",
                "-vv",
                "-av",
                "-avv",
                "--list",
                "--show-current",
                "--all",
                "--remotes",
            ]),
            "tag" => rest.is_empty() || matches!(first, Some("-l" | "--list")) && rest.len() <= 2,
            "remote" => all(&["-v", "--verbose"]) || first == Some("get-url") && rest.len() == 2,
            "stash" => matches!(first, Some("list" | "show")),
            "reflog" => rest.is_empty() || first == Some("show"),
            "worktree" => first == Some("list"),
            "submodule" => first == Some("status"),
            "config" => matches!(first, Some("--get" | "--get-all" | "--list" | "-l")),
            _ => false,
        }
}
