//! Chinese has no spaces, so that what a model looks for may hold words that only join others.

/// Words of one character that join others and name nobody.
const PARTICLES: &str =
    "的得地了着过和与及跟同或而且但在是有也又并就都被把将从对到为于给让向往之啊吧吗呢呀嘛";

/// The keyword without particles and white space; none where nothing of it is left, or all.
pub(super) fn bare(keyword: &str) -> Option<String> {
    let bare: String = keyword
        .chars()
        .filter(|c| !c.is_whitespace() && !PARTICLES.contains(*c))
        .collect();
    (!bare.is_empty() && bare != keyword).then_some(bare)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("我的小明", Some("我小明"))]
    #[case("张三 和 李四", Some("张三李四"))]
    #[case("小明", None)]
    #[case("的了", None)]
    #[case("", None)]
    #[case("ann b", Some("annb"))]
    fn particles_and_blanks_go(#[case] keyword: &str, #[case] left: Option<&str>) {
        assert_eq!(bare(keyword).as_deref(), left);
    }
}
