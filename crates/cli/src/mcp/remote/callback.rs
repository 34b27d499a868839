//! Where a person comes back to after a login: one address of this machine, until one good answer came.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use ::mcp::http::client::oauth::{CALLBACK_PATH, Code, GrantError, Pending};

/// Time that a person has.
const LOGIN_WAIT: Duration = Duration::from_secs(300);
/// How often it is looked whether somebody came.
const LOOK: Duration = Duration::from_millis(50);
/// Time that somebody who came has to say what they want.
const HEAD_WAIT: Duration = Duration::from_secs(5);
/// Bytes of what they say.
const HEAD_BYTES_MAX: usize = 16 << 10;
/// Visitors that are answered.
const VISITORS_MAX: usize = 256;

/// Listens at a port of this machine; at any where it is 0.
pub(super) fn listen(port: u16) -> io::Result<(TcpListener, u16)> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
    listener.set_nonblocking(true)?;
    let port = listener.local_addr()?.port();
    Ok((listener, port))
}

/// Waits until the person comes back. Who comes with another `state` is not them: any page can send a browser here.
pub(super) fn wait(
    listener: &TcpListener,
    port: u16,
    pending: &Pending,
) -> io::Result<Result<Code, GrantError>> {
    let end = Instant::now() + LOGIN_WAIT;
    let mut visitors = 0;
    while Instant::now() < end && visitors < VISITORS_MAX {
        let stream = match listener.accept() {
            Ok((stream, _)) => stream,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                thread::sleep(LOOK);
                continue;
            }
            Err(error) => return Err(error),
        };
        visitors += 1;
        // Somebody who breaks off is nobody.
        let Ok(Some(query)) = hear(&stream, port) else { continue };
        match pending.check(&query) {
            Err(GrantError::State) => say(&stream, "400 Bad Request", NOT_THIS),
            Ok(code) => {
                say(&stream, "200 OK", DONE);
                return Ok(Ok(code));
            }
            Err(error) => {
                say(&stream, "400 Bad Request", NOT_DONE);
                return Ok(Err(error));
            }
        }
    }
    Err(io::Error::other("nobody came back in time; try again"))
}

const DONE: &str = "You are logged in. You can close this window.";
const NOT_DONE: &str = "The login failed. The terminal says why.";
const NOT_THIS: &str = "This is not the login that is waited for.";

/// Hears a request; its query where it is for us.
fn hear(stream: &TcpStream, port: u16) -> io::Result<Option<String>> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(HEAD_WAIT))?;
    stream.set_write_timeout(Some(HEAD_WAIT))?;
    let end = Instant::now() + HEAD_WAIT;
    let mut head = Vec::new();
    let mut piece = [0; 1024];
    let mut reader = stream;
    while !head.windows(4).any(|it| it == b"\r\n\r\n") {
        if head.len() > HEAD_BYTES_MAX || Instant::now() >= end {
            return Ok(None);
        }
        let some = reader.read(&mut piece)?;
        if some == 0 {
            return Ok(None);
        }
        head.extend_from_slice(piece.get(..some).unwrap_or_default());
    }
    let head = String::from_utf8_lossy(&head);
    let mut lines = head.split("\r\n");
    let mut words = lines.next().unwrap_or_default().split(' ');
    let is_get = words.next() == Some("GET");
    let (path, query) = words.next().unwrap_or_default().split_once('?').unwrap_or_default();
    // By its number: a name that leads here is somebody else's page.
    let host = format!("127.0.0.1:{port}");
    let is_here = lines.any(|it| {
        let field = it.split_once(':');
        field.is_some_and(|it| it.0.eq_ignore_ascii_case("host") && it.1.trim() == host)
    });
    if is_get && is_here && path == CALLBACK_PATH {
        return Ok(Some(query.to_owned()));
    }
    say(stream, "404 Not Found", NOT_THIS);
    Ok(None)
}

fn say(mut stream: &TcpStream, status: &str, text: &str) {
    let length = text.len();
    let head = "Content-Type: text/plain; charset=utf-8\r\nCache-Control: no-store\r\nReferrer-Policy: no-referrer";
    let answer = format!(
        "HTTP/1.1 {status}\r\n{head}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{text}"
    );
    // Who does not listen knows no less than the terminal says.
    let _ = stream.write_all(answer.as_bytes());
}
