//! Where fetching leads: redirects held to rules, and what stays closed where private addresses are
//! open.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use outfitter_builtin::{
    AnalyzeImage, FetchWebpages, Fetcher, FileAccess, FilesOptions, WebOptions,
};
use outfitter_core::{Code, Decision, Onward, ToolName};
use outfitter_net::reqwest::dns::{Addrs, Name, Resolve, Resolving};
use outfitter_net::{AllowedHosts, Client, ClientOptions, OwnAddresses, Resolver};
use rstest::rstest;
use serde_json::{Value, json};

use crate::support::PATIENCE;
use crate::web::{call, fetch, open, reader, reply};

/// Serves each path its reply, and counts the requests.
fn serve_paths(replies: &'static [(&'static str, &'static str)]) -> (SocketAddr, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let count = Arc::new(AtomicUsize::new(0));
    let counted = count.clone();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            stream.set_read_timeout(Some(PATIENCE)).unwrap();
            let mut head = Vec::new();
            let mut byte = [0];
            while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap_or(0) == 1 {
                head.push(byte[0]);
            }
            counted.fetch_add(1, Ordering::SeqCst);
            let head = String::from_utf8(head).unwrap();
            let path = head.split(' ').nth(1).unwrap_or_default();
            let found = replies.iter().find(|(known, _)| *known == path);
            let reply = match found {
                Some((_, location)) if !location.is_empty() => format!(
                    "HTTP/1.1 302 Found\r\nlocation: {location}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
                )
                .into_bytes(),
                _ => reply("200 OK", "text/plain", b"here"),
            };
            let _gone = stream.write_all(&reply);
        }
    });
    (address, count)
}

/// Denies one path, and has another one asked about.
#[derive(Default)]
struct Judged(Mutex<Vec<(Value, Value)>>);

impl Onward for Judged {
    fn judge(&self, _: &ToolName, from: &Value, to: &Value) -> Decision {
        self.0.lock().unwrap().push((from.clone(), to.clone()));
        let to = to.to_string();
        if to.contains("/denied") {
            Decision::deny("rule 3 denies it")
        } else if to.contains("/asked") {
            Decision::ask("rule 4 asks for it")
        } else {
            Decision::allow()
        }
    }
}

const HOPS: &[(&str, &str)] = &[
    ("/free", "/plain"),
    ("/twice", "/free"),
    ("/to-denied", "/denied"),
    ("/to-asked", "/twice-more"),
    ("/twice-more", "/asked"),
];

#[rstest]
#[case("/plain", 1, None)]
#[case("/free", 2, None)]
#[case("/twice", 3, None)]
#[case(
    "/to-denied",
    1,
    Some((
        "not_permitted",
        "it leads on to http://ADDRESS/denied, which is not permitted: rule 3 denies it",
    ))
)]
#[case(
    "/to-asked",
    2,
    Some((
        "needs_approval",
        "it leads on to http://ADDRESS/asked, which a person must approve: rule 4 asks for it",
    ))
)]
#[tokio::test]
async fn a_redirect_was_followed_past_the_rules_that_the_first_address_was_held_to(
    #[case] path: &str,
    #[case] requests: usize,
    #[case] refused: Option<(&str, &str)>,
) {
    let (address, count) = serve_paths(HOPS);
    let url = format!("http://{address}{path}");
    let mut cx = reader();
    cx.services = cx.services.with::<dyn Onward>(Arc::new(Judged::default()));
    let fetcher = Arc::new(Fetcher::new(&open(), &OwnAddresses::default()));
    let told = |message: &str| message.replace(&address.to_string(), "ADDRESS");

    let pages = FetchWebpages::new(fetcher.clone());
    let outcome = call(&pages, &cx, json!({"urls": [url]})).await.unwrap();
    let page = &outcome.result["results"][0];
    assert_eq!(count.load(Ordering::SeqCst), requests);
    match refused {
        None => assert_eq!(page["content"], "here"),
        Some((code, message)) => {
            assert_eq!(page["error"]["code"], code);
            assert_eq!(told(page["error"]["message"].as_str().unwrap()), message);
        }
    }

    // A picture is fetched by the same way.
    let image = AnalyzeImage::new(FileAccess::new(&FilesOptions::default()), Some(fetcher));
    let error = call(&image, &cx, json!({"image": url})).await.unwrap_err();
    assert_eq!(count.load(Ordering::SeqCst), 2 * requests);
    if let Some((code, message)) = refused {
        assert_eq!(error.code().as_str(), code);
        assert_eq!(told(&error.info().message), message);
    }
}

