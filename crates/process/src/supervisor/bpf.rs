//! A filter for system calls, assembled by hand.
//!
//! Each rule is one block: "if this is the call, decide here and return". So no jump is longer than
//! a block, order does not matter, and a call no rule names is allowed at the end.
//!
//! It is not made with a filter library because two things have to be said that those do not say:
//! a range of numbers (the x32 numbers, and calls younger than the filter) and several different
//! answers in one filter.

use libc::sock_filter;

/// What becomes of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Allow,
    /// Fails with this error number.
    Errno(i32),
    /// Ends the process with `SIGSYS`.
    Kill,
}

impl Verdict {
    fn code(self) -> u32 {
        match self {
            Self::Allow => libc::SECCOMP_RET_ALLOW,
            Self::Errno(errno) => {
                libc::SECCOMP_RET_ERRNO | (errno.cast_unsigned() & libc::SECCOMP_RET_DATA)
            }
            Self::Kill => libc::SECCOMP_RET_KILL_PROCESS,
        }
    }
}

/// A test on one argument's low 32 bits, which is all the kernel looks at in the calls we test.
#[derive(Clone, Copy, Debug)]
pub(super) struct Argument {
    /// Which argument, from 0.
    pub(super) index: u32,
    /// Bits that count.
    pub(super) mask: u32,
}

// Offsets in `struct seccomp_data`.
const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;
const ARGUMENTS: u32 = 16;

const LOAD: u32 = libc::BPF_LD | libc::BPF_W | libc::BPF_ABS;
const AND: u32 = libc::BPF_ALU | libc::BPF_AND | libc::BPF_K;
const IF_EQUAL: u32 = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
const IF_AT_LEAST: u32 = libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K;
const IF_ANY_BIT: u32 = libc::BPF_JMP | libc::BPF_JSET | libc::BPF_K;
const RETURN: u32 = libc::BPF_RET | libc::BPF_K;

/// A filter being assembled.
pub(super) struct Filter(Vec<sock_filter>);

impl Filter {
    /// Begins with the architecture, which decides what a number means, and loads the number.
    pub(super) fn for_architecture(architecture: u32) -> Self {
        let mut filter = Self(Vec::with_capacity(256));
        filter.push(LOAD, ARCHITECTURE, 0, 0);
        filter.push(IF_EQUAL, architecture, 1, 0);
        filter.give(Verdict::Kill);
        filter.push(LOAD, NUMBER, 0, 0);
        filter
    }

    /// Decides every number from this one on.
    pub(super) fn numbers_from(&mut self, first: u32, verdict: Verdict) {
        self.push(IF_AT_LEAST, first, 0, 1);
        self.give(verdict);
    }

    /// Decides one call whatever its arguments.
    pub(super) fn call(&mut self, number: i64, verdict: Verdict) {
        self.push(IF_EQUAL, number_of(number), 0, 1);
        self.give(verdict);
    }

    /// Decides one call by the value of one argument: `listed` for these, `otherwise` for all else.
    pub(super) fn by_value(
        &mut self,
        number: i64,
        argument: Argument,
        values: &[u32],
        listed: Verdict,
        otherwise: Verdict,
    ) {
        self.block(number, |filter| {
            filter.load(argument);
            for value in values {
                filter.push(IF_EQUAL, *value, 0, 1);
                filter.give(listed);
            }
            filter.give(otherwise);
        });
    }

    /// Decides one call by the bits of one argument: `any` if one of the mask's is set.
    pub(super) fn by_bits(
        &mut self,
        number: i64,
        index: u32,
        bits: u32,
        any: Verdict,
        none: Verdict,
    ) {
        self.block(number, |filter| {
            filter.push(LOAD, ARGUMENTS + index * 8, 0, 0);
            filter.push(IF_ANY_BIT, bits, 0, 1);
            filter.give(any);
            filter.give(none);
        });
    }

    /// Decides one call by the bits of two arguments: `both` if each has one of its mask's set.
    pub(super) fn by_bits_of_two(
        &mut self,
        number: i64,
        first: Argument,
        second: Argument,
        both: Verdict,
        otherwise: Verdict,
    ) {
        self.block(number, |filter| {
            for Argument { index, mask } in [first, second] {
                filter.push(LOAD, ARGUMENTS + index * 8, 0, 0);
                filter.push(IF_ANY_BIT, mask, 1, 0);
                filter.give(otherwise);
            }
            filter.give(both);
        });
    }

    /// Decides `socketpair`-like calls, by two arguments: both must be listed.
    pub(super) fn by_two_values(
        &mut self,
        number: i64,
        first: (Argument, u32),
        second: (Argument, [u32; 2]),
        otherwise: Verdict,
    ) {
        self.block(number, |filter| {
            filter.load(first.0);
            filter.push(IF_EQUAL, first.1, 1, 0);
            filter.give(otherwise);
            filter.load(second.0);
            for value in second.1 {
                filter.push(IF_EQUAL, value, 0, 1);
                filter.give(Verdict::Allow);
            }
            filter.give(otherwise);
        });
    }

    /// The finished program: what no rule named is allowed.
    pub(super) fn finish(mut self) -> Vec<sock_filter> {
        self.give(Verdict::Allow);
        self.0
    }

    /// A block that is skipped, whatever its length, if this is not the call. Every path through it
    /// must give a verdict: it loads over the number.
    fn block(&mut self, number: i64, body: impl FnOnce(&mut Self)) {
        let test = self.0.len();
        self.push(IF_EQUAL, number_of(number), 0, 0);
        body(self);
        let length = self.0.len() - test - 1;
        self.0[test].jf = u8::try_from(length).unwrap_or(u8::MAX);
    }

    fn load(&mut self, argument: Argument) {
        self.push(LOAD, ARGUMENTS + argument.index * 8, 0, 0);
        self.push(AND, argument.mask, 0, 0);
    }

    fn give(&mut self, verdict: Verdict) {
        self.push(RETURN, verdict.code(), 0, 0);
    }

    fn push(&mut self, code: u32, k: u32, jt: u8, jf: u8) {
        self.0.push(sock_filter {
            // Every operation code fits 16 bits.
            code: (code & 0xffff) as u16,
            jt,
            jf,
            k,
        });
    }
}

/// Call numbers are small and positive on every architecture.
fn number_of(number: i64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
pub(super) mod interpreter {
    //! Runs a filter as the kernel would, so that its blocks can be tested without entering it.

    use super::*;

    pub(in super::super) fn decide(
        program: &[sock_filter],
        arch: u32,
        nr: u32,
        args: [u64; 6],
    ) -> u32 {
        let word = |offset: u32| match offset {
            NUMBER => nr,
            ARCHITECTURE => arch,
            _ => {
                let index = ((offset - ARGUMENTS) / 8) as usize;
                u32::try_from(args[index] & 0xffff_ffff).unwrap()
            }
        };
        let (mut pc, mut acc) = (0_usize, 0_u32);
        loop {
            let step = program[pc];
            pc += 1;
            let taken = |yes: bool| usize::from(if yes { step.jt } else { step.jf });
            match u32::from(step.code) {
                LOAD => acc = word(step.k),
                AND => acc &= step.k,
                IF_EQUAL => pc += taken(acc == step.k),
                IF_AT_LEAST => pc += taken(acc >= step.k),
                IF_ANY_BIT => pc += taken(acc & step.k != 0),
                RETURN => return step.k,
                other => panic!("unknown operation {other:#x}"),
            }
        }
    }
}
