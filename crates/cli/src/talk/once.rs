//! `lazaret run`: one turn of an agent, without anybody at the terminal.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use agent::{Frame, Reached, Turn};
use clap::builder::NonEmptyStringValueParser;
use host::agents::{Account, AgentsOptions, new_session};
use host::ipc::Stop;
use model::{AgentId, Profile, SessionId, UserId};
use monitor::Approver;
use serde_json::{Value, json};

use super::host::say_if_mock;
use super::ledger::Run;
use super::place::Place;
use super::speaks::{Speaks, Untold, request};
use crate::failure::{Exit, Failure};
use crate::home::Home;
use crate::output;

/// How often it is looked whether somebody ends the command, or the turn is over.
const TICK: Duration = Duration::from_millis(20);

/// Let an agent do something, and print its answer.
///
/// The agent's loop runs in a process of its own, in a cage, without network, keys or the state directory. Every call
/// of a tool passes the gate, and so does every question to a model. Nobody is asked: what needs a person is not done,
/// and the exit code says so.
///
/// AGENT is a folder of agents/ in the state directory; where there is none, it is `main`. Which model answers is said
/// by `models` in config.yaml; where nothing is said, the mock provider answers.
///
/// Where the daemon or `lazaret serve` has the gate, the agent runs there; where another command has it, this one waits
/// for it, 15 minutes at most. With --session a conversation goes on. One line about each run is appended to runs.jsonl in the state directory.
///
/// Try it:
///   lazaret run main "What can you do?"
///   lazaret run main "And then?" --session s1 --json
///
/// Exit codes: 0 answered, 1 refused, a call was denied, or one needs a person (the answer is printed all the same),
/// 2 wrong usage, broken files, or a key that the provider does not take, 3 could not work (no worker, no model, a journal
/// that another command has open), or was interrupted by SIGINT or SIGTERM; the second one ends it at once.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    #[command(flatten)]
    home: Home,
    /// Which agent.
    #[arg(value_parser = AgentId::parse)]
    agent: AgentId,
    /// What you say.
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    message: String,
    /// For whom.
    #[arg(long, default_value = "me", value_parser = UserId::parse)]
    user: UserId,
    /// A session to go on with, or the name of a new one.
    #[arg(long, value_parser = SessionId::parse)]
    session: Option<SessionId>,
    /// How careful a new session is: paranoid, standard or yolo; never less than the settings say [default: as they say]
    #[arg(long, value_parser = |it: &str| Profile::parse(it))]
    profile: Option<Profile>,
    /// The directory in which the agent works [default: its own, in the state directory]
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,
    /// Work in a new, empty directory that is removed when the session ends.
    #[arg(long, conflicts_with = "workspace")]
    ephemeral: bool,
    /// What it may cost, in dollars; needs prices in config.yaml.
    #[arg(long, value_name = "DOLLARS", value_parser = micro_dollars)]
    max_cost: Option<u64>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// Micro-dollars of an amount of dollars.
fn micro_dollars(text: &str) -> Result<u64, String> {
    let amount: f64 = text.parse().map_err(|_| "an amount of dollars, such as 0.50".to_owned())?;
    if !(0.0..=1e9).contains(&amount) {
        return Err("an amount of dollars between 0 and a billion".to_owned());
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "within bounds, as was seen"
    )]
    let micro = (amount * 1e6).floor() as u64;
    Ok(micro)
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    let home = args.home.dir()?;
    let session = match &args.session {
        Some(session) => session.clone(),
        None => new_session().map_err(Failure::unable)?,
    };
    let turn = Turn {
        user: args.user.as_str().to_owned(),
        agent: args.agent.as_str().to_owned(),
        session: session.as_str().to_owned(),
        content: args.message.clone(),
        voice: agent::Voice::User,
        earlier: None,
        local: true,
        stop: Arc::default(),
    };
    let options = AgentsOptions {
        profile: args.profile,
        approver: Approver::Absent,
        workspace: args.workspace.clone(),
        ephemeral: args.ephemeral,
        cost_max: args.max_cost,
        ..AgentsOptions::default()
    };
    let begun = Instant::now();
    let (outcome, closed) = match Place::find(&home, &request(&turn, &options)?, &options)? {
        Place::Beside(beside) => {
            say_if_mock(beside.is_mock);
            (said(&*beside, &turn), Ok(()))
        }
        Place::Here(host) => {
            say_if_mock(host.is_mock);
            let outcome = crate::door::bind(&home)
                .and_then(|control| host.beside(control.as_ref(), || said(&*host, &turn)));
            (outcome, host.close())
        }
    };
    let took = begun.elapsed();
    let exit = match &outcome? {
        Ok(account) => {
            let exit = exit_of(account);
            told(args, &turn, account, exit);
            let (usage, denied) = (account.reply.usage, account.denied.as_slice());
            Run { turn: &turn, exit, took, usage, denied }.append(&home)?;
            exit
        }
        Err(error) => {
            let (exit, usage, denied) = (error.exit, error.usage, error.denied.as_slice());
            Run { turn: &turn, exit, took, usage, denied }.append(&home)?;
            untold(args, &turn, error, exit);
            exit
        }
    };
    closed?;
    Ok(exit)
}

