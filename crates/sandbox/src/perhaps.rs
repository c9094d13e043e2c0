//! Limits that a command has perhaps reached. Where no control group counts, the kernel tells a limit
//! to the program alone, which is refused a process or memory, or to the parent of a process that it
//! ended: their own words on standard error are what there is. They are no proof, and that is said.

use outfitter_core::{Refusal, Refused};
use outfitter_process::{Limit, Limits};

/// What is said where no process or thread could be started.
const NO_PROCESS: &[&str] = &[
    "cannot fork",
    "can't fork",
    "can't start new thread",
    "unable to create native thread",
    "blockingioerror: [errno 11]",
];

/// The error itself, which has other causes too: the line has to say what failed.
const TRY_AGAIN: &str = "resource temporarily unavailable";
const STARTING: &[&str] = &["fork", "thread", "clone", "spawn", "process", "exec"];

/// What is said where memory was refused.
const NO_MEMORY: &[&str] = &[
    "memoryerror",
    "cannot allocate memory",
    "std::bad_alloc",
    "memory exhausted",
    "memory allocation of",
    "out of memory",
];

/// What is said of a process that `SIGXCPU` ended: C libraries, shells, and who names signals.
const NO_TIME: &[&str] = &["cpu time limit exceeded", "cpu limit exceeded", "sigxcpu"];

/// What is said of a process that `SIGXFSZ` ended, and where a write was refused as too large.
const NO_ROOM: &[&str] = &[
    "file size limit exceeded",
    "filesize limit exceeded",
    "sigxfsz",
    "efbig",
    "[errno 27]",
    "(os error 27)",
];

/// The error itself. Programs say the same of what they take: it has to be the end of the line, as an
/// error of the system is.
const TOO_LARGE: &str = ": file too large";

/// A limit, and what is said where it was perhaps reached.
struct Told {
    limit: Limit,
    rule: &'static str,
    allow: Option<&'static str>,
    is_said_by: fn(&str) -> bool,
    why: String,
}

/// What these lines say was reached, beyond what is known to have been. Of what a control group
/// `counted` everything is known.
pub(crate) fn reached(
    stderr: &str,
    limits: &Limits,
    counted: &[Limit],
    known: &[Refusal],
) -> Vec<Refusal> {
    let lower = stderr.to_ascii_lowercase();
    let is_open = |told: &Told| {
        let rule = Refused::Rule(told.rule);
        !counted.contains(&told.limit) && known.iter().all(|refusal| refusal.refused != rule)
    };
    all(limits)
        .into_iter()
        .filter(is_open)
        .filter(|told| lower.lines().any(told.is_said_by))
        .map(|told| Refusal {
            refused: Refused::Rule(told.rule),
            allow: told.allow.map(str::to_owned),
            why: format!("perhaps {}", told.why),
        })
        .collect()
}

fn all(limits: &Limits) -> Vec<Told> {
    let mut all = vec![Told {
        limit: Limit::Processes,
        rule: "processes",
        allow: Some("[sandbox] processes"),
        is_said_by: says_no_process,
        why: format!(
            "the limit of {} processes and threads was reached: it says that it could start no more",
            limits.processes
        ),
    }];
    all.extend(limits.memory_bytes.map(|bytes| Told {
        limit: Limit::Memory,
        rule: "memory_mb",
        allow: Some("[sandbox] memory_mb"),
        is_said_by: |line| names(line, NO_MEMORY),
        why: format!(
            "the memory limit of {} MiB was reached: it says that it got no more",
            bytes / (1024 * 1024)
        ),
    }));
    all.extend(limits.cpu_seconds.map(|seconds| Told {
        limit: Limit::Time,
        rule: "cpu_seconds",
        allow: Some("[sandbox] cpu_seconds"),
        is_said_by: |line| names(line, NO_TIME),
        why: format!(
            "the limit of {seconds} s of the processor was reached: it says that a process was \
             ended by it"
        ),
    }));
    all.push(Told {
        limit: Limit::FileSize,
        rule: "file_bytes",
        // A constant: it stops what runs away.
        allow: None,
        is_said_by: says_no_room,
        why: format!(
            "a file was to have more than {} MiB: it says that it was too large",
            limits.file_bytes / (1024 * 1024)
        ),
    });
    all
}

fn names(line: &str, words: &[&str]) -> bool {
    words.iter().any(|word| line.contains(word))
}

fn says_no_process(line: &str) -> bool {
    names(line, NO_PROCESS) || line.contains(TRY_AGAIN) && names(line, STARTING)
}

fn says_no_room(line: &str) -> bool {
    names(line, NO_ROOM) || line.trim_end().ends_with(TOO_LARGE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    const ALL: Limits = Limits {
        memory_bytes: Some(1 << 20),
        cpu_seconds: Some(1),
        ..Limits::DEFAULT
    };

    fn rules(found: &[Refusal]) -> Vec<Refused> {
        found.iter().map(|one| one.refused.clone()).collect()
    }

    #[rstest]
    #[case("/bin/sh: 1: Cannot fork", &["processes"])]
    #[case("bash: fork: retry: Resource temporarily unavailable", &["processes"])]
    #[case("BlockingIOError: [Errno 11] Resource temporarily unavailable", &["processes"])]
    #[case("RuntimeError: can't start new thread", &["processes"])]
    #[case("read: Resource temporarily unavailable", &[])]
    #[case("MemoryError", &["memory_mb"])]
    #[case("terminate called after throwing an instance of 'std::bad_alloc'", &["memory_mb"])]
    #[case("tail: memory exhausted", &["memory_mb"])]
    #[case("CPU time limit exceeded", &["cpu_seconds"])]
    #[case("sh: line 1:   712 CPU time limit exceeded sh -c 'while :; do :; done'", &["cpu_seconds"])]
    #[case("died with <Signals.SIGXCPU: 24>", &["cpu_seconds"])]
    #[case("File size limit exceeded", &["file_bytes"])]
    #[case("OSError: [Errno 27] File too large", &["file_bytes"])]
    #[case("dd: failed to truncate to 1 bytes in output file 'big': File too large", &["file_bytes"])]
    #[case("Error: EFBIG: file too large, write", &["file_bytes"])]
    #[case("413: file too large for this form", &[])]
    #[case("all is well", &[])]
    fn the_words_of_a_limit_name_it(#[case] line: &str, #[case] expected: &[&'static str]) {
        let found = reached(line, &ALL, &[], &[]);
        let expected: Vec<_> = expected.iter().map(|rule| Refused::Rule(rule)).collect();
        assert_eq!(rules(&found), expected);
        assert!(found.iter().all(|one| one.why.starts_with("perhaps")));
        assert_eq!(reached(line, &ALL, &[], &found), []);
        let unlimited = rules(&reached(line, &Limits::DEFAULT, &[], &[]));
        let given = ["memory_mb", "cpu_seconds"].map(Refused::Rule);
        assert!(unlimited.iter().all(|rule| !given.contains(rule)));
    }

    #[rstest]
    #[case("MemoryError: 1", Limit::Memory)]
    #[case("Cannot fork", Limit::Processes)]
    #[case("fork: Resource temporarily unavailable", Limit::Processes)]
    fn the_words_of_a_limit_were_believed_where_a_control_group_counts(
        #[case] line: &str,
        #[case] limit: Limit,
    ) {
        assert_eq!(reached(line, &ALL, &[limit], &[]), []);
    }
}
