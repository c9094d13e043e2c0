//! What a call can do to the world.

use serde::de::Error as _;
use serde::ser::SerializeSeq as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// One kind of effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Effect {
    /// Reads what the session may see.
    #[serde(rename = "read")]
    Read,
    /// Changes something inside the workspace.
    #[serde(rename = "write")]
    Write,
    /// Changes something outside the workspace.
    #[serde(rename = "write:outside")]
    WriteOutside,
    /// Runs a program.
    #[serde(rename = "exec")]
    Exec,
    /// Speaks to another machine.
    #[serde(rename = "network")]
    Network,
    /// Tells the people of this session something.
    #[serde(rename = "message")]
    Message,
    /// Tells somebody else something.
    #[serde(rename = "message:other")]
    MessageOther,
}

impl Effect {
    /// Every effect.
    pub const ALL: [Self; 7] = [
        Self::Read,
        Self::Write,
        Self::WriteOutside,
        Self::Exec,
        Self::Network,
        Self::Message,
        Self::MessageOther,
    ];

    const fn bit(self) -> u8 {
        1 << self as u8
    }

    /// The word, as it stands in every output.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::WriteOutside => "write:outside",
            Self::Exec => "exec",
            Self::Network => "network",
            Self::Message => "message",
            Self::MessageOther => "message:other",
        }
    }
}

/// A set of effects. On the wire: a list of words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Effects(u8);

impl Effects {
    /// No effect at all.
    pub const NONE: Self = Self(0);
    /// Every effect.
    pub const ALL: Self = Self(0x7f);
    /// Reading only.
    pub const READ: Self = Self(Effect::Read.bit());

    /// The set of these effects.
    #[must_use]
    pub const fn of(effects: &[Effect]) -> Self {
        let mut bits = 0;
        let mut at = 0;
        while at < effects.len() {
            bits |= effects[at].bit();
            at += 1;
        }
        Self(bits)
    }

    /// Whether `effect` is in the set.
    #[must_use]
    pub const fn has(self, effect: Effect) -> bool {
        self.0 & effect.bit() != 0
    }

    /// Whether every effect of this set is in `other`.
    #[must_use]
    pub const fn within(self, other: Self) -> bool {
        self.0 & !other.0 == 0
    }

    /// What both have.
    #[must_use]
    pub const fn meet(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// What either has.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// What this has and `other` has not.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// The effects, in the order of their declaration.
    pub fn iter(self) -> impl Iterator<Item = Effect> {
        Effect::ALL
            .into_iter()
            .filter(move |effect| self.has(*effect))
    }

    /// Whether nothing is changed by a call of these effects, so that it may run again.
    #[must_use]
    pub const fn read_only(self) -> bool {
        self.within(Self::READ)
    }
}

impl Serialize for Effects {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(None)?;
        for effect in self.iter() {
            list.serialize_element(&effect)?;
        }
        list.end()
    }
}

impl<'de> Deserialize<'de> for Effects {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let words = Vec::<String>::deserialize(deserializer)?;
        words.iter().try_fold(Self::NONE, |set, word| {
            Effect::ALL
                .into_iter()
                .find(|effect| effect.as_str() == word)
                .map(|effect| set.union(Self::of(&[effect])))
                .ok_or_else(|| D::Error::custom(format!("unknown effect {word:?}")))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_reads_back_as_it_was_written() {
        for bits in 0..=Effects::ALL.0 {
            let set = Effects(bits);
            let text = serde_json::to_string(&set).unwrap();
            assert_eq!(
                serde_json::from_str::<Effects>(&text).unwrap(),
                set,
                "{text}"
            );
        }
    }
}
