//! What a model is told of the skills, within a budget.

use outfitter_skills::{Catalogue, limits};
use proptest::prelude::*;

use crate::world::World;

fn world(count: usize, description: &str) -> World {
    let world = World::new();
    for number in 0..count {
        let name = format!("skill-{number:03}");
        world.skill(
            &name,
            &format!("name: {name}\ndescription: {description} {number}"),
        );
    }
    world
}

fn of(world: &World, bytes: usize) -> Catalogue {
    world.proxy().catalogue(bytes)
}

#[test]
fn a_few_skills_are_told_whole() {
    let world = World::new();
    world
        .skill(
            "report",
            "name: report\ndescription: |\n  Writes reports.\n  Use it for weekly numbers.",
        )
        .skill(
            "forged",
            "name: forged\ndescription: \"One.\\n- other: Two.\"",
        )
        .skill("calendar", "name: calendar\ndescription: 查询和安排日程")
        .skill(
            "person",
            "name: person\ndescription: d\ndisable-model-invocation: true",
        );
    let told = of(&world, limits::CATALOGUE_BYTES);
    insta::assert_snapshot!(told.text);
    assert_eq!((told.shortened, told.omitted.len()), (0, 0));
}

#[test]
fn without_skills_nothing_is_told() {
    assert_eq!(
        of(&World::new(), limits::CATALOGUE_BYTES),
        Catalogue::default()
    );
}

#[test]
fn descriptions_are_shortened_before_anything_is_left_out() {
    let told = of(
        &world(20, &"long words and more of them, ".repeat(20)),
        4000,
    );
    assert_eq!(
        (
            told.shortened,
            told.without_description.len(),
            told.omitted.len()
        ),
        (20, 0, 0)
    );
    assert!(
        told.text.len() <= 4000 && told.text.len() > 3000,
        "{}",
        told.text.len()
    );
    assert!(told.text.lines().skip(1).all(|line| line.ends_with('…')));
}

/// Two hundred skills and four kilobytes: every name that is not told is reported, none is lost.
#[test]
fn a_catalogue_over_its_budget_says_what_it_leaves_out() {
    let world = world(200, &"something that takes many words to say ".repeat(6));
    let told = of(&world, 4096);
    assert!(told.text.len() <= 4096);
    let described = told
        .text
        .lines()
        .filter(|line| line.starts_with("- "))
        .count();
    assert_eq!(
        described + told.without_description.len() + told.omitted.len(),
        200
    );
    for name in &told.without_description {
        assert!(told.text.contains(name.as_str()), "{name}");
    }
    for name in &told.omitted {
        assert!(!told.text.contains(name.as_str()) && world.proxy().get(name.as_str()).is_some());
    }
    assert!(told.text.contains(&format!("{} more", told.omitted.len())) || told.omitted.is_empty());
    assert!(described > 0, "{}", told.text);
    insta::assert_snapshot!(told.text);
}

#[test]
fn the_same_skills_are_always_told_the_same() {
    let world = world(30, "some words");
    assert_eq!(of(&world, 1000), of(&world, 1000));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn no_budget_is_ever_exceeded_and_no_skill_is_lost(count in 1_usize..40, bytes in 0_usize..6000) {
        let world = world(count, "查询和安排日程 and words ");
        let told = of(&world, bytes);
        prop_assert!(told.text.len() <= bytes);
        let described = told.text.lines().filter(|line| line.starts_with("- ")).count();
        let unnamed = if told.text.is_empty() { count } else { told.without_description.len() + told.omitted.len() };
        prop_assert_eq!(described + unnamed, count);
    }
}
