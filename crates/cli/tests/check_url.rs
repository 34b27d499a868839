//! `lazaret check url`: output, messages and exit codes.

use serde_json::{Value, json};
use testkit::program::{Ran, Run as _};

use crate::program::stateless;

const CARRIES: &str = "https://a.example/?d=QUtJQUlPU0ZPRE5ON0VYQU1QTEU";

fn run(args: &[&str], stdin: &str) -> Ran {
    stateless(&["check", "url"]).args(args).run_with(stdin)
}

/// The answer to one request, in which `--offline` is not said.
fn answer(request: &Value) -> Value {
    run(&["--json"], &request.to_string()).good().object()
}

#[test]
fn a_public_url_exits_0_and_any_other_1() {
    let good = run(&["--json", "https://8.8.8.8/"], "").good();
    let expected = json!({
        "id": null, "decision": "allow", "rule": null, "reason": null, "host": "8.8.8.8", "addrs": ["8.8.8.8"],
    });
    assert_eq!(good.object(), expected);

    let bad = run(&["--offline", "https://example.org/", "http://0x7f.1/", CARRIES], "");
    assert_eq!(bad.code, 1);
    let expected = "allow     example.org\n\
        deny      net-v4-loopback: `127.0.0.1` is not a public address: this machine, RFC 1122\n\
        step_up   net-exfil-query: a value in the query is text that was encoded\n";
    assert_eq!(bad.out, expected);
}

#[test]
fn a_name_is_what_resolve_says_and_nothing_without_it() {
    let of = |addresses: Value| {
        let resolve = json!({"A.Example.": addresses});
        let found = answer(&json!({"id": 7, "url": "https://a.example/", "resolve": resolve}));
        assert_eq!(found["id"], 7);
        (found["decision"].clone(), found["rule"].clone(), found["addrs"].clone())
    };
    assert_eq!(of(json!(["1.1.1.1"])), (json!("allow"), Value::Null, json!(["1.1.1.1"])));
    let mixed = json!(["1.1.1.1", "10.0.0.1"]);
    assert_eq!(of(mixed.clone()), (json!("deny"), json!("net-v4-private"), mixed));
    assert_eq!(of(json!([])), (json!("deny"), json!("net-no-address"), json!([])));
    assert_eq!(of(json!(["x"])), (json!("deny"), json!("net-bad-address"), json!([])));
    assert_eq!(of(json!(["fe80::1%eth0"])).1, json!("net-v6-link-local"));

    // The name is in no map: nobody knows its addresses. One that carries data is not even asked about.
    assert_eq!(answer(&json!({"url": "https://b.invalid/"}))["decision"], "deny");
    assert_eq!(answer(&json!({"url": CARRIES}))["decision"], "step_up");
    let inside = json!({"url": CARRIES, "resolve": {"a.example": ["10.0.0.1"]}});
    assert_eq!(answer(&inside)["decision"], "deny");
}

#[test]
fn a_list_allows_what_is_on_it_and_lifts_nothing_else() {
    let of = |url: &str, allow: &[&str]| {
        let request = json!({"url": url, "allow": allow, "resolve": {"a.example": ["1.1.1.1"]}});
        let found = answer(&request);
        (found["decision"].clone(), found["rule"].clone())
    };
    let denied = |rule: &str| (json!("deny"), json!(rule));
    assert_eq!(of("https://a.example/", &["a.example"]).0, "allow");
    assert_eq!(of(CARRIES, &["a.example"]).0, "allow");
    assert_eq!(of("https://a.example/", &[]), denied("net-not-allowed"));
    assert_eq!(of("http://a.example/", &["a.example"]), denied("net-not-allowed"));
    assert_eq!(of("https://webhook.site/", &["webhook.site"]), denied("net-blocked-domain"));
    let metadata = "metadata.google.internal";
    assert_eq!(of(&format!("http://{metadata}/"), &[metadata]), denied("net-name-metadata"));
    assert_eq!(of("http://169.254.169.254/", &["169.254.169.254"]), denied("net-v4-metadata"));
    assert_eq!(of("https://a.example/", &["*.com"]), denied("net-bad-list"));

    let usage = run(&["--allow", "*.co.uk", "https://a.example/"], "");
    usage.fails(2, &["`*.co.uk` is wider than anybody can mean"]);
}

