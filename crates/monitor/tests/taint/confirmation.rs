//! Which messages are a yes.

use aegx::Digest;
use model::{SessionId, Source, UserId};
use monitor::confirm::{
    ConfirmDelta, Confirmation, Confirmations, Grant, Message, Pending, understand,
};
use serde_json::Value;

use crate::taint::corpus::{cases, text};

#[test]
fn every_required_case_holds() {
    let cases = cases("confirmation_required.json");
    assert!(cases.len() > 30);
    for case in &cases {
        let (name, expected) = (text(case, "name"), text(case, "expected"));
        let input = &case["input"];
        if input["pending"].is_array() {
            let understood = understand_case(input);
            let yes = Confirmation::Yes(usize::from(expected.contains("skill_propose only")));
            match expected {
                it if it.starts_with("confirm") => assert_eq!(understood, yes, "{name}"),
                "no confirmation; ask which" => {
                    assert_eq!(understood, Confirmation::Ambiguous, "{name}");
                }
                "no confirmation" => {
                    let refused = [Confirmation::No, Confirmation::None];
                    assert!(refused.contains(&understood), "{name}: {understood:?}");
                }
                other => panic!("`{other}` is no expectation"),
            }
        } else if input["message"].is_object() {
            let message = input["message"].to_string();
            assert!(model::ipc::parse(message.as_bytes()).is_err(), "{name}");
        } else {
            used_once_and_for_its_call(name);
        }
    }
}

fn used_once_and_for_its_call(name: &str) {
    let mut confirmations = Confirmations::default();
    let call = digest("d1");
    confirmations.apply(&ConfirmDelta::Granted(Grant::for_call("oauth_call", call, 0)));
    assert_eq!(confirmations.take("oauth_call", digest("d9"), 1), None, "{name}");
    let spent = confirmations.take("oauth_call", call, 1).unwrap();
    confirmations.apply(&spent);
    assert_eq!(confirmations.take("oauth_call", call, 1), None, "{name}");
}

fn understand_case(input: &Value) -> Confirmation {
    let pending: Vec<Pending> = input["pending"].as_array().unwrap().iter().map(pending).collect();
    let source = match text(input, "channel_trust") {
        "user" if text(input, "sender") == "agent" => Source::Agent,
        "user" => Source::User,
        "system" => Source::System,
        "external" => Source::Channel,
        other => panic!("no trust `{other}`"),
    };
    let session = SessionId::parse(text(input, "session")).unwrap();
    let user = UserId::parse(text(input, "sender")).unwrap();
    let at = input["at"].as_i64().unwrap();
    let text = text(input, "message");
    understand(&Message { text, session: &session, source, user: &user, at }, &pending)
}

fn pending(it: &Value) -> Pending {
    Pending {
        action: text(it, "action").to_owned(),
        call: Some(digest(text(it, "args_digest"))),
        session: SessionId::parse(text(it, "session")).unwrap(),
        owner: UserId::parse("owner").unwrap(),
        blocked_at: it["blocked_at"].as_i64().unwrap(),
        grounds: Default::default(),
    }
}

fn digest(text: &str) -> Digest {
    Digest::of(text.as_bytes())
}

#[test]
fn every_harder_case_holds() {
    let session = SessionId::parse("s").unwrap();
    let user = UserId::parse("owner").unwrap();
    let cases = cases("confirmation_harder.json");
    assert!(cases.len() > 120);
    for case in &cases {
        let input = &case["input"];
        let pending: Vec<Pending> = input["pending"]
            .as_array()
            .unwrap()
            .iter()
            .map(|action| Pending {
                action: action.as_str().unwrap().to_owned(),
                call: None,
                session: session.clone(),
                owner: user.clone(),
                blocked_at: 0,
                grounds: Default::default(),
            })
            .collect();
        let source = Source::User;
        let text = text(input, "message");
        let message = Message { text, session: &session, source, user: &user, at: 1 };
        let understood = match understand(&message, &pending) {
            Confirmation::Yes(index) if pending.len() > 1 => format!("yes:{index}"),
            Confirmation::Yes(_) => "yes".to_owned(),
            Confirmation::No => "no".to_owned(),
            Confirmation::Ambiguous => "ambiguous".to_owned(),
            Confirmation::None => "none".to_owned(),
        };
        assert_eq!(understood, case["expected"].as_str().unwrap(), "{text:?}");
    }
}
