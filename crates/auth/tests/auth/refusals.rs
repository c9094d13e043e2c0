//! Every token that must not be believed.

use outfitter_auth::{Expected, TokenError, Verifier, VerifyingKeys};
use outfitter_core::{Code, ErrorInfo};
use proptest::prelude::*;
use rstest::rstest;
use serde_json::{Value, json};

use crate::support::{NOW, claims, forged, hand, header, issuer, key, request, token, verifier};

fn refusal(token: &str) -> TokenError {
    verifier(hand()).verify(token).unwrap_err()
}

/// The known token with one member of its header or claims changed; null takes it out.
fn changed(mut base: Value, name: &str, value: Value) -> String {
    let map = base.as_object_mut().unwrap();
    map.shift_remove(name);
    if !value.is_null() {
        map.insert(name.to_owned(), value);
    }
    base.to_string()
}

#[test]
fn the_token_that_the_others_are_changed_from_is_good() {
    let good = forged(&header().to_string(), &claims().to_string());
    assert!(verifier(hand()).verify(&good).is_ok());
}

#[rstest]
#[case::none("alg", json!("none"), TokenError::Algorithm)]
#[case::none_in_capitals("alg", json!("None"), TokenError::Algorithm)]
#[case::symmetric("alg", json!("HS256"), TokenError::Algorithm)]
#[case::rsa("alg", json!("RS256"), TokenError::Algorithm)]
#[case::other_case("alg", json!("eddsa"), TokenError::Algorithm)]
#[case::no_algorithm("alg", Value::Null, TokenError::Malformed("it is no signed token"))]
#[case::no_key("kid", Value::Null, TokenError::Malformed("its header names no key"))]
#[case::strange_key("kid", json!("../../etc/passwd"), TokenError::UnknownKey)]
#[case::extension("crit", json!(["exp"]), TokenError::Malformed("its header asks for an extension"))]
fn a_header_decides_nothing(#[case] name: &str, #[case] value: Value, #[case] why: TokenError) {
    let token = forged(&changed(header(), name, value), &claims().to_string());
    assert_eq!(refusal(&token), why);
}

#[test]
fn a_key_in_the_header_is_not_asked() {
    let other = outfitter_auth::SigningKey::generate().unwrap();
    let mut header = header();
    header["jwk"] = other.jwk();
    header["kid"] = json!(other.id());
    let token = forged(&header.to_string(), &claims().to_string());
    assert_eq!(refusal(&token), TokenError::UnknownKey);
}

#[test]
fn the_public_key_is_no_secret_of_a_symmetric_algorithm() {
    use base64::Engine as _;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    let public = URL_SAFE_NO_PAD
        .decode(key().jwk()["x"].as_str().unwrap())
        .unwrap();
    let header = changed(header(), "alg", json!("HS256"));
    let signed = format!(
        "{}.{}",
        URL_SAFE_NO_PAD.encode(header),
        URL_SAFE_NO_PAD.encode(claims().to_string())
    );
    let secret = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, &public);
    let tag = ring::hmac::sign(&secret, signed.as_bytes());
    let token = format!("{signed}.{}", URL_SAFE_NO_PAD.encode(tag));
    assert_eq!(refusal(&token), TokenError::Algorithm);
}

const CLAIMS: TokenError = TokenError::Malformed("its claims are not those of a credential");

#[rstest]
#[case::other_audience("aud", json!("other"), TokenError::Audience)]
#[case::several_audiences("aud", json!(["planner"]), CLAIMS)]
#[case::other_issuer("iss", json!("somebody"), TokenError::Issuer)]
#[case::expired("exp", json!(NOW), TokenError::Expired)]
#[case::never_expires("exp", Value::Null, CLAIMS)]
#[case::expires_in_text("exp", json!("9999999999"), CLAIMS)]
#[case::expires_at_a_fraction("exp", json!(9e9), CLAIMS)]
#[case::expires_below_zero("exp", json!(-1), CLAIMS)]
#[case::from_the_future("iat", json!(NOW + 31), TokenError::NotYet)]
#[case::nobody("sub", json!(""), TokenError::Malformed("it names nobody"))]
#[case::no_subject("sub", Value::Null, CLAIMS)]
#[case::nowhere("tenant", json!(""), TokenError::Malformed("it names nobody"))]
#[case::unheard_of_role("role", json!("root"), CLAIMS)]
#[case::no_role("role", Value::Null, CLAIMS)]
fn claims_are_held_to_what_is_expected(
    #[case] name: &str,
    #[case] value: Value,
    #[case] why: TokenError,
) {
    let token = forged(&header().to_string(), &changed(claims(), name, value));
    assert_eq!(refusal(&token), why);
}

