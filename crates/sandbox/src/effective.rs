//! What the commands of a session reach and may use, and why each is so: for people, before anything
//! runs. Nothing is opened or made.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use outfitter_process::Limits;
use rustix::process::Resource;

use crate::environment::{Visible, build};
use crate::host::Host;
use crate::lists::{Asked, Lists};
use crate::network::Reach;
use crate::protected::Protected;
use crate::scratch::Layout;

/// What decides it.
pub struct Outline<'a> {
    /// The surrounding environment.
    pub host: &'a Host,
    /// Where commands work.
    pub workspace: &'a Path,
    /// The session's own directory below the data directory; it need not be there.
    pub session_dir: &'a Path,
    /// More that may be read.
    pub read: &'a [PathBuf],
    /// More that may be written.
    pub write: &'a [PathBuf],
    /// Our own data directory.
    pub data_dir: &'a Path,
    /// What is never reached.
    pub protected: &'a Protected,
    /// Variables that are passed on.
    pub passed: &'a [(OsString, OsString)],
    /// The network.
    pub reach: &'a Reach,
    /// What may be used.
    pub limits: Limits,
}

/// The lists.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Effective {
    /// Trees and files that are read.
    pub read: Vec<Listed>,
    /// Trees that are written.
    pub write: Vec<Listed>,
    /// What in them is read and not written.
    pub fixed: Vec<Listed>,
    /// What in them is neither.
    pub hidden: Vec<Listed>,
    /// What is reached of the network.
    pub network: Vec<Listed>,
    /// The variables, by name.
    pub environment: Vec<Listed>,
    /// The most that may be used.
    pub limits: Vec<Listed>,
    /// What was asked for and left out, one sentence each.
    pub left_out: Vec<String>,
}

/// One line of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// What.
    pub what: String,
    /// Why, in some words.
    pub why: String,
}

impl fmt::Display for Listed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.what, self.why)
    }
}

fn listed(what: impl Into<String>, why: impl Into<String>) -> Listed {
    Listed {
        what: what.into(),
        why: why.into(),
    }
}

fn path(path: &Path, why: impl Into<String>) -> Listed {
    listed(path.display().to_string(), why)
}

impl Effective {
    /// The lists of a session that the kernel holds, or bubblewrap.
    #[must_use]
    pub fn of(outline: &Outline<'_>) -> Self {
        let Outline {
            host,
            workspace,
            protected,
            ..
        } = outline;
        let scratch = Layout::below(outline.session_dir);
        let Lists {
            readable,
            write,
            private: _,
            variables,
            left_out,
        } = Lists::of(&Asked {
            host,
            workspace,
            scratch: Layout(&scratch),
            read: outline.read,
            write: outline.write,
            data_dir: outline.data_dir,
            passed: outline.passed,
            reach: outline.reach,
        });
        let mut roots: Vec<PathBuf> = write.iter().map(|(path, _)| path.clone()).collect();
        let mut fixed = protected.existing_fixed(&roots);
        fixed.retain(|path| roots.iter().any(|root| path.starts_with(root)));
        roots.extend(readable.read.iter().cloned());
        let shown = |path: &Path| {
            let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
            let holds = |root: &PathBuf| path.starts_with(root) || real.starts_with(root);
            roots.iter().any(holds)
        };
        let mut hidden: Vec<Listed> = protected
            .hidden_where(&roots)
            .iter()
            .chain(&readable.hide)
            .filter(|path| path.exists() && shown(path))
            .map(|hidden| {
                let why = protected.covers(hidden);
                path(hidden, why.unwrap_or("it holds credentials"))
            })
            .collect();
        if shown(outline.data_dir) {
            let why = "our own data, but for this session's scratch folder";
            hidden.push(path(outline.data_dir, why));
        }
        let blank = readable.blank.iter();
        hidden.extend(blank.map(|blank| path(blank, "it may hold a token, and reads as empty")));
        Self {
            read: readable
                .read
                .iter()
                .map(|root| path(root, readable.why.get(root).copied().unwrap_or_default()))
                .collect(),
            write: write.iter().map(|(root, why)| path(root, *why)).collect(),
            fixed: fixed
                .iter()
                .map(|fixed| {
                    let why = protected.fixes(fixed);
                    path(
                        fixed,
                        why.unwrap_or("it says what runs outside the sandbox"),
                    )
                })
                .collect(),
            hidden,
            network: network_lines(outline.reach),
            environment: variables
                .iter()
                .map(|(name, value)| variable(outline, name, value))
                .collect(),
            limits: limit_lines(outline.limits),
            left_out,
        }
    }

