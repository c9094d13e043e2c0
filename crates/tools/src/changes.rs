//! That there are other tools now, or that others may be used.

use std::sync::Arc;

use futures_util::StreamExt as _;
use futures_util::stream::select_all;

use crate::merged::Merged;
use crate::{ToolRegistry, ToolsConfig};

/// What there was at one moment, and what might be used of it.
pub struct ToolsSeen(Arc<Merged>, Arc<ToolsConfig>);

impl ToolRegistry {
    /// What there is now, to be told later that it is another.
    #[must_use]
    pub fn seen(&self) -> ToolsSeen {
        let (merged, config) = self.current();
        ToolsSeen(merged, config)
    }

    /// Waits until there is something else than was seen, and sees that.
    pub async fn changed_since(&self, seen: &mut ToolsSeen) {
        loop {
            // What happens from here on is heard, so nothing is missed between the two.
            let (mut own, sources) = self.watched();
            let mut changes = select_all(sources.iter().map(|source| source.changes()));
            let now = self.seen();
            if !Arc::ptr_eq(&now.0, &seen.0) || !Arc::ptr_eq(&now.1, &seen.1) {
                *seen = now;
                return;
            }
            tokio::select! {
                changed = own.changed() => {
                    if changed.is_err() {
                        return std::future::pending().await;
                    }
                }
                Some(_) = changes.next() => {}
            }
        }
    }
}
