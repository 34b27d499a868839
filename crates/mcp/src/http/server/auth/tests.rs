//! Tokens of the corpus, each with one defect, and what is told to whoever is refused.

use super::jwks::Keys;
use super::jwt::{Expected, verify};
use super::*;
use hyper::header::HeaderValue;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const ISSUER: &str = "https://issuer.example";
const AUDIENCE: &str = "http://127.0.0.1/mcp";
const NOW: i64 = 1_800_000_000;

fn corpus(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/mcp-http").join(name)
}

/// What is expected of a token, and the token.
fn case(name: &str) -> (String, String) {
    let text = fs::read_to_string(corpus("jwt").join(format!("{name}.txt"))).unwrap();
    let (expected, token) = text.split_once('\n').unwrap();
    (expected.strip_prefix("expect: ").unwrap().to_owned(), token.trim().to_owned())
}

fn oauth() -> Authenticator {
    let settings = OauthSettings {
        issuer: ISSUER.to_owned(),
        audience: AUDIENCE.to_owned(),
        scopes: vec!["mcp".to_owned()],
        resource: AUDIENCE.to_owned(),
    };
    let source = || fs::read(corpus("jwks.json")).map_err(|error| error.to_string());
    Authenticator::Oauth(Box::new(Oauth::new(settings, Arc::new(source)).unwrap()))
}

/// Tells who calls, as the endpoint does.
fn check(auth: &Authenticator, headers: &HeaderMap) -> Result<Principal, Refused> {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(auth.check(headers, NOW))
}

fn with(field: &str) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(AUTHORIZATION, HeaderValue::from_str(field).unwrap());
    headers
}

#[test]
fn every_token_of_the_corpus_is_what_its_file_says() {
    let keys = Keys::parse(&fs::read(corpus("jwks.json")).unwrap()).unwrap();
    let expected = Expected { issuer: ISSUER, audience: AUDIENCE, now: NOW };
    let mut count = 0;
    for entry in fs::read_dir(corpus("jwt")).unwrap() {
        let name = entry.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned();
        let (outcome, token) = case(&name);
        let found = match verify(&token, &keys, &expected) {
            Ok(_) => "valid".to_owned(),
            Err(error) => format!("{error:?}"),
        };
        assert_eq!(found, outcome, "{name}");
        count += 1;
    }
    assert!(count >= 50, "{count} cases");
}

#[test]
fn clients_of_one_user_are_two_and_users_of_one_client_are_two() {
    let oauth = oauth();
    let who = |name: &str| check(&oauth, &with(&format!("Bearer {}", case(name).1))).unwrap();
    assert_eq!(who("es256"), who("rs256"));
    assert_ne!(who("es256"), who("another_client_of_the_same_user"));
    assert_ne!(who("es256"), who("another_user"));
}

#[test]
fn who_is_refused_learns_where_to_get_a_token() {
    let oauth = oauth();
    let refused = check(&oauth, &HeaderMap::new()).unwrap_err();
    assert_eq!(refused, Refused::Missing);
    let metadata = "http://127.0.0.1/.well-known/oauth-protected-resource/mcp";
    let told = format!("Bearer realm=\"lazaret\", resource_metadata=\"{metadata}\", scope=\"mcp\"");
    assert_eq!(oauth.challenge(&refused), told);
    let short = check(&oauth, &with(&format!("Bearer {}", case("without_the_scope").1)));
    let refused = short.unwrap_err();
    assert_eq!(refused, Refused::Scope("mcp".to_owned()));
    assert!(oauth.challenge(&refused).contains("error=\"insufficient_scope\""));
    let told: serde_json::Value = serde_json::from_str(&oauth.metadata().unwrap()).unwrap();
    assert_eq!(told["resource"], AUDIENCE);
    assert_eq!(told["authorization_servers"][0], ISSUER);
}

#[test]
fn the_field_is_one_bearer_token_and_nothing_else() {
    let (one, two) = (NewToken::random().unwrap(), NewToken::random().unwrap());
    let (text, second) = (one.text.clone(), two.text.clone());
    let table = vec![("one".to_owned(), one.digest), ("two".to_owned(), two.digest)];
    let table = Arc::new(TokenTable::new(table));
    let local = Authenticator::Local(Box::new(move || Arc::clone(&table)));
    let who = |field: String| check(&local, &with(&field)).map(|it| it.to_string());
    assert_eq!(who(format!("Bearer {text}")).as_deref(), Ok("one"));
    assert_eq!(who(format!("bearer {text}")).as_deref(), Ok("one"));
    assert_eq!(who(format!("Bearer {second}")).as_deref(), Ok("two"));
    let other = NewToken::random().unwrap().text;
    for wrong in [
        format!("Bearer {other}"),
        format!("Basic {text}"),
        text.clone(),
        "Bearer ".to_owned(),
        format!("Bearer {text} {text}"),
        format!("Bearer {}", text.to_uppercase()),
        format!("Bearer {}", "x".repeat(20_000)),
    ] {
        let refused = check(&local, &with(&wrong));
        assert!(matches!(refused, Err(Refused::Invalid(_))), "{wrong}");
    }
    let mut twice = with(&format!("Bearer {text}"));
    twice.append(AUTHORIZATION, HeaderValue::from_str(&format!("Bearer {text}")).unwrap());
    assert!(check(&local, &twice).is_err());
    for unfit in ["", "short", &"g".repeat(64), &"A".repeat(64)] {
        assert!(TokenDigest::of_token(unfit).is_err(), "{unfit}");
    }
}

