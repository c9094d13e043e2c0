//! Programs that are asked at their first call.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use outfitter_commands::{Host, ProgramSettings, ProgramStatus, ProjectCli};
use outfitter_core::{Code, SourceStart, SpecCache, Status, ToolSource as _};
use rstest::rstest;
use serde_json::{Value, json};

use crate::support::{LIVENESS, Session, World, description, entry, entry_with};

/// What is kept, for as long as a test lasts.
#[derive(Default)]
struct Kept(Mutex<BTreeMap<String, Vec<u8>>>);

impl SpecCache for Kept {
    fn load(&self, source: &str) -> Option<Vec<u8>> {
        self.0.lock().unwrap().get(source).cloned()
    }

    fn keep(&self, source: &str, specs: &[u8]) {
        let mut all = self.0.lock().unwrap();
        all.insert(source.to_owned(), specs.to_owned());
    }
}

/// A program that tells what it was called with, as often as it is configured.
struct Lazy {
    world: World,
    kept: Arc<Kept>,
}

impl Lazy {
    fn new() -> Self {
        let lazy = Self {
            world: World::new(),
            kept: Arc::default(),
        };
        let script = "echo $1 >> \"$OUT/told\"\n\
            if [ \"$1\" = describe ]; then cat \"$OUT/probe.json\"; exit; fi\n\
            echo '{\"v\":1,\"status\":\"success\",\"result\":{\"n\":1}}'\n";
        std::fs::write(lazy.world.path("probe"), script).unwrap();
        lazy.says(&json!([entry()]));
        lazy
    }

    fn says(&self, entries: &Value) {
        std::fs::write(self.world.path("probe.json"), description(entries.clone())).unwrap();
    }

