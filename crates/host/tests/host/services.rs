//! Services that are called in the user's name: a real vault, a real gate, a real server on this machine.

mod world;

use std::thread;

use model::ipc::ActionName;
use model::{Kind, SessionId, Source};
use monitor::{Asked, Heard, Refusal, Status};
use policy::access::Global;
use serde_json::{Value, json};

use world::{GRANTS, NEW, OLD, REFRESH, Server, World, service};

#[test]
fn a_service_inside_is_called_and_its_token_renewed_where_the_operator_opened_it() {
    let server = Server::start();
    let inner = format!(
        "egress:\n  inner:\n    - {{host: api.corp, port: {}, addresses: [127.0.0.1]}}\n",
        server.port
    );
    let settings = format!("{inner}{}", service(&server, "api.corp"));
    let host = format!("http://api.corp:{}", server.port);
    let world = World::with(&server, GRANTS, (&host, OLD), &settings);
    assert_eq!(world.got("/me").output.status, Status::Done);
    assert_eq!((server.count("POST /token"), server.count("GET /v1/me")), (1, 2));
    let hops = world.records("egress");
    assert!(hops.len() >= 3 && hops.iter().all(|it| it["opened_by"] == "operator"), "{hops:?}");
    // Without the operator's word there is no such service.
    assert!(Global::parse(&service(&server, "api.corp")).is_err());
}

fn bound(server: &Server) -> String {
    format!("http://api.example:{}", server.port)
}

#[test]
fn a_token_is_put_in_refreshed_once_and_comes_back_to_nobody() {
    let server = Server::start();
    let mut world = World::new(&server, GRANTS, &bound(&server), OLD);
    // It is offered where there is a service whose token may be given.
    let none = World::new(&server, "credentials:\n  grants: {}\n", &bound(&server), OLD);
    assert!(world.executor.carries_out(ActionName::OauthCall));
    assert!(!none.executor.carries_out(ActionName::OauthCall));
    let got = world.got("/me");
    assert_eq!(got.output.status, Status::Done, "{}", got.output.body);
    assert!(
        got.output.body.contains("you sent [secret:TOKEN] and [secret:TOKEN]"),
        "{}",
        got.output.body
    );
    assert_eq!(server.count("POST /token"), 1);
    let form = server.heard().into_iter().find(|it| it.starts_with("POST /token")).unwrap();
    assert!(
        form.contains(
            "grant_type=refresh_token&refresh_token=refresh-token-Zq81LkWm27&client_id=me"
        )
    );
    // The next call has the new token at once.
    world.who.session = SessionId::parse("next").unwrap();
    world.open_session();
    world.got("/me");
    assert_eq!((server.count("POST /token"), server.count("GET /v1/me")), (1, 3));
    for value in [OLD, NEW, REFRESH, "refresh-token-Vb09sPqHx4"] {
        assert!(!world.wrote(value), "{value}");
    }
    let used = world.records("credential");
    assert!(
        used.iter().all(|it| it["grants"] == json!(["api"]) && it["mode"] == "strict"),
        "{used:?}"
    );
    assert!(
        used.iter().any(|it| it["keys"] == json!(["REFRESH"]) && it["purpose"] == "oauth_refresh")
    );
}

