//! A server with an address that wants to know who asks: what the manifest names is sent to it, renewed, and to nobody else.

#![expect(clippy::disallowed_methods, reason = "a server and files of the test's own")]

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;

use ::mcp::trust::Trust;
use model::{AgentId, Kind, Profile, SessionId, UserId};
use monitor::provenance::Catalogue;
use monitor::{Approver, Opening};
use policy::Policy;
use serde_json::{Value, json};
use vault::{Key, Name, Secret, VaultFile};
use zeroize::Zeroizing;

use super::*;
use crate::doors::mcp::servers::{Servers, line_of_address};
use crate::ipc::Stopper;
use crate::remote_server::logins::{self, Login};
use crate::starter::Starter;

const KEY: &str = "zQ8-not-a-real-token-4Kq9vT2m";
const OLD: &str = "access-1-vR7cT1qLm0Zx-not-real";
const NEW: &str = "access-2-hW5bN9sYk3Pd-not-real";
const REFRESH: &str = "refresh-1-pW3nB8sYk5Hd-not-real";

/// A server that answers whoever sends this, and gives [`NEW`] for [`REFRESH`].
struct Site {
    port: u16,
    wanted: Arc<Mutex<String>>,
    /// What came: the path, what said who asks, and the body.
    asked: Arc<Mutex<Vec<(String, String, String)>>>,
}

impl Site {
    fn wanting(wanted: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let site =
            Self { port, wanted: Arc::new(Mutex::new(wanted.to_owned())), asked: Arc::default() };
        let (wanted, asked) = (Arc::clone(&site.wanted), Arc::clone(&site.asked));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (wanted, asked) = (Arc::clone(&wanted), Arc::clone(&asked));
                thread::spawn(move || one(stream, &wanted, &asked));
            }
        });
        site
    }

    fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// Everything that said who asks, each once.
    fn shown(&self) -> Vec<String> {
        let asked = self.asked.lock().unwrap();
        let mut all: Vec<String> = asked.iter().map(|it| it.1.clone()).collect();
        all.dedup();
        all
    }
}

type AskedOf = Mutex<Vec<(String, String, String)>>;

fn one(mut stream: TcpStream, wanted: &Mutex<String>, asked: &AskedOf) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    loop {
        let mut head = Vec::new();
        for line in reader.by_ref().lines().map_while(Result::ok) {
            if line.is_empty() {
                break;
            }
            head.push(line);
        }
        let field = |name: &str| {
            let mut fields = head.iter().filter_map(|it| it.split_once(": "));
            fields.find(|it| it.0.eq_ignore_ascii_case(name)).map(|it| it.1.to_owned())
        };
        let Some(path) = head.first().and_then(|it| it.split(' ').nth(1)) else { return };
        let mut body = vec![0; field("content-length").and_then(|it| it.parse().ok()).unwrap_or(0)];
        reader.read_exact(&mut body).unwrap();
        let (body, by) = (String::from_utf8(body).unwrap(), field("authorization"));
        let by = by.or_else(|| field("x-key")).unwrap_or_default();
        asked.lock().unwrap().push((path.to_owned(), by.clone(), body.clone()));
        let (status, answer) = match path {
            "/token" if body.contains(REFRESH) => {
                (200, json!({"access_token": NEW, "token_type": "bearer", "expires_in": 60}))
            }
            _ if by == *wanted.lock().unwrap() => answer(&body),
            _ => (401, json!({})),
        };
        let (answer, kind) = (answer.to_string(), "Content-Type: application/json");
        let length = answer.len();
        let head = format!("HTTP/1.1 {status} X\r\n{kind}\r\nContent-Length: {length}\r\n\r\n");
        if stream.write_all(format!("{head}{answer}").as_bytes()).is_err() {
            return;
        }
    }
}

fn answer(body: &str) -> (u16, Value) {
    let asked: Value = serde_json::from_str(body).unwrap_or_default();
    let Some(id) = asked.get("id") else { return (202, json!({})) };
    let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}});
    let result = match asked.get("method").and_then(Value::as_str) {
        Some("initialize") => json!({
            "protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
            "serverInfo": {"name": "notes", "version": "1"},
        }),
        Some("tools/list") => json!({"tools": [
            {"name": "look", "description": "Looks at a note.", "inputSchema": schema},
        ]}),
        Some(_) | None => json!({"content": [{"type": "text", "text": "at nine"}]}),
    };
    (200, json!({"jsonrpc": "2.0", "id": id, "result": result}))
}

