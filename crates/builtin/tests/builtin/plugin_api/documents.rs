//! What documents become, and what is said of the rest.

use outfitter_builtin::{ApiSettings, MAX_DOCUMENT_BYTES, Offer};
use outfitter_core::{ToolSource as _, canonical};
use outfitter_net::reqwest::{Method, Url};
use rstest::rstest;
use serde_json::{Value, json};

use super::{LIBRARY, ORDERS, document, library, offered, offering, read, settings, tool};

/// The same value, its keys in an order that does not depend on how it was made.
fn sorted(value: &Value) -> Value {
    serde_json::from_str(&canonical(value)).unwrap()
}

fn told(name: &str, offer: Offer, url: Option<&str>) -> Value {
    let (tools, faults) = offered(&settings(name, url), offer);
    let tools = tools.iter().map(|tool| {
        let spec = tool.spec();
        // Whatever is offered can be held to.
        jsonschema::meta::validate(&spec.input_schema).unwrap();
        jsonschema::options()
            .offline()
            .build(&spec.input_schema)
            .unwrap();
        json!({
            "name": spec.name,
            "description": &*spec.description,
            "input_schema": sorted(&spec.input_schema),
        })
    });
    let faults = faults
        .iter()
        .map(|fault| format!("{}: {}", fault.what, fault.why));
    json!({ "tools": tools.collect::<Vec<_>>(), "faults": faults.collect::<Vec<_>>() })
}

#[test]
fn the_operations_of_a_document_of_3_0_are_tools() {
    insta::assert_json_snapshot!(told("library", document(LIBRARY), None));
}

#[test]
fn the_operations_of_a_document_of_3_1_are_tools() {
    let url = Some("http://orders.invalid/api");
    insta::assert_json_snapshot!(told("orders", document(ORDERS), url));
}

#[rstest]
#[case("listBooks", json!({"page": 1, "tag": ["a"], "fields": ["title"], "year": 1401}), true)]
#[case("listBooks", json!({"year": 1400}), false)]
#[case("listBooks", json!({"fields": ["price"]}), false)]
#[case("listBooks", json!({"api_key": "k"}), false)]
#[case("listBooks", json!({"filter": {"price": 3}}), true)]
#[case("listBooks", json!({"filter": {"price": "3"}}), false)]
#[case("addBook", json!({"title": "t", "author": {"name": "n"}, "subtitle": null, "price": 1000}), true)]
#[case("addBook", json!({"title": "t", "author": {"name": "n"}, "price": 0}), false)]
#[case("addBook", json!({"id": "1", "title": "t", "author": {"name": "n"}}), false)]
#[case("addBook", json!({"title": "t", "author": {}}), false)]
#[case("orderShelves", json!({"name": "a", "inside": [{"name": "b", "inside": [{"name": "c"}]}]}), true)]
#[case("orderShelves", json!({"name": "a", "inside": [{"name": "b", "inside": [{}]}]}), false)]
#[case("memberLoans", json!({"path_user_id": "7", "loan": 3, "format": "csv", "query_loan": "x"}), true)]
#[case("memberLoans", json!({"user_id": "7", "loan": 3, "format": "csv"}), false)]
#[case("memberLoans", json!({"path_user_id": "7", "loan": 3, "format": "pdf"}), false)]
fn arguments_are_held_to_what_the_document_says(
    #[case] operation: &str,
    #[case] args: Value,
    #[case] fits: bool,
) {
    let tool = tool(&library(None), &format!("call_library_{operation}"));
    let schema = &tool.spec().input_schema;
    let validator = jsonschema::validator_for(schema).unwrap();
    assert_eq!(validator.is_valid(&args), fits, "{schema:#}");
}

