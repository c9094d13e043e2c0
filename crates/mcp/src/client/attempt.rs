//! One life of a server's process, from its start to its end.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use outfitter_core::{Cancel, Hash};
use serde_json::Map;
use tokio::time::Instant;

use outfitter_process::{
    ChildError, ChildSpec, Confinement, Ending, Exit, Limits, SpawnError, Spawned, Stdin, spawn,
};

use super::connection::{Abandoned, Connection, Unanswered};
use super::handshake::{Era, Known, shake};
use super::hearing::{MAX_NOISE_LINES, Read};
use super::lines::Lines;
use super::listing::list;
use super::outbox::Outbox;
use super::server::{Host, StdioServer};
use super::shared::Shared;
use super::stderr::Ring;

/// How long a server may take to end after its input has ended.
const FAREWELL: Duration = Duration::from_secs(2);

/// How long it may take after it is told to.
const GRACE: Duration = Duration::from_secs(1);

/// How long a server that gave no sign of life may take to give one when it is asked for it.
const LIFE_TIMEOUT: Duration = Duration::from_secs(5);

/// How long is waited for changes of a list to settle.
const DEBOUNCE: Duration = Duration::from_millis(50);

/// How a life ended.
pub(crate) enum End {
    /// We wanted it.
    Stopped,
    /// Its tools are known, and nobody has called one yet.
    Idle,
    /// Before it was ready.
    Failed(String),
    /// It ended because it was asked for its era, by all signs.
    ProbeKilled(String),
    /// After it was ready.
    Died(String),
    /// What it printed was no protocol.
    Nonsense(String),
}

/// How the process of a server came to its end, or is to.
enum Gone {
    /// By itself.
    Ended(String),
    /// It prints what is no protocol, and is ended for it.
    Nonsense(String),
}

/// Starts the process, agrees with it, lists its tools, and keeps the connection until it ends.
pub(crate) async fn live(shared: &Shared, known: Known, stop: &Cancel) -> End {
    let server = &*shared.link.server;
    let key = shared.key();
    let started = tokio::select! {
        biased;
        () = stop.cancelled() => return End::Stopped,
        started = spawn(&shared.host.supervisor, spec(server, &shared.host)) => started,
    };
    let Spawned {
        mut child,
        mut output,
        input,
        outlet: _,
    } = match started {
        Ok(spawned) => spawned,
        Err(error) => return End::Failed(not_started(&error, server, &shared.host)),
    };
    let Some(input) = input else {
        return End::Failed("it has no input".to_owned());
    };
    let stderr = &shared.link.stderr;
    let connection = Arc::new(Connection::new(server, Outbox::new(input)));
    let mut lines = Lines::default();
    let mut patience = Duration::ZERO;
    let (end, reason) = {
        let watched = watch(
            server,
            &mut child,
            &mut output,
            &connection,
            &mut lines,
            stderr,
        );
        tokio::pin!(watched);
        tokio::select! {
            biased;
            () = stop.cancelled() => {
                let reason = Unanswered::Ended("it was stopped".into());
                // Its input ends first and at once. What it says then is read, so that it gets as
                // far as ending by itself.
                connection.end(&reason);
                let since = Instant::now();
                // One that never answered has nothing to finish.
                let farewell = if shared.is_ready() { FAREWELL } else { Duration::ZERO };
                let _ = tokio::time::timeout(farewell, watched).await;
                patience = farewell.saturating_sub(since.elapsed());
                (End::Stopped, reason)
            }
            gone = &mut watched => ended(shared, &connection, known, gone),
            () = connection.write() => {
                // It may have said something last.
                let gone = tokio::time::timeout(GRACE, watched).await;
                let gone = gone.unwrap_or_else(|_| Gone::Ended("it closed its input".to_owned()));
                ended(shared, &connection, known, gone)
            }
            served = serve(shared, &connection, known, key) => {
                // It may be told in its own words.
                match served.map(|why| server.without_secrets(&why)) {
                    None => {
                        let reason = Unanswered::Ended("it is not needed yet".into());
                        connection.end(&reason);
                        let since = Instant::now();
                        let _ = tokio::time::timeout(FAREWELL, watched).await;
                        patience = FAREWELL.saturating_sub(since.elapsed());
                        (End::Idle, reason)
                    }
                    Some(why) if connection.is_heard() => {
                        let reason = Unanswered::Ended(why.as_str().into());
                        let end = if shared.is_ready() { End::Died } else { End::Failed };
                        (end(why), reason)
                    }
                    Some(why) => {
                        // It has ended, and how it ended says more.
                        let gone = tokio::time::timeout(GRACE, watched).await;
                        ended(shared, &connection, known, gone.unwrap_or(Gone::Ended(why)))
                    }
                }
            }
        }
    };
    // From here on nobody waits in vain for an answer, and its input has ended.
    connection.end(&reason);
    if tokio::time::timeout(patience, child.wait()).await.is_err() {
        // Dropping it kills the whole tree, also when this takes too long.
        let _ = tokio::time::timeout(2 * GRACE, child.kill(GRACE)).await;
    }
    end
}

fn spec(server: &StdioServer, host: &Host) -> ChildSpec {
    let mut env = host.env.clone();
    env.retain(|(name, _)| server.env.iter().all(|(own, _)| own != name));
    env.extend(server.env.iter().cloned());
    ChildSpec {
        argv: std::iter::once(&server.command)
            .chain(&server.args)
            .cloned()
            .collect(),
        env,
        cwd: server.cwd.clone(),
        stdin: Stdin::Pipe,
        confinement: Confinement::Unconfined,
        limits: Limits::DEFAULT,
    }
}

