//! What a search of ten thousand files costs, against ripgrep on the same files in the same minute.
//!
//! `rg` is a process that starts, searches and prints; ours is the search of the file tools in this
//! process, which resolves every path by handle, keeps protected files to itself and gives hits in
//! order. Both run on as many threads as they choose, so the wall clock is compared, in turns.

mod support;

use std::fmt::Write as _;
use std::path::Path;
use std::process::{ExitCode, Stdio};
use std::time::{Duration, Instant};

use outfitter::{FileRef, Files, Reach, Search, SearchMode};
use outfitter_sandbox::{LocalFiles, Protected};
use support::Fallible;
use support::report::Report;
use tokio::runtime::Runtime;

const DIRECTORIES: usize = 100;
const FILES_EACH: usize = 100;
const LINES_EACH: usize = 100;

/// How many times as long as `rg` a search may take.
const MOST: f64 = 1.3;

const ROUNDS: usize = 15;

fn main() -> Fallible<ExitCode> {
    let mut report = Report::default();
    let dir = tempfile::tempdir()?;
    make_files(dir.path())?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    let files = LocalFiles::open(dir.path(), Protected::of_system())?;
    if run_rg(dir.path(), "x", &[]).is_err() {
        report.note("SKIPPED(ripgrep): there is no `rg` on the PATH to compare with");
        return Ok(report.end());
    }
    let plain = |pattern: &str, mode| Search {
        pattern: pattern.to_owned(),
        glob: None,
        file_type: None,
        mode,
        case_insensitive: false,
        multiline: false,
        before: 0,
        after: 0,
        limit: 10_000,
    };
    let cases: [(&str, Search, &[&str]); 4] = [
        (
            "a rare word",
            plain("needle_in_the_haystack", SearchMode::Content),
            &[],
        ),
        (
            "a word in two thousand lines",
            plain("cobalt_[0-9]+", SearchMode::Content),
            &[],
        ),
        (
            "a word that is nowhere, in any case",
            Search {
                case_insensitive: true,
                ..plain("nowhere_to_be_found", SearchMode::Content)
            },
            &["-i"],
        ),
        (
            "the files that have a word",
            plain("line 42 of", SearchMode::Files),
            &["-l"],
        ),
    ];
    for (name, search, flags) in cases {
        report.title(name);
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for _ in 0..=ROUNDS {
            let start = Instant::now();
            run_rg(dir.path(), &search.pattern, flags)?;
            theirs.push(start.elapsed());
            let start = Instant::now();
            ours_of(&runtime, &files, search.clone())?;
            ours.push(start.elapsed());
        }
        let (ours, theirs) = (median(&mut ours), median(&mut theirs));
        report.note(&format!("rg {theirs:?}, ours {ours:?}"));
        let ratio = ours.as_secs_f64() / theirs.as_secs_f64();
        report.budget_of("as long as rg", ratio, MOST, "times");
    }
    Ok(report.end())
}

fn ours_of(runtime: &Runtime, files: &LocalFiles, search: Search) -> Fallible<()> {
    let here = FileRef {
        path: ".",
        reach: Reach::Workspace,
    };
    let found = runtime.block_on(files.search(here, search))?;
    std::hint::black_box(found);
    Ok(())
}

/// The median of all rounds but the first, which warms up.
fn median(times: &mut Vec<Duration>) -> Duration {
    times.remove(0);
    times.sort_unstable();
    times[times.len() / 2]
}

#[expect(
    clippy::disallowed_types,
    reason = "the other program of the comparison, which runs nothing of ours"
)]
fn run_rg(dir: &Path, pattern: &str, flags: &[&str]) -> Fallible<()> {
    let ran = std::process::Command::new("rg")
        .args(["--no-config", "--line-number", "--column", "--sort", "none"])
        .args(flags)
        .arg(pattern)
        .arg(dir)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .output()?;
    // 1 says that nothing was found.
    match ran.status.code() {
        Some(0 | 1) => Ok(()),
        _ => Err(String::from_utf8_lossy(&ran.stderr).into_owned().into()),
    }
}

fn make_files(dir: &Path) -> Fallible<()> {
    const WORDS: [&str; 8] = [
        "amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "heath",
    ];
    for directory in 0..DIRECTORIES {
        let here = dir.join(format!("part_{directory:03}"));
        std::fs::create_dir(&here)?;
        for file in 0..FILES_EACH {
            let mut text = String::new();
            for line in 0..LINES_EACH {
                let word = WORDS[(directory * 7 + file * 3 + line) % WORDS.len()];
                writeln!(text, "line {line} of {word} in file {file}")?;
            }
            if file % 5 == 0 {
                writeln!(text, "and cobalt_{directory}{file} stands here")?;
            }
            if (directory, file) == (61, 17) {
                text.push_str("needle_in_the_haystack\n");
            }
            std::fs::write(here.join(format!("file_{file:03}.txt")), text)?;
        }
    }
    Ok(())
}
