//! Who has a connection, and who gives it up when there are no more to be had.
//!
//! A client that keeps a connection for its next request costs little, and a thousand of them cost
//! the next client its turn. So when all are taken, the one goes on which nothing has come for the
//! longest time: it may be idle, or have sent half of the head of a request. One whose request is
//! being answered never does, and none that has only just come, or been answered.

use std::collections::HashMap;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use hyper::body::{Frame, Incoming, SizeHint};
use hyper::service::Service;
use hyper::{Request, Response};
use hyper_util::service::TowerToHyperService;
use outfitter_core::Cancel;
use tokio::time::Instant;

/// All connections.
#[derive(Default)]
pub(crate) struct Seats(Mutex<State>);

#[derive(Default)]
struct State {
    taken: HashMap<u64, Arc<Seat>>,
    next: u64,
}

impl Seats {
    /// Takes a connection in. It has the seat until it drops it.
    pub(crate) fn take(self: &Arc<Self>) -> Taken {
        let mut state = lock(&self.0);
        let number = state.next;
        state.next += 1;
        let seat = Arc::new(Seat::new());
        state.taken.insert(number, seat.clone());
        Taken {
            seat,
            number,
            seats: self.clone(),
        }
    }

    /// Asks the one to leave on which nothing has come for the longest time, of those that have
    /// had at least so long for the whole head of their request.
    pub(crate) fn ask_one_to_leave(&self, least: Duration) {
        let now = Instant::now();
        let state = lock(&self.0);
        let longest = state
            .taken
            .values()
            .filter(|seat| !seat.leave.is_cancelled())
            .filter_map(|seat| {
                let times = *lock(&seat.times);
                let idle = now.duration_since(times.idle_since?);
                (idle >= least).then_some((times.last_came, seat))
            })
            .min_by_key(|(last_came, _)| *last_came);
        if let Some((_, seat)) = longest {
            seat.leave.cancel();
        }
    }
}

/// A seat that is taken, until this is dropped.
pub(crate) struct Taken {
    pub(crate) seat: Arc<Seat>,
    number: u64,
    seats: Arc<Seats>,
}

impl Drop for Taken {
    fn drop(&mut self) {
        lock(&self.seats.0).taken.remove(&self.number);
    }
}

/// One connection.
pub(crate) struct Seat {
    times: Mutex<Times>,
    leave: Cancel,
}

#[derive(Clone, Copy)]
struct Times {
    /// Since when no whole request is there; nothing while one is being answered.
    idle_since: Option<Instant>,
    /// When something last came, or the connection itself.
    last_came: Instant,
    /// Requests that came whole, in all.
    begun: u64,
}

impl Seat {
    pub(crate) fn new() -> Self {
        let now = Instant::now();
        Self {
            times: Mutex::new(Times {
                idle_since: Some(now),
                last_came: now,
                begun: 0,
            }),
            leave: Cancel::new(),
        }
    }

    /// Somebody else needs the seat.
    pub(crate) async fn asked_to_leave(&self) {
        self.leave.cancelled().await;
    }

    pub(crate) fn is_idle(&self) -> bool {
        lock(&self.times).idle_since.is_some()
    }

    /// Whether the head of a request has begun to come, and no more.
    pub(crate) fn has_half_a_head(&self) -> bool {
        let times = *lock(&self.times);
        times
            .idle_since
            .is_some_and(|since| times.last_came > since)
    }

    /// How many requests came whole, where none of them is under way any more. What is written then
    /// and was not before belongs to none of them.
    pub(crate) fn answered(&self) -> Option<u64> {
        let times = *lock(&self.times);
        times.idle_since.map(|_| times.begun)
    }

    /// Bytes came on it.
    pub(crate) fn something_came(&self) {
        lock(&self.times).last_came = Instant::now();
    }
}

/// The routes, for one connection.
pub(crate) struct Answering {
    router: TowerToHyperService<Router>,
    seat: Arc<Seat>,
}

impl Answering {
    pub(crate) fn new(router: Router, seat: Arc<Seat>) -> Self {
        let router = TowerToHyperService::new(router);
        Self { router, seat }
    }
}

impl Service<Request<Incoming>> for Answering {
    type Response = Response<Answer>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn call(&self, request: Request<Incoming>) -> Self::Future {
        let busy = Busy::new(self.seat.clone());
        let answer = self.router.call(request);
        Box::pin(async move {
            let answer = answer.await?;
            Ok(answer.map(|body| Answer { body, _busy: busy }))
        })
    }
}

/// What is answered; the request is under way until all of it is sent.
pub(crate) struct Answer {
    body: Body,
    _busy: Busy,
}

impl hyper::body::Body for Answer {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A request under way, until this is dropped.
struct Busy(Arc<Seat>);

impl Busy {
    fn new(seat: Arc<Seat>) -> Self {
        {
            let mut times = lock(&seat.times);
            times.idle_since = None;
            times.begun += 1;
        }
        Self(seat)
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        let now = Instant::now();
        let mut times = lock(&self.0.times);
        times.idle_since = Some(now);
        times.last_came = now;
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_one_leaves_first_on_which_nothing_came_longest() {
        const LEAST: Duration = Duration::from_secs(1);
        let seats = Arc::new(Seats::default());
        let taken: Vec<Taken> = (0..3).map(|_| seats.take()).collect();
        for quick in [1, 0, 2] {
            tokio::time::advance(LEAST).await;
            taken[quick].seat.something_came();
        }
        let mut left = Vec::new();
        for _ in 0..3 {
            seats.ask_one_to_leave(LEAST);
            let asked = taken.iter().map(|taken| taken.seat.leave.is_cancelled());
            left.extend(
                (0..)
                    .zip(asked)
                    .filter(|(_, asked)| *asked)
                    .map(|(at, _)| at),
            );
        }
        assert_eq!(left, [1, 0, 1, 0, 1, 2], "drips keep no place either");
    }

    #[tokio::test(start_paused = true)]
    async fn the_one_that_is_idle_longest_leaves_and_none_that_is_busy() {
        const LEAST: Duration = Duration::from_secs(1);
        let seats = Arc::new(Seats::default());
        let taken: Vec<Taken> = (0..3).map(|_| seats.take()).collect();
        let asked = || -> Vec<bool> {
            let all = taken.iter();
            all.map(|taken| taken.seat.leave.is_cancelled()).collect()
        };
        seats.ask_one_to_leave(LEAST);
        assert_eq!(asked(), [false; 3], "all have only just come");
        let busy = Busy::new(taken[0].seat.clone());
        drop(Busy::new(taken[1].seat.clone()));
        tokio::time::advance(LEAST).await;
        drop(Busy::new(taken[2].seat.clone()));
        seats.ask_one_to_leave(LEAST);
        seats.ask_one_to_leave(LEAST);
        assert_eq!(asked(), [false, true, false]);
        drop(busy);
        tokio::time::advance(LEAST).await;
        for _ in 0..3 {
            seats.ask_one_to_leave(LEAST);
        }
        assert_eq!(asked(), [true; 3]);
        drop(taken);
        assert!(lock(&seats.0).taken.is_empty());
    }
}
