//! Addresses on the web: every case of the corpus, and what holds for all of them.

#![expect(clippy::unwrap_used, reason = "test helpers, not only `#[test]` functions")]

use std::fs;
use std::net::{IpAddr, Ipv6Addr};
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use scan::net::{self, Domains, Host, RULES, RangeKind, Refused, Target};
use serde_json::Value;

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/net")
}

fn rows(name: &str) -> Vec<Value> {
    let text = fs::read_to_string(corpus().join(name)).unwrap();
    text.lines().map(|it| serde_json::from_str(it).unwrap()).collect()
}

fn text<'a>(row: &'a Value, name: &str) -> &'a str {
    row.get(name).and_then(Value::as_str).unwrap()
}

fn texts<'a>(row: &'a Value, name: &str) -> Vec<&'a str> {
    let items = row.get(name).and_then(Value::as_array);
    items.into_iter().flatten().map(|it| it.as_str().unwrap()).collect()
}

/// What a row says, judged as far as it can be without a network.
fn judge(row: &Value) -> Result<(), Refused> {
    let mut target = Target::parse(text(row, "url"))?;
    if row.get("resolve").is_some() {
        let answers = texts(row, "resolve");
        net::vet_all(&answers.iter().map(|it| it.parse().unwrap()).collect::<Vec<_>>())?;
    }
    let allowed = row.get("allow").map(|_| Domains::parse(&texts(row, "allow")).unwrap());
    let blocked = Domains::parse(&texts(row, "blocked")).unwrap();
    let mut hops = texts(row, "redirects").into_iter();
    loop {
        allowed.iter().try_for_each(|it| it.permits(&target))?;
        if blocked.contains(target.host()) {
            return Err(Refused { rule: net::Rule::BlockedDomain, reason: String::new() });
        }
        let Some(next) = hops.next() else { return Ok(()) };
        target = target.join(next)?;
    }
}

fn address(text: &str) -> IpAddr {
    text.parse().unwrap()
}

