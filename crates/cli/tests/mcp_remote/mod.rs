//! `lazaret mcp` before servers that are reached at an address, over real sockets on loopback.

#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "test helpers; clippy's exceptions cover only `#[test]` functions"
)]

mod client;
mod hostile;
mod login;
mod server;
mod web;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::program::Run as _;

use crate::program::lazaret;
use client::{Client, Place};
use server::{legacy, modern, said, wanted};
use web::{Asked, Reply, Web};

/// A server of the era with a handshake, whose calls say what they were asked for.
fn echo() -> Web {
    Web::start(|asked| legacy(asked, &|asked, id| Reply::json(&said(id, &wanted(asked)))))
}

#[test]
fn a_server_with_sessions_is_greeted_asked_and_left() {
    let server = echo();
    let place = Place::new();
    let mut client = Client::at(&place, &server.url("/mcp"));
    assert_eq!(client.tools(), ["look"]);
    assert_eq!(client.look("the plan"), "the plan");
    client.end();
    let seen = server.seen();
    let last = seen.last().unwrap();
    assert_eq!((last.verb.as_str(), last.header("mcp-session-id")), ("DELETE", "session-1"));
    let order: Vec<String> = seen.iter().map(Asked::method).filter(|it| !it.is_empty()).collect();
    assert_eq!(order, ["initialize", "notifications/initialized", "tools/list", "tools/call"]);
    for asked in seen.iter().skip(1) {
        assert_eq!(asked.header("mcp-session-id"), "session-1", "{asked:?}");
        assert_eq!(asked.header("mcp-protocol-version"), "2025-06-18", "{asked:?}");
        assert_eq!(asked.header("accept-encoding"), "identity", "{asked:?}");
    }
    let hello = &server.asked("initialize")[0];
    assert_eq!(hello.header("mcp-session-id"), "");
    assert_eq!(hello.header("accept"), "application/json, text/event-stream");
    assert!(!place.records("mcp_lifecycle").is_empty());
}

#[test]
fn a_server_without_sessions_gets_headers_that_say_what_its_body_says() {
    let server = Web::start(|asked| {
        modern(asked, &|asked, id| {
            let text = format!("{} {}", wanted(asked), asked.header("mcp-param-topic"));
            Reply::events(&[said(id, &text)])
        })
    });
    let place = Place::new();
    let mut client = Client::at(&place, &server.url("/mcp"));
    assert_eq!(client.tools(), ["look"]);
    assert_eq!(client.look("plan"), "plan plan");
    assert_eq!(client.look("für alle"), "für alle =?base64?ZsO8ciBhbGxl?=");
    client.end();
    assert!(server.seen().iter().all(|it| it.header("mcp-session-id").is_empty()));
}

#[test]
fn clients_and_servers_of_both_eras_understand_each_other() {
    let called = |asked: &Asked, id: &Value| Reply::json(&said(id, &wanted(asked)));
    let place = Place::new();
    let servers = [
        Web::start(move |asked| legacy(asked, &called)),
        Web::start(move |asked| modern(asked, &called)),
    ];
    for server in &servers {
        for mut client in
            [Client::at(&place, &server.url("/mcp")), Client::modern(&place, &server.url("/mcp"))]
        {
            assert_eq!(client.tools(), ["look"]);
            assert_eq!(client.look("plan"), "plan");
            client.end();
        }
    }
}

#[test]
fn many_calls_take_few_connections() {
    let server = Web::start(|asked| {
        legacy(asked, &|asked, id| match wanted(asked).len() % 2 {
            0 => Reply::json(&said(id, &wanted(asked))),
            _ => Reply::events(&[said(id, &wanted(asked))]),
        })
    });
    let place = Place::new();
    let mut client = Client::at(&place, &server.url("/mcp"));
    client.tools();
    for length in 1..=20 {
        let name = "n".repeat(length);
        assert_eq!(client.look(&name), name);
    }
    client.end();
    assert!(server.connections() <= 5, "{} connections", server.connections());
}

#[test]
fn a_session_that_the_server_forgot_is_made_anew_and_the_call_is_made_once() {
    let error = json!({ "code": -32000, "message": "Bad Request: No valid session ID provided" });
    let widespread = Reply::status(400, &json!({ "jsonrpc": "2.0", "error": error }));
    for forgotten in [Reply::empty(404), widespread] {
        forgets_once(forgotten);
    }
}

