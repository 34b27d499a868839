//! Hosts of the inner network that an operator opens: which can be, and what leads to them.

#![expect(
    clippy::unwrap_used,
    reason = "test helpers; `allow-unwrap-in-tests` covers only `#[test]` functions"
)]

use std::net::IpAddr;
use std::path::Path;

use proptest::prelude::*;
use scan::net::{
    INNER_HOSTS_MAX, Inner, InnerError, InnerHost, PREFIXES_PER_HOST_MAX, Prefix, Rule, Target,
    V4_PREFIX_BITS_MIN, V6_PREFIX_BITS_MIN,
};
use serde_json::Value;

fn prefixes(of: &[&str]) -> Vec<Prefix> {
    of.iter().map(|it| Prefix::parse(it).unwrap()).collect()
}

fn host(host: &str, port: u16, of: &[&str]) -> InnerHost {
    InnerHost::new(host, port, prefixes(of)).unwrap()
}

/// What most tests open.
fn opened() -> Inner {
    Inner::new(vec![
        host("gitlab.corp", 443, &["10.1.2.3/32"]),
        host("git.example.com", 443, &["10.1.2.0/24", "fd12:3456:789a::/48"]),
        host("10.1.2.4", 8080, &[]),
        host("fd12::5", 80, &[]),
        host("127.0.0.1", 11434, &[]),
        host("db.corp", 5432, &["10.1.2.5"]),
    ])
    .unwrap()
}

#[test]
fn every_row_of_the_corpus_is_opened_or_refused_for_its_reason() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/net/inner.jsonl");
    let text = std::fs::read_to_string(path).unwrap();
    let mut count = 0;
    for line in text.lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        let found = match (row["prefix"].as_str(), row["host"].as_str()) {
            (Some(prefix), None) => Prefix::parse(prefix).map(drop).map_err(|it| it.to_string()),
            (None, Some(name)) => InnerHost::new(name, 443, prefixes(&["10.1.2.3"]))
                .map(drop)
                .map_err(|it| it.to_string()),
            _ => panic!("{line}"),
        };
        count += 1;
        match (row["opens"].as_bool().unwrap(), found) {
            (true, found) => assert_eq!(found, Ok(()), "{line}"),
            (false, Ok(())) => panic!("opened: {line}"),
            (false, Err(error)) => {
                assert!(error.contains(row["why"].as_str().unwrap()), "{line}: {error}");
                assert!(!error.contains('\n'), "{error}");
            }
        }
    }
    assert!(count > 90, "{count}");
}

#[test]
fn exactly_what_was_opened_is_read_and_at_its_port_alone() {
    let inner = opened();
    for url in [
        "https://gitlab.corp/",
        "https://GITLAB.corp./a?b#c",
        "https://gitlab.corp:443/x",
        "http://gitlab.corp:443/x",
        "http://10.1.2.4:8080/",
        "http://[fd12::5]/",
        "http://127.0.0.1:11434/api",
        "https://db.corp:5432/",
    ] {
        let target = Target::within(url, &inner).unwrap();
        assert!(inner.opens(target.host(), target.port()), "{url}");
        assert!(Target::parse(url).is_err(), "{url}");
        assert!(Target::within(url, &Inner::default()).is_err(), "{url}");
    }
    for (url, rule) in [
        ("http://gitlab.corp/", Rule::NameInside),
        ("https://gitlab.corp:8443/", Rule::NameInside),
        ("https://a.gitlab.corp/", Rule::NameInside),
        ("https://corp/", Rule::NameSingle),
        ("https://x@gitlab.corp/", Rule::Userinfo),
        ("https://gitlab.corp\\@evil.example/", Rule::Spelling),
        ("ftp://gitlab.corp/", Rule::Scheme),
        ("https://10.1.2.3/", Rule::V4Private),
        ("http://10.1.2.4/", Rule::V4Private),
        ("http://10.1.2.5:8080/", Rule::V4Private),
        ("http://10.1.516:8080/", Rule::V4Private),
        ("http://167838212:8080/", Rule::V4Private),
        ("http://0x0a.1.2.4:8080/", Rule::V4Private),
        ("http://[::ffff:10.1.2.4]:8080/", Rule::V4Private),
        ("http://[64:ff9b::a01:204]:8080/", Rule::V4Private),
        ("http://10.1.2.4.nip.io:8080/", Rule::V4Private),
        ("http://localhost:11434/", Rule::NameSingle),
        ("http://127.1:11434/", Rule::V4Loopback),
        ("http://127.0.0.2:11434/", Rule::V4Loopback),
        ("http://[::1]:11434/", Rule::V6Loopback),
        ("http://169.254.169.254/", Rule::V4Metadata),
        ("http://metadata.google.internal/", Rule::NameMetadata),
    ] {
        let found = Target::within(url, &inner).map(|it| it.host().to_string());
        assert_eq!(found.map_err(|it| it.rule), Err(rule), "{url}");
    }
}

