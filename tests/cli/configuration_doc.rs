//! docs/configuration.md has exactly the keys there are.

use crate::world::World;

const BEGIN: &str = "<!-- begin: outfitter config schema --markdown -->\n";
const END: &str = "<!-- end -->";

#[test]
fn the_tables_of_the_documentation_are_those_of_the_program() {
    let page = include_str!("../../docs/configuration.md");
    let (_, after) = page.split_once(BEGIN).expect("the page marks its tables");
    let (tables, _) = after.split_once(END).expect("the page marks their end");
    let ran = World::new().run(&["config", "schema", "--markdown"]);
    let differing = tables
        .trim()
        .lines()
        .zip(ran.stdout.trim().lines())
        .find(|(page, program)| page != program);
    assert!(
        tables.trim() == ran.stdout.trim(),
        "put the output of `outfitter config schema --markdown` between the marks of \
         docs/configuration.md; the first line that differs: {differing:#?}"
    );
}