fn forgets_once(forgotten: Reply) {
    let calls = AtomicUsize::new(0);
    let server = Web::start(move |asked| {
        let is_first = asked.method() == "tools/call" && calls.fetch_add(1, Ordering::SeqCst) == 0;
        if is_first {
            return forgotten.clone();
        }
        legacy(asked, &|asked, id| Reply::json(&said(id, &wanted(asked))))
    });
    let place = Place::new();
    let mut client = Client::at(&place, &server.url("/mcp"));
    client.tools();
    assert_eq!(client.look("plan"), "plan");
    client.end();
    assert_eq!(server.asked("initialize").len(), 2);
    assert_eq!(server.asked("tools/call").len(), 2, "once refused, once done");
    assert_eq!(server.asked("tools/list").len(), 1);
}

#[test]
fn what_a_server_says_unasked_comes_by_the_standing_stream() {
    let server = Web::start(|asked| match asked.verb.as_str() {
        "GET" if asked.header("last-event-id").is_empty() => {
            let note = json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" });
            Reply::Events { pieces: vec![format!("id: e1\ndata: {note}\n\n")], is_cut: false }
        }
        "GET" => Reply::Events { pieces: vec![": still here\n\n".to_owned()], is_cut: true },
        _ => legacy(asked, &|asked, id| Reply::json(&said(id, &wanted(asked)))),
    });
    let place = Place::new();
    let mut client = Client::at(&place, &server.url("/mcp"));
    client.tools();
    let gets = || server.seen().into_iter().filter(|it| it.verb == "GET").collect::<Vec<_>>();
    let begun = Instant::now();
    while gets().len() < 2 {
        assert!(begun.elapsed() < Duration::from_secs(20), "it is not taken up again");
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(gets()[1].header("last-event-id"), "e1");
    assert_eq!(client.look("plan"), "plan");
    client.end();
}

#[test]
fn a_stream_that_breaks_off_is_taken_up_again_where_its_events_have_ids() {
    let server = Web::start(|asked| {
        if asked.verb == "GET" && asked.header("last-event-id") == "e7" {
            let answer = said(&json!(3), "at last");
            return Reply::Events {
                pieces: vec![format!("id: e8\ndata: {answer}\n\n")],
                is_cut: false,
            };
        }
        legacy(asked, &|_, _| Reply::Events {
            pieces: vec!["id: e7\ndata: \n\n".to_owned()],
            is_cut: true,
        })
    });
    let place = Place::new();
    let mut client = Client::at(&place, &server.url("/mcp"));
    client.tools();
    assert_eq!(client.look("plan"), "at last");
    client.end();
}

#[test]
fn a_header_comes_from_the_vault_goes_to_its_host_alone_and_never_back() {
    let value = "zQ8-not-a-real-token-4Kq9vT2m";
    let server = Web::start(|asked| {
        if asked.header("authorization") != "Bearer zQ8-not-a-real-token-4Kq9vT2m" {
            return Reply::empty(401);
        }
        legacy(asked, &|asked, id| Reply::json(&said(id, asked.header("authorization"))))
    });
    let (url, header) = (server.url("/mcp"), "Authorization: Bearer vault:NOTES_TOKEN");
    let words = ["mcp", "--name", "notes", "--url", url.as_str(), "--header", header];
    let host = format!("http://127.0.0.1:{}", server.port);
    let place = Place::with_secret("NOTES_TOKEN", value, &host);
    let mut client = Client::start(&place.home, &words);
    client.tools();
    assert_eq!(client.look("plan"), "Bearer [secret:NOTES_TOKEN]", "it is taken out of results");
    client.end();
    assert!(!place.holds(value), "it is kept nowhere in the open");
    let uses = place.records("credential");
    assert_eq!(uses[0]["record"]["payload"]["inline"]["keys"], json!(["NOTES_TOKEN"]), "{uses:?}");
    // Bound to another host, it is not sent here.
    let other = Place::with_secret("NOTES_TOKEN", value, "api.example.com");
    let before = server.seen().len();
    let (client, said) = Client::hello(&other.home, &words);
    assert!(said["error"]["message"].as_str().unwrap().contains("not for `127.0.0.1`"), "{said}");
    client.end();
    assert_eq!(server.seen().len(), before, "nothing was sent at all");
    // What others could read is not taken from the command line.
    let open = ["mcp", "--url", url.as_str(), "--header", "Authorization: Bearer abcdefgh1234"];
    let refused = lazaret(&other.home, &open).run();
    assert!(refused.code == 2 && refused.err.contains("vault:NAME"), "{}", refused.err);
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a file of the test's own")]
fn servers_with_and_without_an_address_stand_behind_one_endpoint_and_one_that_hangs_harms_no_other()
{
    let good = echo();
    let hung = Web::start(|_| Reply::Silence);
    let place =
        Place::with_secret("FOR_A_HOST", "zQ8-not-a-real-token-7Hq3wR5n", "api.example.com");
    let mut set = lazaret(&place.home, &["vault", "set", "GIVEN_SECRET"]);
    assert_eq!(set.run_with("zQ8-not-a-real-token-4Kq9vT2m").code, 0);
    let inner = |port: u16| json!({ "host": "127.0.0.1", "port": port });
    let settings = json!({ "egress": { "inner": [inner(good.port), inner(hung.port)] } });
    place.settings(&settings.to_string());
    let program =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/mcp-server/server.py");
    let config = json!({ "mcpServers": {
        "good": { "type": "http", "url": good.url("/mcp") },
        "hung": { "url": hung.url("/mcp") },
        "local": {
            "command": "python3", "args": ["-B", program], "read": [program],
            "env": { "GIVEN": "vault:GIVEN_SECRET" },
        },
    } });
    let file = place.dir.path().join("servers.json");
    std::fs::write(&file, config.to_string()).unwrap();
    let file = file.display().to_string();
    let mut client = Client::start(&place.home, &["mcp", "serve", "--config", &file]);
    assert!(client.tools().contains(&"good__look".to_owned()));
    let text = |said: &Value| said["result"]["content"][0]["text"].as_str().unwrap().to_owned();
    let id = client.send_look("good__look", "plan");
    assert_eq!(text(&client.hear(id)), "plan");
    let id = client.send_look("local__look", "value:GIVEN");
    assert_eq!(
        text(&client.hear(id)),
        "[secret:GIVEN_SECRET]",
        "it was given, and taken out again"
    );
    client.end();
    // What is for a host is not for a program, which may send it anywhere.
    let words = ["mcp", "--secret", "GIVEN=FOR_A_HOST", "--", "python3", "-B", "x.py"];
    let refused = lazaret(&place.home, &words).run();
    assert!(refused.code == 1 && refused.err.contains("is for hosts"), "{}", refused.err);
}

#[test]
fn a_server_that_is_started_gets_a_secret_by_its_environment() {
    let place = Place::with_secret("OTHER_SECRET", "zQ8-not-a-real-token-7Hq3wR5n", "a.example");
    let mut set = lazaret(&place.home, &["vault", "set", "GIVEN_SECRET"]);
    assert_eq!(set.run_with("zQ8-not-a-real-token-4Kq9vT2m").code, 0);
    let program = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../corpus/mcp-server/server.py")
        .display()
        .to_string();
    let words = |secret: &'static str| {
        let read = program.as_str();
        ["mcp", "--name", "notes", "--read", read, "--secret", secret, "--", "python3", "-B", read]
            .map(str::to_owned)
    };
    let given = words("GIVEN=GIVEN_SECRET");
    let given: Vec<&str> = given.iter().map(String::as_str).collect();
    let mut client = Client::start(&place.home, &given);
    assert_eq!(client.look("value:GIVEN"), "[secret:GIVEN_SECRET]");
    client.end();
    let uses = place.records("credential");
    assert_eq!(uses[0]["record"]["payload"]["inline"]["purpose"], "mcp_server", "{uses:?}");
    for (secret, code, why) in [
        ("LD_PRELOAD=GIVEN_SECRET", 2, "LD_PRELOAD"),
        ("GIVEN=OTHER", 1, "OTHER"),
        ("GIVEN", 2, "ENV=NAME"),
    ] {
        let wrong = words(secret);
        let wrong: Vec<&str> = wrong.iter().map(String::as_str).collect();
        let refused = testkit::program::Run::run(&mut crate::program::lazaret(&place.home, &wrong));
        assert!(refused.code == code && refused.err.contains(why), "{secret}: {}", refused.err);
    }
}

#[test]
fn an_address_of_this_machine_in_a_configuration_is_for_the_settings_to_open() {
    let server = echo();
    let place = Place::new();
    let config = json!({ "mcpServers": { "notes": { "url": server.url("/mcp") } } });
    place.settings("egress: {}\n");
    let file = place.dir.path().join("servers.json");
    #[expect(clippy::disallowed_methods, reason = "a file of the test's own")]
    std::fs::write(&file, config.to_string()).unwrap();
    let words = ["mcp", "serve", "--config", file.to_str().unwrap()];
    let refused = lazaret(&place.home, &words).run();
    assert!(refused.code == 2 && refused.err.contains("egress: {inner"), "{}", refused.err);
    assert!(server.seen().is_empty());
}
