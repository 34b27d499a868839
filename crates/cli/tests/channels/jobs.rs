//! Answers of jobs, said on Telegram to the owner of the job and to nobody else.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "test helpers; clippy's exceptions cover only `#[test]` functions"
)]

use std::path::Path;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::program::Run as _;

use super::messenger::{Api, Asked, PATIENCE, Served, Updates, evidence, home, now};
use super::put;
use crate::program::lazaret;

const TOKEN: &str = "4839574812:AAFD39kkdpWt3ywyRZergyOLMaJhac60qc4";

fn add(home: &Path, to: &str, prompt: &str) -> (i32, String) {
    let job = ["scheduler", "add", "--user", "ann", "--agent", "main", "--cron", "* * * * *"];
    let mut command = lazaret(home, &job);
    let added = command.args(["--deliver", to, prompt]).env("USER", "ann").run();
    (added.code, added.err)
}

fn book(home: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(home.join("scheduler.json")).unwrap()).unwrap()
}

/// All jobs are due, and the last one says that it goes to somebody else.
fn due(home: &Path) {
    let mut book = book(home);
    for job in book["jobs"].as_array_mut().unwrap() {
        job["next"] = json!(job["next"].as_i64().unwrap() - 120);
    }
    *book.pointer_mut("/jobs/5/delivery").unwrap() = json!("telegram:dm:6");
    put(home, "scheduler.json", &book.to_string());
}

/// What became of each answer, by what the agent was told, once that is known of all.
fn handed(home: &Path) -> Vec<String> {
    let until = Instant::now() + PATIENCE;
    loop {
        let book = book(home);
        let runs: Vec<&Value> = book["runs"].as_array().unwrap().iter().collect();
        if runs.len() == 6 && runs.iter().all(|it| it["handed"].is_object()) {
            let listed = lazaret(home, &["scheduler", "list"]).run().out;
            return listed
                .lines()
                .filter(|it| it.contains("answered"))
                .map(str::to_owned)
                .collect();
        }
        assert!(Instant::now() < until, "{book}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A bot that gives out `updates`. The first thing that is said waits, and all others behind it, until `held` hears something.
fn bot(updates: &Updates, held: Receiver<()>) -> Api {
    let (given, held) = (updates.clone(), Mutex::new(Some(held)));
    Api::answering(move |asked: &Asked| {
        let text = asked.body["text"].as_str().unwrap_or_default();
        let result = match asked.path.rsplit('/').next().unwrap_or_default() {
            "getMe" => json!({ "id": 99, "is_bot": true, "username": "our_bot" }),
            "getUpdates" => given.since(asked),
            _ => {
                if let Some(held) = held.lock().unwrap().take() {
                    held.recv_timeout(PATIENCE).unwrap();
                }
                if text.contains("broken") {
                    return Some((400, json!({ "ok": false, "description": "chat not found" })));
                }
                json!({ "message_id": 1 })
            }
        };
        Some((200, json!({ "ok": true, "result": result })))
    })
}

/// The owner of the jobs agrees to the policy: nobody's jobs run before that.
fn agree(home: &Path, later: &str) {
    let (updates, (release, held)) = (Updates::default(), channel::<()>());
    release.send(()).unwrap();
    let api = bot(&updates, held);
    let settings = std::fs::read_to_string(home.join("config.yaml")).unwrap();
    put(home, "config.yaml", &settings.replace(later, &api.url));
    let served = Served::start(home, &api.url, &[("TELEGRAM_TOKEN", TOKEN)]);
    updates.push(json!({
        "message_id": 1, "date": now(), "from": { "id": 5, "is_bot": false },
        "chat": { "id": 5, "type": "private" }, "text": "/agree 1.0",
    }));
    let told = api.next("/sendMessage").body;
    assert!(told["text"].as_str().unwrap().contains("You agree"), "{told}");
    served.end(&[]);
    put(home, "config.yaml", &settings);
}

/// A home whose jobs the host carries out, with six of them that are due.
fn with_jobs(api: &Api) -> tempfile::TempDir {
    let config = format!("channel_config: {{telegram: {{url: \"{}\"}}}}\n", api.url);
    let script = json!({ "otherwise": { "say": "Done: ", "echo": true } });
    let dir = home(&script, &config, "telegram: [\"5\"]");
    let home = dir.path();
    agree(home, &api.url);
    let settings = std::fs::read_to_string(home.join("config.yaml")).unwrap();
    put(home, "config.yaml", &settings.replace("llm: mock", "llm: mock, scheduler: full"));
    for (bad, code, why) in [
        ("telegram:dm:6", 1, "the user is not there"),
        ("slack:dm:U1", 1, "no such messenger"),
        ("telegram:group:-100", 2, "one person"),
    ] {
        let (found, err) = add(home, bad, "leak it");
        assert!(found == code && err.contains(why), "{bad}: {found} {err}");
    }
    for (to, prompt) in [
        ("telegram:dm:5", "first"),
        ("telegram:dm:5", "second"),
        ("telegram:dm:5", "third"),
        ("telegram:dm:5", "broken"),
        ("last", "where I am"),
        ("telegram:dm:5", "to a stranger"),
    ] {
        assert_eq!(add(home, to, prompt), (0, String::new()));
    }
    due(home);
    dir
}

#[test]
fn an_answer_of_a_job_reaches_its_owner_alone_and_what_is_not_delivered_is_shown() {
    let (updates, (release, held)) = (Updates::default(), channel::<()>());
    let api = bot(&updates, held);
    let dir = with_jobs(&api);
    let home = dir.path();
    let served = Served::start(home, &api.url, &[("TELEGRAM_TOKEN", TOKEN)]);
    let direct = |number: u64, from: u64| {
        json!({
            "message_id": number, "date": now(), "from": { "id": from, "is_bot": false },
            "chat": { "id": from, "type": "private" }, "text": "/agree 1.0",
        })
    };
    // Messages are taken in their order: where the stranger's was refused, the user's was heard.
    updates.push(direct(1, 5));
    updates.push(direct(2, 6));
    served.logs("not_mapped");
    release.send(()).unwrap();

    let shown = handed(home);
    let of = |prompt: &str| shown.iter().find(|it| it.ends_with(prompt)).unwrap().clone();
    for prompt in ["first", "second", "third", "where I am"] {
        assert!(of(prompt).contains("(delivered to telegram:dm:5)"), "{shown:?}");
    }
    assert!(of("broken").contains("(not delivered: ") && of("broken").contains("chat not found"));
    assert!(of("to a stranger").contains("(not delivered: the user is not there"), "{shown:?}");
    served.end(&[]);
    let said = evidence(home, "message_out");
    assert!(said.contains("Done: where I am") && said.contains("telegram:dm:5"), "{said}");
    assert!(!said.contains("telegram:dm:6"), "{said}");
    assert_eq!(evidence(home, "job_delivered").lines().count(), 4);
    let failed = evidence(home, "job_undelivered");
    assert!(failed.lines().count() == 2 && failed.contains("chat not found"), "{failed}");
}
