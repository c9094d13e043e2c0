//! The fenced blocks of a page.

/// A fenced block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Block {
    /// The line of its fence, from 1.
    pub(crate) line: usize,
    /// What stands behind the fence.
    pub(crate) info: String,
    /// What is in it, each line with its line feed.
    pub(crate) text: String,
}

impl Block {
    pub(crate) fn language(&self) -> &str {
        let words = self.info.split([' ', ',']);
        words.into_iter().next().unwrap_or_default()
    }

    /// The file that the block is, where its fence names one.
    pub(crate) fn file(&self) -> Option<&str> {
        let name = self.info.split_whitespace().nth(1)?;
        name.contains('.').then_some(name)
    }

    pub(crate) fn has(&self, word: &str) -> bool {
        self.info.split_whitespace().any(|one| one == word)
    }

    /// Why nobody runs it here, where it says so itself.
    pub(crate) fn not_run(&self) -> Option<&str> {
        let first = self.text.lines().next()?;
        first.strip_prefix("# not run by the tests: ")
    }
}

/// The fenced blocks, and the lines outside of them with their numbers.
pub(crate) fn split(page: &str) -> (Vec<Block>, Vec<(usize, &str)>) {
    let mut blocks = Vec::new();
    let mut outside = Vec::new();
    let mut open: Option<Block> = None;
    for (at, line) in page.lines().enumerate() {
        let fence = line.trim_start().strip_prefix("```");
        match (&mut open, fence) {
            (None, Some(info)) => {
                open = Some(Block {
                    line: at + 1,
                    info: info.trim().to_owned(),
                    text: String::new(),
                });
            }
            (None, None) => outside.push((at + 1, line)),
            (Some(_), Some("")) => blocks.extend(open.take()),
            (Some(block), _) => {
                block.text.push_str(line);
                block.text.push('\n');
            }
        }
    }
    assert!(open.is_none(), "a block is not closed: {open:?}");
    (blocks, outside)
}

#[test]
fn blocks_are_found_with_their_lines() {
    let (blocks, outside) = split("a\n```yaml x.yaml\nk: v\n```\n\n```console\n$ true\n```\nb\n");
    let found: Vec<_> = blocks
        .iter()
        .map(|block| (block.line, block.language(), block.file(), &*block.text))
        .collect();
    assert_eq!(
        found,
        [
            (2, "yaml", Some("x.yaml"), "k: v\n"),
            (6, "console", None, "$ true\n"),
        ]
    );
    assert_eq!(outside, [(1, "a"), (5, ""), (9, "b")]);
}
