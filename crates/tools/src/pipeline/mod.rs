//! The one path of every call.
//!
//! parse → look up → presented? → validate → facts, policy and approval → budget → intent → run →
//! redact, bound and offload → record, which also emits. Each stage is a file; it consumes the
//! value of the stage before, so none can be left out. A stage that says no ends in a [`Refusal`],
//! which joins the path again where results are bounded: every call has exactly one output.

mod accompanying;
mod bound;
mod budget;
mod execute;
mod faults;
mod guarded;
mod intend;
mod judge;
mod look_up;
mod offload;
mod onward;
mod parse;
mod present;
mod preset;
mod record;
mod refusal;
mod resume;
mod validate;
mod wait;

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use outfitter_core::{
    Answer, Attended, CallEnd, Code, ErrorInfo, Hash, Interrupt, JournalError, Outcome, RawCall,
    ToolOutput,
};

use crate::{Redactor, RunHandle, ToolView};

pub(crate) use bound::Bounded;
pub use execute::interrupted;
pub(crate) use execute::{Ending, Ran, Start};
pub use faults::{check_answer, fitting_answers};
pub(crate) use intend::Intended;
pub(crate) use judge::{Consent, Granted};
pub(crate) use look_up::Resolved;
pub(crate) use parse::Parsed;
pub(crate) use present::Shown;
pub(crate) use refusal::{Head, Refusal, Stage};
pub(crate) use validate::Checked;

/// How long a tool may take to stop, after its deadline or a cancellation, and still say what it
/// has. Longer than the grace that a killed process gets.
const STOP_GRACE: Duration = Duration::from_secs(3);

/// Whether people are asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Approval {
    /// Where somebody can answer.
    #[default]
    Ask,
    /// Never: what would ask is denied.
    Never,
}

/// What the operator says about calls.
#[derive(Clone)]
pub struct PipelineOptions {
    /// The most tokens of a result that a model reads; what is longer becomes an artifact.
    pub max_result_tokens: usize,
    /// How long a call may take where its tool does not say.
    pub default_timeout: Duration,
    /// Whether people are asked.
    pub approval: Approval,
    /// What is never shown.
    pub redactor: Redactor,
}

impl Default for PipelineOptions {
    /// 12000 tokens, 120 seconds, people are asked, no known secrets.
    fn default() -> Self {
        Self {
            max_result_tokens: 12_000,
            default_timeout: Duration::from_secs(120),
            approval: Approval::Ask,
            redactor: Redactor::default(),
        }
    }
}

/// The one path of every call. Cloning shares it.
#[derive(Clone, Default)]
pub struct Pipeline {
    options: Arc<RwLock<Arc<PipelineOptions>>>,
}

/// What binds an answer to the call it was asked for: the hash of the arguments as they were
/// written.
#[must_use]
pub fn arguments_hash(call: &RawCall) -> Hash {
    Hash::of(call.arguments.raw.as_bytes())
}

impl Pipeline {
    /// A pipeline with these options.
    #[must_use]
    pub fn new(options: PipelineOptions) -> Self {
        Self {
            options: Arc::new(RwLock::new(Arc::new(options))),
        }
    }

    /// Takes what the operator says from now on. A call keeps what it began with.
    pub fn configure(&self, options: PipelineOptions) {
        *self.options.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(options);
    }

    /// What takes secrets out, for events that are made elsewhere.
    #[must_use]
    pub fn redactor(&self) -> Redactor {
        self.options().redactor.clone()
    }

