//! Who there is to speak to.

use outfitter_core::Role;
use rstest::rstest;
use serde_json::{Value, json};

use crate::support::{World, ada, who};

async fn filled() -> World {
    let world = World::new();
    for contact in [
        json!({
            "id": "u1", "name": "Bob Reed", "platform": "mail", "conversation": "s1",
            "groups": ["Chess club"], "about": "likes tea", "frequency": 0.5,
        }),
        json!({"id": "u2", "name": "Cleo", "platform": "mail", "conversation": "s2", "groups": ["chess CLUB"]}),
        json!({"id": "u2", "name": "小明", "platform": "qq"}),
    ] {
        let ran = world.call(&ada(), ["contacts", "add"], contact).await;
        assert_eq!(ran.result()["action"], "added");
    }
    world
}

async fn asked(world: &World, what: &str, args: Value) -> Value {
    world.call(&ada(), ["contacts", what], args).await.result()
}

#[tokio::test]
async fn whoever_has_the_keyword_in_a_name_an_id_or_a_group_is_found() {
    let world = filled().await;
    let bob = json!({"user_id": "u1", "name": "Bob Reed", "platform": "mail", "stream_id": "s1"});
    let cleo = json!({"user_id": "u2", "name": "Cleo", "platform": "mail", "stream_id": "s2"});
    let ming = json!({"user_id": "u2", "name": "小明", "platform": "qq"});
    for (keyword, found) in [
        ("reed", json!([bob])),
        ("Chess Club", json!([bob, cleo])),
        ("u2", json!([cleo, ming])),
        ("小", json!([ming])),
        ("nobody", json!([])),
    ] {
        let told = asked(&world, "search", json!({ "keyword": keyword })).await;
        assert_eq!(told, json!({ "users": found }), "{keyword}");
    }
    let one = json!({ "keyword": "chess", "limit": 1 });
    assert_eq!(asked(&world, "search", one).await, json!({"users": [bob]}));
}

#[tokio::test]
async fn what_is_known_of_a_person_and_how_often_to_speak_is_told() {
    let world = filled().await;
    assert_eq!(
        asked(&world, "person", json!({"name": "bob reed"})).await,
        json!({
            "person_id": "u1",
            "profile": {
                "name": "Bob Reed", "platform": "mail", "groups": ["Chess club"],
                "about": "likes tea",
            },
        })
    );
    let often = asked(&world, "frequency", json!({"chat": "s1"})).await;
    assert_eq!(often, json!({"value": 0.5}));
    let usual = asked(&world, "frequency", json!({"chat": "s2"})).await;
    assert_eq!(usual, json!({"value": 1}));
}

#[tokio::test]
async fn one_who_is_added_again_is_replaced_and_two_of_one_name_are_not_guessed_between() {
    let world = filled().await;
    let again = json!({"id": "u1", "name": "Cleo", "platform": "mail"});
    let ran = world.call(&ada(), ["contacts", "add"], again).await;
    assert_eq!(ran.result()["action"], "replaced");
    let all = asked(&world, "search", json!({"keyword": "u"})).await;
    assert_eq!(all["users"].as_array().unwrap().len(), 3);
    let ran = world
        .call(&ada(), ["contacts", "person"], json!({"name": "Cleo"}))
        .await;
    assert_eq!(ran.code(), ("conflict".to_owned(), 6));
}

#[rstest]
#[case("acme", "bob")]
#[case("umbrella", "ada")]
#[tokio::test]
async fn contacts_of_somebody_else_are_not_found(#[case] tenant: &str, #[case] subject: &str) {
    let world = filled().await;
    let other = who(tenant, subject, Role::Admin);
    let found = world
        .call(&other, ["contacts", "search"], json!({"keyword": "u"}))
        .await;
    assert_eq!(found.result(), json!({"users": []}));
    for (what, args) in [
        ("person", json!({"name": "Bob Reed"})),
        ("frequency", json!({"chat": "s1"})),
    ] {
        let ran = world.call(&other, ["contacts", what], args).await;
        assert_eq!(ran.code(), ("not_found".to_owned(), 5), "{what}");
    }
    let same = json!({"id": "u1", "name": "Another", "platform": "mail"});
    let ran = world.call(&other, ["contacts", "add"], same).await;
    assert_eq!(
        ran.result()["action"],
        "added",
        "it replaces nothing of ada's"
    );
    let bob = asked(&world, "person", json!({"name": "Bob Reed"})).await;
    assert_eq!(bob["person_id"], "u1");
}

#[tokio::test]
async fn a_guest_adds_nobody() {
    let world = World::new();
    let guest = who("acme", "ada", Role::Guest);
    let contact = json!({"id": "1", "name": "a", "platform": "b"});
    let ran = world.call(&guest, ["contacts", "add"], contact).await;
    assert_eq!(ran.code(), ("not_permitted".to_owned(), 4));
}

#[test]
fn a_person_adds_and_finds_by_hand() {
    let world = World::new();
    let add = [
        "contacts",
        "add",
        "--id=u9",
        "--name=Dora",
        "--platform=mail",
        "--conversation=s9",
        "--about=a neighbour",
        "--frequency=0.25",
    ];
    let by_hand = |argv: &[&str]| {
        let ran = world.run_with(argv, None, "");
        assert_eq!((ran.exit, &*ran.stderr), (0, ""), "{ran:?}");
        ran.stdout
    };
    assert_eq!(by_hand(&add), "added:\nu9  mail  Dora\n");
    assert_eq!(
        by_hand(&["contacts", "search", "--keyword=dor"]),
        "u9  mail  Dora\n"
    );
    assert_eq!(by_hand(&["contacts", "search", "--keyword=x"]), "nobody\n");
    assert_eq!(
        by_hand(&["contacts", "person", "--name=Dora"]),
        "u9  Dora  mail  a neighbour\n"
    );
    assert_eq!(by_hand(&["contacts", "frequency", "--chat=s9"]), "0.25\n");
}

#[rstest]
#[case(&["contacts", "search", "--keyword= "], "the keyword is empty")]
#[case(&["contacts", "search", "--keyword=a", "--limit=0"], "limit is not 1 to 1000")]
#[case(&["contacts", "add", "--id=1", "--name= ", "--platform=a"], "the name is empty")]
#[case(&["contacts", "add", "--id=1", "--name=a", "--platform=a", "--frequency=often"], "frequency is no number: \"often\"")]
#[case(&["contacts", "add", "--id=1", "--name=a", "--platform=a", "--groups=b"], "groups is an array, which only --stdin can hold")]
fn what_cannot_be_used_is_said_in_one_line(#[case] argv: &[&str], #[case] message: &str) {
    let ran = World::new().run_with(argv, None, "");
    assert_eq!(ran.stderr, format!("error: {message}\n"));
    assert_eq!((ran.exit, &*ran.stdout), (2, ""));
}
