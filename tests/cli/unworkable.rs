//! Values that can never work, or name what is not there: one for each key at least, and all of them
//! at once.

use std::collections::BTreeSet;

use rstest::rstest;
use serde_json::{Value, json};

use crate::config::problems;
use crate::world::World;

/// A key, a file with a value of it that cannot work, and what is said of it.
const WRONG: &[(&str, &str, &str)] = &[
    (
        "model.provider",
        "[model]\nprovider = \"opnai\"",
        "did you mean openai?",
    ),
    (
        "model.name",
        "[model]\nprovider = \"openai\"\nname = \" \"",
        "must not be empty",
    ),
    (
        "model.base_url",
        "[model]\nprovider = \"openai\"\nbase_url = \"h.example/v1\"",
        "a URL of http or https",
    ),
    (
        "model.api_key_env",
        "[model]\nprovider = \"openai\"\napi_key_env = \"A-B\"",
        "the name of an environment variable",
    ),
    (
        "model.timeout_seconds",
        "[model]\ntimeout_seconds = 0",
        "from 1 to 86400",
    ),
    (
        "model.max_retries",
        "[model]\nmax_retries = 21",
        "from 0 to 20",
    ),
    (
        "model.retry_delay_ms",
        "[model]\nretry_delay_ms = 9000",
        "must not be more than `model.max_retry_delay_ms`, which is 8000",
    ),
    (
        "model.max_retry_delay_ms",
        "[model]\nmax_retry_delay_ms = 600001",
        "from 0 to 600000",
    ),
    (
        "model.script",
        "[model]\nprovider = \"scripted\"\nscript = \"none.yaml\"",
        "names ROOT/here/none.yaml: there is no such file",
    ),
    (
        "model.script",
        "[model]\nprovider = \"scripted\"\nscript = \".\"",
        "it is a folder",
    ),
    (
        "model.script",
        "[model]\nprovider = \"scripted\"\nscript = \"outfitter.toml\"",
        "cannot be used: ",
    ),
    (
        "model.context_tokens",
        "[model]\ncontext_tokens = 0",
        "from 1 to 1000000000",
    ),
    (
        "model.tokenizer",
        "[model]\ntokenizer = \"o200k\"",
        "one of o200k_base, cl100k_base",
    ),
    (
        "model.tool_mode",
        "[model]\ntool_mode = \"json\"",
        "one of native, json_schema",
    ),
    ("model.vision", "[model]\nvision = \"yes\"", "true or false"),
    (
        "agent.system_prompt",
        "[agent]\nsystem_prompt = 1",
        "must be text",
    ),
    (
        "agent.mode",
        "[agent]\nmode = \"plna\"",
        "did you mean plan?",
    ),
    (
        "agent.max_turns",
        "[agent]\nmax_turns = 0",
        "from 1 to 10000",
    ),
    (
        "agent.max_tool_concurrency",
        "[agent]\nmax_tool_concurrency = 257",
        "from 1 to 256",
    ),
    (
        "agent.identical_failure_limit",
        "[agent]\nidentical_failure_limit = 0",
        "from 1 to 1000",
    ),
    (
        "agent.workflow",
        "[agent]\nworkflow = \"release\"",
        "the name of a workflow, not \"release\"",
    ),
    (
        "agent.suggested_actions",
        "[agent]\nsuggested_actions = 1",
        "true or false",
    ),
    (
        "agent.max_total_tokens",
        "[agent]\nmax_total_tokens = -1",
        "a whole number from 1",
    ),
    ("workflows", "workflows = {}", "must be a list of tables"),
    (
        "workflows.name",
        "[[workflows]]\nname = \"\"\nsteps = [\"a\"]",
        "must not be empty",
    ),
    (
        "workflows.description",
        "[[workflows]]\nname = \"a\"\ndescription = 1\nsteps = [\"a\"]",
        "must be text",
    ),
    (
        "workflows.steps",
        "[[workflows]]\nname = \"a\"\nsteps = [\"a\", \"\"]",
        "has an empty step, `steps.1`",
    ),
    (
        "tools.available",
        "[tools]\navailable = [\"grep\", \"nosuchtool\"]",
        "names no tool with \"nosuchtool\"; `outfitter tools list` shows them",
    ),
    (
        "tools.available",
        "[tools]\navailable = [\"grep\", \"\"]",
        "must not be empty",
    ),
    (
        "tools.available",
        "[tools]\navailable = [\"grep\", \"grep\"]",
        "is the same as item 0; leave one out",
    ),
    (
        "tools.max_result_tokens",
        "[tools]\nmax_result_tokens = 99",
        "from 100 to",
    ),
    (
        "tools.default_timeout_seconds",
        "[tools]\ndefault_timeout_seconds = 0",
        "from 1 to 86400",
    ),
    (
        "tools.presets",
        "[tools.presets]\ngrep = 1",
        "must be a table",
    ),
    (
        "tools.presets",
        "[tools.presets.grpe]\npattern = \"a\"",
        "names no tool with \"grpe\", did you mean grep",
    ),
    (
        "tools.presets",
        "[tools.presets.grep]\npattern = 5",
        "cannot be set for grep: its value does not fit the schema",
    ),
    (
        "tools.presets",
        "[tools.presets.current_time]\ntimezone = \"Mars/Olympus\"",
        "there is no time zone Mars/Olympus",
    ),
    (
        "tools.suggestion",
        "[tools]\nsuggestion = \"lexcal\"",
        "did you mean lexical?",
    ),
    (
        "tools.suggestion_threshold",
        "[tools]\nsuggestion_threshold = 0",
        "from 1 to 1000",
    ),
    (
        "tools.defer",
        "[tools]\ndefer = [\"\"]",
        "must not be empty",
    ),
    (
        "tools.aliases",
        "[tools.aliases]\n\"\" = \"grep\"",
        "is another name that cannot be",
    ),
    (
        "tools.aliases",
        "[tools.aliases]\n\"a b\" = \"grep\"",
        "\"a b\" is not 1 to 64 of",
    ),
    (
        "tools.aliases",
        "[tools.aliases]\ngrep = \"grep\"",
        "is the name of the tool itself",
    ),
    (
        "tools.aliases",
        "[tools.aliases]\nfind = \"\"",
        "must be the name of a tool, not empty",
    ),
    (
        "tools.aliases",
        "[tools.aliases]\nfind = \"look\"\nlook = \"grep\"",
        "\"look\" is another such name",
    ),
    (
        "tools.aliases",
        "[tools.aliases]\nfind = \"grepp\"",
        "did you mean grep",
    ),
    (
        "permissions.local_role",
        "[permissions]\nlocal_role = \"root\"",
        "one of guest, user, admin",
    ),
    (
        "permissions.http_role",
        "[permissions]\nhttp_role = \"\"",
        "one of guest, user, admin",
    ),
    (
        "permissions.approval",
        "[permissions]\napproval = \"always\"",
        "one of ask, never",
    ),
    (
        "permissions.always_days",
        "[permissions]\nalways_days = 366",
        "from 1 to 365",
    ),
    (
        "permissions.rules",
        "[permissions]\nrules = [{ tool = \"file_read\", args = { start_line = -5 }, decision = \"deny\" }]",
        "`permissions.rules.0.args.start_line` can never be met: start_line of file_read is never -5",
    ),
    (
        "permissions.rules",
        "[permissions]\nrules = [{ tool = \"file_read\", args = { line = 5 }, decision = \"deny\" }]",
        "`permissions.rules.0.args.line` can never be met: file_read has no argument \"line\"",
    ),
    (
        "sandbox.backend",
        "[sandbox]\nbackend = \"docker\"",
        "one of local, bwrap, ssh, passthrough",
    ),
    (
        "sandbox.network",
        "[sandbox]\nnetwork = [\"crates.io\", \"http://a b\"]",
        "must be a host",
    ),
    (
        "sandbox.require",
        "[sandbox]\nrequire = \"all\"",
        "one of none, partial, full",
    ),
    (
        "sandbox.env",
        "[sandbox]\nenv = [\"A\", \"B=1\"]",
        "the name of an environment variable",
    ),
    (
        "sandbox.read",
        "[sandbox]\nread = [\"/nowhere\"]",
        "does not exist",
    ),
    (
        "sandbox.write",
        "[sandbox]\nwrite = [\"/\"]",
        "is the whole file system",
    ),
    (
        "sandbox.memory_mb",
        "[sandbox]\nmemory_mb = 15",
        "from 16 to",
    ),
    (
        "sandbox.cpu_seconds",
        "[sandbox]\ncpu_seconds = 0",
        "from 1 to 86400",
    ),
    ("sandbox.processes", "[sandbox]\nprocesses = 7", "from 8 to"),
    (
        "sandbox.ssh.host",
        "[sandbox]\nbackend = \"ssh\"\n[sandbox.ssh]\nhost = \"a b\"",
        "one word without spaces",
    ),
    (
        "sandbox.ssh.port",
        "[sandbox]\nbackend = \"ssh\"\n[sandbox.ssh]\nport = 65536",
        "from 1 to 65535",
    ),
    (
        "sandbox.ssh.user",
        "[sandbox]\nbackend = \"ssh\"\n[sandbox.ssh]\nhost = \"h\"",
        "needs `user`",
    ),
    (
        "sandbox.ssh.key_file",
        "[sandbox]\nbackend = \"ssh\"\n[sandbox.ssh]\nkey_file = \"none\"",
        "names ROOT/here/none: there is no such file",
    ),
    (
        "sandbox.ssh.passphrase_env",
        "[sandbox]\nbackend = \"ssh\"\n[sandbox.ssh]\nkey_file = \"outfitter.toml\"\npassphrase_env = \"UNSET\"",
        "names UNSET, which is not set or is empty",
    ),
    (
        "sandbox.ssh.agent",
        "[sandbox]\nbackend = \"ssh\"\n[sandbox.ssh]\nagent = \"outfitter.toml\"",
        "it is no socket",
    ),
    (
        "sandbox.ssh.known_hosts",
        "[sandbox]\nbackend = \"ssh\"\n[sandbox.ssh]\nknown_hosts = \".\"",
        "it is a folder",
    ),
    (
        "sandbox.ssh.workspace",
        "[sandbox]\nbackend = \"ssh\"\n[sandbox.ssh]\nworkspace = \"w\"",
        "an absolute path on the other machine",
    ),
    (
        "sandbox.ssh.connect_timeout_seconds",
        "[sandbox]\nbackend = \"ssh\"\n[sandbox.ssh]\nconnect_timeout_seconds = 0",
        "from 1 to 300",
    ),
    (
        "sandbox.ssh.keepalive_seconds",
        "[sandbox]\nbackend = \"ssh\"\n[sandbox.ssh]\nkeepalive_seconds = 0",
        "from 1 to 3600",
    ),
    (
        "shell.enabled",
        "[shell]\nenabled = \"on\"",
        "true or false",
    ),
    (
        "shell.max_timeout_seconds",
        "[shell]\nmax_timeout_seconds = 0",
        "from 1 to 86400",
    ),
    (
        "shell.timeout_seconds",
        "[shell]\ntimeout_seconds = 1.5",
        "from 1 to 86400",
    ),
    (
        "shell.max_output_chars",
        "[shell]\nmax_output_chars = 199",
        "from 200 to",
    ),
    (
        "files.max_read_bytes",
        "[files]\nmax_read_bytes = 0",
        "from 1 to",
    ),
    ("files.quota_mb", "[files]\nquota_mb = 0", "from 1 to"),
    (
        "files.admin_open",
        "[files]\nadmin_open = 1",
        "true or false",
    ),
    (
        "progress.enabled",
        "[progress]\nenabled = 1",
        "true or false",
    ),
    (
        "progress.flush_interval_ms",
        "[progress]\nflush_interval_ms = -1",
        "a whole number from 0",
    ),
    (
        "progress.flush_bytes",
        "[progress]\nflush_bytes = 0",
        "a whole number from",
    ),
    (
        "store.url",
        "[store]\nurl = \"mysql://h\"",
        "sqlite:PATH or memory:",
    ),
    (
        "store.url",
        "[store]\nurl = \"sqlite:.\"",
        "it is not a regular file",
    ),
    (
        "store.data_dir",
        "[store]\ndata_dir = \"outfitter.toml\"",
        "it is no folder",
    ),
    (
        "server.bind",
        "[server]\nbind = \"0.0.0.0:80\"",
        "without authentication",
    ),
    (
        "server.allowed_origins",
        "[server]\nallowed_origins = [\"https://a.example/page\"]",
        "must be an origin",
    ),
    (
        "server.cancel_on_disconnect",
        "[server]\ncancel_on_disconnect = 0",
        "true or false",
    ),
    (
        "server.heartbeat_seconds",
        "[server]\nheartbeat_seconds = 3601",
        "from 1 to 3600",
    ),
    (
        "skills.dirs",
        "[skills]\ndirs = [\"none\"]",
        "names ROOT/here/none: there is no such folder",
    ),
    (
        "skills.dirs",
        "[skills]\ndirs = [\"outfitter.toml\"]",
        "it is no folder",
    ),
    (
        "skills.available",
        "[skills]\navailable = [\"none\"]",
        "names no skill with \"none\"; `outfitter skills list` shows them",
    ),
    (
        "skills.load",
        "[skills]\nload = [\"none\"]",
        "names no skill with \"none\"",
    ),
    ("mcp.enabled", "[mcp]\nenabled = 1", "true or false"),
    (
        "mcp.servers",
        "[mcp.servers.builtin]\nbuiltin = \"notes\"",
        "has a name that is taken",
    ),
    (
        "mcp.servers.NAME.command",
        "[mcp.servers.a]\ncommand = \"\"",
        "the name or the path of a program",
    ),
    (
        "mcp.servers.NAME.args",
        "[mcp.servers.a]\ncommand = \"a\"\nargs = [1]",
        "must be text",
    ),
    (
        "mcp.servers.NAME.env",
        "[mcp.servers.a]\ncommand = \"a\"\nenv = { \"A=B\" = \"\" }",
        "is no name of a variable",
    ),
    (
        "mcp.servers.NAME.cwd",
        "[mcp.servers.a]\ncommand = \"a\"\ncwd = \"none\"",
        "there is no such folder",
    ),
    (
        "mcp.servers.NAME.builtin",
        "[mcp.servers.a]\nbuiltin = \"note\"",
        "there is notes",
    ),
    (
        "mcp.servers.NAME.enabled",
        "[mcp.servers.a]\ncommand = \"a\"\nenabled = 1",
        "true or false",
    ),
    (
        "mcp.servers.NAME.lazy",
        "[mcp.servers.a]\ncommand = \"a\"\nlazy = 1",
        "true or false",
    ),
    (
        "mcp.servers.NAME.tools",
        "[mcp.servers.a]\ncommand = \"a\"\ntools = [\"\"]",
        "must not be empty",
    ),
    (
        "mcp.servers.NAME.min_role",
        "[mcp.servers.a]\ncommand = \"a\"\nmin_role = \"usr\"",
        "did you mean user?",
    ),
    (
        "mcp.servers.NAME.connect_timeout_seconds",
        "[mcp.servers.a]\ncommand = \"a\"\nconnect_timeout_seconds = 0",
        "from 1 to 3600",
    ),
    (
        "mcp.servers.NAME.call_timeout_seconds",
        "[mcp.servers.a]\ncommand = \"a\"\ncall_timeout_seconds = 0",
        "from 1 to 86400",
    ),
    (
        "mcp.servers.NAME.concurrency",
        "[mcp.servers.a]\ncommand = \"a\"\nconcurrency = 0",
        "from 1 to 1024",
    ),
    (
        "commands",
        "[commands.Upper]\nprogram = \"a\"",
        "a letter first",
    ),
    (
        "commands.NAME.program",
        "[commands.a]\nargs = []",
        "needs `program`",
    ),
    (
        "commands.NAME.args",
        "[commands.a]\nprogram = \"a\"\nargs = \"x\"",
        "a list of texts",
    ),
    (
        "commands.NAME.skills_dir",
        "[commands.a]\nprogram = \"a\"\nskills_dir = \"none\"",
        "there is no such folder",
    ),
    (
        "commands.NAME.env",
        "[commands.a]\nprogram = \"a\"\nenv = { \"\" = \"x\" }",
        "is no name of a variable",
    ),
    (
        "commands.NAME.timeout_seconds",
        "[commands.a]\nprogram = \"a\"\ntimeout_seconds = 0",
        "from 1 to 86400",
    ),
    (
        "commands.NAME.max_output_bytes",
        "[commands.a]\nprogram = \"a\"\nmax_output_bytes = 1",
        "from 1024 to",
    ),
    (
        "commands.NAME.credential",
        "[commands.a]\nprogram = \"a\"\ncredential = \"non\"",
        "did you mean none?",
    ),
    (
        "commands.NAME.lazy",
        "[commands.a]\nprogram = \"a\"\nlazy = 1",
        "true or false",
    ),
    (
        "commands.NAME.only",
        "[commands.a]\nprogram = \"a\"\nonly = [\"b *\", \"b *\"]",
        "is the same as item 0",
    ),
    ("channels", "channels = 1", "must be tables by name"),
    (
        "channels.NAME.kind",
        "[channels.a]\nkind = \"mail\"",
        "one of webhook, file, inbox",
    ),
    (
        "channels.NAME.url",
        "[channels.a]\nurl = \"https://h.example/a b\"",
        "a URL of http or https without spaces",
    ),
    (
        "channels.NAME.url",
        "[channels.a]\nurl = \"h.example\"",
        "a URL of http or https without spaces",
    ),
    (
        "channels.NAME.url",
        "[channels.a]\nkind = \"file\"\nurl = \"/tmp\"",
        "it is not a regular file",
    ),
    (
        "channels.NAME.platform",
        "[channels.a]\nkind = \"inbox\"\nplatform = \"\"",
        "must not be empty",
    ),
    (
        "channels.NAME.retries",
        "[channels.a]\nkind = \"inbox\"\nretries = 11",
        "from 0 to 10",
    ),
    (
        "channels.NAME.split_chars",
        "[channels.a]\nkind = \"inbox\"\nsplit_chars = 0",
        "from 1 to 100000",
    ),
    (
        "channels.NAME.split_parts",
        "[channels.a]\nkind = \"inbox\"\nsplit_parts = 0",
        "from 1 to 100",
    ),
    ("web.enabled", "[web]\nenabled = 1", "true or false"),
    (
        "web.block_private",
        "[web]\nblock_private = 1",
        "true or false",
    ),
    (
        "web.metadata",
        "[web]\nmetadata = [\"169.254.169.254\", \"metadata\"]",
        "an IP address",
    ),
    ("web.max_bytes", "[web]\nmax_bytes = 1", "from 1024 to"),
    (
        "web.timeout_seconds",
        "[web]\ntimeout_seconds = 301",
        "from 1 to 300",
    ),
    (
        "web.user_agent",
        "[web]\nuser_agent = \"a\\nb\"",
        "visible characters of ASCII",
    ),
    (
        "send.polish_model",
        "[send]\npolish_model = \"opnai/gpt\"",
        "names no provider: \"opnai\", did you mean openai?",
    ),
    (
        "contacts.source",
        "[contacts]\nsource = \"planer\"\n[commands.planner]\nprogram = \"planner\"",
        "did you mean planner?",
    ),
    (
        "search.max_results",
        "[search]\nmax_results = 0",
        "from 1 to 1000",
    ),
    (
        "plugin_api.allowlist",
        "[plugin_api]\nallowlist = [\"call_shop_get\"]",
        "names an operation of no API",
    ),
    (
        "plugin_api.apis",
        "[plugin_api.apis.a__b]\nopenapi = \"outfitter.toml\"",
        "single _ inside",
    ),
    (
        "plugin_api.apis.NAME.openapi",
        "[plugin_api.apis.a]\nopenapi = \"none.json\"",
        "names ROOT/here/none.json: there is no such file",
    ),
    (
        "plugin_api.apis.NAME.url",
        "[plugin_api.apis.a]\nschema = {}\nurl = \"http://a.example/?q=1\"",
        "must end with its path",
    ),
    (
        "plugin_api.apis.NAME.method",
        "[plugin_api.apis.a]\nurl = \"http://a.example/\"\nschema = {}\nmethod = \"get\"",
        "one of GET, POST",
    ),
    (
        "plugin_api.apis.NAME.schema",
        "[plugin_api.apis.a]\nurl = \"http://a.example/\"\nschema = \"none.json\"",
        "there is no such file",
    ),
    (
        "plugin_api.apis.NAME.headers",
        "[plugin_api.apis.a]\nurl = \"http://a.example/\"\nschema = {}\nheaders = { \"X Key\" = \"a\" }",
        "is no name of a header",
    ),
    (
        "plugin_api.apis.NAME.headers",
        "[plugin_api.apis.a]\nurl = \"http://a.example/\"\nschema = {}\nheaders = { Authorization = \"Bearer env:UNSET\" }",
        "names UNSET, which is not set or is empty",
    ),
    (
        "plugin_api.apis.NAME.query",
        "[plugin_api.apis.a]\nurl = \"http://a.example/\"\nschema = {}\nquery = { key = \"env:A-B\" }",
        "the name of an environment variable after `env:`",
    ),
    (
        "plugin_api.apis.NAME.timeout_seconds",
        "[plugin_api.apis.a]\nurl = \"http://a.example/\"\nschema = {}\ntimeout_seconds = 0",
        "from 1 to 3600",
    ),
];

