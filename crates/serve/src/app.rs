//! What all requests share.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};
use std::time::{Duration, Instant};

use aegx::RecordType;
use agent::Runtime;
use evidence::{AppendError, Clock, Journal, NewRecord, Receipt};
use host::channels::Channels;
use model::Kind;
use serde_json::Value;
use vault::access::KeptTokens;

use crate::books::{Books, BooksError};
use crate::certificate::Certificate;
use crate::channels::Inbox;
use crate::deletion::Deletions;
use crate::directory::{Directory, Known};
use crate::errors::ErrorRate;
use crate::exports::Exports;
use crate::log::{About, Event, Log};
use crate::metrics::Metrics;
use crate::open::{Counted, WithWorker};
use crate::reach::Reach;
use crate::rooms::Rooms;
use crate::rules::Rules;
use crate::sockets::Sockets;
use crate::tickets::Tickets;
use crate::turns::{Key, Queues};
use crate::window::Window;
use crate::workers::Workers;

/// What whoever starts a server brings along.
pub struct Parts {
    /// The state directory.
    pub home: PathBuf,
    /// Runs the agents.
    pub runtime: Arc<dyn Runtime>,
    /// Where acts of administrators are recorded before they count.
    pub journal: Arc<Journal>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Where events are written down.
    pub log: Log,
    /// Deletes what of a user lies outside of the books.
    pub personal: Arc<dyn Personal>,
    /// Messengers, if the settings name some.
    pub channels: Option<Arc<Channels>>,
}

/// Files of a user that others keep: workspaces, and what agents remember of sessions.
pub trait Personal: Send + Sync {
    /// Deletes what is kept of one session.
    ///
    /// # Errors
    /// If something could not be deleted.
    fn forget(&self, user: &str, agent: &str, session: &str) -> Result<(), String>;

    /// Hands everything of a user to `put`, as files with names. It has been recorded, as the receipt proves.
    ///
    /// # Errors
    /// If something cannot be read, or `put` takes no more.
    fn export(&self, user: &str, receipt: &Receipt, put: &mut Put<'_>) -> Result<(), String>;

    /// Deletes everything of a user; their sessions have been forgotten already. It has been recorded, as the receipt
    /// proves.
    ///
    /// # Errors
    /// If something could not be deleted.
    fn delete(&self, user: &str, receipt: &Receipt) -> Result<Deleted, String>;

    /// Deletes workspaces in which nothing was changed for longer than `workspaces`, and what agents remember of sessions in
    /// which nothing was said for longer than `sessions`. Gives how many.
    ///
    /// # Errors
    /// If something could not be deleted.
    fn retain(&self, workspaces: Duration, sessions: Duration) -> Result<usize, String>;

    /// Takes what was deleted out of what a database keeps beside its tables. Is all of it gone? Not while somebody reads.
    ///
    /// # Errors
    /// If something could not be taken out.
    fn wipe(&self) -> Result<bool, String>;
}

/// Takes a file, or says why it takes no more.
pub type Put<'a> = dyn FnMut(&str, &[u8]) -> Result<(), String> + 'a;

/// What was deleted of a user.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Deleted {
    /// Entries of memory, with tasks and notes.
    pub memory_files: usize,
    /// Files of workspaces.
    pub workspace_files: usize,
    /// Jobs that were to come.
    pub jobs: usize,
    /// Proposed skills that nobody has made active.
    pub proposals: usize,
}

/// What all requests share.
pub(crate) struct App {
    pub(crate) parts: Parts,
    pub(crate) address: SocketAddr,
    pub(crate) directory: RwLock<Arc<Directory>>,
    /// What the files said at the start: some of it counts until the end.
    pub(crate) begun: Arc<Directory>,
    /// There where the server speaks TLS.
    pub(crate) certificate: Option<Certificate>,
    pub(crate) tokens: KeptTokens,
    pub(crate) books: Arc<Books>,
    pub(crate) failures: Window<IpAddr>,
    /// Calls of messengers that were not signed by them.
    pub(crate) unsigned: Window<IpAddr>,
    pub(crate) requests: Window<String>,
    pub(crate) messages: Window<String>,
    pub(crate) heard: Window<String>,
    /// Pings and the like, by socket.
    pub(crate) controls: Window<u64>,
    pub(crate) tickets: Tickets,
    pub(crate) queues: Queues,
    pub(crate) deletions: Deletions,
    pub(crate) rooms: Rooms,
    pub(crate) sockets: Arc<Sockets>,
    /// Who waits for an answer by a request of their own.
    pub(crate) answers: Arc<Sockets>,
    pub(crate) workers: Arc<Workers>,
    pub(crate) with_worker: WithWorker,
    pub(crate) open: Counted,
    /// How asking models went lately.
    pub(crate) reach: Reach,
    /// Who was noted as known lately: each token at each address once a minute.
    pub(crate) noted: Window<(String, IpAddr)>,
    pub(crate) metrics: Metrics,
    pub(crate) errors: ErrorRate,
    pub(crate) exports: Exports,
    /// Something that was deleted is still in what a database keeps beside its tables.
    pub(crate) unwiped: AtomicBool,
    pub(crate) deep: Mutex<Option<(Instant, Value)>>,
    /// Held by whoever looks for `/health/deep`: one at a time, for each holds a thread that others need.
    pub(crate) looking: Arc<tokio::sync::Mutex<()>>,
    pub(crate) began: Instant,
    pub(crate) draining: AtomicBool,
    pub(crate) connections: AtomicUsize,
    pub(crate) inbox: Inbox,
    /// Held while files are read again.
    pub(crate) reloading: Mutex<()>,
    /// Who reads the rules again, where somebody can.
    pub(crate) rules: OnceLock<Arc<dyn Rules>>,
}

