//! Addresses on the web, at the edges of each rule: the last that passes and the first that does not.

#![expect(clippy::unwrap_used, reason = "test helpers, not only `#[test]` functions")]

use scan::net::{self, Domains, Host, Scheme, Target, URL_BYTES_MAX};

fn rule(url: &str) -> &'static str {
    Target::parse(url).map_or_else(|it| it.rule.as_str(), |_| "")
}

fn suspicions(url: &str) -> Vec<&'static str> {
    net::exfiltration(&Target::parse(url).unwrap()).iter().map(|it| it.rule.as_str()).collect()
}

#[test]
fn each_spelling_is_refused_by_its_rule() {
    for (url, expected) in [
        ("https://a.example/", ""),
        ("https://8.8.8.8:8443/", ""),
        ("https://[2606:4700::1]:8443/x]", ""),
        ("https://a.exa\tmple/", "net-spelling"),
        ("https://a.example/\tx", "net-spelling"),
        ("https://a.example/x\ny", "net-spelling"),
        ("https://a.example/x\u{7f}", "net-spelling"),
        ("https://a.example/ü\u{85}", "net-spelling"),
        ("https://a.example/ü\n", "net-spelling"),
        (" https://a.example/", "net-spelling"),
        ("https://a.example/ ", "net-spelling"),
        ("https://a.example/\u{3000}", "net-spelling"),
        ("https://a .example/", "net-spelling"),
        ("https://a%2eexample/", "net-spelling"),
        ("https://a.example?x@b.example", "net-spelling"),
        ("https://a.example/x@b.example", ""),
        ("https://a.example/x\\y", "net-spelling"),
        ("https://a.example/?x\\y", ""),
        ("a.example", "net-not-a-url"),
        ("https:a.example", "net-not-a-url"),
        ("a/b:c", "net-not-a-url"),
        ("mailto:a@b.example", "net-scheme"),
        ("ftp://a.example/", "net-scheme"),
        ("https://a.example:99999/", "net-port"),
        ("https://a.example:0/", "net-port"),
        ("https://[2606:4700::1/", "net-not-a-url"),
        ("https:///", "net-no-host"),
        ("http://localhost/", "net-name-single"),
        ("http://a.localhost/", "net-name-inside"),
        ("http://api.metadata.cloud.ibm.com/", "net-name-metadata"),
    ] {
        assert_eq!(rule(url), expected, "{url:?}");
    }
}

#[test]
fn lengths_end_where_they_should() {
    let url = |bytes: usize| format!("https://a.example/{}", "x".repeat(bytes - 18));
    assert_eq!(rule(&url(URL_BYTES_MAX)), "");
    assert_eq!(rule(&url(URL_BYTES_MAX + 1)), "net-too-long");
    // Six bytes become nine in the normal form.
    let longer = format!("{}ü", url(URL_BYTES_MAX - 6));
    assert_eq!(rule(&longer), "");
    assert_eq!(rule(&format!("{longer}x")), "net-too-long");
    let name = |last: usize| {
        let label = "a".repeat(63);
        format!("https://{label}.{label}.{label}.{}/", "b".repeat(last))
    };
    assert_eq!(rule(&name(61)), "");
    assert_eq!(rule(&name(62)), "net-name");
    assert_eq!(rule(&format!("https://{}.example/", "a".repeat(63))), "");
    assert_eq!(rule(&format!("https://{}.example/", "a".repeat(64))), "net-name");
}

#[test]
fn a_reference_with_a_colon_is_no_scheme_behind_a_slash() {
    let here = Target::parse("https://a.example/way/in").unwrap();
    for (reference, url) in [
        ("/a:b", "https://a.example/a:b"),
        ("x/b:c", "https://a.example/way/x/b:c"),
        ("?t=12:30", "https://a.example/way/in?t=12:30"),
        ("#x:y", "https://a.example/way/in"),
        (":80/x", "https://a.example/way/:80/x"),
        ("//b.example:8443/x", "https://b.example:8443/x"),
        ("https://b.example/", "https://b.example/"),
    ] {
        let found = here.join(reference).map(|it| it.url().as_str().to_owned());
        assert_eq!(found.as_deref(), Ok(url), "{reference}");
    }
    for (reference, rule) in [
        ("http://a.example/", "net-downgrade"),
        ("javascript:alert(1)", "net-scheme"),
        ("/\\b.example/", "net-spelling"),
        ("\\\\b.example/", "net-spelling"),
        ("//user@b.example/", "net-userinfo"),
        ("//10.0.0.1/", "net-v4-private"),
        ("/a\nb", "net-spelling"),
    ] {
        assert_eq!(here.join(reference).map_err(|it| it.rule.as_str()), Err(rule), "{reference}");
    }
}

#[test]
fn hosts_are_shown_and_seen_in_one_form() {
    let host = |url: &str| Target::parse(url).unwrap().host().to_string();
    assert_eq!(host("https://A.Example./"), "a.example");
    assert_eq!(host("https://[2606:4700:0:0::1]/"), "2606:4700::1");
    for (text, seen) in [
        ("https://A.Example./x", Some("a.example")),
        ("http://0x7f.1/", Some("127.0.0.1")),
        ("http://[::1]:80/", Some("[::1]")),
        ("ftp://b.example/", Some("b.example")),
        ("mailto:a@b.example", None),
        ("file:///etc", None),
        ("nothing", None),
    ] {
        assert_eq!(net::seen_host(text).as_deref(), seen, "{text}");
    }
    assert_eq!(net::address("127.0.0.①"), Some([127, 0, 0, 1].into()));
}

