//! What a command says on its standard error that it was refused, in the words that programs use.

use std::path::Path;

/// How the kernel refuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Said {
    Denied,
    ReadOnly,
    /// As if it were not there: what is mounted over it or not at all.
    Absent,
}

const WORDS: &[(&str, Said)] = &[
    ("permission denied", Said::Denied),
    ("operation not permitted", Said::Denied),
    ("read-only file system", Said::ReadOnly),
    ("no such file or directory", Said::Absent),
    ("directory nonexistent", Said::Absent),
];

/// What programs say when they wanted to write. Without it a refusal may be one of reading.
const WRITING: &[&str] = &[
    "cannot touch",
    "cannot create",
    "cannot remove",
    "cannot make",
    "cannot move",
    "cannot overwrite",
    "cannot unlink",
    "could not create",
    "unable to create",
    "failed to create",
    "changing permissions",
    "changing ownership",
];

/// The path that a line complains about, and how.
pub(crate) fn complaint(line: &str) -> Option<(&Path, Said)> {
    let lower = line.to_ascii_lowercase();
    if let Some((_, path)) = line.rsplit_once("can't cd to ") {
        // One shell says nothing of why.
        let path = path.split(": ").next()?;
        return (!path.is_empty()).then(|| (Path::new(path), Said::Absent));
    }
    let (at, words, said) = WORDS
        .iter()
        .filter_map(|(words, said)| Some((lower.rfind(words)?, *words, *said)))
        .max_by_key(|(at, ..)| *at)?;
    let before = line.get(..at)?.trim_end();
    let after = line.get(at + words.len()..)?.trim();
    let path = if after.is_empty() || after.starts_with("(os error") {
        named_before(before.strip_suffix(':')?)?
    } else {
        // `Permission denied: '/x'`, `permission denied, open '/x'`.
        quoted_end(after)?
    };
    (!path.is_empty()).then(|| (Path::new(path), said))
}

/// `cat: /x`, `touch: cannot touch '/x'`, `sh: 1: cannot create /x`.
fn named_before(text: &str) -> Option<&str> {
    if let Some(quoted) = quoted_end(text) {
        return Some(quoted);
    }
    let last = text.rsplit(": ").next()?;
    if last.starts_with('/') {
        return Some(last);
    }
    last.rsplit(char::is_whitespace).next()
}

/// What stands in quotes at the end.
fn quoted_end(text: &str) -> Option<&str> {
    for (open, close) in [('\'', '\''), ('"', '"'), ('‘', '’')] {
        if let Some(inner) = text.strip_suffix(close) {
            let (_, quoted) = inner.rsplit_once(open)?;
            return Some(quoted);
        }
    }
    None
}

/// Whether a line is about writing.
pub(crate) fn wants_to_write(line: &str) -> bool {
    let lower = line.to_ascii_lowercase();
    WRITING.iter().any(|word| lower.contains(word))
}

/// Directories that the words of a command name for `cd`, as far as that is plain.
pub(crate) fn directories(command: &str) -> impl Iterator<Item = &str> {
    let is_end = |c: char| c.is_whitespace() || matches!(c, ';' | '&' | '|' | '(' | ')');
    let words = command.split(is_end).filter(|word| !word.is_empty());
    let pairs = words.clone().zip(words.skip(1));
    pairs
        .filter(|(word, _)| *word == "cd")
        .map(|(_, dir)| dir.trim_matches(['\'', '"']))
        .take(MAX_DIRECTORIES)
}

/// More directories of one command say nothing new.
const MAX_DIRECTORIES: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rstest::rstest;

    #[rstest]
    #[case("cat: /etc/shadow: Permission denied", Some(("/etc/shadow", Said::Denied)))]
    #[case("touch: cannot touch '/usr/a b': Read-only file system", Some(("/usr/a b", Said::ReadOnly)))]
    #[case("/bin/sh: 1: cannot create /usr/x: Permission denied", Some(("/usr/x", Said::Denied)))]
    #[case("bash: line 1: /usr/x: Read-only file system", Some(("/usr/x", Said::ReadOnly)))]
    #[case("PermissionError: [Errno 13] Permission denied: '/srv/x'", Some(("/srv/x", Said::Denied)))]
    #[case("Error: EROFS: read-only file system, open '/usr/x'", Some(("/usr/x", Said::ReadOnly)))]
    #[case("x: /srv/x: Permission denied (os error 13)", Some(("/srv/x", Said::Denied)))]
    #[case("chmod: changing permissions of ‘/usr’: Operation not permitted", Some(("/usr", Said::Denied)))]
    #[case("cat: notes: Permission denied", Some(("notes", Said::Denied)))]
    #[case("Permission denied", None)]
    #[case("/srv/x says: Permission denied was what I heard", None)]
    #[case("cat: /srv/x: No such file or directory", Some(("/srv/x", Said::Absent)))]
    #[case("/bin/sh: 1: cannot create /srv/x: Directory nonexistent", Some(("/srv/x", Said::Absent)))]
    #[case("/bin/sh: 1: cd: can't cd to /root", Some(("/root", Said::Absent)))]
    #[case("cat: /srv/x: Is a directory", None)]
    fn a_path_is_taken_from_the_words_that_programs_use(
        #[case] line: &str,
        #[case] found: Option<(&str, Said)>,
    ) {
        let got = complaint(line);
        assert_eq!(got, found.map(|(path, said)| (Path::new(path), said)));
    }

    #[test]
    fn directories_are_the_words_behind_cd() {
        let named: Vec<_> = directories("cd /a && ls; (cd 'b' | cd \"c\");cd").collect();
        assert_eq!(named, ["/a", "b", "c"]);
    }

    proptest! {
        #[test]
        fn no_line_makes_it_fail(line in ".*(?i:permission denied).*") {
            let _ = complaint(&line);
        }
    }
}