    fn told(&self) -> String {
        let text = std::fs::read_to_string(self.world.path("told")).unwrap_or_default();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    fn settings(&self) -> ProgramSettings {
        let mut settings = ProgramSettings::new("probe", "/bin/sh");
        settings.args = vec![self.world.path("probe").into_os_string()];
        let out = self.world.path("");
        settings.env = vec![("OUT".to_owned(), out.to_str().unwrap().to_owned())];
        settings.timeout = LIVENESS;
        settings.start = SourceStart::AtFirstCall;
        settings
    }

    async fn session(&self) -> Session {
        self.session_with(|_| {}).await
    }

    async fn session_with(&self, change: impl FnOnce(&mut ProgramSettings)) -> Session {
        let mut settings = self.settings();
        change(&mut settings);
        let host = Host {
            specs: Some(self.kept.clone()),
            ..self.world.host()
        };
        let source = Arc::new(ProjectCli::new(host, [settings]).unwrap());
        source.describe().await.unwrap();
        Session::of(source)
    }
}

fn status(session: &Session) -> ProgramStatus {
    session.source.status().remove(0)
}

#[tokio::test]
async fn a_program_was_asked_at_every_start() {
    let lazy = Lazy::new();
    let first = lazy.session().await;
    assert_eq!(lazy.told(), "describe", "once, where nothing is kept");
    assert!(!status(&first).idle);
    let later = lazy.session().await;
    assert_eq!(lazy.told(), "describe");
    assert_eq!((status(&later).idle, status(&later).subcommands), (true, 1));
    // The same is offered, down to the byte.
    let listed =
        |session: &Session| format!("{:?}", session.view(outfitter_core::Role::Admin).listing());
    assert_eq!(listed(&later), listed(&first));
    let output = later.run(json!({ "text": "x" })).await;
    assert_eq!(output.status, Status::Success, "{output:?}");
    assert_eq!(lazy.told(), "describe describe probe");
    // Asked once, and not again.
    later.run(json!({})).await;
    assert_eq!(lazy.told(), "describe describe probe probe");
    assert!(!status(&later).idle);
    assert_eq!(status(&later).changed, None);
}

/// It said what it was and was another by then: that was kept as what the other offers, for good.
#[tokio::test]
async fn what_a_program_said_before_an_upgrade_was_kept_as_what_it_says_after_it() {
    let lazy = Lazy::new();
    let script = std::fs::read_to_string(lazy.world.path("probe")).unwrap();
    std::fs::write(lazy.world.path("next"), script.clone() + "# the next\n").unwrap();
    let upgrades = "[ -e \"$OUT/next\" ] && mv \"$OUT/next\" \"$0\"\n";
    std::fs::write(lazy.world.path("probe"), upgrades.to_owned() + &script).unwrap();
    let first = lazy.session().await;
    assert_eq!(status(&first).subcommands, 1);
    assert!(
        lazy.kept.0.lock().unwrap().is_empty(),
        "whose it is nobody knows"
    );
    let second = lazy.session().await;
    assert_eq!(lazy.told(), "describe describe", "the other is asked");
    assert!(!status(&second).idle);
    lazy.session().await;
    assert_eq!(lazy.told(), "describe describe", "and is kept");
}

#[tokio::test]
async fn one_that_is_not_lazy_is_asked_at_every_start() {
    let lazy = Lazy::new();
    for _ in 0..2 {
        let session = lazy
            .session_with(|settings| settings.start = SourceStart::AtOnce)
            .await;
        assert!(!status(&session).idle);
    }
    assert_eq!(lazy.told(), "describe describe");
    assert!(lazy.kept.0.lock().unwrap().is_empty());
}

type Change = fn(&Lazy, &mut ProgramSettings);

fn rewritten(lazy: &Lazy, text: &str) {
    let script = std::fs::read_to_string(lazy.world.path("probe")).unwrap();
    std::fs::write(lazy.world.path("probe"), script + text).unwrap();
}

fn touched(lazy: &Lazy) {
    let file = std::fs::File::options()
        .write(true)
        .open(lazy.world.path("probe"))
        .unwrap();
    let later = std::time::SystemTime::now() + std::time::Duration::from_secs(5);
    file.set_modified(later).unwrap();
}

#[rstest]
#[case::its_script_is_longer(|lazy: &Lazy, _: &mut ProgramSettings| rewritten(lazy, "\n# more\n"))]
#[case::its_script_was_written_again(|lazy: &Lazy, _: &mut ProgramSettings| touched(lazy))]
#[case::another_program(|_: &Lazy, settings: &mut ProgramSettings| settings.program = "/usr/bin/sh".into())]
#[case::one_found_by_its_name(|_: &Lazy, settings: &mut ProgramSettings| settings.program = "sh".into())]
#[case::another_argument(|_: &Lazy, settings: &mut ProgramSettings| settings.args.insert(0, "-e".into()))]
#[case::another_variable(|_: &Lazy, settings: &mut ProgramSettings| settings.env.push(("MORE".into(), "x".into())))]
#[tokio::test]
async fn another_program_than_was_kept_is_asked_at_once(#[case] change: Change) {
    let lazy = Lazy::new();
    lazy.session().await;
    lazy.says(&json!([
        entry(),
        entry_with(json!({ "subcommand": "more" }))
    ]));
    let session = lazy.session_with(|settings| change(&lazy, settings)).await;
    assert_eq!(lazy.told(), "describe describe");
    let now = status(&session);
    assert_eq!((now.idle, now.subcommands), (false, 2));
    assert_eq!(now.changed.as_deref(), Some("new: probe more"));
    // And that is what is kept from then on.
    let again = lazy
        .session_with(|settings| change_again(&lazy, settings, change))
        .await;
    assert!(status(&again).idle);
    assert_eq!(lazy.told(), "describe describe");
}

/// The same settings, and files that are left as they are.
fn change_again(lazy: &Lazy, settings: &mut ProgramSettings, change: Change) {
    let file = lazy.world.path("probe");
    let before = std::fs::read(&file).unwrap();
    let when = file.metadata().unwrap().modified().unwrap();
    change(lazy, settings);
    std::fs::write(&file, before).unwrap();
    let file = std::fs::File::options().write(true).open(file).unwrap();
    file.set_modified(when).unwrap();
}

#[tokio::test]
async fn a_secret_that_changes_and_what_may_be_used_make_no_other_program() {
    let lazy = Lazy::new();
    let secret = |value: &'static str| {
        move |settings: &mut ProgramSettings| {
            settings.env.push(("KEY".into(), value.into()));
        }
    };
    lazy.session_with(secret("one")).await;
    lazy.session_with(secret("two")).await;
    assert_eq!(lazy.told(), "describe");
    let kept = lazy.kept.load("probe").unwrap();
    assert!(!String::from_utf8(kept).unwrap().contains("one"));
}

