//! What Telegram's updates are taken for.

use super::*;
use crate::wire::{Response, WireError};

const US: i64 = 99;

/// Answers with `updates` to whoever asks for them, and keeps what was asked.
struct Bot {
    updates: Mutex<Vec<Value>>,
    asked: Mutex<Vec<Request>>,
}

impl Bot {
    fn saying(updates: Value) -> Self {
        let updates = updates.as_array().cloned().unwrap_or_default();
        Self { updates: Mutex::new(updates), asked: Mutex::default() }
    }
}

impl Wire for Bot {
    fn ask(&self, request: &Request) -> Result<Response, WireError> {
        self.asked.lock().unwrap().push(request.clone());
        let result = match request.path.as_str() {
            "/getMe" => json!({ "id": US, "is_bot": true, "username": "OurBot" }),
            "/getUpdates" => json!(*self.updates.lock().unwrap()),
            _ => json!({}),
        };
        let body = json!({ "ok": true, "result": result }).to_string().into_bytes();
        Ok(Response { status: 200, retry_after: None, body })
    }
}

fn update(number: i64, message: &Value) -> Value {
    json!({ "update_id": number, "message": message })
}

fn direct(more: Value) -> Value {
    let mut message = json!({
        "message_id": 1, "date": 1700000000, "from": { "id": 5, "is_bot": false },
        "chat": { "id": 5, "type": "private" }, "text": "hello",
    });
    message.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    message
}

fn read(message: Value) -> Option<Inbound> {
    let telegram = Telegram::default();
    telegram.receive(&Bot::saying(json!([update(1, &message)]))).unwrap().pop()
}

#[test]
fn a_direct_message_is_the_senders_own_word() {
    let said = read(direct(json!({}))).unwrap();
    assert_eq!(said.address.to_string(), "telegram:dm:5");
    assert_eq!((said.place, said.words), (Place::Direct, Words::Own));
    assert_eq!((said.sender.as_str(), said.text.as_str()), ("5", "hello"));
}

#[test]
fn whoever_poses_as_somebody_else_is_nobody() {
    for (name, more) in [
        ("a group that calls itself private", json!({ "chat": { "id": -7, "type": "private" } })),
        ("another's private chat", json!({ "chat": { "id": 6, "type": "private" } })),
        (
            "a private chat that calls itself a group",
            json!({ "chat": { "id": 5, "type": "group" } }),
        ),
        ("a channel", json!({ "chat": { "id": -7, "type": "channel" } })),
        ("nobody", json!({ "from": null })),
        ("a bot", json!({ "from": { "id": 5, "is_bot": true } })),
        ("a text for a number", json!({ "from": { "id": "5" } })),
        ("a fraction", json!({ "from": { "id": 5.5 } })),
        ("a chat as sender", json!({ "sender_chat": { "id": -7 } })),
        ("an edited message", json!({ "edit_date": 5 })),
    ] {
        assert_eq!(read(direct(more)), None, "{name}");
    }
    let edited = json!([{ "update_id": 1, "edited_message": direct(json!({})) }]);
    assert!(Telegram::default().receive(&Bot::saying(edited)).unwrap().is_empty());
}

#[test]
fn what_was_passed_on_is_not_the_senders_word() {
    for more in [
        json!({ "forward_origin": { "type": "hidden_user" } }),
        json!({ "forward_from": { "id": 6 } }),
        json!({ "forward_date": 0 }),
        json!({ "forward_sender_name": "" }),
        json!({ "via_bot": { "id": 7 } }),
        json!({ "is_automatic_forward": true }),
    ] {
        assert_eq!(read(direct(more.clone())).unwrap().words, Words::Others, "{more}");
    }
}

#[test]
fn a_link_puts_no_words_into_the_users_mouth() {
    for said in ["/start delete_everything", "/start@OurBot x", "  /start\nx", "/START x"] {
        let heard = read(direct(json!({ "text": said }))).unwrap().text;
        assert!(["/start", "/start@OurBot", "/START"].contains(&heard.as_str()), "{heard}");
    }
    assert_eq!(read(direct(json!({ "text": "/started x" }))).unwrap().text, "/started x");
    let old = read(direct(json!({ "date": 1 }))).unwrap();
    assert!(!old.is_of_late(700) && old.is_of_late(601));
}

