//! The pages.

use std::path::{Path, PathBuf};

/// A page of the documentation.
pub(crate) struct Page {
    /// Its name from the root of the repository.
    pub(crate) name: String,
    pub(crate) text: String,
}

pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// `README.md` and everything below `docs`.
pub(crate) fn pages() -> Vec<Page> {
    let mut paths = vec![root().join("README.md")];
    below(&root().join("docs"), &mut paths);
    paths.sort();
    let page = |path: PathBuf| Page {
        name: path.strip_prefix(root()).unwrap().display().to_string(),
        text: std::fs::read_to_string(path).unwrap(),
    };
    paths.into_iter().map(page).collect()
}

pub(crate) fn page(name: &str) -> Page {
    pages().into_iter().find(|page| page.name == name).unwrap()
}

fn below(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            below(&path, found);
        } else if path.extension().is_some_and(|end| end == "md") {
            found.push(path);
        }
    }
}
