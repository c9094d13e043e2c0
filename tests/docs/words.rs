//! Commands that a text names.

use std::collections::BTreeSet;

use crate::block::split;
use crate::page::pages;
use crate::world::World;

/// Where what does not exist is spoken of.
const FUTURE: &str = "docs/not-yet.md";

#[test]
fn every_command_that_a_text_names_is_one() {
    let mut named: BTreeSet<(String, String)> = BTreeSet::new();
    for page in pages().into_iter().filter(|page| page.name != FUTURE) {
        let (_, outside) = split(&page.text);
        for (_, line) in outside {
            let spans = line.split('`').skip(1).step_by(2);
            for span in spans.filter_map(|span| span.strip_prefix("outfitter ")) {
                let words: Vec<&str> = span
                    .split_whitespace()
                    .take_while(|word| word.chars().all(|one| one.is_ascii_lowercase()))
                    .take(2)
                    .collect();
                if let Some(first) = words.first() {
                    named.insert((page.name.clone(), (*first).to_owned()));
                }
            }
        }
    }
    assert!(named.len() >= 5, "{named:?}");
    let world = World::new();
    let unknown: Vec<_> = named
        .into_iter()
        .filter(|(_, word)| {
            !world
                .run(&format!("outfitter {word} --help"))
                .contains("Usage: ")
        })
        .collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}
