//! `lazaret chat`: a conversation with an agent at the terminal.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use agent::{Frame, Question, Turn};
use host::AdmissionError;
use host::agents::{Account, AgentsOptions, DEFAULT_AGENT, new_session};
use host::ipc::Stop;
use model::{AgentId, Caller, Kind, Profile, SessionId, UserId};
use monitor::Approver;

use super::host::say_if_mock;
use super::ledger::Run;
use super::once;
use super::place::Place;
use super::screen::{self, Input};
use super::speaks::{Speaks, Untold, request};
use crate::failure::{Exit, Failure};
use crate::home::Home;
use crate::output::{self, Paint};

/// How often it is looked whether there is a question.
const TICK: Duration = Duration::from_millis(100);

/// Frames that wait to be shown; whoever has more to say waits, too.
const FRAMES_MAX: usize = 1024;

/// Speak with an agent.
///
/// Write a line and press Enter. What the agent answers comes as it is written; calls of tools are shown in one line
/// each. Where the gate asks a person, it asks you, here. Ctrl-C interrupts the agent, twice the
/// conversation; Ctrl-D, or `/quit`, ends.
///
/// Where the daemon or `lazaret serve` has the gate, the agent runs there; where another command has it, this one waits
/// for it, 15 minutes at most.
/// With --resume a conversation goes on: by its name, or the last one of this agent.
///
/// Exit codes: 0 ended in order, 1 refused, 2 wrong usage or broken files, 3 could not work.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    #[command(flatten)]
    home: Home,
    /// Which agent.
    #[arg(long, default_value = DEFAULT_AGENT, value_parser = AgentId::parse)]
    agent: AgentId,
    /// For whom.
    #[arg(long, default_value = "me", value_parser = UserId::parse)]
    user: UserId,
    /// Go on with a session: its name, or `#1` for the last one, `#2` for the one before.
    #[arg(long, value_name = "SESSION", num_args = 0..=1, default_missing_value = "#1")]
    resume: Option<String>,
    /// How careful a new session is: paranoid, standard or yolo; never less than the settings say [default: as they say]
    #[arg(long, value_parser = |it: &str| Profile::parse(it))]
    profile: Option<Profile>,
    /// The directory in which the agent works [default: its own, in the state directory]
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,
    /// Work in a new, empty directory that is removed when the session ends.
    #[arg(long, conflicts_with = "workspace")]
    ephemeral: bool,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    let home = args.home.dir()?;
    let session = session(args, &home)?;
    let options = AgentsOptions {
        profile: args.profile,
        approver: Approver::Reachable,
        workspace: args.workspace.clone(),
        ephemeral: args.ephemeral,
        workers_max: workers_of_one_session(&home)?,
        ..AgentsOptions::default()
    };
    let turn = Turn {
        user: args.user.as_str().to_owned(),
        agent: args.agent.as_str().to_owned(),
        session: session.as_str().to_owned(),
        content: String::new(),
        voice: agent::Voice::User,
        earlier: None,
        local: true,
        stop: Arc::default(),
    };
    admitted(&home, args, &session)?;
    let stop = || Stop::on_signals().map_err(Failure::unable);
    let hint = || output::hint(&format!("session {session}; Ctrl-D ends"));
    let asked = request(&turn, &options)?;
    let host = match Place::find(&home, &asked, &options)? {
        Place::Beside(beside) => {
            say_if_mock(beside.is_mock);
            hint();
            talk(&*beside, &turn, stop()?, &home)?;
            return Ok(Exit::Done);
        }
        Place::Here(host) => host,
    };
    say_if_mock(host.is_mock);
    // The gate makes the state directory private; a door in one that is not would be refused.
    let control = crate::door::bind(&home);
    hint();
    let talked = control.and_then(|control| {
        let stop = stop()?;
        host.beside(control.as_ref(), || talk(&*host, &turn, stop, &home))
    });
    let closed = host.close();
    talked?;
    closed?;
    Ok(Exit::Done)
}

