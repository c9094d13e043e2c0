//! A file that a call names: one of the session's files, or one of its artifacts.

use outfitter_core::{ArtifactId, Code, ErrorInfo, FileRef, Range, Scope, ToolContext, ToolError};

use crate::FileAccess;
use crate::files::tool_error;

/// How much is read at a time.
const CHUNK_BYTES: u64 = 1 << 20;

/// Which file is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Given<'a> {
    /// That of this id.
    Artifact(ArtifactId),
    /// That at this path.
    Path(&'a str),
}

/// A file that was read.
#[derive(Debug)]
pub(crate) struct GivenFile {
    /// All of it.
    pub(crate) bytes: Vec<u8>,
    /// What it is called, without directories.
    pub(crate) name: String,
    /// The media type that whoever made it said, where anybody did.
    pub(crate) mime: Option<String>,
}

/// Why a file was not read.
#[derive(Debug)]
pub(crate) enum NotRead {
    /// It has more bytes than are wanted.
    TooLarge,
    /// Anything else; it points at `/path`, or at nothing.
    Because(ToolError),
}

impl<'a> Given<'a> {
    /// What a text means. A file that is called as artifacts are is meant by `./art_…`.
    pub(crate) fn of(text: &'a str) -> Self {
        let is_one = text.starts_with("art_") && !text.contains(['.', '/']);
        match ArtifactId::new(text) {
            Ok(id) if is_one => Self::Artifact(id),
            Ok(_) | Err(_) => Self::Path(text),
        }
    }

    /// Reads it, as far as the caller reaches; at most `max` bytes.
    pub(crate) async fn read(
        &self,
        cx: &ToolContext,
        access: FileAccess,
        max: u64,
    ) -> Result<GivenFile, NotRead> {
        match self {
            Self::Path(path) => Ok(GivenFile {
                bytes: at_path(cx, access, path, max).await?,
                name: path.rsplit('/').next().unwrap_or_default().to_owned(),
                mime: None,
            }),
            Self::Artifact(id) => of_artifact(cx, id, max).await,
        }
    }
}

/// All bytes of the file at a path.
pub(crate) async fn at_path(
    cx: &ToolContext,
    access: FileAccess,
    path: &str,
    max: u64,
) -> Result<Vec<u8>, NotRead> {
    let file: FileRef<'_> = access.file(cx, path).map_err(NotRead::Because)?;
    let mut bytes = Vec::new();
    loop {
        let range = Range {
            from: bytes.len() as u64,
            max: CHUNK_BYTES,
        };
        let read = cx.sandbox.files().read(file, range).await;
        let chunk = read.map_err(|error| NotRead::Because(tool_error(error)))?;
        bytes.extend_from_slice(&chunk.bytes);
        if chunk.size > max || bytes.len() as u64 > max {
            return Err(NotRead::TooLarge);
        }
        if chunk.bytes.is_empty() || bytes.len() as u64 >= chunk.size {
            return Ok(bytes);
        }
    }
}

async fn of_artifact(cx: &ToolContext, id: &ArtifactId, max: u64) -> Result<GivenFile, NotRead> {
    let scope = Scope::from(&*cx.who);
    let mut bytes = Vec::new();
    loop {
        let from = bytes.len() as u64;
        let read = cx
            .artifacts
            .read(&scope, &cx.session, id, from, CHUNK_BYTES);
        let chunk = read.await.map_err(|error| {
            let info = ErrorInfo::new(Code::NotFound, format!("there is no artifact {id}"));
            NotRead::Because(ToolError::from(info).with_source(error))
        })?;
        bytes.extend_from_slice(&chunk.bytes);
        if chunk.info.size > max || bytes.len() as u64 > max {
            return Err(NotRead::TooLarge);
        }
        if chunk.bytes.is_empty() || bytes.len() as u64 >= chunk.info.size {
            let info = chunk.info;
            return Ok(GivenFile {
                bytes,
                name: info.name.rsplit('/').next().unwrap_or_default().to_owned(),
                mime: Some(info.mime).filter(|mime| !mime.is_empty()),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("art_1", true)]
    #[case("./art_1", false)]
    #[case("art_1.png", false)]
    #[case("art_/1", false)]
    #[case("x", false)]
    #[case("", false)]
    fn a_file_called_as_artifacts_are_is_meant_by_its_path(
        #[case] text: &str,
        #[case] artifact: bool,
    ) {
        assert_eq!(matches!(Given::of(text), Given::Artifact(_)), artifact);
    }
}