    /// The lists of a session that nothing holds: its environment is built and its limits hold all
    /// the same.
    #[must_use]
    pub fn unheld(outline: &Outline<'_>) -> Self {
        let scratch = Layout::below(outline.session_dir);
        let built = build(
            outline.host,
            Layout(&scratch),
            &Visible::Everything,
            outline.passed,
        );
        Self {
            environment: built
                .variables
                .iter()
                .map(|(name, value)| variable(outline, name, value))
                .collect(),
            limits: limit_lines(outline.limits),
            left_out: built.left_out,
            ..Self::default()
        }
    }
}

/// What a limit really is: no program gives what it comes with less of itself.
fn given(most: u64, of: Resource, source: &str) -> (u64, String) {
    match rustix::process::getrlimit(of).maximum {
        Some(hard) if hard < most => {
            let source = format!("{source} of {most}, but this program has no more itself");
            (hard, source)
        }
        Some(_) | None => (most, source.to_owned()),
    }
}

fn variable(outline: &Outline<'_>, name: &OsString, value: &OsString) -> Listed {
    let text = name.to_string_lossy();
    if outline.passed.iter().any(|(passed, _)| passed == name) {
        return listed(text, "[sandbox] env");
    }
    let why = match &*text {
        "PATH" => format!(
            "what of yours can be read inside: {}",
            value.to_string_lossy()
        ),
        "HOME" | "TMPDIR" | "CARGO_HOME" => "in the scratch folder".to_owned(),
        "LANG" | "TZ" => "as outside, or a default".to_owned(),
        "GIT_TERMINAL_PROMPT" => "nobody can answer git".to_owned(),
        "RUSTUP_HOME" | "PYENV_ROOT" | "JAVA_HOME" | "GOROOT" => {
            "a toolchain that was found".to_owned()
        }
        _ => "where the way to the network is".to_owned(),
    };
    listed(text, why)
}

fn network_lines(reach: &Reach) -> Vec<Listed> {
    const KEY: &str = "[sandbox] network";
    match reach {
        Reach::Nothing => vec![listed("nothing", KEY)],
        Reach::Everything => vec![listed("everything", KEY)],
        Reach::Hosts(hosts) => hosts.names().map(|host| listed(host, KEY)).collect(),
    }
}

