//! Stands in for the real binary in tests: a program whose `main` begins as it must, and which then
//! starts one command as its arguments say.
//!
//! `run [--level L] [--network on|off|alone] [--write P] [--read P] [--fixed P] [--hide P] [--private P] [--blank P] [--env K=V]
//! [--cwd P] [--stdin TEXT] [--kill-after MS [--once FILE]] [--first-remove FILE] [--listen-often DIR] -- PROGRAM ARGS…` copies the command's output to ours and
//! prints how it ended as the last line of standard error. `probe` prints what can be had.
//! `attack NAME ARGS…` is what a hostile command does: it exits with 0 if it got through.

mod attacks;

use std::ffi::OsString;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use outfitter_process::{
    ChildSpec, Confined, Confinement, Ending, Exit, Level, Limits, Network, Spawned, Stdin, Stream,
    SupervisorProgram, probe, run_if_supervisor, spawn,
};

fn main() -> ExitCode {
    run_if_supervisor();
    // Before there is a runtime with descriptors of its own.
    let outcome = match attack() {
        Some(outcome) => outcome,
        None => command_in_runtime(),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(text) => {
            say(&format!("error: {text}"));
            ExitCode::from(70)
        }
    }
}

fn attack() -> Option<Result<(), String>> {
    let mut args = std::env::args().skip(1);
    args.next().filter(|word| word == "attack")?;
    let name = args.next().unwrap_or_default();
    let rest: Vec<String> = args.collect();
    Some(attacks::attack(&name, &rest).map_err(|error| format!("attack refused: {error}")))
}

fn command_in_runtime() -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    runtime.block_on(command())
}

async fn command() -> Result<(), String> {
    let mut args = std::env::args_os().skip(1);
    match args.next().as_deref().and_then(|word| word.to_str()) {
        Some("run") => run(Options::parse(args)?).await,
        Some("bench") => bench(Options::parse(args)?).await,
        Some("probe") => {
            let support = probe(&SupervisorProgram::this_binary())
                .await
                .map_err(|error| explain(&error))?;
            say(&format!("{support:?}"));
            Ok(())
        }
        _ => Err("usage: run … -- PROGRAM ARGS… | bench … | probe".to_owned()),
    }
}

/// More than are covered for one command.
const SOCKETS: u32 = 1030;

struct Options {
    spec: ChildSpec,
    kill_after: Option<Duration>,
    once: Option<PathBuf>,
    times: u32,
}

impl Options {
    fn parse(mut args: impl Iterator<Item = OsString>) -> Result<Self, String> {
        let mut level = Some(Level::Full);
        let mut confined = Confined {
            level: Level::Full,
            network: Network::Off,
            write: Vec::new(),
            read: Vec::new(),
            fixed: Vec::new(),
            hide: Vec::new(),
            private: Vec::new(),
            blank: Vec::new(),
        };
        let mut options = Self {
            spec: ChildSpec {
                argv: Vec::new(),
                env: Vec::new(),
                cwd: PathBuf::from("/"),
                stdin: Stdin::Null,
                confinement: Confinement::Unconfined,
                limits: Limits::DEFAULT,
            },
            kill_after: None,
            once: None,
            times: 1,
        };
        while let Some(word) = args.next() {
            if word == "--" {
                options.spec.argv = args.by_ref().collect();
                break;
            }
            let value = args.next().ok_or("an option without a value")?;
            let text = value.to_str().unwrap_or_default();
            match word.to_str().unwrap_or_default() {
                "--level" => {
                    level = match text {
                        "full" => Some(Level::Full),
                        "partial" => Some(Level::Partial),
                        "none" => Some(Level::None),
                        "unconfined" => None,
                        _ => return Err(format!("no such level: {text}")),
                    }
                }
                "--network" if text == "on" => confined.network = Network::On,
                "--network" if text == "alone" => confined.network = Network::Alone,
                "--network" => confined.network = Network::Off,
                "--write" => confined.write.push(value.into()),
                "--read" => confined.read.push(value.into()),
                "--fixed" => confined.fixed.push(value.into()),
                "--hide" => confined.hide.push(value.into()),
                "--private" => confined.private.push(value.into()),
                "--blank" => confined.blank.push(value.into()),
                "--cwd" => options.spec.cwd = value.into(),
                "--stdin" => options.spec.stdin = Stdin::Bytes(text.to_owned().into()),
                "--env" => {
                    let (name, value) = text.split_once('=').ok_or("NAME=VALUE expected")?;
                    options.spec.env.push((name.into(), value.into()));
                }
                "--first-remove" => std::fs::remove_file(value).map_err(|e| e.to_string())?,
                "--listen-often" => {
                    for number in 0..SOCKETS {
                        let socket = PathBuf::from(&value).join(number.to_string());
                        let listener = std::os::unix::net::UnixListener::bind(socket);
                        // Until we end.
                        std::mem::forget(listener.map_err(|e| e.to_string())?);
                    }
                }
                "--kill-after" => {
                    let millis = text.parse().map_err(|_| "milliseconds expected")?;
                    options.kill_after = Some(Duration::from_millis(millis));
                }
                "--once" => options.once = Some(value.into()),
                "--memory-mb" => {
                    let most: u64 = text.parse().map_err(|_| "a number expected")?;
                    options.spec.limits.memory_bytes = Some(most * 1024 * 1024);
                }
                "--file-mb" => {
                    let most: u64 = text.parse().map_err(|_| "a number expected")?;
                    options.spec.limits.file_bytes = most * 1024 * 1024;
                }
                "--cpu-seconds" => {
                    let most = text.parse().map_err(|_| "a number expected")?;
                    options.spec.limits.cpu_seconds = Some(most);
                }
                "--processes" => {
                    options.spec.limits.processes =
                        text.parse().map_err(|_| "a number expected")?;
                }
                "--times" => options.times = text.parse().map_err(|_| "a number expected")?,
                other => return Err(format!("no such option: {other}")),
            }
        }
        if let Some(level) = level {
            confined.level = level;
            options.spec.confinement = Confinement::Confined(confined);
        }
        Ok(options)
    }
}

