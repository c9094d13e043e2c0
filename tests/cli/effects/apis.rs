//! Keys about APIs whose operations are tools.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::{PATH, call, listed};
use crate::world::World;

/// An API on this machine that answers everything with what it was asked, and never with what it was
/// told in confidence.
struct Echo {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Echo {
    fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let kept = asked.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(stream) = stream else { return };
                if let Some(request) = answer(&stream, address) {
                    kept.lock().unwrap().push(request);
                }
            }
        });
        Self { address, asked }
    }

    fn last(&self) -> String {
        self.asked
            .lock()
            .unwrap()
            .last()
            .cloned()
            .unwrap_or_default()
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }
}

fn document(server: &str) -> Value {
    json!({
        "openapi": "3.1.0",
        "servers": [{ "url": server }],
        "paths": {
            "/pets/{pet}": {
                "get": { "operationId": "getPet", "summary": "One pet",
                    "parameters": [{ "name": "pet", "in": "path", "required": true, "schema": { "type": "string" } }] },
                "put": { "operationId": "setPet",
                    "parameters": [{ "name": "pet", "in": "path", "required": true, "schema": { "type": "string" } }],
                    "requestBody": { "content": { "application/json": { "schema": {
                        "type": "object", "properties": { "kind": { "type": "string" } } } } } } }
            },
            "/slow": { "get": { "operationId": "wait" } }
        }
    })
}

fn answer(mut stream: &TcpStream, address: SocketAddr) -> Option<String> {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body).ok()?;
    let request = head + &String::from_utf8(body).unwrap();
    let reply = if request.starts_with("GET /openapi.json") {
        document("/v1").to_string()
    } else if request.contains("/slow") {
        // Answered when whoever asked is gone.
        let mut rest = Vec::new();
        let _ = reader.read_to_end(&mut rest);
        return Some(request);
    } else {
        json!({ "asked": request.lines().next(), "all": request, "from": address.port() })
            .to_string()
    };
    let text = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{reply}",
        reply.len()
    );
    let _gone = stream.write_all(text.as_bytes());
    Some(request)
}

const ALLOWED: &str = "[[permissions.rules]]\ntool = \"call_*\"\ndecision = \"allow\"\n";

fn apis(names: &[String]) -> Vec<&str> {
    let own = names.iter().filter(|name| name.starts_with("call_"));
    own.map(String::as_str).collect()
}

#[test]
fn operations_are_tools_where_the_list_has_them() {
    let echo = Echo::new();
    let offered = |list: &str| {
        let world = World::with(&format!(
            "[plugin_api]\nallowlist = {list}\napis.shop.openapi = \"shop.json\"\n"
        ));
        world.write("here/shop.json", &document(&echo.url("/v1")).to_string());
        let ran = world.run_with(&["tools", "list", "--json"], &[PATH]);
        (listed(&world, &[]), ran.stderr)
    };
    assert!(apis(&offered("[]").0).is_empty());
    assert_eq!(
        apis(&offered("[\"*\"]").0),
        ["call_shop_getPet", "call_shop_setPet", "call_shop_wait"]
    );
    assert_eq!(apis(&offered("[\"shop_get*\"]").0), ["call_shop_getPet"]);
    assert_eq!(
        apis(&offered("[\"call_shop_setPet\"]").0),
        ["call_shop_setPet"]
    );
    let (names, said) = offered("[\"shop_getPat\"]");
    assert!(apis(&names).is_empty());
    assert!(said.contains("did you mean \"shop_getPet\"?"), "{said}");
}

#[test]
fn an_operation_is_for_an_administrator_who_is_asked() {
    let echo = Echo::new();
    let toml = "[plugin_api]\nallowlist = [\"*\"]\napis.shop.openapi = \"shop.json\"\n";
    let world = World::with(toml);
    world.write("here/shop.json", &document(&echo.url("/v1")).to_string());
    assert!(apis(&listed(&world, &["--role", "user"])).is_empty());
    let output = call(&world, "call_shop_getPet", &json!({"pet": "rex"}));
    assert_eq!(output["error"]["code"], "needs_approval", "{output}");
    assert_eq!(echo.last(), "");
}

#[test]
fn a_document_is_a_file_or_a_url() {
    let echo = Echo::new();
    for (openapi, url, path) in [
        ("shop.json".to_owned(), String::new(), "/v1"),
        (
            "shop.json".to_owned(),
            format!("url = \"{}\"\n", echo.url("/v2/")),
            "/v2",
        ),
        (echo.url("/openapi.json"), String::new(), "/v1"),
    ] {
        let world = World::with(&format!(
            "{ALLOWED}[plugin_api]\nallowlist = [\"*\"]\n[plugin_api.apis.shop]\nopenapi = \"{openapi}\"\n{url}"
        ));
        world.write("here/shop.json", &document(&echo.url("/v1")).to_string());
        let output = call(&world, "call_shop_getPet", &json!({"pet": "a/b"}));
        assert_eq!(output["status"], "success", "{output}");
        let asked = format!("GET {path}/pets/a%2Fb HTTP/1.1");
        assert_eq!(output["result"]["body"]["asked"], asked, "{output}");
    }
}

