//! What changes something is never asked for twice, and what never left may be.

use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use super::*;
use crate::resolve::{Looking, Resolve};

/// Every name leads to this machine.
struct Here;

impl Resolve for Here {
    fn resolve<'a>(&'a self, _: &'a str) -> Looking<'a> {
        Box::pin(async { Ok(vec![IpAddr::V4(Ipv4Addr::LOCALHOST)]) })
    }
}

/// Answers the first request on each connection, and closes it at the second. Notes the methods.
fn closing() -> (u16, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let methods = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&methods);
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            for round in 0..2 {
                let Some(method) = method(&mut stream) else { break };
                noted.lock().unwrap().push(method);
                if round == 0 {
                    let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
                    stream.write_all(answer).unwrap();
                }
            }
        }
    });
    (port, methods)
}

fn method(stream: &mut TcpStream) -> Option<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).ok()?;
        head.extend(byte);
    }
    String::from_utf8(head).unwrap().split(' ').next().map(str::to_owned)
}

#[test]
fn only_what_changes_nothing_is_asked_for_again_after_it_was_sent() {
    let trust = Trust::Only(vec![testkit::tls::nobody()]);
    for (method, asked_again) in [
        (Method::GET, true),
        (Method::HEAD, true),
        (Method::POST, false),
        (Method::PUT, false),
        (Method::PATCH, false),
        (Method::DELETE, false),
    ] {
        let (port, methods) = closing();
        let limits = Limits::default();
        let dialer = Dialer::with_resolver(Arc::new(Here), &limits)
            .dangerously_open_these_loopback_ports_for_tests(&[port]);
        let client = Client::new(Arc::new(dialer), &trust, limits).unwrap();
        let rules = Rules::default();
        let ask = |method: &Method| Ask {
            tool: "oauth_call",
            session: "s",
            correlation: String::new(),
            target: Target::parse(&format!("http://a.example:{port}/")).unwrap(),
            method: method.clone(),
            headers: HeaderMap::new(),
            body: Bytes::new(),
            follows: false,
            rules: &rules,
            total: limits.total,
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            client.ask(ask(&Method::GET), &mut |_| {}).await.unwrap();
            for _ in 0..10 {
                tokio::task::yield_now().await;
            }
            let second = client.ask(ask(&method), &mut |_| {}).await;
            assert_eq!(second.is_ok(), asked_again, "{method}: {second:?}");
        });
        let mut wanted = vec!["GET".to_owned(), method.to_string()];
        wanted.extend(asked_again.then(|| method.to_string()));
        assert_eq!(*methods.lock().unwrap(), wanted);
    }
}
