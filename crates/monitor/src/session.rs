//! One session: who it is for, what it has seen, what was confirmed in it.

mod answers;
mod counts;
mod heard;
mod kept;
mod lost;
mod prompt;
mod stopped;
mod traced;

use std::collections::BTreeSet;
use std::sync::Arc;

use aegx::{Digest, Principal};
use model::{Caller, Effect, Profile, SessionId, Source, Taint, TaintTag, Trust};

use crate::admission::Admission;
use crate::asked::Asked;
use crate::change::Change;
use crate::confirm::Confirmations;
use crate::conversation::Registered;
use crate::found::Found;
use crate::inspected::{Came, Inspected};
use crate::monitor::{Approver, Monitor};
use crate::output::{Status, Words};
use crate::posture::Posture;
use crate::provenance::{Body, Catalogue, Ledger, orders_to_assistant};
use crate::refusal::Refusal;
use crate::risk::{Observation, Opener, Outcome, Risk};
use crate::sanitizing::Standing;
use crate::taint::{self, SessionTaint};
use crate::target::Reach;
use crate::tools::Tools;
use crate::understood::Understood;

/// Sandboxed servers whose names a session keeps.
const SANDBOXED_MAX: usize = 64;

/// One session.
pub(crate) struct Session {
    who: Caller,
    principal: Principal,
    /// Does somebody on a channel speak in this turn, and not whoever the session is for?
    is_of_others: bool,
    profile: Profile,
    admission: Admission,
    reach: Reach,
    /// Can a person be asked about what is stopped here?
    approver: Approver,
    pub(crate) tools: Arc<Tools>,
    posture: Posture,
    pub(crate) taint: SessionTaint,
    pub(crate) risk: Risk,
    ledger: Ledger,
    /// Sandboxed servers whose words were taken in.
    sandboxed: BTreeSet<String>,
    confirmations: Confirmations,
    /// The session that started this one, of the same user.
    parent: Option<SessionId>,
    /// Calls that were let through, happen elsewhere, and have not come back.
    in_flight: u64,
    /// The system prompt that its answers are compared with, and the digest of its form.
    prompt: Option<Registered>,
    prompt_form: Option<Digest>,
    /// The newest record by which something came in: the parent of what the agent does next.
    newest: Option<Digest>,
    calls: u64,
    stopped: u64,
    /// Bytes of changes kept since the last snapshot, and those of the snapshot.
    bytes_kept: usize,
    snapshot_bytes: usize,
    ended: bool,
}

impl Session {
    pub(crate) fn new(
        who: Caller,
        principal: Principal,
        profile: Profile,
        admission: Admission,
        tools: Arc<Tools>,
    ) -> Self {
        let posture = Posture::of(&admission, profile);
        let risk = Risk::new(posture.tuning);
        Self {
            who,
            principal,
            is_of_others: false,
            profile,
            reach: Reach::of(&admission).unwrap_or_else(|_| Reach::nothing()),
            admission,
            approver: Approver::Absent,
            tools,
            posture,
            taint: SessionTaint::default(),
            risk,
            ledger: Ledger::new(),
            sandboxed: BTreeSet::new(),
            confirmations: Confirmations::default(),
            parent: None,
            in_flight: 0,
            prompt: None,
            prompt_form: None,
            newest: None,
            calls: 0,
            stopped: 0,
            bytes_kept: 0,
            snapshot_bytes: 0,
            ended: false,
        }
    }

    pub(crate) fn who(&self) -> &Caller {
        &self.who
    }

    /// Who drives it in this turn.
    pub(crate) fn principal(&self) -> Principal {
        if self.is_of_others { Principal::Channel } else { self.principal }
    }

    /// May its user try what the agent can be made to say? At their own machine they may, unless it is to be paranoid.
    pub(crate) fn user_may_probe(&self) -> bool {
        !self.admission.is_remote() && self.profile != Profile::Paranoid
    }

    pub(crate) fn profile(&self) -> Profile {
        self.profile
    }

    pub(crate) fn approver(&self) -> Approver {
        self.approver
    }

    pub(crate) fn be_served_by(&mut self, approver: Approver) {
        self.approver = approver;
    }

    pub(crate) fn posture(&self) -> &Posture {
        &self.posture
    }

    /// Sandboxed servers whose words were taken in.
    pub(crate) fn sandboxed(&self) -> &BTreeSet<String> {
        &self.sandboxed
    }

