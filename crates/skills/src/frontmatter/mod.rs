//! The frontmatter of a SKILL.md: found, read as YAML, and rescued where it is not quite YAML.
//!
//! * [`fence`]: where it begins and ends.
//! * [`yaml`]: YAML 1.2 within a budget, every scalar as it is written.
//! * [`quote`]: values put in quotes, where an unquoted colon breaks the YAML.
//! * [`salvage`]: keys and values line by line, when nothing else helps.

mod fence;
mod lines;
mod quote;
mod salvage;
mod value;
mod yaml;

pub(crate) use fence::split;
pub(crate) use value::{Field, Kind, Value};
pub(crate) use yaml::{NotYaml, parse};

use crate::problem::{Finding, Problem};

/// The fields of a frontmatter, and what was wrong with it.
pub(crate) struct Fields {
    pub(crate) fields: Vec<Field>,
    pub(crate) findings: Vec<Finding>,
}

/// Reads a frontmatter whose first line is the line `first_line` of its file.
///
/// A frontmatter that is not YAML is rescued: first its values are put in quotes, then it is read
/// line by line. Both keep every top-level key, so that a broken line never drops a restriction
/// that another line declares.
pub(crate) fn read(text: &str, first_line: usize) -> Result<Fields, Finding> {
    let error = match parse(text, first_line) {
        Ok(fields) => {
            return Ok(Fields {
                fields,
                findings: Vec::new(),
            });
        }
        Err(NotYaml::NotAMapping) => {
            return Err(Finding::new(
                Problem::NotAMapping,
                "the frontmatter is not a mapping of keys to values",
            ));
        }
        Err(NotYaml::Invalid { message, at }) => {
            let finding = Finding::new(Problem::YamlInvalid, message);
            at.map_or(finding.clone(), |at| finding.at(at))
        }
    };
    if let Some(quoted) = quote::quoted(text)
        && let Ok(fields) = parse(&quoted, first_line)
    {
        let told = Finding::new(Problem::YamlQuoted, "it was read with the values in quotes");
        return Ok(Fields {
            fields,
            findings: vec![error, told],
        });
    }
    let fields = salvage::fields(text, first_line);
    if fields.is_empty() {
        return Err(Finding {
            code: Problem::NotAMapping,
            ..error
        });
    }
    let told = Finding::new(
        Problem::YamlSalvaged,
        "it was read line by line, without what is nested",
    );
    Ok(Fields {
        fields,
        findings: vec![error, told],
    })
}
