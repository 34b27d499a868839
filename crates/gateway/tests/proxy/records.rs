//! What is recorded, when, and what never is.

use std::fs::File;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use evidence::{Disk, Durability, RealDisk};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::origin::{Origin, Says};
use crate::refusals::find;
use crate::support::{Setting, content, refused, request, secret, until};

const QUERY: &str = "q=SECRETQUERY4711";
const BODY: &str = "SECRETBODY4712";
const COOKIE: &str = "SECRETCOOKIE4713";

#[tokio::test]
async fn a_request_is_recorded_without_what_is_secret() {
    let origin = Origin::plain(Says::Echo).await;
    let rig = Setting::to(&[&origin]).start().await;
    let line = format!("POST http://origin.example:{}/way/in?{QUERY}", origin.port);
    let fields = format!("cookie: {COOKIE}\r\ncontent-length: {}\r\n", BODY.len());
    let answer = rig.raw(request(&line, &fields) + BODY).await;
    assert!(answer.contains(&format!("POST /way/in?{QUERY} HTTP/1.1 14 bytes")), "{answer}");
    let refused_line = format!("GET http://10.0.0.1/?{QUERY}");
    refused(&rig.ask(&refused_line, "").await, 403);

    let events = rig.events(2).await;
    let event = events.iter().find(|it| it["decision"] == "allow").unwrap();
    assert_eq!(event["address"], "127.0.0.1");
    assert_eq!(event["host"], "origin.example");
    assert_eq!(event["path"], "/way/in");
    assert_eq!(event["status"], 200);
    assert_eq!(event["sent_bytes"], BODY.len());
    assert!(event["received_bytes"].as_u64().unwrap() > 20, "{event}");
    assert!(event["took_ms"].is_u64());
    let correlations: Vec<&str> =
        events.iter().map(|it| it["correlation"].as_str().unwrap()).collect();
    assert!(correlations[0].len() == 16 && correlations[0] != correlations[1], "{correlations:?}");

    let kept = rig.kept();
    for secret in [QUERY, BODY, COOKIE, &secret()] {
        assert!(!find(&kept, secret.as_bytes()), "{secret} was recorded");
    }
    assert!(find(&kept, b"/way/in"), "the files were looked at");
}

#[tokio::test]
async fn a_tunnel_is_recorded_with_its_sizes() {
    let origin = Origin::plain(Says::Echo).await;
    let rig = Setting::to(&[&origin]).start().await;
    let mut tunnel = rig.tunnel(&format!("origin.example:{}", origin.port)).await;
    tunnel.write_all(format!("GET /in?{QUERY} HTTP/1.1\r\n\r\n").as_bytes()).await.unwrap();
    let mut answer = vec![0; 4096];
    let read = tunnel.read(&mut answer).await.unwrap();
    drop(tunnel);
    let event = &rig.events(1).await[0];
    assert_eq!(event["method"], "CONNECT");
    assert_eq!(event["port"], origin.port);
    assert_eq!(event["address"], "127.0.0.1");
    assert_eq!(event["sent_bytes"], 17 + 4 + QUERY.len());
    assert_eq!(event["received_bytes"], read);
    assert!(!find(&rig.kept(), QUERY.as_bytes()));
    let records = rig.records();
    let event = records.iter().find(|it| it["meta"]["kind"] == "egress").unwrap();
    let decision = event["parents"][0].as_str().unwrap();
    let decided = records.iter().find(|it| it["recordId"] == decision).unwrap();
    assert_eq!(content(decided)["tool"], "http_connect");
}

/// Sound until it is told otherwise.
#[derive(Default)]
struct Breaking(AtomicBool);

impl Breaking {
    fn check(&self) -> io::Result<()> {
        if self.0.load(Ordering::SeqCst) { Err(io::Error::from_raw_os_error(28)) } else { Ok(()) }
    }
}

impl Disk for Breaking {
    fn write_at(&self, file: &File, bytes: &[u8], offset: u64) -> io::Result<usize> {
        self.check()?;
        RealDisk.write_at(file, bytes, offset)
    }

    fn sync(&self, file: &File) -> io::Result<()> {
        self.check()?;
        RealDisk.sync(file)
    }
}

#[tokio::test]
async fn what_cannot_be_recorded_does_not_happen() {
    let origin = Origin::plain(Says::Echo).await;
    let disk = Arc::new(Breaking::default());
    let mut setting = Setting::to(&[&origin]);
    setting.disk = Arc::clone(&disk) as Arc<dyn Disk>;
    setting.durability = Durability::Synced;
    let rig = setting.start().await;
    let line = format!("GET http://origin.example:{}/", origin.port);
    assert!(rig.ask(&line, "").await.starts_with("HTTP/1.1 200"));
    disk.0.store(true, Ordering::SeqCst);
    for line in [line, format!("CONNECT origin.example:{}", origin.port)] {
        let answer = rig.ask(&line, "").await;
        assert_eq!(refused(&answer, 503), "not-recorded", "{answer}");
    }
    assert_eq!(origin.seen().len(), 1, "the second and the third reached nobody");
}

