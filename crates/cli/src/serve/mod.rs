//! `lazaret serve`: agents over the network, in the process that owns the gate.

mod jobs;
mod personal;
mod rules;
mod served;

use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use ::serve::{Handle, Log, Parts, Server, StartError};
use evidence::SystemClock;
use host::agents::{Agents, AgentsOptions};
use host::channels::Channels;
use host::doors::{self, Doors};
use host::ipc::{Socket, SocketError, Stop};
use host::models::RenewedModels;
use monitor::Approver;

use crate::carrying::Carrying;
use crate::daemon;
use crate::door;
use crate::failure::{Exit, Failure};
use crate::gate::setup::{self, Gate};
use crate::home::Home;
use crate::output;

use personal::Files;
use served::{Commands, Talking};

/// Serve agents over HTTP and WebSocket.
///
/// One process has the gate: this is the daemon with one more door, so hooks, MCP servers and people go on
/// talking to it. Who may come in is said in users.yaml, with tokens of `lazaret access create`; which
/// agents there are, by the folders in agents/; limits and privacy, under `serve` in config.yaml.
///
/// The log is one line of JSON for each event, on stdout. SIGTERM ends it in order, a second one at once;
/// SIGHUP has the files read again, as does every change of them.
///
/// Try it:
///   lazaret serve
///   curl http://127.0.0.1:7717/health
///
/// Exit codes: 0 ended in order, 1 refused (a daemon runs already), 2 files that have to be changed first,
/// 3 could not work.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    #[command(flatten)]
    home: Home,
    /// Where to listen. An address that others reach needs `serve.tls` or `serve.behindProxy`.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:7717")]
    listen: SocketAddr,
    /// End a daemon that runs on the same state directory, in order, and take its place.
    #[arg(long)]
    take_over: bool,
}

/// How often it is looked whether it is to end.
const LOOK: Duration = Duration::from_millis(200);
/// How long whoever looks after workers may still hold the gate.
const LET_GO_WITHIN: Duration = Duration::from_secs(10);

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    crate::proxy::raise_open_files();
    let home = args.home.dir()?;
    files::private::create_dir(&home)
        .map_err(|error| Failure::unable(format!("`{}`: {error}", home.display())))?;
    let signals = Stop::on_signals().map_err(Failure::unable)?;
    if args.take_over {
        daemon::stop(&home)?;
    }
    let socket = match Socket::bind(&doors::socket_path(&home)) {
        Err(SocketError::InUse { .. }) => {
            let why = "a daemon, or another server, runs on this state directory, and one process has the gate: end it with `lazaret daemon stop`, or take its place with `lazaret serve --take-over`";
            return Err(Failure::refused(why));
        }
        socket => socket.map_err(door::not_bound)?,
    };
    let gate = Arc::new(daemon::open(&home)?);
    let control = door::bind(&home)?;
    let outcome = door::beside(control.as_ref(), &gate, &home, || {
        serve_doors(args, &gate, &home, &socket, &signals)
    });
    drop(socket);
    setup::close(gate, LET_GO_WITHIN)?;
    outcome.map(|()| Exit::Done)
}

fn serve_doors(
    args: &Args,
    gate: &Arc<Gate>,
    home: &Path,
    socket: &Socket,
    signals: &Stop,
) -> Result<(), Failure> {
    let settings = host::settings(home).map_err(Failure::usage)?.unwrap_or_default();
    let models = RenewedModels::of(gate, home).map_err(Failure::usage)?.ok_or_else(|| {
        let next = "write `providers: {llm: anthropic}` and `models: {default: anthropic/MODEL}` into config.yaml, or `providers: {llm: mock}` to try it";
        Failure::usage(format!("no model is chosen: {next}"))
    })?;
    let options = AgentsOptions {
        approver: Approver::Reachable,
        workers_max: settings.serve().max_workers.as_len(),
        workers_per_user_max: settings.serve().rate_limits.concurrent_sessions.as_len(),
        ..AgentsOptions::default()
    };
    let agents = Agents::new(Arc::clone(gate), home, Arc::new(models), options)?;
    let channels = Arc::new(Channels::of(gate, home).map_err(Failure::usage)?);
    let parts = Parts {
        home: home.to_owned(),
        runtime: Arc::clone(&agents) as Arc<dyn agent::Runtime>,
        journal: Arc::clone(&gate.journal),
        clock: Arc::new(SystemClock),
        log: Log::to(io::stdout(), Arc::new(SystemClock)).map_err(Failure::unable)?,
        personal: Arc::new(Files::new(gate, home)),
        channels: Some(Arc::clone(&channels)),
    };
    let server = Server::bind(args.listen, parts).map_err(not_started)?;
    let server = server.reading_rules(Arc::new(rules::OfHome::new(gate, home)));
    output::note(&format!("serving http://{}", server.address()));
    let handle = server.handle();
    let carrying = Arc::new(Carrying::of(jobs::of(&agents, home, &handle, &channels)?));
    let (stopper, stop) = Stop::pair().map_err(Failure::unable)?;
    let doors = Doors::new(gate, home, std::env::home_dir(), stop)
        .beside(Arc::new(Commands::new(handle.clone())))
        .talking_by(Arc::new(Talking::new(&agents, handle.clone(), &carrying)));
    let served = thread::scope(|scope| {
        let serving = scope.spawn(|| doors.serve(socket));
        let server = scope.spawn(|| server.run());
        let waited = thread::scope(|scope| {
            scope.spawn(|| carrying.run(&|| Ok(None)));
            let waited = wait(signals, &handle, || {
                doors.sweep();
                serving.is_finished() || server.is_finished()
            });
            carrying.stop();
            end(&handle, || server.is_finished());
            agents.end();
            waited
        });
        carrying.end();
        stopper.stop();
        doors.leave();
        let server = server.join().map_err(|_| Failure::unable("the server broke"))?;
        let serving = serving.join().map_err(|_| Failure::unable("a door broke"))?;
        server.map_err(not_started)?;
        doors.hand_on();
        serving.map_err(Failure::unable)?;
        waited
    });
    drop((doors, handle, carrying, channels));
    served
}

/// Until it is to end.
fn wait(signals: &Stop, handle: &Handle, is_over: impl Fn() -> bool) -> Result<(), Failure> {
    let reload = Stop::reload_on_hangup().map_err(Failure::unable)?;
    while !signals.wait(LOOK) && !is_over() {
        if reload.swap(false, Ordering::AcqRel) {
            // What was wrong is in the log; everything stays as it was.
            let _ = handle.reload();
        }
    }
    Ok(())
}

/// Ends in order; at once, if it is said again.
fn end(handle: &Handle, is_over: impl Fn() -> bool) {
    handle.stop();
    let again = Stop::on_signals();
    let mut said = false;
    while !is_over() {
        let now = match &again {
            Ok(again) => again.wait(LOOK),
            Err(_) => {
                thread::sleep(LOOK);
                false
            }
        };
        if now && !said {
            said = true;
            handle.stop();
        }
        if said {
            thread::sleep(LOOK);
        }
    }
}

fn not_started(error: StartError) -> Failure {
    let usage = matches!(error, StartError::Files(_) | StartError::Exposed(_) | StartError::Tls(_));
    if usage { Failure::usage(error) } else { Failure::unable(error) }
}
