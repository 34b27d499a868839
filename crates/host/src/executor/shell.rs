//! Commands of agents, each in a cage: the workspace to change, the system to read, no secret that was not granted, and
//! no network, or one that is our proxy.
//!
//! INVARIANT (AbsorbBeforeDeliver): what a command changed is labelled before anything that it printed is told.

mod words;

use std::ffi::OsString;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use aegx::RecordType;
use egress::Rules;
use evidence::{Journal, NewRecord};
use files::Relative;
use gateway::proxy::Outside;
use model::ipc::ShellExec;
use model::{Caller, Kind};
use monitor::{Output, Permit, Status, Words, taint};
use sandbox::cage::{Cage, Ending, FOR_PROGRAMS, Held, Hold, Rung, SYSTEM};
use sandbox::runner::{Aside, Beside, Ran, RunError, Runner, Surroundings};
use scan::boundary::{self, Boundary, Nonce};
use serde_json::{Map, Value, json};
use store::workspace::WorkspaceError;
use vault::environment::{OF_HOST, environment};
use vault::{Keeper, Scope};

use super::file::{WorkspaceFiles, tag_values};
use super::net::{Net, Out};
use crate::aside;
use crate::ipc::Stop;

use words::{Origin, words};

/// What the agent is told where output came from.
const ORIGIN: &str = "shell_exec";

/// Runs commands for one session.
pub struct Shell {
    runner: Runner,
    cage: Cage,
    keys: Option<(Arc<Keeper>, Scope)>,
    journal: Arc<Journal>,
    out: Option<(Outside, Rules)>,
    stop: Option<Stop>,
}

impl Shell {
    /// Commands in a cage that keeps them from `home`, the person's, and from `state`, the host's. Both without links.
    #[must_use]
    pub fn new(home: PathBuf, state: PathBuf, needed: Vec<Rung>, journal: Arc<Journal>) -> Self {
        let cage = Cage { home: Some(home), state: Some(state), needed, ..Cage::default() };
        Self { runner: Runner::default(), cage, keys: None, journal, out: None, stop: None }
    }

    /// With a way to the network, as far as `rules` go.
    #[must_use]
    pub fn with_network(mut self, outside: Outside, rules: Rules) -> Self {
        self.out = Some((outside, rules));
        self
    }

    /// Ends what runs when `stop` is said.
    #[must_use]
    pub fn with_stop(mut self, stop: Stop) -> Self {
        self.stop = Some(stop);
        self
    }

    /// With the keys that grants give to commands.
    #[must_use]
    pub fn with_keys(mut self, keeper: Arc<Keeper>, scope: Scope) -> Self {
        self.keys = Some((keeper, scope));
        self
    }

    /// Made by another launcher than this program.
    #[must_use]
    pub fn with_runner(mut self, runner: Runner) -> Self {
        self.runner = runner;
        self
    }

    pub(super) fn run(
        &self,
        permit: Permit<ShellExec>,
        files: &WorkspaceFiles,
        now: impl Fn() -> i64,
    ) -> Output {
        let mut around = match self.surroundings(&permit, files.root()) {
            Ok(around) => around,
            Err(why) => return Output::not_begun(why),
        };
        // Before it runs: what it reads it may remove.
        let before = match files.before_command() {
            Ok(label) => label,
            Err(why) => return Output::not_begun(format!("the labels of the workspace: {why}")),
        };
        let (who, record, tag) = (permit.who().clone(), permit.record(), permit.tag().cloned());
        let out = match self.out.as_ref().map(|out| Out::open(out, &who, record)).transpose() {
            Ok(out) => out,
            Err(error) => return Output::not_begun(format!("no way to the network: {error}")),
        };
        if let Some(out) = &out {
            around.cage.network = out.network();
        }
        let ran = self.run_beside(permit, around, out.as_ref());
        let net = out.map(Out::end).unwrap_or_default();
        // What it has from the network may be in any file that it wrote.
        let web = net.label(ORIGIN, now());
        let tag = taint::worse(tag.as_ref(), web.as_ref());
        // Also if the cage broke: until then it may have changed something.
        let mark = || files.after_command(&who.session, tag.as_ref(), now());
        let (marked, ended) = match &ran {
            Ok(ran) => {
                let marked = mark();
                let ended = recorded(ran, &net, marked.as_ref().ok().map(|it| it.0));
                (marked, ended)
            }
            Err(error) => match error.aside() {
                Some(aside) => {
                    (mark(), beside_that(json!({ "error": error.to_string() }), aside, &net))
                }
                None => return Output::not_begun(error.to_string()),
            },
        };
        let there = marked.as_ref().ok().and_then(|it| it.1.as_ref());
        let origin = Origin {
            words: words(&ran, &net),
            session: tag,
            there: taint::worse(before.as_ref(), there),
            web,
        };
        let output = match self.journal.append(beside(&who, record, ended)) {
            Ok(_) => after(&ran, &net, marked.map(drop), files.root(), &origin, now()),
            Err(_) => failed("the command ran, and how it ended could not be recorded".to_owned()),
        };
        let there = origin.there.filter(|_| origin.words != Words::Ours);
        let tags = origin.web.into_iter().chain(there).collect();
        Output { tags, words: origin.words, ..output }
    }

