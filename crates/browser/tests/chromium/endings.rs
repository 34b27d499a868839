//! Browsers end: when they are told to, when nobody uses them, when their host does, when they crash. None of
//! that hangs, and nothing is left.

use std::path::Path;
use std::time::{Duration, Instant};

use browser::Limits;
use monitor::Status;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::support::{Rig, Server, open_session, until};

/// Processes whose command line names this profile, and those that they have started.
fn processes(profile: &str) -> Vec<u32> {
    let all = std::fs::read_dir("/proc").unwrap().filter_map(|it| {
        let id: u32 = it.ok()?.file_name().to_str()?.parse().ok()?;
        let line = std::fs::read(format!("/proc/{id}/cmdline")).ok()?;
        String::from_utf8_lossy(&line).contains(profile).then_some(id)
    });
    all.collect()
}

fn is_gone(profile: &str) {
    until("all is gone", || !Path::new(profile).exists() && processes(profile).is_empty());
}

#[test]
fn closing_a_browser_its_session_or_all_leaves_nothing() {
    let mut rig = Rig::new(&[], &[]);
    let session = rig.launch();
    let path = rig.flag("--user-data-dir");
    assert!(processes(&path).len() > 3);
    rig.act(&json!({ "action": "browser_close", "session": session }));
    is_gone(&path);

    rig.launch();
    let path = rig.flag("--user-data-dir");
    rig.browsers.as_ref().unwrap().end_session(&rig.who);
    is_gone(&path);

    rig.launch();
    let path = rig.flag("--user-data-dir");
    rig.browsers = None;
    is_gone(&path);
}

#[test]
fn a_session_has_so_many_and_no_more() {
    let rig = Rig::with(&[], &[], Limits { per_session: 1, ..Limits::default() });
    let first = rig.launch();
    let (status, why) = rig.fails(&json!({ "action": "browser_launch" }));
    assert!(status == Status::NotBegun && why.contains("has 1 browsers open"), "{why}");
    // Another session is not held up by it.
    let other = open_session(&rig.monitor, "me", "s2");
    assert_eq!(
        rig.send(&other, &json!({ "action": "browser_launch" })).output.status,
        Status::Done
    );
    rig.act(&json!({ "action": "browser_close", "session": first }));
    rig.launch();
}

#[test]
fn one_that_nobody_uses_ends_and_it_is_on_record() {
    let rig = Rig::with(&[], &[], Limits { idle: Duration::from_secs(1), ..Limits::default() });
    let session = rig.launch();
    until("it is gone", || rig.browsers.as_ref().unwrap().process_ids(&rig.who).is_empty());
    let (_, why) = rig.fails(&json!({ "action": "browser_snapshot", "session": session }));
    assert!(why.starts_with("there is no such browser"), "{why}");
    let ended = rig.records().into_iter().find(|it| it["meta"]["kind"] == "browser_ended").unwrap();
    assert_eq!(ended["payload"]["inline"]["reason"], "nobody used it");
}

#[test]
fn one_that_dies_is_an_error_and_no_hang() {
    let server = Server::of("<title>Here</title>");
    let rig = Rig::new(&[server.port], &[]);
    let session = &rig.launch();
    let path = rig.flag("--user-data-dir");
    let id = rig.browsers.as_ref().unwrap().process_ids(&rig.who)[0];
    let id = Pid::from_raw(i32::try_from(id).unwrap()).unwrap();
    kill_process(id, Signal::KILL).unwrap();
    let begun = Instant::now();
    let asked = json!({ "action": "browser_navigate", "session": session, "url": server.url("/") });
    let (_, why) = rig.fails(&asked);
    assert!(begun.elapsed() < Duration::from_secs(5), "{why}");
    is_gone(&path);
    rig.launch();
}

#[test]
fn one_that_stops_is_given_up() {
    let rig = Rig::new(&[], &[]);
    let session = &rig.launch();
    let path = rig.flag("--user-data-dir");
    let id = rig.browsers.as_ref().unwrap().process_ids(&rig.who)[0];
    let id = Pid::from_raw(i32::try_from(id).unwrap()).unwrap();
    kill_process(id, Signal::STOP).unwrap();
    let begun = Instant::now();
    let (status, why) = rig.fails(&json!({ "action": "browser_screenshot", "session": session }));
    assert!(status == Status::Failed && why.contains("in time"), "{why}");
    assert!(begun.elapsed() < Duration::from_secs(40));
    rig.act(&json!({ "action": "browser_close", "session": session }));
    is_gone(&path);
}

#[test]
fn a_page_that_crashes_is_an_error_and_the_next_page_works() {
    let server = Server::of("<title>Here</title><p>words</p>");
    let rig = Rig::new(&[server.port], &[]);
    let session = &rig.launch();
    rig.go(session, &server.url("/"));
    let path = rig.flag("--user-data-dir");
    let pages = processes(&path).into_iter().filter(|it| {
        let line = std::fs::read(format!("/proc/{it}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains("--type=renderer")
    });
    for page in pages {
        let page = Pid::from_raw(i32::try_from(page).unwrap()).unwrap();
        let _ = kill_process(page, Signal::KILL);
    }
    let asked = json!({ "action": "browser_snapshot", "session": session });
    until("the crash is seen", || {
        rig.send(&rig.who, &asked).output.body.contains("the page has crashed")
    });
    rig.go(session, &server.url("/"));
    assert!(rig.look(session).contains("words"));
}
