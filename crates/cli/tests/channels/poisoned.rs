//! A poisoned page behind a messenger: the user asks on Telegram, the model obeys whatever it reads, and whoever is asked
//! about that says no.

#![expect(
    clippy::indexing_slicing,
    reason = "test helpers; clippy's exceptions cover only `#[test]` functions"
)]

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;
use testkit::program::Run as _;

use super::messenger::{Served, Updates, evidence, home, journal};
use super::put;
use super::telegram::{TOKEN, bot, direct};
use crate::poisoned::{ANSWER, jobs, pages, settings};
use crate::program::lazaret;

/// Says no to whatever a person is asked.
fn deny_all(home: &Path, is_over: &AtomicBool) {
    while !is_over.load(Ordering::Acquire) {
        for asked in lazaret(home, &["approvals", "--json"]).run().objects() {
            if let Some(id) = asked["id"].as_str() {
                lazaret(home, &["approvals", "deny", id]).run();
            }
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
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
    let is_over = AtomicBool::new(false);
    let said = std::thread::scope(|scope| {
        scope.spawn(|| deny_all(dir.path(), &is_over));
        let mut said = String::new();
        while !said.contains(ANSWER) {
            let body = api.next("/sendMessage").body;
            assert_eq!(body["chat_id"], 5);
            said = body["text"].as_str().unwrap().to_owned();
        }
        is_over.store(true, Ordering::Release);
        said
    });
    assert_eq!(said, ANSWER);
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