#[test]
fn a_new_token_of_the_same_name_is_another_client_s() {
    let (old, new) = (NewToken::random().unwrap(), NewToken::random().unwrap());
    let table = |token: &NewToken| {
        let table = vec![("laptop".to_owned(), token.digest.clone())];
        Arc::new(TokenTable::new(table))
    };
    let (before, after) = (table(&old), table(&new));
    let before = Authenticator::Local(Box::new(move || Arc::clone(&before)));
    let after = Authenticator::Local(Box::new(move || Arc::clone(&after)));
    let first = check(&before, &with(&format!("Bearer {}", old.text))).unwrap();
    let second = check(&after, &with(&format!("Bearer {}", new.text))).unwrap();
    assert_eq!(first.as_str(), second.as_str());
    assert!(first != second && before.may_be(&first) && after.may_be(&second));
    assert!(!after.may_be(&first), "what the old one had open ends");
}

#[test]
fn keys_that_could_be_mistaken_are_refused() {
    for (text, why) in [
        ("[]", "keys"),
        (r#"{"keys":[]}"#, "no RSA"),
        (r#"{"keys":[{"kty":"oct","k":"AAAA"}]}"#, "no RSA"),
        (r#"{"keys":[{"kty":"OKP","crv":"Ed25519","x":"=="}]}"#, "broken"),
        (r#"{"keys":[{"kty":"EC","crv":"P-256","x":"AA","y":"AA"}]}"#, "broken"),
        (r#"{"keys":[{"kty":"RSA","e":"AQAB"}]}"#, "broken"),
        (
            r#"{"keys":[{"kty":"OKP","crv":"Ed25519","kid":"a","x":"AA"},{"kty":"RSA","kid":"a","n":"AA","e":"AQAB"}]}"#,
            "two keys",
        ),
        (r#"{"keys":[],"keys":[]}"#, "JSON"),
    ] {
        let refused = Keys::parse(text.as_bytes()).unwrap_err().to_string();
        assert!(refused.contains(why), "{text}: {refused}");
    }
}

#[test]
fn a_key_that_is_not_known_is_looked_for_and_not_too_often() {
    let reads = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&reads);
    let settings = OauthSettings {
        issuer: ISSUER.to_owned(),
        audience: AUDIENCE.to_owned(),
        scopes: Vec::new(),
        resource: AUDIENCE.to_owned(),
    };
    let source = move || {
        counted.fetch_add(1, Ordering::SeqCst);
        fs::read(corpus("jwks.json")).map_err(|error| error.to_string())
    };
    let oauth = Oauth::new(settings, Arc::new(source)).unwrap();
    let auth = Authenticator::Oauth(Box::new(oauth));
    for _ in 0..8 {
        let field = with(&format!("Bearer {}", case("kid_unknown").1));
        assert_eq!(check(&auth, &field), Err(Refused::Invalid(TokenError::Key)));
    }
    assert_eq!(reads.load(Ordering::SeqCst), 1, "it was read at the start, a moment ago");
    if let Authenticator::Oauth(oauth) = &auth {
        oauth.make_old(crate::http::server::limits::KEYS_WAIT);
    }
    for _ in 0..8 {
        let field = with(&format!("Bearer {}", case("kid_unknown").1));
        assert!(check(&auth, &field).is_err());
        assert!(check(&auth, &with(&format!("Bearer {}", case("es256").1))).is_ok());
    }
    assert_eq!(reads.load(Ordering::SeqCst), 2, "once more, for all of them");
}

#[test]
fn keys_that_cannot_be_read_again_count_for_a_day_and_no_longer() {
    use crate::http::server::limits::{KEYS_AGE_MAX, KEYS_FRESH};
    let is_down = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let down = Arc::clone(&is_down);
    let settings = OauthSettings {
        issuer: ISSUER.to_owned(),
        audience: AUDIENCE.to_owned(),
        scopes: Vec::new(),
        resource: AUDIENCE.to_owned(),
    };
    let source = move || match down.load(Ordering::SeqCst) {
        true => Err("nobody answers".to_owned()),
        false => fs::read(corpus("jwks.json")).map_err(|error| error.to_string()),
    };
    let oauth = Oauth::new(settings, Arc::new(source)).unwrap();
    let auth = Authenticator::Oauth(Box::new(oauth));
    let Authenticator::Oauth(oauth) = &auth else { return };
    let good = with(&format!("Bearer {}", case("es256").1));
    is_down.store(true, Ordering::SeqCst);
    oauth.make_old(KEYS_FRESH);
    assert!(check(&auth, &good).is_ok(), "it could not be read, and is not old");
    oauth.make_old(KEYS_AGE_MAX);
    assert_eq!(check(&auth, &good), Err(Refused::Invalid(TokenError::Key)));
    is_down.store(false, Ordering::SeqCst);
    oauth.make_old(KEYS_FRESH);
    assert!(check(&auth, &good).is_ok(), "the issuer is back");
}