fn limit_lines(limits: Limits) -> Vec<Listed> {
    const MIB: u64 = 1024 * 1024;
    let Limits {
        open_files,
        processes,
        file_bytes,
        memory_bytes,
        cpu_seconds,
    } = limits;
    let memory = match memory_bytes {
        Some(most) => format!("{} MiB of memory for all of a command", most / MIB),
        None => "memory without a limit".to_owned(),
    };
    let time = match cpu_seconds {
        Some(most) => format!("{most} seconds of the processor for each process"),
        None => "time of the processor without a limit".to_owned(),
    };
    let (processes, of_processes) = given(processes, Resource::Nproc, "[sandbox] processes");
    let (open_files, of_files) = given(open_files, Resource::Nofile, "a constant");
    let (file_bytes, of_bytes) = given(file_bytes, Resource::Fsize, "a constant");
    vec![
        listed(memory, "[sandbox] memory_mb"),
        listed(time, "[sandbox] cpu_seconds"),
        listed(format!("{processes} processes and threads"), of_processes),
        listed(format!("{open_files} open files"), of_files),
        listed(format!("{} MiB in one file", file_bytes / MIB), of_bytes),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::AllowedHosts;
    use std::fs;
    use std::sync::Arc;

    #[test]
    fn every_line_says_why_and_secrets_are_not_shown() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        let (home, workspace) = (base.join("home"), base.join("home/project"));
        for name in [
            "home/.ssh",
            "home/data",
            "home/project",
            "more",
            "home/.cargo/bin",
            "home/.docker",
            "home/.kube/cache",
        ] {
            fs::create_dir_all(base.join(name)).unwrap();
        }
        fs::write(workspace.join("outfitter.toml"), "").unwrap();
        fs::write(home.join(".kube/config"), "").unwrap();
        let host = Host {
            home: Some(home.clone()),
            path: Some("/usr/bin".into()),
            ..Host::default()
        };
        let data = home.join("data");
        let hosts = AllowedHosts::parse(["example.com:8443", "*.example.org"]).unwrap();
        let effective = Effective::of(&Outline {
            host: &host,
            workspace: &workspace,
            session_dir: &data.join("sessions/s"),
            read: &[home.clone(), home.join(".kube/config")],
            write: &[base.join("more"), data.join("x"), base.join("none")],
            data_dir: &data,
            protected: &Protected::of_home(&home),
            passed: &[("TOKEN".into(), "sentinel".into())],
            reach: &Reach::Hosts(Arc::new(hosts)),
            limits: Limits::DEFAULT,
        });
        let lines = |list: &[Listed]| -> Vec<String> {
            let lines = list.iter().map(ToString::to_string);
            lines
                .map(|line| line.replace(&*base.to_string_lossy(), "BASE"))
                .collect()
        };
        let read = lines(&effective.read);
        assert!(read.contains(&"/usr (programs and libraries)".to_owned()));
        assert!(read.contains(&"BASE/home/.cargo/bin (the toolchain of cargo)".to_owned()));
        assert!(read.contains(&"BASE/home ([sandbox] read)".to_owned()));
        assert_eq!(
            lines(&effective.write),
            [
                "BASE/home/project (the workspace)",
                "BASE/home/data/sessions/s/scratch (the scratch folder of the session)",
                "BASE/more ([sandbox] write)",
            ]
        );
        let hidden = lines(&effective.hidden);
        let names = |line: &String| line.split(" (").next().unwrap_or_default().to_owned();
        let mut credentials: Vec<String> = hidden
            .iter()
            .filter(|line| line.contains("(it holds credentials"))
            .map(names)
            .collect();
        credentials.sort();
        // Where one is opened by its own name, those beside it are not.
        assert_eq!(
            credentials,
            [
                "BASE/home/.docker",
                "BASE/home/.kube/cache",
                "BASE/home/.ssh"
            ]
        );
        assert!(
            hidden
                .iter()
                .any(|line| line.starts_with("BASE/home/data (our own data"))
        );
        assert!(lines(&effective.fixed)[0].starts_with("BASE/home/project/outfitter.toml ("));
        assert_eq!(
            lines(&effective.network),
            [
                "example.com:8443 ([sandbox] network)",
                "*.example.org ([sandbox] network)",
            ]
        );
        let environment = lines(&effective.environment);
        assert!(environment.contains(&"TOKEN ([sandbox] env)".to_owned()));
        assert!(
            environment.contains(&"PATH (what of yours can be read inside: /usr/bin)".to_owned())
        );
        assert!(!format!("{effective:?}").contains("sentinel"));
        assert!(!data.join("sessions").exists(), "something was made");
    }

    #[test]
    fn what_lies_in_our_own_data_is_not_listed_as_readable_and_is_said() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        let (workspace, data) = (base.join("project"), base.join("data"));
        let inside = data.join("other");
        for path in [&workspace, &inside] {
            fs::create_dir_all(path).unwrap();
        }
        let effective = Effective::of(&Outline {
            host: &Host::default(),
            workspace: &workspace,
            session_dir: &data.join("sessions/s"),
            read: std::slice::from_ref(&inside),
            write: &[inside.clone(), base.join("none")],
            data_dir: &data,
            protected: &Protected::of_home(&base.join("home")),
            passed: &[],
            reach: &Reach::Nothing,
            limits: Limits::DEFAULT,
        });
        let what = inside.display().to_string();
        for list in [&effective.read, &effective.write] {
            assert!(list.iter().all(|line| line.what != what), "{list:?}");
        }
        let ours = format!("{what} lies in our own data, which no command sees");
        let none = base.join("none").display().to_string();
        let none = format!("{none} is not there and cannot be written");
        assert_eq!(effective.left_out, [ours.clone(), ours, none]);
    }
}