#[test]
fn what_a_name_is_can_be_asked() {
    for name in
        ["localhost", "a.internal", "lvh.me", "127.0.0.1.nip.io", "metadata.google.internal"]
    {
        assert!(net::leads_inside(name), "{name}");
    }
    assert!(!net::leads_inside("a.example"));
    assert!(net::is_metadata("x.metadata.google.internal") && net::is_metadata("metadata"));
    assert!(!net::is_metadata("a.internal") && !net::is_metadata("a.example"));
    assert!(net::is_tunnel("x.ngrok.io") && !net::is_tunnel("ngrok.example"));
    let blocked =
        |name: &str| net::blocked(&Host::Name(name.to_owned())).map_err(|it| it.rule.as_str());
    assert_eq!(blocked("x.webhook.site"), Err("net-blocked-domain"));
    assert_eq!(blocked("a.example"), Ok(()));
}

#[test]
fn a_refusal_says_which_address_it_is_about() {
    let reason = |address: &str| net::vet(address.parse().unwrap()).unwrap_err().reason;
    assert!(reason("::ffff:10.0.0.1").contains("`::ffff:10.0.0.1`, that is 10.0.0.1, is not"));
    assert!(reason("10.0.0.1").starts_with("`10.0.0.1` is not"));
}

#[test]
fn lists_are_read_as_they_are_meant() {
    let host = Host::Name("a.example".to_owned());
    for pattern in ["a.example", "https://a.example", "HTTPS://A.example", "http://a.example"] {
        assert!(Domains::parse(&[pattern]).unwrap().contains(&host), "{pattern}");
    }
    for (pattern, why) in [
        ("*", "every domain"),
        ("*.個人.hk", "wider than anybody"),
        ("*.co.uk", "wider than anybody"),
        ("ftp://a.example", "neither http nor https"),
    ] {
        let error = Domains::parse(&[pattern]).unwrap_err();
        assert!(error.why.contains(why), "{error}");
    }
}

#[test]
fn what_is_long_is_longer_than_its_limit() {
    let value = |bytes: usize| {
        format!(
            "https://a.example/?q={}",
            "word ".repeat(60).get(..bytes - 2).unwrap().replace(' ', "+")
        )
    };
    assert_eq!(suspicions(&value(256)), [""; 0]);
    assert_eq!(suspicions(&value(257)), ["net-exfil-long"]);
    let query = |bytes: usize| {
        let all = "some=words&".repeat(100);
        format!("https://a.example/?{}", all.get(..bytes).unwrap())
    };
    assert_eq!(suspicions(&query(1024)), [""; 0]);
    assert_eq!(suspicions(&query(1025)), ["net-exfil-long"]);
    let path = |bytes: usize| {
        let all = "/word".repeat(300);
        format!("https://a.example{}", all.get(..bytes).unwrap())
    };
    assert_eq!(suspicions(&path(1024)), [""; 0]);
    assert_eq!(suspicions(&path(1025)), ["net-exfil-long"]);
    let name = |bytes: usize| {
        let all = "some-words-that-are-a-name.".repeat(4);
        format!("https://{}.a.example/", all.get(..bytes).unwrap())
    };
    assert_eq!(suspicions(&name(100)), [""; 0]);
    assert_eq!(suspicions(&name(101)), ["net-exfil-dns"]);
}

#[test]
fn a_suspicion_says_what_kind_of_data_it_is() {
    let reason = |url: &str| net::exfiltration(&Target::parse(url).unwrap()).remove(0).reason;
    let text = reason("https://a.example/?d=c2VjcmV0IGtleSBpcyBodW50ZXIyIQ==");
    assert_eq!(text, "a value in the query is text that was encoded");
    let random = reason("https://a.example/?d=q83vASNFZ4mrze8BI0VniavN7wEjRWeJq83vASNFZ4k");
    assert_eq!(random, "a value in the query looks like encoded or encrypted data");
}

#[test]
fn honest_addresses_pass_and_raise_no_suspicion() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/net/honest.txt");
    let text = std::fs::read_to_string(path).unwrap();
    let all: Vec<&str> = text.lines().collect();
    assert!(all.len() > 100);
    let mut flagged = Vec::new();
    for url in all {
        let target = Target::parse(url).unwrap();
        net::blocked(target.host()).unwrap();
        let found = net::exfiltration(&target);
        flagged.extend(found.iter().map(|it| format!("{}: {url}", it.rule)));
    }
    assert!(flagged.is_empty(), "{flagged:#?}");
}

/// The same host at another port, or asked for in another way, is another place.
#[test]
fn what_stands_beside_is_of_the_same_origin_or_read_anew() {
    let url = |text: &str| url::Url::parse(text).unwrap();
    let base = Target::parse("https://a.example/a?b=c").unwrap();
    let same = base.beside(url("https://a.example/d")).unwrap();
    assert_eq!((same.port(), same.url().as_str()), (443, "https://a.example/d"));
    let port = base.beside(url("https://a.example:8443/d")).unwrap();
    assert_eq!((port.port(), port.scheme()), (8443, Scheme::Https));
    let scheme = base.beside(url("http://a.example/d")).unwrap();
    assert_eq!((scheme.port(), scheme.scheme()), (80, Scheme::Http));
    let host = base.beside(url("https://b.example/")).unwrap();
    assert_eq!(host.host().to_string(), "b.example");
    // What was opened on this machine is one port of it.
    let here = Target::dangerously_on_this_machine("http://127.0.0.1:8888/").unwrap();
    assert_eq!(here.beside(url("http://127.0.0.1:8888/search")).unwrap().port(), 8888);
    assert!(here.beside(url("http://127.0.0.1:9999/search")).is_err());
    assert!(here.beside(url("https://127.0.0.1:8888/search")).is_err());
}
