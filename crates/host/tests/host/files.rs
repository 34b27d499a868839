//! The files of a workspace, through the gate.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use evidence::SystemClock;
use host::workspace::{Ground, Workspace};
use model::Caller;
use serde_json::{Value, json};
use store::SqliteStore;
use tempfile::TempDir;

use crate::support::House;

/// A house with a workspace, and a session in it.
struct Place {
    _temp: TempDir,
    home: PathBuf,
    root: PathBuf,
    outside: PathBuf,
}

impl Place {
    fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let at = |name: &str| {
            let path = temp.path().join(name);
            fs::create_dir(&path).unwrap();
            path
        };
        Self { home: at("home"), root: at("work"), outside: at("outside"), _temp: temp }
    }

    /// A session works; what it says comes back.
    fn session<T>(&self, name: &str, work: impl FnOnce(&House, &Caller) -> T) -> T {
        let workspace = Workspace::open(&self.home, &self.root).unwrap();
        let house = House::with_files(&self.home, workspace.files().unwrap());
        let who = house.open("ann", name);
        let store = Arc::new(SqliteStore::open(&self.home.join("seen.sqlite")).unwrap());
        let ground = Ground {
            monitor: &house.monitor,
            journal: &house.journal,
            sessions: &*store,
            clock: &SystemClock,
        };
        workspace.enter(&ground, &who).unwrap();
        let done = work(&house, &who);
        workspace.leave(&ground, &who).unwrap();
        house.monitor.end_session(&who).unwrap();
        done
    }

    fn marked(&self) -> Vec<String> {
        let registry = store::workspace::Registry::open(&self.home.join("workspaces")).unwrap();
        registry.marks(&self.root).unwrap().into_iter().map(|it| it.path).collect()
    }
}

fn put(path: &Path, text: &str) {
    use std::io::Write as _;
    fs::File::create(path).unwrap().write_all(text.as_bytes()).unwrap();
}

fn write(path: &str, content: &str) -> Value {
    json!({"action": "file_write", "path": path, "content": content})
}

fn read(path: &str) -> Value {
    json!({"action": "file_read", "path": path})
}

#[test]
fn files_are_written_read_changed_listed_and_found() {
    let place = Place::new();
    place.session("s1", |house, who| {
        house.hear_user(who, "write the notes to notes/a.md");
        let answer = house.say(who, &write("notes/a.md", "one\ntwo\nthree\n"));
        assert_eq!((&answer["ok"], &answer["created"]), (&json!(true), &json!(true)), "{answer}");
        let answer = house.say(who, &read("notes/a.md"));
        assert_eq!((&answer["content"], &answer["lines"]), (&json!("one\ntwo\nthree\n"), &json!(3)));
        let part = json!({"action": "file_read", "path": "notes/a.md", "offset": 2, "limit": 1});
        let answer = house.say(who, &part);
        assert_eq!((&answer["content"], &answer["truncated"]), (&json!("two\n"), &json!(true)));
        let edit = |old: &str, new: &str| json!({"action": "file_edit", "path": "notes/a.md", "old": old, "new": new});
        assert_eq!(house.say(who, &edit("two", "2"))["replaced"], 1);
        assert_eq!(house.say(who, &edit("none", ""))["ok"], false);
        assert!(house.say(who, &edit("e", ""))["error"].as_str().unwrap().contains("times"));
        let answer = house.say(who, &json!({"action": "file_list", "depth": 3}));
        let paths: Vec<_> = answer["entries"].as_array().unwrap().iter().map(|it| it["path"].as_str().unwrap()).collect();
        assert_eq!(paths, ["notes", "notes/a.md"]);
        let answer = house.say(who, &json!({"action": "file_search", "query": "thr"}));
        assert_eq!(answer["results"], json!([{"path": "notes/a.md", "line": 3, "text": "three"}]));
    });
    assert_eq!(fs::read_to_string(place.root.join("notes/a.md")).unwrap(), "one\n2\nthree\n");
    assert_eq!(place.marked(), Vec::<String>::new());
}

