//! `doctor`: what works here and what does not, each with a reason and a hint.

use std::process::ExitCode;

use outfitter_core::{Level, PageRequest};
use outfitter_model::{PROVIDERS, provider_defaults};
use serde_json::json;

use super::Invocation;
use super::failure::Stop;
use super::session::runtime;
use crate::config::Loaded;
use crate::outfit::Outfitter;
use crate::render::Ink;

/// How one thing is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Health {
    /// It works.
    Ok,
    /// Something is missing that may be wanted.
    Warn,
    /// It does not work.
    Fail,
}

impl Health {
    fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warn => "warn",
            Self::Fail => "fail",
        }
    }

    fn ink(self) -> Ink {
        match self {
            Self::Ok => Ink::Good,
            Self::Warn => Ink::Caution,
            Self::Fail => Ink::Bad,
        }
    }
}

/// One thing that was looked at.
struct Check {
    what: &'static str,
    health: Health,
    finding: String,
    hint: Option<String>,
}

impl Check {
    fn ok(what: &'static str, finding: impl Into<String>) -> Self {
        Self {
            what,
            health: Health::Ok,
            finding: finding.into(),
            hint: None,
        }
    }

    fn warn(what: &'static str, finding: impl Into<String>) -> Self {
        Self {
            health: Health::Warn,
            ..Self::ok(what, finding)
        }
    }

    fn fail(what: &'static str, finding: impl Into<String>) -> Self {
        Self {
            health: Health::Fail,
            ..Self::ok(what, finding)
        }
    }

    fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// Runs `doctor`. Exits 1 when something does not work that is asked for.
pub(crate) fn run(at: &Invocation<'_>) -> Result<ExitCode, Stop> {
    let (loaded, whole) = at.outfit(Vec::new())?;
    let mut checks = vec![configuration(&loaded), model(at, &whole)];
    checks.extend(faults(&whole));
    runtime()?.block_on(async {
        checks.push(store(&whole).await);
        checks.extend(sandbox(&whole).await);
    });
    say(at, &checks)?;
    let failed = checks.iter().any(|check| check.health == Health::Fail);
    Ok(if failed {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

fn say(at: &Invocation<'_>, checks: &[Check]) -> Result<(), Stop> {
    if at.global.json {
        let checks: Vec<_> = checks
            .iter()
            .map(|check| {
                let mut row = json!({
                    "what": check.what,
                    "status": check.health.as_str(),
                    "finding": check.finding,
                });
                if let Some(hint) = &check.hint {
                    row["hint"] = hint.as_str().into();
                }
                row
            })
            .collect();
        return at.out.document(&json!({ "v": 1, "checks": checks }));
    }
    let mut text = String::new();
    for check in checks {
        let word = at
            .out
            .stdout
            .colour
            .paint(check.health.ink(), &format!("{:<4}", check.health.as_str()));
        text.push_str(&format!("{word}  {:<13}  {}\n", check.what, check.finding));
        if let Some(hint) = &check.hint {
            let hint = at
                .out
                .stdout
                .colour
                .paint(Ink::Quiet, &format!("hint: {hint}"));
            text.push_str(&format!("{:21}{hint}\n", ""));
        }
    }
    at.out.data(&text)
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
            let key = provider_defaults(&info.provider)
                .and_then(|row| {
                    whole
                        .config()
                        .model
                        .api_key_env
                        .as_deref()
                        .or(row.api_key_env)
                })
                .map(|name| match at.env.secret(name) {
                    Some(_) => format!(", with a key from {name}"),
                    None => format!(", without a key ({name} is not set)"),
                });
            Check::ok(what, format!("{}{}", info.label(), key.unwrap_or_default()))
        }
        Err(error) => {
            let info = error.to_info();
            let defaults: Vec<String> = PROVIDERS
                .iter()
                .filter(|row| !row.model.is_empty())
                .map(|row| format!("{}/{}", row.name, row.model))
                .collect();
            let hint = info.hint.unwrap_or_default();
            let health = if whole.config().model.provider.is_some() {
                Check::fail
            } else {
                Check::warn
            };
            health(what, info.message).hint(format!("{hint} (defaults: {})", defaults.join(", ")))
        }
    }
}

fn faults(whole: &Outfitter) -> Vec<Check> {
    let faults = whole.faults();
    if faults.is_empty() {
        return vec![Check::ok("tools", "every source offers all it has")];
    }
    faults
        .into_iter()
        .map(|found| {
            let fault = found.fault;
            Check::warn(
                "tools",
                format!(
                    "{}: {} is left out: {}",
                    found.source, fault.what, fault.why
                ),
            )
        })
        .collect()
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
    checks
}