/// Whether a key of a problem, as `mcp.servers.a.args.0`, is what a key of the ledger means.
fn is_of(problem: &str, key: &str) -> bool {
    let rows = |steps: Vec<&str>| -> Vec<String> {
        let steps = steps
            .into_iter()
            .filter(|step| step.parse::<usize>().is_err());
        steps.map(str::to_owned).collect()
    };
    let problem = rows(problem.split('.').collect());
    let key = rows(key.split('.').collect());
    key.len() <= problem.len()
        && key
            .iter()
            .zip(&problem)
            .all(|(key, one)| key == "NAME" || key == one)
}

#[test]
fn a_value_of_each_key_that_cannot_work_was_right() {
    let mut failed = Vec::new();
    for (key, toml, says) in WRONG {
        let world = World::with(&format!("{toml}\n"));
        let ran = world.run(&["config", "check", "--json"]);
        let document = ran.json();
        let all = document["problems"].as_array().cloned().unwrap_or_default();
        let told = all.iter().any(|one| {
            let of_it = is_of(one["key"].as_str().unwrap_or_default(), key);
            let message = one["message"].as_str().unwrap().replace("ROOT", "ROOT");
            of_it && message.contains(says) && one["at"]["line"].as_u64() >= Some(1)
        });
        if ran.code != 2 || !told {
            failed.push(format!("{key}: {says}\n{}", ran.shown()));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn every_key_has_a_value_that_is_refused() {
    let ledger: toml::Table = include_str!("../ledger/keys.toml").parse().unwrap();
    let keys: BTreeSet<&str> = ledger.keys().map(String::as_str).collect();
    let refused: BTreeSet<&str> = WRONG.iter().map(|(key, ..)| *key).collect();
    let without: Vec<_> = keys.difference(&refused).collect();
    assert!(without.is_empty(), "{without:?}");
}

/// Of rules, lists, tables by name and names of tools only the first problem of a kind was shown,
/// some without a place.
#[test]
fn only_the_first_problem_of_a_kind_was_listed() {
    let world = World::with(ALL_AT_ONCE);
    insta::assert_snapshot!(world.run(&["config", "check"]).shown());
    let document = world.run(&["config", "check", "--json"]).json();
    let problems = document["problems"].as_array().unwrap();
    let lines: Vec<u64> = problems
        .iter()
        .filter_map(|one| one["at"]["line"].as_u64())
        .collect();
    assert_eq!(
        lines.len(),
        problems.len(),
        "each has its line: {document:#}"
    );
    assert!(
        problems.iter().all(|one| one["key"].is_string()),
        "{document:#}"
    );
}

const ALL_AT_ONCE: &str = r#"[tools]
available = ["grep", 5, "fiel_read", "gerp", "fiel_*"]
defer = ["nosuchtool"]

[tools.aliases]
"a b" = "grep"
find = "grepp"

[tools.presets.grep]
pattern = 5
patern = "a"

[tools.presets.nosuch]
a = 1

[permissions]
rules = [
  { tool = "file_raed", decision = "deny" },
  { tool = "file_read", decison = "deny" },
  { tool = "grep", args = { pattern = true, x = 1 }, agent = "other", decision = "ask" },
  "deny",
]

[sandbox]
read = ["/nowhere", "relative", "/also/nowhere"]

[[workflows]]
name = "a"
steps = ["x", ""]

[[workflows]]
name = "a"

[mcp.servers.one]
comand = "a"

[mcp.servers.two]
args = ["a", 1, 2]

[commands.p]
timeout_seconds = 0

[plugin_api]
allowlist = ["call_shop"]
apis.one = {}
apis.two = { openapi = "none.json", method = "GET" }
"#;

#[test]
fn serve_and_doctor_and_run_say_the_same_list() {
    let world =
        World::with("[tools]\navailable = [\"gerp\"]\ndefer = [1]\n[agent]\nmax_turns = 0\n");
    let list = problems(&world, &[]);
    assert_eq!(list.len(), 3, "{list:?}");
    let serve = world.run(&["serve", "--bind", "127.0.0.1:0"]);
    assert_eq!(serve.code, 2, "{}", serve.shown());
    let doctor = world.run(&["doctor"]);
    assert_eq!(doctor.code, 2, "{}", doctor.shown());
    for problem in &list {
        assert!(
            serve.stderr.contains(problem),
            "{problem}: {}",
            serve.shown()
        );
        assert!(
            doctor.stdout.contains(problem),
            "{problem}: {}",
            doctor.shown()
        );
    }
    let of = |args: &[&str]| world.run(args).json()["problems"].clone();
    let checked = of(&["config", "check", "--json"]);
    assert_eq!(checked.as_array().unwrap().len(), 3);
    assert_eq!(of(&["serve", "--json"]), checked);
    assert_eq!(of(&["doctor", "--json"]), checked);
    assert_eq!(of(&["tools", "list", "--json"]), checked);
}

/// A program may be installed later, and what needs it says so when it is used.
#[test]
fn a_program_that_is_not_found_was_not_told() {
    let world = World::with(
        "[mcp.servers.a]\ncommand = \"no-such-program\"\n[commands.b]\nprogram = \"bin/b\"\n\
         [mcp.servers.off]\ncommand = \"no-such-program\"\nenabled = false\n\
         [commands.c]\nprogram = \"c\"\n[commands.d]\nprogram = \"d\"\nenv = { PATH = \"/nowhere\" }\n",
    );
    world.write("here/bin/b", "no program");
    world.program("bin/c", "#!/bin/sh\n");
    world.program("bin/d", "#!/bin/sh\n");
    let path = world.path("bin");
    let variables = [("PATH", path.to_str().unwrap())];
    let ran = world.run_with(&["config", "check", "--json"], &variables);
    assert_eq!(ran.code, 0, "{}", ran.shown());
    assert_eq!(
        ran.json()["warnings"],
        json!([
            "outfitter.toml:2:1: `mcp.servers.a.command` names no-such-program, which is not found in PATH; install it, or write its path",
            "outfitter.toml:4:1: `commands.b.program` names ROOT/here/bin/b, and it is no program that may be run",
            "outfitter.toml:11:1: `commands.d.program` names d, which is not found in PATH; install it, or write its path",
        ])
    );
    assert_eq!(ran.stderr.lines().count(), 3, "{}", ran.shown());
}

/// Who wrote a flag knows the flag, not the key that it sets.
#[rstest]
#[case(&["tools", "list", "--tools", "gerp"], "configuration: --tools names no tool with \"gerp\", did you mean grep")]
#[case(&["run", "--tools", "grep,nosuchtool", "x"], "--tools names no tool with \"nosuchtool\"; `outfitter tools list` shows them")]
#[case(&["tools", "list", "--skills", "nosuch"], "configuration: --skills names no skill with \"nosuch\"")]
#[case(&["run", "--model", "opnai/gpt", "x"], "configuration: the provider of --model must be one of ")]
#[case(&["run", "--workflow", "nosuch", "x"], "configuration: --workflow must be off, lexical, model or the name of a workflow, not \"nosuch\"")]
#[case(&["serve", "--bind", "here"], "configuration: --bind must be an address and a port")]
#[case(&["run", "--mode", "plna", "x"], "invalid value 'plna' for '--mode <MODE>' [possible values: agent, plan, chat]")]
#[case(&["run", "--role", "root", "x"], "'--role <ROLE>' [possible values: guest, user, admin]")]
#[case(&["run", "--approval", "yes", "x"], "'--approval <ask|never>' [possible values: ask, never]")]
fn a_flag_was_blamed_by_the_name_of_a_key(#[case] args: &[&str], #[case] said: &str) {
    let ran = World::new().run(args);
    assert_eq!(ran.code, 2, "{}", ran.shown());
    assert!(ran.stderr.contains(said), "{}", ran.shown());
    let keys = [
        "`tools.", "`skills.", "`model.", "`agent.", "`server.", "[tools]", "[skills]",
    ];
    assert!(
        !keys.iter().any(|key| ran.stderr.contains(key)),
        "{}",
        ran.shown()
    );
}

/// A key that stands where the name of its variable belongs is refused and never shown.
#[rstest]
#[case::model("[model]\nprovider = \"openai\"\napi_key_env = SECRET\n")]
#[case::ssh(
    "[sandbox]\nbackend = \"ssh\"\n[sandbox.ssh]\nkey_file = \"outfitter.toml\"\npassphrase_env = SECRET\n"
)]
#[case::passed("[sandbox]\nenv = [SECRET]\n")]
#[case::header(
    "[plugin_api.apis.a]\nurl = \"http://a.example/\"\nschema = {}\nheaders = { Authorization = \"Bearer env:RAW\" }\n"
)]
#[case::query(
    "[plugin_api.apis.a]\nurl = \"http://a.example/\"\nschema = {}\nquery = { key = \"env:RAW\" }\n"
)]
fn a_key_in_the_place_of_its_name_was_taken_and_printed(#[case] toml: &str) {
    for secret in [
        "sk_live_4eC39HqLyjWDarjtT1zdp7dc",
        "sk_live_notarealkeyatall",
        "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
        "a94a8fe5ccb19ba61c4c0873d391e987982fbbd3",
    ] {
        let toml = toml
            .replace("SECRET", &format!("{secret:?}"))
            .replace("RAW", secret);
        let world = World::with(&toml);
        for args in [
            &["config", "check"][..],
            &["config", "check", "--json"],
            &["config", "explain"],
            &["doctor"],
            &["run", "hello"],
        ] {
            let ran = world.run(args);
            assert_eq!(ran.code, 2, "{args:?} {}", ran.shown());
            assert!(
                !ran.shown().contains(&secret[4..]),
                "{args:?} {}",
                ran.shown()
            );
        }
    }
}

