//! Cases of other projects, in `corpus/egress/`: what they demand of whoever fetches.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use egress::{Limits, REDIRECTS_MAX, Rules};
use monitor::Status;
use scan::net::Domains;
use serde_json::{Value, json};

use crate::origin::{Origin, field, html, redirect};
use crate::tls::{AUTHORITY, TlsOrigin, ok, onward};
use crate::world::{LOOPBACK, Names, Plan, patient};

fn rows(text: &str) -> Vec<Value> {
    serde_json::from_str(text).unwrap()
}

fn text<'a>(row: &'a Value, pointer: &str) -> &'a str {
    row.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// The same URL at the port of a server on this machine; addresses and paths are left as they are.
fn at(url: &str, port: u16) -> String {
    let host = [".example", "example.com"].into_iter().find(|it| url.contains(it));
    host.map_or(url.to_owned(), |it| url.replacen(it, &format!("{it}:{port}"), 1))
}

/// The address of the row is vetted like any other, and this machine stands in for it.
#[test]
fn a_pinned_address_keeps_the_name() {
    for row in rows(include_str!("../../../../corpus/egress/dns_pinning.json")) {
        let url = text(&row, "/input/url");
        let address: std::net::IpAddr = text(&row, "/input/ip").parse().unwrap();
        assert_eq!(scan::net::vet(address), Ok(()), "{row}");
        let headers = row.pointer("/input/headers").cloned().unwrap_or(json!({}));
        let forged = headers.get("Host").is_some();
        let message =
            |url: String| json!({ "action": "web_fetch", "url": url, "headers": headers });
        if url.starts_with("https:") {
            let by = AUTHORITY.vouch(&["example.com"]);
            let origin = TlsOrigin::new(by, &[b"h2"], |_, path| ok(path));
            let world = Plan::new(Names::here(&["example.com"]), &[origin.port]).open();
            world.act(&message(at(url, origin.port))).page();
            let asked = &origin.asked()[0];
            assert_eq!(asked.sni.as_deref(), Some("example.com"), "{row}");
            assert_eq!(asked.host, format!("example.com:{}", origin.port), "{row}");
            assert!(url.contains(&asked.path));
            continue;
        }
        let origin = Origin::paths(html);
        let world = Plan::new(Names::here(&["example.com"]), &[origin.port]).open();
        let got = world.act(&message(at(url, origin.port)));
        if forged {
            // Stricter than the row: such a request is not sent without the field, but not at all.
            assert_eq!(got.delivered.output.status, Status::NotBegun, "{row}");
            assert!(origin.heads().is_empty());
            continue;
        }
        got.page();
        let head = &origin.heads()[0];
        assert_eq!(field(head, "host"), Some(at("example.com", origin.port).as_str()), "{row}");
        for (name, value) in headers.as_object().unwrap() {
            assert_eq!(field(head, name), value.as_str(), "{row}");
        }
    }
}

#[test]
fn redirects_rebinding_and_fields() {
    for row in rows(include_str!("../../../../corpus/egress/ssrf_hops.json")) {
        let place = Arc::new(OnceLock::<String>::new());
        let to = Arc::clone(&place);
        let known = ["public.example", "other.example", "rebind.example"];
        let origin =
            TlsOrigin::new(AUTHORITY.vouch(&known), &[b"h2"], move |_, path| match to.get() {
                Some(place) if path == "/r" => onward(302, place),
                Some(_) | None => ok("arrived"),
            });
        if let Some(location) = row.pointer("/input/redirects/0").and_then(Value::as_str) {
            place.set(at(location, origin.port)).unwrap();
        }
        let table = Names::here(&known).with("rebind.example", &[&[LOOPBACK], &["10.0.0.1"]]);
        let world = Plan::new(table, &[origin.port]).open();
        let url = at(text(&row, "/input/url"), origin.port);
        let headers = row.pointer("/input/headers").cloned().unwrap_or(json!({}));
        let message = json!({ "action": "web_fetch", "url": url, "headers": headers });
        let expected = text(&row, "/expected");
        let Ok(got) = world.try_as(world.session(), &message) else {
            // The gate says no to names of the inner network wherever they stand.
            assert_eq!((expected, origin.asked().len()), ("block", 0), "{row}");
            continue;
        };
        match expected {
            "block" => {
                assert_ne!(got.delivered.output.status, Status::Done, "{row}");
                assert!(origin.asked().len() <= 1, "{row}");
            }
            "allow" => assert!(got.content().contains("arrived"), "{row}"),
            "Authorization dropped" => {
                let asked = origin.asked();
                assert!(asked[0].fields.contains_key("authorization"), "{row}");
                assert!(!asked[1].fields.contains_key("authorization"), "{row}");
            }
            other => {
                assert!(other.starts_with("connect only to"), "{row}");
                assert!(got.content().contains("arrived"), "{row}");
                assert_eq!(world.names.lookups.lock().unwrap().len(), 1, "{row}");
            }
        }
    }
}

