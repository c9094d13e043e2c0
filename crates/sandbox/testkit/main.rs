//! Stands in for the real binary in tests: a program whose `main` begins as it must, and which then
//! runs one command in a sandbox as its arguments say.
//!
//! `run [--backend local|partial|bwrap|passthrough] [--network on] [--workdir D] --workspace W --data D
//! -- PROGRAM ARGS…` copies the command's output, and prints how it ended as JSON-free lines on
//! standard error: `notice: …`, then `code=N` or `signal=N`. The surrounding environment is ours.

use std::ffi::OsString;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use outfitter_core::{
    CommandLine, CommandSpec, Level, Offset, Sandbox, SandboxError, Stream, SystemClock,
};
use outfitter_sandbox::{
    Host, Limits, LocalFiles, LocalPolicy, Protected, Reach, Session, SupervisorProgram, bwrap,
    local, passthrough, probe,
};

/// Longer than any test.
const TIMEOUT: Duration = Duration::from_secs(600);

/// As much as is taken of the output at once.
const RANGE: usize = 64 * 1024;

fn main() -> ExitCode {
    outfitter_process::run_if_supervisor();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let outcome = match runtime {
        Ok(runtime) => runtime.block_on(command()),
        Err(error) => Err(error.to_string()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(text) => {
            say(&format!("error: {text}"));
            ExitCode::from(70)
        }
    }
}

struct Options {
    backend: String,
    reach: Reach,
    workspace: PathBuf,
    data: PathBuf,
    workdir: String,
    command: Vec<String>,
}

impl Options {
    fn parse() -> Result<Self, String> {
        let mut args = std::env::args_os().skip(1);
        if args.next().as_deref() != Some("run".as_ref()) {
            return Err("usage: run … -- PROGRAM ARGS…".to_owned());
        }
        let mut options = Self {
            backend: "local".to_owned(),
            reach: Reach::Nothing,
            workspace: PathBuf::new(),
            data: PathBuf::new(),
            workdir: String::new(),
            command: Vec::new(),
        };
        while let Some(word) = args.next() {
            let mut value = || args.next().ok_or("an option without a value");
            match word.to_str().unwrap_or_default() {
                "--" => {
                    let words: Result<_, _> = args.map(OsString::into_string).collect();
                    options.command = words.map_err(|_| "a command that is not UTF-8")?;
                    break;
                }
                "--backend" => {
                    options.backend = value()?.into_string().map_err(|_| "UTF-8 expected")?;
                }
                "--network" => {
                    if value()? == "on" {
                        options.reach = Reach::Everything;
                    }
                }
                "--workspace" => options.workspace = value()?.into(),
                "--data" => options.data = value()?.into(),
                "--workdir" => {
                    options.workdir = value()?.into_string().map_err(|_| "UTF-8 expected")?;
                }
                other => return Err(format!("no such option: {other}")),
            }
        }
        Ok(options)
    }
}

async fn command() -> Result<(), String> {
    let options = Options::parse()?;
    let sandbox = open(&options).await?;
    let spec = CommandSpec {
        command: CommandLine::Program(options.command),
        workdir: options.workdir,
        env: Vec::new(),
        timeout: TIMEOUT,
    };
    let told = |error: SandboxError| error.to_string();
    let job = sandbox.spawn(spec).await.map_err(told)?;
    let mut from = Offset(0);
    loop {
        let chunk = sandbox
            .output(&job, from, RANGE, TIMEOUT)
            .await
            .map_err(told)?;
        for (stream, bytes) in &chunk.pieces {
            copy(*stream, bytes);
        }
        if chunk.ended {
            break;
        }
        from = chunk.next;
    }
    let exit = sandbox.wait(&job).await.map_err(told)?;
    for notice in &exit.notices {
        say(&format!("notice: {notice}"));
    }
    say(&match (exit.code, exit.signal) {
        (Some(code), _) => format!("code={code}"),
        (None, Some(signal)) => format!("signal={signal}"),
        (None, None) => "lost".to_owned(),
    });
    Ok(())
}

async fn open(options: &Options) -> Result<Box<dyn Sandbox>, String> {
    let host = host();
    let mut protected = Protected::of_system();
    if let Some(home) = &host.home {
        protected = protected.and_home(home);
    }
    let session = Session {
        supervisor: SupervisorProgram::this_binary(),
        session_dir: options.data.join("sessions/one"),
        files: LocalFiles::open(&options.workspace, protected)
            .map_err(|error| error.to_string())?,
        host,
        passed: Vec::new(),
        limits: Limits::DEFAULT,
        clock: Arc::new(SystemClock),
    };
    if options.backend == "passthrough" {
        let sandbox = passthrough::open(session).map_err(|error| error.to_string())?;
        return Ok(Box::new(sandbox));
    }
    let mut support = probe(&session.supervisor)
        .await
        .map_err(|error| error.to_string())?;
    if options.backend == "partial" && support.level == outfitter_process::Level::Full {
        support.level = outfitter_process::Level::Partial;
        support.reasons = vec!["less was asked for".to_owned()];
    }
    let policy = LocalPolicy {
        support,
        require: Level::Partial,
        reach: options.reach.clone(),
        read: Vec::new(),
        write: Vec::new(),
        data_dir: options.data.clone(),
    };
    let opened = match options.backend.as_str() {
        "bwrap" => bwrap::open(session, policy).await,
        _ => local::open(session, policy),
    };
    let sandbox = opened.map_err(|error| error.to_string())?;
    for text in sandbox.left_out() {
        say(&format!("left out: {text}"));
    }
    Ok(Box::new(sandbox))
}

fn host() -> Host {
    let path = |name| std::env::var_os(name).map(PathBuf::from);
    Host {
        home: path("HOME"),
        path: std::env::var_os("PATH"),
        lang: std::env::var_os("LANG"),
        timezone: std::env::var_os("TZ"),
        cargo_home: path("CARGO_HOME"),
        rustup_home: path("RUSTUP_HOME"),
        pyenv_root: path("PYENV_ROOT"),
        nvm_dir: path("NVM_DIR"),
        java_home: path("JAVA_HOME"),
        go_root: path("GOROOT"),
        virtual_env: path("VIRTUAL_ENV"),
    }
}

fn copy(stream: Stream, bytes: &[u8]) {
    // A reader that went away ends the test by itself.
    let _ = match stream {
        Stream::Stdout | Stream::Info => std::io::stdout().write_all(bytes),
        Stream::Stderr => std::io::stderr().write_all(bytes),
    };
}

fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}