    fn run_beside(
        &self,
        permit: Permit<ShellExec>,
        around: Surroundings,
        out: Option<&Out<'_>>,
    ) -> Result<Ran, RunError> {
        let mut answer = out.map(|out| |listener| out.answer(listener));
        let beside = Beside {
            stop: self.stop.as_ref().map(AsFd::as_fd),
            answer: answer.as_mut().map(|it| it as &mut dyn FnMut(_) -> _),
        };
        self.runner.run(permit, around, beside)
    }

    fn surroundings(
        &self,
        permit: &Permit<ShellExec>,
        root: &Path,
    ) -> Result<Surroundings, String> {
        let mut cage = self.cage.clone();
        cage.workspaces = vec![root.to_owned()];
        if let Some(state) = cage.state.as_ref().filter(|it| root.starts_with(it)) {
            // An agent's own workspace lies in the host's state, of which a cage shows nothing else.
            cage.own = Some(root.to_owned());
            if SYSTEM.iter().any(|it| state.starts_with(it)) {
                let why = "commands cannot run in the agent's own workspace: the state directory lies in a folder of the system";
                return Err(why.to_owned());
            }
        }
        let mut directory = root.to_owned();
        if let Some(dir) = &permit.effect().dir {
            let below = Relative::parse(dir.as_str())
                .map_err(|refused| format!("{}: {refused}", refused.rule))?;
            directory = below.under(root);
        }
        Ok(Surroundings { cage, directory, environment: self.environment(permit)? })
    }

    /// From nothing: what every process gets of the host's, and the keys that were granted.
    fn environment(&self, permit: &Permit<ShellExec>) -> Result<Vec<(OsString, OsString)>, String> {
        let own: Vec<(&str, String)> = OF_HOST
            .iter()
            .filter_map(|name| std::env::var(name).ok().map(|value| (*name, value)))
            .collect();
        let keys = match &self.keys {
            Some((keeper, scope)) => {
                keeper.for_command(permit, scope).map_err(|error| error.to_string())?
            }
            None => Vec::new(),
        };
        let made = environment(
            own.iter().map(|(name, value)| (*name, value.as_str())),
            FOR_PROGRAMS
                .iter()
                .copied()
                .chain(keys.iter().map(|(name, secret)| (name.as_str(), secret.reveal(permit)))),
        );
        Ok(made.variables.into_iter().map(|(name, value)| (name.into(), value.into())).collect())
    }
}

/// What the agent is told of a command that has ended, or whose cage broke.
fn after(
    ran: &Result<Ran, RunError>,
    net: &Net,
    marked: Result<(), WorkspaceError>,
    root: &Path,
    origin: &Origin,
    now: i64,
) -> Output {
    // INVARIANT (FailClosed): nothing is told of files whose labels are not known.
    if let Err(why) = marked {
        return failed(format!("the command ran, and its files cannot be labelled: {why}"));
    }
    match ran {
        Ok(ran) if ran.stopped => {
            failed("the host is ending, and the command was ended with it".to_owned())
        }
        Ok(ran) => told(ran, net, root, origin, now).unwrap_or_else(failed),
        Err(error) => match error.aside().map(|it| set_aside(it, root)) {
            Some(Ok(Some(aside))) => failed(format!("{error}\n{aside}")),
            Some(Err(why)) => failed(why),
            Some(Ok(None)) | None => failed(error.to_string()),
        },
    }
}

