//! `artifacts list`, `artifacts get`, and what `tools call --save` writes.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::ExitCode;

use outfitter_core::{
    ArtifactChunk, ArtifactError, ArtifactId, ArtifactInfo, Code, EntryBody, EventBody, SessionId,
};
use schemars::JsonSchema;
use serde::Serialize;

use super::Invocation;
use super::args::{ArtifactsCommand, GetArgs};
use super::documents;
use super::failure::{Failure, Stop};
use super::sessions::{all, entries};
use super::stopping::runtime;
use crate::outfit::Outfitter;
use crate::render::tables;
use crate::temporary;

/// Bytes read at a time.
const CHUNK: u64 = 1024 * 1024;

/// What others may do with a new file, before the person's mask.
const NEW_FILE: u32 = 0o666;

/// What calls kept.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ArtifactList")]
pub(crate) struct Kept {
    /// The version of this document.
    #[schemars(extend("const" = 1))]
    v: u32,
    /// The artifacts, those of the session changed last first, in each as they were made.
    artifacts: Vec<Row>,
}

/// One artifact.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ArtifactRow")]
pub(crate) struct Row {
    /// Its id.
    id: String,
    /// The session that it is in.
    session_id: String,
    /// Its media type.
    mime: String,
    /// What it is, for people.
    name: String,
    /// Its size in bytes.
    size: u64,
    /// When it was made, in Unix milliseconds.
    created_ms: u64,
}

/// An artifact that was written, or one that could be.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Artifact")]
pub(crate) struct Got {
    /// The version of this document.
    #[schemars(extend("const" = 1))]
    v: u32,
    /// The artifact.
    artifact: Row,
    /// The file that was written; left out where none was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
}

/// Runs `artifacts`.
pub(crate) fn run(at: &Invocation<'_>, command: &ArtifactsCommand) -> Result<ExitCode, Stop> {
    let (_, whole) = at.outfit(Vec::new())?;
    runtime()?.block_on(async {
        match command {
            ArtifactsCommand::List { session } => list(at, &whole, session.as_ref()).await,
            ArtifactsCommand::Get(args) => get(at, &whole, args).await,
        }?;
        Ok(ExitCode::SUCCESS)
    })
}

async fn list(
    at: &Invocation<'_>,
    whole: &Outfitter,
    session: Option<&SessionId>,
) -> Result<(), Stop> {
    let mut artifacts = Vec::new();
    for session in sessions(whole, session).await? {
        for id in kept_in(whole, &session).await? {
            match first(whole, &session, &id).await {
                Ok(chunk) => artifacts.push(row(&session, &chunk.info)),
                // It went with its session meanwhile.
                Err(ArtifactError::NotFound(_)) => {}
                Err(error) => return Err(Failure::from(error).into()),
            }
        }
    }
    if at.global.json {
        return documents::write(at, &Kept { v: 1, artifacts });
    }
    let rows = artifacts.into_iter().map(|one| {
        [
            one.id,
            one.session_id,
            one.mime,
            one.size.to_string(),
            one.name,
        ]
    });
    at.out
        .data(&tables::artifacts(rows.collect(), at.out.stdout))
}

async fn get(at: &Invocation<'_>, whole: &Outfitter, args: &GetArgs) -> Result<(), Stop> {
    let (session, head) = found(whole, args).await?;
    let to_stdout = args
        .output
        .as_deref()
        .is_none_or(|file| file == Path::new("-"));
    let file = (!to_stdout).then_some(args.output.as_ref()).flatten();
    match file {
        Some(file) => {
            let path = at.env.current_dir().join(file);
            write(whole, (&session, head.clone()), &path, Over::AFile).await?;
        }
        None if at.global.json => {}
        None => {
            if at.out.stdout.terminal && args.output.is_none() && !is_text(&head.info.mime) {
                let what = format!("print {}: it is {}, no text", args.id, head.info.mime);
                return Err(Failure::new(Code::Usage, what)
                    .with_hint("write it to a file with `-o FILE`, or say `-o -`")
                    .into());
            }
            let mut to = |bytes: &[u8]| at.out.bytes(bytes);
            each(whole, (&session, head.clone()), &mut to).await?;
        }
    }
    let file = file.map(|file| file.display().to_string());
    if at.global.json {
        let artifact = row(&session, &head.info);
        return documents::write(
            at,
            &Got {
                v: 1,
                artifact,
                file,
            },
        );
    }
    if let Some(file) = file {
        at.out
            .tell(&format!("wrote {file} ({} bytes)\n", head.info.size));
    }
    Ok(())
}

