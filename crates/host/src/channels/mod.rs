//! Messengers, reached: each that the settings name has a [`Line`], by which it is listened to and told something.
//!
//! INVARIANT (OneGate): listening is a call at the gate, in a session of the host's own; so is each thing that is said,
//! as `message_out` in a session of whoever it is said to. Only these permits reach the messenger's host.
//!
//! INVARIANT (BoundToHosts): tokens come from the vault, for the messenger's host, and are in no error and no record.

mod error;
mod hook;
mod line;
mod listen;
mod tell;
mod wire;

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use channel::Address;
use model::provider;
use model::{AgentId, UserId};
use policy::access::KnownTools;

use crate::admission::AdmissionError;
use crate::gate::Gate;

pub use error::{ChannelsError, ListenError, Undelivered};
pub use hook::{HookRefused, Hooked};
pub use line::Line;
pub use tell::Origin;

/// Places where people wrote of late that are remembered.
const PLACES_MAX: usize = 1000;

/// The messengers of a host.
pub struct Channels {
    gate: Arc<Gate>,
    home: PathBuf,
    lines: Vec<Arc<Line>>,
    /// Where somebody wrote to an agent, the newest last.
    places: Mutex<VecDeque<(UserId, AgentId, Address)>>,
    /// Is nothing more to be said?
    over: AtomicBool,
}

impl Channels {
    /// The messengers that the settings in `home` name, behind `gate`.
    ///
    /// # Errors
    /// If they cannot be had as the settings say.
    pub fn of(gate: &Arc<Gate>, home: &Path) -> Result<Self, ChannelsError> {
        let settings = crate::settings(home)?.unwrap_or_default();
        let users = crate::users(home, &KnownTools::default())?.unwrap_or_default();
        let mut lines = Vec::new();
        for (name, chosen) in settings.channels().iter() {
            let people = users.iter().flat_map(|it| it.channels.of(name).to_vec()).collect();
            lines.push(Arc::new(Line::new(name, chosen, &settings, people, gate)?));
        }
        let (gate, home) = (Arc::clone(gate), home.to_owned());
        Ok(Self { gate, home, lines, places: Mutex::default(), over: AtomicBool::new(false) })
    }

    /// All of them.
    #[must_use]
    pub fn lines(&self) -> &[Arc<Line>] {
        &self.lines
    }

    /// The one to a messenger.
    #[must_use]
    pub fn line(&self, channel: provider::Channel) -> Option<&Arc<Line>> {
        self.lines.iter().find(|it| it.channel() == channel)
    }

    /// Nothing more is said, and what is being said breaks off.
    pub fn end(&self) {
        self.over.store(true, Ordering::Release);
    }

    /// Notes that a user wrote to an agent from a place. That is where answers go, and nowhere else.
    pub fn wrote(&self, user: &UserId, agent: &AgentId, from: &Address) {
        let mut places = self.places();
        let wrote = (user.clone(), agent.clone(), from.clone());
        places.retain(|it| *it != wrote);
        if places.len() >= PLACES_MAX {
            places.pop_front();
        }
        places.push_back(wrote);
    }

    /// Returns where a user wrote to an agent last and nobody else hears what is said.
    #[must_use]
    pub fn last(&self, user: &UserId, agent: &AgentId) -> Option<Address> {
        let places = self.places();
        let theirs = |it: &&(UserId, AgentId, Address)| {
            it.0 == *user && it.1 == *agent && it.2.person().is_some()
        };
        places.iter().rev().find(theirs).map(|it| it.2.clone())
    }

    fn places(&self) -> MutexGuard<'_, VecDeque<(UserId, AgentId, Address)>> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Is this where a user, and nobody else, hears what is said?
///
/// # Errors
/// If users cannot be looked up. INVARIANT (FailClosed): then they are nowhere.
pub(crate) fn is_own(home: &Path, user: &UserId, to: &Address) -> Result<bool, AdmissionError> {
    let (Some(channel), Some(person)) = (to.channel(), to.person()) else { return Ok(false) };
    let users = crate::users(home, &KnownTools::default())?.unwrap_or_default();
    Ok(users.at(channel, person).is_some_and(|it| it.name == *user))
}