/// Who acts is no argument of ours, whatever an API calls its own.
#[test]
fn no_argument_has_a_name_that_says_who_acts() {
    let identity = [
        "stream_id",
        "chat_id",
        "group_id",
        "session_id",
        "user_id",
        "owner",
        "role",
        "tenant",
        "token",
    ];
    for name in identity {
        let parameter = |place: &str| {
            json!({ "name": name, "in": place, "required": place == "path",
                    "schema": { "type": "string" } })
        };
        let text = json!({
            "openapi": "3.1.0",
            "paths": { format!("/a/{{{name}}}"): { "post": {
                "operationId": "act",
                "parameters": [parameter("path"), parameter("header"), parameter("cookie"), parameter("query")],
                "requestBody": { "content": { "application/json": { "schema": {
                    "type": "object", "properties": { (name): {} }
                } } } }
            } } }
        });
        let url = Some("http://a.invalid");
        let (tools, _) = offered(&settings("a", url), document(&text.to_string()));
        let schema = tool(&tools, "call_a_act").spec().input_schema.clone();
        let properties = schema["properties"].as_object().unwrap();
        assert!(!properties.contains_key(name), "{schema}");
        for place in ["path", "body"] {
            assert!(
                properties.contains_key(&format!("{place}_{name}")),
                "{schema}"
            );
        }
        // In the other places it is a credential.
        let is_given = properties.contains_key(&format!("header_{name}"));
        assert_eq!(is_given, name != "token", "{schema}");
    }
}

#[rstest]
#[case::nothing("", "it is no object")]
#[case::words("once upon a time", "it is no object")]
#[case::a_list("- 1\n- 2", "it is no object")]
#[case::cut_json("{\"openapi\": \"3.0.0\"", "it is no JSON: EOF")]
#[case::bad_yaml("openapi: [3.0.0", "it is neither JSON nor YAML")]
#[case::same_key_twice("openapi: 3.0.0\nopenapi: 3.0.0", "it is neither JSON nor YAML")]
#[case::swagger(
    "swagger: '2.0'\npaths: {}",
    "it follows Swagger \"2.0\"; only OpenAPI 3.0 and 3.1"
)]
#[case::later(
    "openapi: 4.0.0\npaths: {}",
    "it follows OpenAPI \"4.0.0\"; only 3.0 and 3.1"
)]
#[case::number("openapi: 3.0\npaths: {}", "it follows OpenAPI 3.0; only 3.0 and 3.1")]
#[case::unsaid("paths: {}", "it does not say which OpenAPI it follows")]
#[case::no_paths("openapi: 3.1.0", "it has no paths")]
#[case::paths_of_another_kind("openapi: 3.1.0\npaths: []", "it has no paths")]
#[case::laughs(
    "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e]\ng: [*f,*f,*f,*f,*f,*f,*f,*f,*f]",
    "it is neither JSON nor YAML"
)]
fn a_document_that_is_none_says_why(#[case] text: &str, #[case] why: &str) {
    let error = match read(&settings("a", None), document(text)) {
        Ok(_) => panic!("it was read"),
        Err(error) => error.to_string(),
    };
    assert!(error.contains(why), "{error}");
}

#[test]
fn a_document_that_nests_without_end_or_is_too_large_is_refused() {
    let deep = format!("{{\"openapi\":\"3.1.0\",\"a\":{}", "[".repeat(100_000));
    assert!(read(&settings("a", None), document(&deep)).is_err());
    let deep = format!("openapi: 3.1.0\na: {}", "[".repeat(100_000));
    assert!(read(&settings("a", None), document(&deep)).is_err());
    let large = format!("{{\"a\":\"{}\"}}", "a".repeat(MAX_DOCUMENT_BYTES));
    let error = read(&settings("a", None), document(&large)).err().unwrap();
    assert!(error.to_string().contains("larger than"), "{error}");
}

#[test]
fn a_schema_in_the_schema_of_a_schema_ends() {
    let mut schema = json!({ "type": "object" });
    for _ in 0..70 {
        schema = json!({ "items": schema });
    }
    let mut all = serde_json::Map::new();
    for n in 0..6000 {
        let next = format!("#/components/schemas/s{}", n + 1);
        all.insert(format!("s{n}"), json!({ "items": { "$ref": next } }));
    }
    all.insert("s6000".to_owned(), json!({}));
    let takes = |schema: Value| json!({ "requestBody": { "content": { "application/json": { "schema": schema } } } });
    let text = json!({ "openapi": "3.1.0", "components": { "schemas": all }, "paths": {
        "/deep": { "post": takes(schema) },
        "/long": { "post": takes(json!({ "$ref": "#/components/schemas/s0" })) },
        "/fine": { "post": takes(json!({ "$ref": "#/components/schemas/s5998" })) },
        "/odd": { "post": takes(json!({ "items": [7] })) },
    } });
    let url = Some("http://a.invalid");
    let (tools, faults) = offered(&settings("a", url), document(&text.to_string()));
    let names: Vec<_> = tools.iter().map(|tool| tool.spec().name.as_str()).collect();
    assert_eq!(names, ["call_a_post_fine"]);
    let whys: Vec<_> = faults.iter().map(|fault| fault.why.as_str()).collect();
    assert_eq!(
        whys,
        [
            "its schema nests deeper than 64",
            "its arguments have more than 5000 schemas",
            "it has [7] for a schema",
        ]
    );
}

