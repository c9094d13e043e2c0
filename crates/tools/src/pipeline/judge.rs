//! Facts, policy and approval: may this call be made, by this caller, now.

use std::panic::{AssertUnwindSafe, catch_unwind};

use std::time::Duration;

use outfitter_core::{
    Ask, CallFacts, CallingAgent, Code, Decision, Effects, Facts, InterruptKind, KnownPaths,
    MAIN_AGENT, OnExpiry, Policy, Targets, ToolError, ToolName, ToolSpec, Unconfined, Verdict,
};
use serde_json::Value;

use super::execute::told;
use super::guarded::panicked;
use super::{Checked, Head, Refusal, Stage, faults, look_up};
use crate::approvals::{Approvals, Kept, Lasting};
use crate::coerce::coerce;
use crate::policy::{self, Part};
use crate::registered::Registered;
use crate::view::LookUp;
use crate::{Redactor, RunHandle, ToolView};

/// How long a call waits for a yes. Then it is denied.
const APPROVAL_EXPIRES: Duration = Duration::from_secs(24 * 60 * 60);

/// How deep calls may wrap calls.
const MAX_WRAPPED: usize = 4;

/// Whether a person has been asked about this very call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Consent {
    /// They have not, and can be.
    CanBeAsked,
    /// They have not, and nobody is there.
    CannotBeAsked,
    /// They are never asked, and what they said before does not count.
    Never,
    /// And said yes.
    Given,
}

/// A call that may be made.
pub(crate) struct Granted<'v> {
    pub(crate) head: Head,
    pub(crate) args: Value,
    pub(crate) tool: &'v Registered,
    pub(crate) facts: Facts,
}

pub(crate) fn judge<'v>(
    checked: Checked<'v>,
    view: &ToolView,
    run: &RunHandle,
    consent: Consent,
    redactor: &Redactor,
) -> Stage<Granted<'v>> {
    let Checked { head, args, tool } = checked;
    // Facts and policies may be anybody's code.
    let judged = catch_unwind(AssertUnwindSafe(|| {
        decide(tool, &args, view, run, MAX_WRAPPED)
    }))
    .unwrap_or_else(|panic| Err(panicked(&tool.spec.name, &*panic).into()));
    let permitted = judged.and_then(|judged| {
        let permit = permit(tool, &judged, consent, run, redactor)?;
        Ok((judged.facts, permit))
    });
    match permitted {
        Ok((facts, Permit::Given)) => Ok(Granted {
            head,
            args,
            tool,
            facts,
        }),
        Ok((_, Permit::Ask(ask))) => Err(Refusal::until(head, args, ask)),
        Err(error) => Err(Refusal::new(head, args, error.into_info())),
    }
}

/// What a verdict comes to.
enum Permit {
    Given,
    /// A person must say yes first.
    Ask(Box<Ask>),
}

/// The facts of a call, and the verdict on it and on every call that it wraps.
struct Judged {
    facts: Facts,
    decision: Decision,
    /// What an approval that is remembered holds for, of all of them; none where it cannot be.
    shape: Option<Vec<Part>>,
}

/// The same of one call, without what it wraps.
pub(super) struct One {
    pub(super) facts: Facts,
    pub(super) decision: Decision,
    pub(super) shape: Option<Vec<Part>>,
}

/// What a session may do, and by whose rules.
pub(super) struct Bounds<'p> {
    pub(super) policy: &'p dyn Policy,
    pub(super) effects: Effects,
}

fn decide(
    tool: &Registered,
    args: &Value,
    view: &ToolView,
    run: &RunHandle,
    depth: usize,
) -> Result<Judged, ToolError> {
    let bounds = Bounds {
        policy: view.policy(),
        effects: view.effects(),
    };
    let One {
        facts,
        mut decision,
        mut shape,
    } = one(tool, args, &bounds, run)?;
    if let Some((name, args)) = &facts.inner {
        let inner = decide_inner(name, args, view, run, depth)?;
        decision = decision.meet(inner.decision);
        shape = shape
            .zip(inner.shape)
            .map(|(outer, inner)| [outer, inner].concat());
    }
    Ok(Judged {
        facts,
        decision,
        shape,
    })
}

/// The facts of one call, and the verdict on it.
pub(super) fn one(
    tool: &Registered,
    args: &Value,
    bounds: &Bounds<'_>,
    run: &RunHandle,
) -> Result<One, ToolError> {
    let facts = tool
        .tool
        .facts_for(&run.who, args)
        .map_err(|error| told(&tool.spec.name, error))?;
    let facts = settled(facts, &tool.spec, run);
    // Before anybody is asked: no approval lends a role.
    if run.who.role < facts.min_role {
        return Err(ToolError::new(
            Code::NotPermitted,
            format!(
                "{} needs the role {} with these arguments",
                tool.spec.name, facts.min_role
            ),
        ));
    }
    // What it does by itself was looked at when the session was: a plan may ask all the same.
    let asks = if tool.tool.only_asks() {
        tool.spec.effects
    } else {
        Effects::NONE
    };
    if !facts.effects.within(bounds.effects.union(asks)) {
        return Err(ToolError::new(
            Code::NotPermitted,
            format!(
                "{} would do more than this session may with these arguments",
                tool.spec.name
            ),
        ));
    }
    let agent = run.services.get::<CallingAgent>();
    let paths = look(bounds.policy, &tool.spec, &facts, run);
    let call = CallFacts {
        spec: &tool.spec,
        args,
        facts: &facts,
        sandbox: run.sandbox.info(),
        paths: &paths,
        agent: agent.as_deref().map_or(MAIN_AGENT, |agent| &agent.0),
    };
    let decision = bounds.policy.decide(&run.who, &call);
    let shape = match decision.verdict {
        Verdict::Ask => policy::shape(&call, tool.trust),
        // Nothing that was approved is needed for it.
        Verdict::Allow | Verdict::Deny => Some(Vec::new()),
    };
    Ok(One {
        facts,
        decision,
        shape,
    })
}

