//! Ranking by Okapi BM25: how well each of many short documents fits a query, and why.
//!
//! The index is meant for up to some ten thousand short texts that are ranked as a whole: names,
//! descriptions, tags. Everything that does not depend on the query is worked out when it is made:
//! a search adds up what each of its words is worth where it stands, and keeps the best.

use std::cmp::Ordering;
use std::collections::{BTreeSet, HashMap};

use crate::words::words;

/// How soon more of the same word stops counting.
const SATURATION: f64 = 1.2;

/// How much a long document is held against it, from 0 to 1.
const LENGTH: f64 = 0.75;

/// Different words of a query that are looked for; those after them are left out.
pub const MAX_QUERY_WORDS: usize = 256;

/// One document that fits a query.
#[derive(Debug, Clone, PartialEq)]
pub struct Match {
    /// Its place among the documents of the index.
    pub document: usize,
    /// How well it fits; higher is better, always above zero.
    pub score: f64,
    /// What each word of the query adds to the score, the most telling first.
    pub words: Vec<(String, f64)>,
}

/// Documents to be ranked.
///
/// ```
/// use outfitter_text::bm25::Index;
///
/// let index = Index::of([
///     vec![(1.0, "writes weekly sales reports")],
///     vec![(1.0, "plans trips and books trains")],
/// ]);
/// let found = index.search("a report on sales", 3);
/// assert_eq!(found[0].document, 0);
/// assert_eq!(found.len(), 1);
/// ```
#[derive(Debug, Clone, Default)]
pub struct Index {
    documents: usize,
    /// Where each word stands, in the order of the documents.
    postings: HashMap<String, Vec<Posting>>,
}

/// A word in a document.
#[derive(Debug, Clone, Copy)]
struct Posting {
    document: u32,
    /// What it adds to the score of a query that has it.
    worth: f32,
}

