//! Ranking by Okapi BM25: how well each of a few documents fits a query, and why.
//!
//! The index is meant for hundreds or thousands of short texts that are ranked as a whole: names,
//! descriptions, tags.

use std::collections::{BTreeMap, HashMap};

use crate::words::words;

/// How soon more of the same word stops counting.
const SATURATION: f64 = 1.2;

/// How much a long document is held against it, from 0 to 1.
const LENGTH: f64 = 0.75;

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
    documents: Vec<Document>,
    /// In how many documents each word is.
    spread: HashMap<String, usize>,
    mean_length: f64,
}

#[derive(Debug, Clone, Default)]
struct Document {
    /// How often each word is in it, by the weight of where it is.
    words: HashMap<String, f64>,
    length: f64,
}

impl Index {
    /// An index of these documents. Each is a list of texts with how much a word of each weighs.
    pub fn of<'a, D>(documents: impl IntoIterator<Item = D>) -> Self
    where
        D: IntoIterator<Item = (f64, &'a str)>,
    {
        let mut index = Self::default();
        for texts in documents {
            let mut document = Document::default();
            for (weight, text) in texts {
                for word in words(text) {
                    *document.words.entry(word).or_default() += weight;
                    document.length += weight;
                }
            }
            for word in document.words.keys() {
                *index.spread.entry(word.clone()).or_default() += 1;
            }
            index.documents.push(document);
        }
        let total: f64 = index.documents.iter().map(|each| each.length).sum();
        index.mean_length = total / count(index.documents.len().max(1));
        index
    }

    /// The documents that have at least one word of `query`, the best first, at most `limit`. Equal
    /// ones are in the order of the index.
    #[must_use]
    pub fn search(&self, query: &str, limit: usize) -> Vec<Match> {
        let mut wanted: BTreeMap<String, ()> = BTreeMap::new();
        wanted.extend(words(query).into_iter().map(|word| (word, ())));
        let mut found: Vec<Match> = self
            .documents
            .iter()
            .enumerate()
            .filter_map(|(at, document)| self.matched(at, document, wanted.keys()))
            .collect();
        found.sort_by(|a, b| {
            b.score
                .total_cmp(&a.score)
                .then_with(|| a.document.cmp(&b.document))
        });
        found.truncate(limit);
        found
    }

    fn matched<'q>(
        &self,
        at: usize,
        document: &Document,
        wanted: impl Iterator<Item = &'q String>,
    ) -> Option<Match> {
        let mut told: Vec<(String, f64)> = wanted
            .filter_map(|word| {
                let often = *document.words.get(word)?;
                Some((word.clone(), self.worth(word, often, document.length)))
            })
            .collect();
        if told.is_empty() {
            return None;
        }
        told.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        Some(Match {
            document: at,
            score: told.iter().map(|(_, worth)| worth).sum(),
            words: told,
        })
    }

    fn worth(&self, word: &str, often: f64, length: f64) -> f64 {
        let all = count(self.documents.len());
        let having = count(self.spread.get(word).copied().unwrap_or_default());
        let rarity = (1.0 + (all - having + 0.5) / (having + 0.5)).ln();
        let relative = length / self.mean_length.max(f64::MIN_POSITIVE);
        let held_against = SATURATION * (1.0 - LENGTH + LENGTH * relative);
        rarity * often * (SATURATION + 1.0) / (often + held_against)
    }
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
    }
}
