//! Settings that change while the server runs: each part of them counts, or is named as one that does not yet.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use serde_json::Value;
use testkit::tls::{Authority, Certificate};

use crate::desk::{KEY, desk};
use crate::world::{ANN, ROOT, World, home, users, write};

/// What is said of a change: a word of it, and what of it waits for a restart. The rest counts.
const PARTS: &[(&str, &str, &[&str])] = &[
    ("tools: {web: {enabled: false}}", "tools.web is off", &[]),
    ("providers: {skills: git}", "providers", &[]),
    ("providers: {scheduler: full}", "providers", &["providers.scheduler"]),
    ("egress: {allowedDomains: [a.example]}", "egress", &[]),
    ("services: {box: {url: \"https://box.example\", token: BOX}}", "services", &[]),
    ("browser: {perSession: 2}", "browser", &[]),
    ("sandbox: {max_processes: 512}", "sandbox", &["sandbox"]),
    ("shell: {allowWeaker: true}", "shell", &[]),
    ("scheduler: {timezone: Europe/Berlin}", "scheduler", &["scheduler"]),
    ("intent: {encoder: false}", "intent", &["intent"]),
    ("notifications: {desktop: false}", "notifications is weaker", &[]),
    ("sanitize: {tripwire: block}", "sanitize", &["sanitize"]),
    ("answers: {names: [PILOT_GATE_4417]}", "answers", &["answers"]),
    ("models: {default: mock/other}", "models of tasks", &[]),
    ("models: {prices: {mock/a: {input: 1, output: 1}}}", "models.prices", &[]),
    ("delegation: {max_depth: 1}", "delegation", &[]),
    ("channel_config: {telegram: {}}", "channel_config", &["channel_config"]),
    ("history: {max_turns: 9}", "history", &[]),
    ("hooks: {logToolUse: true}", "hooks", &[]),
    ("host: {required: [limits]}", "host", &[]),
    ("securityProfile: yolo", "securityProfile is weaker", &[]),
    ("taintBudget: {threshold: 0.5}", "taintBudget.threshold", &[]),
    ("risk: {window_turns: 5}", "risk", &[]),
    ("files: {denyRead: [\"/etc/**\"]}", "files.denyRead", &[]),
    (
        "capabilityScopes: {default: full, scopes: {full: {patterns: [\"*\"]}}}",
        "capabilityScopes",
        &[],
    ),
    ("serve: {behindProxy: [\"10.0.0.0/8\"]}", "serve.behindProxy", &[]),
    ("serve: {allowedHosts: [a.example]}", "serve.allowedHosts is weaker", &[]),
    ("serve: {allowedOrigins: [\"https://a.example\"]}", "serve.allowedOrigins is weaker", &[]),
    ("serve: {allowQueryToken: true}", "serve.allowQueryToken is weaker", &[]),
    ("serve: {maxWorkers: 21}", "serve.maxWorkers is weaker", &[]),
    ("serve: {maxWorkers: 19}", "serve.maxWorkers is stricter", &[]),
    ("serve: {rateLimits: {windowMs: 1000}}", "windowMs is weaker", &[]),
    ("serve: {rateLimits: {maxMessageLength: 10}}", "maxMessageLength is stricter", &[]),
    ("serve: {rateLimits: {concurrentSessions: 11}}", "concurrentSessions is weaker", &[]),
    ("serve: {privacy: {policyVersion: \"2\"}}", "privacy.policyVersion", &[]),
    ("serve: {prices: {input: 1, output: 1, cacheRead: 1, cacheCreation: 1}}", "serve.prices", &[]),
    ("serve: {logging: {level: debug}}", "serve.logging.level is stricter", &[]),
];

/// Limits that do not stop who reloads often.
const BASE: &str = "serve: {}\n";

fn reloaded(world: &World) -> Value {
    let answer = world.post("/api/admin/reload", Some(ROOT), "");
    assert_eq!(answer.status, 200, "{}", answer.body);
    answer.json()
}

fn names(value: &Value) -> Vec<&str> {
    value.as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect()
}

#[test]
fn every_part_of_the_settings_counts_or_is_named_as_one_that_waits_for_a_restart() {
    let world = World::with(BASE, &users("unlimited"));
    let config = world.home().join("config.yaml");
    for (text, named, waits) in PARTS {
        let is_serve = text.starts_with("serve:");
        write(&config, &format!("{}{text}\n", if is_serve { "" } else { BASE }));
        // Whoever is first, the answer of the second one says that nothing more is other; so both are asked together.
        world.handle.reload().unwrap();
        let status = world.handle.status();
        assert_eq!(names(&status["needsRestart"]), *waits, "{text}");
        let records = world.records();
        assert!(records.contains(named), "{text}: `{named}` is not on record");
        for part in *waits {
            assert!(records.contains(&format!("needsRestart: {part}")), "{text}");
        }
        write(&config, BASE);
        let back = world.handle.reload().unwrap();
        assert!(back.needs_restart.is_empty() && back.refused.is_empty(), "{text}: {back:?}");
    }
}

