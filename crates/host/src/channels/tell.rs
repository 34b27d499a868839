//! Saying something by a messenger: to whom a user is there, or where the user wrote, and to nobody else.

use std::cell::RefCell;
use std::sync::PoisonError;
use std::sync::atomic::AtomicBool;

use aegx::{Digest, Principal, RecordType};
use channel::{Address, ChannelError, chunks_of};
use evidence::{Clock as _, NewRecord, Receipt, SystemClock};
use model::ipc::Uuid;
use model::{AgentId, Caller, Effect, Kind, SessionId, Source, TaintTag, UserId};
use monitor::taint::{label, tokens as counts, worse};
use monitor::{Approver, Asked, Executor, Found, Granted, Opening, Output, Permit, Status, Words};
use policy::access::Origin as From;
use serde_json::json;

use super::error::Undelivered;
use super::line::Line;
use super::{Channels, is_own};
use crate::scheduler::{ANSWER_CHARS_MAX, Delivery, Job, RunEnd, RunStatus};

/// Whose words something that is said is made of.
#[derive(Clone, Debug)]
pub struct Origin {
    principal: Principal,
    /// Where the words have been, and in which session they were said.
    carried: Option<(TaintTag, String)>,
}

impl Origin {
    /// The host's own words.
    #[must_use]
    pub fn host() -> Self {
        Self { principal: Principal::Sys, carried: None }
    }
}

/// Digits of a session's name.
const NAME_CHARS: usize = 32;

impl Channels {
    /// Says `text` at an address, for an agent to a user. The address is one where this user alone hears it, or from
    /// which the user wrote to this agent since the host began.
    ///
    /// # Errors
    /// If there is no such messenger, the place is not the user's, the gate does not let it out, or it was not taken.
    pub fn deliver(
        &self,
        user: &UserId,
        agent: &AgentId,
        (to, text): (&Address, &str),
        origin: &Origin,
    ) -> Result<(), Undelivered> {
        if !self.is_theirs(user, agent, to)? {
            return Err(not_there());
        }
        // INVARIANT (NoFreeReset): a session of its own, which takes nothing in.
        let name = Digest::of(format!("{user}\0{agent}\0{to}").as_bytes()).to_hex();
        let name: String = name.as_str().chars().take(NAME_CHARS).collect();
        let who = caller(user, agent, &name)?;
        let Some((tag, session)) = &origin.carried else {
            return self.say(&who, origin.principal, None, (to, text));
        };
        let receipt = self.note(&who, to, tag, session)?;
        let found = found_in(tag.clone(), text);
        self.say(&who, origin.principal, Some((&found, &receipt)), (to, text))
    }

    /// What an answer of a session carries out of it: whoever drives the session now, and its label. INVARIANT (FailClosed):
    /// of a session that is not open any more the worst is believed.
    #[must_use]
    pub fn origin_of(&self, user: &UserId, agent: &AgentId, session: &str) -> Origin {
        let worst = || label(Source::Tool, "an agent of our own", SystemClock.unix_seconds());
        let Ok(id) = SessionId::parse(session) else { return Origin::host() };
        let door = Kind::of_static("worker");
        let who = Caller { session: id, user: user.clone(), agent: agent.clone(), door };
        let monitor = &self.gate.monitor;
        let principal = monitor.principal(&who).unwrap_or(Principal::Channel);
        let tag = monitor.tag(&who).unwrap_or_else(|_| Some(worst()));
        Origin { principal, carried: tag.map(|it| (it, session.to_owned())) }
    }

    /// Records from which session something comes that is to be said.
    fn note(
        &self,
        who: &Caller,
        to: &Address,
        tag: &TaintTag,
        session: &str,
    ) -> Result<Receipt, Undelivered> {
        let content = json!({
            "of_session": session, "to": to.to_string(), "user": who.user.as_str(),
        });
        let new = NewRecord {
            taint: tag.taint,
            parents: Digest::from_hex(tag.record.as_bytes()).into_iter().collect(),
            session: Some(who.session.clone()),
            agent: Some(who.agent.clone()),
            ..NewRecord::of_host(
                RecordType::GuardDecision,
                Kind::of_static("channel_answer"),
                content,
            )
        };
        self.gate.journal.append(new).map_err(|it| Undelivered::Failed(it.to_string()))
    }

    /// Says what a run of a job came to where its owner wanted it, and gives where that was. It is a place where the
    /// owner alone hears it, and what is said carries the label of the run.
    ///
    /// # Errors
    /// As [`Channels::deliver`]; also if the owner has not written to the agent since the host began.
    pub fn deliver_of_job(
        &self,
        (job, to): (&Job, &Delivery),
        run: Uuid,
        ended: &RunEnd,
        receipt: &Receipt,
    ) -> Result<Address, Undelivered> {
        let to = match to {
            Delivery::To(it) => it.clone(),
            Delivery::Last => self.last(&job.user, &job.agent).ok_or_else(|| {
                let why = "the user has not written to the agent since the host began";
                Undelivered::Refused(why.to_owned())
            })?,
        };
        let is_own = is_own(&self.home, &job.user, &to);
        if !is_own.map_err(|it| Undelivered::Refused(it.to_string()))? {
            return Err(not_there());
        }
        let text = said_of(ended);
        let found = worse(job.tag.as_ref(), ended.tag.as_ref()).map(|tag| found_in(tag, &text));
        let who = caller(&job.user, &job.agent, &run.to_string())?;
        let found = found.as_ref().map(|it| (it, receipt));
        self.say(&who, Principal::Sys, found, (&to, &text))?;
        Ok(to)
    }

