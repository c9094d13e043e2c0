//! `config check`, `config explain`, `config schema`.

use std::process::ExitCode;

use outfitter_core::Code;
use outfitter_text::tokens::count;

use super::Invocation;
use super::args::ConfigCommand;
use super::documents::{self, ConfigChecked, PromptSection, ToldFirst, Unchecked};
use super::failure::{Failure, Stop};
use super::sandbox_notes::sandbox_notes;
use super::session::connected;
use crate::config::explain::{self, Note};
use crate::config::sections::RuleRow;
use crate::config::{self, Found, Loaded, Problem, written};
use crate::outfit::{IdleKeys, Needed};
use crate::render::text::one_line;

/// Runs `config`.
pub(crate) fn run(at: &Invocation<'_>, command: &ConfigCommand) -> Result<ExitCode, Stop> {
    match command {
        ConfigCommand::Check => check(at)?,
        ConfigCommand::Explain { prompt: false } => explain(at)?,
        ConfigCommand::Explain { prompt: true } => prompt(at)?,
        ConfigCommand::Schema { markdown: true } => at.out.data(&config::markdown())?,
        ConfigCommand::Schema { markdown: false } => at.out.document(&config::schema())?,
    }
    Ok(ExitCode::SUCCESS)
}

fn check(at: &Invocation<'_>) -> Result<(), Stop> {
    let Found {
        loaded,
        mut problems,
        failing,
        warnings,
    } = at.look()?;
    problems.extend(failing);
    // What a name means is known once everything is put together, which touches no file. A
    // missing place for data is no fault of the file.
    let names = match at.build_for_names(&loaded) {
        Some(whole) => whole.idle_keys(),
        None => IdleKeys::default(),
    };
    // A key that is wrong by itself is said once.
    let new = |key: &str| problems.iter().all(|problem| problem.key != key);
    let idle = names.idle.iter().filter(|idle| new(&idle.key));
    let idle: Vec<Problem> = idle
        .map(|idle| {
            let at = loaded.nearest_source(&idle.key).clone();
            Problem::about(at, &idle.key, &idle.why)
        })
        .collect();
    problems.extend(idle);
    for warning in &warnings {
        at.out.tell_line(&format!("warning: {warning}"));
    }
    if !problems.is_empty() {
        problems.sort_by_key(|problem| problem.at.order());
        return Err(all_of(at, problems));
    }
    let file = loaded.file.as_ref().map(|file| file.display().to_string());
    if at.global.json {
        return documents::write(
            at,
            &ConfigChecked {
                v: 1,
                ok: true,
                file,
                unchecked: names.unchecked.iter().map(Unchecked::from).collect(),
                warnings: warnings.iter().map(ToString::to_string).collect(),
            },
        );
    }
    for unchecked in &names.unchecked {
        at.out.tell_line(&format!("note: {unchecked}"));
    }
    at.out.data(&match file {
        Some(file) => format!("{} is right\n", one_line(&file)),
        None => "there is no outfitter.toml; every key has its default\n".to_owned(),
    })
}

/// The problems are what a reader of `check` wants: they are its data.
fn all_of(at: &Invocation<'_>, problems: Vec<Problem>) -> Stop {
    let count = match problems.len() {
        1 => "1 problem".to_owned(),
        count => format!("{count} problems"),
    };
    if !at.global.json {
        let line = |one: &Problem| format!("{}\n", one_line(&one.to_string()));
        let lines: String = problems.iter().map(line).collect();
        if let Err(stop) = at.out.data(&lines) {
            return stop;
        }
    }
    let mut failure = Failure::new(Code::Usage, format!("accept the configuration: {count}"));
    failure.problems = problems;
    failure.into()
}

fn explain(at: &Invocation<'_>) -> Result<(), Stop> {
    let loaded = at.load(Vec::new())?;
    let mut notes = notes(&loaded);
    notes.extend(sandbox_notes(at, &loaded)?);
    if at.global.json {
        documents::write(at, &explain::document(&loaded, &notes))
    } else {
        at.out.data(&explain::as_toml(&loaded, &notes))
    }
}

/// What a model is told before the first words of a person, here and now.
fn prompt(at: &Invocation<'_>) -> Result<(), Stop> {
    let (_, whole) = at.outfit(Vec::new())?;
    let (prompt, opening) = connected(&whole, Needed::Programs, || Ok(whole.told_first()))?;
    let system = prompt.text();
    let sections: Vec<PromptSection<'_>> = prompt
        .sections()
        .iter()
        .map(|section| PromptSection {
            name: section.name.as_str(),
            tokens: count(&section.text),
            text: &section.text,
        })
        .collect();
    let tokens = count(&system);
    if at.global.json {
        let opening = opening.as_deref();
        return documents::write(
            at,
            &ToldFirst {
                v: 1,
                system: &system,
                tokens,
                sections,
                opening,
            },
        );
    }
    let rest = opening.map_or_else(String::new, |opening| format!("\n{opening}\n"));
    at.out.plain(&format!("{system}\n{rest}"))?;
    at.out.tell(&measured(&sections, tokens));
    Ok(())
}

/// How long the prompt and each of its sections are, for people: what is printed is the prompt
/// itself, and nothing else.
fn measured(sections: &[PromptSection<'_>], tokens: usize) -> String {
    let widest = sections.iter().map(|section| section.name.len()).max();
    let widest = widest.unwrap_or_default();
    let rows = sections.iter().map(|section| {
        let PromptSection { name, tokens, .. } = section;
        format!("  {name:widest$}  about {tokens}\n")
    });
    let rows: String = rows.collect();
    format!("\nthe system prompt has about {tokens} tokens:\n{rows}")
}

/// What a reader of `config explain` wants to know beside the keys.
fn notes(loaded: &Loaded) -> Vec<Note> {
    let session = loaded.session.as_ref().map(|id| Note {
        name: "session".to_owned(),
        about: "The session that AGENT_SESSION_ID names.".to_owned(),
        lines: vec![id.to_string()],
    });
    session.into_iter().chain(rules(loaded)).collect()
}

/// The rules as they are held to, in their order; none where there are none.
fn rules(loaded: &Loaded) -> Option<Note> {
    let rules = &loaded.config.permissions.rules;
    let lines: Vec<String> = rules.iter().enumerate().map(rule).collect();
    (!lines.is_empty()).then(|| Note {
        name: "rules".to_owned(),
        about: "The rules by their numbers, as refusals name them. `deny` wins over `ask`, and \
                `ask` over `allow`, whatever their order; below them holds what holds without \
                rules."
            .to_owned(),
        lines,
    })
}

fn rule((number, rule): (usize, &RuleRow)) -> String {
    let row = serde_json::to_value(rule).unwrap_or_default();
    let said = ["tool", "args", "tenant", "role", "channel", "agent"];
    let said: Vec<String> = said
        .iter()
        .filter_map(|key| {
            let value = row.get(key).filter(|value| !value.is_null())?;
            Some(format!("{key} = {}", written(value)))
        })
        .collect();
    let decision = row["decision"].as_str().unwrap_or_default();
    format!("{number}  {decision:<5}  {}", said.join(", "))
}
