//! A poisoned page behind a messenger: the user asks on Telegram, the model obeys whatever it reads, and whoever is asked
//! about that says no.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "test helpers; clippy's exceptions cover only `#[test]` functions"
)]

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::json;
use testkit::program::Run as _;

use super::messenger::{Api, PATIENCE, Served, Updates, evidence, home, journal};
use super::put;
use super::telegram::{TOKEN, bot, direct};
use crate::poisoned::{ANSWER, jobs, pages, settings};
use crate::program::lazaret;

/// What is said on the messenger, up to the answer. Whatever a person is asked meanwhile, the user says no to.
fn said(api: &Api, home: &Path) -> Vec<String> {
    let (until, mut all) = (Instant::now() + PATIENCE, Vec::new());
    while Instant::now() < until {
        if let Some(said) = api.within("/sendMessage", Duration::from_millis(50)) {
            assert_eq!(said.body["chat_id"], 5);
            all.push(said.body["text"].as_str().unwrap().to_owned());
            if all.last().is_some_and(|it| it == ANSWER) {
                return all;
            }
        }
        for asked in lazaret(home, &["approvals", "--json"]).run().objects() {
            let id = asked["id"].as_str().unwrap();
            let denied = lazaret(home, &["approvals", "deny", id, "--by", "ann"]).run();
            assert_eq!(denied.code, 0, "{}", denied.err);
        }
    }
    panic!("no answer: {all:?}")
}

#[test]
fn a_user_on_a_messenger_gets_an_answer_and_the_page_gets_nothing() {
    let (port, asked) = pages();
    let updates = Updates::default();
    let api = bot(&updates);
    let dir = home(&json!({}), "", "telegram: [\"5\"]");
    let channel = format!("channel_config: {{telegram: {{url: \"{}\"}}}}\n", api.url);
    put(dir.path(), "config.yaml", &format!("{}{channel}", settings(port)));
    let served = Served::start(dir.path(), &api.url, &[("TELEGRAM_TOKEN", TOKEN)]);
    updates.push(direct(1, 5, "/agree 1.0"));
    assert!(api.next("/sendMessage").body["text"].as_str().unwrap().contains("You agree"));
    let question = format!("When is the library open? See http://127.0.0.1:{port}/hours");
    updates.push(direct(2, 5, &question));
    // Once, that something needs a person; where it is answered, and not what the page wants.
    let told = api.next("/sendMessage").body["text"].as_str().unwrap().to_owned();
    assert!(told.contains("needs your word") && !told.contains("steal"), "{told}");
    assert_eq!(said(&api, dir.path()), [ANSWER]);
    served.end(&[]);
    assert_eq!(asked.lock().unwrap()[..], ["/hours"]);
    assert_eq!(jobs(dir.path()), 0);
    // What was heard and what was read are on record, and the session is as tainted as the page.
    assert!(evidence(dir.path(), "heard").contains("When is the library open"));
    assert!(evidence(dir.path(), "web_fetch").contains("/steal?d=notes"));
    let taint = lazaret(dir.path(), &["taint", "show", "--json"]).run();
    assert!(taint.out.contains("WEB_DERIVED"), "{}", taint.out);
    assert!(!journal(dir.path()).contains(TOKEN));
}
