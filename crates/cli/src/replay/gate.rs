//! The gate that a trace is driven through: the real one, on a state of its own.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::PathBuf;

use aegx::{Digest, Principal};
use evidence::{Clock, Durability, SystemClock};
use host::workspace::Workspace;
use model::ipc::{ActionName, Role};
use model::{Caller, EffectKind, Kind, Profile, RawCall, SessionId, Source, ToolDef};
use monitor::{Approver, Asked, Begun, Heard, Opening, Output, Refusal, Status, Verdict, Words};
use store::Turns;

use super::Args;
use super::event::{Confirmed, Event};
use super::lines::{Summary, VerdictLine};
use crate::failure::Failure;
use crate::gate::setup;
use crate::visit;

/// The gate and what the trace has told it so far.
pub(crate) struct Gate {
    gate: host::Gate,
    /// Where the agents work.
    workspace: Option<Workspace>,
    /// Where the state lies, and the files by which sessions are admitted.
    home: PathBuf,
    profile: Profile,
    approver: Approver,
    callers: HashMap<SessionId, Caller>,
    /// The tools that each session was given.
    tools: HashMap<SessionId, HashSet<String>>,
    /// Calls that were let through and have not come back.
    begun: HashMap<(SessionId, String), Begun>,
    /// Calls that were stopped, for a person who says yes to one.
    stopped: HashMap<(SessionId, String), (EffectKind, Verdict)>,
    summary: Summary,
    /// Removed at the end, if the state is nobody's to keep.
    temporary: Option<Temporary>,
}

/// Why a trace cannot go on.
pub(crate) enum Stop {
    /// The trace is wrong.
    Trace(String),
    /// The gate does not work.
    Gate(String),
    /// The workspace.
    Visit(Failure),
}

impl Stop {
    pub(crate) fn at_line(self, number: u64) -> Failure {
        match self {
            Self::Trace(what) => Failure::usage(format!("line {number} of the trace: {what}")),
            Self::Gate(what) => Failure::unable(format!("line {number} of the trace: {what}")),
            Self::Visit(failure) => failure,
        }
    }

    fn at_the_end(self) -> Failure {
        match self {
            Self::Trace(what) => Failure::usage(what),
            Self::Gate(what) => Failure::unable(what),
            Self::Visit(failure) => failure,
        }
    }
}

impl Gate {
    pub(crate) fn open(args: &Args) -> Result<Self, Failure> {
        let temporary = args.home.is_none().then(Temporary::name);
        let own = temporary.as_ref().map(|it| &it.0);
        let home = args.home.as_ref().or(own).cloned().unwrap_or_default();
        let durability =
            if temporary.is_some() { Durability::DangerouslyUnsynced } else { Durability::Synced };
        let policy = setup::policy_of(&home, args.policy.as_deref())?;
        let catalogue = setup::catalogue(args.catalog.as_deref())?;
        let gate = host::Gate::open(&home, durability, policy, catalogue)?;
        let workspace = args.workspace.as_deref().map(|it| visit::open(&home, it)).transpose()?;
        Ok(Self {
            gate,
            workspace,
            home,
            profile: args.profile,
            approver: if args.ask { Approver::Reachable } else { Approver::Absent },
            callers: HashMap::new(),
            tools: HashMap::new(),
            begun: HashMap::new(),
            stopped: HashMap::new(),
            summary: Summary::default(),
            temporary,
        })
    }

