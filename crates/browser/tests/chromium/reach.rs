//! A page that tries to reach the inside of the network by every means that a page has.
//!
//! Each file of `corpus/browser/reach` is one means. A page holds them all, each in a frame. First it
//! is shown that the means work: where their targets are open, they reach them. Then the same page tries names and
//! addresses that lead inside: nobody is reached, and the journal has the refusals.

use std::collections::HashMap;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::{Rig, Server, html, until};

/// What a means does where nothing stops it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expect {
    /// It asks the proxy for a page.
    Request,
    /// It asks the proxy for a tunnel.
    Tunnel,
    /// The browser does not even try.
    Nothing,
}

struct Means {
    name: String,
    page: String,
    expect: Expect,
    target: Server,
}

fn means() -> Vec<Means> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/browser/reach");
    let mut found: Vec<Means> = Vec::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let page = std::fs::read_to_string(&path).unwrap();
        let expect = match page.lines().next().unwrap() {
            "<!-- expect: request -->" => Expect::Request,
            "<!-- expect: tunnel -->" => Expect::Tunnel,
            "<!-- expect: nothing -->" => Expect::Nothing,
            other => panic!("{}: {other}", path.display()),
        };
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        found.push(Means { name, page, expect, target: Server::new(HashMap::new()) });
    }
    assert!(found.len() > 60, "{}", found.len());
    found.sort_by(|one, two| one.name.cmp(&two.name));
    found
}

/// A server whose first page holds all means, aimed at `host`.
fn attacker(means: &[Means], host: &str) -> Server {
    let mut pages = HashMap::new();
    let mut frames = String::from("<!doctype html><title>All</title>");
    for it in means {
        let port = it.target.port;
        let target = format!("http://{host}:{port}");
        let page = it
            .page
            .replace("{{target}}", &target)
            .replace("{{redirect}}", &format!("/to/{}", it.name))
            .replace("{{https}}", &format!("https://{host}:{port}"))
            .replace("{{wss}}", &format!("wss://{host}:{port}"))
            .replace("{{ws}}", &format!("ws://{host}:{port}"))
            .replace("{{host}}", host)
            .replace("{{port}}", &port.to_string());
        assert!(!page.contains("{{"), "{}", it.name);
        let (path, page) = html(&format!("/{}", it.name), &page);
        pages.insert(path, page);
        let to = format!("location: {target}/x\r\n");
        pages.insert(format!("/to/{}", it.name), (to, String::new()));
        frames.push_str(&format!("<iframe src=/{}></iframe>", it.name));
    }
    pages.extend([html("/", &frames)]);
    Server::new(pages)
}

/// Waits until all means that do something have done it.
fn until_all(means: &[Means], mut done: impl FnMut(&Means) -> bool) {
    let mut left: Vec<&Means> = means.iter().filter(|it| it.expect != Expect::Nothing).collect();
    let begun = Instant::now();
    while !left.is_empty() {
        left.retain(|it| !done(it));
        let names: Vec<&str> = left.iter().map(|it| it.name.as_str()).collect();
        assert!(begun.elapsed() < Duration::from_secs(30), "not seen: {names:?}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

fn is_refused(events: &[Value], port: u16) -> bool {
    let asked = || events.iter().filter(|it| it["port"] == port);
    assert!(asked().all(|it| it["decision"] == "deny"), "{:?}", asked().collect::<Vec<_>>());
    asked().next().is_some()
}

#[test]
fn no_means_of_a_page_leads_inside() {
    let means = means();
    let ports: Vec<u16> = means.iter().map(|it| it.target.port).collect();

    // Where they are open, targets are reached: each of these means works.
    let server = attacker(&means, "other.example");
    let mut open = ports.clone();
    open.push(server.port);
    let rig = Rig::new(&open, &[]);
    rig.go(&rig.launch(), &server.url("/"));
    until_all(&means, |it| it.target.is_reached());
    for it in means.iter().filter(|it| it.expect == Expect::Nothing) {
        assert!(!it.target.is_reached(), "{}: {:?}", it.name, it.target.seen());
    }
    drop(rig);

    // The same names lead to ports of this machine that are not open. The same page again, and one that
    // writes the address down.
    let means = self::means();
    let by_name = attacker(&means, "other.example");
    let by_address = attacker(&means, "127.0.0.1");
    let ports: Vec<u16> = means.iter().map(|it| it.target.port).collect();
    let rig = Rig::new(&[by_name.port, by_address.port], &ports);
    let session = &rig.launch();
    rig.go(session, &by_name.url("/"));
    let mut events = rig.events();
    until_all(&means, |it| {
        is_refused(&events, it.target.port) || {
            events = rig.events();
            is_refused(&events, it.target.port)
        }
    });
    rig.go(session, &by_address.url("/"));
    // Each frame was loaded; what it does it does at once.
    std::thread::sleep(Duration::from_secs(3));
    for it in &means {
        assert!(!it.target.is_reached(), "{}: {:?}", it.name, it.target.seen());
    }
    let events = rig.events();
    for it in means.iter().filter(|it| it.expect == Expect::Nothing) {
        assert!(!is_refused(&events, it.target.port), "{}: the browser tried", it.name);
    }
    // The browser goes on after all that.
    rig.go(session, &by_name.url("/nothing"));
}

#[test]
fn no_spelling_of_an_address_leads_inside() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/browser/spellings.txt");
    let text = std::fs::read_to_string(path).unwrap();
    let target = Server::new(HashMap::new());
    let mut page = String::from("<!doctype html><title>Spellings</title>");
    for line in text.lines() {
        let url = line.replace("{{port}}", &target.port.to_string());
        let script = serde_json::json!(url);
        page.push_str(&format!(
            "<img src=\"{url}i\"><iframe src=\"{url}f\"></iframe><script>
             try {{ new WebSocket({script}.replace('http', 'ws')) }} catch {{}}
             try {{ fetch({script}, {{ mode: 'no-cors' }}).catch(() => 0) }} catch {{}}</script>"
        ));
    }
    let server = Server::of(&page);
    let rig = Rig::new(&[server.port], &[target.port]);
    let session = &rig.launch();
    rig.go(session, &server.url("/"));
    until("refusals", || is_refused(&rig.events(), target.port));
    std::thread::sleep(Duration::from_secs(2));
    assert!(!target.is_reached(), "{:?}", target.seen());
    for event in rig.events().iter().filter(|it| it["port"] == target.port) {
        let rule = event["rule"].as_str().unwrap();
        assert!(rule.starts_with("net-"), "{event}");
    }
    // The agent itself gets no further than its pages.
    for line in text.lines().filter(|it| it.starts_with("http")) {
        let url = line.replace("{{port}}", &target.port.to_string());
        let message =
            serde_json::json!({ "action": "browser_navigate", "session": session, "url": url });
        assert!(rig.is_stopped(&message), "{url}");
    }
    assert!(!target.is_reached(), "{:?}", target.seen());
}
