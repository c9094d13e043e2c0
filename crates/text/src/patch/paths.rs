//! Paths as diffs write them.

/// A path of `---` or `+++`: without a time behind it, unquoted. None for `/dev/null`.
pub(super) fn of_header(text: &str) -> Option<String> {
    let text = text.trim_end_matches('\r');
    let path = match quoted(text) {
        Some((path, _)) => path,
        None => {
            let path = text.split('\t').next().unwrap_or(text);
            path.trim_end().to_owned()
        }
    };
    (path != "/dev/null").then_some(path)
}

/// The two paths of `diff --git A B`, which are the same but for `a/` and `b/`. Where they are
/// not, other lines say them.
pub(super) fn of_git(text: &str) -> Option<String> {
    let text = text.trim_end();
    let (old, new) = match quoted(text) {
        Some((old, rest)) => {
            let rest = rest.trim_start();
            (old, quoted(rest).map_or(rest.to_owned(), |(new, _)| new))
        }
        None => {
            // Both halves are as long as each other.
            let middle = text.len() / 2;
            if !text.is_char_boundary(middle) || text.as_bytes().get(middle) != Some(&b' ') {
                return None;
            }
            (text[..middle].to_owned(), text[middle + 1..].to_owned())
        }
    };
    let (old, new) = (old.strip_prefix("a/")?, new.strip_prefix("b/")?);
    (old == new).then(|| new.to_owned())
}

/// A path of `rename from` and the like.
pub(super) fn of_rename(text: &str) -> String {
    let text = text.trim_end_matches('\r');
    quoted(text).map_or_else(|| text.to_owned(), |(path, _)| path)
}

/// A text in quotation marks as C writes it, and what follows.
fn quoted(text: &str) -> Option<(String, &str)> {
    let mut rest = text.strip_prefix('"')?.as_bytes();
    let mut bytes = Vec::new();
    loop {
        let (&byte, after) = rest.split_first()?;
        rest = after;
        match byte {
            b'"' => break,
            b'\\' => {
                let (&escaped, after) = rest.split_first()?;
                rest = after;
                bytes.push(match escaped {
                    b'a' => 0x07,
                    b'b' => 0x08,
                    b't' => b'\t',
                    b'n' => b'\n',
                    b'v' => 0x0b,
                    b'f' => 0x0c,
                    b'r' => b'\r',
                    b'0'..=b'3' => {
                        let digits = rest.get(..2)?;
                        rest = &rest[2..];
                        let digit = |byte: u8| (b'0'..=b'7').contains(&byte).then(|| byte - b'0');
                        ((escaped - b'0') << 6) | (digit(digits[0])? << 3) | digit(digits[1])?
                    }
                    other => other,
                });
            }
            other => bytes.push(other),
        }
    }
    let after = text.len() - rest.len();
    Some((String::from_utf8(bytes).ok()?, &text[after..]))
}
