//! What a command prints, on its way to who watches and to the model: bursts, encodings, and
//! backends that give only the end of it.

use std::sync::Arc;

use bytes::Bytes;
use outfitter_core::Stream;
use rstest::rstest;
use serde_json::json;

use crate::shell::{ERR, OUT, run, set_up};
use crate::support::{Pieces, Print, Script, Shelf};

/// So many bytes of numbered lines, in turn on both streams.
struct Lines(u64);

const LINE: u64 = 16;

impl Lines {
    fn byte(at: u64) -> u8 {
        let line = format!("{:015}\n", at / LINE);
        line.as_bytes()[(at % LINE) as usize]
    }

    fn all(&self) -> Vec<u8> {
        (0..self.0).map(Self::byte).collect()
    }
}

impl Print for Lines {
    fn len(&self) -> u64 {
        self.0
    }
    fn range(&self, from: u64, to: u64) -> Vec<(Stream, Bytes)> {
        vec![(OUT, (from..to).map(Self::byte).collect())]
    }
}

/// One letter again and again, so that no end can be told from another.
struct Same(u64);

impl Print for Same {
    fn len(&self) -> u64 {
        self.0
    }
    fn range(&self, from: u64, to: u64) -> Vec<(Stream, Bytes)> {
        vec![(OUT, vec![b'x'; (to - from) as usize].into())]
    }
}

#[tokio::test]
async fn a_burst_of_five_million_bytes_is_shown_once_and_whole() {
    let lines = Lines(5_000_000);
    let all = lines.all();
    let (tools, cx, script, screen) = set_up(Script::new(lines));
    script.end(0);
    let outcome = run(&tools, &cx, json!({"command": "x"})).await;
    assert_eq!(outcome.result["stdout_bytes"], 5_000_000);
    assert!(screen.text().as_bytes() == all, "each byte once, in order");
    assert_eq!(screen.lost(), []);
}

#[rstest]
#[case::that_counts(true)]
#[case::that_does_not(false)]
#[tokio::test]
async fn on_a_backend_without_ranges_nothing_is_shown_twice_and_nothing_is_missed(
    #[case] counts: bool,
) {
    let lines = Lines(120_000);
    let all = lines.all();
    let script = Script::new(lines);
    let script = if counts {
        script.without_ranges()
    } else {
        script.without_counts()
    };
    let (tools, cx, script, screen) = set_up(script);
    // A first call that gives back `running`, and a second that goes on from there.
    script.print(7_003);
    run(&tools, &cx, json!({"command": "x", "block_until_ms": 0})).await;
    assert_eq!(screen.text().len(), 7_003);
    let feed = async {
        for up_to in [7_003, 7_100, 40_000, 40_001, 100_000] {
            script.print(up_to);
            script.looked_at().await;
        }
        script.end(0);
    };
    let wait = tools.call("await_shell", &cx, json!({"task_id": "job_1"}));
    let (outcome, ()) = tokio::join!(wait, feed);
    outcome.unwrap();
    assert!(screen.text().as_bytes() == all, "each byte once, in order");
    assert_eq!(screen.lost(), []);
}

#[rstest]
#[case::counted(Script::new(Lines(300_000)).without_ranges())]
#[case::compared(Script::new(Lines(300_000)).without_counts())]
#[case::compared_and_all_the_same(Script::new(Same(300_000)).without_counts())]
#[tokio::test]
async fn what_a_backend_without_ranges_cannot_show_is_said(#[case] script: Script) {
    let (tools, cx, script, screen) = set_up(script);
    let feed = async {
        script.print(1_000);
        script.looked_at().await;
        script.print(250_000);
        script.looked_at().await;
        script.end(0);
    };
    let run = run(&tools, &cx, json!({"command": "x"}));
    let (outcome, ()) = tokio::join!(run, feed);
    let lost: u64 = screen.lost().iter().map(|(_, bytes)| bytes).sum();
    assert!(lost > 100_000, "{lost}");
    assert_eq!(screen.text().len() as u64 + lost, 300_000, "shown, or said");
    let notices = outcome.result["notices"].to_string();
    assert!(notices.contains("only the end"), "{notices}");
    // Asked again, it is not said again.
    let again = tools.call("await_shell", &cx, json!({"task_id": "job_1"}));
    again.await.unwrap();
    let now: u64 = screen.lost().iter().map(|(_, bytes)| bytes).sum();
    assert_eq!(screen.text().len() as u64 + now, 300_000);
}

