//! What a page reaches: nothing.

use std::io::ErrorKind;
use std::net::{TcpListener, UdpSocket};
use std::path::Path;
use std::time::Duration;

use outfitter_core::Cancel;
use outfitter_sandbox::browser::{BrowserError, Chromium};
use rstest::rstest;

use super::picture::GREEN;
use super::{chromium, page, seen, shot, supervisor};

/// Every way that a page has to ask somebody for something. The page goes on to its end all the
/// same, which shows that it was tried.
#[tokio::test]
async fn a_page_reaches_no_network() {
    let Some(browser) = chromium() else { return };
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    tcp.set_nonblocking(true).unwrap();
    let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
    udp.set_nonblocking(true).unwrap();
    let (at, stun) = (tcp.local_addr().unwrap(), udp.local_addr().unwrap());
    let html = format!(
        "<!doctype html><link rel=stylesheet href='http://{at}/a'>\
         <link rel=preconnect href='http://{at}'><link rel=prefetch href='http://{at}/p'>\
         <body style='background:red'><img src='http://{at}/b'><iframe src='http://{at}/c'></iframe>\
         <object data='http://{at}/o'></object><video src='http://{at}/v' autoplay></video>\
         <script src='http://{at}/d'></script><form id=f action='http://{at}/f' method=post></form>\
         <script>\
         fetch('http://{at}/e', {{mode: 'no-cors'}}).catch(() => 0);\
         navigator.sendBeacon('http://{at}/beacon', 'x');\
         try {{ new WebSocket('ws://{at}/ws') }} catch (e) {{}}\
         try {{ new EventSource('http://{at}/es') }} catch (e) {{}}\
         try {{ new Worker(URL.createObjectURL(new Blob([\"fetch('http://{at}/w')\"]))) }} catch (e) {{}}\
         try {{ const c = new RTCPeerConnection({{iceServers: [{{urls: 'stun:{stun}'}}]}});\
         c.createDataChannel('x'); c.createOffer().then(o => c.setLocalDescription(o)) }} catch (e) {{}}\
         document.body.style.background = 'green';\
         setTimeout(() => {{ f.submit(); location = 'http://{at}/l' }}, 50)\
         </script>"
    );
    let picture = seen(&browser, &html).await;
    assert_eq!(picture.at(99, 59), GREEN);
    assert_eq!(tcp.accept().unwrap_err().kind(), ErrorKind::WouldBlock);
    let asked = udp.recv_from(&mut [0; 64]).unwrap_err();
    assert_eq!(asked.kind(), ErrorKind::WouldBlock);
}

/// The file is a picture that would be seen. It is one that anybody may read, and the page looks the
/// same as with one that is not there.
#[rstest]
#[case::frame("<iframe src='file://FILE' width=90 height=50></iframe>")]
#[case::picture("<img src='file://FILE' width=90 height=50>")]
#[case::object("<object data='file://FILE' width=90 height=50></object>")]
#[case::going_there("<script>location = 'file://FILE'</script>")]
#[case::a_moment_later("<script>setTimeout(() => location = 'file://FILE', 50)</script>")]
#[case::source("<script>location = 'view-source:file://FILE'</script>")]
#[case::refresh("<meta http-equiv=refresh content='0;url=file://FILE'>")]
#[case::base("<base href='file:///'><img src='FILE' width=90 height=50>")]
#[case::style("<style>body{background:url(file://FILE)}</style>")]
#[case::import("<style>@import 'file://FILE';</style>")]
#[tokio::test]
async fn a_page_reaches_no_file(#[case] html: &str) {
    let Some(browser) = chromium() else { return };
    let dir = tempfile::tempdir_in("/var/tmp").unwrap();
    let there = dir.path().join("there.svg");
    let svg = "<svg xmlns='http://www.w3.org/2000/svg' width='90' height='90'>\
        <rect width='90' height='90' fill='red'/></svg>";
    std::fs::write(&there, svg).unwrap();
    let with = async |path: &Path| {
        let html = html.replace("FILE", path.to_str().unwrap());
        seen(&browser, &html).await
    };
    let gone = there.with_file_name("gone.svg");
    assert_eq!(with(&there).await, with(&gone).await);
}

