//! Servers that a person has named: vetted like any others, read as they come.

use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use egress::{
    Arrived, AskError, Client, Dialer, NamedServers, Piece, Question, Rules, Trust, Verb,
};
use scan::net::Target;
use testkit::tls::Authority;
use zeroize::Zeroizing;

use crate::origin::Origin;
use crate::tls::{AUTHORITY, TlsOrigin, ok, onward};
use crate::world::{Names, patient};

/// How long a busy machine may take until a connection that was read to its end is free again.
const FREE_WITHIN: Duration = Duration::from_millis(500);

fn servers(names: Names, port: u16) -> NamedServers {
    let limits = patient();
    let dialer = Dialer::with_resolver(Arc::new(names), &limits)
        .dangerously_open_these_loopback_ports_for_tests(&[port]);
    let trust = Trust::Only(vec![AUTHORITY.der()]);
    let client = Client::new(Arc::new(dialer), &trust, limits).unwrap();
    NamedServers::dangerously_without_permits(client, Rules::default()).unwrap()
}

fn ask(servers: &NamedServers, url: &str, headers: &[(&str, &str)]) -> Result<Arrived, AskError> {
    let target = Target::parse(url).unwrap();
    let headers = headers.iter().map(|it| (it.0.to_owned(), Zeroizing::new(it.1.to_owned())));
    let question = Question {
        verb: Verb::Post,
        target: &target,
        hidden: None,
        headers: headers.collect(),
        body: "{}".into(),
        wait: Duration::from_secs(25),
    };
    servers.ask(&question, &AtomicBool::new(false))
}

fn body(arrived: &mut Arrived) -> String {
    let mut all = Vec::new();
    loop {
        match arrived.next(Duration::from_secs(25)).unwrap() {
            Piece::Data(data) => all.extend_from_slice(&data),
            Piece::Still => panic!("nothing came"),
            Piece::End => return String::from_utf8(all).unwrap(),
        }
    }
}

#[test]
fn both_protocols_are_spoken_over_tls_and_a_connection_that_was_read_is_used_again() {
    for (alpn, protocol) in [(&[&b"h2"[..]][..], "HTTP/2.0"), (&[&b"http/1.1"[..]][..], "HTTP/1.1")]
    {
        let origin = TlsOrigin::new(AUTHORITY.vouch(&["a.example"]), alpn, |_, path| ok(path));
        let servers = servers(Names::here(&["a.example"]), origin.port);
        for path in ["/one", "/two", "/three"] {
            let url = origin.url("a.example", path);
            let mut arrived = ask(&servers, &url, &[("authorization", "Bearer x")]).unwrap();
            assert_eq!((arrived.status, body(&mut arrived).as_str()), (200, path));
            // Over HTTP/1.1 a connection is free again only when whoever drives it has seen the end, too.
            std::thread::sleep(FREE_WITHIN);
        }
        assert_eq!(origin.connections(), 1, "{protocol}");
        for asked in origin.asked() {
            assert_eq!(asked.protocol, protocol);
            assert_eq!(asked.fields["authorization"], "Bearer x");
            assert_eq!(asked.fields["accept-encoding"], "identity");
        }
    }
}

#[test]
fn a_name_that_leads_inside_and_a_stranger_s_certificate_are_refused() {
    let origin = TlsOrigin::new(Authority::generate().vouch(&["a.example"]), &[], |_, _| ok("x"));
    let names = Names::here(&["a.example"])
        .with("inside.example", &[&["169.254.169.254"]])
        .with("both.example", &[&["127.0.0.1", "10.0.0.1"]]);
    let servers = servers(names, origin.port);
    let refused = ask(&servers, &origin.url("a.example", "/"), &[]).err().unwrap();
    assert!(refused.to_string().contains("certificate"), "{refused}");
    for name in ["inside.example", "both.example"] {
        let refused =
            ask(&servers, &origin.url(name, "/"), &[("authorization", "x")]).err().unwrap();
        assert!(matches!(refused, AskError::Refused(_)), "{name}: {refused}");
    }
    assert!(origin.asked().is_empty());
}

#[test]
fn a_redirect_is_an_answer_and_no_way() {
    let origin = TlsOrigin::new(AUTHORITY.vouch(&["a.example", "b.example"]), &[], |_, _| {
        onward(302, "https://b.example/")
    });
    let servers = servers(Names::here(&["a.example", "b.example"]), origin.port);
    let arrived = ask(&servers, &origin.url("a.example", "/"), &[]).unwrap();
    assert_eq!((arrived.status, arrived.header("location")), (302, Some("https://b.example/")));
    assert_eq!(origin.asked().len(), 1);
}

#[test]
fn fields_that_frame_or_forward_are_nobody_s_to_set() {
    let origin = TlsOrigin::new(AUTHORITY.vouch(&["a.example"]), &[], |_, _| ok("x"));
    let servers = servers(Names::here(&["a.example"]), origin.port);
    for field in [("host", "b.example"), ("transfer-encoding", "chunked"), ("x-y", "a\r\nb: c")] {
        let refused = ask(&servers, &origin.url("a.example", "/"), &[field]).err().unwrap();
        assert!(matches!(refused, AskError::Refused(_)), "{field:?}: {refused}");
    }
    assert!(origin.asked().is_empty());
}

#[test]
fn an_answer_that_is_whole_gives_its_connection_back_though_nobody_asks_for_its_end() {
    const ASKED: usize = 20;
    let whole = b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nwell";
    let origin = Origin::raw(|_, stream| stream.write_all(whole).is_ok());
    let servers = servers(Names::here(&["a.example"]), origin.port);
    for _ in 0..ASKED {
        let mut arrived = ask(&servers, &origin.url("a.example", "/"), &[]).unwrap();
        let piece = arrived.next(Duration::from_secs(25)).unwrap();
        assert_eq!(piece, Piece::Data("well".into()));
        drop(arrived);
        std::thread::sleep(FREE_WITHIN / 10);
    }
    assert!(origin.connections() < ASKED / 2, "{} connections", origin.connections());
}

#[test]
fn who_waits_no_longer_is_not_kept_waiting() {
    let origin = Origin::raw(|_, stream| {
        // Half of a head, and then nothing.
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n");
        std::thread::sleep(Duration::from_secs(30));
        false
    });
    let servers = servers(Names::here(&["a.example"]), origin.port);
    let target = Target::parse(&origin.url("a.example", "/")).unwrap();
    let is_cancelled = Arc::new(AtomicBool::new(false));
    let later = Arc::clone(&is_cancelled);
    std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(300));
        later.store(true, Ordering::SeqCst);
    });
    let question = Question {
        verb: Verb::Get,
        target: &target,
        hidden: None,
        headers: Vec::new(),
        body: "".into(),
        wait: Duration::from_secs(25),
    };
    let begun = Instant::now();
    assert!(servers.ask(&question, &is_cancelled).is_err());
    assert!(begun.elapsed() < Duration::from_secs(15), "{:?}", begun.elapsed());
}
