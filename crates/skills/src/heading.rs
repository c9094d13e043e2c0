//! The older form without frontmatter: a heading `# Skill: Title`, an optional `skill.yaml`.

use crate::document::Beside;
use crate::frontmatter::{self, Field, Kind, Value};
use crate::problem::Place;

/// How many characters of the first paragraph make a description.
const DESCRIPTION_CHARS: usize = 500;

/// Name and description of a file that begins with `# Skill: …`; none for any other file.
///
/// The name is `id` or `name` of `skill.yaml`, else the directory's; the description is that of
/// `skill.yaml`, else the first paragraph.
pub(crate) fn fields(text: &str, beside: Beside<'_>) -> Option<Vec<Field>> {
    let mut lines = text.lines().skip_while(|line| line.trim().is_empty());
    let heading = lines.next()?;
    let title = heading.strip_prefix("# ")?.trim_start();
    let prefix = title.get(..6)?;
    if !prefix.eq_ignore_ascii_case("skill:") {
        return None;
    }
    let declared = declared(beside.skill_yaml);
    let text_of = |key: &str| {
        let field = declared.iter().find(|field| field.key == key)?;
        field
            .value
            .scalar()
            .map(str::trim)
            .filter(|text| !text.is_empty())
            .map(str::to_owned)
    };
    let name = text_of("id")
        .or_else(|| text_of("name"))
        .unwrap_or_else(|| beside.directory.to_owned());
    let description = text_of("description").or_else(|| first_paragraph(lines))?;
    let mut fields = vec![field("name", name), field("description", description)];
    fields.extend(
        declared
            .into_iter()
            .filter(|field| !["id", "name", "description"].contains(&&*field.key)),
    );
    Some(fields)
}

fn declared(skill_yaml: Option<&[u8]>) -> Vec<Field> {
    let text = skill_yaml.and_then(|bytes| std::str::from_utf8(bytes).ok());
    text.and_then(|text| frontmatter::parse(text.trim_start_matches('\u{feff}'), 1).ok())
        .unwrap_or_default()
}

fn first_paragraph<'t>(lines: impl Iterator<Item = &'t str>) -> Option<String> {
    let paragraph: Vec<&str> = lines
        .map(str::trim)
        .skip_while(|line| line.is_empty() || line.starts_with('#'))
        .take_while(|line| !line.is_empty() && !line.starts_with('#'))
        .collect();
    let text: String = paragraph
        .join(" ")
        .chars()
        .take(DESCRIPTION_CHARS)
        .collect();
    (!text.is_empty()).then_some(text)
}

fn field(key: &str, text: String) -> Field {
    let at = Place { line: 1, column: 1 };
    Field {
        key: key.to_owned(),
        at,
        value: Value {
            at,
            kind: Kind::Text(text),
        },
    }
}