    fn options(&self) -> Arc<PipelineOptions> {
        let options = self.options.read();
        options.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Makes one call. Its output, or the interrupt it waits for, is recorded and shown when this
    /// returns. Whatever the tool does, there is exactly one.
    ///
    /// A call that may simply run again and is [interrupted](outfitter_core::Cancel::is_interrupted)
    /// is not recorded, as after a crash: the turn makes it again when it goes on, and that call has
    /// the one output.
    ///
    /// # Errors
    /// [`JournalError`] when something could not be recorded. The run cannot go on then; a call
    /// whose intent was not recorded has not run.
    pub async fn run(
        &self,
        view: &ToolView,
        call: RawCall,
        run: &RunHandle,
    ) -> Result<CallEnd, JournalError> {
        self.begin(view, call, run, Again::MadeByTurn, present::present)
            .await
    }

    /// Makes one call that a person or a program asks for by its name. No request stands before it
    /// in which its tool could have been shown, so what is shown to a model keeps nothing from it;
    /// all else is as in [`Pipeline::run`].
    ///
    /// # Errors
    /// As [`Pipeline::run`].
    pub async fn run_direct(
        &self,
        view: &ToolView,
        call: RawCall,
        run: &RunHandle,
    ) -> Result<CallEnd, JournalError> {
        let present = |resolved, _: &ToolView| Ok(present::resumed(resolved));
        self.begin(view, call, run, Again::Never, present).await
    }

    async fn begin<'v>(
        &self,
        view: &'v ToolView,
        call: RawCall,
        run: &RunHandle,
        again: Again,
        present: impl FnOnce(Resolved<'v>, &ToolView) -> Stage<Shown<'v>>,
    ) -> Result<CallEnd, JournalError> {
        let options = self.options();
        let consent = not_asked(&options, run);
        let granted = parse::parse(call, view, &options.redactor)
            .and_then(|parsed| look_up::look_up(parsed, view))
            .and_then(|resolved| present(resolved, view))
            .and_then(|shown| preset::preset(shown, run))
            .and_then(validate::validate)
            .and_then(|checked| judge::judge(checked, view, run, consent, &options.redactor));
        let judged = Judged {
            granted,
            consent,
            again,
        };
        go_on(judged, Start::Call, &options, view, run).await
    }

    /// Goes on with a call that waited, after its answer was accepted. The call is judged again:
    /// what has been forbidden meanwhile does not go on.
    ///
    /// For [`InterruptKind::Approval`](outfitter_core::InterruptKind::Approval) the answer `true`
    /// is yes, [`approval_answer`](crate::approval_answer) says for how long, and anything else is no; for the other kinds the tool gets the answer.
    ///
    /// # Errors
    /// As [`Pipeline::run`].
    pub async fn resume(
        &self,
        view: &ToolView,
        call: RawCall,
        interrupt: &Interrupt,
        answer: Answer,
        run: &RunHandle,
    ) -> Result<CallEnd, JournalError> {
        let options = self.options();
        let (consent, start) = match resume::plan(&call, interrupt, answer) {
            Ok(plan) => plan,
            Err(error) => {
                let refusal = Refusal::of_call(call, error.into_info());
                return finish(refusal.into_ran(&options.redactor), &options, run).await;
            }
        };
        let granted = parse::parse(call, view, &options.redactor)
            .and_then(|parsed| look_up::look_up(parsed, view))
            // It was shown when it was called.
            .map(present::resumed)
            .and_then(|shown| preset::preset(shown, run))
            .and_then(validate::validate)
            .and_then(|checked| judge::judge(checked, view, run, consent, &options.redactor));
        let judged = Judged {
            granted,
            consent,
            again: Again::MadeByTurn,
        };
        go_on(judged, start, &options, view, run).await
    }
}

/// What it means that a person has not been asked.
fn not_asked(options: &PipelineOptions, run: &RunHandle) -> Consent {
    match (options.approval, run.attended) {
        (Approval::Ask, Attended::Yes) => Consent::CanBeAsked,
        (Approval::Ask, Attended::No) => Consent::CannotBeAsked,
        (Approval::Never, _) => Consent::Never,
    }
}

/// What came of judging a call, and what was known then of who said yes.
struct Judged<'v> {
    granted: Stage<Granted<'v>>,
    consent: Consent,
    again: Again,
}

/// What becomes of a call that may simply run again and was interrupted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Again {
    /// Its turn makes it again.
    MadeByTurn,
    /// It belongs to no turn, or may not.
    Never,
}

async fn go_on(
    judged: Judged<'_>,
    start: Start,
    options: &PipelineOptions,
    view: &ToolView,
    run: &RunHandle,
) -> Result<CallEnd, JournalError> {
    let Judged {
        granted,
        consent,
        mut again,
    } = judged;
    let ran = match granted.and_then(|granted| budget::within(granted, run)) {
        Ok(granted) => {
            if !(granted.facts.effects.read_only() || granted.facts.idempotent) {
                again = Again::Never;
            }
            let accompanied = onward::accompany(&granted, view, run, consent);
            let intended = intend::intend(granted, run).await?;
            let run = accompanied.as_deref().unwrap_or(run);
            execute::execute(intended, start, options, run).await
        }
        Err(refusal) => refusal.into_ran(&options.redactor),
    };
    match (again, is_interrupted(&ran, run)) {
        (Again::MadeByTurn, Some(error)) => {
            run.journal.close_progress(&ran.head.id);
            let output = ToolOutput::failed(&ran.head.name, ran.head.id, ran.args, error);
            Ok(CallEnd::Output(Arc::new(output)))
        }
        (Again::MadeByTurn | Again::Never, _) => finish(ran, options, run).await,
    }
}

/// The error of a call that ends only because its process does.
fn is_interrupted(ran: &Ran, run: &RunHandle) -> Option<ErrorInfo> {
    match &ran.ending {
        Ending::Over(outcome) if run.cancel.is_interrupted() => outcome
            .failed
            .clone()
            .filter(|error| error.code == Code::Interrupted),
        Ending::Over(_) | Ending::Wait(_) => None,
    }
}

async fn finish(
    ran: Ran,
    options: &PipelineOptions,
    run: &RunHandle,
) -> Result<CallEnd, JournalError> {
    let redactor = ran.redactor;
    let (head, args, outcome) = match ran.ending {
        Ending::Over(outcome) => (ran.head, ran.args, outcome),
        Ending::Wait(ask) => match wait::answerable(&ask) {
            Ok(()) => return wait::wait(&ran.head, *ask, run).await,
            Err(error) => {
                let outcome = Box::new(Outcome::default().failing(*error));
                (ran.head, ran.args, outcome)
            }
        },
    };
    let bounded = bound::bound(head, args, outcome, &redactor, options, run).await;
    let recorded = record::record(bounded, run).await?;
    Ok(CallEnd::Output(recorded.output))
}
