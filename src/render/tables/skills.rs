//! Skills.

use super::columns::table;
use crate::render::text::{one_line, visible};
use crate::render::{Face, Ink};

/// The skills, one a line: name, when it is loaded, what it is about.
#[must_use]
pub fn skills(rows: Vec<[String; 3]>, face: Face) -> String {
    if rows.is_empty() {
        return "there are no skills\n".to_owned();
    }
    let rows = rows.into_iter().map(|row| row.map(|cell| one_line(&cell)));
    table(["skill", "loaded", "what it is about"], rows, face)
}

/// One skill: its name and description, what is known of it, its instructions.
#[must_use]
pub fn skill(
    [name, description]: [&str; 2],
    facts: &[(&str, Vec<String>)],
    instructions: &str,
    face: Face,
) -> String {
    let mut out = face.colour.paint(Ink::Name, &one_line(name));
    out.push_str(&format!("\n{}\n\n", visible(description)));
    for (what, values) in facts.iter().filter(|(_, values)| !values.is_empty()) {
        let what = face.colour.paint(Ink::Quiet, &format!("{what:<9}"));
        out.push_str(&format!("{what}  {}\n", one_line(&values.join(", "))));
    }
    out.push_str(&format!("\n{}\n", visible(instructions).trim_end()));
    out
}