#[tokio::test]
async fn a_hop_is_judged_alone_with_all_else_that_the_call_says() {
    let (address, _) = serve_paths(HOPS);
    let url = |path: &str| format!("http://{address}{path}");
    let judged = Arc::new(Judged::default());
    let mut cx = reader();
    cx.services = cx.services.with::<dyn Onward>(judged.clone());
    let fetcher = Arc::new(Fetcher::new(&open(), &OwnAddresses::default()));
    let args = json!({"urls": [url("/plain"), url("/free")], "max_chars": 100});
    call(&FetchWebpages::new(fetcher), &cx, args).await.unwrap();
    let with = |path: &str| json!({"urls": [url(path)], "max_chars": 100});
    assert_eq!(*judged.0.lock().unwrap(), [(with("/free"), with("/plain"))]);
}

#[tokio::test]
async fn the_program_fetched_from_its_own_server_where_private_addresses_are_open() {
    let (own, reached) = serve_paths(&[]);
    let listens = OwnAddresses::default();
    listens.add(own);
    let leads_there: &'static str = Box::leak(format!("http://{own}/v1/tools").into_boxed_str());
    let hops: &'static [(&str, &str)] = Box::leak(Box::new([("/a", leads_there)]));
    let (other, _) = serve_paths(hops);
    let port = own.port();
    let fetcher = Arc::new(Fetcher::new(&open(), &listens));
    let urls = json!([
        format!("http://{own}/"),
        format!("http://localhost:{port}/"),
        format!("http://0.0.0.0:{port}/"),
        format!("http://[::ffff:127.0.0.1]:{port}/"),
        format!("http://{other}/a"),
    ]);
    let tool = FetchWebpages::new(fetcher.clone());
    let outcome = call(&tool, &reader(), json!({"urls": urls})).await.unwrap();
    for page in outcome.result["results"].as_array().unwrap() {
        let error = &page["error"];
        assert_eq!(error["code"], "not_permitted", "{page}");
        let message = error["message"].as_str().unwrap();
        assert!(
            message.contains("where this server listens itself"),
            "{message}"
        );
    }
    let image = AnalyzeImage::new(FileAccess::new(&FilesOptions::default()), Some(fetcher));
    let url = json!({"image": format!("http://{own}/")});
    let error = call(&image, &reader(), url).await.unwrap_err();
    assert_eq!(error.code(), Code::NotPermitted);
    assert_eq!(reached.load(Ordering::SeqCst), 0);
    // All else on this machine is open.
    let args = json!({"urls": [format!("http://{other}/b")]});
    let outcome = call(&tool, &reader(), args).await.unwrap();
    assert_eq!(outcome.result["results"][0]["content"], "here");
}

#[tokio::test]
async fn metadata_services_stay_closed_where_private_addresses_are_open() {
    let all = json!({"urls": [
        "http://169.254.169.254/latest/meta-data/",
        "http://[fd00:ec2::254]/latest/meta-data/",
        "http://100.100.100.200/latest/meta-data/",
    ]});
    let outcome = fetch(&open(), all).await;
    for page in outcome.result["results"].as_array().unwrap() {
        assert_eq!(page["error"]["code"], "not_permitted", "{page}");
    }
}

/// `[sandbox] network` with these hosts, and private addresses open.
fn listing(hosts: &[&str]) -> WebOptions {
    let hosts = AllowedHosts::parse(hosts.iter().copied()).unwrap();
    WebOptions {
        hosts: Some(Arc::new(hosts)),
        ..open()
    }
}

#[rstest]
#[case::another_host(&["example.com"], "127.0.0.1", Some("[sandbox] network does not list it"))]
#[case::an_empty_list(&[], "127.0.0.1", Some("[sandbox] network does not list it"))]
#[case::by_its_address(&["127.0.0.1"], "127.0.0.1", None)]
#[case::by_its_name_as_an_operator_wrote_it(&["localhost"], "localhost", None)]
#[case::by_a_number_that_is_not_listed(&["localhost"], "2130706433", Some("127.0.0.1:"))]
#[case::by_another_port(&["127.0.0.1:1"], "127.0.0.1", Some("[sandbox] network does not list it"))]
#[case::a_name_that_leads_inward(&["x.localhost"], "x.localhost", Some("failed to"))]
#[tokio::test]
async fn a_list_of_hosts_did_not_hold_for_fetch_webpages(
    #[case] hosts: &[&str],
    #[case] host: &str,
    #[case] refused: Option<&str>,
) {
    let (address, count) = serve_paths(&[("/", "")]);
    let url = format!("http://{host}:{}/", address.port());
    let got = fetch(&listing(hosts), json!({ "urls": [url] })).await;
    let one = &got.result["results"][0];
    match refused {
        None => assert_eq!(one["content"], "here", "{one}"),
        Some(why) => {
            let message = one["error"]["message"].as_str().unwrap();
            assert!(message.contains(why), "{message}");
        }
    }
    let reached = usize::from(refused.is_none());
    assert_eq!(count.load(Ordering::SeqCst), reached);
}

