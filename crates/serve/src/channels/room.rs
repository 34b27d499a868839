//! Room for messages that are being answered: so many in all, and of one user no more than their share.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Messages of all messengers that are being answered.
pub(super) const MESSAGES_MAX: usize = 256;
/// Those of one user.
const MESSAGES_PER_USER_MAX: usize = 16;

/// All rooms.
#[derive(Default)]
pub(super) struct Rooms(Arc<Mutex<Taken>>);

#[derive(Default)]
struct Taken {
    all: usize,
    /// How many each user has who has any.
    own: HashMap<String, usize>,
}

/// A place among the messages that are being answered, until its answer was said.
pub(super) struct Room {
    rooms: Arc<Mutex<Taken>>,
    user: Option<String>,
}

impl Rooms {
    /// Room for a message of a user, if there is any.
    pub(super) fn of(&self, user: &str) -> Option<Room> {
        let mut taken = held(&self.0);
        let own = taken.own.get(user).copied().unwrap_or_default();
        if taken.all >= MESSAGES_MAX || own >= MESSAGES_PER_USER_MAX {
            return None;
        }
        taken.all += 1;
        taken.own.insert(user.to_owned(), own + 1);
        Some(Room { rooms: Arc::clone(&self.0), user: Some(user.to_owned()) })
    }

    /// Room for a word of ours beside an answer.
    pub(super) fn spare(&self) -> Option<Room> {
        let mut taken = held(&self.0);
        if taken.all >= MESSAGES_MAX {
            return None;
        }
        taken.all += 1;
        Some(Room { rooms: Arc::clone(&self.0), user: None })
    }

    /// Is nothing being answered?
    pub(super) fn are_free(&self) -> bool {
        held(&self.0).all == 0
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        let mut taken = held(&self.rooms);
        taken.all = taken.all.saturating_sub(1);
        if let Some(user) = &self.user
            && let Some(own) = taken.own.get_mut(user)
        {
            *own = own.saturating_sub(1);
            if *own == 0 {
                taken.own.remove(user);
            }
        }
    }
}

fn held(rooms: &Mutex<Taken>) -> MutexGuard<'_, Taken> {
    rooms.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_user_never_has_all_of_it() {
        let rooms = Rooms::default();
        let ann: Vec<Room> = std::iter::from_fn(|| rooms.of("ann")).collect();
        assert_eq!(ann.len(), MESSAGES_PER_USER_MAX);
        assert!(rooms.of("bob").is_some() && rooms.spare().is_some());
        drop(ann);
        assert!(rooms.are_free() && rooms.of("ann").is_some());
        let all: Vec<Room> =
            (0..MESSAGES_MAX + 9).map_while(|it| rooms.of(&it.to_string())).collect();
        assert_eq!(all.len(), MESSAGES_MAX);
        assert!(rooms.of("bob").is_none() && rooms.spare().is_none());
    }
}
