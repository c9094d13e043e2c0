//! Names that were probably meant.

/// How many are offered.
const MAX_CLOSE: usize = 3;

/// How alike two names must be, of 1.
const ALIKE: f64 = 0.82;

/// The names closest to `wanted`, the closest first. Case and the order of words do not count:
/// `read_file` is close to `file_read`, and so is a part of a name to the whole.
#[must_use]
pub fn close_names<'a>(wanted: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let wanted = Shape::of(wanted);
    let mut scored: Vec<(f64, &str)> = names
        .into_iter()
        .map(|name| (wanted.likeness(&Shape::of(name)), name))
        .filter(|(score, _)| *score >= ALIKE)
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    scored.truncate(MAX_CLOSE);
    scored.into_iter().map(|(_, name)| name).collect()
}

/// A part of a name is as close as this, where it has as many characters.
const PART: f64 = 0.9;
const LEAST_PART: usize = 3;

struct Shape {
    plain: String,
    sorted: String,
}

impl Shape {
    fn of(name: &str) -> Self {
        let plain = name.to_lowercase();
        let mut words: Vec<&str> = plain
            .split(|character: char| !character.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .collect();
        words.sort_unstable();
        let sorted = words.join("_");
        Self { plain, sorted }
    }

    fn likeness(&self, other: &Self) -> f64 {
        let (shorter, longer) = match self.plain.len() <= other.plain.len() {
            true => (&self.plain, &other.plain),
            false => (&other.plain, &self.plain),
        };
        if shorter.chars().count() >= LEAST_PART && longer.contains(shorter.as_str()) {
            return PART;
        }
        strsim::jaro_winkler(&self.plain, &other.plain)
            .max(strsim::jaro_winkler(&self.sorted, &other.sorted))
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
    #[case("nope", None)]
    #[case("", None)]
    fn the_name_that_was_meant_comes_first(#[case] wanted: &str, #[case] meant: Option<&str>) {
        assert_eq!(close_names(wanted, NAMES).first().copied(), meant);
    }

    #[test]
    fn at_most_three_are_offered() {
        assert!(close_names("file_x", ["file_a", "file_b", "file_c", "file_d"]).len() <= 3);
    }
}
