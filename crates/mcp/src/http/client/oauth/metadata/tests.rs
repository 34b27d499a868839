//! Documents that are believed, and those that are not.

use super::*;
use crate::http::client::oauth::Fetched;
use serde_json::{Value, json};
use std::collections::HashMap;
use zeroize::Zeroizing;

/// Documents by their address; everything else is not there.
struct Documents(HashMap<String, Value>);

impl Fetch for Documents {
    fn get(&self, url: &Url) -> Result<Fetched, String> {
        let found = self.0.get(url.as_str());
        let body = found.map(|it| it.to_string().into_bytes()).unwrap_or_default();
        let status = if found.is_some() { 200 } else { 404 };
        Ok(Fetched { status, body: Zeroizing::new(body) })
    }

    fn post(&self, _: &Url, _: &str, _: Zeroizing<String>) -> Result<Fetched, String> {
        Err("nothing is posted while it is found out".to_owned())
    }
}

const ENDPOINT: &str = "https://a.example/team/mcp";
const ISSUER: &str = "https://login.example/tenant";

fn issuer_document(issuer: &str) -> Value {
    json!({
        "issuer": issuer,
        "authorization_endpoint": "https://login.example/tenant/authorize",
        "token_endpoint": "https://login.example/tenant/token",
        "code_challenge_methods_supported": ["S256"],
    })
}

fn found(documents: &[(&str, Value)], challenge: &Challenge) -> Result<Discovered, DiscoveryError> {
    let all = documents.iter().map(|(url, value)| ((*url).to_owned(), value.clone())).collect();
    discover(&Documents(all), &Url::parse(ENDPOINT).unwrap(), challenge)
}

const RESOURCE_AT: &str = "https://a.example/.well-known/oauth-protected-resource/team/mcp";
const ISSUER_AT: &str = "https://login.example/.well-known/oauth-authorization-server/tenant";

fn resource_document(resource: &str) -> Value {
    json!({ "resource": resource, "authorization_servers": [ISSUER], "scopes_supported": ["r", "w"] })
}

#[test]
fn the_server_names_its_issuer_and_the_issuer_its_endpoints() {
    let challenge = Challenge::default();
    for at in [
        ISSUER_AT,
        "https://login.example/.well-known/openid-configuration/tenant",
        "https://login.example/tenant/.well-known/openid-configuration",
    ] {
        for resource in [ENDPOINT, "https://a.example/team", "https://a.example"] {
            let documents =
                [(RESOURCE_AT, resource_document(resource)), (at, issuer_document(ISSUER))];
            let found = found(&documents, &challenge).unwrap();
            assert_eq!((found.resource.as_str(), found.scope.as_deref()), (resource, Some("r w")));
            assert_eq!(found.issuer.name, ISSUER);
        }
    }
    let root = "https://a.example/.well-known/oauth-protected-resource";
    let documents = [(root, resource_document(ENDPOINT)), (ISSUER_AT, issuer_document(ISSUER))];
    let wanted = Challenge { scope: Some("r".to_owned()), ..challenge };
    assert_eq!(found(&documents, &wanted).unwrap().scope.as_deref(), Some("r"));
}

#[test]
fn documents_about_something_else_are_not_believed() {
    let challenge = Challenge::default();
    for resource in
        ["https://b.example/team/mcp", "https://a.example/tea", "https://a.example/team/mcp/x", "x"]
    {
        let documents =
            [(RESOURCE_AT, resource_document(resource)), (ISSUER_AT, issuer_document(ISSUER))];
        let error = found(&documents, &challenge).unwrap_err();
        assert!(matches!(error, DiscoveryError::OtherResource(_)), "{resource}: {error}");
    }
    for issuer in
        ["https://login.example/tenant/", "https://evil.example", "https://LOGIN.example/tenant"]
    {
        let documents =
            [(RESOURCE_AT, resource_document(ENDPOINT)), (ISSUER_AT, issuer_document(issuer))];
        let error = found(&documents, &challenge).unwrap_err();
        assert!(matches!(error, DiscoveryError::OtherIssuer { .. }), "{issuer}: {error}");
    }
    let elsewhere = Challenge {
        resource_metadata: Some(
            "https://evil.example/.well-known/oauth-protected-resource".to_owned(),
        ),
        ..Challenge::default()
    };
    let error = found(&[], &elsewhere).unwrap_err();
    assert!(matches!(error, DiscoveryError::ResourceElsewhere(_)), "{error}");
}

#[test]
fn issuers_without_tls_or_pkce_are_not_used() {
    let challenge = Challenge::default();
    let mut plain = issuer_document(ISSUER);
    plain["code_challenge_methods_supported"] = json!(["plain"]);
    let documents = [(RESOURCE_AT, resource_document(ENDPOINT)), (ISSUER_AT, plain)];
    let error = found(&documents, &challenge).unwrap_err();
    assert!(matches!(error, DiscoveryError::NoPkce(_)), "{error}");
    for endpoint in [
        "javascript:alert(1)",
        "http://login.example/token",
        "file:///etc/passwd",
        "https://u:p@h.example/",
    ] {
        let mut open = issuer_document(ISSUER);
        open["token_endpoint"] = json!(endpoint);
        let documents = [(RESOURCE_AT, resource_document(ENDPOINT)), (ISSUER_AT, open)];
        let error = found(&documents, &challenge).unwrap_err();
        assert!(matches!(error, DiscoveryError::NoIssuerMetadata { .. }), "{endpoint}: {error}");
    }
    let mut named = resource_document(ENDPOINT);
    named["authorization_servers"] = json!(["http://login.example", "https://login.example/?x=1"]);
    let error = found(&[(RESOURCE_AT, named)], &challenge).unwrap_err();
    assert!(matches!(error, DiscoveryError::NoIssuer), "{error}");
}