/// Rows by their name; each is a sentence of a manual, so each has code of its own.
#[test]
fn chains_bodies_and_events() {
    let rows = rows(include_str!("../../../../corpus/egress/fetch_events.json"));
    let rows: HashMap<&str, &Value> = rows.iter().map(|it| (text(it, "/name"), it)).collect();
    assert_eq!(rows.len(), 7);

    // Theirs follows three, ours five; the one after that is refused by both.
    let origin = Origin::paths(|path| {
        let hop: usize = path.trim_start_matches('/').parse().unwrap();
        redirect(302, &format!("/{}", hop + 1))
    });
    let world = Plan::new(Names::here(&["a.example"]), &[origin.port]).open();
    world.fetch(&origin.url("a.example", "/0")).refused("egress-redirects");
    assert!(text(rows["redirect_limit"], "/expected").contains("too many redirects"));
    assert_eq!(origin.heads().len(), REDIRECTS_MAX + 1);

    let chain = rows["redirect_private_hop"].pointer("/input/chain/1").unwrap();
    let place = chain.as_str().unwrap().to_owned();
    let origin = Origin::paths(move |_| redirect(302, &place));
    let world = Plan::new(Names::here(&["a.example"]), &[origin.port]).open();
    let got = world.fetch(&origin.url("a.example", "/"));
    got.refused("net-v4-private");
    assert_eq!(got.events[1]["hop"], 1);

    let row = rows["gap_redirect_domain_policy"];
    let denied = text(row, "/input/denied_domains/0").to_owned();
    let place = text(row, "/input/chain/1").replace("https:", "http:");
    let origin = Origin::paths(move |_| redirect(302, &place));
    let mut plan = Plan::new(Names::here(&["ok.example", "evil.com"]), &[origin.port]);
    plan.rules = Rules { block: Domains::parse(&[denied]).unwrap(), ..Rules::default() };
    plan.open().fetch(&origin.url("ok.example", "/")).refused("egress-blocked");

    let input = &rows["body_limit"]["input"];
    let bytes = |name: &str| usize::try_from(input[name].as_u64().unwrap()).unwrap();
    let body = vec![b'x'; bytes("body_bytes")];
    let origin = Origin::raw(move |_, stream| {
        // Without a length, so that it is known to be too long only once it is.
        let _ = std::io::Write::write_all(stream, b"HTTP/1.1 200 OK\r\n\r\n");
        let _ = std::io::Write::write_all(stream, &body);
        false
    });
    let mut plan = Plan::new(Names::here(&["a.example"]), &[origin.port]);
    plan.limits = Limits { wire_bytes: bytes("max_body_bytes"), ..patient() };
    plan.open().fetch(&origin.url("a.example", "/")).failed("is longer than 4194304 bytes");

    let row = rows["egress_hops"];
    let origin = Origin::paths(|path| match path {
        "/0" => redirect(302, "/1"),
        "/1" => redirect(302, "/2"),
        _ => html("end"),
    });
    let world = Plan::new(Names::here(&["a.example"]), &[origin.port]).open();
    let got = world.fetch(&origin.url("a.example", "/0"));
    let hops: Vec<&Value> = got.events.iter().map(|it| &it["hop"]).collect();
    assert_eq!(json!(hops), row["expected"]["hop"]);
    assert!(got.events.iter().all(|it| it["correlation"] == got.events[0]["correlation"]));

    // The record's kind is `egress`, by which `events` has found them; a refused one says so in our words.
    assert_eq!(rows["egress_kind_always"]["expected"]["value"], "egress");
    let theirs = &rows["egress_blocked"]["expected"];
    let origin = Origin::paths(|_| redirect(302, "http://10.0.0.1/"));
    let world = Plan::new(Names::here(&["a.example"]), &[origin.port]).open();
    let ours = &world.fetch(&origin.url("a.example", "/")).events[1];
    assert_eq!((&ours["method"], &ours["hop"]), (&theirs["method"], &theirs["hop"]));
    assert_eq!(
        (&ours["received_bytes"], &ours["decision"]),
        (&theirs["response_bytes"], &json!("deny"))
    );
}
