//! The target `paths` of `fuzz/` on the stable compiler: the corpus and a fixed run of mutations.

#[expect(
    clippy::disallowed_methods,
    reason = "what is copied there is made by the test, and as deep as it made it"
)]
#[path = "../../../../../fuzz/checks/paths.rs"]
mod paths;
#[path = "../../../../../fuzz/checks/smoke.rs"]
mod smoke;

#[test]
fn no_path_leads_out_of_the_workspace() {
    let place = paths::Place::new();
    smoke::run("paths", 2_000, |data| place.check(data));
}
