//! What children leave behind goes, however it lies there.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;

use outfitter_process::remains::{Passing, Removed, bytes_beneath, remove_tree};
use rustix::fd::OwnedFd;
use rustix::fs::{CWD, Mode, OFlags};

/// Deeper than any thread has frames for.
const DEEP: usize = 15_000;

const NOBODY: u32 = 65_534;

/// Directories in directories, with a file of one byte in the last.
fn deep(at: &Path) {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY;
    let mode = Mode::from_raw_mode(0o755);
    let mut here: OwnedFd = rustix::fs::openat(CWD, at, flags, Mode::empty()).unwrap();
    for _ in 0..DEEP {
        rustix::fs::mkdirat(&here, "d", mode).unwrap();
        here = rustix::fs::openat(&here, "d", flags, Mode::empty()).unwrap();
    }
    let flags = OFlags::CREATE | OFlags::WRONLY;
    let file = rustix::fs::openat(&here, "f", flags, mode).unwrap();
    rustix::io::write(file, b"x").unwrap();
}

/// Runs it where there is no room to call oneself for each level.
fn on_a_small_stack<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let thread = std::thread::Builder::new().stack_size(128 << 10);
    thread.spawn(work).unwrap().join().unwrap()
}

/// Runs it with the rights of an account that may not do everything.
fn as_nobody<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let thread = std::thread::spawn(move || {
        // SAFETY: it changes what this one thread may do with files, and the thread ends.
        unsafe {
            libc::setfsgid(NOBODY);
            libc::setfsuid(NOBODY);
        }
        work()
    });
    thread.join().unwrap()
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// A directory in memory where there is one: on a disk a tree so deep takes long.
fn fast_dir() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm")
        .or_else(|_| tempfile::tempdir())
        .unwrap()
}

#[test]
fn a_tree_deeper_than_the_stack_ended_the_program_that_deleted_it() {
    let dir = fast_dir();
    let root = dir.path().join("root");
    fs::create_dir(&root).unwrap();
    deep(&root);
    let counted = {
        let root = fs::File::open(&root).unwrap();
        on_a_small_stack(move || bytes_beneath(root, u64::MAX))
    };
    assert_eq!(counted, 1, "the file is counted however deep it lies");
    let path = root.clone();
    let removed = on_a_small_stack(move || remove_tree(&path));
    assert_eq!(removed.unwrap(), Removed::Gone);
    assert!(!root.exists());
}

#[test]
fn directories_whose_bits_forbid_it_stayed_behind() {
    let dir = tempfile::tempdir().unwrap();
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let root = dir.path().join("root");
    let path = root.clone();
    let removed = as_nobody(move || {
        fs::create_dir_all(path.join("closed/inner/x")).unwrap();
        fs::write(path.join("closed/inner/file"), "x").unwrap();
        fs::create_dir_all(path.join("fixed")).unwrap();
        fs::write(path.join("fixed/file"), "x").unwrap();
        for (name, mode) in [("closed/inner", 0o000), ("closed", 0o000), ("fixed", 0o555)] {
            fs::set_permissions(path.join(name), fs::Permissions::from_mode(mode)).unwrap();
        }
        fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
        remove_tree(&path)
    });
    assert_eq!(removed.unwrap(), Removed::Gone);
    assert!(!root.exists());
}