/// Writes what a call kept into a folder, which is made where it is not there, and tells people
/// where each is. Nothing that is there is replaced.
pub(super) async fn save(
    at: &Invocation<'_>,
    whole: &Outfitter,
    (session, ids): (&SessionId, &[ArtifactId]),
    folder: &Path,
) -> Result<(), Stop> {
    let folder = at.env.current_dir().join(folder);
    let shown = folder.display().to_string();
    std::fs::create_dir_all(&folder).map_err(|error| {
        Failure::because(Code::Failed, format!("make the folder {shown}"), &error)
    })?;
    for id in ids {
        let head = first(whole, session, id).await.map_err(Failure::from)?;
        let path = folder.join(file_name(&head.info));
        write(whole, (session, head), &path, Over::Nothing).await?;
        at.out.tell_line(&format!("wrote {}", path.display()));
    }
    Ok(())
}

/// Its id, so that no two are one, and an end that says what it is.
fn file_name(info: &ArtifactInfo) -> String {
    let end = match info.mime.split(';').next().unwrap_or_default().trim() {
        "image/png" => "png",
        "image/jpeg" => "jpg",
        "image/gif" => "gif",
        "image/webp" => "webp",
        "application/json" => "json",
        "application/pdf" => "pdf",
        "text/html" => "html",
        "text/markdown" => "md",
        mime if is_text(mime) => "txt",
        _ => "bin",
    };
    format!("{}.{end}", info.id)
}

fn is_text(mime: &str) -> bool {
    mime.starts_with("text/") || mime.starts_with("application/json")
}

async fn sessions(whole: &Outfitter, only: Option<&SessionId>) -> Result<Vec<SessionId>, Stop> {
    match only {
        Some(session) => Ok(vec![session.clone()]),
        None => {
            let all = all(whole).await?.into_iter();
            Ok(all.map(|session| session.id).collect())
        }
    }
}

/// What the results of a session name, in order.
async fn kept_in(whole: &Outfitter, session: &SessionId) -> Result<Vec<ArtifactId>, Stop> {
    let (mut seen, mut kept) = (BTreeSet::new(), Vec::new());
    for entry in entries(whole, session).await? {
        let EntryBody::Event(EventBody::Message(message)) = &entry.body else {
            continue;
        };
        let outputs = message.output.iter();
        for id in outputs.flat_map(|output| &output.artifacts) {
            if seen.insert(id.clone()) {
                kept.push(id.clone());
            }
        }
    }
    Ok(kept)
}

async fn found(whole: &Outfitter, args: &GetArgs) -> Result<(SessionId, ArtifactChunk), Stop> {
    for session in sessions(whole, args.session.as_ref()).await? {
        match first(whole, &session, &args.id).await {
            Ok(chunk) => return Ok((session, chunk)),
            Err(ArtifactError::NotFound(_)) => {}
            Err(error) => return Err(Failure::from(error).into()),
        }
    }
    Err(
        Failure::new(Code::NotFound, format!("find the artifact {}", args.id))
            .with_hint(
                "`outfitter artifacts list` lists them; those of a call without --session are gone \
             with it, unless it has --save",
            )
            .into(),
    )
}

async fn first(
    whole: &Outfitter,
    session: &SessionId,
    id: &ArtifactId,
) -> Result<ArtifactChunk, ArtifactError> {
    let artifacts = whole.artifacts();
    artifacts
        .read(&whole.local_scope(), session, id, 0, CHUNK)
        .await
}

