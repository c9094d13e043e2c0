//! Names that were probably meant.

/// How many are offered.
const MAX_CLOSE: usize = 3;

/// How alike two names must be, of 1.
const ALIKE: f64 = 0.8;

/// The names closest to `wanted`, the closest first. Case does not count, and a name that is part
/// of another is close to it.
pub(crate) fn close_names<'a>(
    wanted: &str,
    names: impl IntoIterator<Item = &'a str>,
) -> Vec<String> {
    let wanted = wanted.to_lowercase();
    let mut scored: Vec<(f64, &str)> = names
        .into_iter()
        .map(|name| (likeness(&wanted, &name.to_lowercase()), name))
        .filter(|(score, _)| *score >= ALIKE)
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    scored.truncate(MAX_CLOSE);
    scored
        .into_iter()
        .map(|(_, name)| name.to_owned())
        .collect()
}

fn likeness(wanted: &str, name: &str) -> f64 {
    let long_enough = wanted.chars().count().min(name.chars().count()) >= 3;
    if long_enough && (name.contains(wanted) || wanted.contains(name)) {
        return 0.9;
    }
    strsim::jaro_winkler(wanted, name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("Report", &["report", "weekly-report"])]
    #[case("reprot", &["report"])]
    #[case("volcano", &[])]
    fn the_name_that_was_meant_comes_first(#[case] wanted: &str, #[case] close: &[&str]) {
        assert_eq!(
            close_names(wanted, ["citations", "report", "weekly-report"]),
            close
        );
    }
}
