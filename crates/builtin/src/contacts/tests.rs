use std::sync::Mutex;

use outfitter_core::Services;
use serde_json::json;

use super::*;
use outfitter_core::{Outcome, Reply, Tool};

/// Three people, and what was asked of them.
#[derive(Default)]
struct Book(Mutex<Vec<String>>);

#[async_trait]
impl Contacts for Book {
    async fn ask(&self, _: &ToolContext, what: &str, args: Value) -> Result<Value, ToolError> {
        self.0.lock().unwrap().push(format!("{what} {args}"));
        let people = [
            ("1", "小明", "qq"),
            ("2", "Ann", "mail"),
            ("3", "Anna", "qq"),
        ];
        Ok(match what {
            "search" => {
                let keyword = args["keyword"].as_str().unwrap().to_lowercase();
                let users: Vec<Value> = people
                    .iter()
                    .filter(|(_, name, _)| name.to_lowercase().contains(&keyword))
                    .map(|(id, name, on)| {
                        json!({"user_id": id, "name": name, "platform": on, "more": "unsaid"})
                    })
                    .collect();
                json!({ "users": users })
            }
            "person" if args["name"] == "Ann" => {
                json!({"person_id": "2", "profile": {"likes": "tea"}, "secret": 1})
            }
            "person" => return Err(ToolError::new(Code::NotFound, "nobody is called that")),
            "frequency" => {
                json!({"value": if args["chat"] == "odd" { json!("often") } else { json!(0.5) }})
            }
            _ => json!({}),
        })
    }

    fn max_results(&self) -> usize {
        2
    }
}

fn with_book() -> (ToolContext, Arc<Book>) {
    let book = Arc::new(Book::default());
    let mut cx = ToolContext::detached();
    cx.services = Services::default().with::<dyn Contacts>(book.clone());
    (cx, book)
}

async fn made(tool: &dyn Tool, cx: &ToolContext, args: Value) -> Result<Box<Outcome>, ToolError> {
    match tool.call(cx, args).await? {
        Reply::Done(outcome) => Ok(outcome),
        Reply::Wait(_) => panic!("it waits"),
    }
}

#[tokio::test]
async fn people_are_found_by_any_of_the_keywords_and_each_once() {
    let (cx, _) = with_book();
    let search = SearchUsers::default();
    let found = made(
        &search,
        &cx,
        json!({"keyword": "ANN", "keywords": ["anna", "小"]}),
    );
    let ann = json!({"user_id": "2", "name": "Ann", "platform": "mail"});
    let anna = json!({"user_id": "3", "name": "Anna", "platform": "qq"});
    let found = found.await.unwrap().result;
    assert_eq!(
        found,
        json!({"users": [ann, anna], "count": 2}),
        "two at most"
    );
    let one = json!({"keyword": "ann", "limit": 1});
    let found = made(&search, &cx, one).await.unwrap();
    assert_eq!(found.result["count"], 1);
}

#[tokio::test]
async fn a_keyword_with_particles_is_tried_as_it_is_first() {
    let (cx, book) = with_book();
    let search = SearchUsers::default();
    let found = made(&search, &cx, json!({"keyword": "的小明"}))
        .await
        .unwrap();
    assert_eq!(found.result["users"][0]["name"], "小明");
    assert_eq!(
        *book.0.lock().unwrap(),
        [
            r#"search {"keyword":"的小明","limit":2}"#,
            r#"search {"keyword":"小明","limit":2}"#
        ]
    );
    let found = made(&search, &cx, json!({"keyword": "nobody"}))
        .await
        .unwrap();
    assert_eq!(found.result, json!({"users": [], "count": 0}));
    let error = made(&search, &cx, json!({"keyword": "  "}))
        .await
        .unwrap_err();
    assert_eq!(error.code(), Code::InvalidArguments);
}

#[tokio::test]
async fn what_is_known_of_a_person_is_told_and_no_more() {
    let (cx, _) = with_book();
    let tool = QueryPerson::default();
    let known = made(&tool, &cx, json!({"person_name": "Ann"}))
        .await
        .unwrap();
    assert_eq!(
        known.result,
        json!({"person_id": "2", "profile": {"likes": "tea"}})
    );
    let nobody = made(&tool, &cx, json!({"person_name": "Bob"})).await;
    assert_eq!(nobody.unwrap_err().code(), Code::NotFound);
}

#[tokio::test]
async fn a_frequency_is_a_number() {
    let (cx, _) = with_book();
    let tool = GetFrequency::default();
    let told = made(&tool, &cx, json!({"chat": "home"})).await.unwrap();
    assert_eq!(told.result, json!({"value": 0.5}));
    let odd = made(&tool, &cx, json!({"chat": "odd"})).await.unwrap_err();
    assert_eq!(odd.code(), Code::ProtocolError);
}

#[tokio::test]
async fn without_a_source_there_are_no_contacts() {
    let cx = ToolContext::detached();
    let asked: [(Box<dyn Tool>, Value); 3] = [
        (Box::new(SearchUsers::default()), json!({"keyword": "a"})),
        (
            Box::new(QueryPerson::default()),
            json!({"person_name": "a"}),
        ),
        (Box::new(GetFrequency::default()), json!({"chat": "a"})),
    ];
    for (tool, args) in asked {
        let error = made(&*tool, &cx, args).await.unwrap_err();
        assert_eq!(error.code(), Code::Unavailable);
    }
}
