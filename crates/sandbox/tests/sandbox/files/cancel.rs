//! A walk ends when nobody waits for it.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Waker};

use outfitter_core::Files;

use super::world::{World, here, search};

#[test]
fn a_dropped_search_stops_and_leaves_the_runtime_free_to_end() {
    let world = World::new();
    // Sparse: endless to search, nothing on disk.
    for file in 0..64 {
        let path = world.make(&format!("{file}"), "");
        let file = std::fs::File::options().write(true).open(path).unwrap();
        std::os::unix::fs::FileExt::write_all_at(&file, b"\n", 1).unwrap();
        let lines = b"lines\n".repeat(100_000);
        std::os::unix::fs::FileExt::write_all_at(&file, &lines, 0).unwrap();
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime.block_on(async {
        for _ in 0..20 {
            let mut searching = pin!(world.files.search(here("."), search("[a-z]+x")));
            let mut context = Context::from_waker(Waker::noop());
            assert!(searching.as_mut().poll(&mut context).is_pending());
        }
    });
    // Ending waits for blocking work; this returns because the work was told.
    drop(runtime);
}
