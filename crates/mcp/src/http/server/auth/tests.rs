//! Tokens of the corpus, each with one defect, and what is told to whoever is refused.

use super::jwks::Keys;
use super::jwt::{Expected, verify};
use super::*;
use hyper::header::HeaderValue;
use std::fs;
use std::path::{Path, PathBuf};

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
    Authenticator::Oauth(Box::new(Oauth::new(settings, Box::new(source)).unwrap()))
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
    let who = |name: &str| oauth.check(&with(&format!("Bearer {}", case(name).1)), NOW).unwrap();
    assert_eq!(who("es256"), who("rs256"));
    assert_ne!(who("es256"), who("another_client_of_the_same_user"));
    assert_ne!(who("es256"), who("another_user"));
}

#[test]
fn who_is_refused_learns_where_to_get_a_token() {
    let oauth = oauth();
    let refused = oauth.check(&HeaderMap::new(), NOW).unwrap_err();
    assert_eq!(refused, Refused::Missing);
    let metadata = "http://127.0.0.1/.well-known/oauth-protected-resource/mcp";
    let told = format!("Bearer realm=\"lazaret\", resource_metadata=\"{metadata}\", scope=\"mcp\"");
    assert_eq!(oauth.challenge(&refused), told);
    let short = oauth.check(&with(&format!("Bearer {}", case("without_the_scope").1)), NOW);
    let refused = short.unwrap_err();
    assert_eq!(refused, Refused::Scope("mcp".to_owned()));
    assert!(oauth.challenge(&refused).contains("error=\"insufficient_scope\""));
    let told: serde_json::Value = serde_json::from_str(&oauth.metadata().unwrap()).unwrap();
    assert_eq!(told["resource"], AUDIENCE);
    assert_eq!(told["authorization_servers"][0], ISSUER);
}

#[test]
fn the_field_is_one_bearer_token_and_nothing_else() {
    let text = LocalToken::random_text().unwrap();
    let local = Authenticator::Local(LocalToken::parse(&text).unwrap());
    assert!(local.check(&with(&format!("Bearer {text}")), NOW).is_ok());
    assert!(local.check(&with(&format!("bearer {text}")), NOW).is_ok());
    let other = LocalToken::random_text().unwrap();
    for wrong in [
        format!("Bearer {other}"),
        format!("Basic {text}"),
        text.clone(),
        "Bearer ".to_owned(),
        format!("Bearer {text} {text}"),
        format!("Bearer {}", text.to_uppercase()),
        format!("Bearer {}", "x".repeat(20_000)),
    ] {
        let refused = local.check(&with(&wrong), NOW);
        assert!(matches!(refused, Err(Refused::Invalid(_))), "{wrong}");
    }
    let mut twice = with(&format!("Bearer {text}"));
    twice.append(AUTHORIZATION, HeaderValue::from_str(&format!("Bearer {text}")).unwrap());
    assert!(local.check(&twice, NOW).is_err());
    for unfit in ["", "short", &"g".repeat(64), &"A".repeat(64)] {
        assert!(LocalToken::parse(unfit).is_err(), "{unfit}");
    }
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
