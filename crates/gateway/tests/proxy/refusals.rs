//! What is refused, and how that is told.

use egress::Rules;
use hyper::Method;
use scan::net::Domains;

use crate::origin::{Origin, Says};
use crate::support::{Rig, Setting, refused};

async fn rule(rig: &Rig, line: &str) -> String {
    refused(&rig.ask(line, "").await, 403)
}

/// Asks for a host in both ways.
async fn both(rig: &Rig, host: &str) -> [String; 2] {
    let plain = rule(rig, &format!("GET http://{host}/")).await;
    [plain, rule(rig, &format!("CONNECT {host}:443")).await]
}

#[tokio::test]
async fn what_leads_inside_is_refused_in_every_spelling() {
    let mut setting = Setting::to(&[]);
    setting.rules = Rules::default();
    let rig = setting.start().await;
    for host in [
        "127.0.0.1",
        "127.1",
        "0x7f000001",
        "2130706433",
        "017700000001",
        "10.0.0.1",
        "192.168.1.1",
        "172.16.3.4",
        "169.254.169.254",
        "0.0.0.0",
        "[::1]",
        "[::ffff:10.0.0.1]",
        "[64:ff9b::a00:1]",
        "[fe80::1]",
        "[fd00::1]",
        "localhost",
        "localhost.",
        "router",
        "metadata.google.internal",
        "instance-data.ec2.internal",
        "printer.local",
        "127.0.0.1.nip.io",
    ] {
        for rule in both(&rig, host).await {
            assert!(rule.starts_with("net-"), "{host}: {rule}");
        }
    }
    assert_eq!(rig.events(44).await.len(), 44, "each refusal is on record");
}

#[tokio::test]
async fn a_name_is_judged_by_all_of_its_addresses() {
    let mut setting = Setting::to(&[]);
    setting.rules = Rules::default();
    setting.names = vec![
        ("inside.example", vec![vec!["10.1.2.3"]]),
        ("mixed.example", vec![vec!["93.184.216.34", "192.168.0.1"]]),
        ("own.example", vec![vec!["127.0.0.1"]]),
        ("six.example", vec![vec!["fd00::1"]]),
        ("nowhere.example", vec![vec![]]),
    ];
    let rig = setting.start().await;
    for host in ["inside.example", "mixed.example", "own.example", "six.example", "nowhere.example"]
    {
        for rule in both(&rig, host).await {
            assert!(rule.starts_with("net-"), "{host}: {rule}");
        }
    }
}

/// An entry means https at its own port, unless it says otherwise.
const ALLOWED: &[&str] = &[
    "*.good.example",
    "http://good.example",
    "http://good.example:25",
    "http://good.example:8080",
    "good.example:8443",
    "good.example:22",
    "good.example:80",
    "good.example:5432",
    "good.example:65535",
    "http://*.webhook.site",
];

#[tokio::test]
async fn domains_and_ports_have_rules() {
    let mut setting = Setting::to(&[]);
    setting.rules = Rules {
        allow: vec![Domains::parse(ALLOWED).unwrap()],
        block: Domains::parse(&["bad.good.example"]).unwrap(),
        ..Rules::default()
    };
    setting.names = vec![("good.example", vec![vec!["10.1.1.1"]])];
    let rig = setting.start().await;
    assert_eq!(both(&rig, "other.example").await, ["net-not-allowed"; 2]);
    assert_eq!(rule(&rig, "GET http://sub.good.example/").await, "net-not-allowed");
    assert_eq!(both(&rig, "bad.good.example").await, ["egress-blocked"; 2]);
    // The gate itself knows these.
    assert_eq!(both(&rig, "webhook.site").await, ["net-deny-egress"; 2]);
    let events = rig.events(7).await;
    for event in events.iter().filter(|it| it["host"] == "webhook.site") {
        assert_eq!(event["decision"], "deny", "{event}");
        assert_eq!(event["rule"], "net-deny-egress", "{event}");
    }
    assert_eq!(events.iter().filter(|it| it["host"] == "webhook.site").count(), 2);
    assert_eq!(rule(&rig, "GET http://good.example:25/").await, "egress-port");
    for port in [22, 25, 80, 8080, 5432, 65535] {
        let line = format!("CONNECT good.example:{port}");
        assert_eq!(rule(&rig, &line).await, "egress-port", "{port}");
    }
    // These get as far as the addresses.
    for line in ["GET http://good.example:8080/", "CONNECT good.example:443"] {
        assert_eq!(rule(&rig, line).await, "net-v4-private", "{line}");
    }
    assert_eq!(rule(&rig, "CONNECT good.example:8443").await, "net-v4-private");
}

