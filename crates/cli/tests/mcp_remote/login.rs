//! Logins by OAuth, with a server and an issuer on loopback.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::Child;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use data_encoding::BASE64URL_NOPAD;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use testkit::program::Run as _;
use url::Url;

use super::client::{Client, Place};
use super::server::{legacy, said, wanted};
use super::web::{Asked, Reply, Web};
use crate::program::lazaret;

/// What is wrong with the world.
#[derive(Clone, Copy, Default)]
struct Wrong {
    /// The issuer describes itself by another name.
    issuer: bool,
    /// The server says that it is another resource.
    resource: bool,
    /// The issuer knows no PKCE.
    pkce: bool,
    /// The issuer's token endpoint is where clouds keep credentials.
    inside: bool,
}

/// A server that wants tokens, and who issues them.
struct World {
    server: Web,
    issuer: Web,
    /// The token that counts now.
    token: Arc<AtomicUsize>,
    place: Place,
}

fn token(number: usize) -> String {
    format!("access-{number}-vR7cT1qLm0Zx-not-real")
}

fn refresh(number: usize) -> String {
    format!("refresh-{number}-pW3nB8sYk5Hd-not-real")
}

impl World {
    fn new(wrong: Wrong) -> Self {
        let counted = Arc::new(AtomicUsize::new(1));
        let listeners = [0, 1].map(|_| TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap());
        let ports = listeners.each_ref().map(|it| it.local_addr().unwrap().port());
        let [here, there] = listeners;
        let url = |port: u16, path: &str| format!("http://127.0.0.1:{port}{path}");
        let (resource, name) = (url(ports[0], "/mcp"), url(ports[1], ""));
        let counts = Arc::clone(&counted);
        let described = json!({
            "resource": if wrong.resource { "https://other.example/mcp" } else { resource.as_str() },
            "authorization_servers": [name], "scopes_supported": ["notes"],
        });
        let server = Web::at(here, move |asked| {
            if asked.path == "/.well-known/oauth-protected-resource/mcp" {
                return Reply::json(&described);
            }
            let wanted_token = format!("Bearer {}", token(counts.load(Ordering::SeqCst)));
            if asked.header("authorization") != wanted_token {
                let at = format!(
                    "http://{}/.well-known/oauth-protected-resource/mcp",
                    asked.header("host")
                );
                let challenge = format!("Bearer resource_metadata=\"{at}\"");
                return Reply::empty(401).with("www-authenticate", &challenge);
            }
            legacy(asked, &|asked, id| match wanted(asked).as_str() {
                "token" => Reply::json(&said(id, asked.header("authorization"))),
                other => Reply::json(&said(id, other)),
            })
        });
        let issuer = issuer(there, &name, &resource, wrong, Arc::clone(&counted));
        let place = Place::new();
        // The server is opened by being named; the issuer, which was found, by the operator alone.
        let inner = json!({ "host": "127.0.0.1", "port": ports[1] });
        place.settings(&json!({ "egress": { "inner": [inner] } }).to_string());
        assert_eq!(lazaret(&place.home, &["vault", "init"]).run().code, 0);
        Self { server, issuer, token: counted, place }
    }

    /// Begins a login, up to the address that the person opens.
    fn begin(&self) -> (Child, BufReader<std::process::ChildStdout>, Url) {
        let url = self.server.url("/mcp");
        let mut child =
            lazaret(&self.place.home, &["mcp", "login", "notes", "--url", &url]).start();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        let opened = Url::parse(line.trim()).unwrap_or_else(|_| {
            let mut said = String::new();
            child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
            panic!("no address: {line:?} {said}")
        });
        (child, out, opened)
    }

    /// What a login says that comes to nothing before anybody is asked.
    fn refused(&self) -> String {
        let url = self.server.url("/mcp");
        let ran = lazaret(&self.place.home, &["mcp", "login", "notes", "--url", &url]).run();
        assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{}", ran.err);
        ran.err
    }
}