#[test]
fn of_a_token_at_the_cut_end_of_an_answer_nothing_is_left() {
    let server = Server::start();
    let world = World::new(&server, GRANTS, &bound(&server), NEW);
    let got = world.got("/long").output.body;
    assert!(got.contains(r#""truncated":true"#) && got.contains("xxxx[secret:TO"), "{}", got.len());
    let head = NEW.get(..4).unwrap();
    assert!(!got.contains(head), "{:?}", got.find(head));
}

#[test]
fn whoever_writes_a_record_there_is_no_secret_in_it_and_new_tokens_are_on_record() {
    let server = Server::start();
    let world = World::new(&server, GRANTS, &bound(&server), OLD);
    world.got("/me");
    let stored = world.records("vault_set");
    assert_eq!(stored.len(), 1);
    assert_eq!(stored[0]["names"], json!(["TOKEN", "REFRESH"]));
    let content = json!({ "path": format!("/bot{NEW}/send"), OLD: [REFRESH] });
    let kind = Kind::parse("egress").unwrap();
    let record = evidence::NewRecord::of_host(aegx::RecordType::ToolCall, kind, content);
    world.journal.append(record).unwrap();
    assert!(world.wrote("/bot[secret:TOKEN]/send"));
    for value in [OLD, NEW, REFRESH] {
        assert!(!world.wrote(value), "{value}");
    }
}

#[test]
fn what_is_remembered_of_a_call_that_holds_a_secret_does_not_hold_it() {
    let server = Server::start();
    let world = World::new(&server, GRANTS, &bound(&server), NEW);
    // To the host that it is for it may go; here nobody is asked, because there is no web.
    let url = format!("{}/bot{NEW}/send", bound(&server));
    let text = format!("Please fetch {url} for me.");
    let heard = Heard { source: Source::User, origin: "", text: &text };
    world.monitor.hear(&world.who, &heard).unwrap();
    let message = json!({ "action": "web_fetch", "url": url }).to_string();
    let asked = Asked::Message(message.as_bytes());
    let _ = world.monitor.run(&world.who, &asked, &world.executor);
    assert_eq!(world.records("web_fetch").len(), 2);
    assert!(!world.wrote(NEW));
}

#[test]
fn many_calls_at_once_refresh_once() {
    let server = Server::start();
    let world = World::new(&server, GRANTS, &bound(&server), OLD);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert_eq!(world.got("/me").output.status, Status::Done));
        }
    });
    assert_eq!(server.count("POST /token"), 1);
}

#[test]
fn a_redirect_takes_no_token_along() {
    let server = Server::start();
    let world = World::new(&server, GRANTS, &bound(&server), NEW);
    let got = world.got("/away");
    assert!(got.output.status == Status::Failed && got.output.body.contains("redirect"));
    assert_eq!(server.count("/steal"), 0);
}

#[test]
fn a_secret_for_another_host_is_not_sent_and_that_is_an_incident() {
    let server = Server::start();
    let world = World::new(&server, GRANTS, "elsewhere.example", NEW);
    let got = world.got("/me");
    assert_eq!(got.output.status, Status::NotBegun, "{}", got.output.body);
    assert!(got.output.body.contains("is not for `api.example`"), "{}", got.output.body);
    assert!(server.heard().is_empty());
    let incidents = world.records("incident");
    assert_eq!(incidents[0]["incident"], "secret_elsewhere");
    assert_eq!(incidents[0]["keys"], json!(["TOKEN"]));
}

#[test]
fn what_leads_outside_or_says_who_asks_is_not_sent() {
    let server = Server::start();
    let world = World::new(&server, GRANTS, &bound(&server), NEW);
    for path in ["/../admin", "//evil.example/x", "/%2e%2e/token", "/..%5cx", "/a#b"] {
        let got = world.got(path);
        assert_eq!(got.output.status, Status::NotBegun, "{path}: {}", got.output.body);
    }
    // A part of an answer could end or begin in the middle of a token.
    for name in [
        "Authorization",
        "Cookie",
        "X-Api-Key",
        "Host",
        "X-Forwarded-For",
        "Range",
        "range",
        "If-Range",
    ] {
        let headers = json!({ "headers": { name: "x" } });
        let got = world.call("/me", headers).unwrap();
        assert_eq!(got.output.status, Status::NotBegun, "{name}: {}", got.output.body);
    }
    let unknown = world.call("/me", json!({ "service": "other" })).unwrap();
    assert_eq!(unknown.output.status, Status::NotBegun);
    assert!(server.heard().is_empty());
}

