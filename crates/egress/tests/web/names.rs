//! Names: every address is vetted, and exactly a vetted one is dialled.

use std::sync::Arc;
use std::time::Duration;

use egress::{ADDRESSES_MAX, DialError, Dialer, Limits, Resolve};
use scan::net::{Domains, Target};

use crate::dns::Dns;
use crate::origin::{Origin, answer, html};
use crate::world::{LOOPBACK, Names, Plan};

#[test]
fn nothing_is_looked_up_between_the_check_and_the_use() {
    let origin = Origin::says(html("here"));
    let names = Names::default().with("rebind.example", &[&[LOOPBACK], &["10.0.0.1"]]);
    let world = Plan::new(names, &[origin.port]).open();
    let url = origin.url("rebind.example", "/");
    assert!(world.fetch(&url).content().contains("here"));
    assert_eq!(world.names.lookups.lock().unwrap().len(), 1);
    // The next connection asks again, and what it is told counts.
    world.fetch(&url).refused("net-v4-private");
    assert_eq!((world.names.lookups.lock().unwrap().len(), origin.connections()), (2, 1));
}

#[test]
fn a_server_for_names_that_changes_its_mind_leads_nobody_inside() {
    let origin = Origin::says(html("here"));
    let dns = Arc::new(Dns::serve(&[
        ("rebind.example", &[&[LOOPBACK], &["10.0.0.1"], &["::1"], &[LOOPBACK]]),
        ("mixed.example", &[&["93.184.216.34", "fd00::1"], &[LOOPBACK, "2606:4700::1111"]]),
        ("mapped.example", &[&["::ffff:169.254.169.254"]]),
    ]));
    let mut plan = Plan::new(Names::default(), &[origin.port]);
    plan.dns = Some(Arc::clone(&dns) as Arc<dyn Resolve>);
    let world = plan.open();
    let url = |name: &str| origin.url(name, "/");
    assert!(world.fetch(&url("rebind.example")).content().contains("here"));
    assert_eq!(dns.asked.lock().unwrap().len(), 1, "asked once for check and use");
    world.fetch(&url("rebind.example")).refused("net-v4-private");
    assert_eq!(origin.connections(), 1);
    world.fetch(&url("mixed.example")).refused("net-v6-unique-local");
    // What is open for the test alone is no public address beside another.
    world.fetch(&url("mixed.example")).refused("net-v4-loopback");
    world.fetch(&url("mapped.example")).refused("net-v4-metadata");
    world.fetch(&url("nobody.example")).refused("net-no-address");
    assert_eq!(origin.connections(), 1);
}

#[test]
fn a_name_that_leads_inside_first_is_refused_until_it_does_not() {
    let origin = Origin::says(html("here"));
    let rows: &[&[&str]] = &[&["169.254.169.254"], &["::1", "fe80::1"], &[LOOPBACK]];
    let names = Names::default().with("rebind.example", rows);
    let world = Plan::new(names, &[origin.port]).open();
    let url = origin.url("rebind.example", "/");
    world.fetch(&url).refused("net-v4-metadata");
    world.fetch(&url).refused("net-v6-");
    assert_eq!(origin.connections(), 0);
    assert!(world.fetch(&url).content().contains("here"));
}

#[test]
fn the_name_of_a_redirect_is_resolved_anew() {
    let origin = Origin::raw(|head, stream| {
        let answered = match head.split(' ').nth(1) {
            Some("/first") => answer(302, &[("location", "/second"), ("connection", "close")], ""),
            Some(_) | None => html("inside"),
        };
        std::io::Write::write_all(stream, &answered).unwrap();
        false
    });
    let names = Names::default().with("rebind.example", &[&[LOOPBACK], &["192.168.1.1"]]);
    let world = Plan::new(names, &[origin.port]).open();
    let got = world.fetch(&origin.url("rebind.example", "/first"));
    got.refused("net-v4-private");
    assert_eq!((got.events.len(), origin.connections()), (2, 1));
}

#[test]
fn loopback_is_closed_but_for_the_port_of_the_test() {
    let (open, closed) = (Origin::says(html("a")), Origin::says(html("b")));
    let world = Plan::new(Names::here(&["a.example"]), &[open.port]).open();
    world.fetch(&closed.url("a.example", "/")).refused("net-v4-loopback");
    assert_eq!(closed.connections(), 0);
}

#[test]
fn one_address_inside_spoils_the_name() {
    let origin = Origin::says(html("here"));
    let mixed: &[&[&str]] = &[&[LOOPBACK, "10.0.0.1"], &["10.0.0.1", LOOPBACK]];
    let names = Names::default().with("mixed.example", mixed);
    let world = Plan::new(names, &[origin.port]).open();
    for _ in mixed {
        world.fetch(&origin.url("mixed.example", "/")).refused("net-v4-");
    }
    assert_eq!(origin.connections(), 0);
}

