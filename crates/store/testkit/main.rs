//! A writer in its own process, for the tests of the store.
//!
//! - `append FILE SESSION COUNT` waits for a line on stdin, appends COUNT entries one by one, taking
//!   the session's place from a conflict, and prints how many conflicts it met.
//! - `stream FILE SESSION SIZE` appends SIZE entries at a time and prints the place after each.
//! - `make DIR UMASK` sets the umask (octal) and makes a session and an artifact below DIR.

use std::error::Error;
use std::io::{BufRead as _, Write as _};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use outfitter_core::{
    Append, AppendError, ArtifactStore as _, EntryBody, EventBody, Fence, Log as _, Message,
    MessageId, MessageRole, NewArtifact, NewEntry, RunId, Scope, Seq, SessionId, StoreError,
    SystemClock, UnixMs,
};
use outfitter_store::{FileArtifacts, SqliteLog};

/// The end of `stream`, if nobody kills it.
const MOST: u64 = 100_000;

type Done = Result<(), Box<dyn Error>>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let done = match words[..] {
        ["append", file, session, count] => append(file, session, count).await,
        ["stream", file, session, size] => stream(file, session, size).await,
        ["make", directory, umask] => make(directory, umask).await,
        _ => Err("append, stream or make".into()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let mut text = format!("{error}");
            let mut cause = error.source();
            while let Some(next) = cause {
                text = format!("{text}: {next}");
                cause = next.source();
            }
            let _ = writeln!(std::io::stderr(), "failed to {text}");
            ExitCode::FAILURE
        }
    }
}

fn scope() -> Scope {
    Scope {
        tenant: "t".into(),
        subject: "s".into(),
    }
}

fn entry(text: String) -> Result<NewEntry, Box<dyn Error>> {
    let id = MessageId::new("m")?;
    let message = Message::text(id, MessageRole::User, text);
    Ok(NewEntry {
        run: RunId::new("run")?,
        at: UnixMs(1),
        event: None,
        body: EntryBody::Event(EventBody::Message(Arc::new(message))),
    })
}

async fn append(file: &str, session: &str, count: &str) -> Done {
    let (log, session, count) = (
        SqliteLog::new(file),
        SessionId::new(session)?,
        count.parse()?,
    );
    std::io::stdin().lock().read_line(&mut String::new())?;
    let (mut place, mut done, mut conflicts) = (Seq(0), 0_u32, 0_u32);
    while done < count {
        let append = Append {
            session: &session,
            expected: place,
            fence: Fence(1),
            entries: vec![entry(format!("{} {done}", std::process::id()))?],
        };
        match log.append(&scope(), append).await {
            Ok(head) => {
                place = head;
                done += 1;
            }
            Err(AppendError::Conflict { head }) => {
                place = head;
                conflicts += 1;
            }
            Err(error) => return Err(error.into()),
        }
    }
    writeln!(std::io::stdout(), "{conflicts}")?;
    Ok(())
}

async fn stream(file: &str, session: &str, size: &str) -> Done {
    let (log, session) = (SqliteLog::new(file), SessionId::new(session)?);
    let size: usize = size.parse()?;
    let mut place = match log.read(&scope(), &session, Seq(1), 1).await {
        Ok(page) => page.head,
        Err(StoreError::NotFound(_)) => Seq(0),
        Err(error) => return Err(error.into()),
    };
    while place.0 < MOST {
        let entries = (0..size)
            .map(|at| entry(format!("{at} {}", "x".repeat(2_000))))
            .collect::<Result<_, _>>()?;
        let append = Append {
            session: &session,
            expected: place,
            fence: Fence(1),
            entries,
        };
        place = log.append(&scope(), append).await?;
        writeln!(std::io::stdout(), "{}", place.0)?;
        std::io::stdout().flush()?;
    }
    Ok(())
}

async fn make(directory: &str, umask: &str) -> Done {
    let umask = u32::from_str_radix(umask, 8)?;
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(umask));
    let data_dir = Path::new(directory).join("data");
    let (log, session) = (
        SqliteLog::new(data_dir.join("outfitter.db")),
        SessionId::new("s")?,
    );
    let append = Append {
        session: &session,
        expected: Seq(0),
        fence: Fence(1),
        entries: vec![entry("hello".to_owned())?],
    };
    log.append(&scope(), append).await?;
    let artifacts = FileArtifacts::new(data_dir.join("artifacts"), Arc::new(SystemClock));
    let new = NewArtifact {
        mime: "text/plain".to_owned(),
        name: "x".to_owned(),
    };
    let id = artifacts.create(&scope(), &session, new).await?;
    artifacts
        .append(&scope(), &session, &id, "bytes".into())
        .await?;
    // The files beside the database go when the last connection closes; they are to be looked at.
    writeln!(std::io::stdout(), "made")?;
    std::io::stdout().flush()?;
    std::io::stdin().lock().read_line(&mut String::new())?;
    Ok(())
}
