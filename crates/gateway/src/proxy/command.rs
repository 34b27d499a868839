//! One command in a cage, as the proxy knows it: by which record it runs, what it may still cost, and what became of
//! what it asked for.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use aegx::Digest;
use egress::Carried;
use scan::net::Refused;

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
    /// The host, as it was read.
    pub host: String,
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
        let what = match take(&self.requests, 1) {
            false => "requests",
            true if self.sends(head_bytes) => return Ok(()),
            true => "bytes",
        };
        self.is_over.store(true, Ordering::Relaxed);
        Err(spent(what))
    }

    /// Was it told that nothing is left? That is recorded once: a program that goes on asking fills no journal.
    pub(crate) fn over(&self) -> Option<Refused> {
        self.is_over.load(Ordering::Relaxed).then(|| spent("requests"))
    }

    /// May so much more go out? If so, it has.
    pub(crate) fn sends(&self, bytes: u64) -> bool {
        take(&self.sent, bytes)
    }

    /// May so much more come back? If so, it has.
    pub(crate) fn receives(&self, bytes: u64) -> bool {
        take(&self.received, bytes)
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
            seen.turned_away.insert(Turned { host: host.to_owned(), rule: rule.to_owned() });
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

/// Bytes of a request's body that are set aside before it is known how many there are. What was not sent is given back.
pub(crate) struct SetAside {
    command: Arc<Command>,
    carried: Arc<Carried>,
    bytes: u64,
}

impl SetAside {
    /// So many as are announced, or all that there are.
    pub(crate) fn of(
        command: &Arc<Command>,
        announced: Option<u64>,
        carried: &Arc<Carried>,
    ) -> Result<Self, Refused> {
        let bytes = match announced {
            Some(bytes) if take(&command.sent, bytes) => bytes,
            Some(_) => return Err(spent("bytes")),
            None => command.sent.swap(0, Ordering::Relaxed),
        };
        Ok(Self { command: Arc::clone(command), carried: Arc::clone(carried), bytes })
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl Drop for SetAside {
    fn drop(&mut self) {
        let left = self.bytes.saturating_sub(self.carried.sent());
        self.command.sent.fetch_add(left, Ordering::Relaxed);
    }
}

fn take(from: &AtomicU64, count: u64) -> bool {
    from.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(count)).is_ok()
}

fn spent(what: &str) -> Refused {
    let reason = format!("the command has used up all {what} that it may send");
    Refused { rule: "egress-spent", reason }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_spent_twice_and_what_was_not_sent_is_given_back() {
        let budget = Budget { requests: 2, sent_bytes: 100, received_bytes: 10 };
        let command = Command::new(Digest::of(b"x"), budget);
        assert!(command.begins_one(0).is_ok() && command.begins_one(0).is_ok());
        assert_eq!(command.begins_one(0).unwrap_err().rule, "egress-spent");
        assert!(command.receives(10) && !command.receives(1) && command.receives(0));
        let carried = Arc::new(Carried::default());
        let known = SetAside::of(&command, Some(60), &carried).unwrap();
        assert!(SetAside::of(&command, Some(41), &carried).is_err() && command.sends(30));
        carried.add_sent(20);
        drop(known);
        // 100 less 30 less the 20 that went out.
        let open = SetAside::of(&command, None, &Arc::default()).unwrap();
        assert_eq!(open.bytes(), 50);
        assert!(!command.sends(1));
        drop(open);
        assert!(command.sends(50) && !command.sends(1));
    }

    #[test]
    fn heads_count_and_nothing_is_left_after_that() {
        let budget = Budget { requests: 9, sent_bytes: 10, ..Budget::default() };
        let command = Command::new(Digest::of(b"record"), budget);
        assert!(command.begins_one(8).is_ok() && command.over().is_none());
        assert!(command.begins_one(8).is_err() && command.over().is_some());
    }
}
