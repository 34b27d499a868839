//! Discord: a guild whose API is the test.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::messenger::{Api, Asked, Served, home, journal};

const TOKEN: &str = "MTk4NjIyNDgzNDcxOTI1MjQ4.Cl2FMQ.ZnCjm1XVW7vRze4b7Cq4se7kKWs";

#[test]
fn a_person_on_discord_is_answered_and_nobody_else_is() {
    let said = Arc::<Mutex<Vec<Value>>>::default();
    let kept = Arc::clone(&said);
    let api = Api::answering(move |asked: &Asked| {
        let answer = match asked.path.split_once('?') {
            None if asked.path.ends_with("/users/@me") => json!({ "id": "99", "bot": true }),
            None => json!({ "id": "70" }),
            Some((_, query)) if query.starts_with("limit=1") => json!([]),
            Some((_, query)) => {
                let after: u64 = query.rsplit('=').next().unwrap().parse().unwrap();
                let all = kept.lock().unwrap();
                let id = |it: &Value| it["id"].as_str().unwrap().parse::<u64>().unwrap();
                json!(all.iter().filter(|it| id(it) > after).collect::<Vec<_>>())
            }
        };
        Some((200, answer))
    });
    let config = format!("channel_config: {{discord: {{url: \"{}\"}}}}\n", api.url);
    let script = json!({ "otherwise": { "say": "It is so: ", "echo": true } });
    let home = home(&script, &config, "discord: [\"5\"]");
    let say = |id: &str, author: &str, text: &str| {
        let author = json!({ "id": author });
        said.lock()
            .unwrap()
            .push(json!({ "id": id, "type": 0, "author": author, "content": text }));
    };
    let served = Served::start(home.path(), &api.url, &[("DISCORD_TOKEN", TOKEN)]);
    // What was there before is not new; what comes between two rounds is.
    api.next("limit=1");
    say("11", "6", "somebody else in their conversation");
    say("12", "5", "/agree 1.0");
    let answer = api.next("/channels/70/messages");
    assert_eq!(answer.authorization.unwrap(), format!("Bot {TOKEN}"));
    assert!(answer.body["content"].as_str().unwrap().contains("You agree"), "{}", answer.body);
    served.end(&[]);
    let whole = journal(home.path());
    assert!(!whole.contains(TOKEN) && !whole.contains("somebody else in their conversation"));
}