#[test]
fn a_url_and_a_schema_are_one_tool() {
    let echo = Echo::new();
    for (method, schema, line, body) in [
        (
            "",
            "schema = { properties = { city = { type = \"string\" } }, required = [\"city\"] }",
            "POST /now",
            "{\"city\":\"Ulm\"}",
        ),
        (
            "method = \"GET\"\n",
            "schema = \"city.json\"",
            "GET /now?city=Ulm",
            "",
        ),
        (
            "method = \"PUT\"\n",
            "schema = \"city.json\"",
            "PUT /now",
            "{\"city\":\"Ulm\"}",
        ),
    ] {
        let world = World::with(&format!(
            "{ALLOWED}[plugin_api]\nallowlist = [\"weather\"]\n[plugin_api.apis.weather]\nurl = \"{}\"\n{method}{schema}\n",
            echo.url("/now")
        ));
        world.write(
            "here/city.json",
            "{\"properties\":{\"city\":{\"type\":\"string\"}},\"required\":[\"city\"]}",
        );
        let output = call(&world, "call_weather", &json!({}));
        assert_eq!(output["error"]["code"], "invalid_arguments", "{output}");
        let output = call(&world, "call_weather", &json!({"city": "Ulm"}));
        assert_eq!(output["status"], "success", "{output}");
        let asked = echo.last();
        assert!(asked.starts_with(&format!("{line} HTTP/1.1")), "{asked}");
        assert!(asked.ends_with(&format!("\r\n\r\n{body}")), "{asked}");
    }
}

#[test]
fn credentials_come_from_the_configuration_and_the_environment_and_are_not_told() {
    let echo = Echo::new();
    let world = World::with(&format!(
        "{ALLOWED}[plugin_api]\nallowlist = [\"*\"]\n[plugin_api.apis.shop]\nopenapi = \"shop.json\"\n\
         headers = {{ Authorization = \"Bearer env:SHOP_TOKEN\", X-Api-Key = \"plain-secret\", X-Who = \"tester\" }}\n\
         query = {{ key = \"env:SHOP_KEY\" }}\n"
    ));
    world.write("here/shop.json", &document(&echo.url("/v1")).to_string());
    let variables = [
        PATH,
        ("SHOP_TOKEN", "token-12345"),
        ("SHOP_KEY", "key-12345"),
    ];
    let args = [
        "tools",
        "call",
        "call_shop_getPet",
        "--json",
        "--args",
        "{\"pet\":\"rex\"}",
    ];
    let ran = world.run_with(&args, &variables);
    let asked = echo.last();
    for sent in [
        "?key=key-12345 ",
        "authorization: Bearer token-12345",
        "x-api-key: plain-secret",
        "x-who: tester",
    ] {
        assert!(asked.contains(sent), "{sent} in {asked}");
    }
    // The API tells all it was asked; of that, nothing confidential goes on.
    let output = ran.json();
    let all = output["result"]["body"]["all"].as_str().unwrap();
    assert!(all.contains("authorization: Bearer [redacted]"), "{all}");
    assert!(all.contains("x-who: tester"), "{all}");
    for secret in ["token-12345", "key-12345", "plain-secret"] {
        assert!(!ran.shown().contains(secret), "{}", ran.shown());
    }
    for shown in [&["config", "explain"][..], &["doctor", "--json"]] {
        let shown = world.run_with(shown, &variables).shown();
        for secret in ["token-12345", "key-12345", "plain-secret"] {
            assert!(!shown.contains(secret), "{shown}");
        }
    }
    // Without its variable that API is not there, and the reason is told.
    let ran = world.run_with(&["doctor"], &[PATH]);
    let why = "shop is left out: failed to send Authorization with every call: the variable SHOP_TOKEN is not set";
    assert!(ran.stdout.contains(why), "{}", ran.shown());
}

#[test]
fn an_api_is_waited_for_as_long_as_it_is_said() {
    let echo = Echo::new();
    let world = World::with(&format!(
        "{ALLOWED}[plugin_api]\nallowlist = [\"*\"]\n[plugin_api.apis.shop]\nopenapi = \"shop.json\"\ntimeout_seconds = 1\n"
    ));
    world.write("here/shop.json", &document(&echo.url("/v1")).to_string());
    let output = call(&world, "call_shop_wait", &json!({}));
    assert_eq!(output["error"]["code"], "timeout", "{output}");
    let message = output["error"]["message"].as_str().unwrap();
    assert!(message.contains("took more than 1 s"), "{message}");
}

