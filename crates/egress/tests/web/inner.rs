//! Hosts of the inner network that the operator opens: this machine stands for them.

use std::sync::{Arc, OnceLock};

use egress::{Dialer, Resolve};
use hyper::Method;
use scan::net::{Domains, Inner, InnerHost, Prefix, Target};
use serde_json::json;

use crate::origin::{Origin, html, redirect};
use crate::world::{Got, Names, Plan, World, patient};

/// What the operator writes to open a host that leads to this machine.
fn opened(host: &str, port: u16) -> String {
    format!("{{host: {host}, port: {port}, addresses: [127.0.0.1/32]}}")
}

fn world(names: Names, hosts: &[String]) -> World {
    Plan::new(names, &[]).opening(hosts).open()
}

/// Nobody was asked, by the gate's word or by that of the way out.
fn nobody_asked(world: &World, origin: &Origin, url: &str) {
    let before = origin.connections();
    if let Ok(got) = world.try_as(world.session(), &json!({ "action": "web_fetch", "url": url })) {
        assert_eq!(got.events.last().unwrap()["decision"], "deny", "{url}: {}", got.text());
    }
    assert_eq!(origin.connections(), before, "{url}");
}

#[test]
fn a_host_is_reached_by_its_name_at_its_port_and_the_record_says_by_whose_word() {
    let origin = Origin::paths(html);
    let names = Names::here(&["gitlab.corp", "git.example.com", "other.corp", "other.example"]);
    let hosts = [opened("gitlab.corp", origin.port), opened("git.example.com", origin.port)];
    let world = world(names, &hosts);
    for name in ["gitlab.corp", "git.example.com"] {
        let got = world.fetch(&origin.url(name, "/x"));
        assert!(got.content().contains("/x"), "{}", got.text());
        let event = &got.events[0];
        assert_eq!(event["opened_by"], "operator", "{event}");
        assert_eq!((&event["address"], &event["host"]), (&json!("127.0.0.1"), &json!(name)));
    }
    assert_eq!(origin.heads().len(), 2);
    for host in
        ["other.corp", "other.example", "a.gitlab.corp", "127.0.0.1", "127.1", "[::ffff:127.0.0.1]"]
    {
        nobody_asked(&world, &origin, &origin.url(host, "/"));
    }
    let elsewhere = Origin::paths(html);
    nobody_asked(&world, &elsewhere, &elsewhere.url("gitlab.corp", "/"));
    nobody_asked(&world, &elsewhere, &elsewhere.url("git.example.com", "/"));
}

#[test]
fn an_address_is_reached_as_itself_and_by_no_name() {
    let origin = Origin::paths(html);
    let host = format!("{{host: 127.0.0.1, port: {}}}", origin.port);
    let world = world(Names::here(&["a.example", "localhost"]), &[host]);
    let got = world.fetch(&origin.url("127.0.0.1", "/x"));
    assert_eq!(got.events[0]["opened_by"], "operator");
    assert_eq!(got.page()["status"], 200);
    for host in ["a.example", "localhost", "127.0.0.2", "0x7f000001", "2130706433", "[::1]"] {
        nobody_asked(&world, &origin, &origin.url(host, "/"));
    }
    assert_eq!(origin.heads().len(), 1);
}

#[test]
fn every_address_of_a_name_must_be_listed_each_time() {
    let origin = Origin::paths(html);
    let names = Names::default()
        .with("two.corp", &[&["127.0.0.1", "127.0.0.2"]])
        .with("mixed.corp", &[&["127.0.0.1", "93.184.216.34"]])
        .with("public.corp", &[&["93.184.216.34"]])
        .with("meta.corp", &[&["169.254.169.254"]])
        .with("mapped.corp", &[&["::ffff:127.0.0.1"]])
        .with("none.corp", &[&[]])
        .with("turns.corp", &[&["127.0.0.1"], &["127.0.0.2"], &["127.0.0.1"]]);
    let all = ["two", "mixed", "public", "meta", "mapped", "none", "turns"];
    let hosts = all.map(|it| opened(&format!("{it}.corp"), origin.port));
    let world = world(names, &hosts);
    for name in ["two", "mixed", "public", "meta", "mapped"] {
        world.fetch(&origin.url(&format!("{name}.corp"), "/")).refused("egress-inner");
    }
    world.fetch(&origin.url("none.corp", "/")).refused("net-no-address");
    assert_eq!(origin.connections(), 0);
    let turn = |world: &World| world.fetch(&origin.url("turns.corp", "/"));
    assert_eq!(turn(&world).page()["status"], 200);
    // A kept connection is with the address that was vetted; a new one is vetted anew.
    let fresh = self::world(
        Names::default().with("turns.corp", &[&["127.0.0.2"], &["127.0.0.1"]]),
        &[opened("turns.corp", origin.port)],
    );
    turn(&fresh).refused("egress-inner");
    assert_eq!(turn(&fresh).page()["status"], 200);
}

