//! The launcher, seen from the host: told once, listened to until its end, and ended if nobody listens any more.

use std::fs::File;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::aside::Aside;
use super::error::RunError;
use super::form::Order;
use super::launcher::CAGE_ENDS_WITH_IT;
use super::wire::{self, Ended, Go, Report};
use super::{Beside, LAUNCHER, PRINTED_BYTES_MAX, Printed, clean};
use crate::cage::{Cage, Ending, Held, Inmate};

/// How much later than the cage the host itself ends a command whose time is up.
const LATER: Duration = Duration::from_secs(10);
/// How long a command has to end when the host is to end; then it is ended by force.
const STOP: Duration = Duration::from_secs(2);
/// How often it is asked whether it has.
const PAUSE: Duration = Duration::from_millis(1);
/// How long what was printed may still come after the end.
const DRAIN: Duration = Duration::from_secs(2);
/// Bytes that are read at a time.
pub(super) const PIECE_BYTES: usize = 64 << 10;

/// A launcher. Dropped, it is ended, and everything in its cage with it.
pub(super) struct Process {
    child: Child,
    pub(super) socket: UnixStream,
    /// Where what its program prints is read; none if that goes elsewhere.
    output: Option<File>,
}

/// What came from it.
pub(super) struct Heard {
    pub(super) ending: Ending,
    pub(super) aside: Aside,
    pub(super) held: Held,
    pub(super) stdout: Collected,
    pub(super) stderr: Collected,
    pub(super) stopped: bool,
}

impl Process {
    /// A launcher whose program prints to us.
    pub(super) fn start(program: &Path) -> Result<Self, RunError> {
        let mut process = Self::start_with(program, Stdio::piped(), Stdio::piped())?;
        process.output = process.child.stdout.take().map(|it| File::from(OwnedFd::from(it)));
        Ok(process)
    }

    /// A launcher whose program is told `request`, and speaks to us at the same socket.
    pub(super) fn start_speaking(program: &Path, request: &[u8]) -> Result<Self, RunError> {
        let (mut ours, theirs) = UnixStream::pair().map_err(RunError::Launcher)?;
        let mut told = || -> io::Result<()> {
            // All of it fits, or nothing runs: nobody waits for a program that does not listen.
            ours.set_nonblocking(true)?;
            ours.write_all(request)?;
            ours.set_nonblocking(false)?;
            ours.shutdown(Shutdown::Write)
        };
        told().map_err(RunError::Launcher)?;
        let socket = Stdio::from(OwnedFd::from(theirs));
        let mut process = Self::start_with(program, socket, Stdio::piped())?;
        process.output = Some(File::from(OwnedFd::from(ours)));
        Ok(process)
    }

    #[expect(clippy::disallowed_methods, reason = "this is where a launcher of cages is started")]
    pub(super) fn start_with(
        program: &Path,
        stdout: Stdio,
        stderr: Stdio,
    ) -> Result<Self, RunError> {
        let (socket, theirs) = UnixStream::pair().map_err(RunError::Launcher)?;
        let child = Command::new(program)
            .arg(LAUNCHER)
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(stdout)
            .stderr(stderr)
            // What a terminal sends to us is not meant for it.
            .process_group(0)
            .spawn()
            .map_err(RunError::Launcher)?;
        Ok(Self { child, socket, output: None })
    }

    pub(super) fn tell(&mut self, cage: &Cage, inmate: &Inmate) -> Result<(), RunError> {
        wire::say(&mut self.socket, &Order::of(cage, inmate)).map_err(RunError::Launcher)
    }

    /// The same for a program that hears and speaks at one socket.
    pub(super) fn tell_speaking(&mut self, cage: &Cage, inmate: &Inmate) -> Result<(), RunError> {
        let order = Order::of(cage, inmate).speaking();
        wire::say(&mut self.socket, &order).map_err(RunError::Launcher)
    }