async fn run(options: Options) -> Result<(), String> {
    // As long as the command runs, as where more of them are to come.
    let program = SupervisorProgram::this_binary();
    let Spawned {
        mut child,
        mut output,
        ..
    } = spawn(&program, options.spec)
        .await
        .map_err(|error| explain(&error))?;
    let killer = async {
        match options.kill_after {
            Some(after) => {
                while options.once.as_ref().is_some_and(|file| !file.exists()) {
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
                tokio::time::sleep(after).await;
            }
            None => std::future::pending().await,
        }
    };
    tokio::pin!(killer);
    let mut asked = false;
    let exit = loop {
        tokio::select! {
            piece = output.next() => match piece.map_err(|error| explain(&error))? {
                Some((stream, bytes)) => copy(stream, &bytes),
                None => break child.wait().await,
            },
            exit = child.wait() => break exit,
            () = &mut killer, if !asked => {
                asked = true;
                child.request_kill(Duration::from_millis(300)).map_err(|error| explain(&error))?;
            }
        }
    }
    .map_err(|error| explain(&error))?;
    while let Some((stream, bytes)) = output.try_next().map_err(|error| explain(&error))? {
        copy(stream, &bytes);
    }
    for reached in &exit.reached {
        say(&reached.said);
    }
    for note in &exit.notes {
        say(note);
    }
    say(&describe(&exit));
    Ok(())
}

async fn bench(options: Options) -> Result<(), String> {
    let program = SupervisorProgram::this_binary();
    let started = std::time::Instant::now();
    for _ in 0..options.times {
        let mut spawned = spawn(&program, options.spec.clone())
            .await
            .map_err(|error| explain(&error))?;
        spawned
            .child
            .wait()
            .await
            .map_err(|error| explain(&error))?;
    }
    say(&format!("{:?} each", started.elapsed() / options.times));
    Ok(())
}

fn describe(exit: &Exit) -> String {
    let ending = match exit.ending {
        Ending::Code(code) => format!("code={code}"),
        Ending::Signal(signal) => format!("signal={signal}"),
    };
    format!(
        "{ending} killed_children={} survivors={}",
        exit.killed_children,
        exit.survivors.len()
    )
}

fn copy(stream: Stream, bytes: &[u8]) {
    // A reader that went away ends the test by itself.
    let _ = match stream {
        Stream::Stdout => std::io::stdout()
            .write_all(bytes)
            .and_then(|()| std::io::stdout().flush()),
        Stream::Stderr => std::io::stderr().write_all(bytes),
    };
}

fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

fn explain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}
