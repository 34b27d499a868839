//! Tokens: where they may stand, which ones count, and who guesses.

use model::{AgentId, UserId};
use serde_json::Value;
use vault::access::{AccessError, Tokens};

use crate::messages::corpus;
use crate::socket::Next;
use crate::world::{ANN, ROOT, World, users, write};

fn now() -> i64 {
    evidence::Clock::unix_seconds(&evidence::SystemClock)
}

fn issue(world: &World, agents: Option<&[AgentId]>) -> (String, String) {
    issue_to(world, "ann", agents)
}

fn issue_to(world: &World, user: &str, agents: Option<&[AgentId]>) -> (String, String) {
    let tokens = Tokens::in_home(world.home());
    let user = UserId::parse(user).unwrap();
    let made = tokens.create::<AccessError>(&user, agents, (now(), None), |_| Ok(()));
    let (token, issued) = made.unwrap();
    (token.shown_once().to_owned(), issued.id)
}

#[test]
fn headers_of_the_corpus() {
    let world = World::wide();
    for case in corpus("http_auth") {
        let (name, input) = (case["name"].as_str().unwrap(), &case["input"]);
        let Some(header) = input.get("header") else { continue };
        // `t` of the corpus is Ann's token here.
        let header = header.as_str().map(|it| it.replace("Bearer t", &format!("Bearer {ANN}")));
        let header = header.map(|it| it.replace("bearer t", &format!("bearer {ANN}")));
        let more: Vec<(&str, &str)> =
            header.iter().map(|it| ("Authorization", it.as_str())).collect();
        let answer = world.request(("GET", "/api/agents"), None, &more, "");
        // There is always a token to be shown here: nothing is open to who shows none.
        let expected = if name == "auth_valid" { 200 } else { 401 };
        assert_eq!(answer.status, expected, "{name}");
    }
    for header in ["Bearer ", "Bearer  ", "Bearer é", "Basic YTpi", "Bearer", ANN, "BEARER x"] {
        let answer = world.request(("GET", "/api/agents"), None, &[("Authorization", header)], "");
        assert_eq!(answer.status, 401, "{header}");
    }
}

#[test]
fn networks_of_the_corpus() {
    use policy::access::Cidr;
    let mut seen = 0;
    for case in corpus("http_auth") {
        let Some(cidr) = case["input"]["cidr"].as_str() else { continue };
        seen += 1;
        match case["input"]["ip"].as_str() {
            Some(ip) => {
                let found = Cidr::parse(cidr).unwrap().contains(ip.parse().unwrap());
                assert_eq!(Value::Bool(found), case["expected"], "{cidr} {ip}");
            }
            None => assert!(Cidr::parse(cidr).is_none(), "{cidr}"),
        }
    }
    assert_eq!(seen, 9);
}

#[test]
fn both_kinds_of_tokens_count_and_a_narrow_one_opens_less() {
    let world = World::wide();
    let main = AgentId::parse("main").unwrap();
    let (wide, _) = issue(&world, None);
    let (narrow, _) = issue(&world, Some(&[main]));
    let agents = |token: &str| world.get("/api/agents", Some(token)).json();
    assert_eq!(agents(ANN).as_array().unwrap().len(), 2);
    assert_eq!(agents(&wide).as_array().unwrap().len(), 2);
    assert_eq!(agents(&narrow).as_array().unwrap().len(), 1);
    assert_eq!(world.get("/api/agents/anns", Some(&narrow)).status, 403);
}

#[test]
fn a_token_for_one_agent_administers_and_exports_nothing() {
    let world = World::wide();
    let main = AgentId::parse("main").unwrap();
    let (wide, _) = issue_to(&world, "root", None);
    let (narrow, _) = issue_to(&world, "root", Some(&[main]));
    let paths = ["/health/deep", "/api/users/ann/data", "/api/users/root/data"];
    let statuses = |token: &str| paths.map(|it| world.get(it, Some(token)).status);
    assert_eq!(statuses(&wide), [200, 200, 200]);
    assert_eq!(statuses(&narrow), [403, 404, 403]);
    assert_eq!(world.post("/api/admin/reload", Some(&narrow), "").status, 403);
    assert!(world.get("/api/usage", Some(&narrow)).json().get("summary").is_none());
}

#[test]
fn a_message_that_waits_does_not_outlive_the_token_it_came_with() {
    let world = World::wide();
    let (token, id) = issue(&world, None);
    let (mut client, _) = world.subscribed(&token, "main");
    client.message("sleep 5000");
    client.until("status");
    client.message("second");
    let revoke = Tokens::in_home(world.home()).revoke::<AccessError>(&id, now(), false, |_| Ok(()));
    revoke.unwrap();
    assert_eq!(client.closed(), 4003);
    world.log.has("turn.ended");
    std::thread::sleep(std::time::Duration::from_millis(500));
    let turns: Vec<String> = world.desk.turns().into_iter().map(|it| it.content).collect();
    assert_eq!(turns, ["sleep 5000"]);
}