#[test]
fn an_api_that_cannot_be_used_costs_no_other_anything() {
    let echo = Echo::new();
    let world = World::with(&format!(
        "{ALLOWED}[plugin_api]\nallowlist = [\"*\"]\n\
         apis.shop.openapi = \"shop.json\"\n\
         apis.old = {{ openapi = \"old.yaml\" }}\n\
         apis.none = {{ openapi = \"none.json\" }}\n\
         apis.words = {{ openapi = \"words.json\" }}\n\
         apis.down = {{ openapi = \"http://127.0.0.1:1/openapi.json\" }}\n\
         apis.gone = {{ openapi = \"{}\" }}\n\
         apis.odd = {{ url = \"http://127.0.0.1:1/\", schema = \"words.json\" }}\n",
        echo.url("/openapi.json/none")
    ));
    world.write("here/shop.json", &document(&echo.url("/v1")).to_string());
    world.write("here/old.yaml", "swagger: '2.0'\npaths: {}\n");
    world.write("here/words.json", "once upon a time");
    let output = call(&world, "call_shop_getPet", &json!({"pet": "rex"}));
    assert_eq!(output["status"], "success", "{output}");
    let doctor = world.run_with(&["doctor"], &[PATH]).stdout;
    for line in [
        "shop: 3 of 3 operations offered",
        "old is left out: failed to read its document: it follows Swagger \"2.0\"",
        "none is left out: failed to read ROOT/here/none.json: no such file",
        "words is left out: failed to read its document: it is no object",
        "down is left out: failed to fetch its document: connect to http://127.0.0.1:1",
        "odd is left out: failed to read ROOT/here/words.json: it is no JSON",
    ] {
        assert!(doctor.contains(line), "{line} in {doctor}");
    }
}

#[test]
fn an_operation_that_was_left_out_was_counted_among_those_that_are_offered() {
    let echo = Echo::new();
    let world = World::with(&format!(
        "{ALLOWED}[plugin_api]\nallowlist = [\"shop_getPat\", \"shop_getPet\"]\napis.shop.openapi = \"shop.json\"\n"
    ));
    let mut document = document(&echo.url("/v1"));
    document["paths"]["/odd"] = json!({"options": {"operationId": "odd"}});
    // Its name is another's.
    document["paths"]["/other"] = json!({"get": {"operationId": "getPet"}});
    world.write("here/shop.json", &document.to_string());
    let doctor = world.run_with(&["doctor"], &[PATH]).stdout;
    for line in [
        "shop: 1 of 5 operations offered",
        "shop: call_shop_odd is left out: an operation of OPTIONS is no tool",
        "call_shop_getPet is left out: \"getPet\" has the name call_shop_getPet of another operation",
        "allowlist is left out: no operation is called \"shop_getPat\", did you mean \"shop_getPet\"?",
    ] {
        assert!(doctor.contains(line), "{line} in {doctor}");
    }
}

#[test]
fn what_an_api_cannot_do_without_is_said() {
    for (api, says) in [
        ("{ }", "needs `openapi`, or `url` and `schema`"),
        (
            "{ url = \"http://a.invalid/\" }",
            "needs `schema` beside its `url`, or `openapi`",
        ),
        ("{ schema = {} }", "needs `url` beside its `schema`"),
        (
            "{ openapi = \"a\", schema = {} }",
            "cannot have both `openapi` and `schema`",
        ),
        (
            "{ openapi = \"a\", method = \"GET\" }",
            "has a `method`, which `openapi` says",
        ),
        (
            "{ openapi = \"a\", url = \"http://me:pw@a.invalid/\" }",
            "hold no credentials",
        ),
        (
            "{ openapi = \"a\", url = \"ftp://a.invalid/\" }",
            "must be a URL of http or https",
        ),
        (
            "{ openapi = \"http://\" }",
            "must be a path, or a URL of http or https",
        ),
        (
            "{ openapi = \"a\", timeout_seconds = 0 }",
            "a whole number from 1 to 3600",
        ),
        (
            "{ openapi = \"a\", schema = 5 }",
            "must be a table, or a path",
        ),
        (
            "{ openapi = \"a\", method = \"HEAD\" }",
            "one of GET, POST, PUT, PATCH, DELETE",
        ),
    ] {
        let world = World::with(&format!("[plugin_api]\napis.a = {api}\n"));
        let ran = world.run(&["config", "check"]);
        assert_eq!(ran.code, 2, "{}", ran.shown());
        let shown = ran.shown();
        assert!(shown.contains(says), "{says} in {shown}");
        assert!(!ran.shown().contains("pw@"), "{}", ran.shown());
    }
    let world = World::with("[plugin_api.apis.a__b]\nopenapi = \"a\"\n");
    let ran = world.run(&["config", "check"]);
    assert!(
        ran.shown().contains("a name that is not 1 to 30"),
        "{}",
        ran.shown()
    );
}
