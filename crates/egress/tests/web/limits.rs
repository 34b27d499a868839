//! How many at once, how long at most, and what the manual says of it.

use std::collections::HashMap;
use std::io::Write;
use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use egress::{ADDRESSES_MAX, FIELDS_MAX, Limits, REDIRECTS_MAX};
use serde_json::json;

use crate::origin::{Origin, html};
use crate::world::{Names, Plan, patient};

/// Waits for a word before each answer.
fn held() -> (Origin, mpsc::Sender<()>) {
    let (go, wait) = mpsc::channel();
    let wait = Mutex::new(wait);
    let origin = Origin::raw(move |_, stream| {
        let _ = wait.lock().unwrap().recv();
        stream.write_all(&html("held")).is_ok()
    });
    (origin, go)
}

#[test]
fn one_session_has_so_many_fetches_under_way() {
    let (origin, go) = held();
    let mut plan = Plan::new(Names::here(&["a.example", "b.example"]), &[origin.port]);
    plan.limits = Limits { per_session: 1, ..patient() };
    let world = Arc::new(plan.open());
    let who = world.session();
    let message = json!({ "action": "web_fetch", "url": origin.url("a.example", "/") });
    let (first, held_by) = (Arc::clone(&world), who.clone());
    let asked = message.clone();
    let first = thread::spawn(move || first.act_as(held_by, &asked).content());
    while origin.heads().is_empty() {
        thread::sleep(Duration::from_millis(5));
    }
    let got = world.act_as(who.clone(), &message);
    assert!(got.text().contains("egress-busy"), "{}", got.text());
    go.send(()).unwrap();
    assert!(first.join().unwrap().contains("held"));
    go.send(()).unwrap();
    assert!(world.act_as(who, &message).content().contains("held"));
}

#[test]
fn one_host_is_asked_so_often_at_once() {
    let (origin, go) = held();
    let mut plan = Plan::new(Names::here(&["a.example", "b.example"]), &[origin.port]);
    plan.limits = Limits { per_host: 1, ..patient() };
    let world = Arc::new(plan.open());
    let (first, url) = (Arc::clone(&world), origin.url("a.example", "/"));
    let first = thread::spawn(move || first.fetch(&url).content());
    while origin.heads().is_empty() {
        thread::sleep(Duration::from_millis(5));
    }
    let got = world.fetch(&origin.url("a.example", "/"));
    assert!(got.text().contains("egress-busy"), "{}", got.text());
    (0..2).for_each(|_| go.send(()).unwrap());
    // Another host is another matter.
    assert!(world.fetch(&origin.url("b.example", "/")).content().contains("held"));
    assert!(first.join().unwrap().contains("held"));
}

#[test]
fn a_caller_may_wait_for_less() {
    let (origin, _go) = held();
    let world = Plan::new(Names::here(&["a.example"]), &[origin.port]).open();
    let url = origin.url("a.example", "/");
    let begun = Instant::now();
    let got = world.act(&json!({ "action": "web_fetch", "url": url, "timeoutMs": 1000 }));
    got.failed("it took longer than 1000 ms");
    // Far less than all others would have allowed.
    assert!(begun.elapsed() < Duration::from_secs(20));
}

#[test]
fn the_manual_names_the_limits() {
    let manual = include_str!("../../../../docs/egress.md");
    let rows: HashMap<&str, &str> = manual
        .lines()
        .filter_map(|it| it.strip_prefix("| `")?.split_once("` | ")?.into())
        .map(|(name, rest)| (name, rest.split(" |").next().unwrap()))
        .collect();
    let it = Limits::default();
    let seconds = |it: Duration| format!("{} s", it.as_secs());
    for (name, value) in [
        ("lookup", seconds(it.lookup)),
        ("name_kept", seconds(it.name_kept)),
        ("connect", seconds(it.connect)),
        ("head", seconds(it.head)),
        ("idle", seconds(it.idle)),
        ("total", seconds(it.total)),
        ("head_bytes", format!("{} KiB", it.head_bytes >> 10)),
        ("wire_bytes", format!("{} MiB", it.wire_bytes >> 20)),
        ("body_bytes", format!("{} MiB", it.body_bytes >> 20)),
        ("per_session", it.per_session.to_string()),
        ("per_host", it.per_host.to_string()),
        ("FIELDS_MAX", FIELDS_MAX.to_string()),
        ("ADDRESSES_MAX", ADDRESSES_MAX.to_string()),
        ("REDIRECTS_MAX", REDIRECTS_MAX.to_string()),
    ] {
        assert_eq!(rows.get(name), Some(&value.as_str()), "{name}");
    }
}