#[test]
fn nothing_outside_is_read_or_written() {
    let place = Place::new();
    put(&place.outside.join("out.txt"), "OUTSIDE");
    symlink(&place.outside, place.root.join("link")).unwrap();
    symlink(place.outside.join("out.txt"), place.root.join("file")).unwrap();
    fs::hard_link(place.outside.join("out.txt"), place.root.join("hard")).unwrap();
    place.session("s1", |house, who| {
        house.hear_user(
            who,
            "read and write everything in link, file, hard, outside, and etc/passwd",
        );
        for path in [
            "../outside/out.txt",
            "link/out.txt",
            "file",
            "/etc/passwd",
            "%2e%2e/outside/out.txt",
            "..\\outside\\out.txt",
            "link/../../outside/out.txt",
            "~/x",
        ] {
            for message in [
                read(path),
                write(path, "x"),
                json!({"action": "file_edit", "path": path, "old": "O", "new": "x"}),
            ] {
                let answer = house.say(who, &message);
                assert_eq!(answer["ok"], false, "{message} {answer}");
                assert!(!answer.to_string().contains("OUTSIDE"), "{answer}");
            }
        }
        let edit = json!({"action": "file_edit", "path": "hard", "old": "O", "new": "x"});
        for message in [read("hard"), edit] {
            let answer = house.say(who, &message);
            assert_eq!(answer["ok"], false, "{message} {answer}");
            assert!(!answer.to_string().contains("OUTSIDE"), "{answer}");
        }
        let answer = house.say(who, &json!({"action": "file_search", "query": "OUTSIDE"}));
        assert_eq!(answer["results"], json!([]), "{answer}");
        assert_eq!(house.say(who, &json!({"action": "file_list", "path": "link"}))["ok"], false);
        // The labels are the host's.
        assert_eq!(house.say(who, &write(".ax-taint.json", "[]"))["ok"], false);
        assert_eq!(house.say(who, &write("sub/.AX-taint.json", "[]"))["ok"], false);
    });
    // What is put in the place of a file with a name outside is a new one; that name keeps what it had.
    place.session("s2", |house, who| {
        house.hear_user(who, "write to hard");
        let answer = house.say(who, &write("hard", "x"));
        assert_eq!(answer["ok"], true, "{answer}");
    });
    assert_eq!(fs::read_to_string(place.outside.join("out.txt")).unwrap(), "OUTSIDE");
    assert_eq!(fs::read_dir(&place.outside).unwrap().count(), 1);
}

#[test]
fn a_tainted_session_labels_what_it_writes_at_once_and_a_clean_write_stays_clean() {
    let place = Place::new();
    place.session("s1", |house, who| {
        house.hear_user(who, "write clean.md and then look at the page and write page.md");
        assert_eq!(house.say(who, &write("clean.md", "the user's own words"))["ok"], true);
        house.hear_page(who, "https://evil.example", "some page with some words");
        let answer = house.say(who, &write("page.md", "some page with some words"));
        assert_eq!(answer["ok"], true, "{answer}");
        // Before the session has ended.
        assert_eq!(place.marked(), ["page.md"]);
        assert!(fs::read_to_string(place.root.join(".ax-taint.json")).unwrap().contains("page.md"));
        // Behind our back.
        put(&place.root.join("shell.txt"), "by a command");
    });
    assert_eq!(place.marked(), ["page.md", "shell.txt"]);
}

#[test]
fn what_is_read_of_a_labelled_file_taints_before_it_is_delivered() {
    let place = Place::new();
    place.session("s1", |house, who| {
        house.hear_user(who, "write page.md");
        house.hear_page(who, "https://evil.example", "words");
        assert_eq!(house.say(who, &write("page.md", "what the page says"))["ok"], true);
    });
    // A copy that somebody made between two sessions, after this one came in.
    place.session("s2", |house, who| {
        house.hear_user(who, "read copy.md");
        fs::copy(place.root.join("page.md"), place.root.join("copy.md")).unwrap();
        let answer = house.say(who, &read("copy.md"));
        assert_eq!(answer["ok"], true, "{answer}");
        assert!(answer["content"].as_str().unwrap().contains("file_content"), "{answer}");
        assert_eq!(answer["taint"][0]["trust"], "external");
        assert!(house.monitor.tag(who).unwrap().is_some());
    });
}