/// Is there such an agent, and may the user use it? Said before anybody types.
fn admitted(home: &Path, args: &Args, session: &SessionId) -> Result<(), Failure> {
    let who = Caller {
        session: session.clone(),
        user: args.user.clone(),
        agent: args.agent.clone(),
        door: Kind::of_static("worker"),
    };
    host::admission(home, &who, &[]).map(drop).map_err(|error| {
        let is_refused =
            matches!(error, AdmissionError::NotOpen(_) | AdmissionError::UnknownUser { .. });
        if is_refused { Failure::refused(error) } else { Failure::usage(error) }
    })
}

/// Workers of one session: its own, and one for each sub-agent that may run beneath it, however deep.
fn workers_of_one_session(home: &Path) -> Result<usize, Failure> {
    let settings = host::settings(home).map_err(Failure::usage)?.unwrap_or_default();
    Ok(settings.delegation().max_concurrent.saturating_add(1))
}

/// Which session: a new one, one by its name, or one of the last.
fn session(args: &Args, home: &Path) -> Result<SessionId, Failure> {
    let Some(resume) = &args.resume else { return new_session().map_err(Failure::unable) };
    let Some(number) = resume.strip_prefix('#') else {
        return SessionId::parse(resume).map_err(Failure::usage);
    };
    let back: usize = number.parse().ok().filter(|it| *it > 0).ok_or_else(|| {
        Failure::usage("--resume takes the name of a session, or `#1` for the last one")
    })?;
    let found = super::ledger::sessions(home, args.user.as_str(), args.agent.as_str())?;
    let session = found.iter().rev().nth(back - 1);
    let session = session.ok_or_else(|| Failure::usage("there is no such session"))?;
    SessionId::parse(session).map_err(Failure::usage)
}

fn talk(agents: &dyn Speaks, first: &Turn, stop: Stop, home: &Path) -> Result<(), Failure> {
    let is_terminal = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    let mut input = Input::new(is_terminal);
    let mut stop = stop;
    let at_once = Stop::at_once(Exit::Unable as u8).map_err(Failure::unable)?;
    loop {
        let line = input.line(&stop).map_err(Failure::unable)?;
        let Some(line) = line else { return Ok(()) };
        let line = line.trim();
        match line {
            "" => continue,
            "/quit" | "/exit" => return Ok(()),
            _ => {}
        }
        let turn = Turn { content: line.to_owned(), stop: Arc::default(), ..first.clone() };
        let begun = Instant::now();
        let (outcome, heard) = one(agents, &turn, (&stop, &at_once), is_terminal)?;
        at_once.store(false, Ordering::Release);
        let exit = outcome.as_ref().map_or_else(|it| it.exit, once::exit_of);
        let usage = outcome.as_ref().map_or_else(|it| it.usage, |it| it.reply.usage);
        let denied = outcome.as_ref().map_or_else(|it| &it.denied, |it| &it.denied);
        Run { turn: &turn, exit, took: begun.elapsed(), usage, denied }.append(home)?;
        match &outcome {
            Ok(account) if account.reply.interrupted => output::line("\n(interrupted)"),
            Ok(_) => output::line(""),
            Err(error) => {
                output::error(&error.message);
                true
            }
        };
        let notes = outcome.as_ref().map_or_else(|it| &it.notes, |it| &it.notes);
        notes.iter().for_each(|it| output::note(it));
        denied.iter().for_each(|it| once::denied(it));
        let near = outcome.iter().flat_map(|it| &it.near);
        near.for_each(|it| output::note(&format!("budget: {it}")));
        if heard {
            // One word of the system interrupts one turn; without a terminal it ends the conversation.
            if !is_terminal {
                return Ok(());
            }
            stop = Stop::on_signals().map_err(Failure::unable)?;
        }
    }
}

