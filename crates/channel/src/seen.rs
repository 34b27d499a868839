//! Messages that came already: messengers say things twice.

use std::collections::VecDeque;
use std::time::Duration;

/// How long a message is known again.
pub const SEEN_FOR: Duration = Duration::from_secs(60);
/// Messages that are known again.
pub const SEEN_MAX: usize = 1000;

/// The messages of late. Time is whatever whoever asks says it is.
#[derive(Debug, Default)]
pub struct Seen(VecDeque<(String, Duration)>);

impl Seen {
    /// Notes a message at a moment, counted from any beginning. False if it was there already.
    pub fn is_new(&mut self, id: &str, now: Duration) -> bool {
        while self.0.front().is_some_and(|(_, at)| now.saturating_sub(*at) > SEEN_FOR) {
            self.0.pop_front();
        }
        if self.0.iter().any(|(seen, _)| seen == id) {
            return false;
        }
        if self.0.len() >= SEEN_MAX {
            self.0.pop_front();
        }
        self.0.push_back((id.to_owned(), now));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_message_counts_once_for_a_minute_and_a_thousand_others() {
        let at = Duration::from_secs;
        let mut seen = Seen::default();
        assert!(seen.is_new("a", at(0)) && !seen.is_new("a", at(60)));
        assert!(seen.is_new("a", at(61)));
        for number in 0..SEEN_MAX {
            assert!(seen.is_new(&number.to_string(), at(62)));
        }
        assert!(seen.is_new("a", at(62)) && !seen.is_new("999", at(62)));
    }
}
