//! What the configuration names on this machine and is not there, or is not what it must be: files,
//! folders, variables, programs, an address.
//!
//! Whether that is an error goes by what comes of it. What makes `run` or `serve` fail is one. What
//! they go on without is told as a warning, and so is what a machine may be given later: a variable,
//! a program, a credential. No other command looks: one that needs none of it goes on.

use std::io::{Error, ErrorKind};
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::path::Path;

use outfitter_model::Script;
use outfitter_text::regular_file::open_regular_file;

use super::kind::is_url;
use super::loaded::{Loaded, StoreUrl};
use super::problem::Problem;
use super::secret_like::looks_like_a_secret;
use super::sections::{Backend, ChannelKind, Ssh};
use super::serve_address::ServeAddress;
use super::source::Source;
use super::variable_word::{LastWord, is_variable};
use crate::env::{self, Environment};
use crate::helpers;

/// What was found.
#[derive(Debug, Default)]
pub(super) struct Lacking {
    /// What makes `run` or `serve` fail.
    pub(super) failing: Vec<Problem>,
    /// What they go on without, and what may come later.
    pub(super) warnings: Vec<Problem>,
}

/// Looks at everything that is named.
pub(super) fn look(loaded: &Loaded, env: &Environment) -> Lacking {
    let mut looking = Looking {
        loaded,
        env,
        lacking: Lacking::default(),
    };
    looking.model();
    looking.folders();
    looking.apis();
    looking.sandbox();
    looking.store();
    looking.channels();
    looking.server();
    looking.programs();
    let Lacking {
        mut failing,
        mut warnings,
    } = looking.lacking;
    failing.sort_by_key(|problem| problem.at.order());
    warnings.sort_by_key(|problem| problem.at.order());
    Lacking { failing, warnings }
}

struct Looking<'a> {
    loaded: &'a Loaded,
    env: &'a Environment,
    lacking: Lacking,
}