#[test]
fn a_name_without_an_address_and_a_name_that_is_none() {
    let world = Plan::new(Names::default().with("empty.example", &[&[]]), &[]).open();
    world.fetch("http://empty.example/").refused("net-no-address");
    let got = world.fetch("http://unknown.example/");
    got.failed("`unknown.example` could not be looked up");
    assert_eq!(got.events[0]["decision"], "allow");
}

/// Public addresses are vetted here and not dialled.
#[test]
fn public_addresses_pass_if_all_of_them_are() {
    let many = |count: usize| (0..count).map(|it| format!("93.184.216.{it}")).collect::<Vec<_>>();
    let (most, more) = (many(ADDRESSES_MAX), many(ADDRESSES_MAX + 1));
    let row =
        |it: &[String]| it.iter().map(|it| it.parse().unwrap()).collect::<Vec<std::net::IpAddr>>();
    let (most, more) = (row(&most), row(&more));
    let cases: &[(&str, Vec<std::net::IpAddr>, Option<&str>)] = &[
        ("one", row(&["93.184.216.34".to_owned()]), None),
        ("two", row(&["93.184.216.34".to_owned(), "2606:4700::1111".to_owned()]), None),
        ("most", most, None),
        ("more", more, Some("net-many-addresses")),
        (
            "last",
            row(&["93.184.216.34".to_owned(), "172.16.0.1".to_owned()]),
            Some("net-v4-private"),
        ),
        ("mapped", row(&["::ffff:127.0.0.1".to_owned()]), Some("net-v4-loopback")),
        ("none", Vec::new(), Some("net-no-address")),
    ];
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for (what, addresses, rule) in cases {
        let dialer = Dialer::with_resolver(Arc::new(Always(addresses.clone())), &Limits::default());
        let target = Target::parse("https://a.example/").unwrap();
        match (runtime.block_on(dialer.vetted(target.host(), 443)), rule) {
            (Ok(found), None) => assert_eq!(found.as_ref(), addresses, "{what}"),
            (Err(DialError::Refused(refused)), Some(rule)) => {
                assert_eq!(refused.rule.as_str(), *rule, "{what}");
            }
            (found, _) => panic!("{what}: {found:?}"),
        }
    }
}

struct Always(Vec<std::net::IpAddr>);

impl Resolve for Always {
    fn resolve<'a>(&'a self, _: &'a str) -> egress::Looking<'a> {
        Box::pin(async { Ok(self.0.clone()) })
    }
}

#[test]
fn no_name_leads_to_an_address_that_is_blocked() {
    let origin = Origin::paths(|_| html("here"));
    let on = origin.url("b.example", "/").replace("http:", "");
    let leads = Origin::paths(move |_| answer(302, &[("location", &on)], ""));
    let names = Names::here(&["a.example"])
        .with("b.example", &[&["127.0.0.2"]])
        .with("c.example", &[&[LOOPBACK, "::ffff:127.0.0.2"]])
        .with("d.example", &[&["64:ff9b::7f00:2"]]);
    let mut plan = Plan::new(names, &[origin.port, leads.port]);
    plan.rules.block = Domains::parse(&["127.0.0.2"]).unwrap();
    let world = plan.open();
    for name in ["b.example", "c.example", "d.example"] {
        world.fetch(&origin.url(name, "/")).refused("egress-blocked");
    }
    world.fetch(&leads.url("a.example", "/")).refused("egress-blocked");
    assert_eq!(origin.connections(), 0);
    assert!(world.fetch(&origin.url("a.example", "/")).content().contains("here"));
}

#[test]
fn addresses_are_remembered_for_a_moment_and_vetted_each_time() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let target = Target::parse("https://a.example/").unwrap();
    for (kept, lookups) in [(Duration::ZERO, 3), (Duration::from_secs(60), 1)] {
        let rows: &[&[&str]] = &[&["10.0.0.1"], &["10.0.0.2"], &["10.0.0.3"]];
        let names = Arc::new(Names::default().with("a.example", rows));
        let limits = Limits { name_kept: kept, ..Limits::default() };
        let dialer = Dialer::with_resolver(Arc::clone(&names) as Arc<dyn Resolve>, &limits);
        for _ in 0..3 {
            let found = runtime.block_on(dialer.vetted(target.host(), 443));
            assert!(
                matches!(found, Err(DialError::Refused(it)) if it.rule.as_str() == "net-v4-private")
            );
        }
        assert_eq!(names.lookups.lock().unwrap().len(), lookups);
    }
}
