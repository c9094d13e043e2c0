//! One page, block by block.

use std::fmt::Write as _;
use std::path::Path;

use crate::block::{Block, split};
use crate::page::{Page, root};
use crate::transcript::{fits, steps};
use crate::world::World;

/// What became of the blocks of a page.
#[derive(Default)]
pub(crate) struct Report {
    /// What is not as the page says.
    pub(crate) faults: Vec<String>,
    /// What was not run, and why, in the page's own words.
    pub(crate) not_run: Vec<String>,
    /// What this machine cannot show: what it lacks, and where.
    pub(crate) skipped: Vec<(&'static str, String)>,
    /// How many commands were run.
    pub(crate) commands: usize,
}

/// Reads, writes and runs what the page has.
pub(crate) fn check(page: &Page) -> Report {
    let world = World::new();
    let mut report = Report::default();
    let (blocks, outside) = split(&page.text);
    for block in &blocks {
        let place = format!("{}:{}", page.name, block.line);
        if let Err(fault) = one(&world, page, block, &mut report) {
            report.faults.push(format!("{place}: {fault}"));
        }
    }
    for (line, text) in outside {
        let command = text.strip_prefix("    ").unwrap_or_default().trim_start();
        if ["$ ", "outfitter ", "cargo "]
            .iter()
            .any(|word| command.starts_with(word))
        {
            let place = format!("{}:{line}", page.name);
            report
                .faults
                .push(format!("{place}: commands stand in a console block"));
        }
    }
    report
}

fn one(world: &World, page: &Page, block: &Block, report: &mut Report) -> Result<(), String> {
    if let Some(name) = block.file() {
        world.write(name, &block.text);
        return match name {
            "outfitter.toml" => configuration(world, name),
            _ if block.language() == "toml" => toml::from_str(&block.text)
                .map(|_: toml::Table| ())
                .map_err(|error| error.to_string()),
            _ => Ok(()),
        };
    }
    match block.language() {
        "console" => console(world, page, block, report),
        "toml" => {
            world.write("../aside/outfitter.toml", &block.text);
            configuration(world, "../aside/outfitter.toml")
        }
        "js" => javascript(world, page, block, report),
        "json" => json(&block.text),
        "ndjson" => block.text.lines().try_for_each(json),
        "rust" => {
            let tests = std::fs::read_to_string(root().join("src/doctests.rs")).unwrap();
            let included = format!("include_str!(\"../{}\")", page.name);
            let named = tests.contains(&included);
            named
                .then_some(())
                .ok_or_else(|| format!("src/doctests.rs has no {included}"))
        }
        "input" | "result" | "sse" if page.name.starts_with("docs/protocols/") => Ok(()),
        "text" if block.text.lines().any(|line| line.starts_with("$ ")) => {
            Err("commands stand in a console block".to_owned())
        }
        "text" => Ok(()),
        other => Err(format!("no test knows what to do with {other:?}")),
    }
}

/// Runs a program for Node that speaks to the page's server by AG-UI, to the end of its run.
fn javascript(
    world: &World,
    page: &Page,
    block: &Block,
    report: &mut Report,
) -> Result<(), String> {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("..");
    let modules = target.join("peers/agui/node_modules");
    if !modules.is_dir() {
        let why = "its package is not there; `.ci/peers` installs it";
        let skipped = format!("{}:{}: {why}", page.name, block.line);
        report.skipped.push(("npm", skipped));
        return Ok(());
    }
    world.link("node_modules", &modules);
    world.write("block.mjs", &world.on_its_port(&block.text));
    report.commands += 1;
    let printed = world.run("node block.mjs");
    let ended = printed.ends_with("RUN_FINISHED\n");
    ended.then_some(()).ok_or(printed)
}

fn configuration(world: &World, file: &str) -> Result<(), String> {
    let printed = world.run(&format!("outfitter config check --config {file}"));
    // The files that it names may stand further down, or nowhere.
    let fine = |line: &str| {
        let rest = [
            "warning: ",
            "error: failed to accept the configuration: ",
            "[exit 2]",
        ];
        rest.iter().any(|begin| line.starts_with(begin)) || line.contains(": there is no such ")
    };
    let right = printed.ends_with("is right\n") || printed.lines().all(fine);
    right.then_some(()).ok_or(printed)
}

fn json(text: &str) -> Result<(), String> {
    serde_json::from_str(text)
        .map(|_: serde_json::Value| ())
        .map_err(|error| error.to_string())
}

fn console(world: &World, page: &Page, block: &Block, report: &mut Report) -> Result<(), String> {
    if let Some(why) = block.not_run() {
        report
            .not_run
            .push(format!("{}:{}: {why}", page.name, block.line));
        return Ok(());
    }
    if block.has("needs-full-sandbox")
        && let Some(why) = world.less_than_full()
    {
        let skipped = format!("{}:{}: {why}", page.name, block.line);
        report.skipped.push(("full sandbox", skipped));
        return Ok(());
    }
    let mut faults = String::new();
    for step in steps(&block.text)? {
        report.commands += 1;
        let printed = world.run(&step.command);
        if !fits(&step.expected, &printed) {
            let line = block.line + 1 + step.at;
            let expected = step.expected.join("\n");
            let _ = write!(
                faults,
                "\n--- line {line}: $ {}\n--- the page says\n{expected}\n--- it prints\n{printed}",
                step.command
            );
        }
    }
    faults.is_empty().then_some(()).ok_or(faults)
}
