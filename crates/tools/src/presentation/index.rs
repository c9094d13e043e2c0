//! Every tool by its words.

use std::sync::OnceLock;

use outfitter_core::{ToolName, ToolSpec};
use outfitter_text::bm25::{Index, Match};
use serde_json::Value;

/// How much more a word of the name counts than one of the description.
const NAME_WEIGHT: f64 = 4.0;

/// How much more a keyword counts.
const KEYWORD_WEIGHT: f64 = 2.0;

/// How much less the name of a parameter counts: many tools have a `path`.
const PARAMETER_WEIGHT: f64 = 0.5;

/// How much of a query is looked at; it may be a whole conversation.
const MAX_QUERY_BYTES: usize = 8_192;

/// The tools of the process, ranked by words. Made at the first search, then shared by every view
/// until what the sources offer changes. Its specs are those of the sources: what is fitted to a
/// session or kept from one is no part of it, so a view asks only for its own tools.
#[derive(Default)]
pub(crate) struct SearchIndex(OnceLock<Ranked>);

struct Ranked {
    names: Vec<ToolName>,
    index: Index,
}

/// A tool that was found.
pub(crate) struct Ranking<'i> {
    pub(crate) name: &'i ToolName,
    pub(crate) score: f64,
}

impl SearchIndex {
    /// The best of those that `admits` takes. `specs` are all tools, in the order of their names.
    pub(crate) fn search<'i, 's>(
        &'i self,
        specs: impl Iterator<Item = &'s ToolSpec>,
        query: &str,
        limit: usize,
        admits: impl Fn(&ToolName) -> bool,
    ) -> Vec<Ranking<'i>> {
        let ranked = self.0.get_or_init(|| Ranked::of(specs));
        let query = &query[..query.floor_char_boundary(MAX_QUERY_BYTES)];
        ranked
            .index
            .search_among(query, limit, |document| admits(&ranked.names[document]))
            .into_iter()
            .map(
                |Match {
                     document, score, ..
                 }| Ranking {
                    name: &ranked.names[document],
                    score,
                },
            )
            .collect()
    }
}

impl Ranked {
    fn of<'s>(specs: impl Iterator<Item = &'s ToolSpec>) -> Self {
        let specs: Vec<&ToolSpec> = specs.collect();
        Self {
            names: specs.iter().map(|spec| spec.name.clone()).collect(),
            index: Index::of(specs.iter().map(|spec| {
                let keywords = spec.keywords.iter();
                [(NAME_WEIGHT, spec.name.as_str()), (1.0, &*spec.description)]
                    .into_iter()
                    .chain(keywords.map(|word| (KEYWORD_WEIGHT, &**word)))
                    .chain(parameters(&spec.input_schema).map(|name| (PARAMETER_WEIGHT, name)))
            })),
        }
    }
}

fn parameters(schema: &Value) -> impl Iterator<Item = &str> {
    let properties = schema.get("properties").and_then(Value::as_object);
    properties
        .into_iter()
        .flatten()
        .map(|(name, _)| name.as_str())
}
