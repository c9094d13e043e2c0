//! Files that are written beside where they are to be, and put there once they are whole.

use std::io;

/// What went wrong with such a file, without its name: nobody knows that name, and it is gone. Who
/// tells of it names the file that was to be written.
pub(crate) fn cause(error: &io::Error) -> String {
    let said = error.to_string();
    // The name is put behind it by what makes the file, and there is no other way to what is before.
    match said.split_once(" at path \"") {
        Some((cause, _)) if error.get_ref().is_some() => cause.to_owned(),
        Some(_) | None => said,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_file_that_nobody_knows_was_told() {
        let error = tempfile::Builder::new()
            .prefix(".")
            .tempfile_in("/not/there")
            .unwrap_err();
        assert!(error.to_string().contains("/not/there/."), "{error}");
        assert_eq!(cause(&error), "No such file or directory (os error 2)");
        let other = io::Error::from_raw_os_error(28);
        assert_eq!(cause(&other), other.to_string());
    }
}