/// What is sent with every call is for the server of the operator's choice.
#[test]
fn a_document_that_was_fetched_leads_to_its_own_origin_only() {
    let text = |server: &str| {
        json!({ "openapi": "3.1.0", "servers": [{ "url": server }], "paths": { "/a": { "get": {} } } })
            .to_string()
    };
    let told = |server: &str, url: Option<&str>| {
        let offer = Offer::Document {
            text: text(server),
            from: Some(Url::parse("https://api.invalid/spec/openapi.json").unwrap()),
        };
        let (tools, faults) = offered(&settings("a", url), offer);
        match tools.first() {
            Some(tool) => tool.facts(&json!({})).unwrap().subject.unwrap(),
            None => faults[0].why.clone(),
        }
    };
    let own = "GET https://api.invalid/v1/a";
    assert_eq!(told("/v1", None), own);
    assert_eq!(told("../v1", None), own);
    assert_eq!(told("https://api.invalid/v1", None), own);
    let other = "its document is of https://api.invalid and leads to";
    for elsewhere in [
        "http://api.invalid/",
        "https://evil.invalid",
        "//evil.invalid",
        "http://169.254.169.254/",
    ] {
        let why = told(elsewhere, None);
        assert!(why.starts_with(other), "{why}");
    }
    let chosen = told("https://evil.invalid", Some("https://chosen.invalid/x"));
    assert_eq!(chosen, "GET https://chosen.invalid/a");
    // A file of the operator may name any server, but has to name one.
    let (_, faults) = offered(&settings("a", None), document(&text("/v1")));
    assert_eq!(
        faults[0].why,
        "its document has \"/v1\" for a server; say `url` for the API"
    );
}

#[rstest]
#[case("ftp://a.invalid")]
#[case("http://me:secret@a.invalid/")]
#[case("http://a.invalid/?q=1")]
#[case("http://a.invalid/#x")]
fn a_url_that_nothing_can_be_appended_to_is_refused(#[case] url: &str) {
    let error = read(&settings("a", Some(url)), document(LIBRARY))
        .err()
        .unwrap();
    assert!(error.to_string().starts_with("use its url"), "{error}");
    assert!(!error.to_string().contains("secret"), "{error}");
}

#[rstest]
#[case("")]
#[case("a__b")]
#[case("a_")]
#[case("a.b")]
#[case("a name that is far too long to be one")]
fn an_api_whose_name_cannot_begin_a_tools_is_refused(#[case] name: &str) {
    let error = read(&settings(name, None), document(LIBRARY))
        .err()
        .unwrap();
    assert!(error.to_string().starts_with("name its tools"), "{error}");
}

#[rstest]
#[case("host", "x", "belongs to the connection")]
#[case("Content-Length", "1", "belongs to the connection")]
#[case("not a name", "x", "no name of a header")]
#[case("authorization", "two\nlines", "no header can carry")]
fn a_header_that_cannot_be_sent_is_refused(
    #[case] name: &str,
    #[case] value: &str,
    #[case] why: &str,
) {
    let mut settings = settings("a", None);
    settings.headers.push((name.to_owned(), value.into()));
    let error = read(&settings, document(LIBRARY))
        .err()
        .unwrap()
        .to_string();
    assert!(error.contains(why), "{error}");
    assert!(!error.contains("two"), "{error}");
}

