//! The DevTools protocol over a socket: orders and answers by number, and events in between.

use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::fault::Fault;
use crate::limits::{MESSAGE_BYTES_MAX, WRITE};

/// Ends a message.
const END: u8 = 0;
/// Read at a time, in bytes.
const PIECE_BYTES: usize = 64 << 10;

/// Hears what a browser tells unasked. It is called on the thread that reads, so it must not wait.
pub(crate) trait Hears: Send + Sync {
    /// Something happened in `session`, which is empty for the browser itself.
    fn event(&self, wire: &Wire, session: &str, method: &str, params: &Value);

    /// Nothing will happen any more.
    fn ended(&self);
}

/// One end of the connection with a browser.
pub(crate) struct Wire {
    out: Mutex<UnixStream>,
    waiting: Mutex<Waiting>,
    next: AtomicU64,
}

#[derive(Default)]
struct Waiting {
    by_id: HashMap<u64, SyncSender<Option<Value>>>,
    ended: bool,
}

impl Wire {
    /// Drives what is at the other end of `stream`; `hears` hears its events.
    pub(crate) fn new(stream: UnixStream, hears: Arc<dyn Hears>) -> Result<Arc<Self>, Fault> {
        stream.set_write_timeout(Some(WRITE))?;
        let input = stream.try_clone()?;
        let wire = Arc::new(Self {
            out: Mutex::new(stream),
            waiting: Mutex::default(),
            next: AtomicU64::new(1),
        });
        let read = {
            let wire = Arc::clone(&wire);
            move || {
                listen(input, &wire, &*hears);
                wire.end();
                hears.ended();
            }
        };
        thread::Builder::new().name("browser".to_owned()).spawn(read)?;
        Ok(wire)
    }

    /// Gives an order and waits for its answer.
    pub(crate) fn call(
        &self,
        session: &str,
        method: &'static str,
        params: Value,
        most: Duration,
    ) -> Result<Value, Fault> {
        let (sender, receiver) = sync_channel(1);
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        {
            let mut waiting = self.waiting();
            if waiting.ended {
                return Err(Fault::Gone);
            }
            waiting.by_id.insert(id, sender);
        }
        self.send(id, session, method, params);
        let answer = receiver.recv_timeout(most);
        self.waiting().by_id.remove(&id);
        match answer {
            Ok(Some(result)) => Ok(result),
            Ok(None) => Err(Fault::Unable(method)),
            Err(RecvTimeoutError::Timeout) => Err(Fault::Late(method)),
            Err(RecvTimeoutError::Disconnected) => Err(Fault::Gone),
        }
    }

    /// Gives an order and does not wait.
    pub(crate) fn tell(&self, session: &str, method: &'static str, params: Value) {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        self.send(id, session, method, params);
    }

    /// Ends the connection; with it the browser ends.
    pub(crate) fn end(&self) {
        let mut waiting = self.waiting();
        waiting.ended = true;
        // Who waits sees that nobody answers any more.
        waiting.by_id.clear();
        drop(waiting);
        let _ = self.out.lock().unwrap_or_else(PoisonError::into_inner).shutdown(Shutdown::Both);
    }