#[tokio::test]
async fn the_decision_is_recorded_before_the_server_sees_a_byte() {
    let origin = Origin::plain(Says::Nothing).await;
    let rig = Setting::to(&[&origin]).start().await;
    let line = format!("GET http://origin.example:{}/early", origin.port);
    let mut stream = rig.connect().await;
    stream.write_all(request(&line, "").as_bytes()).await.unwrap();
    until(|| origin.seen().iter().any(|it| !it.is_empty())).await;
    let decided = |it: &serde_json::Value| {
        content(it)["tool"] == "http_request" && content(it)["decision"] == "allow"
    };
    assert!(rig.records().iter().any(decided), "{:?}", rig.records());
}

#[tokio::test]
async fn a_program_that_leaves_early_costs_its_agent_nothing() {
    let silent = Origin::plain(Says::Nothing).await;
    let origin = Origin::plain(Says::Echo).await;
    let mut setting = Setting::to(&[&silent, &origin]);
    setting.limits.head = std::time::Duration::from_millis(300);
    let rig = setting.start().await;
    for line in ["GET http://origin.example:{}/", "CONNECT origin.example:{}"] {
        let mut stream = rig.connect().await;
        let line = line.replace("{}", &silent.port.to_string());
        stream.write_all(request(&line, "").as_bytes()).await.unwrap();
        drop(stream);
    }
    rig.events(2).await;
    let answer = rig.ask(&format!("GET http://origin.example:{}/", origin.port), "").await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(!find(&rig.kept(), b"abandoned"), "no call was lost");
}

#[tokio::test]
async fn those_who_have_no_account_are_counted() {
    let mut setting = Setting::to(&[]);
    setting.bounds.counted = std::time::Duration::from_secs(3);
    let rig = setting.start().await;
    let asked = "GET http://origin.example/ HTTP/1.1\r\nhost: a\r\n\r\n";
    for _ in 0..5 {
        assert_eq!(refused(&rig.raw(asked).await, 407), "proxy-account");
    }
    // The first at once, the others together, however they fell into the periods.
    let counted = |all: &[serde_json::Value]| -> u64 {
        all.iter().map(|it| it["count"].as_u64().unwrap()).sum()
    };
    let first = &rig.events(1).await[0];
    assert_eq!((&first["count"], &first["rule"]), (&1.into(), &"proxy-account".into()), "{first}");
    let mut events = Vec::new();
    while counted(&events) < 5 {
        events = rig.events(events.len() + 1).await;
    }
    assert_eq!(counted(&events), 5, "{events:?}");
    assert!(events.len() < 5, "{events:?}");
}

#[tokio::test]
async fn a_query_is_judged_and_not_recorded() {
    const DATA: &str = "QUtJQUlPU0ZPRE5ON0VYQU1QTEVBS0lBSU9TRk9ETk43RVhBTVBMRQ";
    let origin = Origin::plain(Says::Echo).await;
    let rig = Setting::to(&[&origin]).start().await;
    let decided = |rig: &crate::support::Rig| {
        let records = rig.records();
        let found = records.iter().rev().map(content).find(|it| it["tool"] == "http_request");
        found.unwrap()
    };
    for (query, suspicious) in [("page=2".to_owned(), false), (format!("d={DATA}"), true)] {
        let line = format!("GET http://origin.example:{}/?{query}", origin.port);
        let answer = rig.ask(&line, "").await;
        assert!(answer.contains(&query), "the server gets it as it is: {answer}");
        let facts = decided(&rig)["facts"].to_string();
        assert_eq!(facts.contains("exfiltration"), suspicious, "{facts}");
    }
    assert!(!find(&rig.kept(), &DATA.as_bytes()[..20]));
}

#[tokio::test]
async fn hosts_are_recorded_in_one_spelling() {
    let origin = Origin::plain(Says::Echo).await;
    let rig = Setting::to(&[&origin]).start().await;
    let port = origin.port;
    rig.ask(&format!("GET http://ORIGIN.example.:{port}/"), "").await;
    rig.ask("GET http://0x7f.1/", "").await;
    rig.ask("GET ftp://Origin.Example/", "").await;
    let events = rig.events(3).await;
    let found: Vec<_> = events
        .iter()
        .map(|it| [&it["host"], &it["scheme"]].map(|it| it.as_str().unwrap()))
        .collect();
    assert_eq!(found, [["origin.example", "http"], ["127.0.0.1", "http"], ["origin.example", ""]]);
}