    /// Lets the command begin, and listens until it and all that it printed have come to an end. Once what it printed
    /// is `enough`, it is ended.
    pub(super) fn follow(
        mut self,
        wall_time: Duration,
        beside: &mut Beside<'_>,
        enough: fn(&Collected) -> bool,
    ) -> Result<Heard, RunError> {
        let mut said = Said::default();
        let mut reports = Source::new(self.socket.try_clone().map_err(RunError::Launcher)?);
        let mut stdout = Source::of(self.output.take());
        let mut stderr = Source::of(self.child.stderr.take());
        let (mut out, mut err) = (Collected::default(), Collected::default());
        let (mut begun, mut stopped, mut is_enough) = (false, false, false);
        let mut until = Instant::now() + wall_time + LATER;
        while reports.is_open() || stdout.is_open() || stderr.is_open() {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            // Heard once, it is not listened for any more.
            let stop = beside.stop.filter(|_| !stopped);
            let ready = ready([reports.fd(), stdout.fd(), stderr.fd(), stop], left);
            let [report, printed, beside_it, stop] = ready.map_err(|error| match begun {
                true => RunError::broke(error),
                false => RunError::Launcher(error),
            })?;
            if report {
                reports.hear(&mut said);
                said.read().map_err(RunError::broke)?;
                if said.held.is_some() && !begun {
                    begun = true;
                    self.begin(said.handed.take(), beside)?;
                }
                if said.last.is_some() || !reports.is_open() {
                    until = until.min(Instant::now() + DRAIN);
                }
            }
            if printed {
                stdout.read(&mut out);
            }
            let has_enough = printed && !is_enough && enough(&out);
            is_enough |= has_enough;
            if beside_it {
                stderr.read(&mut err);
            }
            stopped |= stop;
            if stop || has_enough {
                until = until.min(Instant::now() + STOP);
                // If it is gone already, there is nobody to be told.
                let _gone = self.socket.shutdown(Shutdown::Write);
            }
        }
        let ending = match said.ending() {
            // It did not end in time, and is ended now.
            Err(RunError::Broke { aside, .. }) if stopped || is_enough => {
                Err(RunError::Broke { why: "it was ended".to_owned(), aside })
            }
            ending => ending,
        };
        let (ending, aside, held) = ending?;
        Ok(Heard { ending, aside, held, stdout: out, stderr: err, stopped })
    }

    /// Everything holds: whoever answers for the network takes the listener, then the command begins.
    fn begin(&mut self, handed: Option<OwnedFd>, beside: &mut Beside<'_>) -> Result<(), RunError> {
        match (&mut beside.answer, handed) {
            (Some(answer), Some(fd)) => answer(TcpListener::from(fd)).map_err(RunError::Refused)?,
            (None, None) => {}
            (Some(_), None) | (None, Some(_)) => {
                let why = "the way to the network is not the one that was asked for";
                return Err(RunError::Refused(why.to_owned()));
            }
        }
        wire::say(&mut self.socket, &Go).map_err(RunError::Launcher)
    }
}

impl Process {
    /// Says that we are done, and gives it time to end what it started.
    fn let_it_end(&mut self) {
        let _gone = self.socket.shutdown(Shutdown::Both);
        let until = Instant::now() + STOP;
        while Instant::now() < until && matches!(self.child.try_wait(), Ok(None)) {
            std::thread::sleep(PAUSE);
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if !CAGE_ENDS_WITH_IT {
            self.let_it_end();
        }
        // It may have ended by itself.
        let _gone = self.child.kill();
        let _gone = self.child.wait();
    }
}

/// What the launcher has said so far.
#[derive(Default)]
struct Said {
    came: Vec<u8>,
    handed: Option<OwnedFd>,
    held: Option<Held>,
    last: Option<Report>,
}

impl Said {
    fn read(&mut self) -> io::Result<()> {
        while let Some(report) = wire::take(&mut self.came)? {
            match report {
                Report::Held(held) => self.held = Some(held),
                Report::Refused(_) | Report::Ended(_) => self.last = Some(report),
            }
        }
        Ok(())
    }

