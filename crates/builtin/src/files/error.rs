//! What went wrong with a file, as a model reads it. The one place where this is decided.

use outfitter_core::{Code, ErrorInfo, FilesError, ToolError};
use serde_json::json;

/// The error of a call whose `path` named the file.
pub(crate) fn tool_error(error: FilesError) -> ToolError {
    let about_path = |code, message: String| ErrorInfo::new(code, message).at("/path");
    let info = match &error {
        FilesError::NotFound { path } => about_path(Code::NotFound, format!("there is no {path}"))
            .with_hint("list_dir and glob show what is there"),
        FilesError::Outside { path } => about_path(
            Code::NotPermitted,
            format!("{path} leads outside the workspace"),
        )
        .with_hint("use a path inside the workspace"),
        FilesError::Protected { path, why } => {
            about_path(Code::NotPermitted, format!("{path} is protected: {why}"))
        }
        FilesError::Symlink { path, target } => about_path(
            Code::NotPermitted,
            format!("{path} is a symbolic link to {target}, and links are not written through"),
        )
        .with_hint(format!("if that file is meant, write {target}")),
        FilesError::WrongKind { path, is, wanted } => about_path(
            Code::InvalidArguments,
            format!("{path} is {is}, not {wanted}"),
        ),
        FilesError::Exists { path } => about_path(Code::Conflict, format!("{path} exists already"))
            .with_hint("read it first, or write with mode overwrite"),
        FilesError::Changed { path, hash } => {
            let mut info = about_path(
                Code::Conflict,
                format!("{path} has changed since it was read; its hash is {hash} now"),
            )
            .with_hint("read it again, then repeat the change on what it has now");
            info.got = Some(json!({ "hash": hash }));
            info
        }
        FilesError::Invalid { what, why } => {
            about_path(Code::InvalidArguments, format!("{what}: {why}"))
        }
        FilesError::TooLarge { path, size, limit } => about_path(
            Code::TooLarge,
            format!("{path} has {size} bytes, more than the limit of {limit}"),
        ),
        FilesError::OverQuota {
            path,
            more,
            used,
            limit,
        } => about_path(
            Code::TooLarge,
            format!(
                "{path} was not written: {more} bytes more than the {used} that are there exceed \
                 the quota of {limit}, [files] quota_mb"
            ),
        )
        .with_hint("remove or shorten files that are not needed, then write again"),
        FilesError::Denied { path } => about_path(
            Code::NotPermitted,
            format!("{path} cannot be opened: permission denied"),
        ),
        FilesError::Unavailable { why } => ErrorInfo::new(Code::Unavailable, why.clone()),
        FilesError::Io { path, source } => {
            ErrorInfo::new(Code::Failed, format!("{path} cannot be used: {source}"))
        }
    };
    ToolError::from(info).with_source(error)
}

/// The same, where another argument than the path may be what cannot be understood. `texts` are
/// those arguments: where they stand and what they say.
pub(super) fn argument_error(error: FilesError, texts: &[(&str, Option<&str>)]) -> ToolError {
    let FilesError::Invalid { what, .. } = &error else {
        return tool_error(error);
    };
    // A long one is named by its beginning.
    let begun = what.strip_suffix('…').unwrap_or(what);
    let named = |text: &str| text == what || (begun != what && text.starts_with(begun));
    let at = texts
        .iter()
        .find(|(_, text)| text.is_some_and(named))
        .map(|(at, _)| *at);
    let error = tool_error(error);
    match at {
        Some(at) => error.into_info().at(at).into(),
        None => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use outfitter_core::Hash;

    #[test]
    fn every_error_has_a_code_a_place_and_where_it_helps_a_hint() {
        let path = || "a/b.txt".to_owned();
        let errors = [
            FilesError::NotFound { path: path() },
            FilesError::Outside { path: path() },
            FilesError::Protected {
                path: path(),
                why: "it belongs to a repository's metadata",
            },
            FilesError::Symlink {
                path: path(),
                target: "c.txt".to_owned(),
            },
            FilesError::WrongKind {
                path: path(),
                is: "a directory",
                wanted: "a file",
            },
            FilesError::Exists { path: path() },
            FilesError::Changed {
                path: path(),
                hash: Hash::of("x"),
            },
            FilesError::Invalid {
                what: "the path".to_owned(),
                why: "it is too long".to_owned(),
            },
            FilesError::TooLarge {
                path: path(),
                size: 2,
                limit: 1,
            },
            FilesError::OverQuota {
                path: path(),
                more: 3,
                used: 2,
                limit: 4,
            },
            FilesError::Denied { path: path() },
            FilesError::Unavailable {
                why: "this call has no sandbox".to_owned(),
            },
            FilesError::Io {
                path: path(),
                source: std::io::Error::other("the disk is full"),
            },
        ];
        let told: Vec<_> = errors
            .into_iter()
            .map(|error| tool_error(error).into_info())
            .collect();
        insta::assert_json_snapshot!(told);
    }

    #[test]
    fn the_argument_that_cannot_be_understood_is_pointed_at() {
        let long = "(".repeat(500);
        for (what, at) in [
            ("a(", "/pattern"),
            ("[", "/glob"),
            ("some/path", "/path"),
            (&*format!("{}…", "(".repeat(120)), "/type"),
        ] {
            let error = FilesError::Invalid {
                what: what.to_owned(),
                why: "unclosed group".to_owned(),
            };
            let texts = [
                ("/pattern", Some("a(")),
                ("/glob", Some("[")),
                ("/type", Some(&*long)),
                ("/other", None),
            ];
            let error = argument_error(error, &texts);
            assert_eq!(error.info().path.as_deref(), Some(at));
        }
    }
}
