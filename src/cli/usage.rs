//! clap's errors in our form.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use outfitter_core::Code;

use super::failure::Failure;

/// What clap had to say instead of arguments.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Said {
    /// Help, or the version: for stdout.
    Text(String),
    /// A mistake.
    Mistake(Failure),
}

/// Turns an error of clap into a failure, or into the help that it is.
pub(crate) fn said(error: &clap::Error, args: &[OsString]) -> Said {
    let text = error.render().to_string();
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => Said::Text(text),
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand | ErrorKind::MissingSubcommand => {
            Said::Mistake(
                Failure::new(Code::Usage, "read the command line: a command is missing")
                    .with_hint(help_of(args)),
            )
        }
        _ => Said::Mistake(
            Failure::new(
                Code::Usage,
                format!("read the command line: {}", message(&text)),
            )
            .with_hint(suggestion(error).unwrap_or_else(|| help_of(args))),
        ),
    }
}

/// The message without its prefix, its tips and the usage.
fn message(text: &str) -> String {
    let text = text.strip_prefix("error: ").unwrap_or(text);
    let first = text.split("\n\n").next().unwrap_or(text);
    let words: Vec<&str> = first.split_whitespace().collect();
    words.join(" ")
}

fn suggestion(error: &clap::Error) -> Option<String> {
    let kinds = [
        ContextKind::SuggestedArg,
        ContextKind::SuggestedSubcommand,
        ContextKind::SuggestedValue,
    ];
    let value = kinds.into_iter().find_map(|kind| error.get(kind))?;
    let nearest = match value {
        ContextValue::String(one) => one,
        ContextValue::Strings(many) => many.last()?,
        _ => return None,
    };
    Some(format!("did you mean `{nearest}`?"))
}

/// Where the help of the command is that was meant: the words before the first option.
fn help_of(args: &[OsString]) -> String {
    let known = |name: &str, command: &clap::Command| {
        command
            .get_subcommands()
            .find(|one| one.get_name() == name)
            .cloned()
    };
    let mut command = <super::args::Cli as clap::CommandFactory>::command();
    let mut path = vec!["outfitter".to_owned()];
    for word in args.iter().skip(1).filter_map(|word| word.to_str()) {
        let Some(next) = known(word, &command) else {
            continue;
        };
        path.push(word.to_owned());
        command = next;
    }
    format!("`{} --help` says how it is used", path.join(" "))
}