/// What was printed stands between marks, and carries a label. So does whatever else the command has named.
fn told(ran: &Ran, net: &Net, root: &Path, origin: &Origin, now: i64) -> Result<Output, String> {
    let mut body = Map::new();
    let mut say = |name: &str, value: Value| drop(body.insert(name.to_owned(), value));
    say("durationMs", millis(ran));
    say("held", json!(ran.held.names()));
    if let Some(weaker) = ran.held.weaker() {
        say("weaker", weaker.into());
    }
    for (name, value) in ended(ran.ending, ["exitCode", "signal", "timedOut"]) {
        say(name, value);
    }
    for (name, printed) in [("stdout", &ran.stdout), ("stderr", &ran.stderr)] {
        say(name, marked(&printed.text)?.into());
        if printed.dropped_bytes > 0 {
            say(&format!("{name}DroppedBytes"), printed.dropped_bytes.into());
        }
    }
    if let Some(refused) = net.refused_text() {
        say("networkRefused", marked(&refused)?.into());
    }
    if let Some(aside) = set_aside(&ran.aside, root)? {
        say("setAside", aside.into());
    }
    say("taint", json!(tag_values(origin.shown(now).as_slice())));
    Ok(Output::text(Value::Object(body).to_string()))
}

/// What the command made where it would be obeyed, if it made something.
fn set_aside(aside: &Aside, root: &Path) -> Result<Option<String>, String> {
    if aside.is_empty() {
        return Ok(None);
    }
    marked(&aside::listed(aside, root)).map(Some)
}

fn marked(text: &str) -> Result<String, String> {
    if text.is_empty() {
        return Ok(String::new());
    }
    let mut random = [0; 16];
    getrandom::fill(&mut random).map_err(|error| error.to_string())?;
    Ok(boundary::wrap(Boundary::Tool, ORIGIN, text, &Nonce::new(random)))
}

/// How it ended and what held it; nothing of what it printed.
fn recorded(ran: &Ran, net: &Net, marked: Option<usize>) -> Value {
    let mut content = json!({
        "duration_ms": millis(ran),
        "held": held(&ran.held),
        "stderr_bytes": ran.stderr.bytes,
        "stderr_dropped_bytes": ran.stderr.dropped_bytes,
        "stdout_bytes": ran.stdout.bytes,
        "stdout_dropped_bytes": ran.stdout.dropped_bytes,
    });
    if let Value::Object(fields) = &mut content {
        for (name, value) in ended(ran.ending, ["exit_code", "signal", "timed_out"]) {
            fields.insert(name.to_owned(), value);
        }
        fields.insert("files_marked".to_owned(), json!(marked));
        if ran.stopped {
            fields.insert("stopped".to_owned(), true.into());
        }
    }
    beside_that(content, &ran.aside, net)
}

/// What it made where it would be obeyed, and its network.
fn beside_that(mut content: Value, aside: &Aside, net: &Net) -> Value {
    if let Value::Object(fields) = &mut content {
        if !aside.is_empty() {
            fields.insert("set_aside".to_owned(), aside::recorded(aside));
        }
        if net.was_there {
            fields.insert("network".to_owned(), net.to_json());
        }
    }
    content
}

pub(super) fn held(held: &Held) -> Value {
    let rungs = held.rungs().iter().map(|(rung, hold)| {
        let value = match hold {
            Hold::Held(how) => json!({ "held": true, "how": how }),
            Hold::Missing(why) => json!({ "held": false, "why": why }),
        };
        (rung.as_str().to_owned(), value)
    });
    Value::Object(rungs.collect())
}

fn ended(ending: Ending, names: [&'static str; 3]) -> [(&'static str, Value); 3] {
    let [exited, killed, timed_out] = names;
    let (code, signal, late) = match ending {
        Ending::Exited(code) => (code.into(), Value::Null, false),
        Ending::Killed(signal) => (Value::Null, signal.into(), false),
        Ending::TimedOut => (Value::Null, Value::Null, true),
    };
    [(exited, code), (killed, signal), (timed_out, late.into())]
}

fn millis(ran: &Ran) -> Value {
    u64::try_from(ran.took.as_millis()).unwrap_or(u64::MAX).into()
}

fn beside(who: &Caller, decision: aegx::Digest, content: Value) -> NewRecord {
    let kind = Kind::of_static("shell_ran");
    NewRecord {
        parents: vec![decision],
        session: Some(who.session.clone()),
        agent: Some(who.agent.clone()),
        ..NewRecord::of_host(RecordType::ToolResult, kind, content)
    }
}

fn failed(why: String) -> Output {
    Output { status: Status::Failed, ..Output::text(why) }
}