#[test]
fn a_token_that_is_revoked_closes_its_sockets_and_no_others() {
    let world = World::wide();
    let (token, id) = issue(&world, None);
    let mut client = world.socket(&token);
    client.until("connected");
    let (mut other, _) = world.subscribed(ANN, "main");
    let revoked =
        Tokens::in_home(world.home()).revoke::<AccessError>(&id, now(), false, |_| Ok(()));
    revoked.unwrap();
    assert_eq!(client.closed(), 4003);
    assert_eq!(world.get("/api/agents", Some(&token)).status, 401);
    other.message("hello");
    other.until("assistant_message");
}

#[test]
fn tokens_in_addresses_are_refused_unless_somebody_wants_it() {
    let world = World::wide();
    for path in ["/ws?token=x", "/ws?a=1&TOKEN=x", "/ws?%74oken=x", "/api/agents?access_token=x"] {
        assert_eq!(world.get(path, None).status, 400, "{path}");
    }
    assert_eq!(world.socket_with(&format!("/ws?token={ANN}"), &[]).err(), Some(400));
    let config = "serve: {allowQueryToken: true}\n";
    let world = World::with(config, &users("unlimited"));
    let mut client = world.socket_with(&format!("/ws?token={ANN}"), &[]).unwrap();
    assert_eq!(client.until("warning")["code"], "token_query_deprecated");
    assert_eq!(world.get(&format!("/api/agents?token={ANN}"), None).status, 400);
    assert!(world.log.has("auth.deprecated"));
}

#[test]
fn a_page_shows_its_token_among_the_protocols() {
    let world = World::wide();
    let offered = format!("lazaret.v1, token.{ANN}");
    let mut client = world.socket_with("/ws", &[("Sec-WebSocket-Protocol", &offered)]).unwrap();
    assert!(matches!(client.next(), Next::Frame(it) if it["type"] == "connected"));
    let wrong = [("Sec-WebSocket-Protocol", "lazaret.v1, token.wrong")];
    assert_eq!(world.socket_with("/ws", &wrong).unwrap().closed(), 4001);
}

#[test]
fn who_guesses_is_stopped_and_a_proxy_field_does_not_help() {
    let world = World::new();
    for number in 0..10 {
        let forged = format!("1.2.3.{number}");
        let answer = world.request(
            ("GET", "/health/deep"),
            Some("wrong"),
            &[("X-Forwarded-For", &forged)],
            "",
        );
        assert_eq!(answer.status, 401, "{number}");
    }
    let answer = world.get("/health/deep", Some(ROOT));
    assert_eq!(answer.status, 429);
    assert!(answer.head.to_lowercase().contains("retry-after"));
    assert_eq!(world.socket(ANN).closed(), 4001);
    assert_eq!(world.get("/health", None).status, 200);
}

#[test]
fn what_is_logged_names_no_token_and_no_words() {
    let world = World::wide();
    let (mut client, _) = world.subscribed(ANN, "main");
    client.message("a-very-private-sentence");
    client.until("result");
    world.get("/api/agents", Some("guessed-token-value"));
    for wanted in ["server.started", "auth.success", "auth.failure", "session.created"] {
        assert!(world.log.has(wanted), "{wanted}: {}", world.log.text());
    }
    let log = world.log.text();
    for secret in [ANN, "a-very-private-sentence", "guessed-token-value"] {
        assert!(!log.contains(secret), "{log}");
    }
}

#[test]
fn users_of_the_corpus_that_are_not_understood_stop_the_start() {
    for entry in ["agents: analyst", "tools_deny: shell_exec\n    agents: []", "agents: null"] {
        let users = format!(
            "users:\n{}",
            crate::world::user("x", "t", &format!("{entry}\n    budget: unlimited"))
        );
        let home = crate::world::home("serve: {}\n", &users);
        assert!(serve::Directory::load(home.path()).is_err(), "{entry}");
    }
    for config in [
        "serve: {maxWorkers: 0}",
        "serve: {maxWorkers: -1}",
        "serve: {maxWorkers: 2.9}",
        "serve: {maxWorkers: \"5\"}",
        "serve: {maxWorkers: .nan}",
        "serve: {maxWorkers: 1000000000}",
        "serve: {behindProxy: [\"0.0.0.0/0\"]}",
        "serve: {behindProxy: [\"::/0\"]}",
        "serve: {behindProxy: [\"*\"]}",
        "serve: {allowedOrigins: [\"*\"]}",
        "serve: {unknown: 1}",
        "serve: {privacy: {policyVersion: \"\"}}",
        "serve: {rateLimits: {windowMs: 0}}",
    ] {
        let home = crate::world::home(config, &users("unlimited"));
        assert!(serve::Directory::load(home.path()).is_err(), "{config}");
    }
    let home = crate::world::home("serve: {}\n", &users("unlimited"));
    write(&home.path().join("agents/broken/IDENTITY.md"), "---\nacess: public\n---\n");
    let directory = serve::Directory::load(home.path()).unwrap();
    assert!(directory.manifest("broken").is_none() && directory.broken.len() == 1);
}
