//! The thread that starts launchers: the kernel ends each of them with the thread that started it, so that it must be
//! one that stays as long as there are workers.

use std::io;
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{self, Sender};
use std::sync::{Mutex, PoisonError};
use std::thread;

use sandbox::runner::{Launched, RunError, Runner};

type Job = (UnixStream, Sender<Result<Launched, RunError>>);

/// Starts launchers. It ends with whoever holds it.
pub(crate) struct Spawner {
    jobs: Mutex<Sender<Job>>,
}

impl Spawner {
    /// # Errors
    /// If the system gives no thread.
    pub(crate) fn new() -> io::Result<Self> {
        let (jobs, taken) = mpsc::channel::<Job>();
        thread::Builder::new().name("spawner".to_owned()).spawn(move || {
            let runner = Runner::default();
            while let Ok((socket, answer)) = taken.recv() {
                // If nobody waits any more, what was started is ended with the answer.
                let _ = answer.send(runner.launch(socket));
            }
        })?;
        Ok(Self { jobs: Mutex::new(jobs) })
    }

    /// Starts a launcher for a worker with this socket.
    pub(crate) fn launch(&self, socket: UnixStream) -> Result<Launched, RunError> {
        let gone = || RunError::Launcher(io::Error::other("nobody starts workers any more"));
        let (answer, hears) = mpsc::channel();
        let jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner);
        jobs.send((socket, answer)).map_err(|_| gone())?;
        drop(jobs);
        hears.recv().map_err(|_| gone())?
    }
}
