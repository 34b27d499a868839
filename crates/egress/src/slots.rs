//! How many fetches run at once, by session and by host.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use scan::net::{Refused, Rule};

/// Counts what is under way.
#[derive(Clone, Default)]
pub(crate) struct Slots(Arc<Mutex<HashMap<String, usize>>>);

/// One place, given back when it is dropped.
pub(crate) struct Slot {
    slots: Slots,
    key: String,
}

impl Slots {
    /// A place among `most` for `key`, or a refusal: who waits in a queue waits for others.
    pub(crate) fn take(&self, key: &str, most: usize, whose: &str) -> Result<Slot, Refused> {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.get(key).copied().unwrap_or_default();
        if count >= most {
            let reason = format!("{most} fetches {whose} are under way; wait for one to end");
            return Err(Refused { rule: Rule::EgressBusy, reason });
        }
        counts.insert(key.to_owned(), count.saturating_add(1));
        drop(counts);
        Ok(Slot { slots: self.clone(), key: key.to_owned() })
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let mut counts = self.slots.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = counts.get_mut(&self.key) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                counts.remove(&self.key);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_so_many_places_for_each_and_they_are_given_back() {
        let slots = Slots::default();
        let take = |key: &str| slots.take(key, 2, "of this session");
        let (one, two) = (take("a").unwrap(), take("a").unwrap());
        let Err(refused) = take("a") else { panic!("a third place") };
        assert_eq!(refused.rule, Rule::EgressBusy);
        assert!(refused.reason.starts_with("2 fetches of this session"), "{}", refused.reason);
        // Whoever is refused takes nothing, and others have places of their own.
        let other = take("b").unwrap();
        drop(one);
        let again = take("a").unwrap();
        assert!(take("a").is_err());
        drop((two, again, other));
        assert!(slots.take("c", 0, "").is_err());
        assert!(slots.0.lock().unwrap().is_empty(), "who is gone is not remembered");
    }
}