#[test]
fn a_claim_given_twice_is_refused() {
    let twice = claims().to_string().replacen('{', r#"{"sub":"eve","#, 1);
    let token = forged(&header().to_string(), &twice);
    assert_eq!(refusal(&token), CLAIMS);
}

#[test]
fn a_little_skew_of_the_issuers_clock_is_borne() {
    let token = forged(
        &header().to_string(),
        &changed(claims(), "iat", json!(NOW + 30)),
    );
    assert!(verifier(hand()).verify(&token).is_ok());
}

#[rstest]
#[case("", TokenError::Missing)]
#[case("x", TokenError::Malformed("it is no signed token"))]
#[case("..", TokenError::Malformed("it is no signed token"))]
#[case("a.b.c.d", TokenError::Malformed("it is no signed token"))]
fn a_text_that_is_no_token_is_refused(#[case] text: &str, #[case] why: TokenError) {
    assert_eq!(refusal(text), why);
}

#[test]
fn a_fourth_part_a_padding_or_a_space_is_no_token() {
    let good = forged(&header().to_string(), &claims().to_string());
    for bad in [
        format!("{good}.x"),
        format!("{good}="),
        format!(" {good}"),
        format!("{good}\n"),
        good.replace('-', "+"),
    ] {
        assert!(
            bad == good || verifier(hand()).verify(&bad).is_err(),
            "{bad}"
        );
    }
}

#[test]
fn an_endless_token_is_not_looked_at() {
    let token = "x".repeat(8193);
    assert_eq!(refusal(&token), TokenError::TooLong { limit: 8192 });
}

#[tokio::test]
async fn a_token_of_another_key_of_the_same_id_is_refused() {
    let mut jwk = outfitter_auth::SigningKey::generate().unwrap().jwk();
    jwk["kid"] = json!(key().id());
    let keys = VerifyingKeys::from_jwks(&json!({ "keys": [jwk] })).unwrap();
    let verifier = Verifier::new(keys, Expected::audience("planner"), hand());
    let token = token(&issuer(hand()), &request()).await;
    assert_eq!(verifier.verify(&token).unwrap_err(), TokenError::Signature);
}

#[tokio::test]
async fn a_good_token_is_good_for_its_scope_only() {
    let token = token(&issuer(hand()), &request()).await;
    let verified = verifier(hand()).verify(&token).unwrap();
    assert_eq!(verified.demand("calendar:read"), Ok(()));
    for other in [
        "calendar:write",
        "calendar",
        "calendar:rea",
        "",
        "calendar:read ",
    ] {
        let error = verified.demand(other).unwrap_err();
        assert_eq!(error.code(), Code::NotPermitted, "{other:?}");
    }
}

#[test]
fn every_refusal_of_a_token_reads_as_one_line_with_its_code() {
    let lines: Vec<String> = [
        TokenError::Missing,
        TokenError::TooLong { limit: 8192 },
        TokenError::Malformed("it is no signed token"),
        TokenError::Algorithm,
        TokenError::UnknownKey,
        TokenError::Signature,
        TokenError::Audience,
        TokenError::Issuer,
        TokenError::Expired,
        TokenError::NotYet,
        TokenError::Scope {
            wanted: "calendar:write".to_owned(),
        },
    ]
    .into_iter()
    .map(|error| {
        let info = ErrorInfo::from(error);
        format!("{}: {}", info.code, info.message)
    })
    .collect();
    insta::assert_snapshot!(lines.join("\n"), @r"
    unauthenticated: failed to check the credential: there is none
    unauthenticated: failed to check the credential: it is longer than 8192 bytes
    unauthenticated: failed to check the credential: it is no signed token
    unauthenticated: failed to check the credential: its algorithm is not EdDSA
    unauthenticated: failed to check the credential: its key is not known here
    unauthenticated: failed to check the credential: its signature is wrong
    unauthenticated: failed to check the credential: it is for another audience
    unauthenticated: failed to check the credential: it comes from another issuer
    unauthenticated: failed to check the credential: it has expired
    unauthenticated: failed to check the credential: it is from the future
    not_permitted: failed to use the credential: it is not for calendar:write
    ");
}

proptest! {
    /// Any change of one character of a good token makes it a bad one.
    #[test]
    fn a_changed_token_is_refused(at in 0.0..1.0f64, letter in "[A-Za-z0-9_.-]") {
        let good = forged(&header().to_string(), &claims().to_string());
        let at = (good.len() as f64 * at) as usize;
        let mut bad = good.clone();
        bad.replace_range(at..=at, &letter);
        prop_assert!(bad == good || verifier(hand()).verify(&bad).is_err());
    }

    #[test]
    fn no_text_panics(text in any::<String>()) {
        prop_assert!(verifier(hand()).verify(&text).is_err());
    }
}
