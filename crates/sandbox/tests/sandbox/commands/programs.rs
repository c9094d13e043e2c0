//! What people run works inside. A row whose program does not work outside says so: then nothing
//! can be said about inside.

use std::fs;
use std::path::Path;

use rstest::rstest;

use super::kit::{Backend, Identity, World, bwrap_is_there, hand_over, run_in, say, testkit};

const SOURCE: &str = "fn main() { println!(\"built {}\", env!(\"CARGO_PKG_NAME\")); }\n";
const MANIFEST: &str = "[package]\nname = \"inner\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";

#[rstest]
#[case::sh("echo $((6 * 7)) | tr 4 5 | sed s/2/3/", "53\n")]
#[case::git(
    "git init -q . && git config user.email a@b && git config user.name n && echo x > f && git add -A && git commit -qm first && git log --format=%s && git status --short",
    "first\n"
)]
#[case::make(
    "printf 'all: out\\nout:\\n\\t@echo made > out; cat out\\n' > Makefile && make",
    "made\n"
)]
#[case::compiler(
    "printf '#include <stdio.h>\\nint main(void) { puts(\"compiled\"); }\\n' > a.c && cc -o a a.c && ./a",
    "compiled\n"
)]
#[case::system_python(
    "/usr/bin/python3 -c 'import ssl, tempfile, json; t = tempfile.NamedTemporaryFile(); print(json.dumps([1]))'",
    "[1]\n"
)]
#[case::python_on_path(
    "printf 'def f(): return 42\\n' > mod.py && python3 -c 'import mod, subprocess, sqlite3; print(mod.f(), subprocess.check_output([\"echo\", \"x\"]))'",
    "42 b'x\\n'\n"
)]
#[case::virtual_environment(
    "python3 -m venv --without-pip .venv && .venv/bin/python -c 'import sys; print(sys.prefix != sys.base_prefix)'",
    "True\n"
)]
#[case::node(
    "node -e 'const fs = require(\"fs\"), os = require(\"os\"); fs.writeFileSync(\"a\", \"b\"); fs.mkdtempSync(os.tmpdir() + \"/x\"); console.log(fs.readFileSync(\"a\", \"utf8\"), require(\"child_process\").execSync(\"echo c\").toString().trim())'",
    "b c\n"
)]
#[case::npm(
    "echo '{\"name\":\"x\",\"scripts\":{\"go\":\"echo went\"}}' > package.json && npm run --silent go",
    "went\n"
)]
#[case::cargo(
    "cargo build -q --offline && ./target/debug/inner && cargo test -q --offline >/dev/null",
    "built inner\n"
)]
#[case::perl(
    "perl -e 'print join(\",\", sort map { $_ * 2 } 1..3), \"\\n\"'",
    "2,4,6\n"
)]
#[case::tar(
    "mkdir d && echo x > d/f && tar czf d.tgz d && rm -r d && tar xzf d.tgz && cat d/f",
    "x\n"
)]
fn a_program_works_inside(
    #[case] line: &str,
    #[case] expected: &str,
    #[values(Identity::Ourselves, Identity::Nobody)] identity: Identity,
    #[values(Backend::Local, Backend::Partial, Backend::Bwrap)] sandbox: Backend,
) {
    if sandbox == Backend::Bwrap && !bwrap_is_there() {
        return;
    }
    let in_backend = |backend: Backend| {
        let command = testkit(identity)?;
        let world = World::new();
        fs::create_dir_all(world.workspace.join("src")).unwrap();
        fs::write(world.workspace.join("src/main.rs"), SOURCE).unwrap();
        fs::write(world.workspace.join("Cargo.toml"), MANIFEST).unwrap();
        let base = world.workspace.parent().unwrap();
        for path in [base, &world.workspace, &world.workspace.join("src")] {
            hand_over(path, identity);
        }
        Some(run_in(
            command,
            backend,
            (&world.workspace, &world.data),
            line,
        ))
    };
    let Some(outside) = in_backend(Backend::Passthrough) else {
        return;
    };
    if !outside.succeeded() {
        let word = match identity {
            Identity::Ourselves => "program",
            Identity::Nobody => "as-nobody",
        };
        say(&format!(
            "SKIPPED({word}): it does not work outside either: {outside:?}"
        ));
        return;
    }
    assert_eq!(
        outside.stdout, expected,
        "the row itself is broken: {outside:?}"
    );
    let inside = in_backend(sandbox).unwrap();
    assert_eq!(inside.stdout, expected, "{inside:?}");
    assert!(inside.succeeded(), "{inside:?}");
}

/// Semaphores live in shared memory, which is private with a mount namespace and not there without.
#[rstest]
fn python_locks_work_with_a_mount_namespace(
    #[values(Identity::Ourselves, Identity::Nobody)] identity: Identity,
) {
    let Some(command) = testkit(identity) else {
        return;
    };
    let world = World::new();
    for path in [world.workspace.parent().unwrap(), &world.workspace] {
        hand_over(path, identity);
    }
    let line = "/usr/bin/python3 -c 'import multiprocessing as m; m.Lock(); print(1)' || echo failed; \
        grep -q ' /tmp tmpfs' /proc/mounts && echo namespace";
    let got = run_in(
        command,
        Backend::Local,
        (&world.workspace, &world.data),
        line,
    );
    if !got.stdout.contains("namespace") || !Path::new("/usr/bin/python3").exists() {
        say(&format!(
            "SKIPPED(namespace): needs Python and a mount namespace: {got:?}"
        ));
        return;
    }
    assert_eq!(got.stdout, "1\nnamespace\n", "{got:?}");
}
