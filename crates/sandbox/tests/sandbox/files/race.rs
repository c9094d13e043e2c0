//! A directory that turns into a link to outside and back, while it is written through.

use std::fs;
use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use outfitter_core::{Files, PutMode};
use rustix::fs::{CWD, RenameFlags};

use super::world::{SECRET, World, here, put};

/// The other side changes names at least so often,
const SWAPS: u32 = 2000;
/// while we try at least so often,
const TRIES: u32 = 400;
/// and at most so often, however slow the other side is.
const MOST_TRIES: u32 = 100_000;

/// Tells the other side to stop, however we end.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

/// Runs `swap` over and over on one thread, and `step` on this one until both have had enough.
fn race(mut swap: impl FnMut() + Send, mut step: impl FnMut(u32)) {
    let (swaps, stop) = (AtomicU32::new(0), AtomicBool::new(false));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Acquire) {
                swap();
                swaps.fetch_add(1, Ordering::Relaxed);
                std::thread::yield_now();
            }
        });
        let _stop = Stop(&stop);
        for tries in 0..MOST_TRIES {
            if tries >= TRIES && swaps.load(Ordering::Relaxed) >= SWAPS {
                break;
            }
            step(tries);
        }
    });
    assert!(
        swaps.into_inner() >= SWAPS,
        "the other side never got going"
    );
}

#[test]
fn a_swapped_directory_never_lets_anything_outside() {
    let world = World::new();
    fs::create_dir(world.path("d")).unwrap();
    symlink(&world.outside, world.path("evil")).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let [d, evil] = ["d", "evil"].map(|name| world.path(name));
    let modes = [PutMode::Replace, PutMode::Append, PutMode::Create];
    let (mut inside, mut refused) = (0_u32, 0_u32);
    race(
        // The directory and the link change names at once: the name is never free.
        || rustix::fs::renameat_with(CWD, &d, CWD, &evil, RenameFlags::EXCHANGE).unwrap(),
        |tries| {
            let mode = modes[tries as usize % 3];
            let path = if tries % 2 == 0 {
                "d/file"
            } else {
                "d/deep/er/file"
            };
            match runtime.block_on(world.files.put(here(path), put("x", mode, None))) {
                Ok(_) => inside += 1,
                Err(_) => refused += 1,
            }
            if let Ok(text) = runtime.block_on(world.read("d/secret.txt")) {
                assert_ne!(text, SECRET);
            }
            let found = runtime
                .block_on(world.grep(".", "secret of"))
                .unwrap_or_default();
            assert_eq!(found.hits, []);
            let listed = runtime.block_on(world.list(".", 3)).unwrap_or_default();
            assert!(
                !listed
                    .entries
                    .iter()
                    .any(|entry| entry.path.contains("secret"))
            );
        },
    );
    let names: Vec<_> = fs::read_dir(&world.outside)
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(names, ["secret.txt"], "{inside} written, {refused} refused");
    let secret = fs::read_to_string(world.outside.join("secret.txt")).unwrap();
    assert_eq!(secret, SECRET);
}

#[test]
fn a_file_swapped_for_a_link_is_never_written_through() {
    let world = World::new();
    world.make("f", "old");
    let target = world.outside.join("secret.txt");
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let [name, link, new] = ["f", "link", "new"].map(|name| world.path(name));
    race(
        || {
            symlink(&target, &link).unwrap();
            fs::rename(&link, &name).unwrap();
            fs::write(&new, "old").unwrap();
            fs::rename(&new, &name).unwrap();
        },
        |tries| {
            let mode = [PutMode::Append, PutMode::Replace][tries as usize % 2];
            let _ = runtime.block_on(world.files.put(here("f"), put("x", mode, None)));
        },
    );
    assert_eq!(fs::read_to_string(&target).unwrap(), SECRET);
}