#[test]
fn an_administrator_is_told_what_counts_and_what_does_not() {
    let world = World::with(BASE, &users("unlimited"));
    let text = format!("{BASE}sanitize: {{tripwire: block}}\nsecurityProfile: yolo\n");
    write(&world.home().join("config.yaml"), &text);
    write(&world.home().join("agents/main/IDENTITY.md"), "---\nnonsense: [\n---\n");
    let answer = reloaded(&world);
    assert_eq!(names(&answer["needsRestart"]), ["sanitize"]);
    assert!(names(&answer["refused"])[0].starts_with("agents/main"), "{answer}");
    let until = Instant::now() + Duration::from_secs(20);
    let said = || {
        let log = world.log.text();
        log.lines().any(|it| it.contains("config.reloaded") && it.contains("\"sanitize\""))
    };
    while !said() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(said(), "{}", world.log.text());
    // The new number of turns counts at once.
    write(&world.home().join("config.yaml"), "serve: {rateLimits: {maxMessageLength: 3}}\n");
    reloaded(&world);
    let world = world.agree();
    let body = "{\"model\":\"anns\",\"messages\":[{\"role\":\"user\",\"content\":\"hello\"}]}";
    let answer = world.post("/v1/chat/completions", Some(ANN), body);
    assert_eq!((answer.status, answer.code().as_str()), (413, "message_too_large"));
}

#[test]
fn what_is_not_understood_or_gone_is_told_and_never_counts_silently() {
    let world = World::with("serve: {maxWorkers: 3}\n", &users("unlimited"));
    let (config, people) = (world.home().join("config.yaml"), world.home().join("users.yaml"));
    let max = || world.handle.status()["workers"]["max"].clone();
    for (file, text) in [
        (&config, "serve: {maxWorkers: 4}\nunknown: {}\n"),
        (&config, "serve: {maxWorkers: 1000000}\n"),
        (&config, ""),
        (&people, "users: [{name: ann}]\n"),
    ] {
        let before = std::fs::read_to_string(file).unwrap();
        write(file, text);
        assert!(world.handle.reload().is_err(), "{text}");
        assert_eq!(max(), 3);
        // Somebody of the old file still comes in.
        assert_eq!(world.get("/api/agents", Some(ANN)).status, 200);
        write(file, &before);
    }
    // A key that stands in the wrong place is in no log and in no answer.
    let before = std::fs::read_to_string(&config).unwrap();
    write(&config, &format!("serve: {{{KEY}: 1}}\n"));
    let why = world.handle.reload().unwrap_err();
    assert!(why.contains("unknown field") && !why.contains(KEY), "{why}");
    write(&config, &before);
    assert!(world.log.has("config.refused") && !world.log.text().contains(KEY));
    assert!(!world.records().contains(KEY));
    assert!(world.records().contains("settings are not understood, and stay as they were"));
    // Without any settings there are those that hold where nothing is said: that is weaker, and told.
    world.handle.reload().unwrap();
    std::fs::remove_file(&config).unwrap();
    world.handle.reload().unwrap();
    assert_eq!(max(), 20);
    let records = world.records();
    assert!(records.contains("serve.maxWorkers is weaker") && records.contains("may protect less"));
    // Without users nobody is let in.
    std::fs::remove_file(&people).unwrap();
    world.handle.reload().unwrap();
    assert_eq!(world.get("/api/agents", Some(ANN)).status, 401);
}

fn put(folder: &Path, certificate: &Certificate) {
    let [chain, key] = certificate.files();
    write(&folder.join("cert.pem"), chain);
    write(&folder.join("key.pem"), key);
}

/// The certificate that the server shows, and its answer to a question.
fn shown(world: &World, authority: &Authority) -> (CertificateDer<'static>, String) {
    let mut roots = RootCertStore::empty();
    roots.add(authority.der()).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from("localhost").unwrap();
    let connection = ClientConnection::new(Arc::new(config), name).unwrap();
    let stream = TcpStream::connect(world.address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let mut stream = StreamOwned::new(connection, stream);
    let port = world.address.port();
    let request =
        format!("GET /health HTTP/1.1\r\nHost: localhost:{port}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    // Whoever closes without a word at the end has said everything.
    let _ = stream.read_to_string(&mut answer);
    let chain = stream.conn.peer_certificates().unwrap();
    (chain[0].clone().into_owned(), answer)
}

#[test]
fn a_renewed_certificate_is_shown_without_a_restart_and_a_broken_one_is_not() {
    let authority = Authority::generate();
    let first = authority.vouch(&["localhost"]);
    let folder = home("serve: {}\n", &users("unlimited"));
    put(folder.path(), &first);
    let (cert, key) = (folder.path().join("cert.pem"), folder.path().join("key.pem"));
    let config = format!("serve: {{tls: {{cert: {}, key: {}}}}}\n", cert.display(), key.display());
    write(&folder.path().join("config.yaml"), &config);
    let world = World::start(folder, desk());
    let (der, answer) = shown(&world, &authority);
    assert_eq!(der, *first.der());
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");

    // Only half of it: the key is another's. The old one is shown on, and it is told.
    let second = authority.vouch(&["localhost"]);
    write(&cert, &second.files()[0]);
    let told = world.handle.reload().unwrap();
    assert!(told.refused.iter().any(|it| it.starts_with("serve.tls")), "{told:?}");
    assert_eq!(shown(&world, &authority).0, *first.der());
    assert!(world.records().contains("certificate_refused"));

    // Both halves, and nobody says anything: it is noticed.
    write(&key, &second.files()[1]);
    let until = Instant::now() + Duration::from_secs(60);
    while shown(&world, &authority).0 != *second.der() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(100));
    }
    assert_eq!(shown(&world, &authority).0, *second.der());
    assert!(world.records().contains("certificate_renewed"));
    // Whoever takes TLS out of the settings goes on speaking it until a restart, and is told so.
    write(&world.home().join("config.yaml"), "serve: {}\n");
    assert_eq!(world.handle.reload().unwrap().needs_restart, ["serve.tls"]);
    assert_eq!(shown(&world, &authority).0, *second.der());
}
