//! Packs in a temporary directory, and sessions that may use them.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use outfitter_core::{
    Attended, Effects, Grant, NameSet, Outcome, Principal, Reply, Role, Selection, Services,
    SessionAuthority, SessionFacts, SessionId, Tool, ToolContext, ToolError,
};
use outfitter_skills::{LoadSkill, Severity, SkillCatalog, SkillProxy, SkillSource};
use outfitter_tools::{ToolProxy, ToolRegistry, ToolView};
use serde_json::Value;
use tempfile::TempDir;

/// A directory with packs, which goes away with it.
pub(crate) struct World {
    directory: TempDir,
}

impl World {
    pub(crate) fn new() -> Self {
        Self {
            directory: TempDir::new().unwrap(),
        }
    }

    /// The root of the packs, as the kernel names it.
    pub(crate) fn root(&self) -> PathBuf {
        self.directory.path().canonicalize().unwrap().join("skills")
    }

    pub(crate) fn beside(&self, path: &str) -> PathBuf {
        self.directory.path().canonicalize().unwrap().join(path)
    }

    /// Writes a file below the root.
    pub(crate) fn file(&self, path: &str, content: impl AsRef<[u8]>) -> &Self {
        write(&self.root().join(path), content);
        self
    }

    /// Writes a skill with this frontmatter.
    pub(crate) fn skill(&self, directory: &str, frontmatter: &str) -> &Self {
        self.file(
            &format!("{directory}/SKILL.md"),
            format!("---\n{frontmatter}\n---\nDo {directory}.\n"),
        )
    }

    /// Writes skills that say nothing but their names.
    pub(crate) fn plain(&self, names: &[&str]) -> &Self {
        for name in names {
            self.skill(name, &format!("name: {name}\ndescription: About {name}."));
        }
        self
    }

    pub(crate) fn link(&self, at: &str, target: impl AsRef<Path>) -> &Self {
        let at = self.root().join(at);
        fs::create_dir_all(at.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(target, at).unwrap();
        self
    }

    pub(crate) fn catalog(&self) -> SkillCatalog {
        let catalog = SkillCatalog::new();
        catalog.add_skill_dir(self.root());
        catalog
    }

    pub(crate) fn proxy(&self) -> SkillProxy {
        self.catalog().proxy(&NameSet::all())
    }

    /// The names of the skills that are found.
    pub(crate) fn names(&self) -> Vec<String> {
        names(&self.proxy())
    }

    /// The diagnostics from `least` on: reason and path below the root.
    pub(crate) fn told(&self, least: Severity) -> Vec<String> {
        let root = self.root();
        let mut told: Vec<String> = self
            .catalog()
            .snapshot()
            .diagnostics()
            .iter()
            .filter(|diagnostic| diagnostic.severity >= least)
            .map(|diagnostic| {
                let path = diagnostic
                    .path
                    .strip_prefix(&root)
                    .unwrap_or(&diagnostic.path);
                format!("{} {}", diagnostic.code, path.display())
            })
            .collect();
        told.sort();
        told
    }
}

pub(crate) fn write(path: &Path, content: impl AsRef<[u8]>) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

pub(crate) fn names(proxy: &SkillProxy) -> Vec<String> {
    proxy
        .skills()
        .map(|skill| skill.name().to_string())
        .collect()
}

/// A session by hand: which skills are granted, which tools it has.
pub(crate) struct Has {
    pub(crate) skills: NameSet,
    pub(crate) tools: Vec<&'static str>,
}

impl Has {
    pub(crate) fn everything() -> Self {
        Self {
            skills: NameSet::all(),
            tools: Vec::new(),
        }
    }
}

impl SessionAuthority for Has {
    fn skills(&self) -> &NameSet {
        &self.skills
    }

    fn may_call(&self, tool: &str) -> bool {
        self.tools.contains(&tool)
    }
}

/// Calls `load_skill` as a session that has this.
pub(crate) async fn load(
    catalog: &SkillCatalog,
    has: Has,
    args: Value,
) -> Result<Value, ToolError> {
    let mut cx = ToolContext::detached();
    cx.services = Services::default().with::<dyn SessionAuthority>(Arc::new(has));
    match LoadSkill::new(catalog.clone()).call(&cx, args).await? {
        Reply::Done(outcome) => {
            let Outcome {
                result,
                failed: None,
                ..
            } = *outcome
            else {
                panic!("{outcome:?}");
            };
            Ok(result)
        }
        Reply::Wait(ask) => panic!("{ask:?}"),
    }
}

/// A registry that has the catalogue as a source.
pub(crate) fn registry(catalog: &SkillCatalog) -> ToolRegistry {
    let registry = ToolRegistry::default();
    registry
        .add(Arc::new(SkillSource::new(catalog.clone())))
        .unwrap();
    registry
}

/// What a guest may use, with these skills.
pub(crate) fn sealed(registry: &ToolRegistry, skills: NameSet) -> ToolProxy {
    let selection = Selection {
        skills,
        ..Selection::default()
    };
    registry.seal(
        Grant {
            effects: Effects::READ,
            ..Grant::full(Role::Guest)
        },
        selection,
    )
}

pub(crate) fn view(proxy: &ToolProxy) -> Arc<ToolView> {
    proxy.view(&SessionFacts {
        who: Arc::new(Principal {
            tenant: "local".into(),
            subject: "somebody".into(),
            role: Role::Guest,
            channel: "test".into(),
            stream: None,
        }),
        session: SessionId::new("s").unwrap(),
        attended: Attended::No,
        expanded: Arc::new(BTreeSet::new()),
        suggested: None,
        skills: NameSet::all(),
    })
}
