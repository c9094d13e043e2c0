//! `render_html2png` with a browser that says what it was asked for.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use outfitter_builtin::{BuiltinOptions, PageRenderer, PageToRender, RenderedPage};
use outfitter_core::{Cancel, Code, Role, Services, ToolError};
use rstest::rstest;
use serde_json::{Value, json};

use crate::support::{Shelf, Workspace};

/// The start of a picture of 300 by 200.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\x01\x2c\0\0\0\xc8\x08\x06\0\0\0";

/// Keeps what it is asked for.
#[derive(Default)]
struct Browser {
    asked: Mutex<Vec<(String, [u32; 2], bool)>>,
    gives: Option<(Option<u32>, bool)>,
}

#[async_trait]
impl PageRenderer for Browser {
    async fn render(&self, page: PageToRender<'_>, _: &Cancel) -> Result<RenderedPage, ToolError> {
        let asked = (
            page.html.to_owned(),
            [page.width, page.height],
            page.full_page,
        );
        self.asked.lock().unwrap().push(asked);
        let (page_height, stopped) = self
            .gives
            .ok_or_else(|| ToolError::unavailable("there is no Chromium here"))?;
        Ok(RenderedPage {
            png: PNG.to_vec(),
            page_height,
            stopped,
        })
    }
}

fn with(gives: Option<(Option<u32>, bool)>) -> (Workspace, Arc<Browser>, Arc<Shelf>) {
    let mut workspace = Workspace::with(&BuiltinOptions::default(), Role::User);
    let shelf = Arc::new(Shelf::default());
    workspace.cx.artifacts = shelf.clone();
    let browser = Arc::new(Browser {
        gives,
        ..Browser::default()
    });
    workspace.cx.services = Services::default().with::<dyn PageRenderer>(browser.clone());
    (workspace, browser, shelf)
}

#[rstest]
#[case::of_text(json!({"html": "<p>茶"}), [1280, 800], true)]
#[case::as_asked(json!({"html": "<p>茶", "width": 300, "height": 200, "full_page": false}), [300, 200], false)]
#[case::of_a_file(json!({"path": "a/page.html", "width": 300}), [300, 800], true)]
#[case::whole_numbers_with_a_point(json!({"html": "<p>茶", "width": 300.0}), [300, 800], true)]
#[tokio::test]
async fn a_page_is_shown_and_its_picture_kept(
    #[case] args: Value,
    #[case] window: [u32; 2],
    #[case] full_page: bool,
) {
    let (workspace, browser, shelf) = with(Some((Some(200), false)));
    workspace.put("a/page.html", "<p>茶");
    let told = workspace.ok("render_html2png", args).await;
    let expected = json!({"artifact": "art_1", "mime": "image/png", "width": 300, "height": 200});
    assert_eq!(told, expected);
    let asked = browser.asked.lock().unwrap();
    assert_eq!(*asked, [("<p>茶".to_owned(), window, full_page)]);
    let kept = shelf.kept.lock().unwrap();
    assert_eq!(kept[0].new.mime, "image/png");
    assert_eq!(kept[0].start, PNG);
}

/// The result says when a limit cut something off, and nothing otherwise.
#[rstest]
#[case::cut(Some(9000), false, json!({"page_height": 9000}))]
#[case::scripts(None, true, json!({"scripts_stopped": true}))]
#[tokio::test]
async fn what_is_not_in_the_picture_is_told(
    #[case] page_height: Option<u32>,
    #[case] stopped: bool,
    #[case] more: Value,
) {
    let (workspace, ..) = with(Some((page_height, stopped)));
    let told = workspace.ok("render_html2png", json!({"html": "x"})).await;
    let mut expected =
        json!({"artifact": "art_1", "mime": "image/png", "width": 300, "height": 200});
    expected
        .as_object_mut()
        .unwrap()
        .extend(more.as_object().unwrap().clone());
    assert_eq!(told, expected);
}

#[tokio::test]
async fn a_file_is_read_in_the_encoding_it_names() {
    let (workspace, browser, _) = with(Some((None, false)));
    let html = "<meta charset=gbk><p>你好";
    workspace.put("page.html", encoding_rs::GBK.encode(html).0);
    let args = json!({"path": "page.html"});
    workspace.ok("render_html2png", args).await;
    assert_eq!(browser.asked.lock().unwrap()[0].0, html);
}

#[rstest]
#[case::neither(json!({}), Code::InvalidArguments)]
#[case::both(json!({"html": "a", "path": "b"}), Code::InvalidArguments)]
#[case::no_file(json!({"path": "gone.html"}), Code::NotFound)]
#[case::outside(json!({"path": "/etc/passwd"}), Code::NotPermitted)]
#[case::above(json!({"path": "../page.html"}), Code::NotPermitted)]
#[case::through_a_link(json!({"path": "link.html"}), Code::NotPermitted)]
#[case::no_browser(json!({"html": "a"}), Code::Unavailable)]
#[tokio::test]
async fn what_cannot_be_shown_is_refused(#[case] args: Value, #[case] code: Code) {
    let (workspace, ..) = with(None);
    let link = workspace.path().join("link.html");
    std::os::unix::fs::symlink("/etc/passwd", link).unwrap();
    let error = workspace.refused("render_html2png", args).await;
    assert_eq!(error.code(), code, "{error}");
}

#[tokio::test]
async fn a_page_that_is_too_large_is_refused_before_it_is_read_whole() {
    let (workspace, browser, _) = with(Some((None, false)));
    workspace.put("large.html", vec![b' '; (4 << 20) + 1]);
    let args = json!({"path": "large.html"});
    let error = workspace.refused("render_html2png", args).await;
    assert_eq!(error.code(), Code::TooLarge);
    assert!(browser.asked.lock().unwrap().is_empty());
}

#[tokio::test]
async fn without_the_seam_it_is_unavailable() {
    let workspace = Workspace::new();
    let args = json!({"html": "x"});
    let error = workspace.refused("render_html2png", args).await;
    assert_eq!(error.code(), Code::Unavailable);
}
