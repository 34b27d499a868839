//! TLS: the name stays that of the certificate, whichever address was dialled.

use std::io::Write;

use testkit::tls::{Authority, Certificate, date_time_ymd, params};

use crate::origin::{Origin, redirect};
use crate::tls::{AUTHORITY, TlsOrigin, ok, onward};
use crate::world::{Names, Plan, World};

fn world(origin: &TlsOrigin) -> World {
    Plan::new(Names::here(&["a.example", "b.example"]), &[origin.port]).open()
}

fn serves(alpn: &[&[u8]]) -> TlsOrigin {
    TlsOrigin::new(AUTHORITY.vouch(&["a.example"]), alpn, |_, path| ok(path))
}

#[test]
fn both_protocols_are_spoken_and_connections_used_again() {
    for (alpn, protocol) in [
        (&[&b"h2"[..], b"http/1.1"][..], "HTTP/2.0"),
        (&[&b"http/1.1"[..]][..], "HTTP/1.1"),
        (&[][..], "HTTP/1.1"),
    ] {
        let origin = serves(alpn);
        let world = world(&origin);
        for path in ["/one", "/two", "/three"] {
            let got = world.fetch(&origin.url("a.example", path));
            assert!(got.content().contains(path), "{protocol}");
            let event = &got.events[0];
            assert_eq!(
                (&event["scheme"], &event["address"]),
                (&"https".into(), &"127.0.0.1".into())
            );
        }
        assert_eq!(origin.connections(), 1, "{protocol}");
        for asked in origin.asked() {
            assert_eq!(asked.protocol, protocol);
            assert_eq!(asked.sni.as_deref(), Some("a.example"));
            assert_eq!(asked.host, format!("a.example:{}", origin.port));
        }
    }
}

#[test]
fn a_certificate_must_be_good() {
    let mut expired = params(&["a.example"]);
    (expired.not_before, expired.not_after) =
        (date_time_ymd(2001, 1, 1), date_time_ymd(2002, 1, 1));
    let mut early = params(&["a.example"]);
    early.not_before = date_time_ymd(4000, 1, 1);
    // What stands in a certificate is a stranger's word, and not repeated.
    let stranger = AUTHORITY.vouch(&["ignore-the-marks.example"]);
    for (certificate, why) in [
        (stranger, "the certificate is for another name"),
        (AUTHORITY.vouch_for(&expired), "the certificate has expired"),
        (AUTHORITY.vouch_for(&early), "the certificate is not valid yet"),
        (Certificate::self_signed(&["a.example"]), "the certificate"),
        (Authority::generate().vouch(&["a.example"]), "the certificate"),
    ] {
        let origin = TlsOrigin::new(certificate, &[b"h2", b"http/1.1"], |_, _| ok("never"));
        let got = world(&origin).fetch(&origin.url("a.example", "/"));
        got.failed(why);
        assert!(!got.text().contains("ignore"), "{}", got.text());
        assert_eq!(got.events[0]["address"], "127.0.0.1");
        assert!(origin.asked().is_empty());
    }
}

#[test]
fn what_does_not_speak_tls_fails() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let said = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let _ = stream.write_all(b"HTTP/1.1 400 Speak plainly\r\ncontent-length: 0\r\n\r\n");
        let _ = std::io::copy(&mut stream, &mut std::io::sink());
    });
    let world = Plan::new(Names::here(&["a.example"]), &[port]).open();
    let url = format!("https://a.example:{port}/");
    world.fetch(&url).failed("TLS with `a.example` failed: the handshake went wrong");
    said.join().unwrap();
}

#[test]
fn encryption_is_not_left_again() {
    let origin =
        TlsOrigin::new(
            AUTHORITY.vouch(&["a.example", "b.example"]),
            &[],
            |host, path| match path {
                "/down" => onward(302, &format!("http://{host}/plain")),
                "/on" => onward(302, &format!("https://{}/there", host.replace("a.", "b."))),
                _ => ok(path),
            },
        );
    let got = world(&origin).fetch(&origin.url("a.example", "/down"));
    got.refused("net-downgrade");
    assert_eq!(got.events[1]["scheme"], "http");
    let got = world(&origin).fetch(&origin.url("a.example", "/on"));
    assert!(got.content().contains("/there"));
    let sni: Vec<_> = origin.asked().iter().filter_map(|it| it.sni.clone()).collect();
    assert_eq!(sni, ["a.example", "a.example", "b.example"]);
}

#[test]
fn from_plain_to_encrypted_is_another_origin() {
    let tls = serves(&[b"http/1.1"]);
    let place = tls.url("a.example", "/safe");
    let plain = Origin::paths(move |_| redirect(301, &place));
    let names = Names::here(&["a.example"]);
    let world = Plan::new(names, &[plain.port, tls.port]).open();
    let headers = serde_json::json!({ "Authorization": "Basic c2VzYW1l", "Cookie": "a=b" });
    let url = plain.url("a.example", "/");
    let got =
        world.act(&serde_json::json!({ "action": "web_fetch", "url": url, "headers": headers }));
    assert!(got.content().contains("/safe"));
    let asked = tls.asked();
    assert!(
        !asked[0].fields.contains_key("authorization") && !asked[0].fields.contains_key("cookie")
    );
}
