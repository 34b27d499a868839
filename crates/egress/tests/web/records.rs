//! What is recorded of a fetch, and what is not.

use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, mpsc};
use std::thread;
use std::time::Duration;

use evidence::{Config, Disk, Durability, Journal, RealDisk};
use serde_json::{Value, json};

use crate::origin::{Origin, answer, html, redirect};
use crate::world::{Names, Plan};

#[test]
fn there_is_one_event_for_each_hop() {
    let origin = Origin::paths(|path| match path {
        "/one?key=hush-one" => redirect(302, "/two?key=hush-two"),
        "/two?key=hush-two" => redirect(302, "/three"),
        _ => html("arrived"),
    });
    let world = Plan::new(Names::here(&["a.example"]), &[origin.port]).open();
    let got = world.fetch(&origin.url("a.example", "/one?key=hush-one"));
    assert!(got.content().contains("arrived"));
    assert_eq!(got.events.len(), 3);
    for (at, (event, path)) in got.events.iter().zip(["/one", "/two", "/three"]).enumerate() {
        assert_eq!(event["correlation"], got.events[0]["correlation"]);
        for (field, value) in [
            ("hop", json!(at)),
            ("path", json!(path)),
            ("tool", json!("web_fetch")),
            ("method", json!("GET")),
            ("scheme", json!("http")),
            ("host", json!("a.example")),
            ("port", json!(origin.port)),
            ("address", json!("127.0.0.1")),
            ("decision", json!("allow")),
            ("status", json!(if at == 2 { 200 } else { 302 })),
            ("received_bytes", json!(if at == 2 { 7 } else { 0 })),
            ("sent_bytes", json!(0)),
        ] {
            assert_eq!(event[field], value, "{field} of {event}");
        }
        assert!(event["took_ms"].is_u64());
    }
    assert!(!world.events().iter().any(|it| it.to_string().contains("hush")));
    let other = world.fetch(&origin.url("a.example", "/three"));
    assert_ne!(other.events[0]["correlation"], got.events[0]["correlation"]);
}

#[test]
fn a_hop_that_was_not_taken_says_where_it_would_have_led() {
    for (location, host, port, path, scheme) in [
        ("http://10.0.0.1:81/x?key=hush", "10.0.0.1", 81, "/x", "http"),
        ("https://[::1]/y", "::1", 443, "/y", "https"),
        ("file:///etc/hush", "", 0, "", ""),
        ("data:text/plain,hush", "", 0, "", ""),
    ] {
        let origin = Origin::paths(move |_| redirect(302, location));
        let world = Plan::new(Names::here(&["a.example"]), &[origin.port]).open();
        let got = world.fetch(&origin.url("a.example", "/"));
        let last = &got.events[1];
        let found = ["host", "port", "path", "scheme", "hop", "decision"].map(|it| &last[it]);
        let wanted: [Value; 6] =
            [host.into(), port.into(), path.into(), scheme.into(), 1.into(), "deny".into()];
        assert_eq!(found, wanted.each_ref(), "{location}");
        assert!(
            last["rule"].is_string()
                && last.get("address").is_none()
                && last.get("status").is_none()
        );
        assert!(!world.wrote("hush"), "{location}");
    }
}

#[test]
fn no_body_and_no_field_of_an_answer_is_recorded() {
    // The gate's record of the outcome has its first words.
    let body = format!("{} hush-body", "Tide tables for the harbour. ".repeat(200));
    let origin = Origin::paths(move |_| {
        let fields = [
            ("content-type", "text/plain"),
            ("set-cookie", "id=hush-cookie"),
            ("x-note", "hush-field"),
        ];
        answer(200, &fields, &body)
    });
    let world = Plan::new(Names::here(&["a.example"]), &[origin.port]).open();
    let url = origin.url("a.example", "/");
    let headers = json!({ "Authorization": "Bearer hush-token", "X-Api-Key": "hush-key" });
    let got = world.act(&json!({ "action": "web_fetch", "url": url, "headers": headers }));
    assert!(got.content().contains("hush-body"));
    for secret in ["hush-cookie", "hush-field", "hush-body", "hush-token", "hush-key"] {
        assert!(!world.wrote(secret), "{secret}");
    }
    let events: String = world.events().iter().map(Value::to_string).collect();
    assert!(!events.contains("hush"), "{events}");
}

