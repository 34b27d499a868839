//! Sessions find and leave labels, and nothing washes them off.

use std::fs::{self, File};
use std::io::Read as _;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::{Duration, SystemTime};

use serde_json::Value;
use store::workspace::SIDECAR;

use crate::workspace::support::{PAGE, Place, read_page, write};

#[test]
fn what_a_tainted_session_leaves_counts_as_read_by_the_next() {
    let place = Place::new();
    assert_eq!(place.asks("clean"), (false, "session clean for me: frames on stdin\n".to_owned()));
    assert!(!place.workspace().join(SIDECAR).exists(), "nothing to say, nothing written");
    place.tainted_session("a", "page.txt");
    assert_eq!(place.marked(), ["page.txt"]);
    let sidecar = fs::read(place.workspace().join(SIDECAR)).unwrap();
    let sidecar: Value = serde_json::from_slice(&sidecar).unwrap();
    assert_eq!(sidecar[0]["path"], "page.txt");
    assert_eq!(sidecar[0]["sessionId"], "a");

    let (asks, said) = place.asks("b");
    assert!(
        asks && said.contains("tokens from outside, such as from https://evil.example/"),
        "{said}"
    );
    let rows = place.objects(&["sessions", "--json"]);
    let b = rows.iter().find(|it| it["session"] == "b").unwrap();
    assert_eq!(b["origin"], "https://evil.example/");
    assert!(b["tainted_tokens"].as_u64().unwrap() > 0);
    // The same files do not count twice when a session goes on.
    assert!(place.asks("b").0);
    let again = place.objects(&["sessions", "--json"]);
    let again = again.iter().find(|it| it["session"] == "b").unwrap();
    assert_eq!(again["tainted_tokens"], b["tainted_tokens"]);

    let entered = place.records("workspace_entered");
    let of_b = entered.iter().find(|it| it["meta"]["session"] == "b").unwrap();
    assert_eq!(of_b["payload"]["inline"]["labels"][0]["origin"], "https://evil.example/");
    let taint = serde_json::json!(["INJECTION_SUSPECT", "UNTRUSTED", "WEB_DERIVED"]);
    assert_eq!(of_b["taint"], taint);
    let left = place.records("workspace_left");
    let of_a = left.iter().find(|it| it["meta"]["session"] == "a").unwrap();
    assert_eq!(of_a["payload"]["inline"]["files"], serde_json::json!(["page.txt"]));
    assert_eq!(place.run(&["evidence", "verify"]).0, 0);
}

type Attack = fn(&Place);

const ATTACKS: &[(&str, Attack, &str)] = &[
    ("removes the sidecar", |it| fs::remove_file(it.workspace().join(SIDECAR)).unwrap(), "removed"),
    ("empties the sidecar", |it| it.write(SIDECAR, "[]"), "1 marks taken out, 0 put in"),
    ("breaks the sidecar", |it| it.write(SIDECAR, "}{"), "cannot be read"),
    (
        "puts a link in place of the sidecar",
        |it| {
            fs::remove_file(it.workspace().join(SIDECAR)).unwrap();
            symlink("own.txt", it.workspace().join(SIDECAR)).unwrap();
        },
        "cannot be read",
    ),
    (
        "renames the file",
        |it| {
            let name = |name: &str| it.workspace().join(name);
            fs::rename(name("page.txt"), name("harmless.txt")).unwrap();
        },
        "copies of: `harmless.txt`",
    ),
    (
        "copies the file, removes it, and the sidecar with it",
        |it| {
            let name = |name: &str| it.workspace().join(name);
            it.write("copy.txt", PAGE);
            fs::remove_file(name("page.txt")).unwrap();
            fs::remove_file(name(SIDECAR)).unwrap();
        },
        "copies of: `copy.txt`",
    ),
    (
        "says that the file is old",
        |it| {
            let file = File::open(it.workspace().join("page.txt")).unwrap();
            file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1000)).unwrap();
        },
        "tokens from outside",
    ),
    ("writes over the file", |it| it.write("page.txt", "nothing to see"), "tokens from outside"),
];