#[test]
fn every_address_must_be_listed() {
    let inner = opened();
    let vet = |name: &str, port: u16, found: &[&str]| {
        let target = Target::within(&format!("https://{name}:{port}/"), &inner).unwrap();
        let found: Vec<IpAddr> = found.iter().map(|it| it.parse().unwrap()).collect();
        inner.find(target.host(), target.port()).unwrap().vet_all(&found).map_err(|it| it.rule)
    };
    assert_eq!(vet("gitlab.corp", 443, &["10.1.2.3"]), Ok(()));
    let both = ["10.1.2.255", "fd12:3456:789a:ffff::1"];
    assert_eq!(vet("git.example.com", 443, &both), Ok(()));
    assert_eq!(vet("gitlab.corp", 443, &[]), Err(Rule::NoAddress));
    for (name, found) in [
        ("gitlab.corp", &["10.1.2.4"][..]),
        ("gitlab.corp", &["10.1.2.3", "93.184.216.34"]),
        ("gitlab.corp", &["10.1.2.3", "127.0.0.1"]),
        ("gitlab.corp", &["10.1.2.3", "169.254.169.254"]),
        ("gitlab.corp", &["::ffff:10.1.2.3"]),
        ("git.example.com", &["10.1.3.0"]),
        ("git.example.com", &["93.184.216.34"]),
        ("git.example.com", &["fd12:3456:789b::1"]),
        // An address of the range that hides one of metadata.
        ("git.example.com", &["fd12:3456:789a::5efe:a9fe:a9fe"]),
    ] {
        assert_eq!(vet(name, 443, found), Err(Rule::EgressInner), "{name} {found:?}");
    }
}

#[test]
fn a_redirect_leads_there_only_from_the_same_origin() {
    let inner = opened();
    let from = |url: &str| Target::within(url, &inner).unwrap();
    let here = from("https://gitlab.corp/a");
    for reference in
        ["/b", "b?c", "https://gitlab.corp/b", "//gitlab.corp/b", "https://example.org/"]
    {
        assert!(here.join_within(reference, &inner).is_ok(), "{reference}");
    }
    for reference in [
        "https://git.example.com/",
        "//db.corp:5432/",
        "https://10.1.2.4:8080/",
        "//10.1.2.4:8080/x",
    ] {
        let refused = here.join_within(reference, &inner).unwrap_err();
        assert_eq!(refused.rule, Rule::EgressInner, "{reference}");
    }
    let outside = from("https://example.org/");
    for reference in ["https://gitlab.corp/", "//gitlab.corp/x", "https://git.example.com/"] {
        let refused = outside.join_within(reference, &inner).unwrap_err();
        assert_eq!(refused.rule, Rule::EgressInner, "{reference}");
    }
    assert_eq!(outside.join("https://gitlab.corp/").unwrap_err().rule, Rule::NameInside);
    assert!(outside.join_within("https://gitlab.corp:444/", &inner).is_err());
}

