//! Sessions at one endpoint: one for each legacy client that shook hands, one for all requests of a modern client.

use super::auth::Principal;
use super::limits::{CLIENT_SHARE, RESTART_AFTER};
use super::live::{Backend, Live};
use crate::era::Era;
use data_encoding::HEXLOWER;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::OnceCell;

/// Every session of an endpoint.
pub(super) struct Sessions {
    backend: Arc<dyn Backend>,
    max: usize,
    idle: Duration,
    table: Mutex<Table>,
}

#[derive(Default)]
struct Table {
    /// By their ids, which nobody can guess.
    legacy: HashMap<String, Arc<Live>>,
    shared: HashMap<Principal, Arc<OnceCell<Arc<Live>>>>,
    /// Clients of legacy sessions whose servers are being started.
    starting: Vec<Principal>,
}

/// A refusal to begin a session.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum OpenError {
    #[error("{0} sessions are open, and no more may be; end one with DELETE, or come later")]
    Full(usize),
    #[error("{0} sessions of this client are open, and no more may be; end one with DELETE")]
    Share(usize),
    #[error("the servers could not be started: {0}")]
    Start(String),
}

impl Sessions {
    pub(super) fn new(backend: Arc<dyn Backend>, max: usize, idle: Duration) -> Self {
        Self { backend, max, idle, table: Mutex::default() }
    }

    /// Begins a session of a legacy client, with servers of its own. Where there are others, it has a share of them.
    pub(super) async fn open(
        &self,
        client: &Principal,
        has_others: bool,
    ) -> Result<(Begun<'_>, Arc<Live>), OpenError> {
        let id = random_id().ok_or_else(|| OpenError::Start("no random bytes".to_owned()))?;
        let share = if has_others { self.max.div_ceil(CLIENT_SHARE) } else { self.max };
        let place = self.reserve(client, share)?;
        let live = self.start(client, Era::Legacy).await?;
        let mut table = self.lock();
        table.legacy.insert(id.clone(), Arc::clone(&live));
        drop(table);
        drop(place);
        Ok((Begun { sessions: self, id, is_kept: false }, live))
    }

    /// Finds a legacy session of exactly this client.
    pub(super) fn find(&self, id: &str, client: &Principal) -> Option<Arc<Live>> {
        let live = self.lock().legacy.get(id).cloned()?;
        (live.client == *client && !live.is_over()).then_some(live)
    }

    /// Ends a legacy session.
    pub(super) fn remove(&self, id: &str) {
        if let Some(live) = self.lock().legacy.remove(id) {
            live.end();
        }
    }

    /// Returns the one session of a modern client; its first request begins it.
    pub(super) async fn shared(&self, client: &Principal) -> Result<Arc<Live>, OpenError> {
        let cell = self.cell(client)?;
        let live = cell.get_or_try_init(|| self.start(client, Era::Modern)).await;
        if live.is_err() {
            let mut table = self.lock();
            if table.shared.get(client).is_some_and(|it| Arc::ptr_eq(it, &cell)) {
                table.shared.remove(client);
            }
        }
        live.cloned()
    }

    /// The place of a modern client's session. One of whose servers a part is gone makes room for a new one, and ends
    /// when its last request has.
    fn cell(&self, client: &Principal) -> Result<Arc<OnceCell<Arc<Live>>>, OpenError> {
        let mut table = self.lock();
        if let Some(cell) = table.shared.get(client) {
            let is_worn = cell.get().is_some_and(|live| {
                live.is_over() || (live.is_broken() && live.started.elapsed() >= RESTART_AFTER)
            });
            if !is_worn {
                return Ok(Arc::clone(cell));
            }
            table.shared.remove(client);
        }
        self.check_room(&table)?;
        let cell = Arc::new(OnceCell::new());
        table.shared.insert(client.clone(), Arc::clone(&cell));
        Ok(cell)
    }

    async fn start(&self, client: &Principal, era: Era) -> Result<Arc<Live>, OpenError> {
        let (backend, client) = (Arc::clone(&self.backend), client.clone());
        let start = move || Live::start(&*backend, &client, era);
        let started = tokio::task::spawn_blocking(start).await;
        let started = started.map_err(|_| OpenError::Start("their start broke off".to_owned()))?;
        started.map_err(OpenError::Start)
    }

    fn reserve(&self, client: &Principal, share: usize) -> Result<Place<'_>, OpenError> {
        let mut table = self.lock();
        self.check_room(&table)?;
        let started = table.legacy.values().filter(|it| it.client == *client).count();
        let starting = table.starting.iter().filter(|it| *it == client).count();
        if started + starting >= share {
            return Err(OpenError::Share(share));
        }
        table.starting.push(client.clone());
        Ok(Place { sessions: self, client: client.clone() })
    }

    fn check_room(&self, table: &Table) -> Result<(), OpenError> {
        let count = table.legacy.len() + table.shared.len() + table.starting.len();
        if count >= self.max { Err(OpenError::Full(self.max)) } else { Ok(()) }
    }

    /// Ends what has been idle for too long or belongs to nobody any more, and forgets what has ended by itself.
    pub(super) fn sweep(&self, may_be: impl Fn(&Principal) -> bool) {
        let is_due = |live: &Live| {
            live.is_over() || live.used().elapsed() >= self.idle || !may_be(&live.client)
        };
        let mut table = self.lock();
        table.legacy.retain(|_, live| {
            let is_due = is_due(live);
            if is_due {
                live.end();
            }
            !is_due
        });
        // A start that broke off with its request leaves an empty place, which nobody holds any more.
        table.shared.retain(|_, cell| match cell.get() {
            Some(live) => {
                let is_due = is_due(live);
                if is_due {
                    live.end();
                }
                !is_due
            }
            None => Arc::strong_count(cell) > 1,
        });
    }

    /// Ends every session, and returns those that have not ended yet.
    pub(super) fn end_all(&self) -> Vec<Arc<Live>> {
        let table = std::mem::take(&mut *self.lock());
        let shared = table.shared.into_values().filter_map(|cell| cell.get().cloned());
        let all: Vec<Arc<Live>> = table.legacy.into_values().chain(shared).collect();
        all.iter().for_each(|live| live.end());
        all
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A place for a session that is being started. Dropped, it is free again.
struct Place<'a> {
    sessions: &'a Sessions,
    client: Principal,
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let starting = &mut self.sessions.lock().starting;
        if let Some(index) = starting.iter().position(|it| *it == self.client) {
            starting.swap_remove(index);
        }
    }
}

/// A session whose client has not heard of it yet. Dropped, it ends: nobody could.
pub(super) struct Begun<'a> {
    sessions: &'a Sessions,
    id: String,
    is_kept: bool,
}

impl Begun<'_> {
    pub(super) fn id(&self) -> &str {
        &self.id
    }

    /// Keeps the session.
    pub(super) fn keep(mut self) {
        self.is_kept = true;
    }
}

impl Drop for Begun<'_> {
    fn drop(&mut self) {
        if !self.is_kept {
            self.sessions.remove(&self.id);
        }
    }
}

fn random_id() -> Option<String> {
    let mut bytes = [0; SESSION_ID_BYTES];
    getrandom::fill(&mut bytes).ok()?;
    Some(HEXLOWER.encode(&bytes))
}

/// Random bytes of a session's id.
const SESSION_ID_BYTES: usize = 24;
