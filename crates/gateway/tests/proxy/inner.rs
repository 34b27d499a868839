//! Hosts of the inner network that the operator opens, for programs.

use egress::Signs;
use scan::net::Domains;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::origin::{Origin, Says};
use crate::support::{Setting, refused};

fn opened(host: &str, port: u16) -> String {
    format!("{{host: {host}, port: {port}, addresses: [127.0.0.1]}}")
}

#[tokio::test]
async fn a_program_reaches_what_is_open_by_a_tunnel_and_by_a_request() {
    let origin = Origin::plain(Says::Echo).await;
    let mut setting = Setting::opening(&[opened("db.corp", origin.port)]);
    setting.names = vec![("db.corp", vec![vec!["127.0.0.1"]])];
    setting.rules.signs = Signs::Refused;
    let rig = setting.start().await;
    let port = origin.port;
    let answer = rig.ask(&format!("GET http://db.corp:{port}/x"), "").await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    let mut tunnel = rig.tunnel(&format!("db.corp:{port}")).await;
    tunnel
        .write_all(b"GET / HTTP/1.1\r\nhost: db.corp\r\nconnection: close\r\n\r\n")
        .await
        .unwrap();
    let mut heard = [0; 12];
    tunnel.read_exact(&mut heard).await.unwrap();
    assert_eq!(&heard, b"HTTP/1.1 200");
    drop(tunnel);
    let events = rig.events(2).await;
    for event in &events {
        assert_eq!(event["opened_by"], "operator", "{event}");
        assert_eq!(event["address"], "127.0.0.1", "{event}");
    }
}

#[tokio::test]
async fn nothing_else_is_open_by_that() {
    let origin = Origin::plain(Says::Nothing).await;
    let port = origin.port;
    let hosts = ["db.corp", "moved.corp", "narrow.corp"].map(|it| opened(it, port));
    let mut setting = Setting::opening(&hosts);
    setting.names = vec![
        ("db.corp", vec![vec!["127.0.0.1"]]),
        ("other.example", vec![vec!["127.0.0.1"]]),
        ("moved.corp", vec![vec!["127.0.0.1", "127.0.0.9"]]),
        ("narrow.corp", vec![vec!["127.0.0.1"]]),
    ];
    setting.rules.block = Domains::parse(&["narrow.corp"]).unwrap();
    let rig = setting.start().await;
    for (place, rule) in [
        (format!("other.example:{port}"), "net-v4-loopback"),
        (format!("127.0.0.1:{port}"), "net-v4-loopback"),
        (format!("other.corp:{port}"), "net-name-inside"),
        ("db.corp:80".to_owned(), "net-name-inside"),
        (format!("moved.corp:{port}"), "egress-inner"),
        (format!("narrow.corp:{port}"), "egress-blocked"),
    ] {
        let plain = refused(&rig.ask(&format!("GET http://{place}/"), "").await, 403);
        assert_eq!(plain, rule, "{place}");
        let tunnel = refused(&rig.ask(&format!("CONNECT {place}"), "").await, 403);
        let port_first = tunnel == "egress-port" && place.starts_with("other.example");
        assert!(tunnel == rule || port_first, "{place}: {tunnel}");
    }
    assert_eq!(
        rig.table.lookups.load(std::sync::atomic::Ordering::SeqCst),
        2,
        "two names were looked at, once"
    );
}
