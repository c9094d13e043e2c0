//! The system prompt: named sections in one order.
//!
//! Providers keep the beginning of a request that they have seen before. So what stands here changes
//! as rarely as can be: it is made of the configuration and of what a session is told for its whole
//! life, and of nothing that happens in a turn: no dates, no ids, no tools that were asked for. What
//! changes with a turn stands at the tail of its requests. The sections that all sessions share come
//! first.

use std::sync::Arc;

use outfitter_core::Mode;

use crate::mode::told_of_mode;
use crate::session::Told;

/// What stands between two sections.
const BETWEEN: &str = "\n\n";

/// What a section is about. The order is that of the prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SectionName {
    /// Who the model is and how it works: the operator's own words where there are some.
    Instructions,
    /// Where it works: the workspace, the sandbox, the network.
    Environment,
    /// How tools are used here, whichever there are.
    Tools,
    /// The skills that the session may load, with a line of each.
    Skills,
    /// What the mode takes away.
    Mode,
}

impl SectionName {
    /// All, in the order of the prompt.
    pub const ALL: [Self; 5] = [
        Self::Instructions,
        Self::Environment,
        Self::Tools,
        Self::Skills,
        Self::Mode,
    ];

    /// The word, as it stands in every output.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Instructions => "instructions",
            Self::Environment => "environment",
            Self::Tools => "tools",
            Self::Skills => "skills",
            Self::Mode => "mode",
        }
    }

    /// Whether it means something where no tool may be called.
    fn is_said_without_tools(self) -> bool {
        match self {
            Self::Instructions | Self::Mode => true,
            Self::Environment | Self::Tools | Self::Skills => false,
        }
    }
}

/// A section that has something to say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// What it is about.
    pub name: SectionName,
    /// What it says; never empty.
    pub text: Arc<str>,
}

/// What every session of an installation is told. An empty text says nothing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CommonPrompt {
    /// [`SectionName::Instructions`].
    pub instructions: Arc<str>,
    /// [`SectionName::Environment`].
    pub environment: Arc<str>,
    /// [`SectionName::Tools`].
    pub tools: Arc<str>,
}

impl From<&str> for CommonPrompt {
    /// Instructions and nothing more.
    fn from(instructions: &str) -> Self {
        Self {
            instructions: instructions.into(),
            ..Self::default()
        }
    }
}

/// The system prompt of one session in one mode. Equal inputs give equal bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SystemPrompt {
    sections: Vec<Section>,
}

impl SystemPrompt {
    /// Puts it together. This is the one place that does.
    #[must_use]
    pub fn of(common: &CommonPrompt, told: &Told, mode: Mode) -> Self {
        let text = |name| match name {
            SectionName::Instructions => common.instructions.clone(),
            SectionName::Environment => common.environment.clone(),
            SectionName::Tools => common.tools.clone(),
            SectionName::Skills => told.skill_catalogue.clone(),
            SectionName::Mode => told_of_mode(mode).unwrap_or_default().into(),
        };
        let is_said = |name: &SectionName| mode != Mode::Chat || name.is_said_without_tools();
        let sections = SectionName::ALL
            .into_iter()
            .filter(is_said)
            .map(|name| Section {
                name,
                text: text(name),
            })
            .filter(|section| !section.text.is_empty())
            .collect();
        Self { sections }
    }

    /// The sections that say something, in order.
    #[must_use]
    pub fn sections(&self) -> &[Section] {
        &self.sections
    }

    /// The whole, as a model is told it.
    #[must_use]
    pub fn text(&self) -> Arc<str> {
        match self.sections.as_slice() {
            [] => Arc::default(),
            [only] => only.text.clone(),
            many => {
                let texts: Vec<&str> = many.iter().map(|section| &*section.text).collect();
                texts.join(BETWEEN).into()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn common() -> CommonPrompt {
        CommonPrompt {
            instructions: "I".into(),
            environment: "E".into(),
            tools: "T".into(),
        }
    }

    fn told() -> Told {
        Told {
            skill_catalogue: "S".into(),
            ..Told::default()
        }
    }

    #[test]
    fn sections_stand_in_the_order_of_their_names() {
        assert!(SectionName::ALL.is_sorted());
        let prompt = SystemPrompt::of(&common(), &told(), Mode::Plan);
        let names: Vec<&str> = prompt.sections().iter().map(|s| s.name.as_str()).collect();
        assert_eq!(
            names,
            ["instructions", "environment", "tools", "skills", "mode"]
        );
        let mode = told_of_mode(Mode::Plan).unwrap();
        assert_eq!(&*prompt.text(), format!("I\n\nE\n\nT\n\nS\n\n{mode}"));
    }

    #[rstest]
    #[case(Mode::Agent, "I\n\nE\n\nT\n\nS")]
    #[case(
        Mode::Chat,
        "I\n\nThe mode is `chat`: you have no tools. Answer in words."
    )]
    fn what_cannot_be_used_is_not_spoken_of(#[case] mode: Mode, #[case] text: &str) {
        assert_eq!(&*SystemPrompt::of(&common(), &told(), mode).text(), text);
    }

    #[test]
    fn a_section_without_words_leaves_no_trace() {
        let prompt = SystemPrompt::of(&"I".into(), &Told::default(), Mode::Agent);
        assert_eq!(&*prompt.text(), "I");
        let nothing = SystemPrompt::of(&CommonPrompt::default(), &Told::default(), Mode::Agent);
        assert_eq!((&*nothing.text(), nothing.sections().len()), ("", 0));
        let skills = SystemPrompt::of(&CommonPrompt::default(), &told(), Mode::Agent);
        assert_eq!(&*skills.text(), "S");
    }
}
