//! `find` and the commands it runs.

use super::{Word, WordKind};

/// The commands after `-exec` and its like; the names that are found stand for `{}`.
pub(super) fn runs(args: &[Word]) -> Vec<Vec<Word>> {
    let mut all = Vec::new();
    let mut words = args.iter();
    while let Some(word) = words.next() {
        if !matches!(word.text.as_str(), "-exec" | "-execdir" | "-ok" | "-okdir") {
            continue;
        }
        let mut run: Vec<Word> = Vec::new();
        for word in words.by_ref() {
            let over = match word.text.as_str() {
                ";" => true,
                "+" => run.last().is_some_and(|last| last.text == "{}"),
                _ => false,
            };
            if over {
                break;
            }
            let mut word = word.clone();
            if word.text.contains("{}") {
                word.kind = WordKind::Dynamic;
            }
            run.push(word);
        }
        all.push(run);
    }
    all
}

/// Whether it does no more than find, apart from what it runs.
pub(super) fn reads_only(args: &[Word]) -> bool {
    args.iter().all(|word| {
        let text = word.text.as_str();
        let writes = ["-delete", "-fprint", "-fls", "-ok", "-files0-from"];
        word.kind != WordKind::Dynamic && !writes.iter().any(|option| text.starts_with(option))
    })
}