    pub(crate) fn newest(&self) -> Option<Digest> {
        self.newest
    }

    /// The session that started this one, if a session did.
    pub(crate) fn parent(&self) -> Option<&SessionId> {
        self.parent.as_ref()
    }

    /// What a session begins with that this one starts: the same taint, risk and knowledge of values.
    pub(crate) fn for_child(&self) -> Change {
        Change {
            taint: self.taint.for_child(),
            ledger: Some(Box::new(self.ledger.clone())),
            risk: Some(self.risk.child().snapshot().clone()),
            sandboxed: self.sandboxed.iter().cloned().collect(),
            parent: Some(self.who.session.as_str().to_owned()),
            ..Change::default()
        }
    }

    /// What a child took in counts here too, and earns no credit.
    pub(crate) fn learn_from_child(&mut self, child: &mut Self, change: &Change) -> Change {
        self.risk.adopt(&mut child.risk);
        self.take(Change {
            taint: change.taint.without_credit(),
            risk: Some(self.risk.snapshot().clone()),
            sandboxed: change.sandboxed.clone(),
            ..Change::default()
        })
    }

    /// All flags.
    pub(crate) fn flags(&self) -> Taint {
        self.taint.taint()
    }

    /// The session goes on with other tools, or is driven by somebody else. Its labels stay, and so
    /// does its profile, unless the settings or the manifest have become stricter.
    pub(crate) fn go_on(&mut self, principal: Principal, admission: Admission, tools: Arc<Tools>) {
        self.principal = principal;
        self.reach = Reach::of(&admission).unwrap_or_else(|_| Reach::nothing());
        self.profile = admission.no_less_than(self.profile);
        self.posture = Posture::of(&admission, self.profile);
        self.risk = Risk::restore(self.posture.tuning, self.risk.snapshot().clone());
        self.admission = admission;
        self.tools = tools;
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.ended
    }

    /// Nothing is taken in any more.
    pub(crate) fn end(&mut self) {
        self.ended = true;
    }

    pub(crate) fn understand(&self, asked: &Asked<'_>) -> Result<Understood, Refusal> {
        asked.understand(&self.tools, self.commands_reach_out(), &self.posture.blocked)
    }

    pub(crate) fn reach(&self) -> &Reach {
        &self.reach
    }

    pub(crate) fn admission(&self) -> &Admission {
        &self.admission
    }

    /// Do commands of this session have a way to the network?
    pub(crate) fn commands_reach_out(&self) -> bool {
        self.admission.commands_reach_out()
    }

    /// Takes in what lies where the agent works. Its words are not known, only that they may be read.
    pub(crate) fn absorb_found(&mut self, found: &Found, record: Digest) -> Change {
        let (tag, record) = (&found.tag, record.to_hex().as_str().to_owned());
        let change = Change {
            taint: self.taint.delta_found(tag, found.tokens, found.content),
            provenance: Some(self.ledger.said(Source::File, &tag.origin, "", &orders_to_assistant)),
            record: Some(record),
            ..self.counted()
        };
        self.take_all_but_provenance(&change);
        change
    }

    /// What the operator vouches for is known from the start.
    pub(crate) fn trust(&mut self, catalogue: &Catalogue) {
        let _ = self.ledger.trust(catalogue.trusted());
    }

    /// A turn of the user begins.
    pub(crate) fn begin_turn(&mut self) -> Change {
        let change =
            Change { turn: true, provenance: Some(self.ledger.begin_turn()), ..Change::default() };
        self.take_all_but_provenance(&change);
        change
    }

    /// A turn begins in which somebody on a channel speaks. INVARIANT (NoFreeReset): it clears no risk.
    pub(crate) fn begin_turn_of_others(&mut self) -> Change {
        let change = Change {
            turn_of_others: true,
            provenance: Some(self.ledger.begin_turn_of_others()),
            ..Change::default()
        };
        self.take_all_but_provenance(&change);
        change
    }

