//! One command in a cage, as the proxy knows it: by which record it runs, what it may still cost, and what became of
//! what it asked for.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use aegx::Digest;
use egress::Allowance;
use scan::net::{Refused, Rule};

use super::answer::No;

/// Hosts and refusals that are remembered of one command.
const KEPT_MAX: usize = 64;

/// What one command may cost, all its connections together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Requests and tunnels.
    pub requests: u64,
    /// Bytes that go out: heads, bodies and tunnels.
    pub sent_bytes: u64,
    /// Bytes that come back, of bodies and tunnels.
    pub received_bytes: u64,
}

impl Default for Budget {
    fn default() -> Self {
        Self { requests: 10_000, sent_bytes: 64 << 20, received_bytes: 2 << 30 }
    }
}

/// One command that runs.
#[derive(Debug)]
pub struct Command {
    /// The record by which it runs.
    record: Digest,
    requests: AtomicU64,
    sent: AtomicU64,
    received: AtomicU64,
    /// It was told that nothing is left.
    is_over: AtomicBool,
    seen: Mutex<Seen>,
}

#[derive(Debug, Default)]
struct Seen {
    reached: BTreeSet<String>,
    turned_away: BTreeSet<Turned>,
    /// What the gate said, by what was asked for.
    refused: BTreeMap<Vec<u8>, No>,
}

/// A host that was not reached, and the rule by which.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Turned {
    /// The host in its one form; none if what was asked for is none.
    pub host: Option<String>,
    /// The rule.
    pub rule: String,
}

impl Command {
    /// A command that runs by `record` and may cost so much.
    #[must_use]
    pub fn new(record: Digest, budget: Budget) -> Arc<Self> {
        Arc::new(Self {
            record,
            requests: AtomicU64::new(budget.requests),
            sent: AtomicU64::new(budget.sent_bytes),
            received: AtomicU64::new(budget.received_bytes),
            is_over: AtomicBool::new(false),
            seen: Mutex::default(),
        })
    }

    /// The hosts with which it had a connection, as far as they are remembered.
    #[must_use]
    pub fn reached(&self) -> Vec<String> {
        self.seen().reached.iter().cloned().collect()
    }

    /// What was refused to it, each once, as far as it is remembered.
    #[must_use]
    pub fn refused(&self) -> Vec<Turned> {
        self.seen().turned_away.iter().cloned().collect()
    }

    pub(crate) fn record(&self) -> Digest {
        self.record
    }

    /// One request more with a head of so many bytes, if there may be one.
    pub(crate) fn begins_one(&self, head_bytes: u64) -> Result<(), Refused> {
        let taken = match take(&self.requests, 1) {
            true => self.send(head_bytes),
            false => Err(spent("requests that it may make")),
        };
        taken.inspect_err(|_| self.is_over.store(true, Ordering::Relaxed))
    }

    /// Was it told that nothing is left? That is recorded once: a program that goes on asking fills no journal.
    pub(crate) fn over(&self) -> Option<Refused> {
        self.is_over.load(Ordering::Relaxed).then(|| spent("requests that it may make"))
    }

    /// Is there room for so many bytes to go out? A body counts while it goes, so it may not be there any more then.
    pub(crate) fn has_room_for(&self, bytes: u64) -> Result<(), Refused> {
        match self.sent.load(Ordering::Relaxed) >= bytes {
            true => Ok(()),
            false => Err(spent(TO_SEND)),
        }
    }

    /// It was let through to `host`.
    pub(crate) fn reaches(&self, host: &str) {
        let mut seen = self.seen();
        if seen.reached.len() < KEPT_MAX {
            seen.reached.insert(host.to_owned());
        }
    }

    /// The gate refused this. A program that tries again within the same command is told the same: nobody says yes
    /// in between, and every try would count against the session.
    pub(crate) fn was_refused(&self, asked: &[u8], no: &No) {
        let mut seen = self.seen();
        if seen.refused.len() < KEPT_MAX {
            seen.refused.insert(asked.to_vec(), no.clone());
        }
    }