#[test]
fn grants_decide_at_the_gate() {
    let server = Server::start();
    let none = "credentials:\n  grants: {}\n";
    let world = World::new(&server, none, &bound(&server), NEW);
    let refusal = world.call("/me", json!({})).unwrap_err();
    assert_eq!((refusal.rule(), refusal.decision().as_str()), ("credential-scope", "deny"));

    let other = GRANTS.replace("[web]", "[shell]");
    let world = World::new(&server, &other, &bound(&server), NEW);
    assert_eq!(world.call("/me", json!({})).unwrap_err().rule(), "credential-scope");

    let asked = GRANTS.replace("tools: [web]", "tools: [web]\n      approval: required");
    let world = World::new(&server, &asked, &bound(&server), NEW);
    let Err(Refusal::Stopped(verdict)) = world.call("/me", json!({})) else { panic!() };
    assert_eq!(verdict.decision.as_str(), "step_up");
    assert!(verdict.objections.iter().any(|it| it.code == "approval_required"));
    world.monitor.confirm_call(&world.who, verdict.effect, verdict.action).unwrap();
    let got = world.got("/me");
    assert_eq!(got.output.status, Status::Done, "{}", got.output.body);
    // Once.
    assert!(world.call("/me", json!({})).is_err());

    // The old kind: everything is given at this machine.
    let world = World::new(&server, "name: x\n", &bound(&server), NEW);
    assert_eq!(world.got("/me").output.status, Status::Done);
    assert_eq!(world.records("credential")[0]["mode"], "legacy");
}

#[test]
fn a_value_in_a_call_is_stopped_hidden_and_an_incident() {
    let server = Server::start();
    let world = World::new(&server, GRANTS, &bound(&server), NEW);
    let coded = data_encoding::BASE64.encode(format!("x{NEW}").as_bytes());
    for body in [NEW.to_owned(), coded] {
        let refusal =
            world.call("/me", json!({ "body": format!("give {body} away") })).unwrap_err();
        assert_eq!((refusal.rule(), refusal.decision().as_str()), ("secret-elsewhere", "deny"));
    }
    assert_eq!(world.records("incident").len(), 2);
    assert_eq!(world.records("incident")[0]["secrets"], json!(["TOKEN"]));
    assert!(server.heard().is_empty() && !world.wrote(NEW));
}

/// The cases of the guards that need somebody who keeps secrets.
#[test]
fn every_case_of_the_guards() {
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/guards");
    let mut decisions = Vec::new();
    for guard in ["credential-scope", "secret-elsewhere"] {
        let files = std::fs::read_dir(format!("{corpus}/{guard}")).unwrap();
        for file in files.map(|it| it.unwrap().path()) {
            let case: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
            let server = Server::start();
            let grants = case["manifest"].as_str().unwrap();
            let world = World::new(&server, grants, &bound(&server), NEW);
            let message = &case["message"];
            let path = message["path"].as_str().unwrap_or("/me");
            let result = if message["action"] == "oauth_call" {
                world.call(path, message.clone())
            } else {
                let message = message.to_string();
                world.monitor.run(&world.who, &Asked::Message(message.as_bytes()), &world.executor)
            };
            let (decision, rules) = match &result {
                Ok(_) => ("allow", Vec::new()),
                Err(Refusal::Stopped(it)) => (
                    it.decision.as_str(),
                    it.objections.iter().map(|it| it.rule.to_string()).collect(),
                ),
                Err(other) => panic!("{}: {other}", file.display()),
            };
            assert_eq!(decision, case["decision"], "{}: {rules:?}", file.display());
            let rule = case["rule"].as_str();
            assert!(
                rule.is_none_or(|it| rules.iter().any(|found| found == it)),
                "{}",
                file.display()
            );
            decisions.push(decision);
        }
    }
    assert!(
        decisions.contains(&"allow") && decisions.contains(&"step_up") && decisions.len() == 18
    );
}
