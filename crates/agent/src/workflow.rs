//! Workflows: named steps that an operator describes, one of which a turn may follow.
//!
//! The one that was chosen stands at the tail of each request of its turn, in no log but by name and
//! text, and in no system prompt: so nothing that a provider has kept of the conversation changes
//! when the next turn follows another one, and a turn that is over leaves no steps behind that
//! nobody follows any more. What a workflow costs is that its steps are read anew with each request
//! of its turn.

use outfitter_core::WorkflowInUse;
use outfitter_text::bm25::Index;

use crate::texts;

/// How many workflows there may be.
pub const MAX_WORKFLOWS: usize = 100;

/// How many steps one may have.
pub const MAX_STEPS: usize = 50;

/// How many characters a name may have.
pub const MAX_NAME_CHARS: usize = 64;

/// How many characters a description may have.
pub const MAX_DESCRIPTION_CHARS: usize = 1_000;

/// How many characters a step may have.
pub const MAX_STEP_CHARS: usize = 2_000;

/// The least score of a workflow that fits a prompt by its words. One word that is in the name of one
/// workflow is enough, and so are two of a description; one of a description is not.
pub const MIN_SCORE: f64 = 8.0;

/// How much of a prompt is looked at.
const MAX_QUERY_BYTES: usize = 8_000;

/// How much more a word of the name counts than one of the description.
const NAME_WEIGHT: f64 = 3.0;

/// Workflows are ranked as if they stood in a list of so many, the others of which no prompt is
/// about. Without them a score would mean something else in a list of two than in one of fifty.
const AMONG: usize = 2 * MAX_WORKFLOWS;

/// The length of those others, in words. They are long, so that a description is not chosen for
/// being short.
const USUAL_WORDS: f64 = 60.0;

/// A word that no prompt has: of a script of three thousand years ago.
const STRANGE: &str = "\u{10380}\u{10381}";

/// Steps with a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workflow {
    /// Its name: of `A-Z a-z 0-9 _ -`, at most [`MAX_NAME_CHARS`].
    pub name: String,
    /// What it is for: by this it is chosen. At most [`MAX_DESCRIPTION_CHARS`].
    pub description: String,
    /// What is done, in order: 1 to [`MAX_STEPS`], each at most [`MAX_STEP_CHARS`].
    pub steps: Vec<String>,
}

impl Workflow {
    /// What the model is told of it.
    #[must_use]
    pub fn in_use(&self) -> WorkflowInUse {
        WorkflowInUse {
            name: self.name.clone(),
            text: texts::workflow(&self.name, &self.description, &self.steps),
        }
    }
}

/// Which workflow a turn follows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum WorkflowChoice {
    /// None.
    #[default]
    Off,
    /// The one that fits the words of the person, if one does.
    Lexical,
    /// The one that the model chooses; the words where it gives no answer.
    Model,
    /// The one of this name.
    Named(String),
}

impl WorkflowChoice {
    /// The words that are no names.
    pub const WORDS: [&'static str; 3] = ["off", "lexical", "model"];

    /// What a word of a configuration or a request means. Whether there is a workflow of a name is
    /// not looked at.
    #[must_use]
    pub fn of(word: &str) -> Self {
        match word {
            "off" => Self::Off,
            "lexical" => Self::Lexical,
            "model" => Self::Model,
            name => Self::Named(name.to_owned()),
        }
    }
}

/// The workflows of an installation, and how one is chosen for a turn that does not say.
#[derive(Debug, Clone, Default)]
pub struct Workflows {
    choice: WorkflowChoice,
    all: Vec<Workflow>,
    index: Index,
}

impl PartialEq for Workflows {
    fn eq(&self, other: &Self) -> bool {
        self.choice == other.choice && self.all == other.all
    }
}

impl Eq for Workflows {}

impl Workflows {
    /// These, chosen so.
    #[must_use]
    pub fn new(choice: WorkflowChoice, all: Vec<Workflow>) -> Self {
        let known = all.iter().map(|workflow| {
            vec![
                (NAME_WEIGHT, workflow.name.as_str()),
                (1.0, workflow.description.as_str()),
            ]
        });
        let others = AMONG.saturating_sub(all.len());
        let strangers = std::iter::repeat_n(vec![(USUAL_WORDS, STRANGE)], others);
        let index = Index::of(known.chain(strangers));
        Self { choice, all, index }
    }