/// It was judged, and perhaps approved, by what was kept.
#[tokio::test]
async fn what_a_program_offers_now_takes_the_place_of_what_was_kept() {
    let lazy = Lazy::new();
    lazy.says(&json!([
        entry(),
        entry_with(json!({ "subcommand": "same" }))
    ]));
    lazy.session().await;
    let session = lazy.session().await;
    lazy.says(&json!([
        entry_with(json!({ "effects": ["write"] })),
        entry_with(json!({ "subcommand": "same" })),
    ]));
    let before = session.source.snapshot().generation;
    let output = session.run(json!({})).await;
    let error = output.error.unwrap();
    assert_eq!(error.code, Code::Conflict, "{error:?}");
    assert_eq!(
        error.message,
        "the program probe does not offer probe run as it was known; nothing was called"
    );
    assert_eq!(lazy.told(), "describe describe");
    assert!(session.source.snapshot().generation > before);
    let now = status(&session);
    assert_eq!(now.changed.as_deref(), Some("changed: probe run"));
    // What is the same was not touched by it, and the next call of what is another is judged so.
    let same = json!({ "command": "probe", "subcommand": "same", "args": {} });
    assert_eq!(session.call(same).await.status, Status::Success);
    let spec = &session.view(outfitter_core::Role::Admin).listing()[0];
    assert!(spec.effects.has(outfitter_core::Effect::Write));
    // What is offered now is kept.
    let next = lazy.session().await;
    assert_eq!(
        next.run(json!({})).await.error.map(|error| error.code),
        None
    );
}

#[tokio::test]
async fn a_subcommand_that_is_gone_at_the_first_call_is_said() {
    let lazy = Lazy::new();
    lazy.session().await;
    let session = lazy.session().await;
    lazy.says(&json!([entry_with(json!({ "subcommand": "other" }))]));
    let error = session.run(json!({})).await.error.unwrap();
    assert_eq!(error.code, Code::Conflict);
    let changed = status(&session).changed;
    assert_eq!(
        changed.as_deref(),
        Some("new: probe other; gone: probe run")
    );
}

#[tokio::test]
async fn one_that_cannot_be_asked_any_more_has_its_commands_and_says_why() {
    let lazy = Lazy::new();
    lazy.session().await;
    let session = lazy.session().await;
    lazy.says(&json!("nonsense"));
    for _ in 0..2 {
        let error = session.run(json!({})).await.error.unwrap();
        assert_eq!(error.code, Code::Unavailable);
        let says = "the program probe is not there: its description is not";
        assert!(error.message.starts_with(says), "{}", error.message);
    }
    assert_eq!(session.view(outfitter_core::Role::Admin).listing().len(), 1);
    // Each call tries again.
    lazy.says(&json!([entry()]));
    assert_eq!(session.run(json!({})).await.status, Status::Success);
}

#[tokio::test]
async fn what_was_kept_is_read_as_if_it_was_said_now() {
    let lazy = Lazy::new();
    lazy.session().await;
    for bytes in [
        &b"{"[..],
        b"{\"form\":1,\"key\":\"k\",\"specs\":7}",
        b"\xff",
    ] {
        lazy.kept.keep("probe", bytes);
        let session = lazy.session().await;
        assert_eq!(status(&session).subcommands, 1);
        assert!(!status(&session).idle);
    }
    // One that offered nothing could never be asked again by a call.
    lazy.says(&json!([]));
    rewritten(&lazy, "\n");
    lazy.session().await;
    let asked = lazy.told();
    lazy.session().await;
    assert_eq!(lazy.told(), format!("{asked} describe"));
}

