//! What no tool and no command may reach, wherever it lies: credentials and histories.
//!
//! A rule is a path. It is compared folded (compatibility forms of Unicode composed, case ignored,
//! invisible characters dropped) and lexically cleaned, so that one rule meets every spelling. What
//! exists is also known by its identity on disk, so that a hard link or a second mount of it is met
//! too.

mod rule;
mod spelling;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(crate) use crate::identities::Identities;
use crate::secrets::{BY_NAME_ONLY, CREDENTIALS_DEPTH, still_hidden};
use crate::secrets::{HOME_CREDENTIALS, SYSTEM_CREDENTIALS};
use crate::startup::{CONFIGURATION, HOME_STARTUP, WHY_CONFIGURATION, WHY_STARTUP};
use rule::Rule;
use spelling::clean_parts;
pub(crate) use spelling::{by_both_names, fold};

/// Credentials and histories beneath a home directory. A directory covers all that is in it; a
/// final `*` covers every name that begins so.
pub const HOME_SECRETS: &[&str] = &[
    ".ssh",
    ".aws",
    ".netrc",
    ".npmrc",
    ".cargo/credentials*",
    ".git-credentials",
    ".config/git/credentials",
    ".history",
    ".sh_history",
    ".ash_history",
    ".ksh_history",
    ".bash_history",
    ".zsh_history",
    ".zhistory",
    ".histfile",
    ".local/share/fish/fish_history",
    ".python_history",
    ".node_repl_history",
    ".psql_history",
    ".mysql_history",
    ".sqlite_history",
    ".rediscli_history",
];

/// Secrets of the machine.
pub const SYSTEM_SECRETS: &[&str] = &["/etc/shadow*", "/etc/gshadow*"];

/// Never files to a file tool: behind these names lie the memory and environment of processes,
/// ours among them.
pub const PROCESS_VIEWS: &[&str] = &["/proc"];

pub(crate) const SECRET: &str =
    "it holds credentials or a history, which nobody reads or writes here";
const PROCESS: &str = "it shows processes, not files";
const DENIED: &str = "a rule of the operator denies it";
const OURS: &str = "it is where all sessions are kept, which nobody reads or writes here";

/// How deep our own data is looked into for identities: the files of the store lie directly in it.
/// Below are the sessions of everybody, too many to look up for each call; they are known by path.
const OWN_DATA_DEPTH: u32 = 0;

/// The list of what is protected: one value, used by the file tools and by the sandbox of commands.
#[derive(Debug, Clone)]
pub struct Protected {
    home: Option<PathBuf>,
    // Shared with what was cloned from it: the same few hundred hold for every session.
    rules: Vec<Arc<Rule>>,
    names: Vec<String>,
    /// What may be read and not written.
    fixed: Vec<Arc<Rule>>,
}

impl Protected {
    /// The secrets of the machine alone.
    #[must_use]
    pub fn of_system() -> Self {
        let mut protected = Self {
            home: None,
            rules: Vec::new(),
            names: Vec::new(),
            fixed: Vec::new(),
        };
        protected.add(Path::new("/"), SYSTEM_SECRETS, SECRET);
        protected.add_credentials(Path::new("/"), SYSTEM_CREDENTIALS);
        protected.add(Path::new("/"), PROCESS_VIEWS, PROCESS);
        protected
    }

    /// The secrets of the machine and of this home directory, by its name and by where it really
    /// is. `~` in a path means the home given first.
    #[must_use]
    pub fn of_home(home: &Path) -> Self {
        Self::of_system().and_home(home)
    }

    /// The secrets of another machine and of this home directory there. Nothing is looked up here.
    pub(crate) fn of_remote_home(home: &Path) -> Self {
        let mut protected = Self::of_system();
        protected.add(home, HOME_SECRETS, SECRET);
        protected.add_credentials(home, HOME_CREDENTIALS);
        protected.fix(home);
        protected.home = Some(home.to_owned());
        protected
    }

    /// Another home directory too.
    #[must_use]
    pub fn and_home(mut self, home: &Path) -> Self {
        self.add(home, HOME_SECRETS, SECRET);
        self.add_credentials(home, HOME_CREDENTIALS);
        self.fix(home);
        if let Ok(real) = home.canonicalize()
            && real != home
        {
            self.add(&real, HOME_SECRETS, SECRET);
            self.add_credentials(&real, HOME_CREDENTIALS);
            self.fix(&real);
        }
        self.home.get_or_insert_with(|| home.to_owned());
        self
    }

    /// An absolute path too, and all beneath it; a final `*` covers every name that begins so.
    #[must_use]
    pub fn and_path(mut self, path: &Path) -> Self {
        self.rules
            .push(Arc::new(Rule::new(path.to_owned(), DENIED)));
        if let Ok(real) = path.canonicalize()
            && real != path
        {
            self.rules.push(Arc::new(Rule::new(real, DENIED)));
        }
        self
    }

    /// Our own data directory too, but for what in it is this session's own. Unlike
    /// [`and_path`](Self::and_path) it does not look into the whole tree for identities.
    #[must_use]
    pub fn and_own_data(mut self, directory: &Path, own: &[&Path]) -> Self {
        let except: Vec<(PathBuf, Vec<String>)> = own
            .iter()
            .flat_map(|path| by_both_names(path))
            .map(|path| {
                let parts = clean_parts(&fold(&path.to_string_lossy()));
                (path, parts)
            })
            .collect();
        let rules = by_both_names(directory).into_iter().map(|path| Rule {
            except: except.clone(),
            depth: OWN_DATA_DEPTH,
            ..Rule::new(path, OURS)
        });
        self.rules.extend(rules.map(Arc::new));
        self
    }

