//! `skills list`, `skills show`.

use std::process::ExitCode;
use std::sync::Arc;

use outfitter_core::{Code, NameSet};
use outfitter_skills::{Diagnostic, Severity, Skill, SkillProxy};
use schemars::JsonSchema;
use serde::Serialize;

use super::Invocation;
use super::args::{SessionOptions, SkillsCommand};
use super::documents;
use super::failure::{Failure, Stop};
use super::session::{connected, tell_pending};
use crate::config::sections::Load;
use crate::outfit::{Needed, Outfitter};
use crate::render::tables;
use crate::render::text::one_line;

/// The skills that may be used.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "SkillList")]
pub(crate) struct Listed {
    /// The version of this document.
    #[schemars(extend("const" = 1))]
    v: u32,
    /// The skills, by name.
    skills: Vec<Row>,
    /// What was left out, or looks wrong.
    diagnostics: Vec<Problem>,
}

/// One skill in a list.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "SkillRow")]
pub(crate) struct Row {
    /// Its name.
    name: String,
    /// What it is about and when it is wanted.
    description: String,
    /// Its version; left out where it says none.
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<String>,
    /// Its SKILL.md.
    path: String,
    /// Whether it is in context from the first request on.
    loaded: bool,
    /// Whether a model is told of it and may load it by itself.
    listed: bool,
    /// Whether it keeps to the Agent Skills specification in everything.
    valid: bool,
}

/// One skill.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Skill")]
pub(crate) struct Shown {
    /// The version of this document.
    #[schemars(extend("const" = 1))]
    v: u32,
    /// What a list says of it.
    skill: Row,
    /// What a model reads when it is loaded.
    instructions: String,
    /// The files beside its SKILL.md, from its folder.
    files: Vec<String>,
    /// How many more files there are than are listed.
    files_omitted: usize,
    /// The skills it builds on.
    dependencies: Vec<String>,
    /// The tools it speaks of. Naming one gives no right to it.
    tools: Vec<String>,
    /// What looks wrong in it.
    diagnostics: Vec<Problem>,
}

/// What was left out, or looks wrong.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "SkillDiagnostic")]
pub(crate) struct Problem {
    /// What follows: `refused` where something was left out.
    #[schemars(extend("enum" = ["note", "warning", "refused"]))]
    severity: &'static str,
    /// What is wrong, as a word.
    code: String,
    /// The same for people.
    message: String,
    /// The file or directory.
    path: String,
    /// The line, counted from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    /// The column, counted from 1 in characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<usize>,
    /// The skill, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    skill: Option<String>,
}

impl From<&Diagnostic> for Problem {
    fn from(found: &Diagnostic) -> Self {
        Self {
            severity: match found.severity {
                Severity::Refused => "refused",
                Severity::Warning => "warning",
                Severity::Note => "note",
            },
            code: found.code.to_string(),
            message: found.message.clone(),
            path: found.path.display().to_string(),
            line: found.at.map(|at| at.line),
            column: found.at.map(|at| at.column),
            skill: found.skill.as_ref().map(ToString::to_string),
        }
    }
}

impl Problem {
    /// One line, with its place.
    pub(crate) fn line(&self) -> String {
        let place = match (self.line, self.column) {
            (Some(line), Some(column)) => format!("{}:{line}:{column}", self.path),
            _ => self.path.clone(),
        };
        format!("{place}: {} ({})", self.message, self.code)
    }

    /// Whether anything follows from it.
    pub(crate) fn matters(&self) -> bool {
        self.severity != "note"
    }
}