/// Why there is no server.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The files of the state directory.
    #[error(transparent)]
    Files(#[from] host::AdmissionError),
    /// The books.
    #[error(transparent)]
    Books(#[from] BooksError),
    /// The address.
    #[error("`{0}`: {1}")]
    Address(SocketAddr, std::io::Error),
    /// An address that others reach, without anything that protects the tokens.
    #[error(
        "`{0}` is not this machine's alone: name `serve.tls` or `serve.behindProxy` in config.yaml"
    )]
    Exposed(SocketAddr),
    /// The certificate or its key.
    #[error("`serve.tls`: {0}")]
    Tls(String),
    /// The system.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

impl App {
    pub(crate) fn new(
        parts: Parts,
        address: SocketAddr,
        directory: Directory,
        certificate: Option<Certificate>,
    ) -> Result<Self, StartError> {
        let directory = Arc::new(directory);
        let books = Arc::new(Books::open(&parts.home)?);
        let tokens = KeptTokens::in_home(&parts.home);
        Ok(Self {
            parts,
            address,
            directory: RwLock::new(Arc::clone(&directory)),
            begun: directory,
            certificate,
            tokens,
            books,
            failures: Window::default(),
            unsigned: Window::default(),
            requests: Window::default(),
            messages: Window::default(),
            heard: Window::default(),
            controls: Window::default(),
            tickets: Tickets::default(),
            queues: Queues::default(),
            deletions: Deletions::default(),
            rooms: Rooms::default(),
            sockets: Arc::default(),
            answers: Arc::default(),
            workers: Arc::default(),
            with_worker: WithWorker::default(),
            open: Counted::default(),
            reach: Reach::default(),
            noted: Window::default(),
            metrics: Metrics::default(),
            errors: ErrorRate::default(),
            exports: Exports::default(),
            unwiped: AtomicBool::new(false),
            deep: Mutex::default(),
            looking: Arc::default(),
            began: Instant::now(),
            draining: AtomicBool::new(false),
            connections: AtomicUsize::new(0),
            inbox: Inbox::default(),
            reloading: Mutex::default(),
            rules: OnceLock::new(),
        })
    }

    /// What the files said last.
    pub(crate) fn directory(&self) -> Arc<Directory> {
        Arc::clone(&self.directory.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Tells the runtime how many workers there may be now.
    pub(crate) fn bounds(&self) {
        let directory = self.directory();
        let per_user = directory.settings.rate_limits.concurrent_sessions.as_len();
        self.parts.runtime.bounded(directory.settings.max_workers.as_len(), per_user);
    }

    /// Looks again at everybody who is connected: whoever is none any more is closed.
    pub(crate) fn look_again(&self, look: impl Fn(&Known) -> Option<Known>) {
        self.sockets.again(&look);
        self.answers.again(&look);
    }

    /// Interrupts the turn of a session that runs, or is about to.
    pub(crate) fn interrupt(&self, key: &Key) {
        // A turn that no message began, such as that of a job, is in no queue.
        if !self.queues.interrupt(key) {
            self.parts.runtime.interrupt(&key.user, &key.agent, &key.session);
        }
    }

    pub(crate) fn now(&self) -> i64 {
        self.parts.clock.unix_seconds()
    }

    pub(crate) fn now_ms(&self) -> u64 {
        self.parts.clock.unix_micros() / 1000
    }

    pub(crate) fn is_draining(&self) -> bool {
        self.draining.load(Ordering::Acquire)
    }

    pub(crate) fn log(&self, event: Event, about: About<'_>, details: Value) {
        self.parts.log.event(self.directory().settings.logging.level, event, about, details);
    }

    /// Records what somebody does, before it is done.
    ///
    /// INVARIANT (RecordThenAct).
    pub(crate) fn record(
        &self,
        kind: &'static str,
        content: Value,
    ) -> Result<Receipt, AppendError> {
        let kind = Kind::of_static(kind);
        let record = NewRecord::of_host(RecordType::GuardDecision, kind, content);
        self.parts.journal.append(record)
    }

    /// Does something short that blocks, on one of few threads.
    pub(crate) async fn blocking<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self) -> T + Send + 'static,
    ) -> Option<T> {
        let app = Arc::clone(self);
        tokio::task::spawn_blocking(move || work(&app)).await.ok()
    }
}
