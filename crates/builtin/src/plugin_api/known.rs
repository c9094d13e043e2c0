//! The operations of a document, for what a redirect leads to.

use outfitter_core::ToolName;
use outfitter_net::reqwest::{Method, Url};

use super::path::Template;

/// All operations, those that are no tools among them.
#[derive(Debug, Default)]
pub(super) struct KnownOperations(Vec<(Method, Template, ToolName)>);

impl KnownOperations {
    /// These, as the document has them. A path that is none can be asked for by nobody.
    pub(super) fn of<'d>(all: impl Iterator<Item = (&'d Method, &'d str, &'d ToolName)>) -> Self {
        let read = all.filter_map(|(method, path, tool)| {
            let template = Template::parse(path).ok()?;
            Some((method.clone(), template, tool.clone()))
        });
        Self(read.collect())
    }

    /// The tool of a request, where that is another one than `from`: a request of the same path and
    /// query is the same, also with a slash more or less at its end. `base` is what the paths of the
    /// document follow.
    pub(super) fn another(
        &self,
        base: &Url,
        method: &Method,
        from: &Url,
        to: &Url,
    ) -> Option<ToolName> {
        let plain = |url: &Url| {
            (
                url.path().trim_end_matches('/').to_owned(),
                url.query().map(str::to_owned),
            )
        };
        if plain(from) == plain(to) {
            return None;
        }
        let base = base.path().trim_end_matches('/');
        let below = to.path().strip_prefix(base)?;
        let mut all = self.0.iter();
        all.find(|(known, template, _)| known == method && template.has(below))
            .map(|(_, _, tool)| tool.clone())
    }
}