/// A browser with a place of its own, and what is left there and of its processes.
fn watched() -> Option<(Chromium, tempfile::TempDir)> {
    let browser = chromium()?;
    let place = tempfile::tempdir_in("/tmp").unwrap();
    let browser = browser.working_in(place.path().to_owned());
    Some((browser, place))
}

fn leaves_nothing(place: &tempfile::TempDir) {
    let name = place.path().to_str().unwrap();
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let running: Vec<String> = processes
        .filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok())
        .map(|line| String::from_utf8_lossy(&line).replace('\0', " "))
        .filter(|line| line.contains(name))
        .collect();
    assert_eq!(running, Vec::<String>::new());
    assert_eq!(place.path().read_dir().unwrap().count(), 0);
}

#[tokio::test]
async fn nothing_is_left_of_a_browser() {
    let Some((browser, place)) = watched() else {
        return;
    };
    shot(&browser, page("<p>hi")).await.unwrap();
    leaves_nothing(&place);
}

#[tokio::test]
async fn nothing_is_left_of_one_that_is_stopped() {
    let Some((browser, place)) = watched() else {
        return;
    };
    let cancel = Cancel::new();
    let show = browser.show(page("<script>while (true);</script>"), &cancel);
    let stop = async {
        // Once it is there.
        while place.path().read_dir().unwrap().count() == 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        tokio::time::sleep(Duration::from_millis(300)).await;
        cancel.cancel();
    };
    let (shown, ()) = tokio::join!(show, stop);
    assert!(matches!(shown, Err(BrowserError::Cancelled)), "{shown:?}");
    leaves_nothing(&place);
}

/// It ends by its own limit, by that of its script engine or by ours, and never takes more.
#[tokio::test]
async fn a_page_that_eats_memory_is_ended() {
    let Some((browser, place)) = watched() else {
        return;
    };
    let html = "<body style='background:green'><script>const all = [];\
        for (;;) { all.push(new Uint8Array(64 << 20).fill(1)) }</script>";
    let shown = shot(&browser, page(html)).await;
    if let Err(error) = shown {
        assert!(
            matches!(error, BrowserError::Ended(_) | BrowserError::Timeout { .. }),
            "{error:?}"
        );
    }
    leaves_nothing(&place);
}

#[tokio::test]
async fn more_than_a_few_wait_for_their_turn() {
    let Some((browser, place)) = watched() else {
        return;
    };
    let html = "<!doctype html><body style='background:green'>";
    let (a, b, c, d) = tokio::join!(
        seen(&browser, html),
        seen(&browser, html),
        seen(&browser, html),
        seen(&browser, html)
    );
    for picture in [a, b, c, d] {
        assert!(picture.is_all(GREEN));
    }
    leaves_nothing(&place);
}

#[tokio::test]
async fn without_a_browser_that_is_said() {
    let browser = Chromium::one_of(supervisor(), vec!["/nowhere/chromium".into()]);
    let missing = shot(&browser, page("<p>hi")).await;
    assert!(matches!(missing, Err(BrowserError::Missing)), "{missing:?}");
}

/// Its words are in the error, and nothing is waited for.
#[tokio::test]
async fn a_program_that_is_no_browser_is_told() {
    let browser = Chromium::one_of(supervisor(), vec!["/bin/false".into(), "/bin/true".into()]);
    let ended = shot(&browser, page("<p>hi")).await;
    assert!(matches!(ended, Err(BrowserError::Ended(_))), "{ended:?}");
    let dir = tempfile::tempdir_in("/var/tmp").unwrap();
    let unreadable = dir.path().join("chromium");
    std::fs::copy("/bin/true", &unreadable).unwrap();
    // What it may not read it cannot run.
    let browser = Chromium::one_of(supervisor(), vec![unreadable]);
    let ended = shot(&browser, page("<p>hi")).await;
    assert!(matches!(ended, Err(BrowserError::Ended(_))), "{ended:?}");
}
