//! Two users of `lazaret serve` whose agents do whatever they are told: what one keeps in memory, tasks, notes and files, and what
//! jobs and sessions they have, the other neither reads, finds, changes nor deletes.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "test helpers; clippy's exceptions cover only `#[test]` functions"
)]

use std::path::Path;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use testkit::program::Run as _;

use crate::delegation::model;
use crate::program::lazaret;
use crate::serve::{Served, home, put};

/// What Ann keeps, and nobody else hears of.
const SECRET: &str = "the blue whale sleeps at nine";
/// Before it stands what an agent is told to do.
const DO: &str = "do ";
/// What models were told came of their calls.
type Told = Arc<Mutex<Vec<String>>>;

/// A model that calls what the user's last words say, and notes what came of it.
fn obedient() -> (u16, Told) {
    let told = Told::default();
    let notes = Arc::clone(&told);
    let port = model(move |last| {
        let text: String = serde_json::from_str(last).unwrap();
        let call = text.split_once(DO).and_then(|it| serde_json::from_str(it.1).ok());
        call.unwrap_or_else(|| {
            notes.lock().unwrap().push(text.clone());
            json!("done")
        })
    });
    (port, told)
}

/// What a model is told of a call that came to nothing.
const FAILED: &str = "This call failed: ";
const DENIED: &str = "This call was not allowed: ";

struct Users<'a> {
    served: Served<'a>,
    ann: String,
    bob: String,
    told: Told,
}

impl Users<'_> {
    /// Has an agent of a user do something, and gives what it says came of it.
    fn has_done(&self, token: &str, name: &str, input: &Value) -> String {
        let call = json!({ "name": name, "input": input });
        self.served.say(token, &format!("{DO}{call}"), None);
        self.told.lock().unwrap().pop().unwrap()
    }

    /// The id in what came of something.
    fn id(&self, token: &str, name: &str, input: &Value) -> String {
        let said = self.has_done(token, name, input);
        let (_, rest) = said.split_once("\"id\":\"").unwrap_or_else(|| panic!("{said}"));
        rest.split('"').next().unwrap().to_owned()
    }

    fn finds_nothing_of_anns(&self, ids: &Kept) {
        let bob = |name: &str, input: Value| {
            let said = self.has_done(&self.bob, name, &input);
            assert!(!said.contains(SECRET), "{name} {input}: {said}");
            said
        };
        for (name, input) in [
            ("memory_query", json!({ "scope": "notes", "query": "blue whale" })),
            ("memory_query", json!({ "scope": "notes" })),
            ("memory_list", json!({ "scope": "notes", "limit": 100 })),
            ("task_list", json!({ "all": true })),
            ("scratch_list", json!({})),
            ("file_list", json!({ "depth": 16 })),
            ("file_search", json!({ "query": "whale" })),
            ("audit_query", json!({ "filter": { "limit": 500 } })),
            ("scheduler_list_cron", json!({})),
        ] {
            let said = bob(name, input);
            assert!(!said.contains(FAILED) && !said.contains(DENIED), "{name}: {said}");
        }
        for (name, input) in [
            ("memory_read", json!({ "id": ids.memory })),
            ("memory_delete", json!({ "id": ids.memory })),
            ("task_close", json!({ "id": ids.task, "status": "dropped" })),
            ("scratch_read", json!({ "name": "whale" })),
            ("file_read", json!({ "path": "diary.txt" })),
            ("file_read", json!({ "path": "../ann/diary.txt" })),
            ("file_read", json!({ "path": ids.path })),
            ("file_write", json!({ "path": "../ann/diary.txt", "content": "mine" })),
            ("file_edit", json!({ "path": "diary.txt", "old": "blue", "new": "red" })),
            ("scheduler_remove_cron", json!({ "id": ids.job })),
        ] {
            let said = bob(name, input);
            assert!(said.contains(FAILED) || said.contains(DENIED), "{name}: {said}");
        }
    }
}

/// What of Ann's there is to look for.
struct Kept {
    memory: String,
    task: String,
    job: String,
    path: String,
}

