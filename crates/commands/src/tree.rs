//! All programs as one tree of commands.

use std::collections::BTreeMap;
use std::sync::Arc;

use outfitter_core::{Effects, Fault, Role};

use crate::describe::Described;
use crate::program::Program;
use crate::subcommand::Subcommand;

/// A command: whose it is, and what it can do.
pub(crate) struct Command {
    pub(crate) program: Arc<Program>,
    pub(crate) subcommands: BTreeMap<String, Arc<Subcommand>>,
}

/// Two programs with one command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Collision {
    pub(crate) command: String,
    pub(crate) first: String,
    pub(crate) second: String,
}

/// Everything that can be called, and what is missing.
#[derive(Default)]
pub(crate) struct Tree {
    pub(crate) commands: BTreeMap<String, Command>,
    pub(crate) faults: Vec<Fault>,
    pub(crate) collisions: Vec<Collision>,
}

impl Tree {
    /// Takes what a program said of itself.
    pub(crate) fn take(&mut self, program: &Arc<Program>, described: Result<Described, String>) {
        let name = &program.settings.name;
        let described = match described {
            Ok(described) => described,
            Err(why) => return self.fault(name.clone(), why),
        };
        if let Some(why) = program.unasked() {
            self.fault(name.clone(), why);
        }
        for (subject, why) in described.left_out {
            self.fault(format!("{name}: {subject}"), why);
        }
        let only = &program.settings.only;
        for wanted in only.plain_names() {
            let known = |subcommand: &Arc<Subcommand>| subcommand.subject() == wanted;
            if !described.subcommands.iter().any(known) {
                let why = "it is named in only, and the program has no such thing".to_owned();
                self.fault(format!("{name}: {wanted}"), why);
            }
        }
        for subcommand in described.subcommands {
            if only.has(&subcommand.subject()) {
                self.add(program, subcommand);
            }
        }
    }

    fn add(&mut self, program: &Arc<Program>, subcommand: Arc<Subcommand>) {
        let name = &subcommand.command;
        let command = self
            .commands
            .entry(name.clone())
            .or_insert_with(|| Command {
                program: program.clone(),
                subcommands: BTreeMap::new(),
            });
        if Arc::ptr_eq(&command.program, program) {
            command
                .subcommands
                .insert(subcommand.subcommand.clone(), subcommand);
            return;
        }
        let collision = Collision {
            command: name.clone(),
            first: command.program.settings.name.clone(),
            second: program.settings.name.clone(),
        };
        if !self.collisions.contains(&collision) {
            self.collisions.push(collision);
        }
    }

    /// Takes out what two programs claim: whose it is cannot be known.
    pub(crate) fn settle(&mut self) {
        for collision in self.collisions.clone() {
            self.commands.remove(&collision.command);
            self.fault(
                collision.command,
                format!("{} and {} both have it", collision.first, collision.second),
            );
        }
    }

    pub(crate) fn fault(&mut self, what: String, why: String) {
        self.faults.push(Fault { what, why });
    }

    pub(crate) fn find(&self, command: &str, subcommand: &str) -> Option<(&Program, &Subcommand)> {
        let command = self.commands.get(command)?;
        let found = command.subcommands.get(subcommand)?;
        Some((&command.program, found))
    }

    pub(crate) fn subcommands(&self) -> impl Iterator<Item = &Subcommand> {
        self.commands
            .values()
            .flat_map(|command| command.subcommands.values().map(Arc::as_ref))
    }

    /// All that calls can do.
    pub(crate) fn effects(&self) -> Effects {
        self.subcommands()
            .fold(Effects::NONE, |all, one| all.union(one.effects))
    }

    /// The least role that may call anything.
    pub(crate) fn least_role(&self) -> Role {
        self.subcommands()
            .map(Subcommand::least_role)
            .min()
            .unwrap_or_default()
    }
}