    /// Takes in an output; gives the change, the label of the output, and what the session knows of it.
    pub(crate) fn absorb_output(
        &mut self,
        (asked, proposed): (&Understood, &Observation),
        inspected: &Inspected,
        came: Came,
    ) -> (Change, Option<TaintTag>, Standing) {
        let outcome = match inspected.output.status {
            Status::Done => Outcome::Done,
            Status::Failed | Status::NotBegun => Outcome::Failed,
        };
        let seen = Observation { outcome, from_flagged: false, ..proposed.clone() };
        let before = self.risk.snapshot().clone();
        self.risk.observe(&seen.with_flag(inspected.flag()));
        let mut standing =
            Standing { is_confirmed: self.risk.injection_confirmed(), is_asked_for: false };
        let label = inspected.label(asked, came, Monitor::gives_orders(inspected, standing));
        let mut change = self.counted();
        change.came_back = came.was_marked;
        change.sandboxed = inspected.output.sandboxed.iter().cloned().collect();
        if let Some(label) = &label {
            change.taint = self.taint.delta(label, &inspected.words_of_others(asked));
        }
        // What was made of what the session knows is no more than that, and counts once.
        let label = match inspected.output.words() {
            Words::Read => taint::worse(label.as_ref(), self.taint.tag().as_ref()),
            Words::Theirs | Words::Ours => label,
        };
        change.risk = (*self.risk.snapshot() != before).then(|| self.risk.snapshot().clone());
        // A trusted tool that gives back what others wrote is not believed this time.
        let flow = &asked.call.flow;
        let is_of_tool = match &asked.effect {
            Effect::Tool(_) => true,
            Effect::Host(deed) => deed.kind.is_read_of_server(),
            Effect::Action(_) | Effect::Message(_) => false,
        };
        let outside = label.as_ref().is_some_and(|it| taint::is_outside(it.taint));
        let output = match inspected.output.words() {
            Words::Theirs | Words::Read | Words::Ours if outside => Trust::Untrusted,
            // In files where the agent works somebody else may have written, too: what tools of others do is held against it.
            Words::Theirs if is_of_tool && asked.deeds.are_known() => Trust::Untrusted,
            Words::Theirs => flow.output,
            // As files are believed that nobody outside wrote.
            Words::Read => Trust::Trusted,
            Words::Ours => Trust::Own,
        };
        let handed_on = self.ledger.tasks_handed_on();
        change.provenance = Some(self.ledger.returned(
            &asked.call.call,
            output,
            &asked.act_giving(output),
            Body::Text(inspected.seen()),
            &|text| inspected.orders_in(text),
            &inspected.output.fields_from,
        ));
        standing.is_asked_for = self.ledger.tasks_handed_on() > handed_on;
        self.take_all_but_provenance(&change);
        (change, label, standing)
    }

    /// Replays a change that was kept.
    pub(crate) fn take(&mut self, change: Change) -> Change {
        if let Some(ledger) = &change.ledger {
            self.ledger = (**ledger).clone();
        }
        if let Some(delta) = &change.provenance {
            self.ledger.apply(delta);
        }
        self.take_all_but_provenance(&change);
        change
    }

    /// The rest of a change whose provenance is in the ledger already. There is no change that takes a
    /// label away.
    fn take_all_but_provenance(&mut self, change: &Change) {
        self.take_labels(change);
        self.count_answer(change);
    }

    fn take_labels(&mut self, change: &Change) {
        if change.turn {
            self.risk.begin_turn(Opener::Person);
        }
        // INVARIANT (HostDecidesTaint): who drives a turn is said by whoever hears it, and stays so until the next one.
        self.is_of_others = change.turn_of_others || (self.is_of_others && !change.turn);
        self.in_flight = self.in_flight.saturating_add(u64::from(change.begun));
        self.in_flight = self.in_flight.saturating_sub(u64::from(change.came_back));
        self.taint.apply(&change.taint);
        if let Some(snapshot) = &change.risk {
            self.risk = Risk::restore(self.posture.tuning, snapshot.clone());
        }
        if let Some(parent) = change.parent.as_deref().and_then(|it| SessionId::parse(it).ok()) {
            self.parent = Some(parent);
        }
        // Beyond so many it is the first ones that are known by name; that there are some is what counts.
        for server in change.sandboxed.iter().take(SANDBOXED_MAX) {
            if self.sandboxed.len() < SANDBOXED_MAX {
                self.sandboxed.insert(server.clone());
            }
        }
        self.take_prompt(change);
        self.calls = self.calls.max(change.calls);
        self.stopped = self.stopped.max(change.stopped);
        if let Some(record) =
            change.record.as_deref().and_then(|it| Digest::from_hex(it.as_bytes()))
        {
            self.newest = Some(record);
        }
    }
}
