//! Tests of the spool.

use super::*;
use outfitter_process::Stream::{Stderr, Stdout};
use proptest::prelude::*;

fn spool() -> (tempfile::TempDir, Spool) {
    let dir = tempfile::tempdir().unwrap();
    let spool = Spool::create(dir.path(), &job(), Arc::default()).unwrap();
    (dir, spool)
}

fn job() -> JobId {
    JobId::new("job_a").unwrap()
}

fn quota() -> Arc<Quota> {
    Arc::default()
}

#[test]
fn nobody_else_may_open_it_and_once_removed_it_leaves_no_name_behind() {
    use std::os::unix::fs::PermissionsExt;
    let (dir, spool) = spool();
    let mut modes = std::fs::read_dir(dir.path())
        .unwrap()
        .map(|entry| entry.unwrap().metadata().unwrap().permissions().mode() & 0o777);
    assert_eq!(modes.next().zip(modes.next()), Some((0o600, 0o600)));
    assert!(Spool::create(dir.path(), &job(), quota()).is_err());
    spool.remove();
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn what_no_job_is_known_of_is_removed_and_nothing_else() {
    let (dir, _spool) = spool();
    for name in ["job_b.out", "job_b.streams", "job_b.json", "other"] {
        std::fs::write(dir.path().join(name), "x").unwrap();
    }
    remove_stray(dir.path(), |id| id == "job_a");
    let entries = std::fs::read_dir(dir.path()).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["job_a.out", "job_a.streams", "job_b.json", "other"]);
}

/// The oldest makes room: a session never holds more than its quota, wherever it comes from.
#[test]
fn a_quota_is_of_bytes_and_counts_what_was_found() {
    let (dir, first) = spool();
    let held = |quota: &Quota| quota.0.load(Ordering::Relaxed);
    let mut tally = Tally::default();
    first.append(&mut tally, Stdout, &[b'x'; 1000]).unwrap();
    assert_eq!(held(&first.quota), 1000);
    drop(first);
    let quota = quota();
    let (found, _) = Spool::reopen(dir.path(), &job(), quota.clone()).unwrap();
    assert_eq!(held(&quota), 1000);
    drop(found);
    assert_eq!(held(&quota), 0, "what is closed is given back");
    // A session that is full but for 999 bytes has no room for it.
    let full = SESSION_SPOOL_BYTES - 999;
    quota.0.store(full, Ordering::Relaxed);
    assert!(Spool::reopen(dir.path(), &job(), quota.clone()).is_none());
    assert_eq!(held(&quota), full, "and takes nothing");
    let other = JobId::new("job_b").unwrap();
    let second = Spool::create(dir.path(), &other, quota.clone()).unwrap();
    let mut tally = Tally::default();
    second.append(&mut tally, Stdout, &[b'y'; 1500]).unwrap();
    assert_eq!((tally.written, tally.dropped), (999, 501));
    assert!(!quota.has_room_without(0) && quota.has_room_without(SPOOL_BYTES));
    assert_eq!(held(&quota), SESSION_SPOOL_BYTES);
    quota.0.fetch_sub(full, Ordering::Relaxed);
}

#[test]
fn files_that_make_no_sense_are_none() {
    let (dir, spool) = spool();
    let mut tally = Tally::default();
    spool.append(&mut tally, Stdout, b"abc").unwrap();
    spool.append(&mut tally, Stderr, b"def").unwrap();
    let reopened = || Spool::reopen(dir.path(), &job(), quota());
    assert_eq!(reopened().unwrap().1, tally);
    // Written half way: a change behind the last byte, and a part of one.
    let changes = |numbers: &[u64], more: &[u8]| {
        let bytes = numbers.iter().flat_map(|number| number.to_le_bytes());
        let bytes: Vec<u8> = bytes.chain(more.iter().copied()).collect();
        std::fs::write(dir.path().join("job_a.streams"), bytes).unwrap();
    };
    changes(&[0, 3 << 1 | 1, 6 << 1], b"xyz");
    assert_eq!(reopened().unwrap().1, tally);
    changes(&[2 << 1], b"");
    assert!(reopened().is_none(), "nothing says what comes first");
    changes(&[0, 3 << 1, 3 << 1], b"");
    assert!(reopened().is_none(), "two changes in one place");
    changes(&[], b"");
    assert_eq!(reopened().unwrap().1, Tally::default());
    std::fs::remove_file(dir.path().join("job_a.out")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", dir.path().join("job_a.out")).unwrap();
    assert!(reopened().is_none(), "a link");
}

#[test]
fn what_does_not_fit_is_counted_and_nothing_is_kept_after_it() {
    let (_dir, spool) = spool();
    let mut tally = Tally::default();
    let limit = 10 + RECORD * 2;
    for (stream, piece) in [
        (Stdout, "0123"),
        (Stderr, "456789"),
        (Stderr, "x"),
        (Stdout, "y"),
    ] {
        spool
            .append_within(&mut tally, stream, piece.as_bytes(), limit)
            .unwrap();
    }
    let (pieces, next) = spool.read(&tally, Offset(0), 100).unwrap();
    let kept: Vec<u8> = pieces
        .iter()
        .flat_map(|(_, bytes)| bytes.to_vec())
        .collect();
    assert_eq!(kept.len() as u64, tally.written);
    assert_eq!(next, Offset(tally.written));
    assert!(b"0123456789".starts_with(&kept), "{kept:?}");
    assert_eq!(tally.written + tally.dropped, 12);
    assert!(tally.dropped > 0);
    assert_eq!((tally.stdout, tally.stderr), (5, 7));
}

proptest! {
    #[test]
    fn every_range_is_exact_and_ordered(
        written in prop::collection::vec((any::<bool>(), prop::collection::vec(any::<u8>(), 0..20)), 0..40),
        from in 0_u64..500,
        max in 1_usize..100,
    ) {
        let (dir, spool) = spool();
        let mut tally = Tally::default();
        let mut expected: Vec<(Stream, u8)> = Vec::new();
        for (is_err, piece) in &written {
            let stream = if *is_err { Stderr } else { Stdout };
            spool.append(&mut tally, stream, piece).unwrap();
            let stream = if *is_err { Stream::Stderr } else { Stream::Stdout };
            expected.extend(piece.iter().map(|byte| (stream, *byte)));
        }
        let (pieces, next) = spool.read(&tally, Offset(from), max).unwrap();
        let got: Vec<(Stream, u8)> = pieces
            .iter()
            .flat_map(|(stream, bytes)| bytes.iter().map(|byte| (*stream, *byte)))
            .collect();
        let start = usize::try_from(from).unwrap().min(expected.len());
        let end = expected.len().min(start + max);
        prop_assert_eq!(&got[..], &expected[start..end]);
        prop_assert_eq!(next, Offset(end as u64));
        prop_assert!(pieces.iter().all(|(_, bytes)| !bytes.is_empty()));
        prop_assert!(pieces.windows(2).all(|two| two[0].0 != two[1].0));
        // A later program finds the same.
        drop(spool);
        let (found, counted) = Spool::reopen(dir.path(), &job(), quota()).unwrap();
        prop_assert_eq!(counted, tally);
        let again = found.read(&counted, Offset(from), max).unwrap();
        prop_assert_eq!(again, (pieces, next));
    }
}
