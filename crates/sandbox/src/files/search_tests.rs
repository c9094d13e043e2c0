//! Files that grow while they are searched.

use super::*;

/// As many bytes of lines as anybody reads.
struct Endless(u64);

impl Read for Endless {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        buffer.fill(b'x');
        buffer[buffer.len() - 1] = b'\n';
        self.0 += buffer.len() as u64;
        Ok(buffer.len())
    }
}

#[test]
fn a_file_that_grows_for_ever_is_left_and_said() {
    let wanted = |pattern: &str| Search {
        pattern: pattern.to_owned(),
        glob: None,
        file_type: None,
        mode: SearchMode::Count,
        case_insensitive: false,
        multiline: false,
        before: 0,
        after: 0,
        limit: 10,
    };
    let gone = Gone::default();
    for (pattern, found) in [("x$", true), ("y", false)] {
        let job = Job::new(&wanted(pattern), &gone).unwrap();
        let mut file = Endless(0);
        let outcome = job.of_growing("log", &mut file, 10, &mut job.tools());
        assert!(
            file.0 <= 10 + MAX_GROWTH_BYTES,
            "{} bytes were read",
            file.0
        );
        match outcome {
            Outcome::Hits { grows, count, .. } => assert!(found && grows && count > 0),
            Outcome::Skipped(why) => assert!(!found && why == GROWS),
            Outcome::Binary | Outcome::Nothing => panic!("it was not looked at"),
        }
    }
}
