//! What of this system every command may read: programs, and the settings that they need.

use std::fs;
use std::path::{Path, PathBuf};

/// Programs and libraries.
pub(crate) const SYSTEM_DIRECTORIES: &[&str] = &[
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/opt",
    "/nix/store",
    "/gnu/store",
];

/// What programs read of `/etc`. Not there: accounts' secrets, keys, and files that may hold a
/// registry's token.
pub(crate) const SYSTEM_CONFIGURATION: &[&str] = &[
    "/etc/alternatives",
    "/etc/bash.bashrc",
    "/etc/ca-certificates",
    "/etc/ca-certificates.conf",
    "/etc/crypto-policies",
    "/etc/debian_version",
    "/etc/default/locale",
    "/etc/environment",
    "/etc/fonts",
    "/etc/gai.conf",
    "/etc/gitattributes",
    "/etc/gitconfig",
    "/etc/group",
    "/etc/host.conf",
    "/etc/hostname",
    "/etc/hosts",
    "/etc/inputrc",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/locale.alias",
    "/etc/locale.conf",
    "/etc/localtime",
    "/etc/login.defs",
    "/etc/lsb-release",
    "/etc/magic",
    "/etc/magic.mime",
    "/etc/mime.types",
    "/etc/networks",
    "/etc/nsswitch.conf",
    "/etc/os-release",
    "/etc/passwd",
    "/etc/perl",
    "/etc/pki/ca-trust",
    "/etc/pki/tls/certs",
    "/etc/profile",
    "/etc/profile.d",
    "/etc/protocols",
    "/etc/python2.7",
    "/etc/python3",
    "/etc/resolv.conf",
    "/etc/rpc",
    "/etc/services",
    "/etc/shells",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
    "/etc/terminfo",
    "/etc/timezone",
    "/etc/vim",
    "/etc/wgetrc",
    "/etc/xattr.conf",
];

/// And those of `/etc` that have a version in their name, by what stands before and behind it.
const NUMBERED_CONFIGURATION: &[(&str, &str)] = &[("java-", "-openjdk"), ("python3.", "")];

/// Directories with the settings of one version of a program.
pub(crate) fn numbered_configuration(etc: &Path) -> Vec<PathBuf> {
    let is_numbered = |name: &str| {
        NUMBERED_CONFIGURATION.iter().any(|(before, behind)| {
            let number = name
                .strip_prefix(before)
                .and_then(|rest| rest.strip_suffix(behind));
            number.is_some_and(|number| {
                !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
            })
        })
    };
    let mut found: Vec<PathBuf> = fs::read_dir(etc)
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| is_numbered(&entry.file_name().to_string_lossy()))
        .map(|entry| entry.path())
        .collect();
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_of_one_version_are_known_by_their_number() {
        let dir = tempfile::tempdir().unwrap();
        for name in [
            "java-17-openjdk",
            "python3.14",
            "java-x-openjdk",
            "python3.",
            "python3.9d",
        ] {
            fs::create_dir(dir.path().join(name)).unwrap();
        }
        let found = numbered_configuration(dir.path());
        assert_eq!(
            found,
            ["java-17-openjdk", "python3.14"].map(|name| dir.path().join(name))
        );
    }
}