#[test]
fn what_was_taken_is_confirmed_when_listening_ends() {
    let (bot, telegram) =
        (Bot::saying(json!([update(7, &direct(json!({})))])), Telegram::default());
    telegram.leave(&bot).unwrap();
    assert_eq!(telegram.receive(&bot).unwrap().len(), 1);
    telegram.leave(&bot).unwrap();
    let asked = bot.asked.lock().unwrap();
    let last = asked.last().unwrap().body.as_ref().unwrap();
    assert_eq!((&last["offset"], &last["timeout"]), (&json!(8), &json!(0)));
    assert_eq!(asked.iter().filter(|it| it.path == "/getUpdates").count(), 2);
}

#[test]
fn a_group_is_shared_and_mentions_are_read_where_they_stand() {
    let group = |text: &str, more: Value| {
        let mut message = json!({
            "message_id": 2, "date": 1700000000, "from": { "id": 5 }, "chat": { "id": -100, "type": "supergroup" },
            "text": text,
        });
        message.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        read(message).unwrap()
    };
    let mention = |offset: usize| json!({ "entities": [{ "type": "mention", "offset": offset, "length": 7 }] });
    let said = group("😀 @ourbot help", mention(3));
    assert_eq!((said.place, said.mentions_us), (Place::Shared, true));
    assert_eq!(said.address.to_string(), "telegram:group:-100");
    // The words alone are no mention: Telegram says what one is.
    assert!(!group("@ourbot help", json!({})).mentions_us);
    assert!(
        !group(
            "@ourbots x",
            json!({ "entities": [{ "type": "mention", "offset": 0, "length": 8 }] })
        )
        .mentions_us
    );
    assert!(!group("@ourbot", mention(usize::MAX)).mentions_us);
    assert!(group("yes", json!({ "reply_to_message": { "from": { "id": US } } })).mentions_us);
}

#[test]
fn an_update_counts_once_and_a_broken_one_spoils_nothing() {
    let telegram = Telegram::default();
    let bot = Bot::saying(json!([
        update(10, &direct(json!({}))),
        update(11, &json!({ "message_id": "x" })),
        update(12, &direct(json!({ "message_id": 3 }))),
        update(10, &direct(json!({ "message_id": 4 }))),
    ]));
    assert_eq!(telegram.receive(&bot).unwrap().len(), 2);
    assert!(telegram.receive(&bot).unwrap().is_empty());
    let asked = bot.asked.lock().unwrap();
    let offset = |it: &Request| it.body.as_ref().unwrap().get("offset").cloned();
    assert_eq!(offset(asked.last().unwrap()), Some(json!(13)));
}

#[test]
fn an_answer_goes_out_plain_and_only_where_there_is_a_chat() {
    let (telegram, bot) = (Telegram::default(), Bot::saying(json!([])));
    let to = Address::dm(NAME, "5").unwrap();
    telegram.send(&bot, &to, &"x".repeat(5000)).unwrap();
    let asked = bot.asked.lock().unwrap();
    assert_eq!(asked.len(), 2);
    let body = asked[0].body.as_ref().unwrap();
    assert_eq!((&body["chat_id"], &body["parse_mode"]), (&json!(5), &Value::Null));
    assert_eq!(body["link_preview_options"]["is_disabled"], true);
    for bad in ["telegram:dm:-5", "telegram:group:5", "telegram:channel:5", "telegram:dm:005"] {
        let to = Address::parse(bad).unwrap();
        assert_eq!(telegram.send(&bot, &to, "x"), Err(ChannelError::NoSuchPlace), "{bad}");
    }
}

#[test]
fn what_telegram_refuses_is_said_shortly() {
    struct Refuses;
    impl Wire for Refuses {
        fn ask(&self, _: &Request) -> Result<Response, WireError> {
            let said = format!("Too Many\u{7} {}", "x".repeat(5000));
            let body = json!({ "ok": false, "error_code": 429, "description": said, "parameters": { "retry_after": 7 } });
            Ok(Response { status: 429, retry_after: None, body: body.to_string().into() })
        }
    }
    let telegram = Telegram::default();
    let error = telegram.receive(&Refuses).unwrap_err();
    assert_eq!(error.retry(), Some(Duration::from_secs(7)));
    assert!(error.to_string().len() < 300 && !error.to_string().contains('\u{7}'));
    assert!(matches!(telegram.health(), Health::Down(_)));
}
