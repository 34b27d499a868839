//! The daemon itself.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use host::doors::{self, Doors, Talks};
use host::ipc::{Socket, SocketError, Stop};

use super::jobs::{self, Stay};
use super::settings::Started;
use crate::carrying::{Carrying, is_wanted};
use crate::door;
use crate::failure::{Exit, Failure};
use crate::gate::setup::{self, Gate};
use crate::home::Home;
use crate::output;
use crate::talk::host::OnDemand;

/// Be the daemon, here, until it is told to end.
///
/// This is what `start` starts, without a terminal. Run it yourself to see what it says, or under a
/// supervisor (`--idle 0` never ends by itself).
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    home: Home,
    /// End when nobody has needed it for so many seconds; 0 never.
    #[arg(long, value_name = "SECONDS", default_value_t = IDLE_SECONDS)]
    idle: u64,
}

/// When a daemon ends that nobody needs.
const IDLE_SECONDS: u64 = 1800;
/// How often it is looked whether it is to end.
const LOOK: Duration = Duration::from_secs(1);
/// How long an upgrade, or other settings, wait for calls that are under way.
const DRAIN_MAX: Duration = Duration::from_secs(600);
/// How long they wait for calls of hooks, too, whose results the next daemon knows as well.
const HOOKS_MAX: Duration = Duration::from_secs(60);
/// How long what is new waits while others may end. Hooks wait for 5 s.
const REST_MAX: Duration = Duration::from_millis(1500);
/// How often that is tried.
const REST_EVERY: Duration = Duration::from_secs(10);
/// How long the daemon before this one may take to let go of its socket.
const SOCKET_WAIT: Duration = Duration::from_secs(10);
/// How long another command may have the journal.
const JOURNAL_WAIT: Duration = Duration::from_secs(3);
/// How long whoever looks after workers may still hold the gate.
const LET_GO_WITHIN: Duration = Duration::from_secs(10);
const JOURNAL_LOOK: Duration = Duration::from_millis(10);
/// Why the last start came to nothing, for whoever waits for it.
const FAILURE: &str = "daemon.failed";
/// The longest such sentence, in bytes.
const FAILURE_BYTES_MAX: u64 = 4096;

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    // Whoever started it may end, and its terminal with it. It fails where it is so already.
    let _ = rustix::process::setsid();
    crate::proxy::raise_open_files();
    let home = args.home.dir()?;
    let signals = Stop::on_signals().map_err(Failure::unable)?;
    let idle = Duration::from_secs(args.idle);
    let done = serve(&home, idle, &signals);
    let path = home.join(FAILURE);
    // For people; nothing depends on it.
    let _ = match &done {
        Ok(_) => files::private::remove(&path),
        Err(failure) => files::private::replace(&path, failure.message().as_bytes()),
    };
    // Jobs do not wait for somebody to need the next daemon. Under a supervisor that one is started anyway.
    if let End::Other(program) = done?
        && !idle.is_zero()
        && is_wanted(&home)
    {
        super::start_by(&program, &home, Some(idle))?;
    }
    Ok(Exit::Done)
}

/// Why a daemon has ended.
enum End {
    /// Nobody needs it, somebody said so, or another one is there.
    Over,
    /// Its program, or its settings, are others now.
    Other(PathBuf),
}

/// Why a daemon that was just started has ended, if it has.
pub(super) fn failure(home: &Path) -> Option<String> {
    let path = home.join(FAILURE);
    let said = files::private::read_if_there(&path, FAILURE_BYTES_MAX).ok().flatten()?;
    let _ = files::private::remove(&path);
    Some(String::from_utf8_lossy(&said).into_owned())
}

fn serve(home: &Path, idle: Duration, signals: &Stop) -> Result<End, Failure> {
    files::private::create_dir(home)
        .map_err(|error| Failure::unable(format!("`{}`: {error}", home.display())))?;
    let Some(socket) = bind(home)? else { return Ok(End::Over) };
    let gate = Arc::new(open(home)?);
    let control = door::bind(home)?;
    let outcome = door::beside(control.as_ref(), &gate, home, || {
        serve_doors(&gate, home, &socket, idle, signals)
    });
    drop(socket);
    setup::close(gate, LET_GO_WITHIN)?;
    outcome
}