/// What a turn comes to, for scripts.
pub(super) fn exit_of(account: &Account) -> Exit {
    match account.reply.interrupted {
        true => Exit::Unable,
        false if account.needs_person || !account.denied.is_empty() => Exit::Refused,
        false => Exit::Done,
    }
}

/// Has the agent answer. Whoever ends the command in order ends the turn, and what it used is known all the same; whoever does so
/// twice ends the command at once.
fn said(agents: &dyn Speaks, turn: &Turn) -> Result<Result<Account, Untold>, Failure> {
    let at_once = Stop::at_once(Exit::Unable as u8).map_err(Failure::unable)?;
    let stop = Stop::on_signals().map_err(Failure::unable)?;
    thread::scope(|scope| {
        let spawned = thread::Builder::new().name("turn".to_owned());
        let answers = || agents.account(turn, &mut |_: Frame| {});
        let answering = spawned.spawn_scoped(scope, answers).map_err(Failure::unable)?;
        while !answering.is_finished() {
            if stop.wait(TICK) {
                at_once.store(true, Ordering::Release);
                agents.interrupt(turn);
                break;
            }
        }
        answering.join().map_err(|_| Failure::unable("the turn broke off"))
    })
}

fn told(args: &Args, turn: &Turn, account: &Account, exit: Exit) {
    let reply = &account.reply;
    if args.json {
        let calls = reply.tool_calls.iter();
        let calls: Vec<_> =
            calls.map(|(name, status)| json!({ "name": name, "status": status })).collect();
        output::json(&json!({
            "session": turn.session,
            "answer": reply.content,
            "interrupted": reply.interrupted,
            "usage": reply.usage,
            "calls": calls,
            "denied": account.denied,
            "notes": account.notes,
            "budget_warning": account.near.iter().map(near).collect::<Vec<_>>(),
            "exit": exit as u8,
        }));
        return;
    }
    output::line(&agent::clean(&reply.content, usize::MAX));
    if reply.interrupted {
        output::note("(interrupted: the answer is not whole)");
    }
    account.notes.iter().for_each(|it| output::note(it));
    account.near.iter().for_each(|it| output::note(&format!("budget: {it}")));
    account.denied.iter().for_each(|it| denied(it));
    if account.needs_person {
        output::note("something needs a person: `lazaret chat` asks you");
    }
    if !args.ephemeral {
        output::hint(&format!("go on with --session {}", turn.session));
    }
}

fn untold(args: &Args, turn: &Turn, error: &Untold, exit: Exit) {
    if args.json {
        let session = &turn.session;
        let mut shown = json!({
            "session": session, "error": error.message, "code": error.code, "usage": error.usage,
            "denied": error.denied, "notes": error.notes, "exit": exit as u8,
        });
        if let (Some(it), Some(shown)) = (&error.exceeded, shown.as_object_mut()) {
            shown.insert("budget_exceeded".to_owned(), exceeded(it));
        }
        output::json(&shown);
    } else {
        output::error(&error.message);
        error.notes.iter().for_each(|it| output::note(it));
        error.denied.iter().for_each(|it| denied(it));
    }
}

/// Says that a call was denied.
pub(super) fn denied(rule: &str) {
    output::note(&format!("not allowed: {rule}"));
}

/// A limit of which much is used, as a server tells it.
fn near(it: &Reached) -> Value {
    json!({
        "budget": it.budget, "limit": it.limit, "used": it.used, "unit": it.unit,
        "percentage": it.percentage(),
    })
}

/// A limit that is reached, as a server tells it.
fn exceeded(it: &Reached) -> Value {
    json!({
        "reason": it.budget, "limit": it.limit, "used": it.used, "unit": it.unit,
        "resetsAt": it.resets_at,
    })
}
