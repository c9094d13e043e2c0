//! A directory that turns into a link to outside and back, while it is written through.

use std::fs;
use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use outfitter_core::{
    Becomes, Bytes, FileChange, Files, FilesError, Hash, NewMode, PutMode, Reach,
};
use rustix::fs::{CWD, RenameFlags};

use super::world::{SECRET, World, here, put};

/// The other side changes names at least so often,
const SWAPS: u32 = 10_000;
/// while we try at least so often,
const TRIES: u32 = 10_000;
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

/// What a tool does to a file, and the path that it does it to.
#[derive(Debug, Clone, Copy)]
enum Way {
    /// `file_write`, in each of its modes.
    Write(PutMode, &'static str),
    /// `file_update`: read, then replace what was read.
    Update(&'static str),
    /// `apply_patch`: several files, some new, some changed, some gone.
    Patch(&'static str, &'static str),
    /// A new directory of each time, and a file in it.
    Directory,
}

const WAYS: [Way; 8] = [
    Way::Write(PutMode::Replace, "d/file"),
    Way::Write(PutMode::Append, "d/deep/er/file"),
    Way::Directory,
    Way::Write(PutMode::Create, "d/made"),
    Way::Update("d/file"),
    Way::Update("d/secret.txt"),
    Way::Patch("d/one", "d/file"),
    Way::Patch("d/deep/one", "d/secret.txt"),
];

impl Way {
    async fn go(self, world: &World, tries: u32) -> Result<(), FilesError> {
        let files = &world.files;
        match self {
            Self::Write(mode, path) => {
                files.put(here(path), put("x", mode, None)).await?;
            }
            Self::Update(path) => {
                let hash = files.hash(here(path)).await?;
                let change = put("updated", PutMode::Replace, Some(hash));
                files.put(here(path), change).await?;
            }
            Self::Patch(made, changed) => {
                let change = |path: &str, to| FileChange {
                    path: path.to_owned(),
                    reach: Reach::Workspace,
                    to,
                };
                let bytes = Bytes::from_static(b"patched");
                let mut changes = Vec::new();
                match files.hash(here(made)).await {
                    Ok(if_hash) => changes.push(change(made, Becomes::Removed { if_hash })),
                    Err(_) => {
                        let (bytes, mode) = (bytes.clone(), NewMode::Plain);
                        changes.push(change(made, Becomes::Created { bytes, mode }));
                    }
                }
                // The secret is known to who asks for it to be changed: its hash is no help.
                let if_hash = match files.hash(here(changed)).await {
                    Ok(hash) => hash,
                    Err(_) => Hash::of(SECRET),
                };
                changes.push(change(changed, Becomes::Replaced { bytes, if_hash }));
                files.commit(changes).await?;
            }
            Self::Directory => {
                let path = format!("d/new{}/er/file", tries % 500);
                files
                    .put(here(&path), put("x", PutMode::Append, None))
                    .await?;
            }
        }
        Ok(())
    }
}

#[test]
fn a_swapped_directory_never_lets_anything_outside() {
    let world = World::in_memory();
    fs::create_dir(world.path("d")).unwrap();
    symlink(&world.outside, world.path("evil")).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let [d, evil] = ["d", "evil"].map(|name| world.path(name));
    let (mut inside, mut refused) = (0_u32, 0_u32);
    race(
        // The directory and the link change names at once: the name is never free.
        || rustix::fs::renameat_with(CWD, &d, CWD, &evil, RenameFlags::EXCHANGE).unwrap(),
        |tries| {
            let way = WAYS[tries as usize % WAYS.len()];
            match runtime.block_on(way.go(&world, tries)) {
                Ok(()) => inside += 1,
                Err(_) => refused += 1,
            }
            // To look costs more than to write.
            if tries % 25 != 0 {
                return;
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
    assert!(
        inside > 0 && refused > 0,
        "{inside} written, {refused} refused"
    );
    let secret = fs::read_to_string(world.outside.join("secret.txt")).unwrap();
    assert_eq!(secret, SECRET);
}

#[test]
fn a_file_swapped_for_a_link_is_never_written_through() {
    let world = World::in_memory();
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
