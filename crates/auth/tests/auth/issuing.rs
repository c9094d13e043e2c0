//! What is issued, to whom, and what is kept of it.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use outfitter_auth::{Claims, Issuances, Issuer, Lifetime, Owner, OwnerError, Owners, SigningKey};
use outfitter_core::{Code, CredentialIssuer, CredentialRequest, Principal, Role};
use rstest::rstest;

use crate::support::{NOW, ada, hand, issuer, key, request, token, verifier};

#[tokio::test]
async fn a_token_says_who_for_whom_for_what_and_until_when() {
    let issuer = issuer(hand());
    let request = CredentialRequest {
        actor: Some("nightly-digest".into()),
        scope: vec!["calendar:read".into(), "calendar:write".into()],
        ..request()
    };
    let token = token(&issuer, &request).await;
    let verified = verifier(hand()).verify(&token).unwrap();
    let mut claims = verified.claims().clone();
    assert_eq!(claims.jti.len(), 22, "128 random bits");
    claims.jti = "random".to_owned();
    insta::assert_json_snapshot!(claims, @r#"
    {
      "iss": "outfitter",
      "sub": "ada",
      "tenant": "acme",
      "role": "user",
      "aud": "planner",
      "scope": "calendar:read calendar:write",
      "jti": "random",
      "iat": 1800000000,
      "exp": 1800000300,
      "act": {
        "sub": "nightly-digest"
      }
    }
    "#);
    let principal = verified.principal("cli".into());
    assert_eq!(
        (principal.tenant, principal.subject),
        ("acme".into(), "ada".into())
    );
    assert_eq!((principal.role, principal.stream), (Role::User, None));
}

#[tokio::test]
async fn each_call_has_its_own_token() {
    let issuer = issuer(hand());
    let request = request();
    assert_ne!(
        token(&issuer, &request).await,
        token(&issuer, &request).await
    );
}

#[tokio::test]
async fn a_token_is_good_until_the_second_it_expires() {
    let clock = hand();
    let issuer = issuer(clock.clone());
    let credential = issuer.issue(&request()).await.unwrap();
    assert_eq!(credential.expires.0, (NOW + 300) * 1000);
    let token = token(&issuer, &request()).await;
    let verifier = verifier(clock.clone());
    clock.0.store(NOW + 299, Ordering::SeqCst);
    assert!(verifier.verify(&token).is_ok());
    clock.0.store(NOW + 300, Ordering::SeqCst);
    let error = verifier.verify(&token).unwrap_err();
    assert_eq!(error.code(), Code::Unauthenticated);
    assert_eq!(error.to_string(), "check the credential: it has expired");
}

#[rstest]
#[case(299, false)]
#[case(300, true)]
#[case(600, true)]
#[case(601, false)]
fn a_lifetime_is_five_to_ten_minutes(#[case] seconds: u64, #[case] good: bool) {
    assert_eq!(Lifetime::seconds(seconds).is_ok(), good);
}

/// Knows one owner, or none.
struct Directory(Option<Owner>);

#[async_trait]
impl Owners for Directory {
    async fn check(&self, who: &Principal) -> Result<Owner, OwnerError> {
        assert_eq!(who.subject.as_str(), "ada");
        self.0.clone().ok_or(OwnerError::Refused)
    }
}

#[rstest]
#[case(Role::Guest, Role::Guest)]
#[case(Role::Admin, Role::User)]
#[tokio::test]
async fn a_token_says_the_lesser_of_what_the_owner_and_the_session_may(
    #[case] owner: Role,
    #[case] said: Role,
) {
    let directory = Directory(Some(Owner {
        role: owner,
        phone: Some("+49".to_owned()),
    }));
    let issuer = issuer(hand()).with_owners(Arc::new(directory));
    let token = token(&issuer, &request()).await;
    let verified = verifier(hand()).verify(&token).unwrap();
    assert_eq!(verified.claims().role, said);
    assert_eq!(verified.claims().phone.as_deref(), Some("+49"));
}

#[tokio::test]
async fn an_owner_who_is_gone_gets_nothing() {
    let records = Arc::new(Records::default());
    let issuer = issuer(hand())
        .with_owners(Arc::new(Directory(None)))
        .with_issuances(records.clone());
    let error = issuer.issue(&request()).await.unwrap_err();
    assert_eq!(error.code(), Code::Unauthenticated);
    assert_eq!(
        error.to_string(),
        "issue a credential: the owner may not act any more"
    );
    assert!(records.0.lock().unwrap().is_empty());
}

#[derive(Default)]
struct Records(Mutex<Vec<Claims>>);

impl Issuances for Records {
    fn issued(&self, claims: &Claims) {
        self.0.lock().unwrap().push(claims.clone());
    }
}

#[tokio::test]
async fn each_issuance_leaves_one_record_without_the_token() {
    let records = Arc::new(Records::default());
    let issuer = issuer(hand()).with_issuances(records.clone());
    let token = token(&issuer, &request()).await;
    let kept = records.0.lock().unwrap().clone();
    let [claims] = &kept[..] else {
        unreachable!("{kept:?}")
    };
    assert_eq!(
        (claims.sub.clone(), &*claims.scope),
        (ada().subject.clone(), "calendar:read")
    );
    let signature = token.rsplit_once('.').unwrap().1;
    assert!(!format!("{claims:?}").contains(signature));
}

#[tokio::test]
async fn a_word_that_would_be_two_scopes_is_refused() {
    let request = CredentialRequest {
        scope: vec!["calendar:read admin".into()],
        ..request()
    };
    let error = issuer(hand()).issue(&request).await.unwrap_err();
    assert_eq!(error.code(), Code::Unavailable);
}

#[tokio::test]
async fn nothing_shows_a_key_or_a_token() {
    let issuer = issuer(hand());
    let credential = issuer.issue(&request()).await.unwrap();
    let shown = format!(
        "{issuer:?} {credential:?} {:?} {:?}",
        key(),
        verifier(hand())
    );
    assert!(!shown.contains("eyJ"), "{shown}");
    let pem = SigningKey::generate().unwrap();
    assert_eq!(format!("{pem:?}"), format!("SigningKey({:?})", pem.id()));
    let _: &Issuer = &issuer;
}