#[tokio::test]
async fn what_is_no_request_for_a_proxy_is_refused() {
    let origin = Origin::plain(Says::Echo).await;
    let rig = Setting::to(&[&origin]).start().await;
    let port = origin.port;
    for (line, status, wanted) in [
        ("GET /index.html".to_owned(), 400, "proxy-request"),
        ("OPTIONS *".to_owned(), 400, "proxy-request"),
        ("CONNECT origin.example".to_owned(), 400, "proxy-request"),
        ("CONNECT origin.example:".to_owned(), 400, "proxy-request"),
        (format!("CONNECT me:word@origin.example:{port}"), 403, "net-userinfo"),
        (format!("CONNECT good.example@origin.example:{port}"), 403, "net-userinfo"),
        ("CONNECT origin.example:0".to_owned(), 403, "net-port"),
        (format!("GET http://me:word@origin.example:{port}/"), 403, "net-userinfo"),
        (format!("GET https://origin.example:{port}/"), 403, "egress-proxy"),
        (format!("GET ftp://origin.example:{port}/"), 403, "net-scheme"),
        (format!("GET gopher://origin.example:{port}/"), 403, "net-scheme"),
    ] {
        let answer = rig.ask(&line, "").await;
        assert_eq!(refused(&answer, status), wanted, "{line}");
    }
    assert!(origin.seen().is_empty());
    assert!(!find(&rig.kept(), b"word@"), "a password of a URL is not recorded");
}

pub(crate) fn find(all: &[u8], wanted: &[u8]) -> bool {
    all.windows(wanted.len()).any(|it| it == wanted)
}

#[tokio::test]
async fn a_server_that_is_not_there_is_no_refusal() {
    let origin = Origin::plain(Says::Bytes(b"HTTP/1.1 200 OK\r\ncontent-le")).await;
    let rig = Setting::to(&[&origin]).start().await;
    for line in [
        format!("GET http://unknown.example:{}/", origin.port),
        format!("GET http://origin.example:{}/", origin.port),
    ] {
        let answer = rig.ask(&line, "").await;
        assert!(answer.starts_with("HTTP/1.1 502 "), "{answer}");
        assert!(answer.contains("\"error\":\"failed\""), "{answer}");
        assert!(
            answer.contains("proxy-status: lazaret; error=destination_unavailable"),
            "{answer}"
        );
        assert!(answer.contains("\"decision\":\"allow\""), "{answer}");
        assert!(!answer.contains("x-lazaret-refusal"), "it was not refused: {answer}");
    }
}

#[tokio::test]
async fn only_methods_that_are_allowed_pass_and_a_tunnel_hides_them() {
    let origin = Origin::plain(Says::Echo).await;
    let at = format!("origin.example:{}", origin.port);
    let mut setting = Setting::to(&[&origin]);
    setting.rules.methods = Some(vec![Method::GET, Method::HEAD]);
    let rig = setting.start().await;
    for method in ["POST", "DELETE", "get", "GETX", "OPTIONS"] {
        assert_eq!(rule(&rig, &format!("{method} http://{at}/")).await, "egress-method");
    }
    assert_eq!(rule(&rig, &format!("CONNECT {at}")).await, "egress-method");
    assert!(origin.seen().is_empty(), "nobody was dialled");
    let answer = rig.ask(&format!("GET http://{at}/"), "").await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");

    let mut setting = Setting::to(&[&origin]);
    setting.rules.methods = Some(vec![Method::CONNECT]);
    let rig = setting.start().await;
    assert_eq!(rule(&rig, &format!("GET http://{at}/")).await, "egress-method");
    drop(rig.tunnel(&at).await);
}