/// One turn: the agent works in a thread, frames and questions are shown here. Tells whether somebody interrupted it.
fn one(
    agents: &dyn Speaks,
    turn: &Turn,
    (stop, at_once): (&Stop, &AtomicBool),
    is_terminal: bool,
) -> Result<(Result<Account, Untold>, bool), Failure> {
    let (says, frames) = mpsc::sync_channel(FRAMES_MAX);
    thread::scope(|scope| {
        let working =
            thread::Builder::new().name("turn".to_owned()).spawn_scoped(scope, move || {
                let mut show = |frame| {
                    // Whoever looks may have gone.
                    let _ = says.send(frame);
                };
                agents.account(turn, &mut show)
            });
        let working = working.map_err(Failure::unable)?;
        let (mut shown, mut heard) = (Shown::default(), false);
        loop {
            match frames.recv_timeout(TICK) {
                Ok(frame) => shown.frame(frame),
                Err(RecvTimeoutError::Timeout) => {
                    for question in agents.questions(turn) {
                        answer(agents, turn, &question, stop, is_terminal);
                    }
                }
                Err(RecvTimeoutError::Disconnected) => break,
            }
            if !heard && stop.wait(Duration::ZERO) {
                heard = true;
                // Whoever does not want to wait for its end says so once more.
                at_once.store(true, Ordering::Release);
                agents.interrupt(turn);
            }
        }
        let outcome = working.join().map_err(|_| Failure::unable("the turn broke off"))?;
        Ok((outcome, heard))
    })
}

/// Asks the person. Where nobody sits at the terminal, the answer is no.
fn answer(agents: &dyn Speaks, turn: &Turn, question: &Question, stop: &Stop, is_terminal: bool) {
    output::line("");
    question.shown.iter().for_each(|it| output::note(it));
    let approved = is_terminal && {
        output::note("Type `yes` to let it happen, anything else to refuse it:");
        let line = Input::answer(stop);
        matches!(line, Ok(Some(word)) if word.trim() == "yes")
    };
    let done = agents.approve(turn, &question.tool_id, approved);
    output::note(match (approved, done) {
        (true, true) => "allowed, once",
        (false, true) => "refused",
        (_, false) => "it does not wait for an answer any more",
    });
}

/// What of a turn is on the screen.
#[derive(Default)]
struct Shown {
    /// Is the last line not ended?
    open: bool,
}

impl Shown {
    fn frame(&mut self, frame: Frame) {
        let paint = Paint::for_stdout();
        match frame {
            Frame::Token { text, .. } => {
                screen::piece(&text);
                self.open = true;
            }
            Frame::ToolUseStart { tool_name, .. } => {
                self.line(&paint.faint(&format!("· {}", plain(&tool_name))))
            }
            Frame::ToolResult { content, .. } => {
                let first = content.lines().next().unwrap_or_default();
                let first: String = plain(first).chars().take(SHOWN_CHARS).collect();
                self.line(&paint.faint(&format!("  → {first}")));
            }
            Frame::SubagentStarted { description, .. } => {
                self.line(&paint.faint(&format!("· sub-agent: {}", plain(&description))));
            }
            Frame::SubagentDone { summary, .. } => {
                let first: String = plain(&summary).chars().take(SHOWN_CHARS).collect();
                self.line(&paint.faint(&format!("  → {first}")));
            }
            Frame::Status { .. }
            | Frame::ThinkingToken { .. }
            | Frame::ToolUseInput { .. }
            | Frame::SubagentProgress { .. } => {}
        }
    }

    fn line(&mut self, text: &str) {
        if std::mem::take(&mut self.open) {
            output::line("");
        }
        output::line(text);
    }
}

/// Characters of a result that are shown.
const SHOWN_CHARS: usize = 100;

/// A text on one line.
fn plain(text: &str) -> String {
    agent::clean(text, SHOWN_CHARS * 2).replace(['\n', '\t'], " ")
}
