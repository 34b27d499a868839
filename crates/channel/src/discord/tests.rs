//! What Discord's messages are taken for.

use super::*;
use crate::wire::{Response, WireError};

/// Has one direct conversation, `70` with `5`, and a channel, `80`.
struct Guild(Mutex<Vec<Value>>, Mutex<Vec<Request>>);

impl Wire for Guild {
    fn ask(&self, request: &Request) -> Result<Response, WireError> {
        self.1.lock().unwrap().push(request.clone());
        let path = request.path.strip_prefix(API).unwrap();
        let answer = match (path, path.split_once('?')) {
            ("/users/@me", _) => json!({ "id": "99", "bot": true }),
            ("/users/@me/channels", _) => json!({ "id": "70" }),
            (_, Some((_, "limit=1"))) => json!([message("1", json!({}))]),
            (_, Some(("/channels/70/messages", _))) => json!(*self.0.lock().unwrap()),
            _ => json!([]),
        };
        Ok(Response { status: 200, retry_after: None, body: answer.to_string().into() })
    }
}

fn message(id: &str, more: Value) -> Value {
    let mut message = json!({ "id": id, "type": 0, "author": { "id": "5" }, "content": "hello" });
    message.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    message
}

fn heard(messages: &[Value]) -> (Vec<Inbound>, Guild, Discord) {
    let guild = Guild(Mutex::new(messages.to_vec()), Mutex::default());
    let discord = Discord::listening_to(vec!["80".into()], vec!["5".into(), "x".into()]);
    // What was said before is not new.
    assert!(discord.receive(&guild).unwrap().is_empty());
    (discord.receive(&guild).unwrap(), guild, discord)
}

#[test]
fn new_messages_of_the_person_are_heard_once_and_in_order() {
    let (said, guild, discord) = heard(&[message("3", json!({})), message("2", json!({}))]);
    assert_eq!(said.iter().map(|it| it.id.as_str()).collect::<Vec<_>>(), ["2", "3"]);
    assert_eq!(said[0].address.to_string(), "discord:dm:5");
    assert_eq!((said[0].place, said[0].words), (Place::Direct, Words::Own));
    assert!(discord.receive(&guild).unwrap().is_empty());
}

#[test]
fn programs_others_and_what_was_passed_on_are_not_the_person() {
    for bad in [
        json!({ "author": { "id": "5", "bot": true } }),
        json!({ "author": { "id": "6" } }),
        json!({ "author": { "id": "05" } }),
        json!({ "webhook_id": "9" }),
        json!({ "type": 7 }),
        json!({ "id": "1" }),
        json!({ "id": "../2" }),
    ] {
        assert!(heard(&[message("2", bad.clone())]).0.is_empty(), "{bad}");
    }
    for passed in
        [json!({ "message_reference": { "type": 1 } }), json!({ "message_snapshots": [{}] })]
    {
        assert_eq!(heard(&[message("2", passed)]).0[0].words, Words::Others);
    }
}

/// A conversation `70` with `5`; `81` is no place, and at `82` one is told to wait.
struct Partly(Mutex<Vec<Value>>);

impl Wire for Partly {
    fn ask(&self, request: &Request) -> Result<Response, WireError> {
        let path = request.path.strip_prefix(API).unwrap();
        let (status, answer) = match path.split('?').next().unwrap() {
            "/users/@me" => (200, json!({ "id": "99", "bot": true })),
            "/users/@me/channels" => (200, json!({ "id": "70" })),
            "/channels/70/messages" => (200, json!(*self.0.lock().unwrap())),
            "/channels/82/messages" => (429, json!({})),
            _ => (404, json!({})),
        };
        let retry_after = (status == 429).then_some(7);
        Ok(Response { status, retry_after, body: answer.to_string().into() })
    }
}

#[test]
fn a_place_that_does_not_answer_takes_nothing_from_the_others() {
    let partly = |places: &[&str]| {
        let places = places.iter().map(|it| (*it).to_owned()).collect();
        let (discord, guild) = (
            Discord::listening_to(places, vec!["5".into()]),
            // One that is not understood was there before, all the same.
            Partly(Mutex::new(vec![json!({ "id": "7", "type": "new" })])),
        );
        assert!(discord.receive(&guild).unwrap().is_empty());
        *guild.0.lock().unwrap() = vec![message("8", json!({})), message("6", json!({}))];
        (discord, guild)
    };
    let (discord, guild) = partly(&["81"]);
    let heard = discord.receive(&guild).unwrap();
    assert_eq!(heard.iter().map(|it| it.id.as_str()).collect::<Vec<_>>(), ["8"]);
    assert!(matches!(discord.health(), Health::Down(_)));
    // Whoever wants to be left alone is, once what was heard is told.
    let (places, people) = (vec!["82".to_owned()], vec!["5".to_owned()]);
    let discord = Discord::listening_to(places, people);
    *guild.0.lock().unwrap() = Vec::new();
    assert!(discord.receive(&guild).is_err(), "nothing was heard");
    *guild.0.lock().unwrap() = vec![message("9", json!({}))];
    let rounds: Vec<_> = (0..4).map(|_| discord.receive(&guild)).collect();
    let heard: Vec<_> = rounds.iter().flatten().flatten().map(|it| it.id.as_str()).collect();
    assert_eq!(heard, ["9"]);
    let waits = rounds.iter().filter_map(|it| it.as_ref().err()?.retry());
    assert!(waits.count() >= 2, "{rounds:?}");
    // Where nobody answers at all, the line is down.
    assert!(Discord::listening_to(vec!["81".into()], Vec::new()).receive(&guild).is_err());
}

#[test]
fn what_is_said_mentions_nobody() {
    let (_, guild, discord) = heard(&[]);
    let to = Address::parse("discord:dm:5").unwrap();
    discord.send(&guild, &to, &format!("@everyone {}", "x".repeat(2500))).unwrap();
    let asked = guild.1.lock().unwrap();
    let sent: Vec<_> =
        asked.iter().filter(|it| it.path.ends_with("/channels/70/messages")).collect();
    assert_eq!(sent.len(), 2);
    let body = sent[0].body.as_ref().unwrap();
    assert_eq!((&body["allowed_mentions"]["parse"], &body["flags"]), (&json!([]), &json!(4)));
    drop(asked);
    let nowhere = Address::parse("discord:channel:general").unwrap();
    assert_eq!(discord.send(&guild, &nowhere, "x"), Err(ChannelError::NoSuchPlace));
}
