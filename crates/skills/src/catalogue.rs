//! What a model is told of the skills it may load: names and descriptions, within a budget.

use crate::SkillName;
use crate::proxy::SkillProxy;

/// The shortest that descriptions are cut to before skills lose theirs altogether, in characters.
const SHORT: usize = 40;

const HEAD: &str = "Skills are packs of instructions for certain kinds of work. When one fits the \
    task, call load_skill with its name before you begin, and follow what it says.\n";

/// The list of skills for a system prompt, and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Catalogue {
    /// The text; empty when there are no skills. It is a function of the skills alone, so a prompt
    /// with it stays the same from request to request.
    pub text: String,
    /// How many descriptions are cut.
    pub shortened: usize,
    /// The skills whose description is left out. They can be loaded by name all the same.
    pub without_description: Vec<SkillName>,
    /// The skills that are only counted. They can be loaded by name all the same.
    pub omitted: Vec<SkillName>,
}

struct Row {
    name: SkillName,
    shown: String,
    description: String,
}

impl SkillProxy {
    /// The list of skills in at most `max_bytes` bytes. Descriptions are cut first, then left out,
    /// the last names first; then names are left out and counted.
    #[must_use]
    pub fn catalogue(&self, max_bytes: usize) -> Catalogue {
        let rows: Vec<Row> = self
            .listed()
            .map(|skill| Row {
                name: skill.name().clone(),
                shown: one_line(skill.name().as_str()),
                description: one_line(&skill.manifest.description),
            })
            .collect();
        if rows.is_empty() {
            return Catalogue::default();
        }
        let room = max_bytes.saturating_sub(HEAD.len());
        let longest = rows
            .iter()
            .map(|row| row.description.chars().count())
            .max()
            .unwrap_or_default();
        if let Some(limit) = longest_limit(&rows, room, longest) {
            return whole(&rows, limit);
        }
        partial(&rows, max_bytes)
    }
}

/// The largest limit of descriptions under which every row fits.
fn longest_limit(rows: &[Row], room: usize, longest: usize) -> Option<usize> {
    let fits = |limit: usize| rows.iter().map(|row| line(row, limit).len()).sum::<usize>() <= room;
    if fits(longest) {
        return Some(longest);
    }
    if longest <= SHORT || !fits(SHORT) {
        return None;
    }
    let (mut low, mut high) = (SHORT, longest);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if fits(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    Some(low)
}

fn whole(rows: &[Row], limit: usize) -> Catalogue {
    Catalogue {
        text: rows
            .iter()
            .fold(HEAD.to_owned(), |text, row| text + &line(row, limit)),
        shortened: rows
            .iter()
            .filter(|row| row.description.chars().count() > limit)
            .count(),
        ..Catalogue::default()
    }
}

/// Rows with short descriptions, then names alone, then a count, within `max_bytes`.
fn partial(rows: &[Row], max_bytes: usize) -> Catalogue {
    let bare = |from: usize, to: usize| bare_names(&rows[from..to], rows.len() - to);
    // How many names can be told at all, when none has a description.
    let named = (0..=rows.len())
        .rev()
        .find(|&named| HEAD.len() + bare(0, named).len() <= max_bytes)
        .unwrap_or_default();
    let mut described = 0;
    let mut text = HEAD.to_owned();
    while described < named {
        let longer = line(&rows[described], SHORT);
        if text.len() + longer.len() + bare(described + 1, named).len() > max_bytes {
            break;
        }
        text.push_str(&longer);
        described += 1;
    }
    text.push_str(&bare(described, named));
    if text.len() > max_bytes {
        text.clear();
    }
    let names = |rows: &[Row]| rows.iter().map(|row| row.name.clone()).collect();
    Catalogue {
        text,
        shortened: rows[..described]
            .iter()
            .filter(|row| row.description.chars().count() > SHORT)
            .count(),
        without_description: names(&rows[described..named]),
        omitted: names(&rows[named..]),
    }
}

fn bare_names(rows: &[Row], counted: usize) -> String {
    let mut text = String::new();
    if !rows.is_empty() {
        let names: Vec<&str> = rows.iter().map(|row| row.shown.as_str()).collect();
        text = format!(
            "Without their descriptions for lack of room, {}: {}\n",
            rows.len(),
            names.join(", ")
        );
    }
    if counted > 0 {
        text.push_str(&format!(
            "Not listed for lack of room: {counted} more. load_skill takes their names too.\n"
        ));
    }
    text
}

fn line(row: &Row, limit: usize) -> String {
    format!("- {}: {}\n", row.shown, cut(&row.description, limit))
}

/// At most `limit` characters, at the end of a word where one is near.
fn cut(text: &str, limit: usize) -> String {
    if text.chars().count() <= limit {
        return text.to_owned();
    }
    let end = text
        .char_indices()
        .nth(limit.saturating_sub(1))
        .map_or(text.len(), |(at, _)| at);
    let head = &text[..end];
    let near = head
        .rfind(' ')
        .filter(|&at| at * 4 >= head.len() * 3)
        .unwrap_or(end);
    format!("{}…", head[..near].trim_end())
}

/// The text on one line, without what a reader does not see.
pub(crate) fn one_line(text: &str) -> String {
    let visible: String = text
        .chars()
        .map(|c| {
            if c.is_control() || c.is_whitespace() {
                ' '
            } else {
                c
            }
        })
        .collect();
    visible
        .split(' ')
        .filter(|word| !word.is_empty())
        .collect::<Vec<&str>>()
        .join(" ")
}
