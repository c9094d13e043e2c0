//! What a watcher sees.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use outfitter_core::{Progress, ProgressSink, Stream, ToolContext};

use super::PATIENCE;

/// What a watcher sees.
#[derive(Default)]
pub(crate) struct Screen(Mutex<Vec<(Stream, Vec<u8>)>>, Mutex<Vec<(Stream, u64)>>);

impl Screen {
    pub(crate) fn watch(cx: &mut ToolContext) -> Arc<Self> {
        let screen = Arc::new(Self::default());
        cx.progress = Progress::into(screen.clone());
        screen
    }

    pub(crate) fn text(&self) -> String {
        let shown = self.0.lock().unwrap();
        let bytes: Vec<u8> = shown.iter().flat_map(|(_, bytes)| bytes.clone()).collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// What it was told is missing.
    pub(crate) fn lost(&self) -> Vec<(Stream, u64)> {
        self.1.lock().unwrap().clone()
    }

    pub(crate) fn streams(&self) -> Vec<(Stream, String)> {
        let shown = self.0.lock().unwrap();
        shown
            .iter()
            .map(|(stream, bytes)| (*stream, String::from_utf8_lossy(bytes).into_owned()))
            .collect()
    }

    /// Waits until this much was shown.
    pub(crate) async fn until(&self, text: &str) {
        let shown = async {
            while !self.text().contains(text) {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        };
        tokio::time::timeout(PATIENCE, shown)
            .await
            .expect("it is shown");
    }
}

impl ProgressSink for Screen {
    fn emit(&self, stream: Stream, bytes: &[u8]) {
        self.0.lock().unwrap().push((stream, bytes.to_vec()));
    }

    fn lost(&self, stream: Stream, bytes: u64) {
        self.1.lock().unwrap().push((stream, bytes));
    }
}
