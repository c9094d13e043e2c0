//! Which of what is connected something needs, and for how long that is waited for.

use std::time::Duration;

use outfitter_skills::LOAD_SKILL;

use crate::outfit::Outfitter;

/// How long a listing or a run waits for what is connected, from when that was begun.
pub const SETTLE_TIME: Duration = Duration::from_secs(3);

/// What is needed of the MCP servers, the programs of the project and the APIs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Needed<'a> {
    /// All of it, as far as it answers within [`SETTLE_TIME`]: for a run or a listing of tools.
    Everything,
    /// The programs of the project, within [`SETTLE_TIME`]: they bring skills.
    Programs,
    /// What a tool of this name is of, as long as that may take to connect.
    Tool(&'a str),
}

/// Which of the parts something needs, and for how long it waits for them.
pub(super) struct Parts {
    pub(super) servers: Servers,
    pub(super) programs: Wanted,
    pub(super) apis: Wanted,
    pub(super) patience: Patience,
}

#[derive(PartialEq, Eq)]
pub(super) enum Servers {
    None,
    One(String),
    All,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    Yes,
    No,
}

pub(super) enum Patience {
    /// Until [`SETTLE_TIME`] after it was begun.
    Short,
    /// As long as each may take by itself.
    Own,
}

impl Parts {
    pub(super) const NOTHING: Self = Self {
        servers: Servers::None,
        programs: Wanted::No,
        apis: Wanted::No,
        patience: Patience::Short,
    };

    pub(super) const EVERYTHING: Self = Self {
        servers: Servers::All,
        programs: Wanted::Yes,
        apis: Wanted::Yes,
        patience: Patience::Short,
    };

    pub(super) const PROGRAMS: Self = Self {
        programs: Wanted::Yes,
        ..Self::NOTHING
    };
}

impl Outfitter {
    /// What a call of this name needs. Most tools are always there.
    pub(super) fn parts_of(&self, name: &str) -> Parts {
        let config = self.config();
        let is_there = |name: &str| self.registry.unmet_globs([name]).is_empty();
        let name = match config.tools.aliases.get(name) {
            Some(tool) if !is_there(name) => tool,
            _ => name,
        };
        let own = |parts| Parts {
            patience: Patience::Own,
            ..parts
        };
        let of_programs = name == outfitter_commands::TOOL
            || (config.contacts.source.is_some()
                && outfitter_builtin::CONTACT_TOOLS.contains(&name));
        if of_programs {
            return own(Parts::PROGRAMS);
        }
        if name == LOAD_SKILL {
            return Parts::PROGRAMS;
        }
        if outfitter_tools::TOOLS_ABOUT_TOOLS.contains(&name) {
            return Parts::EVERYTHING;
        }
        if is_there(name) {
            return Parts::NOTHING;
        }
        match outfitter_tools::split_qualified(name) {
            Some((prefix, _)) if config.mcp.servers.contains_key(prefix) => own(Parts {
                servers: Servers::One(prefix.to_owned()),
                ..Parts::NOTHING
            }),
            _ if name.starts_with("call_") => own(Parts {
                apis: Wanted::Yes,
                ..Parts::NOTHING
            }),
            _ => Parts::NOTHING,
        }
    }
}
