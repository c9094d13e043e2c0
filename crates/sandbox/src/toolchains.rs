//! Toolchains: which parts of a home directory programs are run from, and installations that are
//! found by what lies on `PATH`.
//!
//! The environment outside is a person's own word on where programs are. It is followed to the
//! installation that a program belongs to, and only to one that is known by what lies in it.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use outfitter_text::regular_file::read_regular_text;

use crate::host::Host;

/// A program that needs the whole of the installation around it, how that is known, and its name.
type Installed = (&'static str, fn(&Path) -> bool, &'static str);

const INSTALLED: [Installed; 4] = [
    ("java", is_jdk, "a JDK on PATH"),
    ("javac", is_jdk, "a JDK on PATH"),
    ("go", is_go, "a Go on PATH"),
    ("node", is_node, "a Node on PATH"),
];

/// A readable part of a toolchain, and why it is one.
pub(crate) type Part = (PathBuf, &'static str);

/// The exact parts of toolchains in a home directory, and the installations that are named.
pub(crate) fn parts(host: &Host) -> Vec<Part> {
    let mut found = Vec::new();
    let mut add = |base: Option<PathBuf>, parts: &[&str], why: &'static str| {
        if let Some(base) = base {
            found.extend(parts.iter().map(|part| (base.join(part), why)));
        }
    };
    let home = || host.home.clone();
    add(
        host.cargo_home(),
        &["bin", "registry"],
        "the toolchain of cargo",
    );
    add(
        host.rustup_home(),
        &["toolchains", "settings.toml"],
        "the toolchains of rustup",
    );
    add(host.nvm_dir(), &["versions"], "the Nodes of nvm");
    add(home(), &[".local/bin"], "programs of your own");
    add(home(), &[".local/share/uv"], "what uv has installed");
    add(
        home(),
        &[".local/share/pipx/venvs", ".local/pipx/venvs"],
        "what pipx has installed",
    );
    add(home(), &["go/bin", "sdk"], "the toolchains of Go");
    add(home(), &[".sdkman/candidates"], "what SDKMAN has installed");
    found.extend(host.pyenv_root().map(|path| (path, "the Pythons of pyenv")));
    found.extend(jdk(host).map(|path| (path, "JAVA_HOME")));
    found.extend(go_root(host).map(|path| (path, "GOROOT")));
    found
}

/// The JDK that `JAVA_HOME` names, if it is one.
pub(crate) fn jdk(host: &Host) -> Option<PathBuf> {
    named(host.java_home.as_deref(), is_jdk, host)
}

/// The Go that `GOROOT` names, if it is one.
pub(crate) fn go_root(host: &Host) -> Option<PathBuf> {
    named(host.go_root.as_deref(), is_go, host)
}

fn named(path: Option<&Path>, is_one: fn(&Path) -> bool, host: &Host) -> Option<PathBuf> {
    let path = path.filter(|path| path.is_absolute())?;
    (is_one(path) && !holds_home(path, host)).then(|| path.to_owned())
}

/// The installations that programs on `PATH` belong to, wherever they lie.
pub(crate) fn on_path(host: &Host) -> Vec<Part> {
    let outer = host.path.clone().unwrap_or_default();
    let dirs = outer.as_bytes().split(|byte| *byte == b':');
    let dirs = dirs.map(|dir| Path::new(std::ffi::OsStr::from_bytes(dir)));
    let mut found: Vec<Part> = Vec::new();
    for dir in dirs.filter(|dir| dir.is_absolute()) {
        for (name, is_one, why) in INSTALLED {
            let Ok(program) = dir.join(name).canonicalize() else {
                continue;
            };
            let base = program.parent().and_then(Path::parent);
            let base = base.filter(|base| is_one(base) && !holds_home(base, host));
            if let Some(base) = base
                && found.iter().all(|(known, _)| known != base)
            {
                found.push((base.to_owned(), why));
            }
        }
    }
    found
}

fn is_jdk(base: &Path) -> bool {
    base.join("bin/java").is_file()
        && ["lib/modules", "lib/rt.jar", "jre/lib/rt.jar"]
            .iter()
            .any(|name| base.join(name).is_file())
}

/// The file `VERSION` of a Go is one or two lines.
const MAX_VERSION_BYTES: u64 = 4096;

fn is_go(base: &Path) -> bool {
    base.join("bin/go").is_file()
        && base.join("pkg/tool").is_dir()
        && read_regular_text(&base.join("VERSION"), MAX_VERSION_BYTES)
            .is_ok_and(|text| text.starts_with("go"))
}

fn is_node(base: &Path) -> bool {
    base.join("bin/node").is_file() && base.join("include/node").is_dir()
}

/// A base that is the home directory, or above it, would show everything in it.
pub(crate) fn holds_home(base: &Path, host: &Host) -> bool {
    base.parent().is_none()
        || host
            .home
            .as_ref()
            .and_then(|home| home.canonicalize().ok())
            .is_some_and(|home| home.starts_with(base.canonicalize().as_deref().unwrap_or(base)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    const JDK: &[&str] = &["bin/java", "bin/javac", "lib/modules"];
    const GO: &[&str] = &["bin/go", "pkg/tool/x"];

    fn write(base: &Path, names: &[&str]) {
        for name in names {
            let path = base.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
    }

    fn host(base: &Path, path: &[&str]) -> Host {
        let dirs: Vec<_> = path.iter().map(|dir| base.join(dir)).collect();
        Host {
            home: Some(base.join("home")),
            path: Some(std::env::join_paths(dirs).unwrap()),
            ..Host::default()
        }
    }

    fn found(host: &Host, base: &Path) -> Vec<String> {
        let parts = on_path(host).into_iter();
        let below = |(path, _): Part| path.strip_prefix(base).unwrap().display().to_string();
        parts.map(below).collect()
    }

    #[test]
    fn a_program_on_path_brings_the_installation_that_it_is_part_of() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        write(&base, &["home/notes"]);
        write(&base.join("java-21"), JDK);
        write(&base.join("go1.22"), GO);
        fs::write(base.join("go1.22/VERSION"), "go1.22.1\n").unwrap();
        fs::create_dir(base.join("bin")).unwrap();
        symlink("../go1.22/bin/go", base.join("bin/go")).unwrap();
        let both = host(&base, &["bin", "java-21/bin"]);
        assert_eq!(found(&both, &base), ["go1.22", "java-21"]);
        // Names alone are none.
        write(&base.join("fake"), &["bin/java", "bin/go", "bin/node"]);
        assert_eq!(
            found(&host(&base, &["fake/bin"]), &base),
            Vec::<String>::new()
        );
    }

    #[test]
    fn an_installation_that_is_the_home_directory_opens_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        write(&base.join("home"), JDK);
        let mut host = host(&base, &["home/bin"]);
        assert_eq!(on_path(&host), []);
        host.java_home = Some(base.join("home"));
        assert_eq!(jdk(&host), None);
    }

    #[test]
    fn a_name_of_an_installation_is_believed_as_far_as_it_is_one() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        write(&base.join("jdk"), JDK);
        let mut host = host(&base, &[]);
        host.java_home = Some(base.join("jdk"));
        host.go_root = Some(base.join("jdk"));
        assert_eq!(jdk(&host), Some(base.join("jdk")));
        assert_eq!(go_root(&host), None);
        host.java_home = Some("jdk".into());
        assert_eq!(jdk(&host), None, "relative to what?");
    }
}