/// A name of a private network, as its resolver has it.
struct Inward;

impl Resolve for Inward {
    fn resolve(&self, _: Name) -> Resolving {
        let address = SocketAddr::from(([10, 0, 0, 5], 0));
        Box::pin(async move { Ok(Box::new(std::iter::once(address)) as Addrs) })
    }
}

#[rstest]
#[case::by_its_name(
    Some(&["db.example"][..]),
    false,
    "[sandbox] network opens a private address by itself only, not by a name that leads to it; the \
     operator can write `\"10.0.0.5\"` into `network` under [sandbox], and then it is fetched by \
     10.0.0.5"
)]
#[case::by_both(
    Some(&["db.example", "10.0.0.0/8"][..]),
    false,
    "[sandbox] network opens a private address by itself only, not by a name that leads to it; \
     fetch it by 10.0.0.5"
)]
#[case::by_both_where_private_ones_are_closed(
    Some(&["db.example", "10.0.0.5"][..]),
    true,
    "[sandbox] network opens a private address by itself only, not by a name that leads to it; the \
     operator can write `block_private = false` under [web], and then it is fetched by 10.0.0.5"
)]
#[case::where_nothing_is_listed(
    None,
    true,
    "the operator can write `block_private = false` under [web]"
)]
#[tokio::test]
async fn a_refused_private_name_did_not_say_what_to_write(
    #[case] hosts: Option<&[&str]>,
    #[case] block_private: bool,
    #[case] hint: &str,
) {
    let hosts = hosts.map(|hosts| AllowedHosts::parse(hosts.iter().copied()).unwrap());
    let options = WebOptions {
        hosts: hosts.map(Arc::new),
        block_private,
        ..open()
    };
    let client = Client::public_only(ClientOptions {
        resolver: Resolver::Custom(Arc::new(Inward)),
        ..ClientOptions::default()
    });
    let fetcher = Fetcher::with_client(&options, client.unwrap());
    let args = json!({"urls": ["http://db.example/"]});
    let outcome = call(&FetchWebpages::new(Arc::new(fetcher)), &reader(), args).await;
    let error = &outcome.unwrap().result["results"][0]["error"];
    assert_eq!(error["code"], "not_permitted");
    assert_eq!(error["hint"], hint);
    let message = error["message"].as_str().unwrap();
    assert!(
        message.contains("10.0.0.5 is a private address"),
        "{message}"
    );
}

#[rstest]
#[case::off_the_list("http://localhost:", "does not list it")]
#[case::to_a_name("http://name.example:", "lists by its name")]
#[tokio::test]
async fn a_redirect_led_off_the_list_of_hosts(#[case] to: &str, #[case] why: &str) {
    let (there, reached) = serve_paths(&[("/", "")]);
    let to: &'static str = format!("{to}{}/", there.port()).leak();
    let (address, _) = serve_paths(vec![("/", to)].leak());
    let options = listing(&["127.0.0.1", "name.example"]);
    let got = fetch(&options, json!({ "urls": [format!("http://{address}/")] })).await;
    let error = &got.result["results"][0]["error"];
    assert_eq!(error["code"], "not_permitted");
    assert!(error["message"].as_str().unwrap().contains(why), "{error}");
    assert_eq!(reached.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn a_list_of_hosts_did_not_hold_for_pictures() {
    let (address, reached) = serve_paths(&[("/", "")]);
    let fetcher = Fetcher::new(&listing(&["example.com"]), &OwnAddresses::default());
    let access = FileAccess::new(&FilesOptions::default());
    let tool = AnalyzeImage::new(access, Some(Arc::new(fetcher)));
    let args = json!({ "image": format!("http://{address}/") });
    let error = call(&tool, &reader(), args).await.unwrap_err();
    assert_eq!(error.info().code, Code::NotPermitted);
    assert!(error.info().message.contains("[sandbox] network"));
    assert_eq!(reached.load(Ordering::SeqCst), 0);
}
