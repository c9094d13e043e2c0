//! The targets of `fuzz/` on the stable compiler: the corpora and a fixed run of mutations.

#[path = "../../../../fuzz/checks/command_line.rs"]
mod command_line;
#[path = "../../../../fuzz/checks/patch.rs"]
mod patch;
#[path = "../../../../fuzz/checks/smoke.rs"]
#[expect(clippy::unwrap_used, reason = "a failed expectation ends a test")]
mod smoke;

#[test]
fn no_command_line_breaks_the_parser() {
    smoke::run("command_line", 20_000, command_line::check);
}

#[test]
fn no_patch_breaks_the_parser_or_what_applies_it() {
    smoke::run("patch", 20_000, patch::check);
}
