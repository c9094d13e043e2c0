//! What it costs to run a command that does nothing: bare, on each backend, and as a call of the
//! shell tool from end to end.
//!
//! Much of it happens in other processes, the supervisor and the kernel, so the wall clock is
//! compared, in turns: read the ratios.

mod support;

use std::process::{ExitCode, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use outfitter::config::Config;
use outfitter::config::sections::Backend;
use outfitter::env::Environment;
use outfitter::{
    Agent, Arguments, Attended, Builder, CallEnd, CallId, Cancel, CommandLine, CommandSpec,
    NoSubscriber, Outfitter, RawCall, Role, Session, SessionId, SessionOptions, SupervisorProgram,
};
use serde_json::{Value, json};
use support::Fallible;
use support::report::{Report, ratio, time};
use tokio::runtime::Runtime;

/// How many times as long as a bare spawn one with the backend `local` may take.
const LOCAL_OF_BARE: f64 = 5.0;

/// The most that the shell tool may take for `true`, from the call to its result.
const SHELL: Duration = Duration::from_millis(10);

/// The most that `kill_shell` may take for a tree of processes that end when they are asked to.
const KILL: Duration = Duration::from_millis(20);

/// Such a tree: a shell and three programs that would go on for long.
const TREE: &str = "sleep 600 & sleep 600 & sleep 600 & wait";

const ROUNDS: usize = 60;

fn main() -> Fallible<ExitCode> {
    outfitter::run_if_supervisor();
    let mut report = Report::default();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    let mut places = Vec::new();
    for backend in [Backend::Passthrough, Backend::Local, Backend::Bwrap] {
        match runtime.block_on(Place::open(backend)) {
            Ok(place) => places.push(place),
            Err(error) if backend == Backend::Bwrap => {
                report.note(&format!("SKIPPED(bwrap): {error}"));
            }
            Err(error) => return Err(error),
        }
    }
    let mut bare = Vec::with_capacity(ROUNDS);
    let mut spawns = vec![Vec::with_capacity(ROUNDS); places.len()];
    let mut shell = Vec::with_capacity(ROUNDS);
    let mut kill = Vec::with_capacity(ROUNDS);
    for round in 0..=ROUNDS {
        let begun = Instant::now();
        run_bare()?;
        let took_bare = begun.elapsed();
        for (place, taken) in places.iter().zip(&mut spawns) {
            let took = place.spawn(&runtime)?;
            if round > 0 {
                taken.push(took);
            }
            if place.backend == Backend::Local {
                let took = place.shell(&runtime)?;
                let killed = place.kill(&runtime)?;
                if round > 0 {
                    shell.push(took);
                    kill.push(killed);
                }
            }
        }
        // The first round warms up.
        if round > 0 {
            bare.push(took_bare);
        }
    }
    report.title("A command that does nothing, by the wall clock");
    let bare = median(&mut bare);
    report.note(&format!("bare: {}", time(bare)));
    for (place, taken) in places.iter().zip(&mut spawns) {
        let took = median(taken);
        let of_bare = ratio(took, bare);
        report.note(&format!(
            "{:?}: {}, {of_bare:.1} of bare",
            place.backend,
            time(took)
        ));
        if place.backend == Backend::Local {
            report.budget_of("a spawn with `local`", of_bare, LOCAL_OF_BARE, "of bare");
        }
    }
    report.budget("`true` by the shell tool", median(&mut shell), SHELL);
    report.budget("`kill_shell` of a tree of four", median(&mut kill), KILL);
    Ok(report.end())
}

/// The middle one.
fn median(taken: &mut [Duration]) -> Duration {
    taken.sort_unstable();
    taken.get(taken.len() / 2).copied().unwrap_or_default()
}

#[expect(
    clippy::disallowed_types,
    reason = "a bench compares with what the system gives"
)]
fn run_bare() -> Fallible<()> {
    let status = std::process::Command::new("/bin/true")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .output()?;
    status.status.success().then_some(()).ok_or("it failed")?;
    Ok(())
}

/// A session with a backend.
struct Place {
    backend: Backend,
    whole: Outfitter,
    agent: Agent,
    session: Session,
    _dir: tempfile::TempDir,
}

impl Place {
    async fn open(backend: Backend) -> Fallible<Self> {
        let dir = tempfile::tempdir()?;
        let workspace = dir.path().join("workspace");
        std::fs::create_dir(&workspace)?;
        let mut config = Config::default();
        config.store.url = Some("memory:".to_owned());
        config.store.data_dir = Some(dir.path().join("data"));
        config.sandbox.backend = backend;
        let environment = Environment::of(dir.path(), [("PATH", "/usr/bin:/bin")]);
        let whole = Builder::new(config, environment)
            .supervisor(SupervisorProgram::this_binary())
            .build()?;
        let session = whole
            .open(SessionOptions {
                id: SessionId::mint(&**whole.clock()),
                role: Role::Admin,
                workspace,
                attended: Attended::No,
                prompt: None,
            })
            .await?;
        Ok(Self {
            backend,
            agent: whole.caller(),
            whole,
            session,
            _dir: dir,
        })
    }

    /// From the spawn to the end.
    fn spawn(&self, runtime: &Runtime) -> Fallible<Duration> {
        let command = CommandSpec {
            command: CommandLine::Program(vec!["/bin/true".to_owned()]),
            workdir: String::new(),
            env: Vec::new(),
            timeout: Duration::from_secs(60),
        };
        runtime.block_on(async {
            let begun = Instant::now();
            let job = self.session.sandbox.spawn(command).await?;
            let exit = self.session.sandbox.wait(&job).await?;
            let took = begun.elapsed();
            (exit.code == Some(0))
                .then_some(took)
                .ok_or("it failed")
                .map_err(Into::into)
        })
    }

    /// From the call to its result.
    fn shell(&self, runtime: &Runtime) -> Fallible<Duration> {
        let (took, _) = self.call(
            runtime,
            "execute_shell_command",
            &json!({"command": "true"}),
        )?;
        Ok(took)
    }

    /// From the call that kills a tree of processes to its result.
    fn kill(&self, runtime: &Runtime) -> Fallible<Duration> {
        let started = json!({"command": TREE, "block_until_ms": 0});
        let (_, started) = self.call(runtime, "execute_shell_command", &started)?;
        let task = started.get("task_id").ok_or("it has ended at once")?;
        // All of them are there.
        std::thread::sleep(Duration::from_millis(20));
        let (took, killed) = self.call(runtime, "kill_shell", &json!({"task_id": task}))?;
        let whole = killed == json!({"status": "killed", "survivors": []});
        whole
            .then_some(took)
            .ok_or_else(|| format!("it was not killed: {killed}").into())
    }

    fn call(
        &self,
        runtime: &Runtime,
        tool: &str,
        arguments: &Value,
    ) -> Fallible<(Duration, Value)> {
        let call = RawCall {
            id: CallId::mint(&**self.whole.clock()),
            name: tool.to_owned(),
            arguments: Arguments::parse(arguments.to_string()),
        };
        runtime.block_on(async {
            let begun = Instant::now();
            let end = self
                .agent
                .call(&self.session, call, Cancel::new(), Arc::new(NoSubscriber))
                .await?;
            let took = begun.elapsed();
            match end {
                CallEnd::Output(output) if output.error.is_none() => {
                    Ok((took, output.result.clone().unwrap_or_default()))
                }
                other => Err(format!("the call did not succeed: {other:?}").into()),
            }
        })
    }
}
