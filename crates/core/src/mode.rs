//! How much of what is granted a run may use.

use serde::{Deserialize, Serialize};

use crate::Effects;

/// How much of what is granted a run may use. `chat < plan < agent`; what two say together is the
/// lesser.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// No tool at all: words only.
    Chat,
    /// The tools that only read.
    Plan,
    /// Everything that is granted.
    #[default]
    Agent,
}

impl Mode {
    /// Every mode, the widest first.
    pub const ALL: [Self; 3] = [Self::Agent, Self::Plan, Self::Chat];

    /// The word, as it stands in every input and output.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Plan => "plan",
            Self::Chat => "chat",
        }
    }

    /// The mode of a word.
    #[must_use]
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.as_str() == word)
    }

    /// The narrower of the two.
    #[must_use]
    pub fn meet(self, other: Self) -> Self {
        self.min(other)
    }

    /// The effects that calls may have.
    #[must_use]
    pub fn effects(self) -> Effects {
        match self {
            Self::Agent => Effects::ALL,
            Self::Plan => Effects::READ,
            Self::Chat => Effects::NONE,
        }
    }

    /// Whether a tool of these effects may be called. In [`Mode::Chat`] none may, not even one
    /// without any effect.
    #[must_use]
    pub fn admits(self, effects: Effects) -> bool {
        self > Self::Chat && effects.within(self.effects())
    }
}

impl std::fmt::Display for Mode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Effect;

    #[test]
    fn a_mode_is_read_and_written_as_its_word() {
        for mode in Mode::ALL {
            assert_eq!(Mode::of(mode.as_str()), Some(mode));
            let json = serde_json::to_value(mode).unwrap();
            assert_eq!(json, mode.as_str());
            assert_eq!(serde_json::from_value::<Mode>(json).unwrap(), mode);
        }
        assert_eq!(Mode::of("yolo"), None);
        assert_eq!(Mode::of("Agent"), None);
    }

    #[test]
    fn the_lesser_mode_of_two_admits_what_both_admit() {
        let all = (0..1u8 << Effect::ALL.len()).map(|bits| {
            let some = Effect::ALL
                .into_iter()
                .filter(|one| bits & (1 << *one as u8) != 0);
            Effects::of(&some.collect::<Vec<_>>())
        });
        for effects in all {
            for a in Mode::ALL {
                for b in Mode::ALL {
                    let both = a.admits(effects) && b.admits(effects);
                    assert_eq!(a.meet(b).admits(effects), both, "{a} {b} {effects:?}");
                    assert_eq!(a.meet(b), b.meet(a));
                }
            }
        }
    }

    #[test]
    fn a_plan_reads_and_a_chat_does_nothing() {
        assert!(Mode::Plan.admits(Effects::READ) && Mode::Plan.admits(Effects::NONE));
        assert!(!Mode::Plan.admits(Effects::of(&[Effect::Read, Effect::Write])));
        assert!(!Mode::Chat.admits(Effects::NONE) && !Mode::Chat.admits(Effects::READ));
        assert!(Mode::Agent.admits(Effects::ALL));
    }
}
