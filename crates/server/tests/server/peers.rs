//! What others make of `/agui`: the clients of npm, of now and of before 1.0, the validator of
//! PyPI, and curl. `.ci/peers` installs them into the target directory.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

#[expect(
    clippy::disallowed_types,
    reason = "tests run the programs of others against a served address"
)]
use tokio::process::Command;

use crate::client::patient;
use crate::harness::{Served, World};

fn peers() -> PathBuf {
    let scratch = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    scratch.parent().unwrap().join("peers")
}

/// Runs a program to its end and gives what it printed; it must end well.
async fn ends_well<A: AsRef<OsStr>>(program: impl AsRef<OsStr>, args: &[A]) -> String {
    let mut command = {
        #[expect(clippy::disallowed_types, reason = "as above")]
        Command::new(program)
    };
    command.args(args).kill_on_drop(true);
    let said = patient(command.output()).await.unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(
        said.status.success(),
        "{}\n{}\n{}",
        said.status,
        text(&said.stdout),
        text(&said.stderr)
    );
    text(&said.stdout)
}

fn is_there(what: &str, path: &Path) -> bool {
    let there = path.exists();
    if !there {
        println!("SKIPPED({what}): .ci/peers installs {}", path.display());
    }
    there
}

async fn client(folder: &str, era: &str) {
    let folder = peers().join(folder);
    if !is_there("npm", &folder.join("node_modules/@ag-ui/client")) {
        return;
    }
    let served = World::new().serve().await;
    let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/peers/agui.mjs");
    let url = format!("http://{}/agui", served.at);
    let args = [
        script.as_os_str(),
        folder.as_os_str(),
        url.as_ref(),
        era.as_ref(),
    ];
    ends_well("node", &args).await;
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_client_of_now_takes_words_calls_and_interrupts_without_complaint() {
    client("agui", "one").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_client_of_before_still_works() {
    client("agui-before", "before").await;
}

async fn validated(served: &Served, program: &Path, more: &[&str]) {
    let url = format!("http://{}/agui", served.at);
    let mut args = vec![
        url.as_str(),
        "--max-warnings",
        "0",
        "--timeout",
        "30",
        "--no-color",
    ];
    args.extend(more);
    ends_well(program, &args).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_validator_finds_nothing_wrong_with_what_is_served() {
    let program = peers().join("pypi/bin/ag-ui-validate");
    if !is_there("pypi", &program) {
        return;
    }
    let served = World::new().serve().await;
    validated(&served, &program, &[]).await;
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn curl_sees_a_run_line_by_line() {
    let served = World::new().serve().await;
    let url = format!("http://{}/v1/runs", served.at);
    let args = [
        "--silent",
        "--show-error",
        "--fail",
        "--no-buffer",
        "--noproxy",
        "*",
        "--json",
        r#"{"input":"call echo {\"n\":1}"}"#,
        &url,
    ];
    let told = ends_well("curl", &args).await;
    let last: serde_json::Value = serde_json::from_str(told.lines().last().unwrap()).unwrap();
    assert_eq!(last["type"], "run_finished");
    assert_eq!(last["outcome"], "success");
    served.stop().await;
}