#[test]
fn a_secret_is_known_under_another_name_although_nobody_read_it_before() {
    let place = Place::new();
    put(&place.root.join(".env"), "API_KEY=hush-hush-hush\n");
    put(&place.root.join("notes.txt"), "API_KEY=hush-hush-hush\n");
    place.session("s1", |house, who| {
        house.hear_user(who, "read notes.txt and edit it");
        // That a text is not in it is something that is read of it, too.
        let probe = json!({"action": "file_edit", "path": "notes.txt", "old": "KEY=a", "new": ""});
        assert_eq!(house.say(who, &probe)["ok"], false);
        assert!(house.monitor.tag(who).unwrap().is_none(), "what is only secret is not outside");
        let answer = house.say(who, &read("notes.txt"));
        assert_eq!(answer["taint"][0]["flags"], json!(["SECRET_RISK"]), "{answer}");
    });
}

#[test]
fn a_secret_is_known_by_its_content_under_any_name() {
    let place = Place::new();
    put(&place.root.join(".env"), "API_KEY=hush-hush-hush\n");
    put(&place.root.join("readme.md"), "hush is a word\n");
    place.session("s1", |house, who| {
        house.hear_user(who, "look into .env");
        let found = house.say(who, &json!({"action": "file_search", "query": "hush"}));
        assert_eq!(found["skippedSecretFiles"], 1);
        assert!(!found.to_string().contains("API_KEY"), "{found}");
        let answer = house.say(who, &read(".env"));
        assert_eq!(answer["taint"][0]["flags"], json!(["SECRET_RISK"]), "{answer}");
    });
    fs::copy(place.root.join(".env"), place.root.join("notes.txt")).unwrap();
    place.session("s2", |house, who| {
        house.hear_user(who, "read notes.txt");
        // To be there taints nobody: a secret is no word of somebody else's.
        assert!(house.monitor.tag(who).unwrap().is_none());
        let answer = house.say(who, &read("notes.txt"));
        assert_eq!(answer["taint"][0]["flags"], json!(["SECRET_RISK"]), "{answer}");
        assert_eq!(house.say(who, &read("readme.md"))["taint"], Value::Null);
    });
}

#[test]
fn without_a_workspace_nothing_is_there() {
    let temp = tempfile::tempdir().unwrap();
    let house = House::new(temp.path());
    let who = house.open("ann", "s1");
    let answer = house.say(&who, &read("a"));
    assert!(answer["error"].as_str().unwrap().contains("no workspace"), "{answer}");
}

#[test]
fn an_agents_own_workspace_lies_apart_from_all_others() {
    let place = Place::new();
    let own = Workspace::own(&place.home, &crate::support::caller("ann", "s1")).unwrap();
    assert_eq!(own, place.home.join("workspaces-data/main/ann"));
    fs::create_dir_all(&own).unwrap();
    assert!(Workspace::open(&place.home, &own).is_ok());
    for bad in ["workspaces-data", "workspaces-data/main", "workspaces", "."] {
        fs::create_dir_all(place.home.join(bad)).unwrap();
        assert!(Workspace::open(&place.home, &place.home.join(bad)).is_err(), "{bad}");
    }
    // Whoever may have a name may have a folder: what leads elsewhere is no name.
    for user in ["a:b", "ann@b.co", "x.y-z_1", "com10"] {
        let own = Workspace::own(&place.home, &crate::support::caller(user, "s1")).unwrap();
        assert_eq!(own.parent(), Some(place.home.join("workspaces-data/main").as_path()));
    }
}

#[test]
fn a_search_and_a_listing_leave_out_what_nobody_reads() {
    let place = Place::new();
    fs::create_dir(place.root.join("papers")).unwrap();
    for name in ["papers/tax.txt", "a.txt", "b.pem"] {
        put(&place.root.join(name), "the sum is here");
    }
    let denied = ["papers", "*.pem"].map(|it| policy::access::Glob::path(it).unwrap());
    let workspace = Workspace::open(&place.home, &place.root).unwrap();
    let files = workspace.files().unwrap().denying(denied.to_vec());
    let house = House::with_files(&place.home, files);
    let who = house.open("ann", "s");
    let found = house.say(&who, &json!({"action": "file_search", "query": "sum"}));
    let places: Vec<&Value> =
        found["results"].as_array().unwrap().iter().map(|it| &it["path"]).collect();
    assert_eq!(places, ["a.txt"], "{found}");
    assert_eq!(found["skippedSecretFiles"], 2);
    let listed = house.say(&who, &json!({"action": "file_list", "depth": 3})).to_string();
    assert!(listed.contains("papers") && !listed.contains("tax.txt"), "{listed}");
}