fn not_started(error: &SpawnError, server: &StdioServer, host: &Host) -> String {
    let command = server.command.to_string_lossy();
    let why = match std::error::Error::source(error) {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    };
    if Path::new(&server.command).components().count() > 1 {
        return format!("{command} was not started: {why}");
    }
    let path = server
        .env
        .iter()
        .chain(&host.env)
        .find(|(name, _)| name == "PATH");
    let path = path.map_or("nothing".into(), |(_, path)| path.to_string_lossy());
    format!("{command} was not started: {why}; searched was {path}")
}

/// Reads all it prints until it has ended, and says how that was.
async fn watch(
    server: &StdioServer,
    child: &mut outfitter_process::Child,
    output: &mut outfitter_process::Output,
    connection: &Connection,
    lines: &mut Lines,
    stderr: &Ring,
) -> Gone {
    let exit = tokio::select! {
        exit = child.wait() => Some(exit),
        read = connection.read(output, lines, stderr) => match read {
            Read::All => None,
            Read::Nonsense => {
                let why = format!("{MAX_NOISE_LINES} lines in a row that it printed are no messages");
                return Gone::Nonsense(said_last(server, stderr, why));
            }
        },
    };
    let exit = match exit {
        Some(exit) => Some(exit),
        None => tokio::time::timeout(GRACE, child.wait()).await.ok(),
    };
    // Its whole tree is gone, so what is there is all that will ever come.
    while let Ok(Some((stream, bytes))) = output.try_next() {
        connection.take(stream, &bytes, lines, stderr);
    }
    connection.finish(lines, stderr);
    let how = exit.map_or("it closed its output".to_owned(), |exit| describe(&exit));
    Gone::Ended(said_last(server, stderr, how))
}

/// What happened, with the last that it printed for people.
fn said_last(server: &StdioServer, stderr: &Ring, what: String) -> String {
    match stderr.quote(|text| server.without_secrets(text)) {
        Some(last) => format!("{what}; it printed last: {last}"),
        None => what,
    }
}

fn describe(exit: &Result<Exit, ChildError>) -> String {
    match exit {
        Ok(Exit {
            ending: Ending::Code(code),
            ..
        }) => format!("it ended with code {code}"),
        Ok(Exit {
            ending: Ending::Signal(signal),
            ..
        }) => format!("it was ended by signal {signal}"),
        Err(error) => error.to_string(),
    }
}

/// What the end of a process means, and what those are told who wait for its answers.
fn ended(shared: &Shared, connection: &Connection, known: Known, gone: Gone) -> (End, Unanswered) {
    let why = match gone {
        Gone::Ended(why) => why,
        Gone::Nonsense(why) => {
            let reason = Unanswered::Nonsense(why.as_str().into());
            return (End::Nonsense(why), reason);
        }
    };
    let reason = Unanswered::Ended(why.as_str().into());
    let end = if shared.is_ready() {
        End::Died
    } else if known == Known::Nothing && connection.era().is_none() {
        End::ProbeKilled
    } else {
        End::Failed
    };
    (end(why), reason)
}

/// Gets it ready and keeps its list of tools up to date. Ends when it does not get ready, or hangs;
/// without a reason when it was only to say what it offers.
async fn serve(
    shared: &Shared,
    connection: &Arc<Connection>,
    known: Known,
    key: Option<Hash>,
) -> Option<String> {
    let server = &*shared.link.server;
    let ready = async {
        let era = shake(connection, known)
            .await
            .map_err(|why| why.to_string())?;
        let listed = list(connection, server).await;
        Ok::<_, String>((
            era,
            listed.map_err(|why| format!("its tools cannot be listed: {why}"))?,
        ))
    };
    match tokio::time::timeout(server.connect_timeout, ready).await {
        Ok(Ok((era, listed))) => {
            shared.keep_specs(key.as_ref(), &listed).await;
            if shared.is_only_listed() {
                shared.offer(listed);
                return None;
            }
            shared.ready(connection, era, listed);
        }
        Ok(Err(why)) => return Some(why),
        Err(_) => {
            return Some(format!(
                "it was not ready after {} s",
                server.connect_timeout.as_secs_f64()
            ));
        }
    }
    loop {
        tokio::select! {
            () = connection.tools_changed.notified() => {
                tokio::time::sleep(DEBOUNCE).await;
                let listing = tokio::time::timeout(server.connect_timeout, list(connection, server));
                match listing.await {
                    Ok(Ok(listed)) => {
                        shared.keep_specs(key.as_ref(), &listed).await;
                        shared.offer(listed);
                    }
                    Ok(Err(why)) => shared.keep(&format!("its tools cannot be listed again: {why}")),
                    Err(_) => shared.keep("its tools cannot be listed again: it did not answer in time"),
                }
            }
            () = connection.doubted.notified() => {
                // What works on other calls may have no time to say so.
                if !connection.is_busy() && !is_alive(connection).await {
                    return Some(
                        "it hangs: a call and a question after it got no answer".to_owned(),
                    );
                }
            }
        }
    }
}

/// Whether it still answers, if only to say no.
async fn is_alive(connection: &Arc<Connection>) -> bool {
    let method = match connection.era() {
        Some(Era::Modern) => "server/discover",
        Some(Era::Legacy) | None => "ping",
    };
    let answer = connection.ask(method, Map::new(), Abandoned::IsKept);
    !matches!(
        tokio::time::timeout(LIFE_TIMEOUT, answer).await,
        Err(_) | Ok(Err(Unanswered::NotSent(_)))
    )
}
