//! What the nursery says of the processes that supervisors which were killed have left.

use super::codec::Garbled;

/// Without it the nursery has ended before it said anything.
const LOOKED: u8 = 0xB3;

/// Of more it is not said who they are.
const MAX_TOLD: usize = 256;

/// Who is there still, after as long a killing as there is. Nobody, mostly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Looked(pub(crate) Vec<u32>);

impl Looked {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let told = self.0.iter().take(MAX_TOLD);
        let numbers = told.flat_map(|pid| pid.to_le_bytes());
        [LOOKED].into_iter().chain(numbers).collect()
    }

    /// Of all that came until the socket's end.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, Garbled> {
        let [LOOKED, numbers @ ..] = bytes else {
            return Err(Garbled);
        };
        let (numbers, rest) = numbers.as_chunks();
        if !rest.is_empty() {
            return Err(Garbled);
        }
        Ok(Self(
            numbers.iter().map(|one| u32::from_le_bytes(*one)).collect(),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_survives_the_wire_and_an_end_without_it_is_none() {
        for looked in [Looked(vec![]), Looked(vec![1, u32::MAX])] {
            assert_eq!(Looked::decode(&looked.encode()), Ok(looked));
        }
        for cut in [&[][..], &[1, 2], &[LOOKED, 1]] {
            assert_eq!(Looked::decode(cut), Err(Garbled));
        }
        let many = Looked((0..1000).collect()).encode();
        assert_eq!(Looked::decode(&many).unwrap().0.len(), MAX_TOLD);
    }
}