    /// Lets one thing happen. A call gives a verdict.
    pub(crate) fn take(&mut self, event: Event) -> Result<Option<VerdictLine>, Stop> {
        match event {
            Event::Session { session, user, agent, profile, parent, tools } => {
                let door = Kind::of_static("replay");
                let who = Caller { session, user, agent, door };
                self.begin(who, profile, parent, tools)?;
            }
            Event::Content { session, source, text, origin } => {
                self.hear(&session, &Heard { source, origin: &origin, text: &text })?;
            }
            Event::Call { session, call, tool, args } => {
                return self.call(session, call, tool, &args).map(Some);
            }
            Event::Result { session, call, body, error, fields_from } => {
                // The result of a call that was stopped is ignored: it did not happen.
                if let Some(begun) = self.begun.remove(&(session.clone(), call.clone())) {
                    let status = if error { Status::Failed } else { Status::Done };
                    // Files and commands are those of a folder that the user trusts, and without a network.
                    let words = if begun.reads_here() { Words::Read } else { Words::Theirs };
                    let output = Output { status, fields_from, words, ..Output::text(body) };
                    match self.gate.monitor.finish(begun, output) {
                        Ok(_) | Err(Refusal::Withheld(_)) => {}
                        Err(error) => return Err(unable(error)),
                    }
                } else if !self.stopped.contains_key(&(session, call.clone())) {
                    return Err(Stop::Trace(format!("there is no call `{call}` to have a result")));
                }
            }
            Event::Confirm { session, what } => self.confirm(&session, &what)?,
            Event::Turn { session } => {
                self.gate.monitor.begin_turn(self.who(&session)?).map_err(unable)?;
            }
            Event::End { session } => {
                self.begun.retain(|(of, _), _| *of != session);
                self.stopped.retain(|(of, _), _| *of != session);
                self.leave(&session)?;
                self.gate.monitor.end_session(self.who(&session)?).map_err(unable)?;
                self.callers.remove(&session);
            }
        }
        Ok(None)
    }

    fn begin(
        &mut self,
        who: Caller,
        profile: Option<Profile>,
        parent: Option<SessionId>,
        tools: Vec<ToolDef>,
    ) -> Result<(), Stop> {
        let wrong = |it: &dyn std::fmt::Display| Stop::Trace(it.to_string());
        let admission = host::admission_of_program(&self.home, &who, &tools);
        let admission = admission.map_err(|it| wrong(&it))?;
        let names = tools.iter().map(|it| it.name.as_str().to_owned()).collect();
        self.tools.insert(who.session.clone(), names);
        let profile = profile.unwrap_or(self.profile);
        let principal = Principal::User;
        let (opener, approver) = (who.clone(), self.approver);
        let opening =
            Opening { who: opener, principal, profile, parent, admission, approver, tools };
        self.gate.monitor.open_session(opening).map_err(|it| wrong(&it))?;
        if let Some(workspace) = &self.workspace {
            visit::tell(&visit::enter(workspace, &self.gate, &who).map_err(Stop::Visit)?);
        }
        self.callers.insert(who.session.clone(), who);
        self.summary.sessions += 1;
        Ok(())
    }

    /// A text reaches the agent. Where the state is kept, it is noted as a turn, with its label.
    fn hear(&self, session: &SessionId, heard: &Heard<'_>) -> Result<(), Stop> {
        let understood = match self.gate.monitor.hear(self.who(session)?, heard) {
            Ok(understood) => understood,
            // It does not reach the agent: on record, and the trace goes on without it.
            Err(Refusal::Stopped(_)) => return Ok(()),
            Err(error) => return Err(unable(error)),
        };
        if self.temporary.is_some() {
            return Ok(());
        }
        let text = Digest::of(heard.text.as_bytes());
        let (role, tag) = (role(heard.source), understood.tag.as_ref());
        self.gate.store.append_turn(session, role, &text, tag).map_err(unable)
    }

    /// What a session leaves in the workspace is marked.
    fn leave(&self, session: &SessionId) -> Result<(), Stop> {
        let Some(workspace) = &self.workspace else { return Ok(()) };
        let who = self.who(session)?;
        visit::tell(&visit::leave(workspace, &self.gate, who).map_err(Stop::Visit)?);
        Ok(())
    }

    /// The trace is over: whoever is still there goes. A session that did not end is open for the next
    /// trace.
    pub(crate) fn leave_all(&mut self) -> Result<(), Failure> {
        self.begun.clear();
        let mut still: Vec<&SessionId> = self.callers.keys().collect();
        still.sort();
        still.into_iter().try_for_each(|it| self.leave(it)).map_err(Stop::at_the_end)
    }

