//! The socket of one worker: one thread reads it, whoever has something to say writes.

use std::io;
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use agent::ToWorker;

use super::inbox::{Inbox, Intake, Next, inbox};
use crate::ipc::{Ends, FrameError, Limits, Stop, Stopper, read, write};

/// Longer than any worker lives: how long one may be silent is counted elsewhere.
const SILENT_MAX: Duration = Duration::from_secs(24 * 3600);

/// A worker's socket.
pub(super) struct Link {
    stream: UnixStream,
    out: Mutex<Ends<UnixStream, UnixStream>>,
    inbox: Inbox,
    why: Arc<OnceLock<String>>,
    over: Arc<AtomicBool>,
    _stopper: Stopper,
}

impl Link {
    /// Begins to listen.
    pub(super) fn new(stream: UnixStream) -> io::Result<Self> {
        let (stopper, stop) = Stop::pair()?;
        let both = || Ok::<_, io::Error>((stream.try_clone()?, stream.try_clone()?));
        let (reads, unused) = both()?;
        let wire = Ends::new(reads, unused, stop.clone());
        let (intake, inbox) = inbox();
        let why = Arc::new(OnceLock::new());
        let over = Arc::new(AtomicBool::new(false));
        let (told, ended, gone) = (Arc::clone(&why), stream.try_clone()?, Arc::clone(&over));
        thread::Builder::new().name("worker".to_owned()).spawn(move || {
            // The first reason counts; an orderly end has none.
            if let Err(reason) = listen(wire, intake) {
                let _ = told.set(reason);
            }
            gone.store(true, Ordering::Release);
            let _ = ended.shutdown(Shutdown::Both);
        })?;
        let (input, output) = both()?;
        let out = Mutex::new(Ends::new(input, output, stop));
        Ok(Self { stream, out, inbox, why, over, _stopper: stopper })
    }

    /// Says something to the worker. One that does not listen is closed.
    pub(super) fn say(&self, said: &ToWorker) -> Result<(), FrameError> {
        let bytes = serde_json::to_vec(said).map_err(io::Error::other)?;
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        write(&mut *out, &bytes, &limits()).inspect_err(|_| self.close())
    }

    /// What it says next.
    pub(super) fn next(&self, at_most: Duration) -> Next {
        match self.inbox.next(at_most) {
            Next::Spoilt(why) => {
                let _ = self.why.set(why);
                self.close();
                Next::Over
            }
            next @ (Next::Message(_) | Next::Nothing | Next::Over) => next,
        }
    }

    /// Forgets what it has said.
    pub(super) fn clear(&self) {
        self.inbox.clear();
    }

    /// Why nothing more comes.
    pub(super) fn why(&self) -> String {
        self.why.get().cloned().unwrap_or_else(|| "the worker ended".to_owned())
    }

    /// Has the worker ended, or was it closed?
    pub(super) fn is_over(&self) -> bool {
        self.over.load(Ordering::Acquire)
    }

    /// Nothing more is heard nor said.
    pub(super) fn close(&self) {
        self.over.store(true, Ordering::Release);
        // It may be closed already.
        let _ = self.stream.shutdown(Shutdown::Both);
    }
}

fn listen(mut wire: Ends<UnixStream, UnixStream>, mut intake: Intake) -> Result<(), String> {
    loop {
        match read(&mut wire, &limits()) {
            Ok(Some(message)) => intake.take(message, Instant::now())?,
            Ok(None) | Err(FrameError::Stopped) => return Ok(()),
            Err(error) => return Err(error.to_string()),
        }
    }
}

fn limits() -> Limits {
    Limits { idle: SILENT_MAX, ..Limits::default() }
}
