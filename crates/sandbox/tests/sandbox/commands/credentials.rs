//! Credentials are never readable, wherever the workspace is and whoever asks.

use std::fs;
use std::path::Path;

use rstest::rstest;

use super::kit::{Backend, Identity, bwrap_is_there, hand_over, run_in, testkit};

/// Every one holds the same word.
const SECRETS: [&str; 17] = [
    ".ssh/id_ed25519",
    ".ssh/config",
    ".aws/credentials",
    ".netrc",
    ".npmrc",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".git-credentials",
    ".config/git/credentials",
    ".config/gh/hosts.yml",
    ".bash_history",
    ".zsh_history",
    ".python_history",
    ".node_repl_history",
    ".psql_history",
    ".local/share/fish/fish_history",
    ".local/share/uv/credentials/credentials.toml",
];

fn all_of(dir: &Path, identity: Identity) {
    hand_over(dir, identity);
    for entry in fs::read_dir(dir).unwrap().flatten() {
        if entry.file_type().unwrap().is_dir() {
            all_of(&entry.path(), identity);
        } else {
            hand_over(&entry.path(), identity);
        }
    }
}

#[rstest]
fn no_credential_can_be_read_by_a_command(
    #[values(Identity::Ourselves, Identity::Nobody)] identity: Identity,
    #[values("", "project")] workspace: &str,
    #[values(Backend::Local, Backend::Bwrap)] backend: Backend,
) {
    if backend == Backend::Bwrap && !bwrap_is_there() {
        return;
    }
    let Some(mut command) = testkit(identity) else {
        return;
    };
    // Not below /tmp, where everything would be out of sight anyway.
    let dir = tempfile::Builder::new().tempdir_in("/var/tmp").unwrap();
    let home = dir.path().canonicalize().unwrap();
    for secret in SECRETS {
        fs::create_dir_all(home.join(secret).parent().unwrap()).unwrap();
        fs::write(home.join(secret), "precious\n").unwrap();
    }
    for dir in [
        "project",
        ".cargo/bin",
        ".local/bin",
        ".local/share/uv/tools",
        "data",
    ] {
        fs::create_dir_all(home.join(dir)).unwrap();
    }
    fs::write(home.join(".local/bin/tool"), "#!/bin/sh\necho tool\n").unwrap();
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(home.join(".local/bin/tool"), executable).unwrap();
    all_of(&home, identity);

    let paths: Vec<String> = SECRETS
        .iter()
        .map(|name| home.join(name).display().to_string())
        .collect();
    let list = paths.join(" ");
    let line = format!(
        "tool; for f in {list}; do cat $f; cat /proc/self/root$f; ln $f stolen; cat stolen; cp $f copy; cat copy; done 2>/dev/null; \
         grep -r precious {0}/.ssh {0}/.cargo {0}/.local {0}/.config 2>/dev/null; true",
        home.display()
    );
    command.env("HOME", &home);
    command.env(
        "PATH",
        format!("{}/.local/bin:/usr/bin:/bin", home.display()),
    );
    let got = run_in(
        command,
        backend,
        (&home.join(workspace), &home.join("data")),
        &line,
    );
    assert_eq!(got.stdout, "tool\n", "{got:?}");
    assert!(got.succeeded(), "{got:?}");
    for secret in SECRETS {
        assert_eq!(fs::read_to_string(home.join(secret)).unwrap(), "precious\n");
    }

    // The same line without a sandbox shows them: the test is not blind.
    let mut command = testkit(identity).unwrap();
    command.env("HOME", &home).env("PATH", "/usr/bin:/bin");
    let control = run_in(
        command,
        Backend::Passthrough,
        (&home.join(workspace), &home.join("data")),
        &line,
    );
    assert!(
        control.stdout.matches("precious").count() >= SECRETS.len(),
        "{control:?}"
    );
}
