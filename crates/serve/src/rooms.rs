//! What is said in a session: to whoever listens now, and kept for a while for whoever comes back.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tokio::sync::mpsc::Sender;

use crate::frame::ServerFrame;
use crate::limits::{REPLAY_AGE_MAX, REPLAY_BYTES_MAX, REPLAY_MAX, ROOMS_MAX, ROOMS_PER_USER_MAX};
use crate::sockets::Outgoing;
use crate::turns::Key;

/// All sessions of which something was said lately.
#[derive(Default)]
pub(crate) struct Rooms(Mutex<HashMap<Key, Room>>);

struct Room {
    /// The last number that was given. It begins with the time, so that numbers increase over restarts as well.
    last: u64,
    kept: VecDeque<Kept>,
    bytes: usize,
    listeners: Vec<(u64, Sender<Outgoing>)>,
    touched: Instant,
}

struct Kept {
    id: u64,
    at: Instant,
    text: Arc<str>,
    /// The call that it asks about.
    asks: Option<String>,
}

impl Rooms {
    /// Lets a connection hear what is said from now on. Answers what it missed since `last`, if it says so.
    pub(crate) fn listen(
        &self,
        key: &Key,
        (connection, to): (u64, Sender<Outgoing>),
        last: Option<u64>,
        now_ms: u64,
    ) -> Vec<Outgoing> {
        let mut rooms = self.lock();
        let room = room(&mut rooms, key, now_ms);
        room.listeners.retain(|it| it.0 != connection && !it.1.is_closed());
        room.listeners.push((connection, to));
        let Some(last) = last else { return Vec::new() };
        let missed = room.kept.iter().filter(|it| it.id > last && is_fresh(it));
        missed.map(|it| Outgoing { number: Some(it.id), text: Arc::clone(&it.text) }).collect()
    }

    /// The connection hears nothing more of this session.
    pub(crate) fn leave(&self, key: &Key, connection: u64) {
        if let Some(room) = self.lock().get_mut(key) {
            room.listeners.retain(|it| it.0 != connection);
        }
    }

    /// Says a frame, made with its number, to all who listen. Whoever does not keep up is let go, and may come back
    /// for what is kept.
    #[must_use = "whoever was let go is to be closed"]
    pub(crate) fn say(
        &self,
        key: &Key,
        now_ms: u64,
        frame: impl FnOnce(u64) -> ServerFrame,
    ) -> Vec<u64> {
        let mut rooms = self.lock();
        let room = room(&mut rooms, key, now_ms);
        room.last += 1;
        let (id, frame) = (room.last, frame(room.last));
        let text: Arc<str> = frame.to_text().into();
        let asks = if let ServerFrame::ToolApproval { tool_id, .. } = frame {
            Some(tool_id)
        } else {
            None
        };
        room.bytes += text.len();
        room.kept.push_back(Kept { id, at: Instant::now(), text: Arc::clone(&text), asks });
        while room.kept.len() > REPLAY_MAX || room.bytes > REPLAY_BYTES_MAX {
            let Some(gone) = room.kept.pop_front() else { break };
            room.bytes -= gone.text.len();
        }
        let mut gone = Vec::new();
        room.listeners.retain(|(id, to)| {
            let said = Outgoing { number: Some(room.last), text: Arc::clone(&text) };
            let taken = to.try_send(said).is_ok();
            gone.extend((!taken).then_some(*id));
            taken
        });
        gone
    }

    /// Only these questions of a session are open: the others are nothing to answer for whoever comes back.
    pub(crate) fn only_open(&self, key: &Key, open: &[String]) {
        if let Some(room) = self.lock().get_mut(key) {
            room.kept.retain(|it| it.asks.as_ref().is_none_or(|it| open.contains(it)));
            room.bytes = room.kept.iter().map(|it| it.text.len()).sum();
        }
    }

    /// The sessions that somebody listens to.
    pub(crate) fn heard(&self) -> Vec<Key> {
        let rooms = self.lock();
        let heard = rooms.iter().filter(|it| it.1.listeners.iter().any(|it| !it.1.is_closed()));
        heard.map(|it| it.0.clone()).collect()
    }

    /// Forgets a session.
    pub(crate) fn forget(&self, key: &Key) {
        self.lock().remove(key);
    }

