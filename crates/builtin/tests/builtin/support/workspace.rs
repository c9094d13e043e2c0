//! A workspace with real files.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use outfitter_builtin::BuiltinOptions;
use outfitter_core::{
    CommandSpec, Exit, Files, JobId, JobInfo, Killed, Offset, OutputChunk, RefusingSandbox, Role,
    Sandbox, SandboxError, SandboxInfo, ToolContext, ToolError,
};
use outfitter_sandbox::{LocalFiles, Protected};
use serde_json::Value;
use tempfile::TempDir;

use super::{Tools, context};

/// A workspace with real files.
pub(crate) struct Workspace {
    pub(crate) dir: TempDir,
    pub(crate) tools: Tools,
    pub(crate) cx: ToolContext,
}

impl Workspace {
    pub(crate) fn new() -> Self {
        Self::with(&BuiltinOptions::default(), Role::User)
    }

    pub(crate) fn with(options: &BuiltinOptions, role: Role) -> Self {
        let dir = tempfile::tempdir().unwrap();
        Self::at(dir, Protected::of_system(), options, role)
    }

    /// One that is somebody's home, with what is kept from everybody in it.
    pub(crate) fn at_home(options: &BuiltinOptions, role: Role) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let protected = Protected::of_home(dir.path());
        Self::at(dir, protected, options, role)
    }

    fn at(dir: TempDir, protected: Protected, options: &BuiltinOptions, role: Role) -> Self {
        let files = LocalFiles::open(dir.path(), protected).unwrap();
        let cx = context(Arc::new(FilesOnly(RefusingSandbox::new(), files)), role);
        Self {
            dir,
            tools: Tools::new(options),
            cx,
        }
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn put(&self, path: &str, bytes: impl AsRef<[u8]>) {
        let path = self.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }

    pub(crate) fn get(&self, path: &str) -> Vec<u8> {
        std::fs::read(self.path().join(path)).unwrap()
    }

    pub(crate) async fn call(&self, name: &str, args: Value) -> Result<Value, ToolError> {
        Ok(self.tools.call(name, &self.cx, args).await?.result)
    }

    pub(crate) async fn ok(&self, name: &str, args: Value) -> Value {
        match self.call(name, args).await {
            Ok(result) => result,
            Err(error) => panic!("{name}: {:?}", error.info()),
        }
    }

    pub(crate) async fn refused(&self, name: &str, args: Value) -> ToolError {
        self.call(name, args).await.expect_err("a refusal")
    }
}

/// The real files of a session, without commands.
struct FilesOnly(RefusingSandbox, LocalFiles);

#[async_trait]
impl Sandbox for FilesOnly {
    fn info(&self) -> &SandboxInfo {
        self.0.info()
    }
    async fn spawn(&self, command: CommandSpec) -> Result<JobId, SandboxError> {
        self.0.spawn(command).await
    }
    async fn output(
        &self,
        job: &JobId,
        from: Offset,
        max: usize,
        wait: Duration,
    ) -> Result<OutputChunk, SandboxError> {
        self.0.output(job, from, max, wait).await
    }
    async fn tail(&self, job: &JobId, max: usize) -> Result<OutputChunk, SandboxError> {
        self.0.tail(job, max).await
    }
    async fn wait(&self, job: &JobId) -> Result<Exit, SandboxError> {
        self.0.wait(job).await
    }
    async fn kill(&self, job: &JobId, grace: Duration) -> Result<Killed, SandboxError> {
        self.0.kill(job, grace).await
    }
    fn jobs(&self) -> Vec<JobInfo> {
        self.0.jobs()
    }
    fn files(&self) -> &dyn Files {
        &self.1
    }
}
