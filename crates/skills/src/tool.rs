//! `load_skill`: the instructions of a skill, or one file of its pack.

use std::sync::Arc;

use async_trait::async_trait;
use outfitter_core::{
    Code, Exposure, NameSet, Outcome, Reply, SessionAuthority, SessionFacts, Tool, ToolContext,
    ToolError, ToolSpec,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::catalog::SkillCatalog;
use crate::limits::{LOAD_TOKENS, MAX_FILE_BYTES, MAX_NAMED_IN_SCHEMA};
use crate::load::LoadError;
use crate::pack::PackError;
use crate::proxy::SkillProxy;
use crate::skill::Unloadable;
use crate::spec::load_skill_spec;
use outfitter_text::close_names;

/// `load_skill`. What it offers is the skills of the session that calls it.
pub struct LoadSkill {
    catalog: SkillCatalog,
    spec: ToolSpec,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    skill_name: String,
    #[serde(default)]
    path: Option<String>,
}

impl LoadSkill {
    /// The tool over this catalogue.
    #[must_use]
    pub fn new(catalog: SkillCatalog) -> Self {
        Self {
            catalog,
            spec: load_skill_spec(),
        }
    }

    /// What it says of itself where these skills are granted: their names are the choices. Without
    /// any it is hidden.
    fn tailored(&self, granted: &NameSet) -> ToolSpec {
        let proxy = self.catalog.proxy(granted);
        let names: Vec<&str> = proxy.listed().map(|skill| skill.name().as_str()).collect();
        let mut spec = self.spec.clone();
        if names.is_empty() {
            spec.exposure = Exposure::Hidden;
        } else if names.len() <= MAX_NAMED_IN_SCHEMA {
            let mut schema = Value::clone(&spec.input_schema);
            schema["properties"]["skill_name"]["enum"] = json!(names);
            spec.input_schema = Arc::new(schema);
        }
        spec
    }
}

#[async_trait]
impl Tool for LoadSkill {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn tailor(&self, session: &SessionFacts) -> Option<ToolSpec> {
        Some(self.tailored(&session.skills))
    }

    async fn call(&self, cx: &ToolContext, args: Value) -> Result<Reply, ToolError> {
        let args: Args = serde_json::from_value(args)
            .map_err(|error| ToolError::invalid("", error.to_string()))?;
        let authority = cx.service::<dyn SessionAuthority>("authority of a session")?;
        let proxy = self.catalog.proxy(authority.skills());
        let work = move || answer(&proxy, &*authority, &args);
        let result = tokio::task::spawn_blocking(work).await.map_err(|error| {
            ToolError::internal("the skill could not be read").with_source(error)
        })??;
        Ok(Outcome::json(result).into())
    }
}

fn answer(
    proxy: &SkillProxy,
    authority: &dyn SessionAuthority,
    args: &Args,
) -> Result<Value, ToolError> {
    let name = args.skill_name.trim();
    // What a model may not load by itself is to it as if it were not there.
    let known = proxy
        .get(name)
        .filter(|skill| skill.manifest.model_may_load);
    let Some(skill) = known else {
        return Err(unknown(name, &proxy.close_names(name)));
    };
    match args.path.as_deref() {
        None => {
            let loaded = proxy
                .load(name, authority, LOAD_TOKENS)
                .map_err(not_loaded)?;
            serde_json::to_value(loaded).map_err(|error| {
                ToolError::internal("the skill could not be written as JSON").with_source(error)
            })
        }
        Some(path) => {
            let path = path.strip_prefix("./").unwrap_or(path);
            let bytes = skill.pack.read(path, MAX_FILE_BYTES).map_err(|error| {
                let files = || skill.pack.files().unwrap_or_default().paths;
                not_read(error, path, files)
            })?;
            let size = bytes.len();
            let mut result = json!({ "name": skill.name().as_str(), "path": path, "size": size });
            match String::from_utf8(bytes) {
                Ok(text) => result["content"] = Value::String(text),
                Err(_) => result["binary"] = Value::Bool(true),
            }
            Ok(result)
        }
    }
}

fn unknown(name: &str, close: &[String]) -> ToolError {
    let shown: String = name.chars().take(100).collect();
    let error = ToolError::not_found(format!("there is no skill {shown:?} in this session"));
    if close.is_empty() {
        error
    } else {
        error.with_hint(format!("perhaps {}", close.join(" or ")))
    }
}

fn not_loaded(error: LoadError) -> ToolError {
    match error {
        LoadError::Unknown { name, close } => unknown(&name, &close),
        LoadError::Cycle(_) => ToolError::failed(format!("failed to {error}")),
        LoadError::Unloadable(Unloadable::Pack(error)) => pack_failed(error),
        LoadError::Unloadable(error @ Unloadable::Changed { .. }) => {
            ToolError::new(Code::Conflict, format!("failed to {error}"))
        }
    }
}

fn not_read(error: PackError, path: &str, files: impl FnOnce() -> Vec<String>) -> ToolError {
    match error {
        PackError::Outside => ToolError::invalid("/path", "it leads out of the skill's directory")
            .with_hint("give a path as it is listed in files"),
        PackError::NotAFile => ToolError::invalid("/path", "it is no regular file"),
        PackError::NotFound => {
            let files = files();
            let close = close_names(path, files.iter().map(String::as_str));
            let error = ToolError::not_found(format!("the skill has no file {path:?}"));
            if close.is_empty() {
                error
            } else {
                error.with_hint(format!("perhaps {}", close.join(" or ")))
            }
        }
        other => pack_failed(other),
    }
}

fn pack_failed(error: PackError) -> ToolError {
    let code = match error {
        PackError::Replaced => Code::Conflict,
        PackError::TooLarge { .. } => Code::TooLarge,
        PackError::NotFound => Code::NotFound,
        PackError::Outside | PackError::NotAFile => Code::NotPermitted,
        PackError::System(_) => Code::Failed,
    };
    ToolError::new(code, format!("failed to {error}")).with_source(error)
}
