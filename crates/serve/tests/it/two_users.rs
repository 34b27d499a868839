//! Two users who try everything against each other.

use serde_json::json;

use crate::world::{ANN, BOB, ROOT, World, users, write};

#[test]
fn what_is_anns_is_not_there_for_bob() {
    let world = World::wide();
    let (mut ann, session) = world.subscribed(ANN, "main");
    ann.message("a private thing");
    ann.until("result");
    let own = world.get(&format!("/api/sessions/{session}/messages"), Some(ANN)).json();
    assert_eq!(own["messages"][0]["content"], "a private thing");
    assert_eq!(own["messages"][1]["role"], "assistant");
    assert!(own["next"].is_null());
    let page =
        |query: &str| world.get(&format!("/api/sessions/{session}/messages?{query}"), Some(ANN));
    let first = page("limit=1").json();
    assert_eq!(first["messages"].as_array().unwrap().len(), 1);
    let rest = page(&format!("limit=1&after={}", first["next"])).json();
    assert_eq!((&rest["messages"][0]["role"], &rest["next"]), (&json!("assistant"), &json!(null)));
    for query in ["limit=0", "limit=501", "after=-1", "after=x"] {
        assert_eq!(page(query).status, 400, "{query}");
    }

    for path in [format!("/api/sessions/{session}/messages"), "/api/users/ann/data".to_owned()] {
        assert_eq!(world.get(&path, Some(BOB)).status, 404, "{path}");
    }
    assert_eq!(world.delete(&format!("/api/sessions/{session}"), Some(BOB)).status, 404);
    assert_eq!(world.delete("/api/users/ann/data", Some(BOB)).status, 403);
    assert_eq!(world.delete("/api/users/ann/data", Some(ANN)).status, 403);
    assert_eq!(world.get("/api/sessions?agent=anns", Some(BOB)).status, 403);
    assert_eq!(world.get("/api/agents/anns", Some(BOB)).status, 403);
    assert_eq!(world.post("/api/sessions", Some(BOB), "{\"agent\":\"anns\"}").status, 403);
    assert_eq!(world.post("/api/admin/reload", Some(BOB), "").status, 403);
    let listed = world.get("/api/sessions", Some(BOB)).json();
    assert!(listed["sessions"].as_array().unwrap().is_empty());

    let mut bob = world.socket(BOB);
    let subscribe = json!({
        "type": "subscribe", "agentId": "main", "sessionId": session, "lastMessageId": 0,
    });
    bob.say(&subscribe);
    assert_eq!(bob.until("error")["code"], "session_not_found");
    bob.say(&json!({ "type": "subscribe", "agentId": "anns" }));
    assert_eq!(bob.until("error")["code"], "access_denied");
    bob.say(&json!({ "type": "subscribe", "agentId": "../anns" }));
    assert_eq!(bob.until("error")["code"], "agent_not_found");
    // One's own session with another agent is another session.
    ann.say(&json!({ "type": "subscribe", "agentId": "anns", "sessionId": session }));
    assert_eq!(ann.until("error")["code"], "session_not_found");
    // Bob cannot interrupt or answer what is Ann's.
    ann.message("ask q7");
    ann.until("tool_approval");
    bob.say(&json!({ "type": "subscribe", "agentId": "main" }));
    bob.until("subscribed");
    bob.say(&json!({ "type": "interrupt" }));
    bob.say(&json!({ "type": "tool_approval", "toolId": "q7", "approved": true }));
    bob.until("tool_approval_rejected");
    ann.say(&json!({ "type": "tool_approval", "toolId": "q7", "approved": false }));
    assert_eq!(ann.until("assistant_message")["content"], "answered false");
}

#[test]
fn a_users_data_is_theirs_to_take_and_an_administrators_to_delete() {
    let world = World::wide();
    let (mut ann, session) = world.subscribed(ANN, "main");
    ann.message("remember this");
    ann.until("result");
    let zip = world.get("/api/users/ann/data", Some(ANN));
    assert_eq!(zip.status, 200);
    assert!(zip.bytes.starts_with(b"PK\x03\x04"));
    let text = String::from_utf8_lossy(&zip.bytes).into_owned();
    for wanted in [session.as_str(), "remember this", "usage.jsonl", "consent.json", "of.txt"] {
        assert!(text.contains(wanted), "{wanted}");
    }
    assert_eq!(world.get("/api/users/../data", Some(ROOT)).status, 400);
    assert_eq!(world.get("/api/users/nobody/data", Some(ROOT)).status, 404);
    let report = world.delete("/api/users/ann/data", Some(ROOT)).json();
    assert_eq!((&report["sessions"], &report["consentFile"]), (&json!(1), &json!(true)));
    assert_eq!((&report["workspaceFiles"], &report["memoryFiles"]), (&json!(2), &json!(1)));
    assert_eq!((&report["jobs"], &report["proposals"]), (&json!(3), &json!(4)));
    assert_eq!(world.get(&format!("/api/sessions/{session}/messages"), Some(ANN)).status, 404);
    // What counts against a budget still does.
    assert_eq!(world.get("/api/usage", Some(ANN)).json()["daily"]["tokens"], 30);
    ann.message("hello");
    assert_eq!(ann.until("error")["code"], "consent_required");
    let records = world.records();
    assert!(records.contains("privacy_export") && records.contains("privacy_deletion"));
    assert_eq!(world.get("/api/privacy", None).json()["policyVersion"], "1.0");
}