#[test]
fn names_are_long_enough_short_enough_and_stay() {
    let mut paths = serde_json::Map::new();
    for n in 0..100 {
        let id = format!("{}_{n}", "a_very_long_operation".repeat(5));
        paths.insert(format!("/{n}"), json!({ "get": { "operationId": id } }));
    }
    paths.insert(
        "/x".to_owned(),
        json!({ "get": { "operationId": "行/列" }, "put": { "operationId": "" } }),
    );
    let text = json!({ "openapi": "3.1.0", "paths": paths }).to_string();
    let url = Some("http://a.invalid");
    let (tools, faults) = offered(&settings("a-b", url), document(&text));
    let names: Vec<_> = tools
        .iter()
        .map(|tool| tool.spec().name.to_string())
        .collect();
    assert_eq!(names.len(), 101);
    let long = names.iter().filter(|name| name.len() == 64).count();
    assert_eq!(long, 100, "{names:?}");
    assert!(names.contains(&"call_a-b_put_x".to_owned()), "{names:?}");
    assert!(names.iter().all(|name| !name.contains("__")));
    assert_eq!(faults[0].why, "nothing of its name can stand in a tool's");
    // The same, whatever else there is.
    let one = json!({ "openapi": "3.1.0", "paths": {
        "/7": { "get": { "operationId": format!("{}_7", "a_very_long_operation".repeat(5)) } }
    } });
    let (tools, _) = offered(&settings("a-b", url), document(&one.to_string()));
    assert!(names.contains(&tools[0].spec().name.to_string()));
}

#[test]
fn an_api_of_one_operation_is_a_tool_of_its_own_name() {
    let schema = json!({
        "title": "Weather",
        "description": "What the weather is like somewhere.",
        "type": "object",
        "properties": { "city": { "$ref": "#/$defs/City" }, "user_id": { "type": "string" } },
        "required": ["city"],
        "$defs": { "City": { "type": "string", "minLength": 1 } },
    });
    let one = |method: Method| Offer::One {
        method,
        schema: schema.clone(),
    };
    let url = Some("http://weather.invalid/now");
    let mut told: Vec<Value> = Vec::new();
    for method in [Method::GET, Method::POST] {
        let (tools, faults) = offered(&settings("weather", url), one(method));
        assert_eq!(faults, []);
        let spec = tools[0].spec();
        jsonschema::meta::validate(&spec.input_schema).unwrap();
        told.push(json!({
            "name": spec.name,
            "description": &*spec.description,
            "effects": spec.effects,
            "input_schema": sorted(&spec.input_schema),
        }));
    }
    insta::assert_json_snapshot!(told);
    for (schema, arguments) in [
        (json!({}), json!([])),
        (
            json!({ "type": "object", "description": "None." }),
            json!([]),
        ),
        (json!({ "additionalProperties": true }), json!(["body"])),
    ] {
        let offer = Offer::One {
            method: Method::POST,
            schema,
        };
        let (tools, _) = offered(&settings("weather", url), offer);
        assert_eq!(tools[0].spec().input_schema["required"], arguments);
    }
    let error = read(&settings("weather", None), one(Method::GET))
        .err()
        .unwrap();
    assert_eq!(error.to_string(), "use its url: it has none");
    let offer = Offer::One {
        method: Method::GET,
        schema: json!({ "type": "object", "anyOf": [{}] }),
    };
    let error = read(&settings("weather", url), offer).err().unwrap();
    assert!(
        error.to_string().starts_with("use its schema: a query"),
        "{error}"
    );
}

#[test]
fn credentials_that_the_document_asks_for_and_nobody_gave_are_told() {
    let faults = |settings: &ApiSettings| {
        offering(read(settings, document(LIBRARY)).unwrap())
            .snapshot()
            .faults
            .clone()
    };
    let mut settings = settings("library", None);
    let told = faults(&settings);
    let told: Vec<_> = told
        .iter()
        .filter(|fault| fault.what == "credentials")
        .collect();
    assert_eq!(
        told[0].why,
        "it asks for the credentials key, and neither `headers` nor `query` has them"
    );
    settings
        .headers
        .push(("x-library-key".to_owned(), "abc".into()));
    let told = faults(&settings);
    assert!(
        told.iter().all(|fault| fault.what != "credentials"),
        "{told:?}"
    );
    // Then the operation that has it for a parameter can be called.
    let (tools, _) = offered(&settings, document(LIBRARY));
    let schema = tool(&tools, "call_library_removeBook")
        .spec()
        .input_schema
        .clone();
    assert_eq!(schema["required"], json!(["isbn"]));
}