/// Gives all of its bytes, the first of which were read.
async fn each(
    whole: &Outfitter,
    (session, head): (&SessionId, ArtifactChunk),
    to: &mut dyn FnMut(&[u8]) -> Result<(), Stop>,
) -> Result<(), Stop> {
    let ArtifactChunk { mut bytes, info } = head;
    let mut written = 0;
    loop {
        to(&bytes)?;
        written += bytes.len() as u64;
        if bytes.is_empty() || written >= info.size {
            return Ok(());
        }
        let artifacts = whole.artifacts();
        let scope = whole.local_scope();
        let next = artifacts.read(&scope, session, &info.id, written, CHUNK);
        bytes = next.await.map_err(Failure::from)?.bytes;
    }
}

/// What a file that is written may take the place of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Over {
    Nothing,
    AFile,
}

/// Writes it beside, and puts it there once it is whole. What is there and is no file, a device or
/// a pipe, is written to.
async fn write(
    whole: &Outfitter,
    artifact: (&SessionId, ArtifactChunk),
    path: &Path,
    over: Over,
) -> Result<(), Stop> {
    let shown = path.display().to_string();
    let failed = |error: &(dyn std::error::Error + 'static)| {
        Failure::because(Code::Failed, format!("write {shown}"), error)
    };
    let there = match over {
        Over::Nothing => None,
        Over::AFile => std::fs::metadata(path).ok(),
    };
    if there.as_ref().is_some_and(|there| !there.is_file()) {
        let opened = std::fs::OpenOptions::new().write(true).open(path);
        let mut file = opened.map_err(|error| failed(&error))?;
        let mut to = |bytes: &[u8]| Ok(file.write_all(bytes).map_err(|error| failed(&error))?);
        return each(whole, artifact, &mut to).await;
    }
    // A link stays what it is, and so does what others may do with the file.
    let path = match there {
        Some(_) => path.canonicalize().map_err(|error| failed(&error))?,
        None => path.to_owned(),
    };
    let mode = there.map_or(NEW_FILE, |there| there.permissions().mode() & 0o7777);
    let folder = path.parent().unwrap_or(Path::new("/"));
    if !folder.exists() {
        let what = format!("write {shown}: there is no folder {}", folder.display());
        return Err(Failure::new(Code::Failed, what)
            .with_hint("make the folder first, or name another file")
            .into());
    }
    let mut file = temporary::beside(folder, mode).map_err(|error| failed(&error))?;
    let mut to = |bytes: &[u8]| {
        Ok(file
            .as_file_mut()
            .write_all(bytes)
            .map_err(|error| failed(&error))?)
    };
    each(whole, artifact, &mut to).await?;
    let put = match over {
        Over::AFile => file.persist(&path),
        Over::Nothing => file.persist_noclobber(&path),
    };
    match put {
        Ok(_) => Ok(()),
        Err(error) if error.error.kind() == std::io::ErrorKind::AlreadyExists => {
            let what = format!("write {shown}: it is there already");
            Err(Failure::new(Code::Conflict, what).into())
        }
        Err(error) => Err(failed(&error.error).into()),
    }
}

fn row(session: &SessionId, info: &ArtifactInfo) -> Row {
    Row {
        id: info.id.to_string(),
        session_id: session.to_string(),
        mime: info.mime.clone(),
        name: info.name.clone(),
        size: info.size,
        created_ms: info.created.0,
    }
}

impl From<ArtifactError> for Failure {
    fn from(error: ArtifactError) -> Self {
        let code = match &error {
            ArtifactError::NotFound(_) => Code::NotFound,
            ArtifactError::TooLarge { .. } => Code::TooLarge,
            ArtifactError::Unavailable { .. } | ArtifactError::Io { .. } => Code::Unavailable,
        };
        Self::of(code, &error)
    }
}
