//! What holds of every command line, whatever is in it.

use outfitter_text::command_line::{MAX_COMMANDS, MAX_STEPS_PER_BYTE, Reading, parse, quoted};

/// Panics where something does not hold.
pub(crate) fn check(data: &[u8]) {
    let line = String::from_utf8_lossy(data);
    let read = parse(&line);
    assert_eq!(read, parse(&line), "read once so and once otherwise");
    match &read {
        Ok(read) => {
            assert!(read.commands.len() <= MAX_COMMANDS);
            assert!(
                read.steps <= MAX_STEPS_PER_BYTE * (line.len() + 1),
                "{} steps for {} bytes",
                read.steps,
                line.len()
            );
            let _ = Reading::of(read);
        }
        Err(error) => assert!(!error.why.is_empty()),
    }
    survives_its_quotes(&line);
}

/// A text that is quoted is one word, and that word is the text.
fn survives_its_quotes(text: &str) {
    if text.contains(['\0', '\r']) || text.len() > 1000 {
        return;
    }
    let line = format!("echo {}", quoted(text));
    if let Ok(read) = parse(&line) {
        let [command] = read.commands.as_slice() else {
            unreachable!("{line:?} is {} commands", read.commands.len());
        };
        let words: Vec<&str> = command.words.iter().map(|word| &*word.text).collect();
        assert_eq!(words, ["echo", text], "{line:?}");
        assert!(
            command
                .words
                .iter()
                .all(outfitter_text::command_line::Word::is_literal),
            "{line:?}"
        );
    }
}