/// What is said of an address has `…` where its password was.
#[test]
fn a_hidden_part_of_an_address_was_spelled_in_percent_signs() {
    let world = World::with(
        "[model]\nprovider = \"openai\"\nname = \"m\"\nbase_url = \"https://u:hunter2@h.example/v1\"\n\
         [mcp.servers.far]\ncommand = \"far\"\nargs = [\"https://u:hunter2@far.example/\"]\n",
    );
    for args in [&["config", "explain"][..], &["config", "explain", "--json"]] {
        let shown = world.run(args).shown();
        assert!(shown.contains("https://u:…@h.example/v1"), "{shown}");
        assert!(shown.contains("https://u:…@far.example/"), "{shown}");
        assert!(
            !shown.contains("%E2%80%A6") && !shown.contains("hunter2"),
            "{shown}"
        );
    }
    let wrong = World::with("[store]\nurl = \"postgres://u:hunter2@h.example/d\"\n");
    let shown = wrong.run(&["config", "check"]).shown();
    assert!(
        !shown.contains("%E2%80%A6") && !shown.contains("hunter2"),
        "{shown}"
    );
}

/// A word is a word: what a person answers with `n` was sent as `false`.
#[test]
fn a_word_of_a_script_was_read_as_a_boolean() {
    let world = World::with("[model]\nprovider = \"scripted\"\nscript = \"script.yaml\"\n");
    world.write(
        "here/script.yaml",
        "- tool_calls:\n  - name: calculator\n    arguments: { expression: n, more: [y, yes, no, on, off], sure: true }\n\
         - text: no\n",
    );
    let ran = world.run(&["run", "--json", "go"]);
    assert_eq!(ran.code, 0, "{}", ran.shown());
    let call = ran
        .stdout
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .find(|event| event["type"] == "tool_call")
        .unwrap();
    let words = json!(["y", "yes", "no", "on", "off"]);
    let arguments = json!({ "expression": "n", "more": words, "sure": true });
    assert_eq!(call["arguments"], arguments, "{call}");
    assert!(ran.stdout.contains("\"answer\":\"no\""), "{}", ran.shown());
}
