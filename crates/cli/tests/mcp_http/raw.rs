//! Requests as bytes: what two readers could take for two different requests is refused, and nothing hides behind another.
//!
//! The cases are `corpus/mcp-http/requests.jsonl`: what is sent, and the statuses of all answers on that connection.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::client::{Gateway, corpus, modern, request};
use super::gateway;

/// How long nothing is said before nothing more comes.
const SILENCE: Duration = Duration::from_secs(4);

/// Sends bytes, and returns the statuses of the answers.
fn statuses(gateway: &Gateway, raw: &str) -> Vec<u64> {
    #[expect(clippy::disallowed_methods, reason = "a client of the gateway, on this machine")]
    let mut stream = TcpStream::connect(("127.0.0.1", gateway.port)).unwrap();
    stream.set_read_timeout(Some(SILENCE)).unwrap();
    // Whoever refuses need not read to the end.
    let _ = stream.write_all(raw.as_bytes());
    let mut heard = Vec::new();
    // A connection that is reset, or that waits for another request, has said what it had to say.
    let _ = stream.read_to_end(&mut heard);
    let heard = String::from_utf8_lossy(&heard).into_owned();
    let answers = heard.split("HTTP/1.1 ").skip(1);
    answers.map(|it| it.get(..3).unwrap_or_default().parse().unwrap()).collect()
}

#[test]
fn every_request_of_the_corpus_is_answered_as_it_should() {
    let (_dir, gateway) = gateway(&[]);
    let body = request(1, "tools/list", modern(json!({}))).to_string();
    let host = format!("127.0.0.1:{}", gateway.port);
    let filled = |text: &str| {
        text.replace("$HOST", &host)
            .replace("$TOKEN", gateway.token.as_ref().unwrap())
            .replace("$LENGTH", &body.len().to_string())
            .replace("$HEX", &format!("{:x}", body.len()))
            .replace("$BODY", &body)
    };
    let rows = std::fs::read_to_string(corpus("requests.jsonl")).unwrap();
    let judge = |row: &str| {
        let row: Value = serde_json::from_str(row).unwrap();
        let raw = filled(row["raw"].as_str().unwrap());
        // The length of what is hidden in a body.
        let hidden = raw.split_once("\r\n\r\n").map_or(0, |it| it.1.len());
        let raw = raw.replace("$OUTER", &hidden.to_string());
        let expected: Vec<u64> =
            row["statuses"].as_array().unwrap().iter().map(|it| it.as_u64().unwrap()).collect();
        let found = statuses(&gateway, &raw);
        (found != expected).then(|| format!("{}: {found:?}, not {expected:?}", row["name"]))
    };
    // Connections know nothing of each other, and most of the time is silence.
    let wrong: Vec<String> = thread::scope(|scope| {
        let judge = &judge;
        let asked: Vec<_> = rows.lines().map(|row| scope.spawn(move || judge(row))).collect();
        asked.into_iter().filter_map(|it| it.join().unwrap()).collect()
    });
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(rows.lines().count() >= 30);
    let client = gateway.client();
    assert_eq!(client.call("look", json!({ "name": "plain" })), "The meeting is at nine.");
}

/// An approval is for the session that it was asked in: of another client, and over another way, it is none.
#[test]
fn a_state_of_another_client_is_no_approval() {
    let (dir, gateway) = gateway(&[]);
    let home = dir.path().join("state");
    let asking = json!({ "elicitation": {} });
    let ask = |client: &super::client::Client, state: Option<&str>| {
        let arguments = json!({ "to": "bob@evil.example", "body": "hi" });
        let mut params = json!({ "name": "send_mail", "arguments": arguments,
            "_meta": { "io.modelcontextprotocol/clientCapabilities": asking } });
        if let Some(state) = state {
            params["requestState"] = json!(state);
            params["inputResponses"] =
                json!({ "approval": { "action": "accept", "content": { "decision": "once" } } });
        }
        client.ask(7, "tools/call", params)["result"].clone()
    };
    let one = gateway.client();
    // Outside content, so that sending is asked about.
    one.call("look", json!({ "name": "orders" }));
    let asked = ask(&one, None);
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let state = asked["requestState"].as_str().unwrap().to_owned();
    let made = super::tokens::create(&home, "second");
    let other = gateway.client_with(&made);
    other.call("look", json!({ "name": "orders" }));
    let refused = ask(&other, Some(&state));
    assert_ne!(refused["isError"], Value::Null, "{refused}");
    let mut changed = state.clone();
    changed.pop();
    assert_ne!(ask(&one, Some(&changed))["isError"], Value::Null);
    let sent = ask(&one, Some(&state));
    assert_eq!(sent["content"][0]["text"], "sent to bob@evil.example", "{sent}");
    assert_ne!(ask(&one, Some(&state))["isError"], Value::Null, "it is good once");
}