    /// It was turned away by this rule, whoever applied it.
    pub(crate) fn was_turned_away(&self, host: &str, rule: &str) {
        let mut seen = self.seen();
        if seen.turned_away.len() < KEPT_MAX {
            let host = is_host(host).then(|| host.to_owned());
            seen.turned_away.insert(Turned { host, rule: rule.to_owned() });
        }
    }

    /// What it was told when it asked for this before.
    pub(crate) fn refusal_of(&self, asked: &[u8]) -> Option<No> {
        self.seen().refused.get(asked).cloned()
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Allowance for Command {
    fn send(&self, bytes: u64) -> Result<(), Refused> {
        if take(&self.sent, bytes) { Ok(()) } else { Err(spent(TO_SEND)) }
    }

    fn receive(&self, bytes: u64) -> Result<(), Refused> {
        if take(&self.received, bytes) { Ok(()) } else { Err(spent(TO_RECEIVE)) }
    }
}

/// Is it an address, or a name as there are? A program may ask for whatever it likes.
fn is_host(text: &str) -> bool {
    let fits = |it: u8| it.is_ascii_lowercase() || it.is_ascii_digit() || b"-_".contains(&it);
    let is_label = |it: &str| (1..=LABEL_BYTES_MAX).contains(&it.len()) && it.bytes().all(fits);
    let is_name = text.len() <= NAME_BYTES_MAX && text.split('.').all(is_label);
    is_name || text.parse::<IpAddr>().is_ok()
}

/// The longest name of a host, in bytes.
const NAME_BYTES_MAX: usize = 253;
/// The longest part of one, in bytes.
const LABEL_BYTES_MAX: usize = 63;

fn take(from: &AtomicU64, count: u64) -> bool {
    from.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(count)).is_ok()
}

const TO_SEND: &str = "bytes that it may send";
const TO_RECEIVE: &str = "bytes that it may receive";

fn spent(what: &str) -> Refused {
    Refused { rule: Rule::EgressSpent, reason: format!("the command has used up all {what}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_spent_twice() {
        let budget = Budget { requests: 2, sent_bytes: 100, received_bytes: 10 };
        let command = Command::new(Digest::of(b"x"), budget);
        assert!(command.begins_one(0).is_ok() && command.begins_one(0).is_ok());
        assert_eq!(command.begins_one(0).unwrap_err().rule, Rule::EgressSpent);
        command.receive(10).unwrap();
        assert!(command.receive(1).is_err() && command.receive(0).is_ok());
        assert!(command.has_room_for(100).is_ok() && command.has_room_for(101).is_err());
        command.send(60).unwrap();
        assert_eq!(command.send(41).unwrap_err().rule, Rule::EgressSpent);
        command.send(40).unwrap();
        assert!(command.send(1).is_err() && command.has_room_for(1).is_err());
    }

    #[test]
    fn what_is_no_host_is_not_remembered_as_one() {
        for host in ["a.example", "_srv.a-b.example", "localhost", "127.0.0.1", "::1"] {
            assert!(is_host(host), "{host}");
        }
        let long = format!("{}.example", "a".repeat(LABEL_BYTES_MAX + 1));
        let deep = "a.".repeat(NAME_BYTES_MAX) + "example";
        for text in ["", "a..example", "Send it.example", "a%20b", "a!b", "<b>", &long, &deep] {
            assert!(!is_host(text), "{text}");
        }
    }

    #[test]
    fn heads_count_and_nothing_is_left_after_that() {
        let budget = Budget { requests: 9, sent_bytes: 10, ..Budget::default() };
        let command = Command::new(Digest::of(b"record"), budget);
        assert!(command.begins_one(8).is_ok() && command.over().is_none());
        assert!(command.begins_one(8).is_err() && command.over().is_some());
    }
}
