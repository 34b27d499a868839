//! Pages over TLS, from end to end: who is vouched for is shown, and nobody else; and there are no service
//! workers, although such pages could have some.

use std::collections::HashMap;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use browser::Limits;
use rustls::ServerConfig;
use serde_json::json;
use testkit::tls;

use crate::support::{Rig, Server, html, until};

/// Somebody who vouches, and a folder by which a browser believes them.
struct Authority {
    authority: tls::Authority,
    folder: tempfile::TempDir,
}

impl Authority {
    fn new() -> Self {
        let authority = tls::Authority::generate();
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("authority.pem");
        files::private::replace(&file, authority.pem().as_bytes()).unwrap();
        let file = file.to_str().unwrap();
        certutil(folder.path(), &["-N", "--empty-password"]);
        certutil(folder.path(), &["-A", "-n", "authority", "-t", "C,,", "-i", file]);
        Self { authority, folder }
    }

    /// A certificate for this name.
    fn vouch(&self, name: &str) -> Arc<ServerConfig> {
        self.authority.vouch(&[name]).server(&[])
    }

    fn rig(&self, open: &[u16], ports: &[u16]) -> Rig {
        Rig::trusting(open, ports, Limits::default(), Some(self.folder.path().to_owned()))
    }
}

#[expect(clippy::disallowed_methods, reason = "the one tool that writes what a browser believes")]
fn certutil(folder: &Path, args: &[&str]) {
    let database = format!("sql:{}", folder.display());
    let output = Command::new("certutil").args(["-d", &database]).args(args).output();
    let output = output.unwrap_or_else(|error| panic!("certutil, of libnss3-tools: {error}"));
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn who_is_vouched_for_is_shown_and_nobody_else() {
    let authority = Authority::new();
    let page = || HashMap::from([html("/", "<title>Here</title><p>behind a lock</p>")]);
    let good = Server::start(page(), Some(authority.vouch("page.example")));
    // The right authority for a wrong name, a wrong authority for the right name, and nobody.
    let wrong_name = Server::start(page(), Some(authority.vouch("third.example")));
    let stranger = Server::start(page(), Some(Authority::new().vouch("page.example")));
    let plain = Server::new(page());
    let bad = [wrong_name.port, stranger.port, plain.port];
    let rig = authority.rig(&[&[good.port][..], &bad].concat(), &[]);
    let session = &rig.launch();
    let url = |port: u16| format!("https://page.example:{port}/");
    let there = rig.go(session, &url(good.port));
    assert_eq!(there["status"], 200, "{there}");
    assert!(rig.look(session).contains("behind a lock"));
    let event = rig.events().into_iter().find(|it| it["port"] == good.port);
    assert_eq!(event.unwrap()["host"], "page.example", "a tunnel, and on record");
    for port in bad {
        let asked = json!({ "action": "browser_navigate", "session": session, "url": url(port) });
        let (_, why) = rig.fails(&asked);
        assert!(!why.contains("Here") && why.contains("ERR_"), "{port}: {why}");
        let asked = json!({ "action": "browser_snapshot", "session": session });
        let seen = rig.send(&rig.who, &asked).output.body;
        assert!(!seen.contains("behind a lock"), "{port}: {seen}");
        // The next page is as good as ever.
        rig.go(session, &url(good.port));
        assert!(rig.look(session).contains("behind a lock"));
    }
    for server in [&wrong_name, &stranger] {
        assert_eq!(server.seen(), [] as [&str; 0], "nothing was asked of one who was not believed");
    }
    // Without our word the same page is a stranger's: a profile begins with nothing.
    let rig = Rig::new(&[good.port], &[]);
    let session = &rig.launch();
    let asked = json!({ "action": "browser_navigate", "session": session, "url": url(good.port) });
    let (_, why) = rig.fails(&asked);
    assert!(why.contains("ERR_CERT_AUTHORITY_INVALID"), "{why}");
}

#[test]
fn a_secure_page_gets_no_service_worker_and_what_it_wanted_goes_nowhere() {
    let authority = Authority::new();
    let (inside, open) = (
        Server::start(HashMap::new(), Some(authority.vouch("third.example"))),
        Server::start(HashMap::new(), Some(authority.vouch("other.example"))),
    );
    let worker = format!(
        "for (const url of ['https://third.example:{0}/a', 'https://127.0.0.1:{0}/b', 'https://other.example:{1}/c'])
             fetch(url, {{ mode: 'no-cors' }}).catch(() => 0);
         oninstall = () => fetch('https://third.example:{0}/d', {{ mode: 'no-cors' }});
         onfetch = event => event.respondWith(new Response('<title>Forged</title>forged',
             {{ headers: {{ 'content-type': 'text/html' }} }}));",
        inside.port, open.port
    );
    let page = "<!doctype html><title>Page</title><script>
        document.title = 'secure=' + isSecureContext;
        navigator.serviceWorker.register('/worker.js').then(
            () => fetch('/registered'), error => fetch('/refused?' + encodeURIComponent(error)));
        </script><p>the page itself</p>";
    let script = ("content-type: text/javascript\r\n".to_owned(), worker);
    let pages = HashMap::from([html("/", page), ("/worker.js".to_owned(), script)]);
    let server = Server::start(pages, Some(authority.vouch("page.example")));
    let rig = authority.rig(&[server.port, open.port], &[inside.port]);
    let session = &rig.launch();
    let url = format!("https://page.example:{}/", server.port);
    rig.go(session, &url);
    assert!(rig.look(session).contains("secure=true"), "where service workers are possible at all");
    let asked = |what: &str| server.seen().iter().any(|it| it.starts_with(&format!("GET {what}")));
    // It would outlive its page: there is none, however it is asked for.
    until("an answer to the page", || asked("/refused") || asked("/registered"));
    assert!(asked("/refused") && !asked("/registered"), "{:?}", server.seen());
    std::thread::sleep(Duration::from_secs(2));
    assert!(!inside.is_reached() && !open.is_reached(), "{:?} {:?}", inside.seen(), open.seen());
    // Nothing that it might have asked for went by another way than the proxy, where all is on record.
    let events = rig.events();
    let mut asked_for = events.iter().map(|it| &it["port"]);
    assert!(asked_for.all(|it| *it != inside.port && *it != open.port), "{events:?}");
    // And it does not stand between the agent and the page.
    rig.go(session, &url);
    assert!(rig.look(session).contains("the page itself"));
}
