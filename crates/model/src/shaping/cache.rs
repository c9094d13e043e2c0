//! The tools of a view in the words of a provider, made once.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use outfitter_core::{ModelError, ToolSchema};
use serde_json::Value;
use serde_json::value::RawValue;

use super::{NameBack, SchemaDialect, shape, wire_name};
use crate::json::unwritable;
use crate::limits::MAX_SHAPED_VIEWS;

/// One tool as a provider takes it.
#[derive(Debug)]
pub(crate) struct ShapedTool {
    pub(crate) name: String,
    pub(crate) description: Arc<str>,
    pub(crate) parameters: Option<Value>,
}

/// The tools of one view.
#[derive(Debug)]
pub(crate) struct ShapedTools {
    pub(crate) tools: Vec<ShapedTool>,
    /// The list as it stands in a request; none where there are no tools.
    pub(crate) wire: Option<Box<RawValue>>,
    names: Vec<(String, String)>,
}

impl ShapedTools {
    /// The way back for the names of a reply.
    pub(crate) fn names(&self) -> NameBack {
        NameBack::of(
            self.names
                .iter()
                .map(|(ours, wire)| (ours.as_str(), wire.as_str())),
        )
    }
}

/// How a wire writes the list of its tools.
type Write = fn(&[ShapedTool]) -> serde_json::Result<Box<RawValue>>;

/// What was made of the last views. A view that was seen before costs a comparison of pointers.
pub(crate) struct ShapeCache {
    dialect: SchemaDialect,
    write: Write,
    views: Mutex<VecDeque<Seen>>,
}

/// A view and what was made of it.
type Seen = (Arc<[ToolSchema]>, Arc<ShapedTools>);

impl ShapeCache {
    pub(crate) fn new(dialect: SchemaDialect, write: Write) -> Self {
        Self {
            dialect,
            write,
            views: Mutex::default(),
        }
    }

    /// The tools of a view.
    ///
    /// # Errors
    /// When they cannot be written as JSON.
    pub(crate) fn tools(&self, view: &Arc<[ToolSchema]>) -> Result<Arc<ShapedTools>, ModelError> {
        let mut views = self.views.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, made)) = views.iter().find(|(seen, _)| Arc::ptr_eq(seen, view)) {
            return Ok(made.clone());
        }
        // Another view of the same tools: their schemas are shared, so this compares pointers too.
        if let Some(at) = views.iter().position(|(seen, _)| same(seen, view)) {
            let (seen, made) = &mut views[at];
            *seen = view.clone();
            return Ok(made.clone());
        }
        let made = Arc::new(self.make(view).map_err(|error| unwritable(&error))?);
        views.push_front((view.clone(), made.clone()));
        views.truncate(MAX_SHAPED_VIEWS);
        Ok(made)
    }

    /// The same without looking and without keeping.
    pub(crate) fn make(&self, view: &[ToolSchema]) -> serde_json::Result<ShapedTools> {
        let mut names: Vec<(String, String)> = Vec::new();
        let mut tools: Vec<ShapedTool> = Vec::with_capacity(view.len());
        for tool in view {
            let name = wire_name(self.dialect, tool.name.as_str()).into_owned();
            if name != tool.name.as_str() {
                names.push((tool.name.as_str().to_owned(), name.clone()));
            }
            tools.push(ShapedTool {
                name,
                description: tool.description.clone(),
                parameters: shape(self.dialect, &tool.parameters).schema,
            });
        }
        let wire = if tools.is_empty() {
            None
        } else {
            Some((self.write)(&tools)?)
        };
        Ok(ShapedTools { tools, wire, names })
    }
}

fn same(one: &[ToolSchema], other: &[ToolSchema]) -> bool {
    let same = |(one, other): (&ToolSchema, &ToolSchema)| {
        one.name == other.name
            && (Arc::ptr_eq(&one.parameters, &other.parameters)
                || one.parameters == other.parameters)
            && (Arc::ptr_eq(&one.description, &other.description)
                || one.description == other.description)
    };
    one.len() == other.len() && one.iter().zip(other).all(same)
}

#[cfg(test)]
mod tests {
    use super::*;
    use outfitter_core::ToolName;
    use serde_json::json;

    fn view(names: &[&str]) -> Arc<[ToolSchema]> {
        let tool = |name: &&str| ToolSchema {
            name: ToolName::new(*name).unwrap(),
            description: "does it".into(),
            parameters: Arc::new(json!({"type": "object", "properties": {}})),
        };
        names.iter().map(tool).collect()
    }

    fn cache() -> ShapeCache {
        ShapeCache::new(SchemaDialect::GeminiNative, |tools| {
            let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
            serde_json::value::to_raw_value(&names)
        })
    }

    #[test]
    fn a_view_is_shaped_once_and_so_is_an_equal_one() {
        let cache = cache();
        let first = view(&["a", "b"]);
        let made = cache.tools(&first).unwrap();
        assert!(Arc::ptr_eq(&made, &cache.tools(&first).unwrap()));
        assert!(Arc::ptr_eq(
            &made,
            &cache.tools(&view(&["a", "b"])).unwrap()
        ));
        assert!(!Arc::ptr_eq(&made, &cache.tools(&view(&["a"])).unwrap()));
    }

    #[test]
    fn the_cache_is_bounded() {
        let cache = cache();
        for n in 0..MAX_SHAPED_VIEWS * 2 {
            cache.tools(&view(&[&format!("t{n}")])).unwrap();
        }
        assert_eq!(cache.views.lock().unwrap().len(), MAX_SHAPED_VIEWS);
    }

    #[test]
    fn a_changed_name_comes_back() {
        let made = cache().tools(&view(&["2fa", "plain"])).unwrap();
        let wire = &made.tools[0].name;
        assert!(wire.starts_with("_2fa_"), "{wire}");
        assert_eq!(made.names().ours(wire), "2fa");
        assert_eq!(made.names().ours("plain"), "plain");
    }
}