#[test]
fn a_failed_hop_is_recorded_with_whom_was_dialled() {
    let origin = Origin::says("no answer at all");
    let world = Plan::new(Names::here(&["a.example"]), &[origin.port]).open();
    let got = world.fetch(&origin.url("a.example", "/"));
    assert_eq!(got.events.len(), 1);
    assert_eq!(got.events[0]["address"], "127.0.0.1");
    assert!(got.events[0]["reason"].is_string() && got.events[0].get("status").is_none());
    // Nobody listens at a port that was given back.
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let world = Plan::new(Names::here(&["a.example"]), &[closed]).open();
    let got = world.fetch(&format!("http://a.example:{closed}/"));
    got.failed("no connection: ");
    assert_eq!(got.events[0]["address"], "127.0.0.1");
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

/// The gate has a journal of its own here, so that it is not the gate that withholds the page.
#[test]
fn of_what_cannot_be_recorded_nothing_is_given_out() {
    let origin = Origin::paths(html);
    let (dir, disk) = (tempfile::tempdir().unwrap(), Arc::new(Breaking::default()));
    let mut config = Config::new(dir.path().join("hops"));
    config.durability = Durability::Synced;
    config.disk = Arc::clone(&disk) as Arc<dyn Disk>;
    let hops = Arc::new(Journal::open(&config).unwrap().0);
    let mut plan = Plan::new(Names::here(&["a.example"]), &[origin.port]);
    plan.hops = Some(hops);
    let world = plan.open();
    let url = origin.url("a.example", "/tide");
    assert!(world.fetch(&url).content().contains("tide"));
    disk.0.store(true, Ordering::SeqCst);
    // The first is only posted, to be durable with what the gate waits for. When it is lost, no more are taken.
    let lost = |told: &String| told.contains("could not be recorded");
    let told = (0..100).map(|_| world.fetch(&url).text().to_owned()).find(lost);
    assert!(told.is_some_and(|it| !it.contains("tide")));
}

/// A disk that takes its time, as long as it is told to.
#[derive(Default)]
struct Slow {
    holds: Mutex<bool>,
    changed: Condvar,
}

impl Slow {
    fn hold(&self, holds: bool) {
        *self.holds.lock().unwrap() = holds;
        self.changed.notify_all();
    }
}

impl Disk for Slow {
    fn write_at(&self, file: &File, bytes: &[u8], offset: u64) -> io::Result<usize> {
        RealDisk.write_at(file, bytes, offset)
    }

    fn sync(&self, file: &File) -> io::Result<()> {
        let held = self.changed.wait_while(self.holds.lock().unwrap(), |it| *it).unwrap();
        drop(held);
        RealDisk.sync(file)
    }
}

/// One thread carries for all: if it waited for the disk, everybody would.
#[test]
fn nobody_waits_for_the_disk_while_hops_are_noted() {
    let origin = Origin::paths(|_| html("arrived"));
    let (dir, disk) = (tempfile::tempdir().unwrap(), Arc::new(Slow::default()));
    let mut config = Config::new(dir.path().join("hops"));
    config.disk = Arc::clone(&disk) as Arc<dyn Disk>;
    assert_eq!(config.durability, Durability::Synced);
    let hops = Arc::new(Journal::open(&config).unwrap().0);
    let mut plan = Plan::new(Names::here(&["a.example"]), &[origin.port]);
    plan.hops = Some(hops);
    let world = plan.open();
    let url = origin.url("a.example", "/");
    world.fetch(&url);
    disk.hold(true);
    let (done, all) = mpsc::channel();
    thread::scope(|scope| {
        for _ in 0..8 {
            let (world, url, done) = (&world, &url, done.clone());
            scope.spawn(move || {
                (0..5).for_each(|_| assert!(world.fetch(url).content().contains("arrived")));
                done.send(()).unwrap();
            });
        }
        let came = (0..8).filter(|_| all.recv_timeout(Duration::from_secs(20)).is_ok()).count();
        disk.hold(false);
        assert_eq!(came, 8, "some have waited for the disk");
    });
}
