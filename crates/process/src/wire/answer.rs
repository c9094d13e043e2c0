//! The first thing that is said on a supervisor's socket.

use super::codec::Garbled;

/// Its size: a byte and a number.
pub(crate) const ANSWER_BYTES: usize = 5;

const HERE: u8 = 0xB1;
const NOT_FORKED: u8 = 0xB2;

/// Whether there is a supervisor. Until it has answered, nothing of a command can have run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// There is, with this id; its pidfd comes along.
    Here(u32),
    /// The system gave none, with this error number. The nursery says it.
    NotForked(i32),
}

impl Answer {
    pub(crate) fn encode(self) -> [u8; ANSWER_BYTES] {
        let (kind, number) = match self {
            Self::Here(pid) => (HERE, pid),
            Self::NotForked(errno) => (NOT_FORKED, errno.cast_unsigned()),
        };
        let [a, b, c, d] = number.to_le_bytes();
        [kind, a, b, c, d]
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, Garbled> {
        let [kind, number @ ..] = <[u8; ANSWER_BYTES]>::try_from(bytes).map_err(|_| Garbled)?;
        let number = u32::from_le_bytes(number);
        match kind {
            HERE => Ok(Self::Here(number)),
            NOT_FORKED => Ok(Self::NotForked(number.cast_signed())),
            _ => Err(Garbled),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_survive_the_wire_and_nothing_else_is_one() {
        for answer in [
            Answer::Here(7),
            Answer::Here(u32::MAX),
            Answer::NotForked(-11),
        ] {
            assert_eq!(Answer::decode(&answer.encode()), Ok(answer));
        }
        let whole = Answer::Here(7).encode();
        for cut in 0..ANSWER_BYTES {
            assert_eq!(Answer::decode(&whole[..cut]), Err(Garbled));
        }
        assert_eq!(Answer::decode(&[0; ANSWER_BYTES]), Err(Garbled));
    }
}