    fn send(&self, id: u64, session: &str, method: &'static str, params: Value) {
        let mut message = json!({ "id": id, "method": method, "params": params });
        if !session.is_empty()
            && let Some(fields) = message.as_object_mut()
        {
            fields.insert("sessionId".to_owned(), session.into());
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(END);
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        let written = write_within(&mut out, &bytes);
        drop(out);
        if written.is_none() {
            // Half an order may stand there: nothing behind it would be understood.
            self.end();
        }
    }

    fn heard(&self, mut message: Value, hears: &dyn Hears) {
        if let Some(id) = message.get("id").and_then(Value::as_u64) {
            if let Some(sender) = self.waiting().by_id.remove(&id) {
                let _ = sender.try_send(message.get_mut("result").map(Value::take));
            }
            return;
        }
        let (Some(method), Some(params)) = (message.get("method"), message.get("params")) else {
            return;
        };
        let session = message.get("sessionId").and_then(Value::as_str).unwrap_or_default();
        hears.event(self, session, method.as_str().unwrap_or_default(), params);
    }

    fn waiting(&self) -> std::sync::MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Writes all of it in time, or gives up. Each piece has the socket's time; all together have not much more.
fn write_within(out: &mut UnixStream, mut bytes: &[u8]) -> Option<()> {
    let begun = Instant::now();
    while !bytes.is_empty() {
        if begun.elapsed() > WRITE {
            return None;
        }
        let written = out.write(bytes).ok().filter(|it| *it > 0)?;
        bytes = bytes.get(written..)?;
    }
    Some(())
}

/// Hears messages until there are no more, or one that is too long or none.
fn listen(mut input: UnixStream, wire: &Wire, hears: &dyn Hears) {
    let mut message = Vec::new();
    let mut piece = vec![0; PIECE_BYTES];
    while let Ok(read @ 1..) = input.read(&mut piece) {
        for part in piece.get(..read).unwrap_or_default().split_inclusive(|it| *it == END) {
            message.extend_from_slice(part);
            if message.len() > MESSAGE_BYTES_MAX {
                return;
            }
            if message.last() == Some(&END) {
                message.pop();
                let Ok(value) = serde_json::from_slice(&message) else { return };
                message.clear();
                wire.heard(value, hears);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;

    #[derive(Default)]
    struct Counts {
        events: AtomicUsize,
        ended: AtomicUsize,
    }

    impl Hears for Counts {
        fn event(&self, _: &Wire, session: &str, method: &str, _: &Value) {
            assert_eq!((session, method), ("s", "A.b"));
            self.events.fetch_add(1, Ordering::SeqCst);
        }

        fn ended(&self) {
            self.ended.fetch_add(1, Ordering::SeqCst);
        }
    }

    fn pair() -> (Arc<Wire>, Arc<Counts>, UnixStream) {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let counts = Arc::new(Counts::default());
        let wire = Wire::new(ours, Arc::clone(&counts) as Arc<dyn Hears>).unwrap();
        (wire, counts, theirs)
    }

    fn call(wire: &Wire) -> Result<Value, Fault> {
        wire.call("", "A.a", json!({}), Duration::from_millis(300))
    }

    #[test]
    fn answers_find_who_asked_and_events_who_hears() {
        let (wire, counts, mut theirs) = pair();
        let answers = b"{\"method\":\"A.b\",\"params\":{},\"sessionId\":\"s\"}\0{\"id\":1,\"result\":{\"x\":1}}\0{\"id\":2,\"error\":{}}\0{\"id\":99,\"result\":{}}\0";
        let asked = thread::spawn(move || {
            let mut order = [0; 16];
            theirs.read_exact(&mut order).unwrap();
            // In pieces, as they come.
            for piece in answers.chunks(7) {
                theirs.write_all(piece).unwrap();
            }
            theirs
        });
        assert_eq!(call(&wire).unwrap(), json!({ "x": 1 }));
        let _theirs = asked.join().unwrap();
        assert_eq!(counts.events.load(Ordering::SeqCst), 1);
        assert!(matches!(call(&wire), Err(Fault::Late("A.a") | Fault::Unable("A.a"))));
    }

    #[test]
    fn one_that_is_gone_or_gives_no_sense_is_an_error_and_no_hang() {
        for last in [&b""[..], b"{\0", b"\xff\0", b"\0"] {
            let (wire, counts, mut theirs) = pair();
            theirs.write_all(last).unwrap();
            let begun = Instant::now();
            if last.is_empty() {
                drop(theirs);
            }
            assert!(matches!(call(&wire), Err(Fault::Gone)), "{last:?}");
            assert!(matches!(call(&wire), Err(Fault::Gone)));
            assert!(begun.elapsed() < Duration::from_secs(2));
            while counts.ended.load(Ordering::SeqCst) == 0 {
                thread::yield_now();
            }
        }
    }

    #[test]
    fn one_that_does_not_read_is_given_up() {
        let (wire, _, _theirs) = pair();
        let begun = Instant::now();
        let text = "x".repeat(1 << 20);
        wire.tell("", "A.a", json!({ "text": text }));
        assert!(begun.elapsed() < WRITE * 3);
        assert!(matches!(call(&wire), Err(Fault::Gone)));
    }
}
