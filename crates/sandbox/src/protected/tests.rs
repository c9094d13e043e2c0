use super::*;
use rstest::rstest;

#[rstest]
#[case::plain("/home/u/.ssh/id_rsa", true)]
#[case::the_directory_itself("/home/u/.ssh", true)]
#[case::case("/home/U/.SSH/id_rsa", true)]
#[case::dots("/home/u/./x/../.ssh//id", true)]
#[case::above_the_root("/../../home/u/.ssh/id", true)]
#[case::fullwidth("/home/u/．ｓｓｈ/id", true)]
#[case::fullwidth_separators("/home/u/x／．．／.ssh", true)]
#[case::zero_width("/home/u/.s\u{200b}sh/id", true)]
#[case::long_s("/home/u/.ſsh/id", true)]
#[case::open_ended("/home/u/.cargo/credentials.toml", true)]
#[case::other_file_beside("/home/u/.cargo/config.toml", false)]
#[case::longer_name("/home/u/.sshd/id", false)]
#[case::another_home("/home/v/.ssh/id", false)]
#[case::machine("/etc/shadow-", true)]
#[case::process("/proc/self/environ", true)]
#[case::keys_of_the_host("/etc/ssh/ssh_host_rsa_key", true)]
#[case::settings_of_ssh("/etc/ssh/ssh_config", false)]
#[case::a_cluster("/home/u/.kube/cache/x", true)]
#[case::a_browser("/home/u/.config/google-chrome-beta/Default/Cookies", true)]
#[case::plain_file("/home/u/src/main.rs", false)]
fn a_rule_meets_every_spelling(#[case] path: &str, #[case] denied: bool) {
    let protected = Protected::of_home(Path::new("/home/u"));
    assert_eq!(
        protected.covers(Path::new(path)).is_some(),
        denied,
        "{path}"
    );
}

#[test]
fn composed_and_decomposed_names_are_one() {
    let protected = Protected::of_system()
        .and_path(Path::new("/srv/clé"))
        .and_name("Geheimnis-ü");
    for path in [
        "/srv/cl\u{e9}/x",
        "/srv/cle\u{301}/x",
        "/a/GEHEIMNIS-U\u{308}/b",
    ] {
        assert!(protected.covers(Path::new(path)).is_some(), "{path}");
    }
}

#[test]
fn our_own_data_is_protected_but_for_what_is_the_sessions_own() {
    let own = Path::new("/srv/data/files/t/ann/s1");
    let protected = Protected::of_system().and_own_data(Path::new("/srv/data"), &[own]);
    for path in [
        "/srv/data",
        "/srv/data/outfitter.db",
        "/srv/data/files/t/ann/s1/../s2/x",
        "/srv/data/files/t/ann/s11/x",
        "/srv/data/files/t/ann",
        "/srv/DATA/files/t/bob/s1/x",
    ] {
        assert!(protected.covers(Path::new(path)).is_some(), "{path}");
    }
    for path in [
        "/srv/data/files/t/ann/s1",
        "/srv/data/files/t/ann/s1/a/b",
        "/srv/data2",
    ] {
        assert!(protected.covers(Path::new(path)).is_none(), "{path}");
    }
    assert!(protected.reaches_below(Path::new("/srv")));
}

#[test]
fn a_rule_knows_what_may_lie_below() {
    let protected = Protected::of_home(Path::new("/home/u"));
    assert!(protected.reaches_below(Path::new("/home/U")));
    assert!(protected.reaches_below(Path::new("/")));
    assert!(!protected.reaches_below(Path::new("/home/u/src")));
}