#[test]
fn a_redirect_leads_there_from_the_same_origin_alone() {
    let inside = Origin::paths(|path| match path {
        "/" => redirect(302, "/in"),
        "/whole" => redirect(302, "WHOLE"),
        other => html(other),
    });
    let place = Arc::new(OnceLock::<String>::new());
    let at = Arc::clone(&place);
    let outside = Origin::paths(move |_| redirect(302, at.get().unwrap()));
    let names = Names::here(&["gitlab.corp", "git.example.com", "a.example"]);
    let hosts = ["gitlab.corp", "git.example.com"].map(|it| opened(it, inside.port));
    let world = Plan::new(names, &[outside.port]).opening(&hosts).open();
    let within = world.fetch(&inside.url("gitlab.corp", "/"));
    assert_eq!(within.led_to(), Some(inside.url("gitlab.corp", "/in")));
    assert!(within.events.iter().all(|it| it["opened_by"] == "operator"), "{:?}", within.events);
    let before = inside.connections();
    for to in ["gitlab.corp", "git.example.com"] {
        // By an origin of its own each: where it leads is said once.
        let said = inside.url(to, "/secret");
        let outside = Origin::paths(move |_| redirect(302, &said));
        let world = Plan::new(
            Names::here(&["gitlab.corp", "git.example.com", "a.example"]),
            &[outside.port],
        )
        .opening(&hosts)
        .open();
        let got: Got = world.fetch(&outside.url("a.example", "/"));
        got.refused("egress-inner");
        assert_eq!(outside.heads().len(), 1);
    }
    place.set(inside.url("127.0.0.1", "/secret")).unwrap();
    world.fetch(&outside.url("a.example", "/")).refused("net-v4-loopback");
    assert_eq!(inside.connections(), before, "nobody was led there");
}

#[test]
fn lists_and_methods_narrow_what_is_open() {
    let origin = Origin::paths(html);
    let hosts = [opened("gitlab.corp", origin.port)];
    let with = |change: &dyn Fn(&mut Plan)| {
        let mut plan = Plan::new(Names::here(&["gitlab.corp"]), &[]).opening(&hosts);
        change(&mut plan);
        plan.open().fetch(&origin.url("gitlab.corp", "/"))
    };
    let list = |of: &str| Domains::parse(&[of]).unwrap();
    with(&|plan| plan.rules.allow = vec![list("example.org")]).refused("net-not-allowed");
    with(&|plan| plan.rules.allow = vec![list("gitlab.corp")]).refused("net-not-allowed");
    with(&|plan| plan.rules.block = list("gitlab.corp")).refused("egress-blocked");
    with(&|plan| plan.rules.block = list("127.0.0.1")).refused("egress-blocked");
    with(&|plan| plan.rules.methods = Some(vec![Method::HEAD])).refused("egress-method");
    assert_eq!(origin.connections(), 0);
    let listed = list(&format!("http://gitlab.corp:{}", origin.port));
    let got = with(&|plan| plan.rules.allow = vec![listed.clone()]);
    assert_eq!(got.page()["status"], 200);
    // Its port is open because the entry names it, whatever ports are open elsewhere.
    let got = with(&|plan| plan.rules.ports = Some(vec![443]));
    assert_eq!(got.page()["status"], 200);
}

#[test]
fn without_the_rules_or_without_the_dialer_nothing_is_open() {
    let origin = Origin::paths(html);
    let hosts = [opened("git.example.com", origin.port)];
    let names = || Names::here(&["git.example.com"]);
    let mut plan = Plan::new(names(), &[]).opening(&hosts);
    plan.rules.inner = Inner::default();
    plan.open().fetch(&origin.url("git.example.com", "/")).refused("net-v4-loopback");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let dialer = || Dialer::with_resolver(Arc::new(names()) as Arc<dyn Resolve>, &patient());
    let target = Target::parse(&origin.url("git.example.com", "/")).unwrap();
    let dial = |it: Dialer| runtime.block_on(it.dial(target.host(), target.port())).is_ok();
    assert!(!dial(dialer()));
    let of = |prefix: &str, port: u16| {
        let prefixes = vec![Prefix::parse(prefix).unwrap()];
        Inner::new(vec![InnerHost::new("git.example.com", port, prefixes).unwrap()]).unwrap()
    };
    assert!(dial(dialer().dangerously_opening(of("127.0.0.1", origin.port))));
    assert!(!dial(dialer().dangerously_opening(of("127.0.0.2", origin.port))));
    assert!(!dial(dialer().dangerously_opening(of("127.0.0.1", 1))));
}
