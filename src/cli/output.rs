//! stdout for data, stderr for people.

use std::io::{self, IsTerminal as _, Write};

use outfitter_core::Code;
use serde_json::Value;

use super::failure::{Failure, Stop};
use crate::env::{self, Environment};
use crate::render::text::{one_line, visible};
use crate::render::{Colour, Face};

/// How a stream looks, by what it is and what the environment says.
fn face(terminal: bool, width: Option<usize>, env: &Environment) -> Face {
    let forced = env
        .text(env::CLICOLOR_FORCE)
        .is_some_and(|is| is != "0" && !is.is_empty());
    let dumb = env.text(env::TERM) == Some("dumb");
    let wanted = !env.has(env::NO_COLOR) && (forced || (terminal && !dumb));
    Face {
        terminal,
        colour: if wanted { Colour::On } else { Colour::Off },
        width: width.filter(|_| terminal),
    }
}

/// Where a command writes.
#[derive(Debug, Clone, Copy)]
pub struct Output {
    /// How stdout looks.
    pub stdout: Face,
    /// How stderr looks.
    pub stderr: Face,
}

impl Output {
    /// The streams of the process.
    #[must_use]
    pub fn of_process(env: &Environment) -> Self {
        let columns = |size: Option<(terminal_size::Width, terminal_size::Height)>| {
            size.map(|(width, _)| usize::from(width.0))
        };
        let (out, err) = (io::stdout(), io::stderr());
        Self {
            stdout: face(
                out.is_terminal(),
                columns(terminal_size::terminal_size_of(&out)),
                env,
            ),
            stderr: face(
                err.is_terminal(),
                columns(terminal_size::terminal_size_of(&err)),
                env,
            ),
        }
    }

    /// Writes data, at once.
    ///
    /// # Errors
    /// [`Stop::StdoutClosed`] when nobody reads it any more; a failure when it cannot be written.
    pub fn data(&self, text: &str) -> Result<(), Stop> {
        self.bytes(text.as_bytes())
    }

    /// Writes data that is bytes already.
    ///
    /// # Errors
    /// As [`Output::data`].
    pub fn bytes(&self, bytes: &[u8]) -> Result<(), Stop> {
        let mut out = io::stdout().lock();
        out.write_all(bytes)
            .and_then(|()| out.flush())
            .map_err(|error| match error.kind() {
                io::ErrorKind::BrokenPipe => Stop::StdoutClosed,
                _ => Failure::because(Code::Failed, "write to stdout", &error).into(),
            })
    }

    /// Writes text that others have written, for people: it cannot control their terminal.
    ///
    /// # Errors
    /// As [`Output::data`].
    pub fn plain(&self, text: &str) -> Result<(), Stop> {
        self.data(&visible(text))
    }

    /// Writes a document, readably.
    ///
    /// # Errors
    /// As [`Output::data`].
    pub fn document(&self, value: &Value) -> Result<(), Stop> {
        self.data(&format!("{value:#}\n"))
    }

    /// Writes a line of JSON.
    ///
    /// # Errors
    /// As [`Output::data`].
    pub fn json_line(&self, value: &Value) -> Result<(), Stop> {
        self.data(&format!("{value}\n"))
    }

    /// Tells people one line, whoever has written what is in it.
    pub fn tell_line(&self, line: &str) {
        self.tell(&format!("{}\n", one_line(line)));
    }

    /// Tells people. Where nobody listens, nothing is lost that a program wants.
    pub fn tell(&self, text: &str) {
        let _ = io::stderr().lock().write_all(text.as_bytes());
    }
}

/// What the codec writes.
pub(crate) fn encoded(
    encode: impl FnOnce(&mut Vec<u8>) -> Result<(), outfitter_codec::EncodeError>,
) -> Result<Vec<u8>, Stop> {
    let mut out = Vec::new();
    encode(&mut out).map_err(|error| Failure::of(Code::Internal, &error))?;
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case(true, &[], Colour::On)]
    #[case(false, &[], Colour::Off)]
    #[case(true, &[("NO_COLOR", "1")], Colour::Off)]
    #[case(true, &[("NO_COLOR", "")], Colour::On)]
    #[case(true, &[("TERM", "dumb")], Colour::Off)]
    #[case(false, &[("CLICOLOR_FORCE", "1")], Colour::On)]
    #[case(false, &[("CLICOLOR_FORCE", "0")], Colour::Off)]
    #[case(true, &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")], Colour::Off)]
    fn colour_is_for_terminals_and_no_color_wins(
        #[case] terminal: bool,
        #[case] variables: &[(&str, &str)],
        #[case] colour: Colour,
    ) {
        let env = Environment::of("/", variables.iter().copied());
        assert_eq!(face(terminal, None, &env).colour, colour);
    }
}