/// A home whose vault holds these for these hosts, and whose settings open the site.
fn home(site: &Site, secrets: &[(&str, &str, String)]) -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    let open = json!({"egress": {"inner": [{"host": "127.0.0.1", "port": site.port}]}});
    std::fs::write(home.path().join("config.yaml"), open.to_string()).unwrap();
    let (file, key) = (VaultFile::in_home(home.path()), Key::generate());
    key.write(&file.key_path()).unwrap();
    file.create(&key).unwrap();
    file.change(&key, |it| {
        secrets.iter().try_for_each(|(name, value, host)| {
            let secret = Secret::new(Zeroizing::new((*value).to_owned())).unwrap();
            it.set(&Name::parse(name).unwrap(), secret, Some(vec![host.clone()]), 1).map(drop)
        })
    })
    .unwrap();
    home
}

/// The server of a manifest, in a session that is open.
struct Started {
    gate: Gate,
    servers: ToolServers,
    notes: Vec<String>,
    /// Its loss ends the session.
    _stopper: Stopper,
}

fn start(home: &Path, uri: &str, headers: &[(&str, &str)], login: bool) -> Started {
    let policy = Policy::embedded().unwrap();
    let gate = Gate::open_with_keys(home, policy, Catalogue::default(), |_, _| {}).unwrap();
    let who = Caller {
        session: SessionId::parse("s1").unwrap(),
        user: UserId::parse("me").unwrap(),
        agent: AgentId::parse("main").unwrap(),
        door: Kind::of_static("worker"),
    };
    let headers: BTreeMap<String, String> =
        headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let transport = Transport::Uri { uri: uri.to_owned(), headers, login };
    let servers = [McpServer { server: "notes".to_owned(), transport }];
    let opening = Opening {
        who: who.clone(),
        principal: Starter::Person.principal(),
        profile: Profile::Standard,
        parent: None,
        admission: Admission::OnePerson,
        approver: Approver::Absent,
        tools: connections(&servers),
    };
    gate.monitor.open_session(opening).unwrap();
    let (stopper, stop) = Stop::pair().unwrap();
    let mut notes = Vec::new();
    let servers = ToolServers::start(&gate, home, &who, &servers, &stop, &mut notes);
    Started { gate, servers, notes, _stopper: stopper }
}

impl Started {
    fn says(&self) -> bool {
        let found = self.servers.all.first().unwrap();
        matches!(found.client.call("look", &json!({})), client::Answer::Result(_))
    }

    /// Ends it, and gives everything that lies in the journal.
    fn end(self, home: &Path) -> String {
        drop(self.servers);
        self.gate.close().unwrap();
        let (mut all, mut waiting) = (String::new(), vec![home.join("evidence")]);
        while let Some(folder) = waiting.pop() {
            for entry in std::fs::read_dir(folder).unwrap().flatten() {
                match entry.file_type().unwrap().is_dir() {
                    true => waiting.push(entry.path()),
                    false => {
                        let bytes = std::fs::read(entry.path()).unwrap();
                        all.push_str(&String::from_utf8_lossy(&bytes));
                    }
                }
            }
        }
        all
    }
}

#[test]
fn a_header_is_filled_from_the_vault_for_the_origin_that_it_is_bound_to() {
    let site = Site::wanting(&format!("Bearer {KEY}"));
    let home = home(&site, &[("NOTES_KEY", KEY, site.url(""))]);
    let uri = site.url("/mcp");
    let started = start(home.path(), &uri, &[("Authorization", "Bearer vault:NOTES_KEY")], false);
    assert_eq!(started.notes, [""; 0]);
    assert!(started.servers.has("mcp__notes__look") && started.says());
    assert_eq!(site.shown(), [format!("Bearer {KEY}")], "with every request");
    let journal = started.end(home.path());
    assert!(journal.contains("NOTES_KEY") && journal.contains("\"credential\""), "{journal}");
    assert!(!journal.contains(KEY));
}

/// Header fields, why the server is not there, and what it was sent.
type Case<'a> = (&'a [(&'a str, &'a str)], &'a str, Option<&'a str>);