#[test]
fn urls_that_lead_inside_are_refused_and_public_ones_are_not() {
    let mut wrong = Vec::new();
    for row in rows("ssrf.jsonl") {
        // Refused where another list refuses its neighbour: see the README there.
        let expected = if text(&row, "text") == "http://[2001:20::]/" {
            "block"
        } else {
            text(&row, "expect")
        };
        let got = Target::parse(text(&row, "text")).map(|_| ());
        // What only resolution shows is for whoever resolves.
        if got.is_ok() != (expected == "allow") {
            wrong.push((row, got));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn what_is_no_url_is_refused_and_what_is_one_has_the_host_that_a_browser_sees() {
    let mut read = 0;
    for row in rows("url_parse.jsonl") {
        let target = Target::parse(text(&row, "text"));
        if text(&row, "expect") == "reject" {
            assert!(target.is_err(), "{row}");
        } else if let Ok(target) = target {
            assert_eq!(target.url().host_str(), Some(text(&row, "host")), "{row}");
            let href = text(&row, "href").split('#').next().unwrap();
            assert_eq!(target.url().as_str(), href, "{row}");
            read += 1;
        }
    }
    assert!(read > 30, "{read}");
}

#[test]
fn the_lists_of_others_hold() {
    let files =
        ["ax_ssrf.jsonl", "masters_egress.jsonl", "masters_addresses.jsonl", "zeph_ssrf.jsonl"];
    for row in files.iter().flat_map(|it| rows(it)) {
        let expected = row.get("expect").and_then(Value::as_str);
        let passes = expected.map(|it| it == "allow" || it == "ok");
        if expected == Some("rejected") {
            assert!(Domains::parse(&texts(&row, "allow")).is_err(), "{row}");
        } else if let Some(patterns) = row.get("patterns") {
            let patterns: Vec<&str> =
                patterns.as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect();
            assert_eq!(Domains::parse(&patterns).is_ok(), passes.unwrap(), "{row}");
        } else if row.get("pattern").is_some() {
            let list = Domains::parse(&[text(&row, "pattern")]).unwrap();
            let host = Target::parse(&format!("https://{}/", text(&row, "host")));
            let contains = host.is_ok_and(|it| list.contains(it.host()));
            assert_eq!(Some(contains), row.get("contains").unwrap().as_bool(), "{row}");
        } else if row.get("url").is_some() {
            assert_eq!(judge(&row).is_ok(), passes.unwrap(), "{row}: {:?}", judge(&row));
        } else if let Some(inner) = row.get("inner") {
            // What the address stands for is judged as if it stood there itself.
            let (outer, inner) = (address(text(&row, "address")), address(inner.as_str().unwrap()));
            assert_eq!(net::vet(outer).is_ok(), net::vet(inner).is_ok(), "{row}");
        } else if row.get("address").is_some() {
            assert_eq!(net::vet(address(text(&row, "address"))).is_ok(), passes.unwrap(), "{row}");
        } else {
            let is_address = row.get("literal").and_then(Value::as_bool).unwrap();
            let is = row.get("is").unwrap().as_str().map(address);
            let found = net::address(text(&row, "host"));
            assert!(found == is || is_address && found.is_some(), "{row}: {found:?}");
        }
    }
}

#[test]
fn an_egress_list_ignores_ports_where_only_hosts_are_asked_about() {
    let list = Domains::parse(&["localhost"]).unwrap();
    assert!(list.contains(&Host::Name("localhost".to_owned())));
}

#[test]
fn holes_are_closed() {
    let mut seen = 0;
    for entry in fs::read_dir(corpus().join("holes")).unwrap() {
        let path = entry.unwrap().path();
        let hole: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        check_hole(&hole, &path.file_stem().unwrap().to_string_lossy());
        seen += 1;
    }
    assert!(seen >= 30, "{seen}");
}

fn check_hole(hole: &Value, name: &str) {
    for url in texts(hole, "block") {
        assert!(Target::parse(url).is_err(), "{name}: {url}");
    }
    for url in texts(hole, "allow") {
        assert_eq!(Target::parse(url).map(|_| ()), Ok(()), "{name}: {url}");
    }
    // Refused before the list is looked at, so no entry helps; it is no error to have one.
    assert!(Domains::parse(&texts(hole, "entries")).is_ok(), "{name}");
    for answers in hole.get("answers").and_then(Value::as_array).into_iter().flatten() {
        let addresses: Vec<IpAddr> =
            answers.as_array().unwrap().iter().map(|it| address(it.as_str().unwrap())).collect();
        assert!(net::vet_all(&addresses).is_err(), "{name}: {answers}");
    }
    let base = Target::parse("https://public.example/a/b?c").unwrap();
    for reference in texts(hole, "redirects") {
        assert!(base.join(reference).is_err(), "{name}: {reference}");
    }
    for pattern in texts(hole, "patterns") {
        let error = Domains::parse(&[pattern]).unwrap_err();
        assert_eq!(error.pattern, pattern, "{name}");
    }
    for (field, expected) in [("same", true), ("other", false)] {
        for pair in hole.get(field).and_then(Value::as_array).into_iter().flatten() {
            let [pattern, url] = [0, 1].map(|it| pair.get(it).and_then(Value::as_str).unwrap());
            let target = Target::parse(url).unwrap();
            let list = Domains::parse(&[pattern]).unwrap();
            assert_eq!(list.contains(target.host()), expected, "{name}: {pair}");
        }
    }
}

#[test]
fn an_entry_of_a_list_of_what_is_allowed_means_https_unless_it_says_otherwise() {
    for (pattern, url, expected) in [
        ("a.example", "https://a.example/", true),
        ("a.example", "https://a.example:443/", true),
        ("a.example", "http://a.example/", false),
        ("a.example", "https://a.example:8443/", false),
        ("a.example:8443", "https://a.example:8443/", true),
        ("a.example:8443", "https://a.example/", false),
        ("http://a.example", "http://a.example/", true),
        ("http://a.example", "https://a.example/", true),
        ("http://a.example", "http://a.example:8080/", false),
        ("http://*.a.example:8080", "http://b.a.example:8080/", true),
        ("*.a.example", "http://b.a.example/", false),
        ("8.8.8.8", "https://8.8.8.8/", true),
        ("[2606:4700::1111]:8443", "https://[2606:4700::1111]:8443/", true),
        ("2606:4700::1111", "https://[2606:4700::1111]/", true),
    ] {
        let list = Domains::parse(&[pattern]).unwrap();
        let target = Target::parse(url).unwrap();
        let got = list.permits(&target);
        assert_eq!(got.is_ok(), expected, "{pattern} {url}: {got:?}");
        assert!(list.contains(target.host()));
    }
    let none = Domains::parse(&[""; 0]).unwrap();
    assert!(none.permits(&Target::parse("https://a.example/").unwrap()).is_err());
}

#[test]
fn an_address_on_a_list_is_meant_in_every_form() {
    let host = |url: &str| Target::parse(url).unwrap().host().clone();
    let spellings = [
        "https://93.184.216.34/",
        "https://[::ffff:93.184.216.34]/",
        "https://[64:ff9b::5db8:d822]/",
    ];
    for pattern in ["93.184.216.34", "[::ffff:93.184.216.34]", "[64:ff9b::5db8:d822]"] {
        let list = Domains::parse(&[pattern]).unwrap();
        for url in spellings {
            assert!(list.contains(&host(url)), "{pattern} {url}");
        }
        for url in ["https://93.184.216.35/", "https://[64:ff9b::5db8:d823]/", "https://a.example/"]
        {
            assert!(!list.contains(&host(url)), "{pattern} {url}");
        }
    }
    let list = Domains::parse(&["[2606:4700::1111]"]).unwrap();
    assert!(list.contains(&host("https://[2606:4700:0::1111]/")));
}

#[test]
fn data_that_is_carried_off_is_seen_and_never_said() {
    for row in rows("exfiltration.jsonl") {
        let target = Target::parse(text(&row, "url")).unwrap();
        let found = net::exfiltration(&target);
        let rules: Vec<&str> = found.iter().map(|it| it.rule.as_str()).collect();
        assert_eq!(rules, texts(&row, "rules"), "{row}");
        for reason in found.iter().map(|it| &it.reason) {
            let said = |it: &str| it.len() >= 20 && reason.contains(it);
            let path = target.url().path().split('/').any(said);
            assert!(!path && !target.url().query().is_some_and(said), "{reason}");
        }
    }
}

#[test]
fn ordinary_public_urls_raise_no_suspicion() {
    let mut flagged = Vec::new();
    let public = rows("ssrf.jsonl").into_iter().filter(|it| text(it, "source") == "public_urls");
    let targets: Vec<Target> = public.map(|it| Target::parse(text(&it, "text")).unwrap()).collect();
    assert!(targets.len() > 400);
    for target in targets {
        let found = net::exfiltration(&target);
        if !found.is_empty() || net::blocked(target.host()).is_err() {
            flagged.push((target.url().to_string(), found));
        }
    }
    assert!(flagged.is_empty(), "{flagged:#?}");
}

#[test]
fn the_document_has_every_row_and_every_rule() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/egress.md");
    let document = fs::read_to_string(path).unwrap();
    for row in net::ranges() {
        let what = match row.kind {
            RangeKind::Special => "refused",
            RangeKind::Global => "passes",
        };
        let line = format!("| `{row}` | {what} | `{}` | {} |", row.rule, row.about);
        assert!(document.contains(&line), "docs/egress.md: {line}");
    }
    for (rule, about) in RULES {
        let line = format!("| `{rule}` | {about} |");
        assert!(document.contains(&line), "docs/egress.md: {line}");
    }
}

/// Written without the table: what the standard library and the registries say.
fn is_global(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(it) => {
            let [a, b, c, d] = it.octets();
            let special = it.is_private()
                || it.is_loopback()
                || it.is_link_local()
                || it.is_broadcast()
                || it.is_documentation()
                || it.is_multicast()
                || a == 0
                || a >= 240
                || (a == 100 && (64..128).contains(&b))
                || (a == 198 && (18..20).contains(&b))
                || ([a, b, c] == [192, 0, 0] && d != 9 && d != 10)
                || [a, b, c] == [192, 88, 99]
                || it.octets() == [168, 63, 129, 16];
            !special
        }
        IpAddr::V6(it) => match it.segments() {
            [0, 0, 0, 0, 0, 0xffff, ..] => is_global(IpAddr::V4(it.to_ipv4_mapped().unwrap())),
            [0x64, 0xff9b, 0, 0, 0, 0, a, b] => {
                let [a, b] = [a, b].map(u16::to_be_bytes);
                is_global(IpAddr::from([a[0], a[1], b[0], b[1]]))
            }
            [0x2001, second, ..] if second < 0x200 => {
                second == 1 || second == 3 || second == 4 || second & 0xfff0 == 0x30
            }
            [0x2001, 0xdb8, ..] | [0x2002, ..] => false,
            [0x3fff, second, ..] if second < 0x1000 => false,
            [first, ..] => first & 0xe000 == 0x2000,
        },
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2048, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_read_or_refused_by_a_rule_that_there_is(text in ".{0,60}") {
        let _ = net::fuzzing::url(text.as_bytes());
        let _ = net::fuzzing::url(format!("http://{text}").as_bytes());
        let _ = Domains::parse(&[text]);
    }

    #[test]
    fn whatever_a_host_is_made_of_it_is_read_as_one_or_refused(
        host in "[0-9a-fA-FxX.:\\[\\]%@\\\\/?#。①②⑦ⓧ-]{1,24}",
        port in prop_oneof![Just(String::new()), ":[0-9]{0,6}"],
        reference in "([/\\\\:?#@. a]|//|http|https|x\\.example|127\\.1){0,6}",
    ) {
        let _ = net::fuzzing::url(format!("http://{host}{port}/").as_bytes());
        let _ = net::fuzzing::url(format!("https://a.example/b?c\n{reference}").as_bytes());
        let _ = net::fuzzing::url(format!("http://8.8.8.8/b?c\n{reference}").as_bytes());
    }

    #[test]
    fn an_address_that_passes_is_global(bits in any::<u32>(), high in any::<u128>()) {
        let v4 = IpAddr::from(bits.to_be_bytes());
        prop_assert_eq!(net::vet(v4).is_ok(), is_global(v4), "{}", v4);
        let text = format!("http://{v4}/");
        prop_assert_eq!(Target::parse(&text).is_ok(), is_global(v4));
        // Any number is an address that is written in an unusual way.
        for text in [format!("http://{bits}/"), format!("http://0x{bits:x}/")] {
            prop_assert!(Target::parse(&text).is_err(), "{text}");
        }
        let mask = |shift: u32| high >> shift;
        for address in [high, mask(3) | 1 << 125, mask(16) | 0x2001 << 112, mask(96) | 0xffff << 32, u128::from(bits)] {
            let v6 = Ipv6Addr::from(address);
            if net::vet(v6.into()).is_ok() {
                prop_assert!(is_global(v6.into()), "{v6}");
            }
            prop_assert_eq!(Target::parse(&format!("http://[{v6}]/")).is_ok(), net::vet(v6.into()).is_ok());
        }
    }

    #[test]
    fn an_embedded_address_is_judged_as_itself(bits in any::<u32>()) {
        let (v4, [high, low]) = (IpAddr::from(bits.to_be_bytes()), [bits >> 16, bits & 0xffff]);
        for text in [
            format!("::ffff:{high:x}:{low:x}"),
            format!("64:ff9b::{high:x}:{low:x}"),
            format!("2606:4700::5efe:{high:x}:{low:x}"),
        ] {
            prop_assert_eq!(net::vet(address(&text)).is_ok(), net::vet(v4).is_ok(), "{}", text);
        }
        for text in [format!("::{high:x}:{low:x}"), format!("2002:{high:x}:{low:x}::1")] {
            prop_assert!(net::vet(address(&text)).is_err(), "{}", text);
        }
        let dashed = v4.to_string().replace('.', "-");
        for name in [format!("{v4}.nip.io"), format!("x-{dashed}.sslip.io"), format!("{bits:08x}.nip.io")] {
            prop_assert_eq!(Target::parse(&format!("http://{name}/")).is_ok(), net::vet(v4).is_ok(), "{}", name);
        }
    }
}
