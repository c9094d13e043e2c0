//! A provider that sends exactly the bytes it is told to, and remembers what it was asked.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use serde_json::Value;

use crate::fake::{Fake, Received, Step};
use crate::requests;
use crate::wire::Wire;
use crate::world::{KEY, World};

/// Gives the answer to a request where no answer was put in line.
type Otherwise = Box<dyn FnMut(&Received) -> Vec<Step> + Send>;

/// The provider. Dropping it ends it.
pub(crate) struct Provider {
    wire: Wire,
    fake: Fake,
    line: Arc<Mutex<VecDeque<Vec<Step>>>>,
    _runtime: tokio::runtime::Runtime,
}

impl Provider {
    /// One that answers what is put in line, and closes the connection when there is nothing.
    pub(crate) fn start(wire: Wire) -> Self {
        Self::new(wire, None)
    }

    /// One that answers each request as it is told to.
    pub(crate) fn answering(
        wire: Wire,
        answer: impl FnMut(&Received) -> Vec<Step> + Send + 'static,
    ) -> Self {
        Self::new(wire, Some(Box::new(answer)))
    }

    fn new(wire: Wire, mut otherwise: Option<Otherwise>) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let line: Arc<Mutex<VecDeque<Vec<Step>>>> = Arc::default();
        let next = line.clone();
        let fake = runtime.block_on(Fake::answering(move |received| {
            let first = next.lock().unwrap().pop_front();
            first.or_else(|| Some(otherwise.as_mut()?(received)))
        }));
        Self {
            wire,
            fake,
            line,
            _runtime: runtime,
        }
    }

    /// Puts an answer in line.
    pub(crate) fn then(&self, steps: Vec<Step>) {
        self.line.lock().unwrap().push_back(steps);
    }

    /// Takes back what nobody has asked for.
    pub(crate) fn clear(&self) {
        self.line.lock().unwrap().clear();
    }

    /// Where it is.
    pub(crate) fn url(&self) -> String {
        self.fake.url("")
    }

    /// A machine that talks to this provider.
    pub(crate) fn world(&self) -> World {
        let mut world = World::new();
        self.serve(&mut world);
        world
    }

    /// Makes it the provider of a machine.
    pub(crate) fn serve(&self, world: &mut World) {
        let (provider, variable, path) = match self.wire {
            Wire::OpenAi => ("openai", "OPENAI_API_KEY", "/v1"),
            Wire::Anthropic => ("anthropic", "ANTHROPIC_API_KEY", ""),
        };
        world.set("OUTFITTER_MODEL__PROVIDER", provider);
        world.set("OUTFITTER_MODEL__NAME", "m");
        world.set("OUTFITTER_MODEL__BASE_URL", &self.fake.url(path));
        world.set("OUTFITTER_MODEL__RETRY_DELAY_MS", "1");
        world.set(variable, KEY);
    }

    /// The bodies of the requests so far. Each is one that a strict provider accepts.
    #[track_caller]
    pub(crate) fn requests(&self) -> Vec<Value> {
        let received = self.fake.received();
        let bodies: Vec<Value> = received.iter().map(Received::json).collect();
        for body in &bodies {
            requests::assert_valid(self.wire, body);
        }
        bodies
    }

    /// The body of the last request.
    #[track_caller]
    pub(crate) fn last_request(&self) -> Value {
        self.requests().pop().expect("there was a request")
    }

    /// The headers of the last request.
    pub(crate) fn last_header(&self, name: &str) -> Option<String> {
        let received = self.fake.received();
        received.last()?.header(name).map(str::to_owned)
    }

    /// Waits until this many requests have come.
    pub(crate) fn until_requests(&self, count: usize) {
        let limit = std::time::Instant::now() + crate::world::HANGS;
        while self.fake.received().len() < count {
            assert!(std::time::Instant::now() < limit, "no request comes");
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
    }
}
