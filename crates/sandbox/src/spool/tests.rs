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
    let modes = std::fs::read_dir(dir.path())
        .unwrap()
        .map(|entry| entry.unwrap().metadata().unwrap().permissions().mode() & 0o777);
    assert_eq!(modes.collect::<Vec<_>>(), [0o600; 3]);
    assert!(Spool::create(dir.path(), &job(), quota()).is_err());
    spool.remove();
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn what_no_job_is_known_of_is_removed_and_nothing_else() {
    let (dir, _spool) = spool();
    for name in [
        "job_b.out",
        "job_b.streams",
        "job_b.gone",
        "job_b.json",
        "other",
    ] {
        std::fs::write(dir.path().join(name), "x").unwrap();
    }
    remove_stray(dir.path(), |id| id == "job_a");
    let entries = std::fs::read_dir(dir.path()).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(
        names,
        [
            "job_a.gone",
            "job_a.out",
            "job_a.streams",
            "job_b.json",
            "other"
        ]
    );
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
    for _ in 0..3 {
        second.append(&mut tally, Stdout, &[b'y'; 900]).unwrap();
    }
    assert_eq!((tally.written, second.dropped()), (2700, 1800));
    assert!(!quota.has_room_without(0) && quota.has_room_without(SPOOL_BYTES));
    assert_eq!(held(&quota), SESSION_SPOOL_BYTES - 99);
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

/// What a reader from the beginning on gets: each byte with its stream, and the words for what is
/// not kept.
fn all(spool: &Spool, tally: &Tally, max: usize) -> (Vec<(Stream, u8)>, Vec<String>) {
    let (mut bytes, mut words) = (Vec::new(), Vec::new());
    let mut from = Offset(0);
    while from.0 < tally.written {
        let (pieces, next) = spool.read(tally, from, max).unwrap();
        assert!(next > from, "it goes on");
        for (stream, piece) in pieces {
            match stream {
                Stream::Info => words.push(String::from_utf8(piece.to_vec()).unwrap()),
                Stream::Stdout | Stream::Stderr => {
                    bytes.extend(piece.iter().map(|byte| (stream, *byte)));
                }
            }
        }
        from = next;
    }
    (bytes, words)
}

#[test]
fn a_job_that_prints_more_than_is_kept_was_deaf_from_then_on() {
    let (dir, spool) = spool();
    let mut tally = Tally::default();
    let limit = 8 << 20;
    let line = |number: u64| format!("line {number:>58}\n").into_bytes();
    let lines = 500_000;
    for number in 0..lines {
        let stream = if number % 1000 == 7 { Stderr } else { Stdout };
        spool
            .append_within(&mut tally, stream, &line(number), limit)
            .unwrap();
    }
    assert_eq!(tally.written, lines * 64, "offsets are those of all output");
    let gap = spool.gap().unwrap();
    assert!(tally.held(Some(&gap)) <= limit && gap.start == limit / HEAD_PART);
    assert!(
        spool.kept(&tally) > limit - 2 * LET_GO_BYTES,
        "nor is little kept"
    );
    let blocks = {
        use std::os::unix::fs::MetadataExt;
        spool.handles().unwrap().bytes.metadata().unwrap().blocks() * 512
    };
    assert!(blocks <= limit + (1 << 20), "{blocks} bytes on disk");
    // The beginning, the end, and a word in between.
    let read = |from: u64, max: usize| spool.read(&tally, Offset(from), max).unwrap();
    let of = |number: u64| Bytes::from(line(number));
    assert_eq!(read(0, 64), (vec![(Stream::Stdout, of(0))], Offset(64)));
    let last = (lines - 1) * 64;
    assert_eq!(
        read(last, 100),
        (vec![(Stream::Stdout, of(lines - 1))], Offset(tally.written))
    );
    let (pieces, next) = read(gap.start + 100, 64);
    assert_eq!(next, Offset(gap.end + 64));
    assert_eq!(pieces[0].0, Stream::Info);
    let words = String::from_utf8_lossy(&pieces[0].1).into_owned();
    assert!(
        words.contains(&format!("{} bytes of output", gap.bytes())),
        "{words}"
    );
    let (bytes, words) = all(&spool, &tally, 1 << 20);
    assert_eq!((bytes.len() as u64, words.len()), (spool.kept(&tally), 1));
    let errors = bytes.iter().filter(|(stream, _)| *stream == Stream::Stderr);
    assert!(
        errors.count() >= 64 * 100,
        "streams are told apart on both sides"
    );
    spool.close();
    assert_eq!(all(&spool, &tally, 1 << 20).0, bytes, "nor once it is over");
    // A later program finds the same, and no zeros for output.
    drop(spool);
    let (found, counted) = Spool::reopen(dir.path(), &job(), quota()).unwrap();
    assert_eq!(
        (counted.written, counted.changes),
        (tally.written, tally.changes)
    );
    assert_eq!(all(&found, &counted, 1 << 20).0, bytes);
    assert!(bytes.iter().all(|(_, byte)| *byte != 0));
}

proptest! {
    #[test]
    fn what_is_kept_is_the_beginning_and_the_end_whatever_is_printed(
        written in prop::collection::vec((any::<bool>(), 1_usize..40), 0..80),
        limit in 64_u64..400,
        max in 1_usize..100,
    ) {
        let (dir, spool) = spool();
        let mut tally = Tally::default();
        let mut expected: Vec<(Stream, u8)> = Vec::new();
        for (number, (is_err, length)) in written.iter().enumerate() {
            let piece = vec![u8::try_from(number).unwrap() + 1; *length];
            let stream = if *is_err { Stderr } else { Stdout };
            spool.append_within(&mut tally, stream, &piece, limit).unwrap();
            let stream = if *is_err { Stream::Stderr } else { Stream::Stdout };
            expected.extend(piece.iter().map(|byte| (stream, *byte)));
            prop_assert!(tally.held(spool.gap().as_ref()) <= limit);
        }
        prop_assert_eq!(tally.written, expected.len() as u64);
        if let Some(gap) = spool.gap() {
            let range = usize::try_from(gap.start).unwrap()..usize::try_from(gap.end).unwrap();
            expected.drain(range);
        }
        let (bytes, _) = all(&spool, &tally, max);
        prop_assert_eq!(&bytes, &expected);
        spool.close();
        prop_assert_eq!(&all(&spool, &tally, max).0, &expected);
        drop(spool);
        let (found, counted) = Spool::reopen(dir.path(), &job(), quota()).unwrap();
        prop_assert_eq!(counted.written, tally.written);
        prop_assert_eq!(all(&found, &counted, max).0, expected);
    }
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