#[test]
fn what_one_user_keeps_the_other_neither_reads_nor_changes() {
    for memory in ["sqlite", "file"] {
        apart(memory);
    }
}

fn apart(memory: &str) {
    let (port, told) = obedient();
    let dir = home(&json!({}), "");
    let settings = format!(
        "providers: {{llm: local, memory: {memory}, scheduler: cron}}\nmodels: {{default: local/m, local: {{url: \"http://127.0.0.1:{port}\"}}}}\n"
    );
    put(dir.path(), "config.yaml", &settings);
    let served = Served::start(dir.path());
    let (ann, bob) = (served.token("ann"), served.token("bob"));
    let users = Users { served, ann, bob, told };
    let ann = |name: &str, input: &Value| users.has_done(&users.ann, name, input);
    let note = json!({ "scope": "notes", "type": "knowledge", "content": SECRET });
    let job = json!({ "schedule": "0 9 * * *", "prompt": SECRET });
    let ids = Kept {
        memory: users.id(&users.ann, "memory_write", &note),
        task: users.id(&users.ann, "task_add", &json!({ "text": SECRET })),
        job: users.id(&users.ann, "scheduler_add_cron", &job),
        path: dir.path().join("workspaces-data/main/ann/diary.txt").to_str().unwrap().to_owned(),
    };
    ann("scratch_write", &json!({ "name": "whale", "content": SECRET }));
    ann("file_write", &json!({ "path": "diary.txt", "content": SECRET }));

    users.finds_nothing_of_anns(&ids);

    // It is there for Ann, as it was.
    for (name, input) in [
        ("memory_read", json!({ "id": ids.memory })),
        ("task_list", json!({})),
        ("file_read", json!({ "path": "diary.txt" })),
        ("scheduler_list_cron", json!({})),
    ] {
        let said = ann(name, &input);
        assert!(said.contains(SECRET), "{memory} {name}: {said}");
    }
    // Nor by what the server keeps of users, nor by the command line under another name.
    let Users { served, bob, .. } = users;
    for path in ["/api/users/ann/data", "/api/users/bob/data"] {
        let answer = served.bytes("GET", path, &bob);
        assert!(!String::from_utf8_lossy(&answer).contains(SECRET), "{path}");
    }
    let sent = lazaret(dir.path(), &["send", "main", "hello", "--user", "bob"]).run();
    assert!(!sent.out.contains(SECRET), "{}", sent.out);
    assert_eq!(served.end(), 0);
}

/// The conversations that agents remember.
fn conversations(home: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(home.join("conversations")) else { return Vec::new() };
    entries.map(|it| std::fs::read_to_string(it.unwrap().path()).unwrap()).collect()
}

#[test]
fn what_was_said_beside_the_server_is_a_users_to_take_and_goes_with_them() {
    let dir = home(&json!({ "otherwise": { "say": "noted" } }), "");
    let users = std::fs::read_to_string(dir.path().join("users.yaml")).unwrap();
    put(dir.path(), "users.yaml", &users.replacen("name: bob,", "name: bob, admin: true,", 1));
    let served = Served::start(dir.path());
    // One for all agents, as whoever administers has.
    let args = ["access", "create", "--user", "bob", "--json"];
    let made = lazaret(dir.path(), &args).run().objects().remove(0);
    let bob = made["token"].as_str().unwrap().to_owned();
    for user in ["ann", "bob"] {
        let said = lazaret(dir.path(), &["run", "main", SECRET, "--user", user]).run();
        assert_eq!(said.code, 0, "{}", said.err);
    }
    assert_eq!(conversations(dir.path()).iter().filter(|it| it.contains(SECRET)).count(), 2);
    let path = "/api/users/ann/data";
    let taken = served.bytes("GET", path, &bob);
    let shown = String::from_utf8_lossy(&taken);
    assert!(shown.contains("conversations/main/"), "{shown}");
    let gone = served.request("DELETE", path, Some(&bob), "");
    assert_eq!(gone.status, 200, "{}", gone.body);
    let left = conversations(dir.path());
    assert_eq!(left.iter().filter(|it| it.contains(SECRET)).count(), 1, "{left:?}");
    assert_eq!(served.end(), 0);
}
