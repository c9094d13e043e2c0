//! What runs on the other machine.

const TREE: &str = include_str!("scripts/tree.sh");
const RUN: &str = include_str!("scripts/run.sh");
const SWEEP: &str = include_str!("scripts/sweep.sh");
const WATCH: &str = include_str!("scripts/watch.sh");

/// Makes a folder, and removes it at the end of its input, unless another has taken it over.
pub(super) const KEEP: &str = include_str!("scripts/keep.sh");

/// Looks at the workspace; `$2` is a folder in it to be made.
pub(super) const LOOK: &str = include_str!("scripts/look.sh");

/// Removes a folder of the workspace, `$2`, and says so.
pub(super) const REMOVE: &str = include_str!("scripts/remove.sh");

/// The longest line that is sent: Linux takes 128 KiB for one argument, and the login shell gets
/// all of it as one.
pub(super) const MAX_LINE_BYTES: usize = 120 * 1024;

/// What a job has of the account's own environment: these and nothing else.
const CLEAN: &str =
    r#"env -i "HOME=$HOME" "PATH=$PATH" LANG=C.UTF-8 GIT_TERMINAL_PROMPT=0 /bin/sh -c"#;

/// The line that starts a job, which then waits for its [`environment`].
pub(super) fn run(mark: &str, job: &str, root: &str, dir: &str, program: &[String]) -> String {
    let watch = format!("{TREE}\n{WATCH}");
    let first = [mark, job, root, dir, watch.as_str()];
    let program = program.iter().map(String::as_str);
    line_by(CLEAN, RUN, first.into_iter().chain(program))
}

/// The environment of a job as its input has it. Of two of a name the later counts.
pub(super) fn environment<'a>(
    variables: impl DoubleEndedIterator<Item = (&'a str, &'a str)>,
) -> String {
    let mut lines = String::new();
    // The script sets the last first.
    for (name, value) in variables.rev() {
        lines.push_str(&format!("{name}={}\n", value.replace('\n', "\n+")));
    }
    lines.push_str(".\n");
    lines
}

/// The line that ends a job's tree and says what was left.
pub(super) fn sweep(job: &str, leader: u32, grace_hundredths: u128) -> String {
    let script = format!("{TREE}\n{SWEEP}");
    let (leader, grace) = (leader.to_string(), grace_hundredths.to_string());
    line(&script, [job, &leader, &grace])
}

/// What [`sweep`] said: how many there were, and who is left.
pub(super) fn swept(said: &str) -> Option<(u32, Vec<u32>)> {
    let line = said.lines().find_map(|line| line.strip_prefix("swept "))?;
    let mut numbers = line.split_ascii_whitespace().map(str::parse);
    let first = numbers.next()?.ok()?;
    Some((first, numbers.collect::<Result<_, _>>().ok()?))
}

/// A line for the login shell that runs a script in `/bin/sh` with these arguments.
pub(super) fn line<'a>(script: &str, arguments: impl IntoIterator<Item = &'a str>) -> String {
    line_by("/bin/sh -c", script, arguments)
}

fn line_by<'a>(shell: &str, script: &str, arguments: impl IntoIterator<Item = &'a str>) -> String {
    let mut line = format!("exec {shell} {} outfitter", quoted(script));
    for argument in arguments {
        line.push(' ');
        line.push_str(&quoted(argument));
    }
    line
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_quoted_is_one_word() {
        assert_eq!(quoted("a'b $(c)"), r"'a'\''b $(c)'");
    }

    #[test]
    fn a_variable_is_a_line_and_each_further_line_of_its_value_one_more() {
        let variables = [("A", "1"), ("B", "x\n.\n\n=y")];
        let lines = environment(variables.into_iter());
        assert_eq!(lines, "B=x\n+.\n+\n+=y\nA=1\n.\n");
        assert_eq!(environment([].into_iter()), ".\n");
    }

    #[test]
    fn what_was_swept_is_read_behind_the_noise_of_a_login() {
        assert_eq!(swept("welcome\nswept 3 7 9\n"), Some((3, vec![7, 9])));
        assert_eq!(swept("swept 0\n"), Some((0, vec![])));
        assert_eq!(swept("swept 1 x\n"), None);
        assert_eq!(swept(""), None);
    }
}
