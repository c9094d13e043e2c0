//! A conversation that a run works on, and the memory of what is known of it.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use outfitter_core::{
    Attended, Log, Principal, Sandbox, Scope, Seq, SessionFacts, SessionId, StoreError, ToolName,
    WarningCode,
};
use outfitter_tools::ToolProxy;

use crate::RunError;
use crate::turn_log::TurnLog;
use crate::writer::Writer;

/// Entries read from the log at a time.
const PAGE: u32 = 1_000;

/// Sessions whose fold is kept for their next run. The one used longest ago goes first.
const REMEMBERED: usize = 64;

/// A conversation with its sandbox and proxy.
#[derive(Clone)]
pub struct Session {
    /// Its id.
    pub id: SessionId,
    /// Who acts.
    pub who: Arc<Principal>,
    /// What it may use.
    pub proxy: ToolProxy,
    /// Where its commands run and its files live.
    pub sandbox: Arc<dyn Sandbox>,
    /// Whether somebody can answer.
    pub attended: Attended,
    /// What the model is told of this session.
    pub told: Told,
}

/// What the model is told of one session, beside what it is told of every one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Told {
    /// The skills it may load, with a line of each: a section of the system prompt.
    pub skill_catalogue: Arc<str>,
    /// Once, before the first words of the person: what is loaded from the start.
    pub opening: Option<Arc<str>>,
    /// The skills it may load, for people.
    pub skills: Vec<String>,
    /// What a person should know when the session begins.
    pub warnings: Vec<(WarningCode, String)>,
    /// What is configured and has not answered yet, for people: said by each run that begins
    /// without it.
    pub not_ready: Vec<String>,
}

impl Session {
    /// Whose rows its log is.
    #[must_use]
    pub fn scope(&self) -> Scope {
        Scope::from(&*self.who)
    }

    /// Who acts in it: its person, and of no other conversation than this one unless the host that
    /// they came by has its own.
    pub(crate) fn acting(&self) -> Arc<Principal> {
        match self.who.stream {
            Some(_) => self.who.clone(),
            None => Arc::new(Principal {
                stream: Some(self.id.as_str().into()),
                ..(*self.who).clone()
            }),
        }
    }

    /// What specs may depend on.
    #[must_use]
    pub fn facts(&self, expanded: Arc<BTreeSet<ToolName>>) -> SessionFacts {
        SessionFacts {
            who: self.who.clone(),
            session: self.id.clone(),
            attended: self.attended,
            expanded,
            suggested: None,
            skills: self.proxy.grant().skills.clone(),
        }
    }
}

impl Session {
    /// What specs may depend on, as the log of the session says it.
    #[must_use]
    pub fn facts_in(&self, log: &TurnLog) -> SessionFacts {
        SessionFacts {
            suggested: log.suggested.clone(),
            ..self.facts(log.expanded.clone())
        }
    }
}

/// Which sessions are at work, and the folds of those that were.
#[derive(Default)]
pub(crate) struct Sessions(Mutex<State>);

#[derive(Default)]
struct State {
    slots: HashMap<(Scope, SessionId), Slot>,
    uses: u64,
}

enum Slot {
    /// With what records of the run that has it, where that takes answers.
    AtWork(Weak<Writer>),
    Known {
        log: Box<TurnLog>,
        used: u64,
    },
}

impl Sessions {
    /// Takes a session for one run.
    pub(crate) fn take(self: &Arc<Self>, scope: Scope, id: SessionId) -> Result<Taken, RunError> {
        let key = (scope, id);
        let mut state = self.lock();
        if let Some(Slot::AtWork(_)) = state.slots.get(&key) {
            return Err(RunError::Busy(key.1));
        }
        let at_work = Slot::AtWork(Weak::new());
        let known = match state.slots.insert(key.clone(), at_work) {
            Some(Slot::Known { log, .. }) => *log,
            Some(Slot::AtWork(_)) | None => TurnLog::default(),
        };
        drop(state);
        Ok(Taken {
            sessions: self.clone(),
            key,
            known: Some(known),
        })
    }

