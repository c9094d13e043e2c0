//! The output of a job as a model reads it: head and tail of each stream, and the whole in an
//! artifact where that is not all. The memory is bounded whatever the job prints.

use outfitter_core::{
    ArtifactError, ArtifactId, Exit, JobId, NewArtifact, Offset, OutputChunk, SandboxError, Scope,
    Stream, ToolContext, redact_addresses,
};
use outfitter_text::binary::Content;
use outfitter_text::head_tail::Whole;
use outfitter_text::output::{FinishedOutput, OutputText};

use super::ranges::Ranges;
use super::tail::{self, LOOK_BYTES};

/// How much of the command names its artifact.
const MAX_NAME_CHARS: usize = 80;

/// Collects.
pub(super) struct Collector {
    stdout: OutputText,
    stderr: OutputText,
    /// Up to where it has all.
    at: Offset,
    /// The end of the output, from a backend without ranges.
    look: Option<OutputChunk>,
}

/// What was collected.
pub(super) struct Collected {
    pub(super) stdout: String,
    pub(super) stderr: String,
    pub(super) artifact: Option<ArtifactId>,
    /// Whether the texts are all that was printed.
    pub(super) whole: bool,
    pub(super) notices: Vec<String>,
}

/// Where the whole output goes when it does not stand in the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keep<'a> {
    /// Into an artifact, named by the command where that is known.
    Artifact(&'a str),
    /// Nowhere: somebody waits for the call to stop.
    Nothing,
}

impl Collector {
    pub(super) fn new(max_output_chars: usize) -> Self {
        Self {
            stdout: OutputText::new(max_output_chars),
            stderr: OutputText::new(max_output_chars),
            at: Offset(0),
            look: None,
        }
    }

    /// Takes a chunk that was read from `from` on, if it is the next.
    pub(super) fn take(&mut self, from: Offset, chunk: &OutputChunk) {
        if from == self.at {
            self.push(chunk);
            self.at = chunk.next;
        }
    }

    /// Takes the last look at the end of the output.
    pub(super) fn take_tail(&mut self, look: &OutputChunk) {
        self.push(look);
        self.look = Some(look.clone());
    }

    fn push(&mut self, chunk: &OutputChunk) {
        for (stream, bytes) in &chunk.pieces {
            match stream {
                Stream::Stdout => self.stdout.push(bytes),
                Stream::Stderr => self.stderr.push(bytes),
                Stream::Info => {}
            }
        }
    }

    /// The output of a job that has ended.
    pub(super) async fn finish(
        mut self,
        cx: &ToolContext,
        job: &JobId,
        keep: Keep<'_>,
        exit: &Exit,
    ) -> Result<Collected, SandboxError> {
        if self.look.is_none() {
            self.catch_up(cx, job).await?;
        }
        let mut notices = Vec::new();
        let dropped = exit.dropped_bytes;
        let only_end = self
            .look
            .as_ref()
            .is_some_and(|look| is_only_end(look, exit));
        let (stdout, stderr) = (self.stdout.end(), self.stderr.end());
        let is_cut = stdout.is_cut() || stderr.is_cut();
        // What was read as another encoding is a guess: the bytes are what it was.
        let is_as_it_came = stdout.is_as_it_came() && stderr.is_as_it_came();
        let is_binary = [&stdout, &stderr]
            .iter()
            .any(|stream| stream.content() == Content::Binary);
        let kept = match keep {
            Keep::Artifact(command) if !only_end && !is_as_it_came => {
                let output = match self.look {
                    Some(look) => Output::Look(Some(look)),
                    None => Output::Ranges(Ranges {
                        cx,
                        job,
                        from: Some(Offset(0)),
                    }),
                };
                keep_whole(cx, output, &named(command, job), is_binary, &mut notices).await?
            }
            Keep::Artifact(_) | Keep::Nothing => None,
        };
        if only_end {
            notices.push("this sandbox gives only the end of the output".to_owned());
        }
        let whole = match &kept {
            Some((id, Kept::Everything)) if dropped == 0 => Whole::Artifact(id.as_str()),
            Some((id, Kept::Everything | Kept::Beginning)) => Whole::Beginning(id.as_str()),
            None => Whole::NotKept,
        };
        let (stdout, stderr) = (stdout.finish(whole), stderr.finish(whole));
        let streams = [("stdout", &stdout), ("stderr", &stderr)];
        notices.extend(streams.into_iter().filter_map(|(name, stream)| {
            let read = read_as(name, stream)?;
            Some(match &kept {
                Some(_) => format!("{read}; the artifact has the bytes as they came"),
                None => read,
            })
        }));
        Ok(Collected {
            stdout: stdout.text,
            stderr: stderr.text,
            artifact: kept.map(|(id, _)| id),
            whole: !is_cut && !only_end && dropped == 0,
            notices,
        })
    }