impl Looking<'_> {
    fn fail(&mut self, key: &str, why: impl std::fmt::Display) {
        let at = self.loaded.nearest_source(key).clone();
        self.lacking.failing.push(Problem::about(at, key, why));
    }

    fn warn(&mut self, key: &str, why: impl std::fmt::Display) {
        let at = self.loaded.nearest_source(key).clone();
        self.lacking.warnings.push(Problem::about(at, key, why));
    }

    /// A file that a run goes on without.
    fn file(&mut self, key: &str, path: &Path) {
        if let Err(error) = open_regular_file(path) {
            self.warn(key, no_file(path, &error));
        }
    }

    /// A file of the other machine's: without it no run works. It may come later, as credentials do;
    /// what is there and is no file stays none.
    fn credential(&mut self, key: &str, path: &Path) {
        match open_regular_file(path) {
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::NotFound => {
                self.warn(key, no_file(path, &error));
            }
            Err(error) => self.fail(key, no_file(path, &error)),
        }
    }

    /// A folder that a run goes on without.
    fn folder(&mut self, key: &str, path: &Path) {
        if let Err(error) = std::fs::read_dir(path) {
            let why = match error.kind() {
                ErrorKind::NotFound => "there is no such folder".to_owned(),
                ErrorKind::NotADirectory => "it is no folder".to_owned(),
                _ => error.to_string(),
            };
            self.warn(key, format!("names {}: {why}", path.display()));
        }
    }

    fn variable(&mut self, key: &str, name: &str) {
        // What may be the secret itself was refused without being shown.
        if is_variable(name)
            && self.env.secret(name).is_none()
            && !looks_like_a_secret(name, self.env)
        {
            self.warn(key, format!("names {name}, which is not set or is empty"));
        }
    }

    fn model(&mut self) {
        let model = &self.loaded.config.model;
        if let (Some("scripted"), Some(script)) = (model.provider.as_deref(), &model.script) {
            match open_regular_file(script) {
                Err(error) => self.fail("model.script", no_file(script, &error)),
                Ok(_) => {
                    if let Err(error) = Script::from_file(script) {
                        let why = error.to_info().message;
                        self.fail("model.script", format!("cannot be used: {why}"));
                    }
                }
            }
        }
        if let Some(name) = &model.api_key_env {
            self.variable("model.api_key_env", name);
        }
    }

    fn folders(&mut self) {
        let config = &self.loaded.config;
        // The usual one need not be there.
        if *self.loaded.source("skills.dirs") != Source::Default {
            for (place, dir) in config.skills.dirs.iter().enumerate() {
                if !dir.as_os_str().is_empty() {
                    self.folder(&format!("skills.dirs.{place}"), dir);
                }
            }
        }
        for (name, program) in &config.commands {
            if let Some(dir) = &program.skills_dir {
                self.folder(&format!("commands.{name}.skills_dir"), dir);
            }
        }
        let servers = config.mcp.servers.iter();
        for (name, server) in servers.filter(|(_, one)| one.enabled && config.mcp.enabled) {
            if let Some(dir) = &server.cwd {
                self.folder(&format!("mcp.servers.{name}.cwd"), dir);
            }
        }
    }

    fn apis(&mut self) {
        for (name, api) in &self.loaded.config.plugin_api.apis {
            let key = |key: &str| format!("plugin_api.apis.{name}.{key}");
            if let Some(document) = api.openapi.as_deref().filter(|document| !is_url(document)) {
                self.file(&key("openapi"), Path::new(document));
            }
            if let Some(path) = api.schema.as_ref().and_then(|schema| schema.as_str()) {
                self.file(&key("schema"), Path::new(path));
            }
            for (table, texts) in [("headers", &api.headers), ("query", &api.query)] {
                for (header, text) in texts {
                    let key = format!("{}.{header}", key(table));
                    match LastWord::of(text) {
                        LastWord::Variable { name, .. } => self.variable(&key, name),
                        LastWord::Other(_) => self.warn(
                            &key,
                            "is sent as it stands: what is behind `env:` is no name of a variable",
                        ),
                        LastWord::Plain => {}
                    }
                }
            }
        }
    }

    fn sandbox(&mut self) {
        let sandbox = &self.loaded.config.sandbox;
        let (Backend::Ssh, Some(ssh)) = (sandbox.backend, &sandbox.ssh) else {
            return;
        };
        let Ssh {
            key_file,
            passphrase_env,
            agent,
            known_hosts,
            ..
        } = ssh;
        if let Some(file) = key_file {
            self.credential("sandbox.ssh.key_file", file);
        }
        if !known_hosts.as_os_str().is_empty() {
            self.credential("sandbox.ssh.known_hosts", known_hosts);
        }
        if let Some(name) = passphrase_env {
            self.variable("sandbox.ssh.passphrase_env", name);
        }
        if let Some(socket) = agent {
            let why = match std::fs::metadata(socket) {
                Ok(found) if found.file_type().is_socket() => return,
                Ok(_) => "it is no socket".to_owned(),
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    let why = format!("names {}: there is no such socket", socket.display());
                    return self.warn("sandbox.ssh.agent", why);
                }
                Err(error) => error.to_string(),
            };
            let why = format!("names {}: {why}", socket.display());
            self.fail("sandbox.ssh.agent", why);
        }
    }

    /// What is not there is made; what is there must be of its kind.
    fn store(&mut self) {
        if let Ok(dir) = self.loaded.data_dir()
            && std::fs::metadata(dir).is_ok_and(|found| !found.is_dir())
        {
            let why = format!("names {}: it is no folder", dir.display());
            self.fail("store.data_dir", why);
        }
        if let Ok(StoreUrl::Sqlite(file)) = self.loaded.store()
            && std::fs::metadata(file).is_ok_and(|found| !found.is_file())
        {
            let why = format!("names {}: it is not a regular file", file.display());
            self.fail("store.url", why);
        }
    }

    fn channels(&mut self) {
        let Ok(data_dir) = self.loaded.data_dir() else {
            return;
        };
        let channels = self.loaded.config.channels.iter();
        for (name, channel) in channels.filter(|(_, one)| one.kind == ChannelKind::File) {
            let Some(path) = channel.url.as_deref().filter(|path| !path.is_empty()) else {
                continue;
            };
            let path = data_dir.join(path);
            if std::fs::metadata(&path).is_ok_and(|found| !found.is_file()) {
                let why = format!("names {}: it is not a regular file", path.display());
                self.warn(&format!("channels.{name}.url"), why);
            }
        }
    }

    /// Only `serve` listens.
    fn server(&mut self) {
        if let Err(why) = ServeAddress::parse(&self.loaded.config.server.bind) {
            let hint = why.hint();
            self.fail("server.bind", format!("cannot be served on: {why}; {hint}"));
        }
    }

    fn programs(&mut self) {
        let config = &self.loaded.config;
        if config.mcp.enabled {
            for (name, server) in config.mcp.servers.iter().filter(|(_, one)| one.enabled) {
                if let Some(program) = &server.command {
                    let path = server.env.get("PATH").map(String::as_str);
                    self.program(&format!("mcp.servers.{name}.command"), program, path);
                }
            }
        }
        for (name, one) in &config.commands {
            if !one.program.is_empty() && helpers::program(&one.program).is_none() {
                let path = one.env.get("PATH").map(String::as_str);
                self.program(&format!("commands.{name}.program"), &one.program, path);
            }
        }
    }

    /// Looks for a program as it is looked for when it is started: in the `PATH` that it gets.
    fn program(&mut self, key: &str, program: &str, path: Option<&str>) {
        let place = Path::new(program);
        if program.contains('/') {
            let why = match std::fs::metadata(place) {
                Ok(found) if is_program(&found) => return,
                Ok(found) if found.is_dir() => "it is a folder".to_owned(),
                Ok(_) => "it is no program that may be run".to_owned(),
                Err(error) if error.kind() == ErrorKind::NotFound => "it is not there".to_owned(),
                Err(error) => error.to_string(),
            };
            self.warn(key, format!("names {program}, and {why}"));
            return;
        }
        let path = path
            .map(std::ffi::OsStr::new)
            .or_else(|| self.env.os(env::PATH));
        let path = path.unwrap_or_default();
        let found = std::env::split_paths(path)
            .any(|dir| std::fs::metadata(dir.join(program)).is_ok_and(|found| is_program(&found)));
        if !found {
            let why = format!(
                "names {program}, which is not found in PATH; install it, or write its path"
            );
            self.warn(key, why);
        }
    }
}

fn is_program(found: &std::fs::Metadata) -> bool {
    found.is_file() && found.permissions().mode() & 0o111 != 0
}

fn no_file(path: &Path, error: &Error) -> String {
    let why = match error.kind() {
        ErrorKind::NotFound => "there is no such file".to_owned(),
        ErrorKind::IsADirectory => "it is a folder".to_owned(),
        _ => error.to_string(),
    };
    format!("names {}: {why}", path.display())
}
