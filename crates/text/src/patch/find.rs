//! Where some lines stand in others, in linear time (Knuth, Morris and Pratt).

/// Where lines were found, and how far the nearest other place went.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct FoundLines {
    /// Where all of them stand, in order.
    pub(super) places: Vec<usize>,
    /// The most of the first lines that stand together, and where.
    pub(super) begun: usize,
    pub(super) begun_at: usize,
}

/// Looks for `wanted`, which has at least one line.
pub(super) fn find(text: &[&str], wanted: &[&str]) -> FoundLines {
    let borders = borders(wanted);
    let mut found = FoundLines::default();
    let mut matched = 0;
    for (at, line) in text.iter().enumerate() {
        if matched == wanted.len() {
            matched = borders.last().copied().unwrap_or(0);
        }
        while matched > 0 && wanted[matched] != *line {
            matched = borders[matched - 1];
        }
        if wanted[matched] == *line {
            matched += 1;
        }
        if matched > found.begun {
            found.begun = matched;
            found.begun_at = at + 1 - matched;
        }
        if matched == wanted.len() {
            found.places.push(at + 1 - matched);
        }
    }
    found
}

fn borders(wanted: &[&str]) -> Vec<usize> {
    let mut borders = vec![0; wanted.len()];
    let mut length = 0;
    for at in 1..wanted.len() {
        while length > 0 && wanted[at] != wanted[length] {
            length = borders[length - 1];
        }
        if wanted[at] == wanted[length] {
            length += 1;
        }
        borders[at] = length;
    }
    borders
}