/// Who issues tokens: it checks what the standard says that it checks.
fn issuer(
    listener: TcpListener,
    name: &str,
    resource: &str,
    wrong: Wrong,
    counts: Arc<AtomicUsize>,
) -> Web {
    let (name, resource) = (name.to_owned(), resource.to_owned());
    let challenge = Mutex::new(String::new());
    Web::at(listener, move |asked| {
        let (path, query) = asked.path.split_once('?').unwrap_or((&asked.path, ""));
        match path {
            "/.well-known/oauth-authorization-server" => Reply::json(&json!({
                "issuer": if wrong.issuer { "https://somebody.example" } else { name.as_str() },
                "authorization_endpoint": format!("{name}/authorize"),
                "token_endpoint": match wrong.inside {
                    true => "https://169.254.169.254/token".to_owned(),
                    false => format!("{name}/token"),
                },
                "registration_endpoint": format!("{name}/register"),
                "code_challenge_methods_supported": if wrong.pkce { json!([]) } else { json!(["S256"]) },
                "authorization_response_iss_parameter_supported": true,
            })),
            "/register" => Reply::status(201, &json!({ "client_id": "client-7" })),
            "/authorize" => {
                let one = |name: &str| parameter(query, name);
                assert_eq!(
                    (one("client_id"), one("resource")),
                    ("client-7".into(), resource.clone())
                );
                *challenge.lock().unwrap() = one("code_challenge");
                Reply::empty(200)
            }
            "/token" => given(asked, &resource, &challenge.lock().unwrap(), &counts),
            _ => Reply::empty(404),
        }
    })
}

fn given(asked: &Asked, resource: &str, challenge: &str, counts: &AtomicUsize) -> Reply {
    let verifier = Sha256::digest(asked.form("code_verifier").as_bytes());
    let is_redeemed = asked.form("grant_type") == "authorization_code"
        && asked.form("code") == "code-1"
        && BASE64URL_NOPAD.encode(&verifier) == challenge;
    let old = counts.load(Ordering::SeqCst);
    // A refresh token is good once, for the token before this one.
    let is_renewed = asked.form("grant_type") == "refresh_token"
        && asked.form("refresh_token") == refresh(old - 1)
        && asked.form("client_id") == "client-7";
    if !(is_redeemed || is_renewed) || asked.form("resource") != resource {
        return Reply::status(400, &json!({ "error": "invalid_grant" }));
    }
    Reply::json(
        &json!({ "access_token": token(old), "refresh_token": refresh(old), "token_type": "bearer", "expires_in": 60 }),
    )
}

fn parameter(query: &str, name: &str) -> String {
    let mut pairs = url::form_urlencoded::parse(query.as_bytes()).into_owned();
    pairs.find(|it| it.0 == name).map(|it| it.1).unwrap_or_default()
}

/// Opens an address of this machine as a browser would; its status.
#[expect(clippy::disallowed_methods, reason = "the person's browser, on loopback")]
fn open(url: &Url, host: Option<&str>) -> u16 {
    assert_eq!(url.host_str(), Some("127.0.0.1"));
    let port = url.port().unwrap();
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
    let path = format!("{}?{}", url.path(), url.query().unwrap_or_default());
    let host = host.map_or_else(|| format!("127.0.0.1:{port}"), str::to_owned);
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").unwrap();
    let mut said = String::new();
    stream.read_to_string(&mut said).unwrap();
    said.split(' ').nth(1).unwrap().parse().unwrap()
}

/// The address that the issuer sends the person back to.
fn back(opened: &Url, more: &[(&str, &str)]) -> Url {
    let redirect = parameter(opened.query().unwrap(), "redirect_uri");
    let mut url = Url::parse(&redirect).unwrap();
    url.query_pairs_mut().extend_pairs(more);
    url
}

fn finish(mut child: Child, mut out: BufReader<std::process::ChildStdout>) -> (i32, String) {
    let mut said = String::new();
    out.read_to_string(&mut said).unwrap();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    (child.wait().unwrap().code().unwrap(), said)
}

/// A whole login, as it should go.
fn log_in(world: &World) {
    let (child, out, opened) = world.begin();
    assert_eq!(open(&opened, None), 200, "the issuer shows its page");
    let (state, name) = (parameter(opened.query().unwrap(), "state"), world.issuer.url(""));
    let good = [("code", "code-1"), ("state", state.as_str()), ("iss", name.as_str())];
    assert_eq!(open(&back(&opened, &good), None), 200);
    let (code, said) = finish(child, out);
    assert_eq!(code, 0, "{said}");
}