    /// Says something in a session that is there for this alone, and begins with what was `found` in the words.
    fn say(
        &self,
        who: &Caller,
        principal: Principal,
        found: Option<(&Found, &Receipt)>,
        (to, text): (&Address, &str),
    ) -> Result<(), Undelivered> {
        let line = to.channel().and_then(|it| self.line(it));
        let line =
            line.ok_or_else(|| Undelivered::Refused("this messenger is not set up".to_owned()))?;
        let _saying = line.saying.lock().unwrap_or_else(PoisonError::into_inner);
        self.open(who, principal)?;
        let absorbed = found.map_or(Ok(()), |(found, receipt)| {
            self.gate.monitor.find(who, std::slice::from_ref(found), receipt)
        });
        let told = absorbed
            .map_err(|it| Undelivered::Refused(it.to_string()))
            .and_then(|()| line.tell(who, to, text, &self.over));
        let ended = self.gate.monitor.end_session(who);
        told?;
        ended.map_err(|it| Undelivered::Failed(it.to_string()))
    }

    /// INVARIANT (FailClosed): users who cannot be looked up are nowhere.
    fn is_theirs(&self, user: &UserId, agent: &AgentId, to: &Address) -> Result<bool, Undelivered> {
        if to.person().is_none() {
            let place = (user.clone(), agent.clone(), to.clone());
            return Ok(self.places().contains(&place));
        }
        is_own(&self.home, user, to).map_err(|it| Undelivered::Refused(it.to_string()))
    }

    fn open(&self, who: &Caller, principal: Principal) -> Result<(), Undelivered> {
        let refused = |it: &dyn std::fmt::Display| Undelivered::Refused(it.to_string());
        let admission = crate::admission_from(&self.home, who, &[], From::Remote);
        let admission = admission.map_err(|it| refused(&it))?;
        let opening = Opening {
            who: who.clone(),
            principal,
            profile: admission.profile(),
            parent: None,
            admission,
            approver: Approver::Absent,
            tools: Vec::new(),
        };
        self.gate.monitor.open_session(opening).map_err(|it| refused(&it))
    }
}

/// A text that carries a label.
fn found_in(tag: TaintTag, text: &str) -> Found {
    Found { tag, tokens: counts::tainted(text), content: Digest::of(text.as_bytes()) }
}

fn not_there() -> Undelivered {
    Undelivered::Refused("the user is not there: see `channels` in users.yaml".to_owned())
}

/// For whom something is said, in a session of this name.
fn caller(user: &UserId, agent: &AgentId, name: &str) -> Result<Caller, Undelivered> {
    let session = SessionId::parse(&format!("out-{name}"));
    Ok(Caller {
        session: session.map_err(|it| Undelivered::Refused(it.to_string()))?,
        user: user.clone(),
        agent: agent.clone(),
        door: Kind::of_static("channel"),
    })
}

/// What the owner of a job is told: the answer, as much of it as is kept, or that there is none. Why stands where the owner is
/// signed in, and not on the messenger.
fn said_of(ended: &RunEnd) -> String {
    if ended.status != RunStatus::Answered {
        let status = ended.status.as_str();
        return format!("A job has no answer ({status}): see `lazaret scheduler list`.");
    }
    let kept: String = ended.text.chars().take(ANSWER_CHARS_MAX).collect();
    if kept.trim().is_empty() { "A job has ended without a word.".to_owned() } else { kept }
}

impl Line {
    /// INVARIANT (OneGate): what is sent is what was judged, piece by piece.
    fn tell(
        &self,
        who: &Caller,
        to: &Address,
        text: &str,
        over: &AtomicBool,
    ) -> Result<(), Undelivered> {
        for piece in chunks_of(text, self.kind.channel().chars_max()) {
            let piece = piece.replace('\0', " ");
            let message = json!({
                "action": "message_out", "text": piece, "to": to.to_string(),
            });
            let message = message.to_string();
            let telling = Telling { line: self, to, over, failed: RefCell::default() };
            let ran = self.gate.monitor.run(who, &Asked::Message(message.as_bytes()), &telling);
            if let Some(why) = telling.failed.take() {
                return Err(Undelivered::Failed(why));
            }
            ran.map_err(|it| Undelivered::Refused(it.to_string()))?;
        }
        Ok(())
    }
}

struct Telling<'a> {
    line: &'a Line,
    to: &'a Address,
    over: &'a AtomicBool,
    failed: RefCell<Option<String>>,
}

impl Executor for Telling<'_> {
    fn execute(&self, permit: Permit<Effect>) -> Output {
        let Granted::MessageOut(permit) = permit.by_kind() else {
            return Output::not_begun("this says something and does nothing else");
        };
        // INVARIANT (OneGate): it goes where the permit says, and nowhere else.
        let to = self.to.to_string();
        if permit.effect().to.as_ref().map(|it| it.as_str()) != Some(to.as_str()) {
            return Output::not_begun("the permit is for another place");
        }
        let said = match self.line.wire(&permit, self.over) {
            Ok(wire) => {
                let text = permit.effect().text.as_str();
                let sent = self.line.kind.channel().send(&wire, self.to, text);
                sent.map_err(|it: ChannelError| wire.clean(&it.to_string()))
            }
            Err(error) => Err(error.to_string()),
        };
        drop(permit.spend());
        match said {
            Ok(()) => Output::text(json!({ "to": to }).to_string()),
            Err(why) => {
                self.failed.replace(Some(why.clone()));
                Output { status: Status::Failed, words: Words::Theirs, ..Output::text(why) }
            }
        }
    }
}