    fn call(
        &mut self,
        session: SessionId,
        call: String,
        tool: String,
        args: &[u8],
    ) -> Result<VerdictLine, Stop> {
        let who = self.who(&session)?.clone();
        // What is no tool of the session may be one of the host's own actions.
        let is_tool = self.tools.get(&session).is_some_and(|it| it.contains(&tool));
        let message = if is_tool { None } else { message(&tool, args) };
        let asked = match &message {
            Some(message) => Asked::Message(message),
            None => Asked::Tool(RawCall { tool: &tool, args }),
        };
        let key = (session.clone(), call.clone());
        if self.begun.contains_key(&key) || self.stopped.contains_key(&key) {
            return Err(Stop::Trace(format!("there is a call `{call}` already")));
        }
        let verdict = match self.gate.monitor.begin(&who, &asked) {
            // Nothing is carried out: the permit goes unused.
            Ok((permit, begun)) => {
                drop(permit);
                let verdict = begun.verdict().clone();
                self.begun.insert(key, begun);
                line(&session, &call, &tool, &verdict)
            }
            Err(Refusal::Stopped(verdict)) => {
                let line = line(&session, &call, &tool, &verdict);
                self.stopped.insert(key, (verdict.effect, *verdict));
                line
            }
            Err(error @ (Refusal::NotRecorded(_) | Refusal::NotKept(_))) => {
                return Err(unable(error));
            }
            Err(error) => VerdictLine {
                session: session.to_string(),
                call,
                tool,
                decision: error.decision(),
                rule: error.rule().to_owned(),
                reason: error.to_string(),
                taint_permille: 0,
                sinks: Vec::new(),
                approval: None,
                record: String::new(),
            },
        };
        self.summary.count(&verdict);
        Ok(verdict)
    }

    fn confirm(&mut self, session: &SessionId, what: &Confirmed) -> Result<(), Stop> {
        let who = self.who(session)?;
        match what {
            Confirmed::Action(name) => {
                let kind = EffectKind::parse(name).ok_or_else(|| {
                    Stop::Trace(format!("there is no action `{}`", name.escape_debug()))
                })?;
                self.gate.monitor.confirm_action(who, kind).map_err(unable)
            }
            Confirmed::Call(call) => {
                let (kind, verdict) =
                    self.stopped.get(&(session.clone(), call.clone())).ok_or_else(|| {
                        Stop::Trace(format!("no call `{}` was stopped", call.escape_debug()))
                    })?;
                self.gate.monitor.confirm_call(who, *kind, verdict.action).map_err(unable)
            }
        }
    }

    fn who(&self, session: &SessionId) -> Result<&Caller, Stop> {
        let who = self.callers.get(session);
        who.ok_or_else(|| Stop::Trace(format!("session `{session}` has not begun, or has ended")))
    }

    pub(crate) fn summary(&self) -> &Summary {
        &self.summary
    }

    /// Ends in order, and removes what nobody wants to keep.
    pub(crate) fn close(mut self) -> Result<(), Failure> {
        self.begun.clear();
        Ok(self.gate.close()?)
    }
}

/// A state directory that nobody wants to keep. It goes however the replay ends: a trace that is wrong, a reader
/// that has seen enough, a policy that cannot be read.
struct Temporary(PathBuf);

impl Temporary {
    fn name() -> Self {
        Self(std::env::temp_dir().join(format!("lazaret-replay-{}", SystemClock.unix_micros())))
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Who speaks in the conversation. Whatever the model is shown and nobody of ours wrote comes to it as
/// its input; the label says what it is.
fn role(source: Source) -> Role {
    match source {
        Source::System => Role::System,
        Source::Agent => Role::Assistant,
        Source::User
        | Source::Web
        | Source::Tool
        | Source::Email
        | Source::Memory
        | Source::File
        | Source::Channel
        | Source::Skill => Role::User,
    }
}

/// The message of one of the host's own actions, if the name is that of one.
fn message(name: &str, args: &[u8]) -> Option<Vec<u8>> {
    ActionName::parse(name)?;
    let mut message: serde_json::Map<String, serde_json::Value> =
        serde_json::from_slice(args).ok()?;
    message.insert("action".to_owned(), name.into());
    serde_json::to_vec(&message).ok()
}

fn line(session: &SessionId, call: &str, tool: &str, verdict: &Verdict) -> VerdictLine {
    VerdictLine {
        session: session.to_string(),
        call: call.to_owned(),
        tool: tool.to_owned(),
        decision: verdict.decision,
        rule: verdict.rule.clone(),
        reason: verdict.reason.clone(),
        taint_permille: verdict.taint_permille,
        sinks: verdict.sinks.clone(),
        approval: verdict.approval,
        record: verdict.record.to_string(),
    }
}

fn unable(error: impl std::fmt::Display) -> Stop {
    Stop::Gate(error.to_string())
}
