//! Names that were probably meant: one notion of near for every message that offers one.

/// How many are offered.
const MAX_CLOSE: usize = 3;

/// How many letters may be other, missing, added or exchanged, at most.
const MOST_CHANGES: usize = 3;

/// One in so many letters may be.
const LETTERS_FOR_A_CHANGE: usize = 3;

/// Bytes of a word that may have been meant to be a name. Longer ones are near none: to compare
/// one takes as long as both are together, and who calls chooses the words.
const MOST_BYTES: usize = 1_024;

/// A part of a name as short as this is a part of too many.
const LEAST_PART: usize = 3;

/// The names closest to `wanted`, the closest first: those that differ by few letters for their
/// length, then those that are a part of it or that it is a part of. Case and the order of words do
/// not count: `read_file` is close to `file_read`. What ends with `*` is the beginning of names.
#[must_use]
pub fn close_names<'a>(wanted: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    if wanted.len() > MOST_BYTES {
        return Vec::new();
    }
    let wanted = Shape::of(wanted);
    let near = |name: &'a str| {
        let shape = Shape::of(name);
        let likeness = wanted.likeness(&shape);
        let part = || shape.is_part_of(&wanted).then_some(Likeness::Part);
        Some((likeness.or_else(part)?, name))
    };
    let mut close: Vec<(Likeness, &str)> = names.into_iter().filter_map(near).collect();
    close.sort_unstable();
    close.dedup();
    close.truncate(MAX_CLOSE);
    close.into_iter().map(|(_, name)| name).collect()
}

/// The one name that `wanted` was meant to be: the first of the nearest, or else the only one that
/// `wanted` is a part of. None where nothing is near enough to be worth saying.
#[must_use]
pub fn nearest_name<'a>(wanted: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if wanted.len() > MOST_BYTES {
        return None;
    }
    let wanted = Shape::of(wanted);
    let (mut best, mut parts): (Option<(usize, &str)>, Vec<&str>) = (None, Vec::new());
    for name in names {
        match wanted.likeness(&Shape::of(name)) {
            Some(Likeness::Changes(changes)) if best.is_none_or(|(fewest, _)| changes < fewest) => {
                best = Some((changes, name));
            }
            Some(Likeness::Part) => parts.push(name),
            Some(Likeness::Changes(_)) | None => {}
        }
    }
    match (best, parts.as_slice()) {
        (Some((_, name)), _) => Some(name),
        (None, [only]) => Some(only),
        (None, _) => None,
    }
}

/// How near a name is, the nearest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Likeness {
    /// So many letters are other.
    Changes(usize),
    /// One is a part of the other.
    Part,
}

/// A name without its case, and the same with its words in their order.
struct Shape {
    /// Whether it is only how a name begins.
    begins: bool,
    plain: String,
    words: Vec<String>,
    sorted: String,
}

impl Shape {
    fn of(name: &str) -> Self {
        let lower = name.to_lowercase();
        let (plain, begins) = match lower.strip_suffix('*') {
            Some(beginning) => (beginning.to_owned(), true),
            None => (lower, false),
        };
        let mut words: Vec<String> = plain
            .split(|character: char| !character.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .map(str::to_owned)
            .collect();
        words.sort_unstable();
        let sorted = words.join("_");
        Self {
            begins,
            plain,
            words,
            sorted,
        }
    }

    fn letters(&self) -> usize {
        self.plain.chars().count()
    }

    fn likeness(&self, name: &Self) -> Option<Likeness> {
        let (changes, letters) = if self.begins {
            let start: String = name.plain.chars().take(self.letters()).collect();
            let changes = strsim::damerau_levenshtein(&self.plain, &start);
            (changes, self.letters())
        } else {
            let changes = strsim::damerau_levenshtein(&self.plain, &name.plain)
                .min(strsim::damerau_levenshtein(&self.sorted, &name.sorted));
            (changes, self.letters().max(name.letters()))
        };
        if letters == 0 {
            return None;
        }
        if changes <= (letters / LETTERS_FOR_A_CHANGE).min(MOST_CHANGES) {
            return Some(Likeness::Changes(changes));
        }
        self.is_part_of(name).then_some(Likeness::Part)
    }

    fn is_part_of(&self, whole: &Self) -> bool {
        self.letters() >= LEAST_PART
            && !self.words.is_empty()
            && (whole.plain.contains(&self.plain)
                || whole.sorted.contains(&self.sorted)
                || self.words.iter().all(|word| whole.words.contains(word)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    const NAMES: [&str; 6] = [
        "calculator",
        "execute_shell_command",
        "file_read",
        "file_update",
        "file_write",
        "list_dir",
    ];

    #[rstest]
    #[case("raed_file", Some("file_read"))]
    #[case("read_file", Some("file_read"))]
    #[case("File_Read", Some("file_read"))]
    #[case("listdir", Some("list_dir"))]
    #[case("shell_command", Some("execute_shell_command"))]
    #[case("shell", Some("execute_shell_command"))]
    #[case("fiel_*", Some("file_read"))]
    #[case("x*", None)]
    #[case("*", None)]
    #[case("calc", Some("calculator"))]
    #[case("execute_command", Some("execute_shell_command"))]
    #[case("file_read_all", Some("file_read"))]
    #[case("nope", None)]
    #[case("---", None)]
    #[case("", None)]
    fn the_name_that_was_meant_comes_first(#[case] wanted: &str, #[case] meant: Option<&str>) {
        assert_eq!(close_names(wanted, NAMES).first().copied(), meant);
    }

    #[test]
    fn a_word_of_megabytes_was_compared_with_every_name() {
        let wanted = "calculator".repeat(1_000_000);
        for _ in 0..1_000 {
            assert!(close_names(&wanted, NAMES).is_empty());
            assert_eq!(nearest_name(&wanted, NAMES), None);
        }
    }

    #[test]
    fn at_most_three_are_offered() {
        assert!(close_names("file_x", ["file_a", "file_b", "file_c", "file_d"]).len() <= 3);
    }

    #[test]
    fn a_name_is_offered_once() {
        assert_eq!(close_names("gerp", ["grep", "grep"]), ["grep"]);
    }

    const KEYS: [&str; 10] = [
        "name",
        "base_url",
        "timeout_seconds",
        "max_retries",
        "retry_delay_ms",
        "max_retry_delay_ms",
        "script",
        "vision",
        "env",
        "load",
    ];

    #[rstest]
    #[case("nmae", Some("name"))]
    #[case("Name", Some("name"))]
    #[case("names", Some("name"))]
    #[case("url", Some("base_url"))]
    #[case("baseurl", Some("base_url"))]
    #[case("timeout", Some("timeout_seconds"))]
    #[case("timeout_second", Some("timeout_seconds"))]
    #[case("max_retrys", Some("max_retries"))]
    #[case("max-retries", Some("max_retries"))]
    #[case("evn", Some("env"))]
    #[case("scripts", Some("script"))]
    // Far away: another word is not what was meant.
    #[case("temperature", None)]
    #[case("budget_tokens", None)]
    #[case("stream", None)]
    #[case("import", None)]
    #[case("id", None)]
    #[case("max", None)]
    #[case("x", None)]
    #[case("", None)]
    fn a_word_that_is_far_away_was_offered(#[case] word: &str, #[case] meant: Option<&str>) {
        assert_eq!(nearest_name(word, KEYS), meant);
    }
}
