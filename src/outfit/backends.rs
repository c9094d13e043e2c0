//! What each backend of the sandbox can do on this machine, and what the one that is asked for opens:
//! for `doctor` and `config explain`.

use outfitter_core::{Level, SandboxError, SessionId, chain};
use outfitter_process::{LandlockSupport, Support, limits_held_by};
use outfitter_sandbox::{Effective, Listed, Outline, bwrap};

use super::sandbox::{host, limits, reach};
use super::{BuildError, Outfitter};
use crate::config::explain::Note;
use crate::config::sections::Backend;

/// A backend, as this machine has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackendFound {
    /// Which.
    pub backend: Backend,
    /// The level it reaches; none where it does not work.
    pub level: Option<Level>,
    /// What there is, as one fragment.
    pub finding: String,
    /// What is missing for more, and how to get it, where that is known.
    pub hint: Option<String>,
}

impl Outfitter {
    /// What each backend reaches here, found out by doing it.
    ///
    /// # Errors
    /// [`BuildError`] when nothing can be found out, because there is no supervisor that works.
    pub async fn backends(&self) -> Result<Vec<BackendFound>, BuildError> {
        let remote = self.remote_found().await;
        let Some(supervisor) = self.supervisor.clone() else {
            return Ok(vec![remote]);
        };
        let support = self.support(&supervisor).await?;
        let held = limits_held_by(&supervisor, support.level).await;
        let local = local(&support, &held.unwrap_or_default());
        let found = bwrap::try_out(&host(&self.environment), &supervisor, &self.data_dir).await;
        let passthrough = BackendFound {
            backend: Backend::Passthrough,
            level: Some(Level::None),
            finding: "level none: nothing holds a command back; only where it is asked for, and \
                      each command that does more than read needs an approval"
                .to_owned(),
            hint: None,
        };
        Ok(vec![local, bubblewrap(found), passthrough, remote])
    }

    /// How much file tools may fill and what counts, where it is bounded.
    #[must_use]
    pub fn quota_in_words(&self) -> Option<String> {
        let most = self.config().files.quota_mb?;
        Some(format!(
            "file tools may fill {most} MiB ([files] quota_mb): under `outfitter serve` all that is \
             in a session's workspace counts, elsewhere what they have added since the program \
             began, each time anew; no command is held to it"
        ))
    }

    /// What the commands of a session in the current directory would reach, and why, list by list.
    /// Nothing is made.
    ///
    /// # Errors
    /// [`BuildError`] as [`backends`](Self::backends) has them, and for hosts that are none.
    pub async fn explain_sandbox(&self) -> Result<Vec<Note>, BuildError> {
        let config = self.config();
        let backend = config.sandbox.backend;
        let note = |name: &str, about: &str, lines: Vec<String>| Note {
            name: format!("sandbox_{name}"),
            about: about.to_owned(),
            lines,
        };
        let level = match (backend, &self.supervisor) {
            (Backend::Ssh, _) => {
                "ssh, level none: commands may do what the account there may".to_owned()
            }
            (_, None) => "there is no program that supervises commands, so none can be run".into(),
            (Backend::Passthrough, _) => {
                "passthrough, level none: commands may do whatever you may".to_owned()
            }
            (Backend::Local, Some(supervisor)) => {
                let support = self.support(supervisor).await?;
                let mut text = format!("local, level {}", support.level);
                for reason in &support.reasons {
                    text.push_str("; ");
                    text.push_str(reason);
                }
                text
            }
            (Backend::Bwrap, Some(_)) => {
                "bwrap, level full where it works; doctor tries it out".to_owned()
            }
        };
        let mut notes = vec![note(
            "level",
            "What runs commands here, and how well it holds them.",
            vec![
                level,
                match backend {
                    Backend::Local | Backend::Bwrap => {
                        format!("required: {}", required(config.sandbox.require))
                    }
                    Backend::Ssh | Backend::Passthrough => {
                        "nothing is required of it; each command that does more than read needs an \
                         approval"
                            .to_owned()
                    }
                },
            ],
        )];
        if let Some(quota) = self.quota_in_words() {
            notes.push(note("quota", "What file tools may fill.", vec![quota]));
        }
        if backend == Backend::Ssh {
            let built = "HOME and PATH of the account, LANG=C.UTF-8, GIT_TERMINAL_PROMPT=0";
            let passed = config.sandbox.env.iter();
            let passed = passed.map(|name| format!("{name} ([sandbox] env)"));
            let environment = std::iter::once(built.to_owned()).chain(passed);
            notes.push(note(
                "environment",
                "The variables that commands have there.",
                environment.collect(),
            ));
            notes.push(note(
                "limits",
                "The most that a command may use.",
                vec!["what the account there may; [shell] timeout_seconds ends it".to_owned()],
            ));
            return Ok(notes);
        }
        let (scope, workspace) = (self.local_scope(), self.environment.current_dir());
        let session = SessionId::mint(&*self.clock);
        let (host, passed) = (host(&self.environment), self.passed());
        let (session_dir, protected) = (
            self.session_dir(&scope, &session),
            self.protected(&scope, &session, workspace),
        );
        let reach = reach(&config.sandbox.network, &self.own)?;
        let outline = Outline {
            host: &host,
            workspace,
            session_dir: &session_dir,
            read: &config.sandbox.read,
            write: &config.sandbox.write,
            data_dir: &self.data_dir,
            protected: &protected,
            passed: &passed,
            reach: &reach,
            limits: limits(&config.sandbox),
        };
        let effective = if backend == Backend::Passthrough {
            Effective::unheld(&outline)
        } else {
            Effective::of(&outline)
        };
        // An id that is never used again would only be looked for.
        let place = |line: String| line.replace(session.as_str(), "SESSION");
        let lines = |list: &[Listed]| list.iter().map(|one| place(one.to_string())).collect();
        let lists: [(&str, &str, Vec<String>); 8] = [
            (
                "read",
                "What commands read beside what they write.",
                lines(&effective.read),
            ),
            ("write", "What commands write.", lines(&effective.write)),
            (
                "fixed",
                "What in it they read and do not change.",
                lines(&effective.fixed),
            ),
            (
                "hidden",
                "What in it they do not even read.",
                lines(&effective.hidden),
            ),
            (
                "network",
                "What commands reach of the network.",
                lines(&effective.network),
            ),
            (
                "environment",
                "The variables that commands have.",
                lines(&effective.environment),
            ),
            (
                "limits",
                "The most that a command may use.",
                lines(&effective.limits),
            ),
            (
                "left_out",
                "What was asked for and is not opened.",
                effective.left_out,
            ),
        ];
        let lists = lists.into_iter().filter(|(_, _, lines)| !lines.is_empty());
        notes.extend(lists.map(|(name, about, lines)| note(name, about, lines)));
        Ok(notes)
    }
}

