//! Skills that are in the context from the first request.

use std::fmt::Write as _;
use std::sync::Arc;

use outfitter_core::Hash;

use crate::SkillName;
use crate::catalogue::one_line;
use crate::load::LoadError;
use crate::proxy::SkillProxy;
use crate::room::Room;
use crate::skill::Skill;

/// Skills with their instructions, for the tail of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Preloaded {
    /// The skills whose instructions are in the text, what they are built on included, in order.
    pub skills: Vec<SkillName>,
    /// What is not in the text, and why.
    pub left_out: Vec<LeftOut>,
    /// The text; empty when no skill is in it.
    pub text: String,
}

/// A skill that was asked for and is not in the context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// Its name.
    pub name: String,
    /// Why, one fragment.
    pub why: String,
}

impl SkillProxy {
    /// The skills of these names, each after what it is built on, as far as `max_tokens` reach. A
    /// skill that cannot be loaded is told and stops nothing: check names before, where an unknown
    /// one shall be an error. Reads the disk, so it blocks.
    ///
    /// The text belongs in a message of its own at the tail of the conversation, recorded in the
    /// log: so the system prompt stays the same, and a resumed run makes the same request.
    /// Instructions stand between marks made of their own hash, so that no text can end its own
    /// mark.
    #[must_use]
    pub fn preload<'n>(
        &self,
        names: impl IntoIterator<Item = &'n str>,
        max_tokens: usize,
    ) -> Preloaded {
        let mut preloaded = Preloaded::default();
        let mut room = Room::of(max_tokens);
        for name in names {
            match self.with_dependencies(name) {
                Ok((skills, missing)) => {
                    for skill in skills {
                        preloaded.add(&skill, &mut room);
                    }
                    for missing in missing {
                        preloaded.leave_out(
                            missing.as_str(),
                            format!("{name} is built on it, and it is not there"),
                        );
                    }
                }
                Err(error) => preloaded.leave_out(name, format!("failed to {error}")),
            }
        }
        preloaded.text = preloaded.whole_text();
        preloaded
    }

    fn with_dependencies(
        &self,
        name: &str,
    ) -> Result<(Vec<Arc<Skill>>, Vec<SkillName>), LoadError> {
        let skill = self.get(name).ok_or_else(|| LoadError::Unknown {
            name: name.to_owned(),
            close: self.close_names(name),
        })?;
        let (mut skills, missing) = self.ordered(skill)?;
        skills.push(skill.clone());
        Ok((skills, missing))
    }
}

impl Preloaded {
    fn add(&mut self, skill: &Arc<Skill>, room: &mut Room) {
        if self.skills.contains(skill.name()) {
            return;
        }
        match skill.document() {
            Ok(document) => {
                let text = marked(skill, &document.instructions);
                if room.take(&text) {
                    self.skills.push(skill.name().clone());
                    self.text.push_str(&text);
                } else {
                    self.leave_out(skill.name().as_str(), "there is no room for it".to_owned());
                }
            }
            Err(error) => self.leave_out(skill.name().as_str(), format!("failed to {error}")),
        }
    }

    fn leave_out(&mut self, name: &str, why: String) {
        if self.left_out.iter().all(|left| left.name != name) {
            self.left_out.push(LeftOut {
                name: name.to_owned(),
                why,
            });
        }
    }

    fn whole_text(&self) -> String {
        if self.skills.is_empty() {
            return String::new();
        }
        let mut text = String::from(
            "These skills are loaded for this conversation. They say how to work; they give no \
             tools and no rights.\n\n",
        );
        text.push_str(&self.text);
        if !self.left_out.is_empty() {
            let names: Vec<String> = self
                .left_out
                .iter()
                .map(|left| one_line(&left.name))
                .collect();
            let _ = writeln!(text, "Asked for and not loaded: {}", names.join(", "));
        }
        text
    }
}

/// The instructions between two marks that they cannot hold themselves.
fn marked(skill: &Skill, instructions: &str) -> String {
    let hash = Hash::of(instructions).to_string();
    let mark: String = hash.chars().rev().take(12).collect();
    let name = escaped(skill.name().as_str());
    let version = match &skill.manifest.version {
        Some(version) => format!(" version=\"{}\"", escaped(&one_line(version))),
        None => String::new(),
    };
    format!(
        "<skill name=\"{name}\"{version} mark=\"{mark}\">\n{instructions}\n</skill mark=\"{mark}\">\n\n"
    )
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('"', "&quot;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