    /// How one is chosen for a turn that does not say.
    #[must_use]
    pub fn choice(&self) -> &WorkflowChoice {
        &self.choice
    }

    /// All, in the order of the configuration.
    #[must_use]
    pub fn all(&self) -> &[Workflow] {
        &self.all
    }

    /// The one of this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Workflow> {
        self.all.iter().find(|workflow| workflow.name == name)
    }

    /// The one that fits these words best, if one fits at all.
    #[must_use]
    pub fn fitting(&self, words: &str) -> Option<&Workflow> {
        let words = &words[..words.floor_char_boundary(MAX_QUERY_BYTES)];
        let found = self.index.search(words, 1).pop()?;
        if found.score < MIN_SCORE {
            return None;
        }
        self.all.get(found.document)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn workflow(name: &str, description: &str) -> Workflow {
        Workflow {
            name: name.to_owned(),
            description: description.to_owned(),
            steps: vec!["look".to_owned()],
        }
    }

    fn workflows() -> Vec<Workflow> {
        vec![
            workflow(
                "release",
                "Publishes a new version: changelog, tag, packages.",
            ),
            workflow(
                "bug-fix",
                "Finds the cause of a reported defect, writes a test that fails, and mends it.",
            ),
            workflow(
                "weekly_report",
                "周报：汇总本周的进展和问题，生成报告并发给团队。",
            ),
        ]
    }

    /// What fits is the same whether a list is long or short.
    fn lists() -> [Vec<Workflow>; 2] {
        let others = (0..40).map(|n| {
            workflow(
                &format!("other{n}"),
                "Something else entirely, about nothing.",
            )
        });
        [workflows(), workflows().into_iter().chain(others).collect()]
    }

    #[rstest]
    #[case("please make the release 2.0", Some("release"))]
    #[case("publish the packages of the new version", Some("release"))]
    #[case("there is a defect in the parser, find its cause", Some("bug-fix"))]
    #[case("fix this bug", Some("bug-fix"))]
    #[case("帮我生成本周的周报", Some("weekly_report"))]
    #[case("汇总一下进展", Some("weekly_report"))]
    #[case("what is the time?", None)]
    #[case("write a poem about the sea", None)]
    #[case("is there a new café near here?", None)]
    #[case("今天天气怎么样", None)]
    #[case("", None)]
    fn a_prompt_is_about_a_workflow_or_about_none(
        #[case] prompt: &str,
        #[case] name: Option<&str>,
    ) {
        for list in lists() {
            let known = Workflows::new(WorkflowChoice::Lexical, list);
            let found = known.fitting(prompt).map(|workflow| &*workflow.name);
            assert_eq!(found, name, "{prompt}: {:?}", known.index.search(prompt, 2));
        }
    }

    #[test]
    fn a_list_of_one_chooses_no_more_freely_than_a_long_one() {
        let one = Workflows::new(
            WorkflowChoice::Lexical,
            vec![workflow("release", "Publishes a new version.")],
        );
        assert_eq!(one.fitting("a new café"), None);
        assert!(one.fitting("the next release").is_some());
        assert_eq!(Workflows::default().fitting("anything"), None);
    }

    #[test]
    fn what_the_model_is_told_has_every_step_in_order() {
        let told = Workflow {
            steps: vec!["Write the changelog. ".to_owned(), "Tag it.".to_owned()],
            ..workflow("release", "Publishes a new version.")
        };
        insta::assert_snapshot!(told.in_use().text, @r"
        This turn follows the workflow `release`: Publishes a new version.
        Take its steps in this order. Leave one out only where it does not apply, and say so.

        1. Write the changelog.
        2. Tag it.
        ");
    }
}
