//! Programs as shell scripts, and a session to call them in.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use outfitter_auth::{Issuer, Lifetime, SigningKey};
use outfitter_commands::{Host, ProgramSettings, ProjectCli, TOOL};
use outfitter_core::{
    Arguments, ArtifactChunk, ArtifactError, ArtifactId, ArtifactStore, Attended, CallEnd, CallId,
    Cancel, Deadline, EntryBody, Grant, Journal, JournalError, NameSet, NewArtifact, Principal,
    Progress, ProgressSink, RawCall, RefusingSandbox, Role, RunId, Scope, Selection, Services,
    SessionFacts, SessionId, Stream, SystemClock, ToolOutput,
};
use outfitter_process::SupervisorProgram;
use outfitter_tools::{Pipeline, RunHandle, ToolRegistry, ToolView};
use serde_json::{Value, json};
use tempfile::TempDir;

/// Long enough for any machine; a test that needs it has failed.
pub(crate) const LIVENESS: Duration = Duration::from_secs(60);

/// A directory with programs in it.
pub(crate) struct World {
    dir: TempDir,
    pub(crate) issuer: Option<Arc<Issuer>>,
}

impl World {
    pub(crate) fn new() -> Self {
        let key = SigningKey::generate().unwrap();
        let issuer = Issuer::new("outfitter", key, Lifetime::SHORTEST, Arc::new(SystemClock));
        Self {
            dir: tempfile::tempdir().unwrap(),
            issuer: Some(Arc::new(issuer)),
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// A program: what it describes, and what it does when it is called. `$OUT` is a directory for
    /// what it wants to leave behind.
    pub(crate) fn program(&self, name: &str, description: &str, script: &str) -> ProgramSettings {
        let path = self.path(name);
        fs::write(path.with_extension("json"), description).unwrap();
        let script = format!(
            "if [ \"$1\" = describe ]; then cat \"$OUT/{name}.json\"; exit; fi\n{script}\n"
        );
        fs::write(&path, script).unwrap();
        // A shell that is given the script, so that no file is executed that was just written.
        let mut settings = ProgramSettings::new(name, "/bin/sh");
        settings.args = vec![path.into_os_string()];
        settings.env = vec![(
            "OUT".to_owned(),
            self.dir.path().to_str().unwrap().to_owned(),
        )];
        settings.timeout = LIVENESS;
        settings
    }

    pub(crate) fn host(&self) -> Host {
        Host {
            supervisor: SupervisorProgram::at(env!("CARGO_BIN_EXE_outfitter-commands-testkit")),
            scratch: self.path("scratch/commands"),
            path: "/usr/bin:/bin".into(),
            lang: Some("C.UTF-8".into()),
            tz: None,
            issuer: self.issuer.clone().map(|issuer| issuer as _),
            specs: None,
        }
    }

    pub(crate) fn source(
        &self,
        programs: impl IntoIterator<Item = ProgramSettings>,
    ) -> Arc<ProjectCli> {
        Arc::new(ProjectCli::new(self.host(), programs).unwrap())
    }

    /// A session that may call these programs.
    pub(crate) async fn session(
        &self,
        programs: impl IntoIterator<Item = ProgramSettings>,
    ) -> Session {
        let source = self.source(programs);
        source.describe().await.unwrap();
        Session::of(source)
    }

    /// A session with one program that does what `script` says, at `probe run`.
    pub(crate) async fn probe(&self, script: &str) -> Session {
        let program = self.program("probe", &description(json!([entry()])), script);
        self.session([program]).await
    }
}

/// The description of a program with these entries.
pub(crate) fn description(entries: Value) -> String {
    let mut document = json!({ "v": 1, "name": "probe" });
    document["commands"] = entries;
    document.to_string()
}

/// `probe run`, which takes anything flat and gives any object.
pub(crate) fn entry() -> Value {
    json!({
        "command": "probe", "subcommand": "run", "skill": "probe", "summary": "Probes.",
        "effects": ["read"],
        "args": {
            "type": "object",
            "properties": {
                "text": { "type": "string" },
                "count": { "type": "integer", "minimum": 1 },
                "list": { "type": "array", "items": { "type": "string" } },
                "deep": { "type": "object" },
            },
            "additionalProperties": false,
        },
        "result": { "type": "object", "properties": { "n": { "type": "integer" } } },
    })
}

/// The entry with some members changed.
pub(crate) fn entry_with(changes: Value) -> Value {
    let mut entry = entry();
    let Value::Object(changes) = changes else {
        panic!("{changes}")
    };
    for (name, value) in changes {
        entry[name] = value;
    }
    entry
}

/// A registry, and calls into it.
pub(crate) struct Session {
    pub(crate) source: Arc<ProjectCli>,
    registry: ToolRegistry,
    pub(crate) recorder: Arc<Recorder>,
    pub(crate) artifacts: Arc<Artifacts>,
    pub(crate) cancel: Cancel,
    pub(crate) skills: NameSet,
}

impl Session {
    pub(crate) fn of(source: Arc<ProjectCli>) -> Self {
        let registry = ToolRegistry::default();
        registry.add(source.clone()).unwrap();
        Self {
            source,
            registry,
            recorder: Arc::default(),
            artifacts: Arc::default(),
            cancel: Cancel::new(),
            skills: NameSet::all(),
        }
    }

    pub(crate) fn view(&self, role: Role) -> Arc<ToolView> {
        let selection = Selection {
            skills: self.skills.clone(),
            ..Selection::default()
        };
        let proxy = self.registry.seal(Grant::full(role), selection);
        proxy.view(&SessionFacts {
            who: who(role),
            session: session(),
            attended: Attended::No,
            expanded: Arc::default(),
            suggested: None,
            skills: NameSet::all(),
        })
    }

    pub(crate) async fn call(&self, args: Value) -> ToolOutput {
        self.call_as(Role::Admin, args).await
    }

    pub(crate) async fn call_as(&self, role: Role, args: Value) -> ToolOutput {
        let call = RawCall {
            id: CallId::new("call_1").unwrap(),
            name: TOOL.to_owned(),
            arguments: Arguments::from_value(args),
        };
        let run = RunHandle {
            who: who(role),
            session: session(),
            run: RunId::new("run_1").unwrap(),
            attended: Attended::No,
            cancel: self.cancel.clone(),
            deadline: Deadline::NEVER,
            journal: self.recorder.clone(),
            sandbox: Arc::new(RefusingSandbox::new()),
            artifacts: self.artifacts.clone(),
            clock: Arc::new(SystemClock),
            services: Services::default(),
        };
        let end = Pipeline::default().run(&self.view(role), call, &run).await;
        match end.unwrap() {
            CallEnd::Output(output) => Arc::unwrap_or_clone(output),
            CallEnd::Waiting(interrupt) => panic!("it waits: {interrupt:?}"),
        }
    }

    /// Calls `probe run`.
    pub(crate) async fn run(&self, args: Value) -> ToolOutput {
        self.call(json!({ "command": "probe", "subcommand": "run", "args": args }))
            .await
    }
}

pub(crate) fn who(role: Role) -> Arc<Principal> {
    Arc::new(Principal {
        tenant: "acme".into(),
        subject: "ada".into(),
        role,
        channel: "tests".into(),
        stream: None,
    })
}

fn session() -> SessionId {
    SessionId::new("ses_1").unwrap()
}

/// Everything that is recorded and shown, as text.
#[derive(Default)]
pub(crate) struct Recorder {
    pub(crate) entries: Mutex<Vec<String>>,
    pub(crate) progress: Arc<Lines>,
}

#[derive(Default)]
pub(crate) struct Lines(pub(crate) Mutex<String>);

impl ProgressSink for Lines {
    fn emit(&self, stream: Stream, bytes: &[u8]) {
        assert_eq!(stream, Stream::Info);
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        self.0.lock().unwrap().push_str(&text);
    }
}

#[async_trait]
impl Journal for Recorder {
    async fn record(&self, entries: Vec<EntryBody>) -> Result<(), JournalError> {
        let mut kept = self.entries.lock().unwrap();
        kept.extend(entries.iter().map(|entry| format!("{entry:?}")));
        Ok(())
    }

    fn progress(&self, _: &CallId) -> Progress {
        Progress::into(self.progress.clone())
    }

    fn close_progress(&self, _: &CallId) {}
}

impl Recorder {
    pub(crate) fn shown(&self) -> String {
        self.progress.0.lock().unwrap().clone()
    }

    /// All that was recorded or shown.
    pub(crate) fn everything(&self) -> String {
        self.entries.lock().unwrap().join("\n") + &self.shown()
    }
}

#[derive(Default)]
pub(crate) struct Artifacts(pub(crate) Mutex<BTreeMap<String, Vec<u8>>>);

impl Artifacts {
    pub(crate) fn only(&self) -> Vec<u8> {
        let kept = self.0.lock().unwrap();
        assert_eq!(kept.len(), 1);
        kept.values().next().unwrap().clone()
    }
}

#[async_trait]
impl ArtifactStore for Artifacts {
    async fn create(
        &self,
        scope: &Scope,
        session: &SessionId,
        _: NewArtifact,
    ) -> Result<ArtifactId, ArtifactError> {
        assert_eq!((scope.subject.as_str(), session.as_str()), ("ada", "ses_1"));
        let mut kept = self.0.lock().unwrap();
        let id = format!("art_{}", kept.len());
        kept.insert(id.clone(), Vec::new());
        Ok(ArtifactId::new(id).unwrap())
    }

    async fn append(
        &self,
        _: &Scope,
        _: &SessionId,
        id: &ArtifactId,
        bytes: Bytes,
    ) -> Result<(), ArtifactError> {
        let mut kept = self.0.lock().unwrap();
        kept.get_mut(id.as_str()).unwrap().extend_from_slice(&bytes);
        Ok(())
    }

    async fn read(
        &self,
        _: &Scope,
        _: &SessionId,
        id: &ArtifactId,
        _: u64,
        _: u64,
    ) -> Result<ArtifactChunk, ArtifactError> {
        Err(ArtifactError::NotFound(id.clone()))
    }

    async fn delete_session(&self, _: &Scope, _: &SessionId) -> Result<(), ArtifactError> {
        Ok(())
    }
}

/// Process ids whose command line contains this text.
pub(crate) fn alive(marker: &str) -> Vec<String> {
    fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter_map(|entry| {
            let line = fs::read(entry.path().join("cmdline")).ok()?;
            let line = String::from_utf8_lossy(&line).replace('\0', " ");
            line.contains(marker).then_some(line)
        })
        .collect()
}

/// Waits until this file is there.
pub(crate) async fn there(path: &Path) {
    let wait = async {
        while !path.exists() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(LIVENESS, wait).await.unwrap();
}
