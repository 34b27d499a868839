//! What the tests share: a house on a temporary directory, and clients that speak frames.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use evidence::{Config, Durability, Filter, Journal, Reader, SystemClock};
use host::ipc::{Door, Limits, Socket, Stop, Stopper, serve_socket};
use host::{HostExecutor, WorkspaceFiles};
use model::{AgentId, Caller, Kind, SessionId, Source, UserId};
use monitor::provenance::Catalogue;
use monitor::{Admission, Approver, Heard, Monitor, Opening, Setup};
use policy::Policy;
use serde_json::Value;
use store::SqliteStore;
use testkit::frames;

/// Reading the rules takes longer than most tests.
static POLICY: LazyLock<Arc<Policy>> = LazyLock::new(|| Arc::new(Policy::embedded().unwrap()));

pub(crate) struct House {
    dir: PathBuf,
    pub(crate) monitor: Arc<Monitor>,
    pub(crate) journal: Arc<Journal>,
    pub(crate) door: Arc<Door>,
}

impl House {
    pub(crate) fn new(dir: &Path) -> Self {
        Self::with(dir, |executor, _, _| executor)
    }

    /// With the files of a workspace.
    pub(crate) fn with_files(dir: &Path, files: WorkspaceFiles) -> Self {
        Self::with(dir, |executor, _, _| executor.with_files(files))
    }

    /// With more than every house has.
    pub(crate) fn with(
        dir: &Path,
        furnish: impl FnOnce(HostExecutor, &Arc<Journal>, &Arc<SqliteStore>) -> HostExecutor,
    ) -> Self {
        let mut config = Config::new(dir.join("evidence"));
        config.durability = Durability::DangerouslyUnsynced;
        let journal = Arc::new(Journal::open(&config).unwrap().0);
        let store = SqliteStore::open_with(&dir.join("store.sqlite"), config.durability).unwrap();
        let store = Arc::new(store);
        let monitor = Arc::new(Monitor::new(Setup {
            journal: Arc::clone(&journal),
            state: store.clone(),
            policy: Arc::clone(&POLICY),
            catalogue: Catalogue::default(),
            clock: Arc::new(SystemClock),
        }));
        let memory = Arc::clone(&store);
        let executor = HostExecutor::new(memory, dir.join("evidence"), Arc::new(SystemClock));
        let executor = furnish(executor, &journal, &store);
        let door = Door::new(Arc::clone(&monitor), Arc::clone(&journal), executor);
        Self { dir: dir.to_owned(), monitor, journal, door: Arc::new(door) }
    }

    pub(crate) fn open(&self, user: &str, session: &str) -> Caller {
        self.open_as(user, session, Admission::OnePerson)
    }

    pub(crate) fn open_as(&self, user: &str, session: &str, admission: Admission) -> Caller {
        self.open_served(user, session, admission, Approver::Absent)
    }

    pub(crate) fn open_served(
        &self,
        user: &str,
        session: &str,
        admission: Admission,
        approver: Approver,
    ) -> Caller {
        let who = caller(user, session);
        let opening = Opening { admission, approver, ..Opening::of_one_person(who.clone()) };
        self.monitor.open_session(opening).unwrap();
        who
    }

    /// A page reaches the session.
    pub(crate) fn hear_page(&self, who: &Caller, origin: &str, text: &str) {
        self.monitor.hear(who, &Heard { source: Source::Web, origin, text }).unwrap();
    }

    /// The user says something.
    pub(crate) fn hear_user(&self, who: &Caller, text: &str) {
        self.monitor.hear(who, &Heard { source: Source::User, origin: "", text }).unwrap();
    }

    pub(crate) fn say(&self, who: &Caller, message: &Value) -> Value {
        self.door.answer(who, message.to_string().as_bytes()).to_value()
    }

    /// All records of a session, oldest first.
    pub(crate) fn records(&self, session: &str) -> Vec<Value> {
        let session = Some(SessionId::parse(session).unwrap());
        let mut found = Vec::new();
        let mut see = |row: evidence::Row| {
            found.push(serde_json::from_slice(&row.line).unwrap());
            true
        };
        let filter = Filter { session, ..Filter::default() };
        evidence::query(&self.evidence(), &filter, &mut see).unwrap();
        found
    }

    /// How often the person's door refused something.
    pub(crate) fn refused_by_control(&self) -> usize {
        let kind = Some(Kind::parse("control_refused").unwrap());
        let filter = Filter { kind, ..Filter::default() };
        usize::try_from(evidence::count(&self.evidence(), &filter).unwrap()).unwrap()
    }

    /// The journal, with everything that was recorded.
    pub(crate) fn evidence(&self) -> Reader {
        self.settle();
        Reader::open(&self.dir.join("evidence")).unwrap()
    }

    /// Waits until everything that was appended is there to be read.
    pub(crate) fn settle(&self) {
        self.journal.checkpoint().unwrap();
    }
}

pub(crate) fn caller(user: &str, session: &str) -> Caller {
    Caller {
        session: SessionId::parse(session).unwrap(),
        user: UserId::parse(user).unwrap(),
        agent: AgentId::parse("main").unwrap(),
        door: Kind::parse("ipc").unwrap(),
    }
}

/// What a record says.
pub(crate) fn content(record: &Value) -> &Value {
    &record["payload"]["inline"]
}

/// A socket of a session that is served until this goes.
pub(crate) struct Server {
    pub(crate) path: PathBuf,
    stopper: Stopper,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    pub(crate) fn start(house: &House, who: &Caller, dir: &Path, limits: Limits) -> Self {
        let path = dir.join("ipc").join(format!("{}.sock", who.session));
        let socket = Socket::bind(&path).unwrap();
        let (stopper, stop) = Stop::pair().unwrap();
        let (door, who) = (Arc::clone(&house.door), who.clone());
        let serve = move || serve_socket(&door, &who, &socket, &limits, &stop).unwrap();
        Self { path, stopper, thread: Some(thread::spawn(serve)) }
    }

    pub(crate) fn connect(&self) -> Client {
        let stream = UnixStream::connect(&self.path).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        Client(stream)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stopper.stop();
        self.thread.take().unwrap().join().unwrap();
    }
}

/// The agent's side of a connection.
pub(crate) struct Client(pub(crate) UnixStream);

impl Client {
    pub(crate) fn send_raw(&mut self, bytes: &[u8]) {
        self.0.write_all(bytes).unwrap();
    }

    pub(crate) fn send(&mut self, message: &[u8]) {
        self.send_raw(&frames::frame(message));
    }

    pub(crate) fn ask(&mut self, message: &Value) -> Value {
        self.send(message.to_string().as_bytes());
        self.answer()
    }

    pub(crate) fn answer(&mut self) -> Value {
        frames::answer(&mut self.0)
    }

    /// Has the other side closed, without a word?
    pub(crate) fn is_closed(&mut self) -> bool {
        matches!(self.0.read(&mut [0]), Ok(0))
    }
}

/// Limits of which a test does not wait for the end.
pub(crate) fn short() -> Limits {
    Limits {
        idle: Duration::from_secs(20),
        frame: Duration::from_millis(300),
        answer: Duration::from_millis(300),
        ..Limits::default()
    }
}
