//! A WebSocket client for tests.

use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::{self, Message, WebSocket};

use crate::world::World;

pub(crate) struct Client(pub(crate) WebSocket<TcpStream>);

/// What a server says next.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Next {
    Frame(Value),
    Closed(u16),
    Silence,
}

impl World {
    pub(crate) fn socket(&self, token: &str) -> Client {
        self.socket_with("/ws", &[("Authorization", &format!("Bearer {token}"))]).unwrap()
    }

    pub(crate) fn socket_with(&self, path: &str, head: &[(&str, &str)]) -> Result<Client, u16> {
        let mut request = format!("ws://{}{path}", self.address).into_client_request().unwrap();
        for (name, value) in head {
            let name = tungstenite::http::HeaderName::from_bytes(name.as_bytes()).unwrap();
            request.headers_mut().insert(name, value.parse().unwrap());
        }
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        match tungstenite::client(request, stream) {
            Ok((socket, _)) => Ok(Client(socket)),
            Err(tungstenite::HandshakeError::Failure(tungstenite::Error::Http(answer))) => {
                Err(answer.status().as_u16())
            }
            Err(error) => panic!("{error}"),
        }
    }

    /// A socket that has chosen an agent, and the session.
    pub(crate) fn subscribed(&self, token: &str, agent: &str) -> (Client, String) {
        let mut client = self.socket(token);
        client.say(&json!({ "type": "subscribe", "agentId": agent }));
        let subscribed = client.until("subscribed");
        (client, subscribed["sessionId"].as_str().unwrap().to_owned())
    }
}

impl Client {
    pub(crate) fn say(&mut self, message: &Value) {
        self.0.send(Message::text(message.to_string())).unwrap();
    }

    pub(crate) fn raw(&mut self, text: &str) {
        self.0.send(Message::text(text)).unwrap();
    }

    pub(crate) fn message(&mut self, content: &str) {
        self.say(&json!({ "type": "message", "content": content }));
    }

    pub(crate) fn next(&mut self) -> Next {
        loop {
            match self.0.read() {
                Ok(Message::Text(text)) => {
                    return Next::Frame(serde_json::from_str(&text).unwrap());
                }
                Ok(Message::Close(frame)) => {
                    return Next::Closed(frame.map_or(0, |it| it.code.into()));
                }
                Ok(_) => {}
                Err(tungstenite::Error::Io(_)) => return Next::Silence,
                Err(_) => return Next::Closed(0),
            }
        }
    }

    /// The next frame of this type; the ones before it are passed over.
    pub(crate) fn until(&mut self, wanted: &str) -> Value {
        self.all_until(wanted).pop().unwrap()
    }

    pub(crate) fn all_until(&mut self, wanted: &str) -> Vec<Value> {
        let mut all = Vec::new();
        loop {
            match self.next() {
                Next::Frame(frame) => {
                    let is_it = frame["type"] == wanted;
                    all.push(frame);
                    if is_it {
                        return all;
                    }
                }
                other @ (Next::Closed(_) | Next::Silence) => {
                    panic!("{other:?} instead of {wanted}, after {all:?}")
                }
            }
        }
    }

    /// The code by which it is closed.
    pub(crate) fn closed(&mut self) -> u16 {
        loop {
            match self.next() {
                Next::Frame(_) => {}
                Next::Closed(code) => return code,
                Next::Silence => panic!("it was not closed"),
            }
        }
    }
}