fn required(require: crate::config::sections::Require) -> &'static str {
    use crate::config::sections::Require;
    match require {
        Require::None => "none",
        Require::Partial => "partial",
        Require::Full => "full",
    }
}

fn local(support: &Support, held: &[String]) -> BackendFound {
    let landlock = LandlockSupport::of(support.landlock_abi);
    let level = core_level(support.level);
    let mut made_of = match level {
        Level::Full => vec!["namespaces"],
        Level::Partial => Vec::new(),
        Level::None => {
            return BackendFound {
                backend: Backend::Local,
                level: None,
                finding: format!("cannot hold a command here: {}", support.reasons.join("; ")),
                hint: Some(
                    "Linux 6.2 and later can, where Landlock is in the list of `lsm=`".to_owned(),
                ),
            };
        }
    };
    made_of.push("a filter of system calls");
    let mut finding = format!(
        "level {}: {}, Landlock ABI {} ({} of {} rights)",
        level.as_str(),
        made_of.join(", "),
        landlock.abi,
        landlock.rights,
        landlock.asked
    );
    for held in held {
        finding.push_str("; ");
        finding.push_str(held);
    }
    let missing: Vec<String> = support
        .reasons
        .iter()
        .cloned()
        .chain(landlock.open.into_iter().filter(|_| level == Level::Full))
        .collect();
    let hint = match level {
        Level::Full if missing.is_empty() => None,
        Level::Full => Some(format!(
            "a newer kernel holds back more: {}",
            missing.join("; ")
        )),
        Level::Partial | Level::None => Some(format!(
            "for level full: {}; allow user namespaces, or run it as root outside of a container",
            missing.join("; ")
        )),
    };
    BackendFound {
        backend: Backend::Local,
        level: Some(level),
        finding,
        hint,
    }
}

fn bubblewrap(found: Result<String, SandboxError>) -> BackendFound {
    let backend = Backend::Bwrap;
    match found {
        Ok(version) => BackendFound {
            backend,
            level: Some(Level::Full),
            finding: format!(
                "level full: {version}, namespaces, a filter of system calls; no Landlock beside \
                 its mounts"
            ),
            hint: None,
        },
        Err(SandboxError::Unavailable { reason, hint }) => BackendFound {
            backend,
            level: None,
            finding: reason,
            hint,
        },
        Err(error) => BackendFound {
            backend,
            level: None,
            finding: chain(&error),
            hint: None,
        },
    }
}

fn core_level(level: outfitter_process::Level) -> Level {
    match level {
        outfitter_process::Level::None => Level::None,
        outfitter_process::Level::Partial => Level::Partial,
        outfitter_process::Level::Full => Level::Full,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case::all(outfitter_process::Level::Full, 10, &[], Some(Level::Full), false)]
    #[case::older_kernel(outfitter_process::Level::Full, 7, &[], Some(Level::Full), true)]
    #[case::container(outfitter_process::Level::Partial, 7, &["full: failed to make namespaces: no"], Some(Level::Partial), true)]
    #[case::nothing(outfitter_process::Level::None, 0, &["this kernel has no Landlock"], None, true)]
    fn a_level_says_what_it_is_made_of_and_what_is_missing(
        #[case] level: outfitter_process::Level,
        #[case] landlock_abi: u32,
        #[case] reasons: &[&str],
        #[case] expected: Option<Level>,
        #[case] hinted: bool,
    ) {
        let support = Support {
            level,
            landlock_abi,
            reasons: reasons.iter().map(ToString::to_string).collect(),
        };
        let held = ["memory by a control group (version 2)".to_owned()];
        let found = local(&support, &held);
        assert_eq!(
            (found.level, found.hint.is_some()),
            (expected, hinted),
            "{found:?}"
        );
        let said = format!("{}{}", found.finding, found.hint.unwrap_or_default());
        assert!(reasons.iter().all(|reason| said.contains(reason)), "{said}");
        if expected.is_some() {
            assert!(
                said.contains(&held[0]) && said.contains("of 23 rights"),
                "{said}"
            );
        }
    }
}
