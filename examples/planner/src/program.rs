//! From a command line to an exit.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use outfitter_core::Code;

use crate::answer::{Answer, document};
use crate::arguments::{self, Wanted};
use crate::contacts::Contacts;
use crate::fault::Fault;
use crate::store::Store;
use crate::who::{Asks, Caller, caller};
use crate::{calendar, contacts, describe, human};

/// The directory of all that is kept.
const DIRECTORY: &str = "PLANNER_DIR";

/// The three streams of a program.
pub struct Io<'a> {
    /// What it reads.
    pub stdin: &'a mut dyn Read,
    /// What it answers.
    pub stdout: &'a mut dyn Write,
    /// What it logs, and errors for people.
    pub stderr: &'a mut dyn Write,
}

/// The program as the system starts it.
#[must_use]
pub fn main() -> ExitCode {
    let args: Vec<OsString> = std::env::args_os().skip(1).collect();
    main_from(
        &args,
        &|name| std::env::var_os(name),
        &mut Io {
            stdin: &mut io::stdin(),
            stdout: &mut io::stdout(),
            stderr: &mut io::stderr(),
        },
    )
}

/// The program with everything it knows of the world handed in: arguments without the program's own
/// name, the environment, the streams. So another program can be this one, too.
pub fn main_from(
    args: &[OsString],
    env: &dyn Fn(&str) -> Option<OsString>,
    io: &mut Io<'_>,
) -> ExitCode {
    let told = match arguments::parse(args, io.stdin) {
        Ok(Wanted::Help) => io.stdout.write_all(human::help().as_bytes()).map(|()| 0),
        Ok(Wanted::Describe) => writeln!(io.stdout, "{}", describe::document()).map(|()| 0),
        Ok(Wanted::Call {
            subcommand,
            args,
            asks,
        }) => {
            let caller = caller(asks, &subcommand.scope(), env);
            log(&subcommand.scope(), &caller, io);
            let done = caller.and_then(|caller| {
                let directory = directory(env)?;
                match subcommand.command {
                    "contacts" => {
                        let contacts = Contacts::at(directory);
                        contacts::run(subcommand.name, args, &caller.who, &contacts)
                    }
                    _ => calendar::run(subcommand.name, args, &caller.who, &Store::at(directory)),
                }
            });
            tell(asks, &done, io)
        }
        Err(fault) => tell(arguments::asks(args), &Err(fault), io),
    };
    // Whoever does not listen is not told.
    told.map_or(ExitCode::FAILURE, ExitCode::from)
}

fn directory(env: &dyn Fn(&str) -> Option<OsString>) -> Result<PathBuf, Fault> {
    env(DIRECTORY).map(PathBuf::from).ok_or_else(|| {
        Fault::new(
            Code::Unavailable,
            format!("there is no calendar: {DIRECTORY} is not set"),
        )
    })
}

fn tell(asks: Asks, done: &Result<Answer, Fault>, io: &mut Io<'_>) -> io::Result<u8> {
    match (asks, done) {
        (Asks::Program, done) => writeln!(io.stdout, "{}", document(done))?,
        (Asks::Person, Ok(answer)) => {
            io.stdout
                .write_all(human::lines(&answer.result).as_bytes())?;
        }
        (Asks::Person, Err(fault)) => writeln!(io.stderr, "error: {}", fault.message)?,
    }
    io.stdout.flush()?;
    Ok(done.as_ref().map_or_else(Fault::exit, |_| 0))
}

/// Each use of a credential is in the log, by its id.
fn log(what: &str, caller: &Result<Caller, Fault>, io: &mut Io<'_>) {
    let line = match caller {
        Ok(Caller {
            who,
            credential: Some(id),
        }) => {
            let (tenant, subject) = (who.tenant.as_str(), who.subject.as_str());
            format!("{what} for {tenant}/{subject}, credential {id}")
        }
        Ok(Caller {
            credential: None, ..
        }) => return,
        Err(fault) => format!("{what} refused: {}", fault.message),
    };
    // Whoever does not listen is not told.
    let _ = writeln!(io.stderr, "planner: {line}");
}
