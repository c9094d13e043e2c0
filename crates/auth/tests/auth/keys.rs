//! Where keys come from.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use outfitter_auth::{KeyError, SigningKey, VerifyingKeys};
use rstest::rstest;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{key, seed};

/// What `openssl genpkey -algorithm ed25519` writes for the seed of RFC 8037: PKCS #8 version 1.
const PEM: &str = "-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g
-----END PRIVATE KEY-----
";

fn file(content: &[u8], mode: u32) -> (TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("key");
    fs::write(&path, content).unwrap();
    fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
    (dir, path)
}

#[test]
fn a_key_is_named_by_its_thumbprint() {
    // RFC 8037, appendix A.3.
    assert_eq!(key().id(), "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k");
    insta::assert_json_snapshot!(key().jwk(), @r#"
    {
      "crv": "Ed25519",
      "kty": "OKP",
      "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
      "alg": "EdDSA",
      "kid": "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k",
      "use": "sig"
    }
    "#);
}

#[test]
fn pem_and_seed_are_the_same_key() {
    assert_eq!(SigningKey::from_pem(PEM).unwrap().id(), key().id());
    for content in [PEM.as_bytes(), &seed()[..]] {
        let (_dir, path) = file(content, 0o600);
        assert_eq!(SigningKey::load(&path).unwrap().id(), key().id());
    }
}

#[rstest]
#[case(0o640)]
#[case(0o604)]
#[case(0o644)]
#[case(0o620)]
fn a_file_that_others_can_read_or_change_is_refused(#[case] mode: u32) {
    let (_dir, path) = file(PEM.as_bytes(), mode);
    let error = SigningKey::load(&path).unwrap_err();
    assert!(matches!(error, KeyError::Exposed { mode: is, .. } if is == mode));
    assert!(
        error.to_string().contains(&format!("{mode:03o}")),
        "{error}"
    );
}

#[rstest]
#[case(b"", "neither PEM nor")]
#[case(b"thirty-one bytes are not a seed", "neither PEM nor")]
#[case(b"-----BEGIN PRIVATE KEY-----\nMC4", "cut off")]
#[case(
    b"-----BEGIN PRIVATE KEY-----\n!!\n-----END PRIVATE KEY-----",
    "does not decode"
)]
#[case(
    b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----",
    "no Ed25519 private key"
)]
#[case(
    b"-----BEGIN RSA PRIVATE KEY-----\nAAAA\n-----END RSA PRIVATE KEY-----",
    "no PKCS #8"
)]
fn a_file_that_holds_no_key_says_what_is_wrong(#[case] content: &[u8], #[case] why: &str) {
    let (_dir, path) = file(content, 0o600);
    let error = SigningKey::load(&path).unwrap_err();
    assert!(error.to_string().contains(why), "{error}");
}

#[test]
fn a_directory_in_the_place_of_a_key_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let error = SigningKey::load(dir.path()).unwrap_err();
    assert!(matches!(error, KeyError::File { .. }), "{error}");
}

#[test]
fn a_key_that_is_not_there_is_made_once_and_kept() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("signing.pem");
    let made = SigningKey::load_or_create(&path).unwrap();
    let mode = fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert_eq!(SigningKey::load_or_create(&path).unwrap().id(), made.id());
    assert!(SigningKey::load(Path::new("/nowhere/key")).is_err());
    assert!(SigningKey::load_or_create(Path::new("/nowhere/key")).is_err());
}

#[test]
fn an_exposed_key_is_not_replaced() {
    let (_dir, path) = file(PEM.as_bytes(), 0o644);
    assert!(SigningKey::load_or_create(&path).is_err());
    assert_eq!(fs::read_to_string(&path).unwrap(), PEM);
}

fn jwks(keys: &Value) -> Result<VerifyingKeys, KeyError> {
    VerifyingKeys::from_jwks(&json!({ "keys": keys }))
}

#[test]
fn keys_of_other_kinds_are_passed_over() {
    let rsa = json!({ "kty": "RSA", "n": "x", "e": "AQAB", "kid": "r" });
    let agreement = json!({ "kty": "OKP", "crv": "X25519", "x": "x", "kid": "a" });
    let encryption = json!({ "kty": "OKP", "crv": "Ed25519", "use": "enc", "kid": "e" });
    let set = jwks(&json!([rsa, agreement, encryption, key().jwk()])).unwrap();
    assert_eq!(set, jwks(&json!([key().jwk()])).unwrap());
}

#[rstest]
#[case(json!({}), "no list of keys")]
#[case(json!({"keys": []}), "no Ed25519 key")]
#[case(json!({"keys": [{"kty": "OKP", "crv": "Ed25519", "kid": "a", "x": "AA"}]}), "32 bytes")]
#[case(json!({"keys": [{"kty": "OKP", "crv": "Ed25519", "x": "AA"}]}), "no kid")]
#[case(json!({"keys": [{"kty": "OKP", "crv": "Ed25519", "kid": "a", "d": "AA"}]}), "private key")]
#[case(json!({"keys": [key().jwk(), key().jwk()]}), "twice")]
fn a_set_that_cannot_be_trusted_is_refused_whole(#[case] set: Value, #[case] why: &str) {
    let error = VerifyingKeys::from_jwks(&set).unwrap_err();
    assert!(error.to_string().contains(why), "{error}");
}