    fn ending(self) -> Result<(Ending, Aside, Held), RunError> {
        let Ended { ending, aside } = match self.last {
            Some(Report::Ended(ended)) => ended,
            Some(Report::Refused(why)) => return Err(RunError::Refused(why)),
            Some(Report::Held(_)) | None if self.held.is_some() => {
                return Err(RunError::broke("nobody said how it ended"));
            }
            Some(Report::Held(_)) | None => {
                return Err(RunError::Launcher(io::Error::other("it said nothing")));
            }
        };
        match (ending, self.held) {
            (Ok(ending), Some(held)) => Ok((ending, aside, held)),
            (Ok(_), None) => {
                Err(RunError::Broke { why: "nobody said what held".to_owned(), aside })
            }
            (Err(why), _) => Err(RunError::Broke { why, aside }),
        }
    }
}

/// Which of them have something to read, or are at their end.
fn ready<const N: usize>(
    fds: [Option<BorrowedFd<'_>>; N],
    left: Duration,
) -> io::Result<[bool; N]> {
    let there = fds.iter().flatten();
    let mut polled: Vec<PollFd<'_>> =
        there.map(|it| PollFd::from_borrowed_fd(*it, PollFlags::IN)).collect();
    match poll(&mut polled, Timespec::try_from(left).ok().as_ref()) {
        Ok(_) | Err(rustix::io::Errno::INTR) => {}
        Err(error) => return Err(error.into()),
    }
    let mut polled = polled.iter();
    let mut next =
        |fd: &Option<_>| fd.is_some() && polled.next().is_some_and(|it| !it.revents().is_empty());
    Ok(fds.each_ref().map(&mut next))
}

/// Something to read, until it ends.
struct Source<R>(Option<R>);

impl<R: Read + AsFd> Source<R> {
    fn new(from: R) -> Self {
        Self(Some(from))
    }

    fn of(from: Option<R>) -> Self {
        Self(from)
    }

    fn is_open(&self) -> bool {
        self.0.is_some()
    }

    fn fd(&self) -> Option<BorrowedFd<'_>> {
        self.0.as_ref().map(AsFd::as_fd)
    }

    /// Reads what is there, once.
    fn read(&mut self, into: &mut Collected) {
        let Some(from) = &mut self.0 else { return };
        let mut piece = [0; PIECE_BYTES];
        match from.read(&mut piece) {
            Ok(0) => self.0 = None,
            Ok(read) => into.take(piece.get(..read).unwrap_or_default()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => self.0 = None,
        }
    }
}

impl Source<UnixStream> {
    /// Reads what the launcher says and hands over, once.
    fn hear(&mut self, said: &mut Said) {
        let Some(from) = &mut self.0 else { return };
        let mut piece = [0; PIECE_BYTES];
        match wire::receive(from, &mut piece, &mut said.handed) {
            Ok(0) => self.0 = None,
            Ok(read) => said.came.extend_from_slice(piece.get(..read).unwrap_or_default()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => self.0 = None,
        }
    }
}

/// The beginning of what was printed, and how much there was.
#[derive(Default)]
pub(super) struct Collected {
    kept: Vec<u8>,
    bytes: u64,
}

impl Collected {
    /// The beginning of it, as it came.
    pub(super) fn kept(&self) -> &[u8] {
        &self.kept
    }

    /// Is something of it lost?
    pub(super) fn is_cut(&self) -> bool {
        self.bytes > self.kept.len() as u64
    }

    pub(super) fn take(&mut self, piece: &[u8]) {
        self.bytes = self.bytes.saturating_add(piece.len() as u64);
        let room = PRINTED_BYTES_MAX.saturating_sub(self.kept.len()).min(piece.len());
        self.kept.extend_from_slice(piece.get(..room).unwrap_or_default());
    }

    pub(super) fn told(self) -> Printed {
        let dropped_bytes = self.bytes.saturating_sub(self.kept.len() as u64);
        Printed { text: clean(&self.kept), bytes: self.bytes, dropped_bytes }
    }
}
