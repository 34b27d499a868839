//! Messages of one messenger that came already: messengers say things twice, and so does whoever has recorded a call.
//!
//! Each sender has room of their own: nobody makes what another said be forgotten.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use crate::inbound::AGE_SECONDS_MAX;

/// How long a message is known again. A message counts while its own time is near to ours, before and after; it must be
/// known for longer than that.
pub const SEEN_FOR: Duration = Duration::from_secs(3 * AGE_SECONDS_MAX);
/// Messages of one sender that are known again. While all of them are of late, no new one of theirs is taken.
pub const SEEN_PER_SENDER_MAX: usize = 2000;
/// Senders whose messages are known again.
pub const SENDERS_MAX: usize = 4096;

/// The messages of late, by their senders. Time is whatever whoever asks says it is.
#[derive(Debug, Default)]
pub struct Seen(HashMap<String, VecDeque<(String, Duration)>>);

/// Was a message there already?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Noted {
    /// No, and it is noted now.
    New,
    /// Yes.
    Again,
    /// No, and there is no room to note it. INVARIANT (FailClosed): then it is not taken.
    Full,
}

impl Seen {
    /// Notes a message of a sender at a moment, counted from any beginning.
    pub fn note(&mut self, sender: &str, id: &str, now: Duration) -> Noted {
        let is_old = |at: &Duration| now.saturating_sub(*at) > SEEN_FOR;
        if self.0.len() >= SENDERS_MAX && !self.0.contains_key(sender) {
            self.0.retain(|_, all| all.back().is_some_and(|(_, at)| !is_old(at)));
            if self.0.len() >= SENDERS_MAX {
                return Noted::Full;
            }
        }
        let all = self.0.entry(sender.to_owned()).or_default();
        while all.front().is_some_and(|(_, at)| is_old(at)) {
            all.pop_front();
        }
        if all.iter().any(|(seen, _)| seen == id) {
            return Noted::Again;
        }
        if all.len() >= SEEN_PER_SENDER_MAX {
            return Noted::Full;
        }
        all.push_back((id.to_owned(), now));
        Noted::New
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_known_again_for_as_long_as_it_could_count() {
        let mut seen = Seen::default();
        let at = Duration::from_secs(1);
        assert_eq!(seen.note("5", "a", at), Noted::New);
        // A call of the future is repeated when it has just become too old.
        assert_eq!(
            seen.note("5", "a", at + Duration::from_secs(2 * AGE_SECONDS_MAX)),
            Noted::Again
        );
        assert_eq!(seen.note("5", "a", at + SEEN_FOR), Noted::Again);
        assert_eq!(seen.note("5", "a", at + SEEN_FOR + at), Noted::New);
    }

    #[test]
    fn nobody_makes_it_forget_what_others_or_they_themselves_said() {
        let (mut seen, at) = (Seen::default(), Duration::ZERO);
        assert_eq!(seen.note("5", "a", at), Noted::New);
        for number in 0..SEEN_PER_SENDER_MAX {
            assert_eq!(seen.note("6", &number.to_string(), at), Noted::New);
        }
        assert_eq!(seen.note("6", "more", at), Noted::Full);
        assert_eq!(
            (seen.note("6", "0", at), seen.note("5", "a", at)),
            (Noted::Again, Noted::Again)
        );
        assert_eq!(seen.note("5", "b", at), Noted::New);
    }
}
