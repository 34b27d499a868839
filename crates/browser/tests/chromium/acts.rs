//! The seven actions on honest pages.

use std::collections::HashMap;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use model::Taint;
use serde_json::json;

use crate::support::{Rig, Server, html, number};

const FORM: &str = "<!doctype html><title>A form</title><h1>Welcome</h1>
    <form action=/done><label>Name <input name=who value=old></label>
    <textarea aria-label=Notes></textarea>
    <button>Send</button></form>
    <a href=/next>Next page</a><p>Some text of the page.</p>";

#[test]
fn a_session_from_launch_to_close() {
    let pages =
        HashMap::from([html("/", FORM), html("/next", "<title>Second</title><h1>There</h1>")]);
    let server = Server::new(pages);
    let rig = Rig::new(&[server.port], &[]);
    let launched = rig.act(&json!({ "action": "browser_launch" }));
    let held = &launched["confinement"];
    assert_eq!(held["pagesFiltered"], true, "{held}");
    assert_eq!((&held["pagesApart"], &held["noNewPrivileges"]), (&json!(true), &json!(true)));
    // It is a user of its own only where the host can become one.
    assert_eq!(held["ownUser"], rustix::process::geteuid().is_root(), "{held}");
    let session = launched["session"].as_str().unwrap();

    let there = rig.go(session, &server.url("/"));
    assert_eq!(there["status"], 200);
    assert!(there["content"].as_str().unwrap().contains("title \"A form\""), "{there}");

    let seen = rig.look(session);
    assert!(seen.starts_with("<fetched_content id=\""), "{seen}");
    for line in [
        "heading \"Welcome\" level=1",
        "textbox \"Name\" value=\"old\"",
        "text \"Some text of the page.\"",
    ] {
        assert!(seen.contains(line), "{line}\n{seen}");
    }
    // What a page said counts as what it is.
    let delivered =
        rig.send(&rig.who, &json!({ "action": "browser_snapshot", "session": session }));
    let taint = delivered.tag.unwrap().taint;
    assert!(taint.contains(Taint::UNTRUSTED) && taint.contains(Taint::WEB_DERIVED));

    let seen = rig.look(session);
    let typed = rig.type_text(session, number(&seen, "textbox \"Name\""), "Ann Ü 😀");
    assert_eq!(typed, json!({ "typed": 7 }));
    assert!(rig.look(session).contains("value=\"Ann Ü 😀\""));

    let picture = rig.act(&json!({ "action": "browser_screenshot", "session": session }));
    assert_eq!(picture["mediaType"], "image/png");
    assert!(picture["image"].as_str().unwrap().starts_with("iVBORw0KGgo"));

    let seen = rig.look(session);
    let sent = rig.click(session, number(&seen, "button \"Send\""));
    assert_eq!(sent["url"], server.url("/done?who=Ann+%C3%9C+%F0%9F%98%80"));

    rig.go(session, &server.url("/"));
    let seen = rig.look(session);
    let next = rig.click(session, number(&seen, "link \"Next page\""));
    assert_eq!(next["url"], server.url("/next"));
    assert!(rig.look(session).contains("heading \"There\""));

    rig.act(&json!({ "action": "browser_close", "session": session }));
    let (_, why) = rig.fails(&json!({ "action": "browser_snapshot", "session": session }));
    assert!(why.starts_with("there is no such browser"), "{why}");
    // Nothing left the browser but what was asked for. It asks once without its account, to be told that it
    // needs one.
    for event in rig.events().into_iter().filter(|it| it["rule"] != "proxy-account") {
        assert_eq!(event["host"], "page.example", "{event}");
    }
}

#[test]
fn enter_new_windows_and_frames_of_other_sites() {
    let port_of = |it: &Server| it.port;
    let inner = Server::of(
        "<title>Inner</title><button onclick=\"this.textContent='Pressed'\">Press</button>
         <input aria-label=Deep>",
    );
    let outer = format!(
        "<!doctype html><title>Outer</title><form action=/found><input aria-label=Query name=q></form>
         <a href=/window target=_blank>New window</a>
         <iframe style='margin:40px;width:400px;height:200px' src=http://other.example:{}/></iframe>",
        port_of(&inner)
    );
    let pages = HashMap::from([html("/", &outer), html("/window", "<title>Window</title>")]);
    let server = Server::new(pages);
    let rig = Rig::new(&[server.port, inner.port], &[]);
    let session = &rig.launch();

    rig.go(session, &server.url("/"));
    let seen = rig.look(session);
    assert!(seen.contains("button \"Press\""), "{seen}");
    rig.click(session, number(&seen, "button \"Press\""));
    let seen = rig.look(session);
    assert!(seen.contains("button \"Pressed\""), "{seen}");
    rig.type_text(session, number(&seen, "textbox \"Deep\""), "inside");
    let seen = rig.look(session);
    assert!(seen.contains("textbox \"Deep\" value=\"inside\""), "{seen}");

    // What opens in a new window is the page from then on.
    let opened = rig.click(session, number(&seen, "link \"New window\""));
    assert_eq!(opened["url"], server.url("/window"), "{opened}");

    rig.go(session, &server.url("/"));
    let seen = rig.look(session);
    rig.type_text(session, number(&seen, "textbox \"Query\""), "words\n");
    assert!(server.seen().iter().any(|it| it.starts_with("GET /found?q=words ")));
}

/// A user of no system.
const NOBODY: &str = "64123";

/// Where we are root, all tests have shown what browsers of root do. These two again, as nobody in particular.
#[test]
#[expect(clippy::disallowed_methods, reason = "to become somebody else takes a process of its own")]
fn a_host_that_is_an_ordinary_user_has_browsers_too() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let place = tempfile::tempdir().unwrap();
    let open = |path: &Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    // The checkout may lie where nobody else gets to.
    let program = place.path().join("tests");
    std::fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    open(&program, 0o755);
    let temporary = place.path().join("tmp");
    std::fs::create_dir(&temporary).unwrap();
    open(place.path(), 0o755);
    open(&temporary, 0o1777);
    let output = Command::new("/usr/bin/setpriv")
        .args(["--reuid", NOBODY, "--regid", NOBODY, "--clear-groups", "--"])
        .arg(&program)
        .args(["--exact", "--test-threads=1", "acts::a_session_from_launch_to_close"])
        .arg("endings::closing_a_browser_its_session_or_all_leaves_nothing")
        .current_dir("/")
        .env("TMPDIR", &temporary)
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && told.contains("2 passed"), "{told}\n{errors}");
}

#[test]
fn a_viewport_is_what_was_asked_for() {
    let server = Server::of("<script>document.write(innerWidth + ' by ' + innerHeight)</script>");
    let rig = Rig::new(&[server.port], &[]);
    let config = json!({ "viewport": { "width": 800, "height": 600 }, "headless": true });
    let launched = rig.act(&json!({ "action": "browser_launch", "config": config }));
    let session = launched["session"].as_str().unwrap();
    rig.go(session, &server.url("/"));
    assert!(rig.look(session).contains("800 by 600"));
    let (_, why) =
        rig.fails(&json!({ "action": "browser_launch", "config": { "headless": false } }));
    assert!(why.contains("no screen"), "{why}");
}
