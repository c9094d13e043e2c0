//! Approvals that hold beyond their session: what was approved before, and what an answer adds.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use outfitter_core::{
    Answer, ApprovalId, ApprovalScope, ApprovalStore, Attended, Clock, Hash, Interrupt,
    Journal as _, JournalError, Principal, SandboxInfo, Scope, StandingApproval, UnixMs,
    WarningCode, WorkspaceOf,
};
use outfitter_tools::{Approvals, approved_always, approved_for, may_approve_always};

use crate::parts::AgentParts;
use crate::request::Input;
use crate::session::Session;
use crate::start::warning;
use crate::writer::Writer;

/// Where approvals that hold beyond their session are kept, and for how long they hold. A service
/// of the agent; without it a yes holds for a session at most.
pub struct Standing {
    /// Where they are kept.
    pub store: Arc<dyn ApprovalStore>,
    /// How long they hold, those of before too: less makes them end sooner, more does not make
    /// them last.
    pub lasts: Duration,
    /// Where on this machine sessions have workspaces of their own. Elsewhere a yes holds in the workspace that it
    /// was given in; here each is made for its session, and it holds in all of them.
    pub own_workspaces: PathBuf,
}

/// The place of workspaces that are sessions' own. No path is called so.
const OWN_WORKSPACES: &str = "own";

impl Standing {
    /// Where an approval of a session with this sandbox holds: the backend, the account where it is
    /// on another machine, and the workspace; none where that cannot be said.
    fn place(&self, sandbox: &SandboxInfo) -> Option<String> {
        let workspace = match self.owner(sandbox) {
            WorkspaceOf::Session => OWN_WORKSPACES,
            WorkspaceOf::Account if sandbox.workspace.is_absolute() => {
                sandbox.workspace.to_str()?
            }
            WorkspaceOf::Account => return None,
        };
        let backend = &sandbox.backend;
        Some(match &sandbox.account {
            Some(account) => format!("{backend} {} {workspace}", account.name),
            None => format!("{backend} {workspace}"),
        })
    }

    /// Whose the workspace is. Only a path of this machine says it.
    fn owner(&self, sandbox: &SandboxInfo) -> WorkspaceOf {
        if let Some(account) = &sandbox.account {
            return account.workspace;
        }
        let own = |root: &Path| sandbox.workspace.starts_with(root);
        let real = || self.own_workspaces.canonicalize();
        // The disk is asked only where the names do not say it.
        match own(&self.own_workspaces) || real().is_ok_and(|real| own(&real)) {
            true => WorkspaceOf::Session,
            false => WorkspaceOf::Account,
        }
    }

    /// When an approval ends, by what was said when it was given and by what holds now.
    #[must_use]
    pub fn ends(&self, approval: &StandingApproval) -> UnixMs {
        approval.expires.min(approval.at.plus(self.lasts))
    }

    /// Those of a person that hold now, the last given first.
    ///
    /// # Errors
    /// [`outfitter_core::StoreError`] when they cannot be read.
    pub async fn holding(
        &self,
        scope: &Scope,
        now: UnixMs,
    ) -> Result<Vec<StandingApproval>, outfitter_core::StoreError> {
        let mut all = self.store.standing(scope).await?;
        for approval in &mut all {
            approval.expires = self.ends(approval);
        }
        all.retain(|approval| approval.expires > now);
        Ok(all)
    }
}

/// What was approved before, for the calls of a run.
struct Known {
    /// In this session, where somebody is there who could be asked.
    session: Arc<BTreeSet<Hash>>,
    /// In any session of this person and this place, and until when.
    standing: Vec<(Hash, UnixMs)>,
    keeps: bool,
    clock: Arc<dyn Clock>,
}

impl Approvals for Known {
    fn covers(&self, part: &Hash) -> bool {
        let now = self.clock.now();
        self.session.contains(part)
            || self
                .standing
                .iter()
                .any(|(hash, ends)| hash == part && *ends > now)
    }

    fn keeps(&self) -> bool {
        self.keeps
    }
}