#[test]
fn a_person_logs_in_once_and_tokens_are_renewed_when_they_end() {
    let world = World::new(Wrong::default());
    let (url, place) = (world.server.url("/mcp"), &world.place);
    let (client, said) = Client::hello(&place.home, &["mcp", "--name", "notes", "--url", &url]);
    let why = said["error"]["message"].as_str().unwrap();
    assert!(why.contains(&format!("lazaret mcp login notes --url {url}")), "{said}");
    client.end();
    let (client, said) = Client::hello_modern(place, &url);
    assert!(said["error"]["message"].as_str().unwrap().contains("lazaret mcp login"), "{said}");
    client.end();
    log_in(&world);
    let mut client = Client::at(place, &url);
    assert_eq!(client.look("plan"), "plan");
    // The token ends; the client hears nothing of it.
    world.token.store(2, Ordering::SeqCst);
    assert_eq!(client.look("again"), "again");
    assert_eq!(client.look("token").matches("[secret:MCP_NOTES_").count(), 1, "it is scrubbed");
    client.end();
    let renewed =
        world.issuer.seen().into_iter().filter(|it| it.form("grant_type") == "refresh_token");
    assert_eq!(renewed.count(), 1, "once");
    for secret in [token(1), token(2), refresh(1), refresh(2)] {
        assert!(!place.holds(&secret), "{secret} lies in the open");
    }
    // For another address the login does not count, and its tokens are not given.
    let thief = Web::start(|asked| legacy(asked, &|asked, id| Reply::json(&said_back(asked, id))));
    let mut client = Client::at(place, &thief.url("/mcp"));
    client.tools();
    client.end();
    assert!(thief.seen().iter().all(|it| it.header("authorization").is_empty()));
}

fn said_back(asked: &Asked, id: &Value) -> Value {
    said(id, asked.header("authorization"))
}

#[test]
fn a_token_that_cannot_be_renewed_asks_for_a_new_login() {
    let world = World::new(Wrong::default());
    log_in(&world);
    // Two tokens further: the refresh token that is kept is not good any more.
    world.token.store(3, Ordering::SeqCst);
    let words = ["mcp", "--name", "notes", "--url", &world.server.url("/mcp")];
    let (client, said) = Client::hello(&world.place.home, &words);
    assert!(said["error"]["message"].as_str().unwrap().contains("lazaret mcp login"), "{said}");
    client.end();
}

#[test]
fn who_comes_back_with_another_state_or_host_is_not_the_person() {
    let world = World::new(Wrong::default());
    let (child, out, opened) = world.begin();
    open(&opened, None);
    let name = world.issuer.url("");
    let state = parameter(opened.query().unwrap(), "state");
    let forged = [("code", "code-1"), ("state", "forged"), ("iss", name.as_str())];
    assert_eq!(open(&back(&opened, &forged), None), 400);
    let good = [("code", "code-1"), ("state", state.as_str()), ("iss", name.as_str())];
    assert_eq!(open(&back(&opened, &good), Some("rebound.example")), 404);
    let mut elsewhere = back(&opened, &good);
    elsewhere.set_path("/other");
    assert_eq!(open(&elsewhere, None), 404);
    // The real one is still waited for.
    assert_eq!(open(&back(&opened, &good), None), 200);
    assert_eq!(finish(child, out).0, 0);
}

#[test]
fn a_code_of_another_issuer_is_not_redeemed() {
    for iss in ["https://evil.example", ""] {
        let world = World::new(Wrong::default());
        let (child, out, opened) = world.begin();
        open(&opened, None);
        let state = parameter(opened.query().unwrap(), "state");
        let mixed = [("code", "code-1"), ("state", state.as_str()), ("iss", iss)];
        assert_eq!(open(&back(&opened, &mixed), None), 400);
        let (code, said) = finish(child, out);
        assert!(code == 1 && said.contains("not the issuer that was asked"), "{said}");
        assert!(world.issuer.seen().iter().all(|it| !it.path.starts_with("/token")));
    }
}

#[test]
fn documents_that_lie_end_the_login_before_anybody_is_asked() {
    let of = |wrong: Wrong| World::new(wrong).refused();
    let said = of(Wrong { issuer: true, ..Wrong::default() });
    assert!(said.contains("is that of `https://somebody.example`"), "{said}");
    let said = of(Wrong { resource: true, ..Wrong::default() });
    assert!(said.contains("is about `https://other.example/mcp`"), "{said}");
    let said = of(Wrong { pkce: true, ..Wrong::default() });
    assert!(said.contains("PKCE"), "{said}");
}

#[test]
fn what_was_found_leads_nowhere_inside() {
    let world = World::new(Wrong { inside: true, ..Wrong::default() });
    let (child, out, opened) = world.begin();
    open(&opened, None);
    let (state, name) = (parameter(opened.query().unwrap(), "state"), world.issuer.url(""));
    let good = [("code", "code-1"), ("state", state.as_str()), ("iss", name.as_str())];
    open(&back(&opened, &good), None);
    let (code, said) = finish(child, out);
    assert!(code == 1 && said.contains("could not be asked for a token"), "{said}");
    // An issuer on this machine that the settings do not open is not asked either.
    world.place.settings("egress: {}\n");
    let before = world.issuer.seen().len();
    let said = world.refused();
    assert!(said.contains("has no description that can be used"), "{said}");
    assert_eq!(world.issuer.seen().len(), before);
}