    /// Forgets what is too old.
    pub(crate) fn sweep(&self) {
        self.lock().retain(|_, room| {
            while room.kept.front().is_some_and(|it| !is_fresh(it)) {
                let Some(gone) = room.kept.pop_front() else { break };
                room.bytes -= gone.text.len();
            }
            room.listeners.retain(|it| !it.1.is_closed());
            !room.listeners.is_empty() || room.touched.elapsed() < REPLAY_AGE_MAX
        });
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Key, Room>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn is_fresh(kept: &Kept) -> bool {
    kept.at.elapsed() < REPLAY_AGE_MAX
}

/// The room of a session; where there are too many, of the user or of all, the stalest is forgotten.
fn room<'a>(rooms: &'a mut HashMap<Key, Room>, key: &Key, now_ms: u64) -> &'a mut Room {
    if !rooms.contains_key(key) {
        if rooms.keys().filter(|it| it.user == key.user).count() >= ROOMS_PER_USER_MAX {
            forget_stalest(rooms, |it| it.user == key.user);
        }
        if rooms.len() >= ROOMS_MAX {
            forget_stalest(rooms, |_| true);
        }
    }
    let room = rooms.entry(key.clone()).or_insert_with(|| Room {
        last: now_ms,
        kept: VecDeque::new(),
        bytes: 0,
        listeners: Vec::new(),
        touched: Instant::now(),
    });
    room.touched = Instant::now();
    room
}

/// Forgets the stalest of those rooms in which nobody listens.
fn forget_stalest(rooms: &mut HashMap<Key, Room>, of: impl Fn(&Key) -> bool) {
    let quiet = |it: &Room| it.listeners.iter().all(|it| it.1.is_closed());
    let found = rooms.iter().filter(|(key, room)| of(key) && quiet(room));
    let stalest = found.min_by_key(|it| it.1.touched).map(|it| it.0.clone());
    if let Some(stalest) = stalest {
        rooms.remove(&stalest);
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::mpsc::channel;

    use super::*;

    fn key(user: &str) -> Key {
        Key { user: user.to_owned(), agent: "main".to_owned(), session: "s".to_owned() }
    }

    fn token(id: u64) -> ServerFrame {
        ServerFrame::Token { id, text: "x".to_owned() }
    }

    #[test]
    fn what_was_missed_is_kept_for_the_same_user_alone() {
        let rooms = Rooms::default();
        for _ in 0..REPLAY_MAX + 10 {
            assert!(rooms.say(&key("ann"), 1000, token).is_empty());
        }
        let (to, _from) = channel(8);
        let all = rooms.listen(&key("ann"), (1, to.clone()), Some(0), 0);
        assert_eq!(all.len(), REPLAY_MAX);
        let last = all.last().unwrap().number.unwrap();
        assert_eq!(last, 1000 + REPLAY_MAX as u64 + 10);
        assert!(rooms.listen(&key("ann"), (1, to.clone()), Some(last), 0).is_empty());
        assert!(rooms.listen(&key("bob"), (2, to), Some(0), 0).is_empty());
    }

    #[test]
    fn a_question_that_is_answered_is_not_asked_again() {
        let rooms = Rooms::default();
        for tool_id in ["t1", "t2"] {
            let ask = |_| ServerFrame::ToolApproval {
                tool_id: tool_id.to_owned(),
                tool_name: "shell_exec".to_owned(),
                tool_input: serde_json::json!({}),
                question: "rm".to_owned(),
            };
            assert!(rooms.say(&key("ann"), 0, ask).is_empty());
        }
        assert!(rooms.say(&key("ann"), 0, token).is_empty());
        rooms.only_open(&key("ann"), &["t2".to_owned()]);
        let (to, _from) = channel(8);
        let missed = rooms.listen(&key("ann"), (1, to), Some(0), 0);
        assert_eq!(missed.iter().filter_map(|it| it.number).collect::<Vec<_>>(), [2, 3]);
        rooms.only_open(&key("ann"), &[]);
        let kept: usize = rooms.lock()[&key("ann")].kept.iter().map(|it| it.text.len()).sum();
        assert_eq!(rooms.lock()[&key("ann")].bytes, kept);
    }

    #[test]
    fn one_user_does_not_push_the_others_out() {
        let rooms = Rooms::default();
        assert!(rooms.say(&key("bob"), 0, token).is_empty());
        for number in 0..ROOMS_MAX + 10 {
            let key = Key { session: number.to_string(), ..key("ann") };
            assert!(rooms.say(&key, 0, token).is_empty());
        }
        assert_eq!(rooms.lock().len(), ROOMS_PER_USER_MAX + 1);
        assert!(rooms.lock().contains_key(&key("bob")));
    }

    #[test]
    fn who_does_not_keep_up_is_let_go() {
        let rooms = Rooms::default();
        let (to, mut from) = channel(2);
        rooms.listen(&key("ann"), (1, to), None, 0);
        assert!((0..2).all(|_| rooms.say(&key("ann"), 0, token).is_empty()));
        assert_eq!(rooms.say(&key("ann"), 0, token), [1]);
        assert!(from.try_recv().is_ok() && from.try_recv().is_ok());
        assert!(rooms.lock()[&key("ann")].listeners.is_empty());
    }
}
