//! The surface: every request of the corpus, and more of the kind.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::http::raw;
use crate::messages::corpus;
use crate::world::{ANN, ROOT, World, users};

#[test]
fn requests_of_the_corpus() {
    let world = World::wide();
    let mut seen = 0;
    for case in corpus("http_surface_required") {
        let (name, input) = (case["name"].as_str().unwrap(), &case["input"]);
        let (Some(method), Some(path)) = (input["method"].as_str(), input["path"].as_str()) else {
            continue;
        };
        seen += 1;
        let mut head: Vec<(&str, &str)> = Vec::new();
        for (name, value) in input["headers"].as_object().into_iter().flatten() {
            head.push((name, value.as_str().unwrap()));
        }
        let body = input.get("body").map(ToString::to_string).unwrap_or_default();
        let body = body.replace(
            '{',
            "{\"model\":\"main\",\"messages\":[{\"role\":\"user\",\"content\":\"x\"}],",
        );
        // A path with a letter outside of ASCII cannot be sent.
        let path = path.replace('…', "x");
        // What is to be refused for another reason than the token has a good one.
        let token = (!name.contains("no Auth") && !name.contains("without auth")).then_some(ANN);
        let answer = world.request((method, &path), token, &head, &body);
        let expected = case["expected"].as_str().unwrap();
        let status = answer.status.to_string();
        // Where the corpus names a route that is not there, nothing is there.
        let is_absent = answer.status == 404 && !path.starts_with("/v1/chat");
        assert!(expected.contains(&status) || is_absent, "{name}: {} {}", status, answer.body);
    }
    assert!(seen >= 10, "{seen}");
}

#[test]
fn names_pages_and_paths() {
    let config =
        "serve: {allowedOrigins: [\"https://app.example\"], allowedHosts: [agents.example]}\n";
    let world = World::with(config, &users("unlimited"));
    let status = |more: &[(&str, &str)]| world.request(("GET", "/health"), None, more, "").status;
    assert_eq!(status(&[]), 200);
    assert_eq!(status(&[("Host", "evil.example")]), 421);
    assert_eq!(status(&[("Host", "evil.example:7717")]), 421);
    assert_eq!(status(&[("Host", "127.0.0.1.evil.example")]), 421);
    assert_eq!(status(&[("Host", "AGENTS.example")]), 200);
    assert_eq!(status(&[("Origin", "https://app.example")]), 200);
    // What a page of another site fetches without saying which it is.
    let foreign = ("Sec-Fetch-Site", "cross-site");
    assert_eq!(status(&[foreign, ("Sec-Fetch-Dest", "image")]), 403);
    assert_eq!(status(&[foreign]), 403);
    assert_eq!(status(&[foreign, ("Sec-Fetch-Dest", "document")]), 200);
    assert_eq!(status(&[foreign, ("Origin", "https://app.example")]), 200);
    assert_eq!(status(&[("Sec-Fetch-Site", "same-origin")]), 200);
    for origin in ["https://evil.example", "null", "https://app.example.evil", "http://app.example"]
    {
        assert_eq!(status(&[("Origin", origin)]), 403, "{origin}");
        let bearer = format!("Bearer {ANN}");
        let head = [("Origin", origin), ("Authorization", bearer.as_str())];
        assert_eq!(world.socket_with("/ws", &head).err(), Some(403));
    }
    for path in ["/api/..%2fx", "/api/../health", "/api//agents", "/api/%00", "/a\\b", "/%2e%2e/x"]
    {
        assert_eq!(world.get(path, None).status, 400, "{path}");
    }
    assert_eq!(world.get("/api/nothing", Some(ANN)).status, 404);
    assert_eq!(world.post("/health", None, "").status, 405);
    // Two names, two tokens, or another name in the line: refused.
    let address = world.address;
    let twice = format!(
        "GET /health HTTP/1.1\r\nHost: {address}\r\nHost: evil\r\nConnection: close\r\n\r\n"
    );
    assert_eq!(raw(address, twice.as_bytes()).status, 400);
    let absolute = format!(
        "GET http://evil.example/health HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n"
    );
    assert_eq!(raw(address, absolute.as_bytes()).status, 421);
    let head = world.get("/health", None).head.to_lowercase();
    for wanted in ["nosniff", "no-store", "default-src 'none'"] {
        assert!(head.contains(wanted), "{head}");
    }
    assert!(!head.contains("access-control"));
}

#[test]
fn long_and_slow_bodies() {
    let world = World::wide();
    let long = "x".repeat((1 << 20) + 1);
    assert_eq!(world.post("/v1/chat/completions", Some(ANN), &long).status, 413);
    let head = format!(
        "POST /api/sessions HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {ANN}\r\nContent-Length: 10\r\n\r\n{{",
        world.address
    );
    let began = Instant::now();
    let answer = raw(world.address, head.as_bytes());
    assert_eq!(answer.status, 408, "{answer:?}");
    assert!(began.elapsed() > Duration::from_secs(25));
}

#[test]
fn a_head_that_never_ends_is_cut_off() {
    let world = World::wide();
    let mut stream = TcpStream::connect(world.address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    stream.write_all(b"GET /health HTTP/1.1\r\nX: ").unwrap();
    let began = Instant::now();
    let mut rest = Vec::new();
    let _ = stream.read_to_end(&mut rest);
    let took = began.elapsed();
    assert!((Duration::from_secs(8)..Duration::from_secs(20)).contains(&took), "{took:?}");
}

#[test]
fn health_for_everybody_and_more_for_some() {
    let world = World::wide();
    let health = world.get("/health", None).json();
    assert_eq!(health["status"], "ok");
    assert_eq!(world.get("/health/deep", None).status, 401);
    assert_eq!(world.get("/health/deep", Some(ANN)).status, 403);
    let deep = world.get("/health/deep", Some(ROOT)).json();
    // Nobody has chosen a model.
    assert_eq!(
        (deep["status"].as_str(), deep["workers"]["max"].as_u64()),
        (Some("degraded"), Some(64))
    );
    let metrics = world.get("/metrics", None);
    assert_eq!(metrics.status, 200);
    assert!(
        metrics.body.contains("lazaret_serve_requests_total{route=\"Health\",class=\"Success\"} 2"),
        "{}",
        metrics.body
    );
    assert!(!metrics.body.contains("ann"));
}