    /// Every file and directory of this name too.
    #[must_use]
    pub fn and_name(mut self, name: &str) -> Self {
        self.names.push(fold(name));
        self
    }

    /// The home directory that `~` means.
    #[must_use]
    pub fn home(&self) -> Option<&Path> {
        self.home.as_deref()
    }

    /// The credentials and denied paths that exist now, for a sandbox that hides them. Views of
    /// processes are not among them: a command has its own.
    #[must_use]
    pub fn existing(&self) -> Vec<PathBuf> {
        let mut found: Vec<PathBuf> = self
            .rules
            .iter()
            .filter(|rule| rule.why != PROCESS)
            .flat_map(|rule| rule.existing())
            .collect();
        found.sort();
        found.dedup();
        found
    }

    /// The same where these are opened: credentials that are opened by their own name are left out.
    pub(crate) fn hidden_where(&self, opened: &[PathBuf]) -> Vec<PathBuf> {
        let by_name = |path: &Path| self.covers(path) == Some(BY_NAME_ONLY);
        let opened: Vec<PathBuf> = opened.iter().flat_map(|path| by_both_names(path)).collect();
        let hidden = self.existing().into_iter();
        let hidden = hidden.flat_map(|path| match by_name(&path) {
            true => still_hidden(&path, &opened),
            false => vec![path],
        });
        hidden.collect()
    }

    /// Why this absolute path is protected, if it is, whatever its spelling.
    #[must_use]
    pub fn covers(&self, path: &Path) -> Option<&'static str> {
        let parts = clean_parts(&fold(&path.to_string_lossy()));
        if let Some(rule) = self.rules.iter().find(|rule| rule.covers(&parts)) {
            return Some(rule.why);
        }
        let named = parts.iter().any(|part| self.names.contains(part));
        named.then_some(DENIED)
    }

    /// Why this absolute path may not be written although it may be read, if so. What is
    /// configuration by its name is not among these: it is told by the path beneath a root.
    pub(crate) fn fixes(&self, path: &Path) -> Option<&'static str> {
        let parts = clean_parts(&fold(&path.to_string_lossy()));
        let rule = self.fixed.iter().find(|rule| rule.covers(&parts))?;
        Some(rule.why)
    }

    /// The same, and of what is configuration by its name directly in one of these roots.
    pub(crate) fn fixes_in(&self, path: &Path, roots: &[PathBuf]) -> Option<&'static str> {
        let mut beneath = roots.iter().filter_map(|root| path.strip_prefix(root).ok());
        let is_configuration =
            |beneath: &Path| CONFIGURATION.iter().any(|name| beneath.starts_with(name));
        self.fixes(path)
            .or_else(|| beneath.any(is_configuration).then_some(WHY_CONFIGURATION))
    }

    /// What may be read and not written and exists now, in the home directories and directly in
    /// these roots, for a sandbox that keeps it so.
    pub(crate) fn existing_fixed(&self, roots: &[PathBuf]) -> Vec<PathBuf> {
        let configuration = roots
            .iter()
            .flat_map(|root| CONFIGURATION.iter().map(|name| root.join(name)))
            .filter(|path| path.symlink_metadata().is_ok());
        let startup = self.fixed.iter().flat_map(|rule| rule.existing());
        let mut found: Vec<PathBuf> = configuration.chain(startup).collect();
        found.sort();
        found.dedup();
        found
    }

    /// The same by identity, with why.
    pub(crate) fn fixed_identities(&self, root: &Path) -> Identities {
        let mut known = Identities::of(WHY_CONFIGURATION);
        for path in self.existing_fixed(&[root.to_owned()]) {
            known.add(&path);
        }
        known
    }

    /// Whether anything beneath this directory could be protected by its path.
    pub(crate) fn reaches_below(&self, directory: &Path) -> bool {
        if !self.names.is_empty() {
            return true;
        }
        let parts = clean_parts(&fold(&directory.to_string_lossy()));
        self.rules
            .iter()
            .any(|rule| rule.parts.len() > parts.len() && rule.parts[..parts.len()] == *parts)
    }

    /// What is protected and exists, by identity. Looked up anew for each use: files come and go.
    pub(crate) fn identities(&self) -> Identities {
        let mut known = Identities::of(SECRET);
        for rule in self.rules.iter().filter(|rule| rule.why != PROCESS) {
            for path in rule.existing() {
                known.add_to(&path, rule.depth);
            }
            for (own, _) in &rule.except {
                known.remove(own);
            }
        }
        known
    }

    fn fix(&mut self, home: &Path) {
        let rules = HOME_STARTUP
            .iter()
            .map(|path| Rule::new(home.join(path), WHY_STARTUP));
        self.fixed.extend(rules.map(Arc::new));
    }

    fn add_credentials(&mut self, base: &Path, paths: &[&str]) {
        let rules = paths.iter().map(|path| Rule {
            depth: CREDENTIALS_DEPTH,
            ..Rule::new(base.join(path), BY_NAME_ONLY)
        });
        self.rules.extend(rules.map(Arc::new));
    }

    fn add(&mut self, base: &Path, paths: &[&str], why: &'static str) {
        let rules = paths.iter().map(|path| Rule::new(base.join(path), why));
        self.rules.extend(rules.map(Arc::new));
    }
}
