//! Header fields: which a caller may set, and which go on.

use monitor::Status;
use serde_json::json;

use crate::origin::{Origin, field, html, redirect};
use crate::world::{Names, Plan};

/// What a caller may want to tell one origin and nobody else.
const KEYS: &[&str] = &[
    "authorization",
    "cookie",
    "x-api-key",
    "x-auth-token",
    "x-subscription-token",
    "referer",
    "x-amz-security-token",
    "private-token",
];

#[test]
fn fields_of_a_caller_are_sent() {
    let origin = Origin::paths(|_| html("ok"));
    let world = Plan::new(Names::here(&["a.example"]), &[origin.port]).open();
    let url = origin.url("a.example", "/");
    let headers = json!({ "Accept": "text/plain", "X-Api-Key": "k", "User-Agent": "me" });
    world.act(&json!({ "action": "web_fetch", "url": url, "headers": headers })).page();
    let head = &origin.heads()[0];
    for (name, value) in [("accept", "text/plain"), ("x-api-key", "k"), ("user-agent", "me")] {
        assert_eq!(field(head, name), Some(value), "{head}");
    }
}

#[test]
fn fields_that_are_not_for_callers_are_refused() {
    let origin = Origin::paths(|_| html("ok"));
    let world = Plan::new(Names::here(&["a.example"]), &[origin.port]).open();
    for name in [
        "Host",
        "HOST",
        "X-Forwarded-For",
        "X_Forwarded_For",
        "x-forwarded-host",
        "Forwarded",
        "Via",
        "X-Real-IP",
        "True-Client-IP",
        "CF-Connecting-IP",
        "Metadata-Flavor",
        "Metadata",
        "X-aws-ec2-metadata-token",
        "X-Google-Metadata-Request",
        "X-aliyun-ecs-metadata-token",
        "X-IDENTITY-HEADER",
        "Proxy-Authorization",
        "Proxy-Connection",
        "Transfer-Encoding",
        "Transfer_Encoding",
        "Content-Length",
        "Connection",
        "Keep-Alive",
        "TE",
        "Trailer",
        "Upgrade",
        "HTTP2-Settings",
        "Expect",
        "Accept-Encoding",
        "Sec-Fetch-Site",
        "X-HTTP-Method-Override",
        "X-Original-URL",
        "X-Rewrite-URL",
    ] {
        let url = origin.url("a.example", "/");
        let message = json!({ "action": "web_fetch", "url": url, "headers": { name: "x" } });
        let got = world.act(&message);
        assert_eq!(got.delivered.output.status, Status::NotBegun, "{name}");
        assert!(got.text().contains("egress-header"), "{name}: {}", got.text());
    }
    assert_eq!(origin.connections(), 0);
}

#[test]
fn keys_stay_with_their_origin() {
    let (first, other) = (std::sync::OnceLock::new(), std::sync::OnceLock::new());
    let places = std::sync::Arc::new((first, other));
    let at = std::sync::Arc::clone(&places);
    let origin = Origin::paths(move |path| {
        let (first, other): &(std::sync::OnceLock<u16>, std::sync::OnceLock<u16>) = &at;
        let (first, other) = (first.get().unwrap(), other.get().unwrap());
        match path {
            "/same" => redirect(302, "/here"),
            "/host" => redirect(307, &format!("http://b.example:{first}/here")),
            "/port" => redirect(308, &format!("http://a.example:{other}/here")),
            "/back" => redirect(302, &format!("http://b.example:{first}/again")),
            "/again" => redirect(302, &format!("http://a.example:{first}/here")),
            other => html(other),
        }
    });
    let second = Origin::paths(html);
    places.0.set(origin.port).unwrap();
    places.1.set(second.port).unwrap();
    let names = Names::here(&["a.example", "b.example"]);
    let world = Plan::new(names, &[origin.port, second.port]).open();
    let mut headers: serde_json::Map<_, _> =
        KEYS.iter().map(|it| ((*it).to_owned(), json!("sesame"))).collect();
    headers.insert("Accept-Language".to_owned(), json!("de"));
    for (path, kept) in [("/same", true), ("/host", false), ("/port", false), ("/back", false)] {
        let url = origin.url("a.example", path);
        world.act(&json!({ "action": "web_fetch", "url": url, "headers": headers })).page();
        let mut heads = origin.heads();
        heads.extend(if path == "/port" { second.heads() } else { Vec::new() });
        let last = heads.last().unwrap();
        assert!(last.starts_with("GET /here"), "{last}");
        assert_eq!(last.matches("sesame").count(), if kept { KEYS.len() } else { 0 }, "{last}");
        assert_eq!(field(last, "accept-language"), Some("de"), "{last}");
    }
    assert!(world.events().iter().all(|it| !it.to_string().contains("sesame")));
}