/// Runs `skills`.
pub(crate) fn run(at: &Invocation<'_>, command: &SkillsCommand) -> Result<ExitCode, Stop> {
    match command {
        SkillsCommand::List { options } => list(at, options)?,
        SkillsCommand::Show { name, options } => show(at, name, options)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn list(at: &Invocation<'_>, options: &SessionOptions) -> Result<(), Stop> {
    let (_, whole) = at.outfit(options.flags())?;
    // Programs of the project bring skills of their own.
    let listed = connected(&whole, Needed::Programs, || {
        tell_pending(at, &whole.pending());
        let rows = proxy(&whole)
            .skills()
            .map(|skill| row(&whole, skill))
            .collect();
        Ok(Listed {
            v: 1,
            skills: rows,
            diagnostics: diagnostics(&whole),
        })
    })?;
    if at.global.json {
        return documents::write(at, &listed);
    }
    tell(at, &listed.diagnostics);
    let rows = listed.skills.into_iter().map(|row| {
        let loaded = if row.loaded {
            "from the start"
        } else {
            "when asked for"
        };
        [row.name, loaded.to_owned(), row.description]
    });
    at.out.data(&tables::skills(rows.collect(), at.out.stdout))
}

fn show(at: &Invocation<'_>, name: &str, options: &SessionOptions) -> Result<(), Stop> {
    let (_, whole) = at.outfit(options.flags())?;
    let shown = connected(&whole, Needed::Programs, || shown(&whole, name))?;
    if at.global.json {
        return documents::write(at, &shown);
    }
    tell(at, &shown.diagnostics);
    let facts = [
        ("file", vec![shown.skill.path]),
        ("version", shown.skill.version.into_iter().collect()),
        ("needs", shown.dependencies),
        ("speaks of", shown.tools),
        ("with", shown.files),
    ];
    let text = tables::skill(
        [&shown.skill.name, &shown.skill.description],
        &facts,
        &shown.instructions,
        at.out.stdout,
    );
    at.out.data(&text)
}

/// Tells people what matters; what is merely good to know where they want to know more.
fn tell(at: &Invocation<'_>, problems: &[Problem]) {
    for problem in problems {
        if problem.matters() || at.global.verbose {
            let line = format!("{}: {}", problem.severity, problem.line());
            at.out.tell(&format!("{}\n", one_line(&line)));
        }
    }
}

fn shown(whole: &Outfitter, name: &str) -> Result<Shown, Stop> {
    let proxy = proxy(whole);
    let Some(skill) = proxy.get(name) else {
        let close = proxy.close_names(name);
        let hint = match close.as_slice() {
            [] => "`outfitter skills list` lists those that may be used".to_owned(),
            close => format!("did you mean {}?", close.join(" or ")),
        };
        let failure = Failure::new(Code::NotFound, format!("find the skill {name:?}"));
        return Err(failure.with_hint(hint).into());
    };
    let unavailable = |error: &(dyn std::error::Error + 'static)| {
        let mut failure = Failure::of(Code::Unavailable, error);
        failure.message = format!("read the skill {name}: {}", failure.message);
        failure
    };
    let document = skill.document().map_err(|error| unavailable(&error))?;
    let files = skill.pack.files().map_err(|error| unavailable(&error))?;
    let name = skill.name().to_string();
    Ok(Shown {
        v: 1,
        skill: row(whole, skill),
        instructions: document.instructions,
        files: files
            .paths
            .into_iter()
            .filter(|path| *path != skill.file)
            .collect(),
        files_omitted: files.omitted,
        dependencies: skill
            .manifest
            .dependencies
            .iter()
            .map(|one| one.name.to_string())
            .collect(),
        tools: skill.manifest.tools.clone(),
        diagnostics: diagnostics(whole)
            .into_iter()
            .filter(|found| found.skill.as_deref() == Some(&*name))
            .collect(),
    })
}

fn proxy(whole: &Outfitter) -> SkillProxy {
    whole.skills().proxy(&NameSet::all())
}

/// What is wrong with the skills of the whole.
pub(crate) fn diagnostics(whole: &Outfitter) -> Vec<Problem> {
    let snapshot = whole.skills().snapshot();
    snapshot.diagnostics().iter().map(Problem::from).collect()
}

fn row(whole: &Outfitter, skill: &Arc<Skill>) -> Row {
    let manifest = &skill.manifest;
    let loaded = match &whole.config().skills.load {
        Load::Names(names) => names.iter().any(|name| name == skill.name().as_str()),
        Load::Auto => false,
    };
    Row {
        name: skill.name().to_string(),
        description: manifest.description.clone(),
        version: manifest.version.clone(),
        path: skill.path().display().to_string(),
        loaded,
        listed: manifest.model_may_load,
        valid: skill.is_strictly_valid(),
    }
}