/// What was approved before, for the calls of a run of this session. `of_session` is what was
/// approved in it; that counts only while somebody is there, who could be asked too.
pub(crate) async fn known(
    parts: &AgentParts,
    session: &Session,
    of_session: Arc<BTreeSet<Hash>>,
) -> Arc<dyn Approvals> {
    let mut known = Known {
        session: match session.attended {
            Attended::Yes => of_session,
            Attended::No => Arc::default(),
        },
        standing: Vec::new(),
        keeps: false,
        clock: parts.clock.clone(),
    };
    let standing = parts.services.get::<Standing>();
    let place = standing
        .as_ref()
        .and_then(|standing| standing.place(session.sandbox.info()));
    if let Some((standing, place)) = standing.zip(place) {
        known.keeps = may_approve_always(&session.who);
        match standing.holding(&session.scope(), parts.clock.now()).await {
            Ok(all) => {
                known.standing = all
                    .into_iter()
                    // Who has less now asks again.
                    .filter(|approval| approval.place == place && approval.role <= session.who.role)
                    .flat_map(|approval| {
                        let ends = approval.expires;
                        approval.parts.into_iter().map(move |part| (part, ends))
                    })
                    .collect();
            }
            // People are asked again rather than not.
            Err(error) => {
                let error: &dyn std::error::Error = &error;
                tracing::warn!(error, "what was approved before cannot be read");
            }
        }
    }
    Arc::new(known)
}

/// The approvals that answers make.
pub(crate) async fn to_keep(
    parts: &AgentParts,
    session: &Session,
    writer: &Writer,
    input: &Input,
) -> Vec<StandingApproval> {
    let answers = match input {
        Input::Answer(answered) => std::slice::from_ref(answered),
        Input::Answers(answers) => answers.as_slice(),
        Input::Prompt(_) | Input::Continue => return Vec::new(),
    };
    let at = parts.clock.now();
    let answers = answers.iter().map(|answered| Answer {
        interrupt: answered.interrupt.clone(),
        by: answered.by.clone(),
        value: answered.value.clone(),
        at,
    });
    writer
        .folded(|log| {
            let made = answers.filter_map(|answer| {
                let asked = log.asked(&answer.interrupt)?;
                made(parts, session, &asked, &answer)
            });
            made.collect()
        })
        .await
}

/// The approval that an answer makes, where it makes one.
fn made(
    parts: &AgentParts,
    session: &Session,
    interrupt: &Interrupt,
    answer: &Answer,
) -> Option<StandingApproval> {
    let approved = approved_always(interrupt, answer)?;
    let standing = parts.services.get::<Standing>()?;
    if !may_approve_always(&session.who) {
        return None;
    }
    Some(StandingApproval {
        id: ApprovalId::mint(&*parts.clock),
        parts: approved.parts,
        place: standing.place(session.sandbox.info())?,
        tool: approved.tool,
        what: approved.what,
        role: approved.role.min(session.who.role),
        session: session.id.clone(),
        interrupt: interrupt.id.clone(),
        at: answer.at,
        expires: answer.at.plus(standing.lasts),
    })
}

/// Keeps them. What could not be kept holds for its call all the same, and the run says so.
pub(crate) async fn keep_all(
    parts: &AgentParts,
    session: &Session,
    writer: &Writer,
    all: Vec<StandingApproval>,
) -> Result<(), JournalError> {
    for approval in all {
        if let Err(why) = keep(parts, session, approval).await {
            let told = format!("the approval holds for this call alone, it is not kept: {why}");
            writer
                .record(vec![warning(WarningCode::NotKept, told)])
                .await?;
        }
    }
    Ok(())
}

async fn keep(
    parts: &AgentParts,
    session: &Session,
    approval: StandingApproval,
) -> Result<(), String> {
    let Some(standing) = parts.services.get::<Standing>() else {
        return Err("there is nowhere to keep it".to_owned());
    };
    let kept = standing.store.remember(&session.scope(), approval).await;
    kept.map_err(|error| outfitter_core::chain(&error))
}

/// Whether this person may give such an answer.
pub(crate) fn may_give(who: &Principal, value: &serde_json::Value) -> bool {
    approved_for(value) != Some(ApprovalScope::Always) || may_approve_always(who)
}