#[tokio::test]
async fn a_short_command_on_a_backend_without_ranges_gives_all_of_its_output() {
    let (tools, mut cx, script, _) = set_up(Script::new(Lines(40_000)).without_ranges());
    let shelf = Arc::new(Shelf::default());
    cx.artifacts = shelf.clone();
    script.end(0);
    let outcome = run(&tools, &cx, json!({"command": "x"})).await;
    assert_eq!(outcome.result["notices"], json!(null));
    let kept = shelf.kept.lock().unwrap().len();
    assert_eq!(kept, 1, "what the result leaves out is kept");
    assert_eq!(outcome.result["artifact"], json!(outcome.artifacts[0]));

    let pieces = Pieces(vec![(OUT, b"one\n"), (ERR, b"oops\n")]);
    let (tools, cx, script, screen) = set_up(Script::new(pieces).without_counts());
    script.end(0);
    let outcome = run(&tools, &cx, json!({"command": "x"})).await;
    assert_eq!(outcome.result["stdout"], "one\n");
    assert_eq!(outcome.result["stderr"], "oops\n");
    assert_eq!(outcome.result["notices"], json!(null));
    assert_eq!(screen.lost(), []);
}

/// B02: what is text in another encoding is read, and what it was read as is said.
#[rstest]
#[case::gbk(
    b"\xc4\xe3\xba\xc3\xa3\xac\xca\xc0\xbd\xe7\xa3\xba\xce\xc4\xbc\xfe\xb2\xbb\xb4\xe6\xd4\xda\n",
    "你好，世界：文件不存在\n",
    "read as gbk"
)]
#[case::short_gbk(b"\xc4\xe3\xba\xc3\n", "你好\n", "read as gbk, which is a guess")]
#[case::latin_1(
    b"Le caf\xe9 est ferm\xe9\n",
    "Le café est fermé\n",
    "read as windows-1252"
)]
#[case::utf16(b"\xff\xfeo\0k\0\n\0", "ok\n", "read as utf-16le")]
#[case::stray("你好世界\u{ff}".as_bytes(), "你好世界\u{ff}", "")]
#[case::broken(
    b"\xe4\xbd\xa0\xe5\xa5\xbd\xff\n",
    "你好\u{fffd}\n",
    "bytes that are no UTF-8"
)]
#[tokio::test]
async fn b02_text_in_another_encoding_is_read_and_said(
    #[case] raw: &'static [u8],
    #[case] text: &str,
    #[case] notice: &str,
) {
    let (tools, mut cx, script, screen) = set_up(Script::new(Pieces(vec![(OUT, raw)])));
    let shelf = Arc::new(Shelf::default());
    cx.artifacts = shelf.clone();
    script.end(3);
    let outcome = run(&tools, &cx, json!({"command": "x"})).await;
    assert_eq!(outcome.result["stdout"], text);
    assert_eq!(outcome.result["exit_code"], 3);
    let notices = outcome.result["notices"].to_string();
    assert_eq!(outcome.result["artifact"].is_null(), notice.is_empty());
    for kept in &*shelf.kept.lock().unwrap() {
        assert_eq!(kept.start, raw, "what is no UTF-8 is kept as it came");
    }
    if notice.is_empty() {
        assert_eq!(notices, "null");
    } else {
        assert!(
            notices.contains("stdout") && notices.contains(notice),
            "{notices}"
        );
    }
    // Who watches sees them as they came, as far as text can show them.
    assert_eq!(screen.text(), String::from_utf8_lossy(raw));
}
