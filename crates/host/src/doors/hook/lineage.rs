//! Below which processes a hook runs. What an agent starts may be an agent, too (`claude -p …` in a shell): its prompts are the words of
//! the one that started it, and it has what that one has read.
//!
//! The process of an agent is the first that two hooks of its session have above them. From its own hooks it is always so far away; a
//! hook that has it further above comes from something that it has started. Who leaves its parents behind (a service, a job of the
//! system) is not found.

use std::collections::{HashMap, HashSet};
use std::os::unix::net::UnixStream;

use hooks::Host;

use super::SESSIONS_MAX;
use crate::ipc::pid_of_peer;

/// Processes above a hook that are looked at.
const ABOVE_MAX: usize = 64;
/// Where the parent stands in `/proc/PID/stat`, behind the name of the program.
const PARENT: usize = 1;
/// Where the time of the start stands there.
const STARTED: usize = 19;

/// A process: its number, which may be another's later, and when it was started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Process {
    id: i32,
    started: u64,
}

/// The process of a hook and those above it, the nearest first; none where the system does not say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::doors) struct Lineage(Vec<Process>);

impl Lineage {
    /// That of whoever is at the other end, or of the process that it speaks for: one below it, whose hooks it passes on.
    pub(in crate::doors) fn of_peer(stream: &UnixStream, speaks_for: Option<i32>) -> Self {
        let pid = pid_of_peer(stream);
        let peer = pid.map(Self::of).unwrap_or_default();
        let other = speaks_for.filter(|it| pid != Some(*it)).map(Self::of).unwrap_or_default();
        match peer.0.first() {
            Some(first) if other.position(*first).is_some() => other,
            Some(_) | None => peer,
        }
    }

    fn of(id: i32) -> Self {
        let mut all = Vec::new();
        let mut next = Some(id);
        while let Some(id) = next.filter(|it| *it > 1 && all.len() < ABOVE_MAX) {
            let Some((process, parent)) = look(id) else { break };
            all.push(process);
            next = Some(parent);
        }
        Self(all)
    }

    /// Did the system say anything?
    pub(super) fn is_known(&self) -> bool {
        !self.0.is_empty()
    }

    fn position(&self, process: Process) -> Option<usize> {
        self.0.iter().position(|it| *it == process)
    }
}

/// A process that is there, and the number of its parent.
fn look(id: i32) -> Option<(Process, i32)> {
    let text = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_ascii_whitespace().collect();
    let started = fields.get(STARTED)?.parse().ok()?;
    Some((Process { id, started }, fields.get(PARENT)?.parse().ok()?))
}

/// Where the hooks of a session come from.
#[derive(Debug)]
enum Seat {
    /// One has come.
    One(Lineage),
    /// The agent, and how far above its hooks it is.
    Known { agent: Process, depth: usize, seen: u64 },
}

impl Seat {
    /// Is the agent known, and not there any more?
    fn is_gone(&self) -> bool {
        matches!(self, Self::Known { agent, .. } if is_gone(*agent))
    }
}

/// The agents of sessions.
#[derive(Debug, Default)]
pub(super) struct Seats {
    all: HashMap<String, Seat>,
    count: u64,
}

impl Seats {
    /// Takes in from where a hook of a session comes.
    pub(super) fn see(&mut self, host: Host, session: &str, lineage: &Lineage) {
        // An editor's process has its user's own terminals below it.
        if host == Host::Cursor || lineage.0.is_empty() {
            return;
        }
        self.count += 1;
        let (seen_now, has_room) = (self.count, self.all.len() < SESSIONS_MAX);
        match self.all.get_mut(session) {
            Some(Seat::Known { agent, seen, .. }) if is_there(*agent) => *seen = seen_now,
            Some(seat) => {
                let common = match seat {
                    Seat::One(before) => before.common(lineage),
                    Seat::Known { .. } => None,
                };
                *seat = match common {
                    Some((agent, depth)) => Seat::Known { agent, depth, seen: seen_now },
                    None => Seat::One(lineage.clone()),
                };
            }
            None if has_room => {
                self.all.insert(session.to_owned(), Seat::One(lineage.clone()));
            }
            None => {}
        }
    }

    /// The session whose agent has started what a hook comes from: the nearest one, and of several the one that was heard of last.
    pub(super) fn above(&self, lineage: &Lineage) -> Option<&str> {
        let far = self.all.iter().filter_map(|(session, seat)| match seat {
            Seat::Known { agent, depth, seen } => {
                let at = lineage.position(*agent).filter(|it| it > depth)?;
                Some((at, u64::MAX - seen, session.as_str()))
            }
            Seat::One(_) => None,
        });
        far.min().map(|it| it.2)
    }

    /// The session whose agent has started a client of servers, itself or by something between: the nearest.
    pub(super) fn of_client(&self, client: &Lineage) -> Option<&str> {
        let above = self.all.iter().filter_map(|(session, seat)| match seat {
            Seat::Known { agent, seen, .. } => {
                Some((client.position(*agent)?, u64::MAX - seen, session.as_str()))
            }
            Seat::One(_) => None,
        });
        above.min().map(|it| it.2)
    }