#[tokio::test]
async fn calls_at_once_ask_it_once() {
    let lazy = Lazy::new();
    lazy.session().await;
    let session = lazy.session().await;
    let calls = (0..5).map(|_| session.run(json!({})));
    for output in futures_util::future::join_all(calls).await {
        assert_eq!(output.status, Status::Success);
    }
    let told = lazy.told();
    assert_eq!(told.matches("describe").count(), 2, "{told}");
    assert_eq!(told.matches("probe").count(), 5, "{told}");
}

/// The tool was gone with it, and a call was told of a name that nobody has.
#[rstest]
#[case::its_script_is_gone(|lazy: &Lazy| std::fs::remove_file(lazy.world.path("probe")).unwrap(), "describe ended with exit")]
#[case::it_describes_nonsense(|lazy: &Lazy| rewritten(lazy, "\n# more\n"), "its description is not")]
#[tokio::test]
async fn a_program_that_was_broken_after_it_was_kept_took_its_commands_along(
    #[case] breaks: fn(&Lazy),
    #[case] why: &str,
) {
    let lazy = Lazy::new();
    lazy.session().await;
    lazy.says(&json!("nonsense"));
    breaks(&lazy);
    let session = lazy.session().await;
    assert_eq!(
        (status(&session).idle, status(&session).subcommands),
        (true, 1)
    );
    let faults = session.source.snapshot().faults.clone();
    assert_eq!(faults.len(), 1);
    assert!(faults[0].why.starts_with(why), "{faults:?}");
    let error = session.run(json!({})).await.error.unwrap();
    assert_eq!(error.code, Code::Unavailable);
    let says = format!("the program probe is not there: {why}");
    assert!(error.message.starts_with(&says), "{}", error.message);
}

#[tokio::test]
async fn a_program_that_is_there_again_is_no_fault_after_its_next_call() {
    let lazy = Lazy::new();
    let script = std::fs::read_to_string(lazy.world.path("probe")).unwrap();
    lazy.session().await;
    std::fs::remove_file(lazy.world.path("probe")).unwrap();
    let session = lazy.session().await;
    assert_eq!(session.source.snapshot().faults.len(), 1);
    std::fs::write(lazy.world.path("probe"), script).unwrap();
    assert_eq!(session.run(json!({})).await.status, Status::Success);
    assert_eq!(session.source.snapshot().faults, []);
    assert!(!status(&session).idle);
    // And it is kept as what it is now.
    assert!(status(&lazy.session().await).idle);
}

#[tokio::test]
async fn a_program_that_cannot_be_started_at_its_first_call_was_idle_and_right() {
    use std::os::unix::fs::PermissionsExt as _;
    let lazy = Lazy::new();
    let shell = lazy.world.path("sh");
    std::fs::copy("/bin/sh", &shell).unwrap();
    let started = |settings: &mut ProgramSettings| settings.program = shell.clone();
    lazy.session_with(started).await;
    std::fs::set_permissions(&shell, std::fs::Permissions::from_mode(0o600)).unwrap();
    let session = lazy.session_with(started).await;
    let why = format!("{} is not executable", shell.display());
    // The value of its environment is a part of it.
    let why = why.replace(lazy.world.path("").to_str().unwrap(), "[redacted]");
    assert!(status(&session).idle);
    assert_eq!(status(&session).lacking.as_deref(), Some(&*why));
    assert_eq!(session.source.snapshot().faults[0].why, why);
    let error = session.run(json!({})).await.error.unwrap();
    assert_eq!(error.code, Code::Unavailable);
    assert!(error.message.ends_with("is not executable"), "{error:?}");
}
