//! What is seen.

use std::process::Stdio;

use outfitter_sandbox::browser::{MAX_PAGE_HEIGHT, MAX_PIXELS, Page};
use rstest::rstest;

use super::picture::{BLUE, GREEN, Picture, RED, WHITE};
use super::{chromium, page, seen, shot};
use crate::commands::kit::say;

#[tokio::test]
async fn colours_stand_where_the_page_puts_them() {
    let Some(browser) = chromium() else { return };
    let html = "<!doctype html><style>body{margin:0;background:blue}\
        div{position:absolute;left:0;top:0;width:50px;height:30px;background:red}</style><div></div>\
        <script>document.body.append(Object.assign(document.createElement('p'),\
        {style:'position:absolute;margin:0;left:50px;top:30px;width:50px;height:30px;background:green'}))\
        </script>";
    let picture = seen(&browser, html).await;
    assert_eq!((picture.width, picture.height), (100, 60));
    assert_eq!(picture.at(10, 10), RED);
    assert_eq!(picture.at(90, 10), BLUE);
    assert_eq!(picture.at(90, 50), GREEN);
    assert_eq!(picture.count(RED), 50 * 30);
    assert_eq!(picture.count(GREEN), 50 * 30);
}

const HIGH: &str = "<!doctype html><body style='margin:0'><div style='height:2990px;\
    background:red'></div><div style='height:10px;background:blue'></div>";

#[rstest]
#[case::as_the_page(200, true, 3000, Some(3000))]
#[case::as_the_window(200, false, 200, None)]
#[case::window_higher_than_the_page(3500, true, 3500, Some(3500))]
#[tokio::test]
async fn a_picture_is_as_high_as_was_asked_for(
    #[case] window: u32,
    #[case] full_page: bool,
    #[case] height: usize,
    #[case] told: Option<u32>,
) {
    let Some(browser) = chromium() else { return };
    let page = Page {
        html: HIGH,
        width: 120,
        height: window,
        full_page,
    };
    let shot = shot(&browser, page).await.unwrap();
    let picture = Picture::of(&shot.png);
    assert_eq!((picture.width, picture.height), (120, height));
    assert_eq!(shot.page_height, told);
    assert!(!shot.stopped);
    assert_eq!(picture.at(60, 100), RED);
    if height >= 3000 {
        assert_eq!(picture.at(60, 2995), BLUE);
    }
}

/// The limits hold whatever a page says of itself, and the rest of it is told.
#[rstest]
#[case::narrow(64, MAX_PAGE_HEIGHT)]
#[case::wide(4096, MAX_PIXELS / 4096)]
#[tokio::test]
async fn a_page_without_end_is_cut(#[case] width: u32, #[case] height: u32) {
    let Some(browser) = chromium() else { return };
    let html = "<!doctype html><body style='margin:0;background:green'>\
        <div style='height:900000px'></div>";
    let page = Page {
        html,
        width,
        height: 100,
        full_page: true,
    };
    let shot = shot(&browser, page).await.unwrap();
    let picture = Picture::of(&shot.png);
    assert_eq!(picture.height, height as usize);
    assert_eq!(shot.page_height, Some(900_000));
    assert_eq!(picture.at(10, picture.height - 10), GREEN);
}

#[tokio::test]
async fn text_is_drawn() {
    let Some(browser) = chromium() else { return };
    let text = |word: &str| format!("<!doctype html><body style='font-size:30px'>{word}");
    let picture = seen(&browser, &text("mmm")).await;
    assert!(picture.count([0, 0, 0]) > 100, "black on white");
    assert!(picture.count(WHITE) > 2000);
    assert_ne!(picture, seen(&browser, &text("iii")).await);
}

/// What a font does not have is drawn as the same box for each character.
#[tokio::test]
async fn chinese_is_drawn_where_there_is_a_font() {
    let Some(browser) = chromium() else { return };
    #[expect(
        clippy::disallowed_types,
        reason = "asks for the fonts as a user would"
    )]
    let fonts = std::process::Command::new("fc-list")
        .arg(":lang=zh")
        .stdin(Stdio::null())
        .output();
    if fonts.map_or(true, |fonts| fonts.stdout.is_empty()) {
        say("SKIPPED(font): no font here has Chinese characters");
        return;
    }
    let text = |word: &str| format!("<!doctype html><body style='font-size:30px'>{word}");
    let tea = seen(&browser, &text("茶")).await;
    let book = seen(&browser, &text("書")).await;
    assert!(tea.count([0, 0, 0]) > 50 && book.count([0, 0, 0]) > 50);
    assert_ne!(tea, book);
}

#[rstest]
#[case::alert("alert('stop')")]
#[case::confirm("confirm('sure?')")]
#[case::prompt("prompt('name?')")]
#[case::many("for (let i = 0; i < 50; i++) alert(i)")]
#[case::leaving(
    "addEventListener('beforeunload', e => e.preventDefault()); location = '/elsewhere'"
)]
#[case::printing("print()")]
#[case::closing("close()")]
#[case::a_window("open('about:blank'); open('https://elsewhere.invalid/')")]
#[tokio::test]
async fn what_would_wait_for_a_person_does_not(#[case] script: &str) {
    let Some(browser) = chromium() else { return };
    let html = format!(
        "<!doctype html><body style='background:red'><script>{script};\
         document.body.style.background = 'green'</script>"
    );
    let picture = seen(&browser, &html).await;
    assert!(picture.is_all(GREEN), "red: {}", picture.count(RED));
}

/// Its scripts are stopped, and what was there by then is shown.
#[rstest]
#[case::at_once("<script>while (true);</script>")]
#[case::again_and_again("<script>setInterval(() => { while (true); }, 0)</script>")]
#[case::in_the_background("<script>onload = () => { while (true); }</script>")]
#[case::in_promises("<script>(async () => { while (true) await null; })()</script>")]
#[tokio::test]
async fn an_endless_script_is_stopped(#[case] script: &str) {
    let Some(browser) = chromium() else { return };
    let html = format!("<!doctype html><body style='background:green'>{script}<p>after");
    let shot = shot(&browser, page(&html)).await.unwrap();
    assert!(shot.stopped);
    let picture = Picture::of(&shot.png);
    assert_eq!(picture.at(99, 1), GREEN);
}

#[tokio::test]
async fn what_is_drawn_a_moment_later_is_seen() {
    let Some(browser) = chromium() else { return };
    let html = "<!doctype html><body style='background:red'><script>\
        setTimeout(() => document.body.style.background = 'green', 200)</script>";
    assert!(seen(&browser, html).await.is_all(GREEN));
}

/// Larger than an address of a page may be.
#[tokio::test]
async fn a_large_page_is_shown() {
    let Some(browser) = chromium() else { return };
    let mut html = "<!doctype html><body style='background:green'>".to_owned();
    html.push_str(&"<!-- 茶 -->".repeat(300_000));
    html.push_str("<script>document.body.dataset.end = 1</script>");
    assert!(seen(&browser, &html).await.is_all(GREEN));
}