#[test]
fn what_cannot_be_removed_is_named_and_the_rest_goes() {
    if !is_root() {
        eprintln!("SKIPPED(root): nothing here belongs to another account");
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("root");
    for name in ["a/foreign", "b/c"] {
        fs::create_dir_all(root.join(name)).unwrap();
    }
    for name in ["a/foreign/1", "a/foreign/2", "a/x", "b/c/y"] {
        fs::write(root.join(name), "x").unwrap();
    }
    for path in [
        dir.path().to_owned(),
        root.clone(),
        root.join("a"),
        root.join("b"),
        root.join("b/c"),
    ] {
        std::os::unix::fs::chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
    }
    let path = root.clone();
    let left = as_nobody(move || remove_tree(&path)).unwrap_err();
    assert!(left.path.starts_with(root.join("a/foreign")), "{left:?}");
    assert_eq!(left.others, 1, "{left:?}");
    let said = left.sentence();
    assert!(said.contains("and 1 more cannot be removed"), "{said}");
    assert!(said.contains("denied"), "{said}");
    assert!(root.join("a/foreign/1").exists());
    for gone in ["a/x", "b"] {
        assert!(!root.join(gone).exists(), "{gone} could be removed");
    }
}

#[test]
fn links_go_and_what_they_lead_to_stays() {
    let dir = tempfile::tempdir().unwrap();
    let kept = dir.path().join("kept");
    fs::create_dir_all(kept.join("inner")).unwrap();
    fs::write(kept.join("file"), "x").unwrap();
    fs::set_permissions(kept.join("inner"), fs::Permissions::from_mode(0o500)).unwrap();
    let root = dir.path().join("root");
    fs::create_dir_all(root.join("a")).unwrap();
    for (at, to) in [
        ("a/up", "../.."),
        ("a/kept", "../../kept"),
        ("inner", "../kept/inner"),
    ] {
        symlink(to, root.join(at)).unwrap();
    }
    let link = dir.path().join("link");
    symlink(&kept, &link).unwrap();
    for path in [&root, &link] {
        assert_eq!(remove_tree(path).unwrap(), Removed::Gone);
        assert!(path.symlink_metadata().is_err());
    }
    assert!(kept.join("file").exists());
    let mode = kept.join("inner").metadata().unwrap().mode();
    assert_eq!(mode & 0o777, 0o500);
    assert_eq!(remove_tree(&root).unwrap(), Removed::WasNotThere);
    let nowhere = root.join("no/where");
    assert_eq!(remove_tree(&nowhere).unwrap(), Removed::WasNotThere);
    assert!(remove_tree(Path::new("/")).is_err());
}

#[test]
fn wide_directories_and_odd_names_go() {
    use std::os::unix::ffi::OsStrExt;
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("root");
    for number in 0..2000 {
        fs::create_dir_all(root.join(format!("{number}/in"))).unwrap();
        fs::write(root.join(format!("{number}/in/file")), "x").unwrap();
    }
    let odd = std::ffi::OsStr::from_bytes(b"\xff\xfe");
    fs::create_dir_all(root.join(odd).join(odd)).unwrap();
    rustix::fs::mkfifoat(CWD, root.join("pipe"), Mode::from_raw_mode(0o600)).unwrap();
    let opened = fs::File::open(&root).unwrap();
    assert_eq!(bytes_beneath(&opened, u64::MAX), 2000);
    assert!(bytes_beneath(&opened, 100) < 2000);
    assert_eq!(remove_tree(&root).unwrap(), Removed::Gone);
}

/// A tree in which directories are moved out and in while it is removed: what is outside stays.
#[test]
fn a_directory_moved_out_meanwhile_takes_nobody_along() {
    let dir = tempfile::tempdir().unwrap();
    let outside = dir.path().join("outside");
    fs::create_dir_all(outside.join("kept/a/b")).unwrap();
    for round in 0..50 {
        let root = dir.path().join(format!("root-{round}"));
        fs::create_dir_all(root.join("x/y/z/w")).unwrap();
        let (from, to) = (root.join("x/y"), outside.join("moved"));
        let mover = std::thread::spawn(move || {
            for _ in 0..100 {
                let _ = fs::rename(&from, &to);
                let _ = fs::rename(&to, &from);
            }
        });
        let _ = remove_tree(&root);
        mover.join().unwrap();
        assert!(outside.join("kept/a/b").exists(), "round {round}");
        let _ = remove_tree(&outside.join("moved"));
    }
}

#[test]
fn a_passing_directory_goes_with_its_value() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("for-a-while");
    fs::create_dir_all(path.join("a/b")).unwrap();
    let passing = Passing::of(path.clone());
    assert_eq!(passing.path(), path);
    drop(passing);
    assert!(!path.exists());
}
