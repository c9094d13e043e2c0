//! Optional seams that a tool may ask for.

use std::any::{Any, TypeId};
use std::sync::Arc;

use crate::{TokenUsage, ToolError, ToolName, ToolSchema};

/// Typed seams by their trait: `ModelProvider`, `ToolIndex`, a host application's own.
///
/// There are a handful, and every call has its own: a list is copied and searched faster than a map.
#[derive(Clone, Default)]
pub struct Services(Arc<Vec<Service>>);

/// A service by its trait: an `Arc` of it, behind one more, so that a shared list can be copied.
type Service = (TypeId, Arc<dyn Any + Send + Sync>);

impl Services {
    /// These services and one more, which replaces one of the same trait.
    #[must_use]
    pub fn with<T: ?Sized + Send + Sync + 'static>(mut self, service: Arc<T>) -> Self {
        let id = TypeId::of::<Arc<T>>();
        let service: Arc<dyn Any + Send + Sync> = Arc::new(service);
        let all = Arc::make_mut(&mut self.0);
        match all.iter_mut().find(|(known, _)| *known == id) {
            Some((_, known)) => *known = service,
            None => all.push((id, service)),
        }
        self
    }

    /// The service of this trait, if there is one.
    #[must_use]
    pub fn get<T: ?Sized + Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        let id = TypeId::of::<Arc<T>>();
        let (_, service) = self.0.iter().find(|(known, _)| *known == id)?;
        service.downcast_ref::<Arc<T>>().cloned()
    }

    /// The service of this trait; without one the call is `unavailable`.
    ///
    /// # Errors
    /// [`ToolError`] with code `unavailable`, naming `what`.
    pub fn need<T: ?Sized + Send + Sync + 'static>(&self, what: &str) -> Result<Arc<T>, ToolError> {
        self.get()
            .ok_or_else(|| ToolError::not_set_up(format!("there is no {what} here")))
    }
}

/// What became of names that were asked to be shown.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Expansion {
    /// Shown from the next request on.
    pub expanded: Vec<ToolName>,
    /// No tools of this session.
    pub invalid: Vec<String>,
    /// Shown already.
    pub selected: Vec<ToolName>,
    /// What could still be asked for.
    pub expandable: Vec<ToolName>,
}

/// A tool of a session, for the tools about tools.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolFound {
    /// As a model would see it.
    pub schema: ToolSchema,
    /// How well it fits what was searched for; 0 where nothing was.
    pub score: f64,
    /// Whether its schema is in the requests of the session already.
    pub presented: bool,
}

/// The tools of a session, for the tools about tools. None of them tells of a tool that the session
/// may not use, nor of a hidden one.
pub trait ToolIndex: Send + Sync {
    /// What showing these would do. It takes effect when the outcome of the call says so
    /// ([`Outcome::activate`](crate::Outcome)): then it is in the log, and survives a restart.
    fn expansion(&self, names: &[String]) -> Expansion;

    /// The tools that fit `query`, the best first, at most `limit`.
    fn search(&self, query: &str, limit: usize) -> Vec<ToolFound>;

    /// The tools, sorted by name.
    fn tools(&self) -> Vec<ToolFound>;

    /// The tool of this exact name.
    fn tool(&self, name: &str) -> Option<ToolFound>;
}

/// Counts what the tools of a run use of models: it is told as usage of the run, and held against
/// its limit. The run's own `ModelProvider` is counted by itself; a tool with a model of its own
/// says here what that used.
pub trait UsageMeter: Send + Sync {
    /// A model call was made, and this is what it took.
    fn used(&self, usage: TokenUsage);
}

#[cfg(test)]
mod tests {
    use super::*;

    trait Greeter: Send + Sync {
        fn greet(&self) -> String;
    }

    struct Hello(&'static str);

    impl Greeter for Hello {
        fn greet(&self) -> String {
            self.0.to_owned()
        }
    }

    #[test]
    fn a_service_is_found_by_its_trait_and_the_last_one_counts() {
        let one = Services::default().with::<dyn Greeter>(Arc::new(Hello("one")));
        let two = one.clone().with::<dyn Greeter>(Arc::new(Hello("two")));
        assert_eq!(one.get::<dyn Greeter>().unwrap().greet(), "one");
        assert_eq!(two.get::<dyn Greeter>().unwrap().greet(), "two");
        assert!(one.get::<dyn ToolIndex>().is_none());
    }

    #[test]
    fn a_missing_service_is_unavailable() {
        let error = Services::default()
            .need::<dyn Greeter>("greeter")
            .err()
            .unwrap();
        assert_eq!(error.code(), crate::Code::Unavailable);
    }
}
