//! Waiting for other tools.

use std::sync::Arc;

use outfitter_core::{SourceId, Trust};
use outfitter_tools::{NativeSource, ToolRegistry, ToolsConfig};

use crate::support::Probe;

#[tokio::test]
async fn every_change_is_seen_once_whenever_it_came() {
    let registry = ToolRegistry::default();
    let mut seen = registry.seen();
    let id = SourceId::new("one").unwrap();
    let tools = |name: &str| vec![Arc::new(Probe::new(name)) as Arc<dyn outfitter_core::Tool>];
    let source = Arc::new(NativeSource::new(id.clone(), Trust::Builtin, tools("a")));
    let changes: [&dyn Fn(); 4] = [
        &|| registry.add(source.clone()).unwrap(),
        &|| source.replace(tools("b")),
        &|| registry.configure(ToolsConfig::default()),
        &|| assert!(registry.remove(&id)),
    ];
    for change in changes {
        // Before it is waited for.
        change();
        registry.changed_since(&mut seen).await;
        let still = tokio::time::timeout(
            std::time::Duration::from_millis(20),
            registry.changed_since(&mut seen),
        );
        assert!(still.await.is_err(), "there is no other");
    }
    // While it is waited for.
    let change = async { registry.configure(ToolsConfig::default()) };
    tokio::join!(registry.changed_since(&mut seen), change);
}