#[test]
fn exports_keep_neither_threads_nor_room_from_others() {
    let world = World::wide();
    let held = world.desk.drawer.lock().unwrap();
    let export = |token: &str| world.get("/api/users/ann/data", Some(token)).status;
    std::thread::scope(|scope| {
        let first: Vec<_> = [ANN, ROOT].map(|it| scope.spawn(move || export(it))).into();
        let until = std::time::Instant::now() + std::time::Duration::from_secs(20);
        while world.records().matches("privacy_export").count() < 2 {
            assert!(std::time::Instant::now() < until);
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        // One that is under way is not made twice, however often it is asked for, and nobody else waits for it.
        let more: Vec<_> = (0..20).map(|_| scope.spawn(move || export(ANN))).collect();
        assert!(more.into_iter().all(|it| it.join().unwrap() == 409));
        assert_eq!(world.get("/api/users/bob/data", Some(BOB)).status, 409);
        assert_eq!(world.get("/api/agents", Some(BOB)).status, 200);
        drop(held);
        assert!(first.into_iter().all(|it| it.join().unwrap() == 200));
    });
    assert_eq!(export(ANN), 200);
}

#[test]
fn what_is_too_old_goes_with_its_files_and_who_is_gone_can_be_deleted() {
    let mut world = World::wide();
    let (mut ann, old) = world.subscribed(ANN, "main");
    ann.message("long ago");
    ann.until("result");
    let (mut bob, bobs) = world.subscribed(BOB, "main");
    bob.message("lately");
    bob.until("result");
    drop((ann, bob));
    world.end();
    let books = rusqlite::Connection::open(world.home().join("serve.db")).unwrap();
    books.execute("UPDATE sessions SET updated = 0 WHERE id = ?1", [&old]).unwrap();
    drop(books);
    let world = world.restart();
    let began = std::time::Instant::now();
    while world.desk.forgotten().is_empty() && began.elapsed().as_secs() < 20 {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    assert_eq!(world.desk.forgotten(), std::slice::from_ref(&old));
    assert!(world.log.has("session.ended"));
    let events = world.log.events();
    let ended = events.iter().find(|it| it["event"] == "session.ended").unwrap();
    assert_eq!((&ended["details"]["why"], &ended["sessionId"]), (&json!("retention"), &json!(old)));
    // Bob leaves; what was kept of him does not stay because of that.
    let without = users("unlimited");
    let bobs_entry =
        without.find("  - name: bob").unwrap()..without.find("  - name: root").unwrap();
    let without = without.replace(without.get(bobs_entry).unwrap(), "");
    write(&world.home().join("users.yaml"), &without);
    world.handle.reload().unwrap();
    assert_eq!(world.get("/api/users/bob/data", Some(ROOT)).status, 200);
    let report = world.delete("/api/users/bob/data", Some(ROOT));
    assert_eq!((report.status, &report.json()["sessions"]), (200, &json!(1)));
    assert_eq!(world.desk.forgotten(), [old, bobs]);
    assert_eq!(world.delete("/api/users/nobody/data", Some(ROOT)).status, 404);
}

#[test]
fn a_deletion_is_done_where_something_of_it_waits_to_be_wiped() {
    let world = World::wide();
    world.desk.holds_back.store(true, std::sync::atomic::Ordering::Release);
    let (mut ann, session) = world.subscribed(ANN, "main");
    ann.message("remember this");
    ann.until("result");
    assert_eq!(world.delete(&format!("/api/sessions/{session}"), Some(ANN)).status, 204);
    assert!(world.log.has("session.ended"));
    assert_eq!(world.get(&format!("/api/sessions/{session}/messages"), Some(ANN)).status, 404);
    assert_eq!(world.delete("/api/users/ann/data", Some(ROOT)).status, 200);
    assert!(world.log.has("privacy.deletion"));
    // It is told, and tried again.
    let told =
        |it: &serde_json::Value| it["details"]["why"] == "the index of words does not answer";
    assert!(world.log.events().iter().any(told));
}

#[test]
fn what_cannot_be_forgotten_keeps_nothing_else_from_going() {
    let mut world = World::wide();
    let (mut ann, _) = world.subscribed(ANN, "main");
    ann.message("long ago");
    ann.until("result");
    drop(ann);
    world.end();
    let books = rusqlite::Connection::open(world.home().join("serve.db")).unwrap();
    let sql = "UPDATE sessions SET updated = 0; UPDATE spending SET at = 0;
        CREATE TRIGGER stays BEFORE DELETE ON sessions BEGIN SELECT RAISE(ABORT, 'it stays'); END";
    books.execute_batch(sql).unwrap();
    let spent = || {
        let sql = "SELECT count(*) FROM spending";
        books.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap()
    };
    assert!(spent() > 0);
    let world = world.restart();
    let began = std::time::Instant::now();
    while (spent() > 0 || !world.log.has("server.error")) && began.elapsed().as_secs() < 20 {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    // Once at each start.
    assert_eq!((spent(), world.desk.retained()), (0, 2));
    let told = |it: &serde_json::Value| it["details"].to_string().contains("it stays");
    assert!(world.log.events().iter().any(told));
}