    async fn catch_up(&mut self, cx: &ToolContext, job: &JobId) -> Result<(), SandboxError> {
        let mut ranges = Ranges {
            cx,
            job,
            from: Some(self.at),
        };
        loop {
            match ranges.next().await {
                Ok(Some((from, chunk))) => self.take(from, &chunk),
                Ok(None) => return Ok(()),
                Err(SandboxError::Unsupported { .. }) => {
                    let look = cx.sandbox.tail(job, LOOK_BYTES).await?;
                    self.take_tail(&look);
                    return Ok(());
                }
                Err(error) => return Err(error),
            }
        }
    }
}

/// Whether a look at the end of the output does not show all of it.
fn is_only_end(look: &OutputChunk, exit: &Exit) -> bool {
    let shown = tail::length(look);
    match exit.stdout_bytes + exit.stderr_bytes {
        // A backend that does not count: a full look may have cut something off.
        0 => shown >= LOOK_BYTES as u64,
        printed => shown < printed,
    }
}

/// Where the whole output comes from.
enum Output<'a> {
    Ranges(Ranges<'a>),
    /// One look that shows all of it.
    Look(Option<OutputChunk>),
}

impl Output<'_> {
    async fn next(&mut self) -> Result<Option<OutputChunk>, SandboxError> {
        match self {
            Self::Ranges(ranges) => Ok(ranges.next().await?.map(|(_, chunk)| chunk)),
            Self::Look(look) => Ok(look.take()),
        }
    }
}

/// The name of the artifact of a command's output.
fn named(command: &str, job: &JobId) -> String {
    // Before it is cut, which may leave a secret that is not known as one.
    let command = redact_addresses(command);
    let name: String = command.chars().take(MAX_NAME_CHARS).collect();
    format!(
        "output of {}",
        if name.is_empty() { job.as_str() } else { &name }
    )
}

/// What a stream was read as, where it is text and no UTF-8.
fn read_as(name: &str, stream: &FinishedOutput) -> Option<String> {
    match stream.content {
        Content::Binary => None,
        Content::Text => stream.written.remark(name),
    }
}

/// How much of what the sandbox gave an artifact took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kept {
    Everything,
    Beginning,
}

/// The whole output, range by range. What cannot be kept is said, not failed for.
async fn keep_whole(
    cx: &ToolContext,
    mut output: Output<'_>,
    name: &str,
    binary: bool,
    notices: &mut Vec<String>,
) -> Result<Option<(ArtifactId, Kept)>, SandboxError> {
    let scope = Scope::from(&*cx.who);
    let new = NewArtifact {
        mime: if binary {
            "application/octet-stream"
        } else {
            "text/plain"
        }
        .to_owned(),
        name: name.to_owned(),
    };
    let id = match cx.artifacts.create(&scope, &cx.session, new).await {
        Ok(id) => id,
        Err(error) => {
            notices.push(format!("the whole output is not kept: {error}"));
            return Ok(None);
        }
    };
    let mut kept = 0_u64;
    let mut refused: Option<ArtifactError> = None;
    while let (None, Some(chunk)) = (&refused, output.next().await?) {
        for (_, bytes) in chunk.pieces {
            let length = bytes.len() as u64;
            match cx.artifacts.append(&scope, &cx.session, &id, bytes).await {
                Ok(()) => kept += length,
                Err(error) => {
                    refused = Some(error);
                    break;
                }
            }
        }
    }
    let Some(error) = refused else {
        return Ok(Some((id, Kept::Everything)));
    };
    notices.push(format!(
        "the artifact has only the first {kept} bytes of the output: {error}"
    ));
    Ok(Some((id, Kept::Beginning)))
}