impl Index {
    /// An index of these documents. Each is a list of texts with how much a word of each weighs.
    pub fn of<'a, D>(documents: impl IntoIterator<Item = D>) -> Self
    where
        D: IntoIterator<Item = (f64, &'a str)>,
    {
        let mut postings: HashMap<String, Vec<Posting>> = HashMap::new();
        let mut lengths = Vec::new();
        for (document, texts) in (0..=u32::MAX).zip(documents) {
            let mut length = 0.0;
            for (weight, text) in texts {
                for word in words(text) {
                    length += weight;
                    let places = postings.entry(word).or_default();
                    match places.last_mut() {
                        Some(last) if last.document == document => last.worth += narrow(weight),
                        Some(_) | None => places.push(Posting {
                            document,
                            worth: narrow(weight),
                        }),
                    }
                }
            }
            lengths.push(length);
        }
        let all = count(lengths.len());
        let mean = lengths.iter().sum::<f64>() / all.max(1.0);
        for places in postings.values_mut() {
            let having = count(places.len());
            let rarity = (1.0 + (all - having + 0.5) / (having + 0.5)).ln();
            for place in places {
                // Until here it was how often the word is there, by the weight of where it is.
                let often = f64::from(place.worth);
                let relative = lengths[place.document as usize] / mean.max(f64::MIN_POSITIVE);
                let held_against = SATURATION * (1.0 - LENGTH + LENGTH * relative);
                let worth = rarity * often * (SATURATION + 1.0) / (often + held_against);
                place.worth = narrow(worth);
            }
        }
        Self {
            documents: lengths.len(),
            postings,
        }
    }

    /// The documents that have at least one word of `query`, the best first, at most `limit`. Equal
    /// ones are in the order of the index.
    #[must_use]
    pub fn search(&self, query: &str, limit: usize) -> Vec<Match> {
        self.search_among(query, limit, |_| true)
    }

    /// The same among the documents that `admits` takes. It is asked about few: only about those
    /// that would be among the best.
    #[must_use]
    pub fn search_among(
        &self,
        query: &str,
        limit: usize,
        admits: impl Fn(usize) -> bool,
    ) -> Vec<Match> {
        let wanted: BTreeSet<String> = words(query).into_iter().collect();
        let known: Vec<(&str, &[Posting])> = wanted
            .iter()
            .filter_map(|word| Some((word.as_str(), self.postings.get(word)?.as_slice())))
            .take(MAX_QUERY_WORDS)
            .collect();
        let mut scores = vec![0.0_f32; if known.is_empty() { 0 } else { self.documents }];
        for (_, places) in &known {
            for place in *places {
                scores[place.document as usize] += place.worth;
            }
        }
        let mut found: Vec<Match> = best(&scores, limit, admits)
            .into_iter()
            .map(|document| told(document, &known))
            .collect();
        found.sort_by(|a, b| descending(a.score, b.score).then(a.document.cmp(&b.document)));
        found
    }
}

/// The places of the highest scores above zero, at most `limit`.
fn best(scores: &[f32], limit: usize, admits: impl Fn(usize) -> bool) -> Vec<usize> {
    // Sorted, the best first. It is short, and most scores do not get into it.
    let mut best: Vec<(f32, usize)> = Vec::new();
    let mut bar = 0.0_f32;
    for (document, &score) in scores.iter().enumerate() {
        if score <= bar || limit == 0 || !admits(document) {
            continue;
        }
        let at = best.partition_point(|(other, _)| *other >= score);
        best.truncate(limit - 1);
        best.insert(at.min(best.len()), (score, document));
        if best.len() == limit {
            bar = best[limit - 1].0;
        }
    }
    best.into_iter().map(|(_, document)| document).collect()
}

/// A document with the reasons why it was found.
fn told(document: usize, known: &[(&str, &[Posting])]) -> Match {
    let place = u32::try_from(document).unwrap_or(u32::MAX);
    let mut words: Vec<(String, f64)> = known
        .iter()
        .filter_map(|(word, places)| {
            let at = places
                .binary_search_by_key(&place, |posting| posting.document)
                .ok()?;
            Some(((*word).to_owned(), f64::from(places[at].worth)))
        })
        .collect();
    words.sort_by(|a, b| descending(a.1, b.1).then_with(|| a.0.cmp(&b.0)));
    Match {
        document,
        score: words.iter().map(|(_, worth)| worth).sum(),
        words,
    }
}

fn descending(a: f64, b: f64) -> Ordering {
    b.total_cmp(&a)
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "seven digits of a score are more than a ranking needs"
)]
fn narrow(worth: f64) -> f32 {
    worth as f32
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a count of documents is far below what a double holds exactly"
)]
fn count(number: usize) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn index() -> Index {
        Index::of([
            vec![(3.0, "report"), (1.0, "writes reports with sources, 报告")],
            vec![
                (3.0, "calendar"),
                (1.0, "reads and writes the calendar 日程"),
            ],
            vec![(3.0, "citations"), (1.0, "checks the sources of a text")],
        ])
    }

    fn best(query: &str) -> Vec<usize> {
        let found = index().search(query, 10);
        found.iter().map(|found| found.document).collect()
    }

    #[test]
    fn the_document_about_it_comes_first_and_strangers_do_not_come() {
        assert_eq!(best("write a report"), [0, 1]);
        assert_eq!(best("please check the sources"), [2, 0]);
        assert_eq!(best("volcano"), Vec::<usize>::new());
        assert_eq!(best(""), Vec::<usize>::new());
    }

    #[test]
    fn chinese_is_found_without_spaces() {
        assert_eq!(best("帮我看看明天的日程安排"), [1]);
        assert_eq!(best("生成可靠报告"), [0]);
    }

    #[test]
    fn a_score_is_the_sum_of_what_each_word_adds() {
        for found in index().search("report with sources", 3) {
            let sum: f64 = found.words.iter().map(|(_, worth)| worth).sum();
            assert!((sum - found.score).abs() < 1e-12);
        }
        let words: Vec<String> = index().search("report sources", 1)[0]
            .words
            .iter()
            .map(|(word, _)| word.clone())
            .collect();
        assert_eq!(words, ["report", "source"]);
    }

    #[test]
    fn a_rare_word_tells_more_than_one_that_is_everywhere() {
        let index = Index::of([
            vec![(1.0, "tool common")],
            vec![(1.0, "tool rare")],
            vec![(1.0, "tool other")],
        ]);
        let found = index.search("tool rare", 3);
        assert_eq!(found[0].document, 1);
        assert_eq!(found[0].words[0].0, "rare");
    }

    proptest! {
        #[test]
        fn scores_are_finite_positive_and_sorted(
            texts in prop::collection::vec("[a-d ]{0,12}", 0..8), query in "[a-d ]{0,12}",
        ) {
            let index = Index::of(texts.iter().map(|text| vec![(1.0, text.as_str())]));
            let found = index.search(&query, 5);
            prop_assert!(found.len() <= 5);
            prop_assert!(found.iter().all(|found| found.score.is_finite() && found.score > 0.0));
            prop_assert!(found.windows(2).all(|pair| pair[0].score >= pair[1].score));
        }

        #[test]
        fn the_best_few_are_the_beginning_of_all(
            texts in prop::collection::vec("[a-d ]{0,12}", 0..20), query in "[a-d ]{0,12}",
            limit in 0_usize..6, only in 1_usize..4,
        ) {
            let index = Index::of(texts.iter().map(|text| vec![(1.0, text.as_str())]));
            let admits = |document: usize| document.is_multiple_of(only);
            let mut all = index.search(&query, texts.len());
            all.retain(|found| admits(found.document));
            let few = index.search_among(&query, limit, admits);
            prop_assert_eq!(few.len(), limit.min(all.len()));
            for (one, other) in few.iter().zip(&all) {
                prop_assert!((one.score - other.score).abs() < 1e-5);
            }
        }
    }
}