#[test]
fn what_is_bound_elsewhere_or_stands_in_the_open_or_is_not_named_is_not_sent() {
    let site = Site::wanting(&format!("Bearer {KEY}"));
    let elsewhere = "api.example.com".to_owned();
    let home = home(&site, &[("NOTES_KEY", KEY, elsewhere), ("MCP_A", OLD, site.url(""))]);
    let uri = site.url("/mcp");
    // A login is sent along where the manifest says so, and nowhere else.
    logins::keep(home.path(), "notes", login(&site, &uri)).unwrap();
    let bound = format!("Bearer {KEY}");
    let cases: [Case<'_>; 4] = [
        (&[("Authorization", "Bearer vault:NOTES_KEY")], "not for `127.0.0.1`", None),
        (&[("X-Key", "vault:OTHER")], "OTHER", None),
        (&[("Authorization", bound.as_str())], "names no secret", None),
        (&[], "`login: true`", Some("")),
    ];
    for (headers, why, sent) in cases {
        site.asked.lock().unwrap().clear();
        let started = start(home.path(), &uri, headers, false);
        let note = started.notes.join("\n");
        assert!(note.contains("the server notes is not there") && note.contains(why), "{note}");
        assert_eq!(site.shown(), sent.into_iter().collect::<Vec<_>>(), "{headers:?}");
        assert!(!started.end(home.path()).contains(KEY));
    }
}

#[test]
fn why_nobody_is_at_an_address_is_told() {
    let site = Site::wanting("");
    let home = home(&site, &[]);
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let open = json!({"egress": {"inner": [{"host": "127.0.0.1", "port": nobody}]}});
    std::fs::write(home.path().join("config.yaml"), open.to_string()).unwrap();
    let started = start(home.path(), &format!("http://127.0.0.1:{nobody}/mcp"), &[], false);
    let note = started.notes.join("\n");
    assert!(note.contains("is not there") && note.contains("refused"), "{note}");
    started.end(home.path());
}

fn login(site: &Site, url: &str) -> Login {
    Login {
        url: url.to_owned(),
        resource: url.to_owned(),
        issuer: site.url(""),
        token_endpoint: site.url("/token"),
        client_id: "client-7".to_owned(),
        access: "MCP_A".to_owned(),
        refresh: Some("MCP_R".to_owned()),
        client_secret: None,
    }
}

#[test]
fn the_token_of_a_login_is_sent_where_the_manifest_says_so_and_renewed_when_it_ends() {
    let site = Site::wanting(&format!("Bearer {OLD}"));
    let at = || site.url("");
    let home = home(&site, &[("MCP_A", OLD, at()), ("MCP_R", REFRESH, at())]);
    let uri = site.url("/mcp");
    logins::keep(home.path(), "notes", login(&site, &uri)).unwrap();
    let started = start(home.path(), &uri, &[], true);
    assert!(started.says(), "{:?}", started.notes);
    // The token ends in the middle of the session; nobody hears of it.
    *site.wanted.lock().unwrap() = format!("Bearer {NEW}");
    assert!(started.says());
    let renewed = site.asked.lock().unwrap().iter().filter(|it| it.0 == "/token").count();
    assert_eq!(renewed, 1, "once");
    let journal = started.end(home.path());
    assert!(journal.contains("MCP_R"), "{journal}");
    assert!([OLD, NEW, REFRESH].iter().all(|it| !journal.contains(it)));
    // The new one is kept; for another address of the same name the login does not count.
    let started = start(home.path(), &uri, &[], true);
    assert!(started.says());
    started.end(home.path());
    let other = start(home.path(), &site.url("/other"), &[], true);
    assert!(other.notes.join("").contains("lazaret mcp login notes"), "{:?}", other.notes);
    other.end(home.path());
}

#[test]
fn a_stranger_stays_one_when_the_server_whose_name_it_has_starts_elsewhere() {
    let site = Site::wanting("");
    let home = home(&site, &[]);
    let tags = |it: &Started| {
        let server = it.servers.all.first().unwrap();
        let answer = server.client.call("look", &json!({}));
        told::output("notes", answer, server.judge.brings("notes", 1)).tags.len()
    };
    let (real, other) = (site.url("/mcp"), site.url("/other"));
    let own = start(home.path(), &real, &[], false);
    assert_eq!(tags(&own), 1);
    let trusted = |it: &mut Servers| it.trust.insert("notes".to_owned(), Trust::Trusted);
    Servers::change(home.path(), trusted).unwrap();
    assert_eq!(tags(&own), 0, "a person's word counts at once");
    own.end(home.path());
    let stranger = start(home.path(), &other, &[], false);
    assert_eq!(tags(&stranger), 1);
    let known = Servers::of(home.path()).unwrap();
    known.note_line(home.path(), "notes", line_of_address(&real)).unwrap();
    assert_eq!(Servers::of(home.path()).unwrap().trust("notes"), Trust::Trusted);
    assert_eq!(tags(&stranger), 1, "the name is trusted again, and it is not the one");
    let journal = stranger.end(home.path());
    assert!(journal.contains("mcp_line_changed"), "{journal}");
}
