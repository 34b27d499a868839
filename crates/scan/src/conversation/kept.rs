//! Conversations by user and agent, and not too many of them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Conversation, Heard, WINDOW_S};

/// Conversations that are kept.
const CONVERSATIONS_MAX: usize = 4096;

/// The conversations of all users with all agents. A session's id is no part of the key.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conversations {
    by_user: BTreeMap<String, Conversation>,
}

impl Conversations {
    /// Takes in a message of a user to an agent at `now`, in seconds.
    pub fn hear(&mut self, user: &str, agent: &str, now: i64, text: &str) -> Heard {
        let key = key(user, agent);
        if !self.by_user.contains_key(&key) && self.by_user.len() >= CONVERSATIONS_MAX {
            self.make_room(now);
        }
        self.by_user.entry(key).or_default().hear(now, text)
    }

    /// Returns how many are kept.
    #[must_use]
    pub fn len(&self) -> usize {
        self.by_user.len()
    }

    /// Returns whether none is kept.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.by_user.is_empty()
    }

    /// Forgets those whose time is over, or else the one that was silent for longest.
    fn make_room(&mut self, now: i64) {
        let last = |it: &Conversation| it.last_heard_s().unwrap_or(i64::MIN);
        self.by_user.retain(|_, it| last(it) > now.saturating_sub(WINDOW_S));
        if self.by_user.len() >= CONVERSATIONS_MAX {
            let oldest = self.by_user.iter().min_by_key(|it| last(it.1)).map(|it| it.0.clone());
            oldest.and_then(|it| self.by_user.remove(&it));
        }
    }
}

/// The lengths keep apart what a name could hold.
fn key(user: &str, agent: &str) -> String {
    format!("{}:{user}:{agent}", user.len())
}