#[test]
fn a_text_names_one_where_nobody_could_read_another_host() {
    let inner = opened();
    for text in [
        "https://gitlab.corp/x",
        " https://gitlab.corp/x ",
        "db.corp:5432",
        "10.1.2.4:8080/x",
        "[fd12::5]:80",
        "postgres://me@db.corp:5432/name",
        "postgres://me:word@db.corp:5432/name",
    ] {
        assert!(inner.names(text), "{text}");
    }
    for text in [
        "gitlab.corp",
        "10.1.2.4",
        "10.1.2.4/x",
        "10.1.2.4:80",
        "postgres://db.corp/name",
        "postgres://10.1.9.9?@db.corp:5432/name",
        "postgres://10.1.9.9#@db.corp:5432/name",
        "postgres://10.1.9.9\\@db.corp:5432/name",
        "postgres://a@10.1.9.9@db.corp:5432/name",
        "postgres://db.corp:5432@10.1.9.9/name",
        "x db.corp:5432",
        "",
        "://",
    ] {
        assert!(!inner.names(text), "{text}");
    }
}

#[test]
fn entries_are_few_and_each_is_there_once() {
    let of = |count: usize| {
        let all = (0..count).map(|it| host(&format!("h{it}.corp"), 443, &["10.1.2.3"]));
        Inner::new(all.collect())
    };
    assert!(of(INNER_HOSTS_MAX).is_ok());
    assert_eq!(of(INNER_HOSTS_MAX + 1), Err(InnerError::ManyHosts));
    let twice = vec![host("a.corp", 1, &["10.1.2.3"]), host("A.corp.", 1, &["10.1.2.4"])];
    assert!(Inner::new(twice).unwrap_err().to_string().contains("twice"));
    let many = vec![Prefix::parse("10.1.2.3").unwrap(); PREFIXES_PER_HOST_MAX + 1];
    assert!(InnerHost::new("a.corp", 1, many).is_err());
    assert!(InnerHost::new("a.corp", 0, prefixes(&["10.1.2.3"])).is_err());
    assert!(InnerHost::new("a.corp", 1, Vec::new()).is_err());
    assert!(InnerHost::new("10.1.2.3", 1, prefixes(&["10.1.2.4"])).is_err());
}

fn any_address() -> impl Strategy<Value = IpAddr> {
    let v6 = (
        prop::sample::select(vec![0_u128, 0xfd00, 0xfe80, 0xfd00_0ec2, 0x64_ff9b, 0x2002]),
        any::<u128>(),
    );
    prop_oneof![
        any::<[u8; 4]>().prop_map(IpAddr::from),
        any::<[u16; 8]>().prop_map(IpAddr::from),
        v6.prop_map(|(head, rest)| IpAddr::from((head << 96 | rest >> 64).to_be_bytes())),
    ]
}

proptest! {
    /// Whatever range is opened, nothing in it is an address at which clouds keep credentials, of the link, of all or of many.
    #[test]
    fn no_prefix_holds_what_is_never_opened(base in any_address(), bits in 0_u32..=128, at in any_address()) {
        let never: [IpAddr; 9] = [
            [169, 254, 169, 254].into(), [100, 100, 100, 200].into(), [192, 0, 0, 192].into(),
            [168, 63, 129, 16].into(), [255, 255, 255, 255].into(), [0, 0, 0, 0].into(),
            "fd00:ec2::254".parse().unwrap(), "fe80::1".parse().unwrap(), "ff02::1".parse().unwrap(),
        ];
        if let Ok(prefix) = Prefix::parse(&format!("{base}/{bits}")) {
            let least = if base.is_ipv4() { V4_PREFIX_BITS_MIN } else { V6_PREFIX_BITS_MIN };
            prop_assert!(bits >= least);
            prop_assert!(prefix.holds(base));
            prop_assert!(never.iter().all(|it| !prefix.holds(*it)), "{}", prefix);
            prop_assert!(!prefix.holds(at) || !at.is_multicast() && !at.is_unspecified());
            prop_assert_eq!(Prefix::parse(&prefix.to_string()), Ok(prefix));
        }
    }
}
