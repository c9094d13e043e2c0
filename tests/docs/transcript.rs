//! What a `console` block says: commands, and what they print.

/// A command and what the page says it prints.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Step<'a> {
    /// Its place in the block, in lines from 0.
    pub(crate) at: usize,
    pub(crate) command: String,
    pub(crate) expected: Vec<&'a str>,
}

/// The commands of a block. `> ` goes on with the command of the line before.
pub(crate) fn steps(text: &str) -> Result<Vec<Step<'_>>, String> {
    let mut steps: Vec<Step<'_>> = Vec::new();
    for (at, line) in text.lines().enumerate() {
        if let Some(command) = line.strip_prefix("$ ") {
            steps.push(Step {
                at,
                command: command.to_owned(),
                expected: Vec::new(),
            });
            continue;
        }
        match (steps.last_mut(), line.strip_prefix("> ")) {
            (None, _) => return Err(format!("{line:?} stands before the first command")),
            (Some(step), Some(more)) if step.expected.is_empty() => {
                step.command.push('\n');
                step.command.push_str(more);
            }
            (Some(step), _) => step.expected.push(line),
        }
    }
    if steps.is_empty() {
        return Err("there is no command".to_owned());
    }
    Ok(steps)
}

/// Whether this is what the page says. Blank lines at the end mean nothing.
pub(crate) fn fits(expected: &[&str], printed: &str) -> bool {
    let printed: Vec<&str> = printed.lines().map(str::trim_end).collect();
    lines_fit(without_blank_end(expected), without_blank_end(&printed))
}

fn without_blank_end<'a, 'b>(mut lines: &'a [&'b str]) -> &'a [&'b str] {
    while let [before @ .., last] = lines
        && last.trim().is_empty()
    {
        lines = before;
    }
    lines
}

fn lines_fit(expected: &[&str], printed: &[&str]) -> bool {
    match expected {
        [] => printed.is_empty(),
        [first, rest @ ..] if *first == "..." => {
            (0..=printed.len()).any(|skipped| lines_fit(rest, &printed[skipped..]))
        }
        [first, rest @ ..] => printed
            .split_first()
            .is_some_and(|(line, after)| line_fits(first, line) && lines_fit(rest, after)),
    }
}

fn line_fits(expected: &str, line: &str) -> bool {
    let mut parts = expected.trim_end().split("[..]");
    let Some(mut rest) = line.strip_prefix(parts.next().unwrap_or_default()) else {
        return false;
    };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    true
}

#[test]
fn commands_and_their_output_are_told_apart() {
    let found = steps("$ a \\\n> b\n1\n$ c\n> not a command\n").unwrap();
    let found: Vec<_> = found
        .iter()
        .map(|step| (step.at, step.command.as_str(), step.expected.as_slice()))
        .collect();
    assert_eq!(found[0], (0, "a \\\nb", ["1"].as_slice()));
    assert_eq!(found[1].1, "c\nnot a command");
    assert!(steps("output\n$ a\n").is_err());
    assert!(steps("").is_err());
}

#[test]
fn a_wildcard_stands_for_what_it_says_and_for_nothing_else() {
    for (expected, printed, fit) in [
        (vec!["a"], "a\n", true),
        (vec!["a"], "b\n", false),
        (vec!["a"], "a\nb\n", false),
        (vec!["a", ""], "a\n", true),
        (vec![], "", true),
        (vec![], "a\n", false),
        (vec!["a [..] z"], "a b c z\n", true),
        (vec!["a [..] z"], "a b c\n", false),
        (vec!["[..]"], "a\n", true),
        (vec!["[..]"], "a\nb\n", false),
        (vec!["[..]"], "", false),
        (vec!["x[..]y[..]z"], "x1y2z\n", true),
        (vec!["x[..]y[..]z"], "x1z2y\n", false),
        (vec!["..."], "", true),
        (vec!["...", "z"], "a\nb\nz\n", true),
        (vec!["...", "z"], "a\nz\nb\n", false),
        (vec!["a", "...", "z"], "a\nz\n", true),
        (vec!["a", "..."], "b\n", false),
    ] {
        assert_eq!(fits(&expected, printed), fit, "{expected:?} {printed:?}");
    }
}
