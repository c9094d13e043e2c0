//! Files that somebody named, read whole and bounded. What is no file is not opened: a pipe is
//! waited for, and a device may have no end.

use std::fs::{File, Metadata};
use std::io::{Error, ErrorKind, Read as _, Result};
use std::path::Path;

/// Opens a regular file, or what a link leads to where that is one.
///
/// # Errors
/// That it is not a regular file, or why it cannot be opened.
pub fn open_regular_file(path: &Path) -> Result<File> {
    check(&std::fs::metadata(path)?)?;
    let file = File::open(path)?;
    check(&file.metadata()?)?;
    Ok(file)
}

/// Reads a regular file of at most so many bytes.
///
/// # Errors
/// That it is not a regular file, that it is larger, or why it cannot be read.
pub fn read_regular_file(path: &Path, most: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let file = open_regular_file(path)?;
    file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        let why = format!("it is larger than {most} bytes");
        return Err(Error::new(ErrorKind::FileTooLarge, why));
    }
    Ok(bytes)
}

/// The same of a file of text.
///
/// # Errors
/// As [`read_regular_file`], and that it is not UTF-8.
pub fn read_regular_text(path: &Path, most: u64) -> Result<String> {
    let bytes = read_regular_file(path, most)?;
    String::from_utf8(bytes).map_err(|_| Error::new(ErrorKind::InvalidData, "it is not UTF-8 text"))
}

/// Whether this is a regular file.
///
/// # Errors
/// That it is not.
pub fn check(metadata: &Metadata) -> Result<()> {
    if metadata.is_file() {
        return Ok(());
    }
    let kind = match metadata.is_dir() {
        true => ErrorKind::IsADirectory,
        false => ErrorKind::InvalidInput,
    };
    Err(Error::new(kind, "it is not a regular file"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_file_was_read_or_waited_for() {
        for path in ["/dev/zero", "/dev/null", "/proc"] {
            let error = read_regular_file(Path::new(path), 10).unwrap_err();
            assert_eq!(error.to_string(), "it is not a regular file", "{path}");
        }
    }

    #[test]
    fn a_file_is_read_to_its_bound() {
        let path = Path::new(file!()).file_name().unwrap();
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(path);
        let text = read_regular_text(&path, 1 << 20).unwrap();
        assert!(text.starts_with("//! Files that somebody named"));
        let error = read_regular_text(&path, 10).unwrap_err();
        assert_eq!(error.to_string(), "it is larger than 10 bytes");
    }
}
