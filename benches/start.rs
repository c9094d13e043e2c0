//! What it costs to start: `outfitter tools list`, as a person runs it.

mod support;

use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use support::Fallible;
use support::report::Report;

/// The most processor time of `outfitter tools list`.
const TIME: Duration = Duration::from_millis(30);

/// The most memory of it, in MiB.
const MEMORY: f64 = 25.0;

/// The kernel tells the time of ended children in hundredths of a second, so many are counted
/// together.
const RUNS: u32 = 40;
const TICKS_IN_A_SECOND: u32 = 100;

/// How long a child may take to fill the pipe, before something is wrong with it.
const PATIENCE: Duration = Duration::from_secs(30);

fn main() -> Fallible<ExitCode> {
    let home = tempfile::tempdir()?;
    let mut report = Report::default();
    report.title("Starting");
    let version = time(home.path(), &["--version"])?;
    report.note(&format!("--version: {}", support::report::time(version)));
    let list = time(home.path(), &["tools", "list"])?;
    let peak = peak_mib(home.path(), &["tools", "list"])?;
    report.budget("the time of `tools list`", list, TIME);
    report.budget_of("the memory of `tools list`", peak, MEMORY, "MiB");
    let left: Vec<_> = std::fs::read_dir(home.path())?.collect();
    report.must("it touches no file", left.is_empty());
    let size = std::fs::metadata(env!("CARGO_BIN_EXE_outfitter"))?.len();
    report.note(&format!("the program has {:.1} MB", size as f64 / 1e6));
    Ok(report.end())
}

#[expect(
    clippy::disallowed_types,
    reason = "a bench runs the program as a person does"
)]
fn command(home: &Path, args: &[&str]) -> std::process::Command {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_outfitter"));
    command
        .args(args)
        .env_clear()
        .env("HOME", home)
        .current_dir(home)
        .stdin(std::process::Stdio::null());
    command
}

/// The mean processor time of a run.
fn time(home: &Path, args: &[&str]) -> Fallible<Duration> {
    let before = ticks_of_children()?;
    for _ in 0..RUNS {
        let output = command(home, args).output()?;
        if !output.status.success() || output.stdout.is_empty() {
            return Err(String::from_utf8_lossy(&output.stderr).into());
        }
    }
    let ticks = ticks_of_children()? - before;
    Ok(Duration::from_secs(1) * ticks / TICKS_IN_A_SECOND / RUNS)
}

/// The processor time of the children that have ended (proc_pid_stat(5), fields 16 and 17).
fn ticks_of_children() -> Fallible<u32> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    let (_, after_name) = stat.rsplit_once(')').ok_or("no name in stat")?;
    let mut fields = after_name.split_whitespace().skip(13);
    let mut next = || -> Fallible<u32> { Ok(fields.next().ok_or("a field is missing")?.parse()?) };
    Ok(next()? + next()?)
}

/// The most memory of a run. It is read while the program waits to write the last of its work into
/// a pipe that is full.
fn peak_mib(home: &Path, args: &[&str]) -> Fallible<f64> {
    let (mut reader, writer) = std::io::pipe()?;
    fill(&writer)?;
    let mut child = command(home, args).stdout(writer).spawn()?;
    let status = format!("/proc/{}/status", child.id());
    let waits = || -> Fallible<bool> {
        let call = std::fs::read_to_string(format!("/proc/{}/syscall", child.id()))?;
        // write(1, …), on x86-64 and on aarch64.
        Ok(call.starts_with("1 0x1 ") || call.starts_with("64 0x1 "))
    };
    let until = Instant::now() + PATIENCE;
    while !waits()? {
        if Instant::now() > until {
            child.kill()?;
            child.wait()?;
            return Err("the program never wrote".into());
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    let status = std::fs::read_to_string(status)?;
    std::io::copy(&mut reader, &mut std::io::sink())?;
    child.wait()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .ok_or("no peak in the status")?;
    let kib: f64 = line.trim().trim_end_matches("kB").trim().parse()?;
    Ok(kib / 1024.0)
}

/// Fills a pipe to the brim.
fn fill(pipe: &std::io::PipeWriter) -> Fallible<()> {
    let flags = rustix::fs::fcntl_getfl(pipe)?;
    rustix::fs::fcntl_setfl(pipe, flags | rustix::fs::OFlags::NONBLOCK)?;
    let mut writer = pipe.try_clone()?;
    while writer.write(&[b' '; 4096]).is_ok() {}
    rustix::fs::fcntl_setfl(pipe, flags)?;
    Ok(())
}
