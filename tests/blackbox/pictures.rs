//! `render_html2png`, end to end.

use std::io::Write as _;

use serde_json::{Value, json};

use crate::direct::{called, error, result};
use crate::world::World;

/// Whether there is a browser; says so where there is none.
fn chromium() -> bool {
    let there = std::path::Path::new("/usr/lib/chromium/chromium").is_file();
    if !there {
        let why = "there is none here; on Debian: apt-get install chromium";
        let _ = writeln!(std::io::stderr(), "SKIPPED(chromium): {why}");
    }
    there
}

/// The pictures among the artifacts of a session.
fn pictures(world: &World, session: &str) -> Vec<Vec<u8>> {
    let dir = world.data(&format!("artifacts/local/local/{session}"));
    let files = std::fs::read_dir(dir).unwrap().flatten();
    files
        .filter_map(|entry| std::fs::read(entry.path()).ok())
        .filter(|bytes| bytes.starts_with(b"\x89PNG\r\n\x1a\n"))
        .collect()
}

fn size(png: &[u8]) -> (u64, u64) {
    let side = |at: usize| u64::from(u32::from_be_bytes(png[at..at + 4].try_into().unwrap()));
    (side(16), side(20))
}

#[test]
fn a_page_of_the_workspace_becomes_an_artifact_of_its_session() {
    if !chromium() {
        return;
    }
    let world = World::new();
    world.write(
        "page.html",
        "<!doctype html><body style='margin:0;height:900px;background:green'>茶",
    );
    let args = json!({"path": "page.html", "width": 320, "height": 200}).to_string();
    let (_, output) = called(&world, "render_html2png", &args, &["--session", "s"]);
    assert_eq!(output["status"], "success", "{output}");
    let told = &output["result"];
    let expected = json!({
        "artifact": output["artifacts"][0], "mime": "image/png", "width": 320, "height": 900,
    });
    assert_eq!(*told, expected);
    let kept = pictures(&world, "s");
    assert_eq!(kept.len(), 1);
    assert_eq!(size(&kept[0]), (320, 900));
    let args = json!({"image": told["artifact"]}).to_string();
    let (_, looked) = called(&world, "analyze_image", &args, &["--session", "s"]);
    assert_eq!(looked["result"]["height"], 900, "{looked}");
    let (_, other) = called(&world, "analyze_image", &args, &["--session", "t"]);
    assert_eq!(other["error"]["code"], "not_found", "{other}");
}

/// The browser is held whatever holds the commands of the session, and sees none of its files.
#[test]
fn a_page_sees_nothing_of_the_workspace() {
    if !chromium() {
        return;
    }
    let world = World::new();
    world.write(
        "red.svg",
        "<svg xmlns='http://www.w3.org/2000/svg' width='90' height='90'>\
         <rect width='90' height='90' fill='red'/></svg>",
    );
    let there = world.work("red.svg").display().to_string();
    let shot = |session: &str, source: &str| {
        let html = format!("<img src='{source}' width='90' height='90'><p>茶");
        let args = json!({"html": html, "width": 120, "height": 120, "full_page": false});
        called(
            &world,
            "render_html2png",
            &args.to_string(),
            &["--session", session],
        );
        pictures(&world, session).remove(0)
    };
    let none = shot("none", "gone.svg");
    assert_eq!(shot("file", &format!("file://{there}")), none);
    assert_eq!(shot("relative", "red.svg"), none);
    let inline = "data:image/svg+xml,%3Csvg xmlns=%22http://www.w3.org/2000/svg%22 width=%2290%22 \
        height=%2290%22%3E%3Crect width=%2290%22 height=%2290%22 fill=%22red%22/%3E%3C/svg%3E";
    assert_ne!(
        shot("inline", inline),
        none,
        "what stands in the page is shown"
    );
}

#[test]
fn what_is_no_page_of_the_workspace_is_refused() {
    let world = World::new();
    let refused = |args: Value| error(&world, "render_html2png", &args)["code"].clone();
    assert_eq!(refused(json!({"path": "/etc/passwd"})), "not_permitted");
    assert_eq!(refused(json!({"path": "none.html"})), "not_found");
    assert_eq!(refused(json!({})), "invalid_arguments");
    assert_eq!(
        refused(json!({"html": "x", "width": 100_000})),
        "invalid_arguments"
    );
    let two = json!({"html": "x", "path": "y"});
    assert_eq!(refused(two), "invalid_arguments");
    assert_eq!(result(&world, "list_dir", &json!({}))["entries"], json!([]));
}
