//! Which skills a prompt is about.

use outfitter_text::bm25::Index;
use serde::Serialize;

use crate::SkillName;
use crate::limits::{MAX_DISCOVERED, MAX_QUERY_BYTES, MIN_SCORE};
use crate::proxy::SkillProxy;

/// How much more a word of the name counts than one of the description.
const NAME_WEIGHT: f64 = 3.0;

/// How much more a tag counts than a word of the description.
const TAG_WEIGHT: f64 = 2.0;

/// How skills are found by a prompt.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Discovery {
    /// At most this many.
    pub limit: usize,
    /// None below this score.
    pub min_score: f64,
}

impl Default for Discovery {
    fn default() -> Self {
        Self {
            limit: MAX_DISCOVERED,
            min_score: MIN_SCORE,
        }
    }
}

/// A skill that a prompt is about.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Discovered {
    /// Its name.
    pub name: SkillName,
    /// How well it fits; higher is better.
    pub score: f64,
    /// What each word of the prompt adds, the most telling first.
    pub words: Vec<(String, f64)>,
}

impl SkillProxy {
    /// The listed skills that a prompt is about, the best first, ranked by BM25 over their names,
    /// tags and descriptions. It asks no model and understands no meaning: only words.
    #[must_use]
    pub fn discover(&self, prompt: &str, discovery: Discovery) -> Vec<Discovered> {
        let prompt = &prompt[..prompt.floor_char_boundary(MAX_QUERY_BYTES)];
        let skills: Vec<_> = self.listed().collect();
        let index = Index::of(skills.iter().map(|skill| {
            let manifest = &skill.manifest;
            let tags = manifest.tags.iter().map(|tag| (TAG_WEIGHT, tag.as_str()));
            [
                (NAME_WEIGHT, manifest.name.as_str()),
                (1.0, manifest.description.as_str()),
            ]
            .into_iter()
            .chain(tags)
        }));
        index
            .search(prompt, discovery.limit)
            .into_iter()
            .filter(|found| found.score >= discovery.min_score)
            .filter_map(|found| {
                Some(Discovered {
                    name: skills.get(found.document)?.name().clone(),
                    score: found.score,
                    words: found.words,
                })
            })
            .collect()
    }
}