#[test]
fn nothing_that_is_done_to_the_files_washes_them() {
    for (attack, act, words) in ATTACKS {
        let place = Place::new();
        place.tainted_session("a", "page.txt");
        act(&place);
        let (asks, said) = place.asks("b");
        assert!(asks, "{attack}: {said}");
        assert!(said.contains(words), "{attack}: {said}");
        let kept = fs::symlink_metadata(place.workspace().join(SIDECAR)).unwrap();
        assert!(kept.is_file(), "{attack}: the sidecar is there again");
        assert_eq!(fs::read_to_string(place.workspace().join("own.txt")).unwrap().len(), 20);
    }
}

#[test]
fn a_session_that_was_killed_is_finished_by_the_next() {
    let place = Place::new();
    let mut session = place.session("a");
    read_page(&mut session);
    place.write("page.txt", PAGE);
    session.kill();
    assert_eq!(place.marked(), [""; 0]);
    let (asks, said) = place.asks("b");
    assert!(asks && said.contains("session a did not end in order; marked as its own: `page.txt`"));
    assert_eq!(place.marked(), ["page.txt"]);
    // A clean one that was killed leaves nothing that is marked.
    let place = Place::new();
    let mut session = place.session("a");
    session.ask(r#"{"action":"skill_list"}"#);
    place.write("own2.txt", "more notes");
    session.kill();
    let (asks, said) = place.asks("b");
    assert!(!asks && said.contains("nothing of what it left is marked"), "{said}");
}

#[test]
fn a_link_to_a_workspace_is_the_workspace() {
    let place = Place::new();
    let link = place.dir.path().join("link");
    symlink(place.workspace(), &link).unwrap();
    let mut session = place.session_in("a", &link);
    read_page(&mut session);
    place.write("page.txt", PAGE);
    // Turned elsewhere while the session is there: what it was is still looked after.
    fs::remove_file(&link).unwrap();
    fs::create_dir(place.dir.path().join("other")).unwrap();
    symlink(place.dir.path().join("other"), &link).unwrap();
    session.end();
    assert_eq!(place.marked(), ["page.txt"]);
    assert!(!place.asks_in("c", &link).0, "the other directory is clean");
    assert!(place.asks("b").0);
}

#[test]
fn a_session_does_not_begin_where_it_must_not_work() {
    let place = Place::new();
    let refuses = |workspace: &Path, words: &str| {
        let mut session = place.session_in("s", workspace);
        drop(session.input.take());
        let mut said = String::new();
        session.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert_eq!(session.child.wait().unwrap().code(), Some(2), "{said}");
        assert!(said.contains(words), "{said}");
    };
    refuses(place.dir.path(), "must lie apart");
    refuses(&place.home(), "must lie apart");
    fs::create_dir(place.home().join("inner")).unwrap();
    refuses(&place.home().join("inner"), "must lie apart");
    let link = place.dir.path().join("link");
    symlink(place.home(), &link).unwrap();
    refuses(&link, "must lie apart");
    refuses(&place.workspace().join("own.txt"), "is no directory");
    refuses(&place.workspace().join("nowhere"), "is no directory");
    let refused = place.records("session_refused");
    assert_eq!(refused.len(), 6);
    assert_eq!(refused[0]["payload"]["inline"]["session"], "s");
}

#[test]
fn labels_that_cannot_be_read_stop_the_session() {
    let place = Place::new();
    place.tainted_session("a", "page.txt");
    let labels = fs::read_dir(place.home().join("workspaces")).unwrap();
    let labels = labels.map(|it| it.unwrap().path());
    let marks = labels.filter(|it| it.extension().is_some_and(|it| it == "marks"));
    marks.for_each(|it| write(&it, "{}"));
    let mut session = place.session("b");
    let mut said = String::new();
    session.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(session.child.wait().unwrap().code(), Some(3), "{said}");
    assert!(said.contains("cannot be read"), "{said}");
    let refused = place.records("session_refused");
    assert_eq!(refused.len(), 1);
}
