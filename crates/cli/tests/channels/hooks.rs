//! Messengers that call us: Slack and WhatsApp.

use aws_lc_rs::hmac;
use data_encoding::HEXLOWER;
use serde_json::{Value, json};

use super::messenger::{Api, Asked, Served, evidence, home, journal, now};

const TOKEN: &str = "xoxb-2948573920-3849582039485-Rt48fJdk29fkWq83mDk20sLp";
const SIGNING: &str = "8f742231b10e8888abcd99yyyzzz85a5";
const SHOWN: &str = "Zk29fkWq83mDk20sLpRt48fJd";

fn signature(secret: &str, text: &str) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
    HEXLOWER.encode(hmac::sign(&key, text.as_bytes()).as_ref())
}

fn well() -> Api {
    Api::answering(|_: &Asked| Some((200, json!({ "ok": true, "messages": [] }))))
}

fn agreeing() -> Value {
    json!({ "otherwise": { "say": "It is so: ", "echo": true } })
}

#[test]
fn slack_is_heard_by_its_signature_alone() {
    let api = well();
    let config = format!("channel_config: {{slack: {{url: \"{}\"}}}}\n", api.url);
    let home = home(&agreeing(), &config, "slack: [U1A]");
    let secrets = [("SLACK_TOKEN", TOKEN), ("SLACK_SIGNING_SECRET", SIGNING)];
    let served = Served::start(home.path(), &api.url, &secrets);
    let call = |at: u64, secret: &str, body: &str| {
        let signed = signature(secret, &format!("v0:{at}:{body}"));
        let head = format!(
            "POST /hooks/slack HTTP/1.1\r\nX-Slack-Request-Timestamp: {at}\r\nX-Slack-Signature: v0={signed}"
        );
        served.request(&head, body)
    };
    let challenge = json!({ "type": "url_verification", "challenge": "abc123" }).to_string();
    // It listens a moment after the server does.
    while call(now(), SIGNING, &challenge).0 == 404 {
        std::thread::yield_now();
    }
    assert_eq!(call(now(), SIGNING, &challenge), (200, "abc123".to_owned()));
    assert_eq!(call(now() - 301, SIGNING, &challenge).0, 401);
    assert_eq!(call(now(), "another secret", &challenge).0, 401);
    assert_eq!(served.request("POST /hooks/slack HTTP/1.1", &challenge).0, 401);
    assert_eq!(served.request("POST /hooks/telegram HTTP/1.1", &challenge).0, 404);
    let event = |user: &str, text: &str, ts: &str| {
        let event = json!({
            "type": "message", "user": user, "channel": "D7", "channel_type": "im", "text": text, "ts": ts,
        });
        let bot = json!([{ "user_id": "UBOT", "is_bot": true }]);
        json!({ "type": "event_callback", "event": event, "authorizations": bot }).to_string()
    };
    let say = |user: &str, text: &str, number: u64| {
        let body = event(user, text, &format!("{}.{number:06}", now()));
        assert_eq!(call(now(), SIGNING, &body).0, 200);
        body
    };
    say("U2B", "a stranger", 1);
    let agreed = say("U1A", "/agree 1.0", 2);
    assert!(api.next("/api/chat.postMessage").body["text"].as_str().unwrap().contains("You agree"));
    // Said again, also signed anew, it counts once; what was said before we were there may have counted then.
    assert_eq!(call(now(), SIGNING, &agreed).0, 200);
    let before = event("U1A", "delete everything", &format!("{}.000001", now() - 300));
    assert_eq!(call(now(), SIGNING, &before).0, 200);
    say("U1A", "hello <all>", 3);
    let asked = api.next("/api/chat.postMessage");
    assert_eq!(asked.body["text"], "It is so: hello &lt;all&gt;");
    assert_eq!(asked.body["channel"], "U1A");
    assert_eq!(asked.authorization.unwrap(), format!("Bearer {TOKEN}"));
    let records = served.end(&["channel_refused"]);
    assert!(records.contains("U2B") && records.contains("too_old"), "{records}");
    let heard = evidence(home.path(), "heard");
    assert!(heard.contains("hello") && !heard.contains("delete everything"), "{heard}");
    let whole = journal(home.path());
    assert!(!whole.contains(TOKEN) && !whole.contains(SIGNING) && !whole.contains("a stranger"));
}

#[test]
fn whatsapp_is_heard_by_its_signature_alone() {
    let api = well();
    let config =
        format!("channel_config: {{whatsapp: {{url: \"{}\", account: \"777\"}}}}\n", api.url);
    let home = home(&agreeing(), &config, "whatsapp: [\"15550001234\"]");
    let secrets = [
        ("WHATSAPP_TOKEN", TOKEN),
        ("WHATSAPP_SIGNING_SECRET", SIGNING),
        ("WHATSAPP_VERIFY_TOKEN", SHOWN),
    ];
    let served = Served::start(home.path(), &api.url, &secrets);
    let introduce = |shown: &str| {
        let query = format!("hub.mode=subscribe&hub.verify_token={shown}&hub.challenge=42");
        served.request(&format!("GET /hooks/whatsapp?{query} HTTP/1.1"), "")
    };
    while introduce(SHOWN).0 == 404 {
        std::thread::yield_now();
    }
    assert_eq!(introduce(SHOWN), (200, "42".to_owned()));
    assert_eq!(introduce("guess").0, 401);
    let say = |secret: &str, id: &str, text: &str| {
        let message = json!({
            "from": "15550001234", "id": id, "timestamp": now().to_string(), "type": "text",
            "text": { "body": text },
        });
        let value = json!({ "metadata": { "phone_number_id": "777" }, "messages": [message] });
        let body = json!({
            "object": "whatsapp_business_account",
            "entry": [{ "changes": [{ "field": "messages", "value": value }] }],
        });
        let signed = signature(secret, &body.to_string());
        let head = format!("POST /hooks/whatsapp HTTP/1.1\r\nX-Hub-Signature-256: sha256={signed}");
        served.request(&head, &body.to_string()).0
    };
    assert_eq!(say("another secret", "wamid.1", "/agree 1.0"), 401);
    assert_eq!(say(SIGNING, "wamid.2", "/agree 1.0"), 200);
    assert!(api.next("/777/messages").body.to_string().contains("You agree"));
    assert_eq!(say(SIGNING, "wamid.3", "hello"), 200);
    let asked = api.next("/777/messages").body;
    assert_eq!(
        (&asked["to"], &asked["text"]["body"]),
        (&json!("15550001234"), &json!("It is so: hello"))
    );
    served.end(&[]);
    let whole = journal(home.path());
    assert!(!whole.contains(TOKEN) && !whole.contains(SIGNING) && !whole.contains(SHOWN));
}
