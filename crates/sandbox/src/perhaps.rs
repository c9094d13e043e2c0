//! Limits that a command has perhaps reached. Where no control group counts, the kernel tells a limit
//! to the program alone, which is refused a process or memory: its own words on its standard error
//! are what there is. They are no proof, and that is said.

use outfitter_core::{Refusal, Refused};
use outfitter_process::Limits;

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

/// What these lines say was reached, beyond what is known to have been.
pub(crate) fn reached(stderr: &str, limits: &Limits, known: &[Refusal]) -> Vec<Refusal> {
    let is_new = |rule| {
        known
            .iter()
            .all(|refusal| refusal.refused != Refused::Rule(rule))
    };
    let lower = stderr.to_ascii_lowercase();
    let mut found = Vec::new();
    if is_new("processes") && lower.lines().any(says_no_process) {
        found.push(Refusal {
            refused: Refused::Rule("processes"),
            allow: Some("[sandbox] processes".to_owned()),
            why: format!(
                "perhaps the limit of {} processes and threads was reached: it says that it could \
                 start no more",
                limits.processes
            ),
        });
    }
    let says_no_memory = |line: &str| NO_MEMORY.iter().any(|words| line.contains(words));
    if let Some(bytes) = limits.memory_bytes
        && is_new("memory_mb")
        && lower.lines().any(says_no_memory)
    {
        found.push(Refusal {
            refused: Refused::Rule("memory_mb"),
            allow: Some("[sandbox] memory_mb".to_owned()),
            why: format!(
                "perhaps the memory limit of {} MiB was reached: it says that it got no more",
                bytes / (1024 * 1024)
            ),
        });
    }
    found
}

fn says_no_process(line: &str) -> bool {
    let names = |words: &[&str]| words.iter().any(|word| line.contains(word));
    names(NO_PROCESS) || line.contains(TRY_AGAIN) && names(STARTING)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("/bin/sh: 1: Cannot fork", &["processes"])]
    #[case("bash: fork: retry: Resource temporarily unavailable", &["processes"])]
    #[case("BlockingIOError: [Errno 11] Resource temporarily unavailable", &["processes"])]
    #[case("RuntimeError: can't start new thread", &["processes"])]
    #[case("read: Resource temporarily unavailable", &[])]
    #[case("MemoryError", &["memory_mb"])]
    #[case("terminate called after throwing an instance of 'std::bad_alloc'", &["memory_mb"])]
    #[case("tail: memory exhausted", &["memory_mb"])]
    #[case("all is well", &[])]
    fn the_words_of_a_limit_name_it(#[case] line: &str, #[case] rules: &[&'static str]) {
        let limits = Limits {
            memory_bytes: Some(1 << 20),
            ..Limits::DEFAULT
        };
        let found = reached(line, &limits, &[]);
        let expected: Vec<_> = rules.iter().map(|rule| Refused::Rule(rule)).collect();
        let got: Vec<_> = found.iter().map(|one| one.refused.clone()).collect();
        assert_eq!(got, expected);
        assert!(found.iter().all(|one| one.why.starts_with("perhaps")));
        assert_eq!(reached(line, &limits, &found), []);
        let memory = Refused::Rule("memory_mb");
        let unlimited = reached(line, &Limits::DEFAULT, &[]);
        assert!(unlimited.iter().all(|one| one.refused != memory));
    }
}