    /// What the log says of a session now, for who only looks.
    pub(crate) async fn peek(
        &self,
        log: &dyn Log,
        scope: &Scope,
        id: &SessionId,
    ) -> Result<TurnLog, StoreError> {
        let known = match self.lock().slots.get(&(scope.clone(), id.clone())) {
            Some(Slot::Known { log, .. }) => TurnLog::clone(log),
            Some(Slot::AtWork(_)) | None => TurnLog::default(),
        };
        read_on(known, log, scope, id).await
    }

    /// What records of the run that works on a session.
    pub(crate) fn writer(&self, scope: Scope, id: SessionId) -> Option<Arc<Writer>> {
        match self.lock().slots.get(&(scope, id)) {
            Some(Slot::AtWork(writer)) => writer.upgrade(),
            Some(Slot::Known { .. }) | None => None,
        }
    }

    fn put(&self, key: (Scope, SessionId), log: Option<TurnLog>) {
        let mut state = self.lock();
        state.uses += 1;
        let used = state.uses;
        match log {
            Some(log) => state.slots.insert(
                key,
                Slot::Known {
                    log: Box::new(log),
                    used,
                },
            ),
            None => state.slots.remove(&key),
        };
        let known = |slot: &Slot| match slot {
            Slot::Known { used, .. } => Some(*used),
            Slot::AtWork(_) => None,
        };
        if state.slots.values().filter_map(known).count() > REMEMBERED {
            let oldest = state
                .slots
                .iter()
                .filter_map(|(key, slot)| Some((known(slot)?, key)))
                .min_by_key(|(used, _)| *used)
                .map(|(_, key)| key.clone());
            if let Some(oldest) = oldest {
                state.slots.remove(&oldest);
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn read_on(
    mut known: TurnLog,
    log: &dyn Log,
    scope: &Scope,
    id: &SessionId,
) -> Result<TurnLog, StoreError> {
    loop {
        let page = match log.read(scope, id, known.head.plus(1), PAGE).await {
            Ok(page) => page,
            Err(StoreError::NotFound(_)) if known.head == Seq(0) => return Ok(known),
            // Deleted since it was known.
            Err(StoreError::NotFound(_)) => return Ok(TurnLog::default()),
            Err(error) => return Err(error),
        };
        if page.head < known.head {
            // Deleted and made anew since it was known.
            known = TurnLog::default();
            continue;
        }
        known.fence = known.fence.max(page.fence);
        for entry in &page.entries {
            known.apply(&entry.run, entry.event, &entry.body);
        }
        if page.next.is_none() {
            return Ok(known);
        }
    }
}

impl TurnLog {
    /// What the log says of a session, for who only looks: no run is kept from it. A session that
    /// is not there says nothing.
    ///
    /// # Errors
    /// [`StoreError`] when the log cannot be read.
    pub async fn read(log: &dyn Log, scope: &Scope, id: &SessionId) -> Result<Self, StoreError> {
        read_on(Self::default(), log, scope, id).await
    }
}

/// A session taken for one run. Dropping it gives it back.
pub(crate) struct Taken {
    sessions: Arc<Sessions>,
    key: (Scope, SessionId),
    known: Option<TurnLog>,
}

impl Taken {
    /// What the log says now: what was known, and the entries since.
    pub(crate) async fn read(&mut self, log: &dyn Log) -> Result<TurnLog, StoreError> {
        let known = self.known.take().unwrap_or_default();
        let (scope, id) = &self.key;
        read_on(known, log, scope, id).await
    }

    /// Lets answers be handed in to the run that has it.
    pub(crate) fn answer_to(&self, writer: &Arc<Writer>) {
        let at_work = Slot::AtWork(Arc::downgrade(writer));
        self.sessions.lock().slots.insert(self.key.clone(), at_work);
    }

    /// Keeps what is known now for the next run.
    pub(crate) fn keep(&mut self, log: TurnLog) {
        self.known = Some(log);
    }
}

impl Taken {
    /// Keeps the session from others and knows nothing of it.
    pub(crate) fn only_held(mut self) -> SessionGuard {
        self.known = None;
        SessionGuard(self)
    }
}

/// A session that no run of this process works on while this is there.
pub struct SessionGuard(#[expect(dead_code, reason = "held until it is dropped")] Taken);

impl Drop for Taken {
    fn drop(&mut self) {
        self.sessions.put(self.key.clone(), self.known.take());
    }
}
