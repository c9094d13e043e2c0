//! The workspace, as the tests read it.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use cargo_metadata::{Metadata, MetadataCommand, Package};

pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The workspace and everything it is built from on this platform.
pub(crate) static METADATA: LazyLock<Metadata> = LazyLock::new(|| {
    let env = if cfg!(target_env = "musl") {
        "musl"
    } else {
        "gnu"
    };
    let platform = format!("{}-unknown-linux-{env}", std::env::consts::ARCH);
    MetadataCommand::new()
        .manifest_path(root().join("Cargo.toml"))
        .other_options(["--locked", "--filter-platform", &platform].map(str::to_owned))
        .exec()
        .unwrap_or_else(|e| panic!("cargo metadata: {e}"))
});

/// The members of the workspace.
pub(crate) fn members() -> Vec<&'static Package> {
    METADATA.workspace_packages()
}

pub(crate) fn folder(package: &Package) -> &Path {
    package.manifest_path.parent().unwrap().as_std_path()
}

pub(crate) fn read(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

pub(crate) fn toml(path: impl AsRef<Path>) -> toml::Table {
    let path = path.as_ref();
    read(path)
        .parse()
        .unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Every file that belongs to the repository: what is built and what a run leaves is not looked at.
pub(crate) fn files() -> Vec<PathBuf> {
    let mut found = Vec::new();
    walk(root(), &mut found);
    found.sort();
    found
}

/// Every Rust source of the repository.
pub(crate) fn rust_sources() -> Vec<PathBuf> {
    let mut found = files();
    found.retain(|path| path.extension().is_some_and(|kind| kind == "rs"));
    found
}

fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name();
        let kind = entry.file_type().unwrap();
        if kind.is_dir() && !["target", ".git", ".outfitter"].contains(&&*name.to_string_lossy()) {
            walk(&entry.path(), found);
        } else if kind.is_file() {
            found.push(entry.path());
        }
    }
}

/// The path as a reader of the repository writes it.
pub(crate) fn short(path: &Path) -> String {
    path.strip_prefix(root())
        .unwrap_or(path)
        .display()
        .to_string()
}
