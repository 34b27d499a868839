//! `lazaret daemon`: the process that owns the gate, for all doors at once.

mod jobs;
mod run;
mod settings;

pub(crate) use run::open;

use std::ffi::OsStr;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use clap::Subcommand;
use host::doors::client::{self, Connection};
use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use serde_json::{Value, json};

use crate::failure::{Exit, Failure};
use crate::home::Home;
use crate::output;

/// Start, stop or look at the process that owns the gate.
///
/// One process has the journal, the sessions, the store and the vault; hooks of coding agents, MCP
/// servers, `lazaret ipc` and people talk to it. Whoever needs it starts it, and it ends by itself when
/// nobody has needed it for half an hour: nothing is lost by that, sessions go on as they were. With
/// `scheduler: full` it carries out the jobs that are due, and stays as long as one is to come.
///
/// Try it:
///   lazaret daemon start
///   lazaret daemon status
///
/// Exit codes: 0 done, 1 it is not running (status), 3 it could not be started or stopped.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Start it, unless it is running.
    Start(Common),
    /// End it in order.
    Stop(Common),
    /// End it and start it again, as after an upgrade.
    Restart(Common),
    /// Say what it does.
    Status(Common),
    Run(run::Args),
}

#[derive(clap::Args)]
pub(crate) struct Common {
    #[command(flatten)]
    home: Home,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// How long it may take to start or to end.
const WAIT_MAX: Duration = Duration::from_secs(15);
/// How often it is looked whether it has.
const LOOK: Duration = Duration::from_millis(3);

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    match &args.command {
        Command::Start(args) => {
            let home = args.home.dir()?;
            let was_there = start(&home)?;
            tell(args, if was_there { "running already" } else { "started" }, &home);
            Ok(Exit::Done)
        }
        Command::Stop(args) => {
            let home = args.home.dir()?;
            let was_there = stop(&home)?;
            tell(args, if was_there { "ended" } else { "was not running" }, &home);
            Ok(Exit::Done)
        }
        Command::Restart(args) => {
            let home = args.home.dir()?;
            stop(&home)?;
            start(&home)?;
            tell(args, "started again", &home);
            Ok(Exit::Done)
        }
        Command::Status(args) => status(args),
        Command::Run(args) => run::run(args),
    }
}

fn tell(args: &Common, what: &str, home: &Path) {
    if args.json {
        output::json(&json!({ "daemon": what, "home": home.display().to_string() }));
    }
    output::told(args.json, &format!("the daemon: {what}"));
}

/// Starts the daemon on `home` and waits until it answers. Answers whether it was there already.
pub(crate) fn start(home: &Path) -> Result<bool, Failure> {
    if is_there(home)? {
        return Ok(true);
    }
    // A name that others resolve from elsewhere.
    files::private::create_dir(home)
        .map_err(|error| Failure::unable(format!("`{}`: {error}", home.display())))?;
    let home = files::resolved(home).map_err(Failure::unable)?;
    start_by(&std::env::current_exe().map_err(Failure::unable)?, &home, None)
}

/// The same by this program, where none is there; it ends when nobody needed it for `idle`.
fn start_by(program: &Path, home: &Path, idle: Option<Duration>) -> Result<bool, Failure> {
    let idle = idle.map(|it| format!("--idle={}", it.as_secs()));
    let args = ["daemon", "run", "--home"].map(OsStr::new).into_iter();
    let args = args.chain([home.as_os_str()]).chain(idle.as_deref().map(OsStr::new));
    sandbox::detached(program, &args.collect::<Vec<_>>())
        .map_err(|error| Failure::unable(format!("`{}`: {error}", program.display())))?;
    let end = Instant::now() + WAIT_MAX;
    while Instant::now() < end {
        if is_there(home)? {
            return Ok(false);
        }
        if let Some(why) = run::failure(home) {
            return Err(Failure::unable(format!("the daemon did not start: {why}")));
        }
        thread::sleep(LOOK);
    }
    let next = "see what it says with `lazaret daemon run`";
    Err(Failure::unable(format!("the daemon does not answer; {next}")))
}

/// Ends the daemon on `home`. Answers whether it was there.
pub(crate) fn stop(home: &Path) -> Result<bool, Failure> {
    let Some(connection) = connect(home)? else { return Ok(false) };
    let pid =
        connection.pid().ok_or_else(|| Failure::unable("whose process it is is not known"))?;
    kill_process(pid, Signal::TERM).map_err(Failure::unable)?;
    drop(connection);
    let end = Instant::now() + WAIT_MAX;
    while Instant::now() < end {
        // Whoever ends may still hold the socket for a moment; the process is what counts.
        if has_ended(pid) {
            return Ok(true);
        }
        thread::sleep(LOOK);
    }
    Err(Failure::unable(format!("the daemon, process {pid:?}, does not end")))
}

/// Is the process over? One that nobody has taken note of yet is.
fn has_ended(pid: Pid) -> bool {
    let about = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero()));
    let state = about.ok().and_then(|it| it.rsplit(')').next()?.trim().chars().next());
    state == Some('Z') || test_kill_process(pid).is_err()
}

fn connect(home: &Path) -> Result<Option<Connection>, Failure> {
    Connection::open(home, "status", &[]).map_err(Failure::unable)
}

/// Does a daemon answer?
fn is_there(home: &Path) -> Result<bool, Failure> {
    Ok(said(home)?.is_some())
}

/// What the daemon says of itself, if one is there.
pub(crate) fn said(home: &Path) -> Result<Option<Value>, Failure> {
    client::status(home).map_err(|error| Failure::unable(format!("the daemon: {error}")))
}

fn status(args: &Common) -> Result<Exit, Failure> {
    let Some(said) = said(&args.home.dir()?)? else {
        if args.json {
            output::json(&json!({ "running": false }));
        }
        output::told(args.json, "the daemon is not running; whoever needs it starts it");
        return Ok(Exit::Refused);
    };
    if args.json {
        let mut said = said;
        if let Some(fields) = said.as_object_mut() {
            fields.insert("running".to_owned(), true.into());
        }
        output::json(&said);
        return Ok(Exit::Done);
    }
    let number = |path: &str| said.pointer(path).and_then(Value::as_u64).unwrap_or(0);
    let told = format!(
        "running: process {}, for {} s; {}, {} of hooks, {} under way",
        number("/pid"),
        number("/uptime"),
        output::count(number("/connections"), "connection"),
        output::count(number("/hooks/sessions"), "session"),
        output::count(number("/hooks/waiting"), "call"),
    );
    output::told(false, &told);
    Ok(Exit::Done)
}
