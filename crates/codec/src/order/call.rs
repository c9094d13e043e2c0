//! One call, as its events go by.

use outfitter_core::RunOutcome;

use super::OrderFaultKind;
use super::seen::Progress;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Nothing was printed yet.
    Begun,
    /// Something was printed.
    Printing,
    /// Nothing more will be printed.
    Closed,
    /// It waits for an answer.
    Waiting,
    /// Its result is there.
    Over,
}

#[derive(Debug)]
pub(super) struct Call(State);

impl Call {
    pub(super) fn begun() -> Self {
        Self(State::Begun)
    }

    pub(super) fn progress(&mut self, call: &str, seen: &Progress) -> Result<(), OrderFaultKind> {
        let call = || call.to_owned();
        match self.0 {
            State::Begun | State::Printing => {}
            State::Closed | State::Waiting | State::Over => {
                return Err(OrderFaultKind::AfterClosed { call: call() });
            }
        }
        // Without a text another one only says what was lost at the end of a stream.
        let says_something = !seen.empty || seen.dropped;
        if seen.closed && !seen.empty || !seen.closed && !says_something {
            return Err(OrderFaultKind::ClosingText { call: call() });
        }
        // Where all of a call's progress was dropped, the closing event is the one that says so.
        if seen.closed && self.0 == State::Begun && !seen.dropped {
            return Err(OrderFaultKind::ClosedUnopened { call: call() });
        }
        self.0 = if seen.closed {
            State::Closed
        } else {
            State::Printing
        };
        Ok(())
    }

    pub(super) fn waits(&mut self, call: &str) -> Result<(), OrderFaultKind> {
        self.leave(call, State::Waiting)
    }

    pub(super) fn result(&mut self, call: &str) -> Result<(), OrderFaultKind> {
        self.leave(call, State::Over)
    }

    fn leave(&mut self, call: &str, to: State) -> Result<(), OrderFaultKind> {
        let call = call.to_owned();
        match self.0 {
            State::Begun | State::Closed => {
                self.0 = to;
                Ok(())
            }
            State::Printing => Err(OrderFaultKind::NotClosed { call }),
            // A wait that ends inside its run, by expiry or because it is called off.
            State::Waiting if to == State::Over => {
                self.0 = to;
                Ok(())
            }
            State::Waiting => Err(OrderFaultKind::WaitsTwice { call }),
            State::Over => Err(OrderFaultKind::ResultTwice { call }),
        }
    }

    pub(super) fn at_finish(&self, call: &str, outcome: RunOutcome) -> Result<(), OrderFaultKind> {
        let call = call.to_owned();
        match self.0 {
            State::Over => Ok(()),
            State::Waiting if outcome == RunOutcome::Waiting => Ok(()),
            State::Printing => Err(OrderFaultKind::NotClosed { call }),
            State::Begun | State::Closed | State::Waiting => Err(OrderFaultKind::NoResult { call }),
        }
    }
}