#[test]
fn the_host_is_the_one_that_a_browser_sees() {
    for (url, host) in [
        ("http://①②⑦.0.0.1/", json!("127.0.0.1")),
        ("http://a@b.example./", json!("b.example")),
        ("http://[::ffff:127.0.0.1]/", json!("[::ffff:7f00:1]")),
        ("nothing", Value::Null),
    ] {
        let found = answer(&json!({"url": url}));
        assert_eq!((&found["decision"], &found["host"]), (&json!("deny"), &host), "{url}");
    }
}

#[test]
fn what_is_no_request_is_said_and_the_batch_goes_on() {
    let lines = "{\"id\":1}\n[]\n{\"id\":2,\"url\":\"http://10.0.0.1/\",\"resolve\":[]}\n\
        {\"id\":3,\"url\":\"http://10.0.0.1/\",\"allow\":[1]}\n{\"id\":4,\"url\":\"http://10.0.0.1/\"}\n";
    let rows = run(&["--json"], lines).good().objects();
    assert_eq!(rows.len(), 5);
    assert!(rows[..4].iter().all(|it| it["error"].is_string()), "{rows:?}");
    assert_eq!((&rows[4]["id"], &rows[4]["decision"]), (&json!(4), &json!("deny")));
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a file of the test's own")]
fn with_the_settings_what_the_operator_opened_is_allowed_and_said_to_be() {
    let home = tempfile::tempdir().unwrap();
    let config = "egress:\n  blockedDomains: [bad.example]\n  inner:\n    - {host: gitlab.corp, port: 443, addresses: [10.1.2.3]}\n    - {host: 10.1.2.4, port: 8080}\n";
    std::fs::write(home.path().join("config.yaml"), config).unwrap();
    let home_of = home.path().display().to_string();
    let of = |url: &str, addresses: &[&str]| {
        let resolve =
            json!({"gitlab.corp": addresses, "a.example": addresses, "bad.example": addresses});
        let request = json!({"url": url, "resolve": resolve}).to_string();
        let found = run(&["--json", "--settings", "--home", &home_of], &request).good().object();
        let text = |name: &str| found[name].as_str().unwrap_or_default().to_owned();
        (text("decision"), text("rule"), text("opened_by"))
    };
    let told = |decision: &str, rule: &str, by: &str| {
        (decision.to_owned(), rule.to_owned(), by.to_owned())
    };
    assert_eq!(of("https://gitlab.corp/x", &["10.1.2.3"]), told("allow", "", "operator"));
    assert_eq!(of("http://10.1.2.4:8080/", &[]), told("allow", "", "operator"));
    assert_eq!(
        of("https://gitlab.corp/x", &["10.1.2.4"]),
        told("deny", "egress-inner", "operator")
    );
    assert_eq!(of("https://gitlab.corp:444/", &["10.1.2.3"]), told("deny", "net-name-inside", ""));
    assert_eq!(of("https://a.example/", &["10.1.2.3"]), told("deny", "net-v4-private", ""));
    assert_eq!(of("https://bad.example/", &["1.1.1.1"]), told("deny", "egress-blocked", ""));
    let without = json!({"url": "https://gitlab.corp/x"}).to_string();
    assert_eq!(run(&["--json"], &without).good().object()["decision"], "deny");
    let plain = run(&["--settings", "--home", &home_of, "http://10.1.2.4:8080/"], "").good();
    assert_eq!(plain.out, "allow     10.1.2.4 (opened by the operator)\n");
}
