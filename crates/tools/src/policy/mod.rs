//! Who may call what: the policy of an installation, and the rules that its operator adds.
//!
//! * [`DefaultPolicy`]: what holds without rules.
//! * [`Rules`]: rules over another policy. deny > ask > allow, whatever their order.
//!
//! What can never meet a call is found before there is one: [`RuleFindings`].
//!
//! A command is judged by the commands in it, a file by the path it comes to; neither by how a text
//! begins.

mod address;
mod argument;
mod command;
mod default;
mod findings;
mod path;
mod places;
mod reach;
mod rule;
mod rules;
mod shape;

#[cfg(test)]
mod tests;

pub use default::DefaultPolicy;
pub(crate) use findings::Known;
pub use findings::{Later, RuleFault, RuleFindings, RuleUnchecked, Surroundings};
pub(crate) use reach::look_at;
pub use rule::{BadRule, Rule, RuleArgs};
pub use rules::Rules;
pub(crate) use shape::{Part, shape};

/// How surely something is what a pattern means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    /// It is not.
    No,
    /// It shows only when it runs.
    Maybe,
    /// It is.
    Yes,
}
