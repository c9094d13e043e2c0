//! `doctor`: what works here and what does not, each with a reason and a hint.

mod check;
mod connected;

use std::process::ExitCode;

use outfitter_core::{Level, PageRequest};
use outfitter_model::{PROVIDERS, provider_defaults};

use super::Invocation;
use super::documents;
use super::failure::Stop;
use super::stopping::runtime;
use crate::config::{ConfigError, Found, Loaded, Problem};
use crate::outfit::{BROWSER_HINT, BackendFound, Outfitter};
use crate::render::Ink;
use crate::render::text::one_line;
use check::{Check, Health};

pub(crate) use check::Report;

/// Runs `doctor`. Exits 1 when something does not work that is asked for.
pub(crate) fn run(at: &Invocation<'_>) -> Result<ExitCode, Stop> {
    let Found {
        loaded,
        problems,
        failing,
        warnings,
    } = at.look()?;
    if !problems.is_empty() {
        return wrong(at, problems);
    }
    let mut checks = vec![configuration(&loaded)];
    let lacking = failing.iter().chain(&warnings);
    checks.extend(lacking.map(|one| Check::warn("configuration", one.to_string())));
    match loaded.config.store.data_dir {
        Some(_) => {
            let whole = at.build(&loaded)?;
            checks.push(model(at, &whole));
            runtime()?.block_on(async {
                checks.extend(connected::checks(&whole).await);
                checks.push(store(&whole).await);
                checks.extend(leftovers(&whole).await);
                checks.extend(sandbox(&whole).await);
                checks.push(browser(&whole));
                checks.extend(backends(&whole).await);
            });
        }
        None => checks.push(no_place_for_data()),
    }
    let failed = checks.iter().any(|check| check.health == Health::Fail);
    say(at, &Report { v: 1, checks })?;
    Ok(if failed {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

fn say(at: &Invocation<'_>, report: &Report) -> Result<(), Stop> {
    if at.global.json {
        return documents::write(at, report);
    }
    let mut text = String::new();
    for check in &report.checks {
        let word = at
            .out
            .stdout
            .colour
            .paint(check.health.ink(), &format!("{:<4}", check.health.as_str()));
        let finding = one_line(&check.finding);
        text.push_str(&format!("{word}  {:<13}  {finding}\n", check.what));
        if let Some(hint) = &check.hint {
            let hint = at
                .out
                .stdout
                .colour
                .paint(Ink::Quiet, &format!("hint: {}", one_line(hint)));
            text.push_str(&format!("{:21}{hint}\n", ""));
        }
    }
    at.out.data(&text)
}

/// Nothing begins with a configuration that is wrong, so nothing else is looked at: all that is
/// wrong with it is what a reader wants.
fn wrong(at: &Invocation<'_>, problems: Vec<Problem>) -> Result<ExitCode, Stop> {
    let row = |problem: &Problem| Check::fail("configuration", problem.to_string());
    let checks: Vec<Check> = problems.iter().map(row).collect();
    if !at.global.json {
        say(at, &Report { v: 1, checks })?;
    }
    Err(ConfigError::Problems(problems).into())
}

fn configuration(loaded: &Loaded) -> Check {
    let what = "configuration";
    match &loaded.file {
        Some(file) => Check::ok(what, format!("{} is right", file.display())),
        None => Check::ok(
            what,
            "there is no outfitter.toml; every key has its default",
        ),
    }
}

fn model(at: &Invocation<'_>, whole: &Outfitter) -> Check {
    let what = "model";
    match whole.model() {
        Ok(model) => {
            let info = model.info();
            let config = whole.config();
            let key = provider_defaults(&info.provider)
                .and_then(|row| config.model.api_key_env.as_deref().or(row.api_key_env))
                .map(|name| match at.env.secret(name) {
                    Some(_) => format!(", with a key from {name}"),
                    None => format!(", without a key ({name} is not set)"),
                });
            let context = info
                .context_tokens
                .map(|tokens| format!(", context of {tokens} tokens"));
            let (key, context) = (key.unwrap_or_default(), context.unwrap_or_default());
            Check::ok(what, format!("{}{context}{key}", info.label()))
        }
        Err(error) => {
            let info = error.to_info();
            // Who has chosen one wants to know what is wrong with it, not which others there are.
            if whole.config().model.provider.is_some() {
                let check = Check::fail(what, info.message);
                return match info.hint {
                    Some(hint) => check.hint(hint),
                    None => check,
                };
            }
            let hint = info.hint.unwrap_or_default();
            Check::warn(what, info.message).hint(format!("{hint} (defaults: {})", defaults()))
        }
    }
}

/// The model of each provider that has one unless told.
fn defaults() -> String {
    let rows = PROVIDERS.iter().filter(|row| !row.model.is_empty());
    let rows = rows.map(|row| format!("{}/{}", row.name, row.model));
    rows.collect::<Vec<_>>().join(", ")
}

/// Nothing else can be looked at without one.
fn no_place_for_data() -> Check {
    Check::fail(
        "store",
        "there is no place for data: neither HOME nor [store] data_dir is set",
    )
    .hint("set HOME, or write [store] data_dir in outfitter.toml")
}

async fn store(whole: &Outfitter) -> Check {
    let what = "store";
    let request = PageRequest {
        after: None,
        limit: 1,
    };
    match whole.log().list(&whole.local_scope(), request).await {
        Ok(_) => {
            let url = whole.config().store.url.clone();
            Check::ok(
                what,
                url.unwrap_or_else(|| whole.data_dir().display().to_string()),
            )
        }
        Err(error) => {
            let failure = super::failure::Failure::from(error);
            let check = Check::fail(what, format!("failed to {}", failure.message));
            match failure.hint {
                Some(hint) => check.hint(hint),
                None => check,
            }
        }
    }
}

/// What killed programs left, where there is any.
async fn leftovers(whole: &Outfitter) -> Vec<Check> {
    let what = "leftovers";
    let left = whole.leftovers().await;
    let named = |folders: &[std::path::PathBuf]| {
        let first = folders.first().map(|path| path.display().to_string());
        let first = first.unwrap_or_default();
        match folders.len() {
            1 => first,
            more => format!("{first} and {} more", more - 1),
        }
    };
    let mut checks = Vec::new();
    if !left.passing.is_empty() {
        let finding = format!(
            "a call in no session was killed and left {}",
            named(&left.passing)
        );
        checks.push(
            Check::warn(what, finding)
                .hint("the next `outfitter tools call` or `outfitter serve` removes it"),
        );
    }
    if !left.unknown.is_empty() {
        let finding = format!("no session of this log belongs to {}", named(&left.unknown));
        checks.push(
            Check::warn(what, finding)
                .hint("remove it, unless another [store] url is used with this data_dir"),
        );
    }
    for finding in &left.elsewhere {
        checks.push(Check::warn(what, finding.clone()).hint(
            "name it in [sandbox] again to work there or to have it deleted with its session, or \
             remove it by hand",
        ));
    }
    for why in &left.unread {
        let finding = format!("there may be more than is named here: {why}");
        checks.push(Check::warn(what, finding));
    }
    for path in &left.strange_locks {
        let finding = format!(
            "{} is not as it was made, and is no mark of a deletion: its session does not open",
            path.display()
        );
        checks.push(Check::warn(what, finding).hint(
            "look at what is in it and what has put it there, then empty it: nothing of it is needed",
        ));
    }
    for id in &left.half_deleted {
        let finding = format!("the deletion of the session {id} is not at its end");
        let hint = format!("`outfitter sessions delete {id}` ends it, or says what stays");
        checks.push(Check::warn(what, finding).hint(hint));
    }
    checks
}

/// A row for each backend, whichever is asked for.
async fn backends(whole: &Outfitter) -> Vec<Check> {
    // Where nothing can be found out the row of the sandbox has said why.
    let found = whole.backends().await.unwrap_or_default();
    let row = |found: BackendFound| {
        let health = match found.level {
            Some(_) if found.hint.is_none() => Check::ok,
            Some(Level::Full) => Check::ok,
            Some(_) | None => Check::warn,
        };
        let check = health(found.backend.as_str(), found.finding);
        match found.hint {
            Some(hint) => check.hint(hint),
            None => check,
        }
    };
    found.into_iter().map(row).collect()
}

/// What shows pages to `render_html2png`.
fn browser(whole: &Outfitter) -> Check {
    let what = "browser";
    match whole.browser() {
        Some(program) => Check::ok(what, program.display().to_string()),
        None => Check::warn(what, "there is none, so render_html2png makes no pictures")
            .hint(BROWSER_HINT),
    }
}

async fn sandbox(whole: &Outfitter) -> Vec<Check> {
    let what = "sandbox";
    let info = match whole.sandbox_info().await {
        Ok(info) => info,
        Err(error) => {
            let info = error.to_info();
            let check = Check::fail(what, info.message);
            return vec![match info.hint {
                Some(hint) => check.hint(hint),
                None => check,
            }];
        }
    };
    let level = format!("{}, level {}", info.backend, info.level.as_str());
    let mut checks = vec![if info.level == Level::Full {
        Check::ok(what, level)
    } else {
        Check::warn(what, level)
    }];
    checks.extend(
        info.missing
            .iter()
            .map(|missing| Check::warn(what, missing.clone())),
    );
    if !info.isolating {
        let finding = "commands are not isolated, so each would need an approval";
        checks.push(Check::warn(what, finding).hint("set [sandbox] backend = \"local\""));
    }
    let quota = whole.quota_in_words().into_iter();
    checks.extend(quota.map(|quota| Check::ok("files", quota)));
    checks
}
