//! What ended the processes of a tree, and what that is evidence of.

use std::time::Duration;

use crate::exit::Ending;

/// What counting by ticks and measuring may be apart in a short time.
const TICKS_MISS: Duration = Duration::from_millis(500);

/// What a shell adds to the number of the signal that ended its command.
const SHELL_ADDS: i32 = 128;

/// How processes of a tree ended.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// The child, if nobody asked it to.
    pub(super) by_itself: Option<Ending>,
    /// Signals that ended others while it ran; of those alone whose parent had gone.
    pub(super) others: Vec<i32>,
}

/// How well it is known that a process was ended by one of some signals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Evidence {
    /// The kernel has said so.
    Known,
    /// This exit code says so, if it is of a shell or of another program that passes on how its own
    /// command ended; a program may as well exit with it for a reason of its own.
    Perhaps(i32),
}

impl Seen {
    /// How well it is known that one of these ended a process.
    pub(super) fn of(&self, signals: &[i32]) -> Option<Evidence> {
        // `SIGKILL` of one among many says little: what wraps a command ends its own by it.
        let tells = |signal: &i32| *signal != libc::SIGKILL && signals.contains(signal);
        let others = self.others.iter().any(tells);
        match self.by_itself {
            Some(Ending::Signal(signal)) if signals.contains(&signal) => Some(Evidence::Known),
            _ if others => Some(Evidence::Known),
            Some(Ending::Code(code)) if signals.contains(&(code - SHELL_ADDS)) => {
                Some(Evidence::Perhaps(code))
            }
            Some(_) | None => None,
        }
    }

    /// What the limit of `most` seconds of the processor did, where all that have ended used
    /// `used`.
    ///
    /// That is measured, and the limit counts by whole ticks, which on a busy machine are some way
    /// apart: half of it is enough where the limit's own signal is seen.
    pub(super) fn of_time(&self, most: u64, used: Duration) -> Option<String> {
        let each = Duration::from_secs(most);
        let is_used_up = used + Duration::max(each / 10, TICKS_MISS) >= each;
        let signals: &[i32] = match is_used_up {
            true => &[libc::SIGXCPU, libc::SIGKILL],
            false if used >= each / 2 => &[libc::SIGXCPU],
            false => &[],
        };
        // That all together used it up is no evidence: each of them may use so much.
        self.of(signals).map(|evidence| {
            evidence.said(
                &format!("the limit of {most} s of the processor was reached"),
                &format!("used more than {most} s of the processor"),
            )
        })
    }
}

impl Evidence {
    /// What to say of it, where it is known and where only something was done that it is the code of.
    pub(super) fn said(self, known: &str, did: &str) -> String {
        match self {
            Self::Known => known.to_owned(),
            Self::Perhaps(code) => {
                format!("perhaps: {code} is the exit code for a process that {did}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case::the_kernel_said_so(Some(Ending::Signal(25)), &[], Some(Evidence::Known))]
    #[case::of_another(Some(Ending::Code(0)), &[25], Some(Evidence::Known))]
    #[case::of_another_though_the_code_says_it(Some(Ending::Code(153)), &[25], Some(Evidence::Known))]
    #[case::a_code_alone(Some(Ending::Code(153)), &[], Some(Evidence::Perhaps(153)))]
    #[case::another_signal(Some(Ending::Signal(9)), &[15], None)]
    #[case::another_code(Some(Ending::Code(25)), &[], None)]
    #[case::asked_to_end(None, &[], None)]
    fn an_exit_code_alone_is_no_proof(
        #[case] by_itself: Option<Ending>,
        #[case] others: &[i32],
        #[case] evidence: Option<Evidence>,
    ) {
        let others = others.to_vec();
        let seen = Seen { by_itself, others };
        assert_eq!(seen.of(&[libc::SIGXFSZ]), evidence);
    }

    /// A busy machine's ticks ran ahead of what was measured, and the limit was not named.
    #[rstest]
    #[case::far_from_it(400, Ending::Code(0), None)]
    #[case::far_from_it_by_a_signal_of_its_own(400, Ending::Signal(libc::SIGXCPU), None)]
    #[case::by_ticks(
        600,
        Ending::Signal(libc::SIGXCPU),
        Some("the limit of 1 s of the processor was reached")
    )]
    #[case::passed_on(
        600,
        Ending::Code(152),
        Some(
            "perhaps: 152 is the exit code for a process that used more than 1 s of the processor"
        )
    )]
    #[case::signal_ignored(
        2_000,
        Ending::Signal(libc::SIGKILL),
        Some("the limit of 1 s of the processor was reached")
    )]
    #[case::together_and_none_of_them_was_ended(2_000, Ending::Code(0), None)]
    #[case::passed_on_by_what_wraps_it(
        2_000,
        Ending::Code(152),
        Some(
            "perhaps: 152 is the exit code for a process that used more than 1 s of the processor"
        )
    )]
    fn time_that_was_counted_by_ticks_is_told_though_less_was_measured(
        #[case] used: u64,
        #[case] ending: Ending,
        #[case] said: Option<&str>,
    ) {
        let seen = Seen {
            by_itself: Some(ending),
            others: vec![libc::SIGKILL],
        };
        let told = seen.of_time(1, Duration::from_millis(used));
        assert_eq!(told.as_deref(), said);
    }
}