    /// Is it known whose client that is: can no agent be nearer of which one hook has come?
    pub(super) fn is_sure_of(&self, client: &Lineage) -> bool {
        let near = self.all.values().filter_map(|it| match it {
            Seat::One(hook) => client.position(client.common(hook)?.0),
            Seat::Known { .. } => None,
        });
        let known = self.all.values().filter_map(|it| match it {
            Seat::Known { agent, .. } => client.position(*agent),
            Seat::One(_) => None,
        });
        match (known.min(), near.min()) {
            (Some(known), Some(near)) => known < near,
            (Some(_), None) => true,
            (None, _) => false,
        }
    }

    /// Sessions whose agent has ended.
    pub(super) fn gone(&self) -> HashSet<String> {
        let gone = self.all.iter().filter(|it| it.1.is_gone());
        gone.map(|it| it.0.clone()).collect()
    }

    /// Forgets where the agents of such sessions were that are not there any more, or that are not known yet.
    pub(super) fn forget(&mut self, is_over: impl Fn(&str) -> bool) {
        self.all.retain(|session, seat| {
            let is_there = matches!(seat, Seat::Known { .. }) && !seat.is_gone();
            is_there || !is_over(session)
        });
    }

    /// A session is over.
    pub(super) fn leave(&mut self, session: &str) {
        self.all.remove(session);
    }
}

impl Lineage {
    /// The first process that both have, and how far above it is at most.
    fn common(&self, other: &Self) -> Option<(Process, usize)> {
        let both = self.0.iter().enumerate();
        both.filter_map(|(at, it)| Some((*it, at.max(other.position(*it)?)))).next()
    }
}

fn is_there(process: Process) -> bool {
    look(process.id).is_some_and(|it| it.0 == process)
}

/// Is it sure that a process has ended? What cannot be looked at may be there.
fn is_gone(process: Process) -> bool {
    match look(process.id) {
        Some(now) => now.0 != process,
        None => {
            let pid = rustix::process::Pid::from_raw(process.id);
            let there = pid.map(rustix::process::test_kill_process);
            there == Some(Err(rustix::io::Errno::SRCH))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_agent_has_started_is_below_it_and_its_own_hooks_are_not() {
        let line = |ids: &[i32]| {
            let me = look(i32::try_from(std::process::id()).unwrap()).unwrap().0;
            let process = |id: &i32| if *id == 0 { me } else { Process { id: *id, started: 7 } };
            Lineage(ids.iter().map(process).collect())
        };
        let mut seats = Seats::default();
        // 0 is the agent, which is there; 100 the user's shell.
        seats.see(Host::Claude, "a", &line(&[20, 21, 0, 100]));
        assert_eq!(seats.above(&line(&[30, 31, 32, 33, 0, 100])), None, "not known yet");
        seats.see(Host::Claude, "a", &line(&[22, 23, 0, 100]));
        assert_eq!(seats.above(&line(&[24, 25, 0, 100])), None, "its own");
        assert_eq!(seats.above(&line(&[24, 0, 100])), None);
        assert_eq!(seats.above(&line(&[30, 31, 32, 33, 0, 100])), Some("a"));
        assert_eq!(seats.above(&line(&[40, 41, 42, 100])), None, "beside it");
        // Another session of the same process is no child of the first.
        seats.see(Host::Claude, "b", &line(&[50, 51, 0, 100]));
        seats.see(Host::Claude, "b", &line(&[52, 53, 0, 100]));
        assert_eq!(seats.above(&line(&[54, 55, 0, 100])), None);
        assert_eq!(seats.above(&line(&[60, 61, 62, 63, 0, 100])), Some("b"));
        seats.leave("b");
        assert_eq!(seats.above(&line(&[60, 61, 62, 63, 0, 100])), Some("a"));
        // A client of servers is as near as a hook, or nearer.
        assert_eq!(seats.of_client(&line(&[90, 0, 100])), Some("a"));
        assert_eq!(seats.of_client(&line(&[90, 91, 92, 93, 94, 0, 100])), Some("a"));
        assert_eq!(seats.of_client(&line(&[90, 100])), None);
        // One that has gone is not waited for.
        seats.see(Host::Codex, "c", &line(&[70, 71, 72]));
        seats.see(Host::Codex, "c", &line(&[73, 71, 72]));
        seats.see(Host::Codex, "c", &line(&[74, 75, 76]));
        assert_eq!(seats.above(&line(&[77, 78, 79, 71])), None);
        seats.see(Host::Cursor, "d", &line(&[80, 0]));
        assert!(!seats.all.contains_key("d"));
    }

    #[test]
    fn the_system_says_who_is_above() {
        let own = Lineage::of(i32::try_from(std::process::id()).unwrap());
        let parent = rustix::process::getppid().unwrap().as_raw_nonzero().get();
        assert_eq!(own.0.get(1).map(|it| it.id), Some(parent));
        assert!(is_there(own.0[0]) && !is_there(Process { started: 0, ..own.0[0] }));
    }
}
