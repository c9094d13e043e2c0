//! Processor time. Wall time on a shared machine measures the neighbours.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use super::Fallible;

/// The processor time of this process so far, all threads, user and system.
pub(crate) fn of_process() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(
        u64::try_from(time.tv_sec).unwrap_or_default(),
        u32::try_from(time.tv_nsec).unwrap_or_default(),
    )
}

/// Cleans up after a round. Its cost is not counted.
pub(crate) type After<'a> = Box<dyn FnOnce() -> Fallible<()> + 'a>;

/// One way of doing something, and how many times a round does it.
pub(crate) struct Case<'a> {
    name: &'static str,
    times: u32,
    round: Box<dyn FnMut() -> Fallible<After<'a>> + 'a>,
}

impl<'a> Case<'a> {
    pub(crate) fn new(
        name: &'static str,
        times: u32,
        mut round: impl FnMut() -> Fallible<()> + 'a,
    ) -> Self {
        Self::with_after(name, times, move || {
            round()?;
            Ok(Box::new(|| Ok(())))
        })
    }

    pub(crate) fn with_after(
        name: &'static str,
        times: u32,
        round: impl FnMut() -> Fallible<After<'a>> + 'a,
    ) -> Self {
        Self {
            name,
            times,
            round: Box::new(round),
        }
    }
}

/// What one time costs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cost {
    pub(crate) name: &'static str,
    pub(crate) least: Duration,
    pub(crate) median: Duration,
    pub(crate) most: Duration,
}

/// Measures the cases in turn, so that what else the machine does falls on all of them alike. The
/// first round warms up and does not count. With words on the command line only the cases whose
/// names have one of them are measured, for a profiler to look at.
pub(crate) fn compare(rounds: usize, mut cases: Vec<Case<'_>>) -> Fallible<Vec<Cost>> {
    let words: Vec<String> = std::env::args()
        .skip(1)
        .filter(|word| !word.starts_with('-'))
        .collect();
    if !words.is_empty() {
        cases.retain(|case| words.iter().any(|word| case.name.contains(&**word)));
    }
    let mut taken: Vec<Vec<Duration>> = vec![Vec::with_capacity(rounds); cases.len()];
    for round in 0..=rounds {
        for (case, taken) in cases.iter_mut().zip(&mut taken) {
            let before = of_process();
            let after = (case.round)()?;
            let used = of_process().saturating_sub(before) / case.times;
            after()?;
            if round > 0 {
                taken.push(used);
            }
        }
    }
    Ok(cases
        .iter()
        .zip(taken)
        .map(|(case, mut taken)| {
            taken.sort_unstable();
            Cost {
                name: case.name,
                least: taken.first().copied().unwrap_or_default(),
                median: taken.get(taken.len() / 2).copied().unwrap_or_default(),
                most: taken.last().copied().unwrap_or_default(),
            }
        })
        .collect())
}

/// The median of a case, if it was measured.
pub(crate) fn median(costs: &[Cost], name: &str) -> Option<Duration> {
    let cost = costs.iter().find(|cost| cost.name == name)?;
    Some(cost.median)
}
