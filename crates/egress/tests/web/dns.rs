//! A server for names on this machine that says now this and now that, and somebody who asks it: whole messages
//! over UDP, as the system would.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, UdpSocket};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use egress::{Looking, Resolve};

const A: u16 = 1;
const AAAA: u16 = 28;
/// Length of the head of a message, in bytes.
const HEAD: usize = 12;

/// The n-th question for the addresses of a name gets the n-th row, the last one again and again, to be remembered
/// for no time at all.
pub(crate) struct Dns {
    port: u16,
    pub(crate) asked: Arc<Mutex<Vec<String>>>,
}

impl Dns {
    #[expect(clippy::disallowed_methods, reason = "a server of the test's own, on this machine")]
    pub(crate) fn serve(rows: &[(&str, &[&[&str]])]) -> Self {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = socket.local_addr().unwrap().port();
        let read = |it: &&str| it.parse::<IpAddr>().unwrap();
        let table: HashMap<String, Vec<Vec<IpAddr>>> = rows
            .iter()
            .map(|(name, rows)| {
                let rows = rows.iter().map(|row| row.iter().map(read).collect());
                ((*name).to_owned(), rows.collect())
            })
            .collect();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let noted = Arc::clone(&asked);
        thread::spawn(move || {
            let mut message = [0; 512];
            while let Ok((length, from)) = socket.recv_from(&mut message) {
                let answer = answer(&message[..length], &table, &noted);
                let _ = socket.send_to(&answer, from);
            }
        });
        Self { port, asked }
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "who asks a server of the test's own, on this machine"
    )]
    fn ask(&self, name: &str, kind: u16) -> io::Result<Vec<IpAddr>> {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
        socket.set_read_timeout(Some(Duration::from_secs(20)))?;
        let mut question = vec![7, 7, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
        for label in name.split('.') {
            question.push(u8::try_from(label.len()).unwrap());
            question.extend(label.as_bytes());
        }
        question.extend([0, 0, u8::try_from(kind).unwrap(), 0, 1]);
        socket.send_to(&question, (Ipv4Addr::LOCALHOST, self.port))?;
        let mut message = [0; 512];
        let length = socket.recv(&mut message)?;
        let mut rest = &message[question.len()..length];
        let mut found = Vec::new();
        // Each has a name of two bytes, kind, class, time, length: twelve in all.
        while rest.len() > HEAD {
            let (head, after) = rest.split_at(HEAD);
            let (data, after) = after.split_at(usize::from(head[HEAD - 1]));
            found.push(match <[u8; 4]>::try_from(data) {
                Ok(four) => IpAddr::from(four),
                Err(_) => IpAddr::from(<[u8; 16]>::try_from(data).unwrap()),
            });
            rest = after;
        }
        Ok(found)
    }
}

impl Resolve for Dns {
    fn resolve<'a>(&'a self, name: &'a str) -> Looking<'a> {
        let found = self.ask(name, A).and_then(|mut four| {
            four.extend(self.ask(name, AAAA)?);
            Ok(four)
        });
        Box::pin(async move { found })
    }
}

/// The answer to one question. A name has a new row with each question for its IPv4 addresses.
fn answer(
    question: &[u8],
    table: &HashMap<String, Vec<Vec<IpAddr>>>,
    asked: &Mutex<Vec<String>>,
) -> Vec<u8> {
    let mut labels = Vec::new();
    let mut at = HEAD;
    while question[at] > 0 {
        let end = at + 1 + usize::from(question[at]);
        labels.push(String::from_utf8_lossy(&question[at + 1..end]).into_owned());
        at = end;
    }
    let name = labels.join(".");
    let kind = u16::from_be_bytes([question[at + 1], question[at + 2]]);
    let mut asked = asked.lock().unwrap();
    if kind == A {
        asked.push(name.clone());
    }
    let before = asked.iter().filter(|it| **it == name).count() - 1;
    let rows = table.get(&name);
    let row = rows.and_then(|it| it.get(before).or(it.last())).cloned().unwrap_or_default();
    let data = row.iter().filter_map(|it| match (it, kind) {
        (IpAddr::V4(it), A) => Some(Ipv4Addr::octets(it).to_vec()),
        (IpAddr::V6(it), AAAA) => Some(Ipv6Addr::octets(it).to_vec()),
        (IpAddr::V4(_) | IpAddr::V6(_), _) => None,
    });
    let data: Vec<Vec<u8>> = data.collect();
    let mut message = question.to_vec();
    message[2] = 0x81;
    message[7] = u8::try_from(data.len()).unwrap();
    for it in data {
        message.extend([0xc0, 12]);
        message.extend(kind.to_be_bytes());
        message.extend([0, 1, 0, 0, 0, 0, 0, u8::try_from(it.len()).unwrap()]);
        message.extend(it);
    }
    message
}
