//! Where credentials lie that a command may need: hidden whatever is opened above them, and opened
//! only by their own name. Those that nothing opens are in [`protected`](crate::protected).

use std::path::{Path, PathBuf};

/// Beneath a home directory. A directory covers all that is in it; a final `*` covers every name that
/// begins so.
pub(crate) const HOME_CREDENTIALS: &[&str] = &[
    // Keys, key rings and stores of passwords.
    ".gnupg",
    ".password-store",
    ".local/share/keyrings",
    ".local/share/kwalletd",
    ".config/op",
    ".config/sops",
    ".config/age",
    ".vault-token",
    // Clouds and clusters.
    ".azure",
    ".boto",
    ".s3cfg",
    ".config/gcloud",
    ".config/doctl",
    ".config/hcloud",
    ".config/rclone",
    ".docker",
    ".config/containers/auth.json",
    ".kube",
    ".terraform.d/credentials.tfrc.json",
    ".terraformrc",
    // Registries of packages.
    ".pypirc",
    ".config/pypoetry/auth.toml",
    ".gem/credentials",
    ".bundle/config",
    ".composer/auth.json",
    ".config/composer/auth.json",
    ".m2/settings*",
    ".gradle/gradle.properties",
    ".nuget/NuGet/NuGet.Config",
    ".yarnrc*",
    // Forges and assistants.
    ".config/gh",
    ".config/glab-cli",
    ".config/hub",
    ".config/github-copilot",
    ".claude/.credentials.json",
    ".codex/auth.json",
    // Databases and mail.
    ".pgpass",
    ".my.cnf",
    ".mylogin.cnf",
    ".config/msmtp",
    ".msmtprc",
    ".fetchmailrc",
    // Browsers and mail programs: cookies and passwords.
    ".mozilla",
    ".thunderbird",
    ".config/BraveSoftware",
    ".config/chromium",
    ".config/google-chrome*",
    ".config/microsoft-edge*",
    ".config/opera*",
    ".config/vivaldi*",
    ".librewolf",
    "snap/chromium",
    "snap/firefox",
    "snap/thunderbird",
    ".var/app/org.mozilla.*",
    ".var/app/com.google.Chrome*",
    ".var/app/org.chromium.Chromium",
    ".var/app/com.brave.Browser",
];

/// Of the machine.
pub(crate) const SYSTEM_CREDENTIALS: &[&str] = &[
    "/etc/apt/auth.conf*",
    "/etc/chatscripts",
    "/etc/docker/key.json",
    "/etc/exim4/passwd.client",
    "/etc/ipsec.secrets",
    "/etc/krb5.keytab",
    "/etc/kubernetes",
    "/etc/letsencrypt",
    "/etc/mysql/debian.cnf",
    "/etc/netplan",
    "/etc/NetworkManager/system-connections",
    "/etc/openvpn",
    "/etc/pki/tls/private",
    "/etc/postfix/sasl_passwd*",
    "/etc/ppp/chap-secrets",
    "/etc/ppp/pap-secrets",
    "/etc/rancher",
    "/etc/security/opasswd",
    "/etc/ssh/ssh_host_*",
    "/etc/ssl/private",
    "/etc/sudoers*",
    "/etc/swanctl",
    "/etc/wireguard",
    "/etc/wpa_supplicant",
];

/// Why, in words.
pub(crate) const BY_NAME_ONLY: &str = "it holds credentials: no file tool reads or writes it, and a command only where it is opened by \
     its own name";

/// How deep such directories are looked into for identities: some hold thousands of files, and a look
/// is taken for each call.
pub(crate) const CREDENTIALS_DEPTH: u32 = 1;

/// What of a path that is hidden stays so, where some of it is opened by its own name: all of it, all
/// that does not lead there, or nothing.
pub(crate) fn still_hidden(hidden: &Path, opened: &[PathBuf]) -> Vec<PathBuf> {
    let within = |path: &Path| opened.iter().any(|opened| opened.starts_with(path));
    let mut still = Vec::new();
    let mut pending = vec![hidden.to_owned()];
    while let Some(path) = pending.pop() {
        if opened.contains(&path) {
            continue;
        }
        if !within(&path) {
            still.push(path);
            continue;
        }
        let entries = std::fs::read_dir(&path).into_iter().flatten().flatten();
        pending.extend(entries.map(|entry| entry.path()));
    }
    still.sort();
    still
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_opened_by_its_own_name_shows_nothing_beside_it() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        let at = |name: &str| base.join(name);
        for name in ["k/config", "k/cache/a", "k/certs/one", "k/certs/two"] {
            std::fs::create_dir_all(at(name).parent().unwrap()).unwrap();
            std::fs::write(at(name), "").unwrap();
        }
        let still = |opened: &[&str]| {
            let opened: Vec<PathBuf> = opened.iter().map(|name| at(name)).collect();
            still_hidden(&at("k"), &opened)
        };
        assert_eq!(still(&[]), [at("k")]);
        // What is opened above it opens nothing of it.
        assert_eq!(still(&[""]), [at("k")]);
        assert_eq!(still(&["k"]), Vec::<PathBuf>::new());
        assert_eq!(still(&["k/config"]), [at("k/cache"), at("k/certs")]);
        assert_eq!(
            still(&["k/certs/one", "k/cache"]),
            [at("k/certs/two"), at("k/config")]
        );
    }
}
