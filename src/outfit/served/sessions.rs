//! What is kept of sessions for their next run.

use std::collections::HashMap;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::Arc;

use outfitter_core::{Role, Sandbox, Scope, SessionId};
use outfitter_tools::ToolProxy;
use tokio::sync::OnceCell;

/// Sandboxes that are kept for their next run. The one used longest ago goes first, unless a
/// command of it still runs. Each has three files open: many more would use up the 1,024 that
/// programs get by default.
const KEPT_SANDBOXES: usize = 64;

/// How many more there may be for a while.
const SURPLUS: usize = 16;

/// Where a sandbox is, or will be once it is open.
pub(super) type Place = Arc<OnceCell<Opened>>;

/// A sandbox that is open.
pub(super) struct Opened {
    sandbox: Arc<dyn Sandbox>,
    /// Its workspace, as it was found then.
    workspace: Option<Identity>,
}

impl Opened {
    pub(super) fn in_workspace(sandbox: Arc<dyn Sandbox>, workspace: &Path) -> Self {
        Self {
            sandbox,
            workspace: identity(workspace),
        }
    }

    pub(super) fn sandbox(&self) -> &Arc<dyn Sandbox> {
        &self.sandbox
    }
}

/// What tells a folder from another of its name.
type Identity = (u64, u64);

fn identity(folder: &Path) -> Option<Identity> {
    let found = std::fs::symlink_metadata(folder).ok()?;
    Some((found.dev(), found.ino()))
}

/// What is kept of sessions for their next run.
#[derive(Default)]
pub(super) struct Sessions {
    kept: HashMap<(Scope, SessionId), Kept>,
    uses: u64,
}

#[derive(Default)]
struct Kept {
    used: u64,
    place: Place,
    /// A proxy keeps its view while nothing changes, which is most of what a call would cost
    /// beyond its own.
    proxy: Option<(Role, ToolProxy)>,
}

impl Sessions {
    pub(super) fn take(
        &mut self,
        key: (Scope, SessionId),
        role: Role,
        seal: impl FnOnce() -> ToolProxy,
    ) -> (ToolProxy, Place) {
        self.uses += 1;
        let kept = self.kept.entry(key).or_default();
        kept.used = self.uses;
        let proxy = match &kept.proxy {
            Some((of, proxy)) if *of == role => proxy.clone(),
            Some(_) | None => {
                let proxy = seal();
                kept.proxy = Some((role, proxy.clone()));
                proxy
            }
        };
        let place = kept.place.clone();
        self.forget_the_oldest();
        (proxy, place)
    }

    /// The sandbox of a session, where it is open.
    pub(super) fn sandbox(&self, key: &(Scope, SessionId)) -> Option<Arc<dyn Sandbox>> {
        let opened = self.kept.get(key)?.place.get()?;
        Some(opened.sandbox.clone())
    }

    /// A session whose workspace is not where it was any more was deleted by another process, or
    /// with it: what is open leads nowhere. Says whether it was so.
    pub(super) fn forget_what_is_gone(
        &mut self,
        key: &(Scope, SessionId),
        workspace: &Path,
    ) -> bool {
        let open = self.kept.get(key).and_then(|kept| kept.place.get());
        let is_gone = open.is_some_and(|open| open.workspace != identity(workspace));
        if is_gone {
            self.kept.remove(key);
        }
        is_gone
    }

    /// Nothing is kept of a session.
    pub(super) fn forget(&mut self, key: &(Scope, SessionId)) {
        self.kept.remove(key);
    }

    /// Many at a time: to find one takes a look at all.
    fn forget_the_oldest(&mut self) {
        if self.kept.len() <= KEPT_SANDBOXES + SURPLUS {
            return;
        }
        let mut idle: Vec<(u64, (Scope, SessionId))> = self
            .kept
            .iter()
            .filter(|(_, kept)| is_idle(&kept.place))
            .map(|(key, kept)| (kept.used, key.clone()))
            .collect();
        idle.sort_unstable_by_key(|(used, _)| *used);
        let surplus = self.kept.len() - KEPT_SANDBOXES;
        for (_, key) in idle.into_iter().take(surplus) {
            self.kept.remove(&key);
        }
    }
}

/// Whether nothing would end with it: it is open, nobody has it, and no command of it runs.
fn is_idle(place: &Place) -> bool {
    let alone = Arc::strong_count(place) == 1;
    let idle = |open: &Opened| {
        let sandbox = &open.sandbox;
        Arc::strong_count(sandbox) == 1 && sandbox.jobs().iter().all(|job| !job.running)
    };
    alone && place.get().is_none_or(idle)
}