/// What a call is judged as here: where nothing confines it, one that is not what it was taken for
/// is what its tool is.
fn settled(facts: Facts, spec: &ToolSpec, run: &RunHandle) -> Facts {
    let Some(unconfined) = facts
        .unconfined
        .clone()
        .filter(|_| !run.sandbox.info().isolating)
    else {
        return Facts {
            unconfined: None,
            ..facts
        };
    };
    let files = run.sandbox.files();
    let why = unconfined.why.or_else(|| {
        let outside = unconfined
            .reads
            .iter()
            .find(|path| !files.is_readable(path));
        outside.map(|path| format!("`{path}` may lead to what the session may not read"))
    });
    match why {
        None => Facts {
            unconfined: None,
            ..facts
        },
        Some(why) => Facts {
            effects: facts.effects.union(spec.effects),
            idempotent: spec.idempotent,
            unconfined: Some(Unconfined {
                why: Some(why),
                reads: Vec::new(),
            }),
            ..facts
        },
    }
}

/// Looks up what a policy has to know of the disk, so that it looks at none itself.
fn look(policy: &dyn Policy, spec: &ToolSpec, facts: &Facts, run: &RunHandle) -> KnownPaths {
    let paths = match &facts.targets {
        Targets::Paths(paths) | Targets::Reads(paths) => paths,
        Targets::Arguments | Targets::CommandLine => return KnownPaths::default(),
    };
    match policy.paths(&run.who, spec) {
        Some(named) => KnownPaths::look(run.sandbox.files(), paths, &named),
        None => KnownPaths::default(),
    }
}

/// A wrapper is judged as what it wraps: the same gates as a direct call, but that a wrapper is a
/// way to reach what is not shown.
fn decide_inner(
    name: &ToolName,
    args: &Value,
    view: &ToolView,
    run: &RunHandle,
    depth: usize,
) -> Result<Judged, ToolError> {
    let depth = depth.checked_sub(1).ok_or_else(|| {
        ToolError::new(
            Code::NotPermitted,
            format!("calls may wrap calls at most {MAX_WRAPPED} deep"),
        )
    })?;
    let tool = match view.look_up(name.as_str()) {
        LookUp::Callable(tool) | LookUp::NotPresented(tool) => tool,
        LookUp::NotPermitted => return Err(look_up::not_permitted(name.as_str()).into()),
        LookUp::Unknown => return Err(look_up::unknown(name.as_str(), view).into()),
    };
    if tool.presets.is_some() {
        // The wrapper would make the call without them.
        return Err(ToolError::new(
            Code::NotPermitted,
            format!("{name} cannot be called through another tool; call it by its name"),
        ));
    }
    // Read as those of a direct call are.
    let mut args = args.clone();
    if !tool.validator.is_valid(&args) {
        coerce(&tool.spec.input_schema, &mut args);
        if !tool.validator.is_valid(&args) {
            return Err(faults::describe(tool, &args).into());
        }
    }
    decide(tool, &args, view, run, depth)
}

fn permit(
    tool: &Registered,
    judged: &Judged,
    consent: Consent,
    run: &RunHandle,
    redactor: &Redactor,
) -> Result<Permit, ToolError> {
    let Judged {
        decision, shape, ..
    } = judged;
    let shape = shape.as_deref();
    let asks = decision.verdict == Verdict::Ask;
    let approvals = run.services.get::<dyn Approvals>();
    if asks && consent != Consent::Never && approved_before(shape, approvals.as_deref()) {
        return Ok(Permit::Given);
    }
    match (decision.verdict, consent) {
        (Verdict::Allow, _) | (Verdict::Ask, Consent::Given) => Ok(Permit::Given),
        (Verdict::Ask, Consent::CanBeAsked) => {
            let lasting = match approvals {
                Some(approvals) if approvals.keeps() => Lasting::Yes,
                Some(_) | None => Lasting::No,
            };
            let shape = shape.map(|parts| shown(parts, redactor));
            let kept = Kept::of(&tool.spec.name, shape.as_deref(), &run.who, lasting);
            Ok(Permit::Ask(Box::new(Ask {
                kind: InterruptKind::Approval {
                    reason: redactor.text(&decision.reason).into_owned(),
                },
                schema: Some(kept.schema()),
                expires_in: APPROVAL_EXPIRES,
                on_expiry: OnExpiry::Deny,
                state: kept.state(),
            })))
        }
        (Verdict::Ask, Consent::CannotBeAsked | Consent::Never) => Err(ToolError::new(
            Code::NeedsApproval,
            format!("a person must approve this call: {}", decision.reason),
        )
        .with_hint("nobody can approve it here; go on without it")),
        (Verdict::Deny, _) => Err(ToolError::new(
            Code::NotPermitted,
            format!("the call is not permitted: {}", decision.reason),
        )),
    }
}

/// Whether each part of a call was approved before, for calls like it.
pub(super) fn approved_before(shape: Option<&[Part]>, approvals: Option<&dyn Approvals>) -> bool {
    let Some((parts, approvals)) = shape.zip(approvals) else {
        return false;
    };
    !parts.is_empty() && parts.iter().all(|part| approvals.covers(&part.hash))
}

/// The parts without secrets: people read them in listings.
fn shown(parts: &[Part], redactor: &Redactor) -> Vec<Part> {
    let shown = |part: &Part| Part {
        hash: part.hash,
        told: redactor.text(&part.told).into_owned(),
    };
    parts.iter().map(shown).collect()
}