/// The socket; none if another daemon was quicker. One that is about to end does not answer, and is waited for.
fn bind(home: &Path) -> Result<Option<Socket>, Failure> {
    let end = Instant::now() + SOCKET_WAIT;
    loop {
        match Socket::bind(&doors::socket_path(home)) {
            Err(SocketError::InUse { .. }) => match doors::client::status(home) {
                Ok(None) if Instant::now() < end => thread::sleep(JOURNAL_LOOK),
                _ => return Ok(None),
            },
            socket => return socket.map(Some).map_err(door::not_bound),
        }
    }
}

/// The gate, once whoever has the journal for a moment has let it go.
pub(crate) fn open(home: &Path) -> Result<Gate, Failure> {
    let end = Instant::now() + JOURNAL_WAIT;
    loop {
        let (policy, catalogue) = setup::rules_of(home, None)?;
        match Gate::open_with_keys(home, policy, catalogue, |_, _| ()) {
            Err(host::GateError::Busy(_)) if Instant::now() < end => thread::sleep(JOURNAL_LOOK),
            gate => return Ok(gate?),
        }
    }
}

fn serve_doors(
    gate: &Arc<Gate>,
    home: &Path,
    socket: &Socket,
    idle: Duration,
    signals: &Stop,
) -> Result<End, Failure> {
    let (stopper, stop) = Stop::pair().map_err(Failure::unable)?;
    let carrying = Arc::new(Carrying::default());
    let talks = Arc::new(OnDemand::new(Arc::clone(gate), home, &carrying));
    let talking = Arc::clone(&talks) as Arc<dyn Talks>;
    let doors = Doors::new(gate, home, std::env::home_dir(), stop).talking_by(talking);
    let started = Started::now(home);
    let program = std::env::current_exe().map_err(Failure::unable)?;
    output::note(&format!("the daemon serves {}", socket.path().display()));
    thread::scope(|scope| {
        let serving = scope.spawn(|| doors.serve(socket));
        scope.spawn(|| carrying.run(&|| jobs::of(&talks, home)));
        let (mut upgraded, mut stay): (Option<Upgrade>, _) = (None, Stay::default());
        let mut end = End::Over;
        while !signals.wait(LOOK) {
            doors.sweep();
            let quiet = doors.idle_for();
            if !idle.is_zero() && quiet >= idle && !stay.is_wanted(home) {
                break;
            }
            if upgraded.is_none() && started.is_other(home) {
                upgraded = Some(Upgrade { since: Instant::now(), tried: None });
            }
            // Whoever comes next starts the new one, or we do, for jobs.
            if upgraded.as_mut().is_some_and(|it| it.may_end(&doors, &carrying)) {
                end = End::Other(program.clone());
                break;
            }
            if serving.is_finished() {
                break;
            }
        }
        carrying.stop();
        stopper.stop();
        doors.leave();
        let served = serving.join();
        talks.end();
        carrying.end();
        doors.hand_on();
        served.map_err(|_| Failure::unable("a door broke"))?.map_err(Failure::unable)?;
        Ok(end)
    })
}

/// The program or its settings are others since a while.
struct Upgrade {
    since: Instant,
    /// When it was tried last whether nothing is under way.
    tried: Option<Instant>,
}

impl Upgrade {
    /// May this daemon end now? What is under way ends in peace, within bounds.
    fn may_end(&mut self, doors: &Doors<'_>, carrying: &Carrying) -> bool {
        let nothing_runs = carrying.rest();
        if self.since.elapsed() >= DRAIN_MAX {
            return true;
        }
        if !nothing_runs {
            return false;
        }
        if self.tried.is_some_and(|it| it.elapsed() < REST_EVERY) && doors.is_busy() {
            return false;
        }
        self.tried = Some(Instant::now());
        doors.rest(REST_MAX, self.since.elapsed() < HOOKS_MAX)
    }
}
