//! The monitor: what the path of a call stands on, and the sessions' coming and going.

use std::sync::{Arc, PoisonError, RwLock};

use aegx::{Digest, Principal};
use evidence::{Clock, Journal, Receipt};
use model::{Caller, EffectKind, IntentReader, Profile, SessionId, ToolDef};
use policy::Policy;
use scan::sanitize::{Plan, Plans};
use scan::text::Classifier;
use serde_json::json;

use crate::admission::Admission;
use crate::change::Change;
use crate::confirm::{ConfirmDelta, Grant};
use crate::conversation::Talks;
use crate::own_places::OwnPlaces;
use crate::provenance::Catalogue;
use crate::record;
use crate::refusal::Refusal;
use crate::scrubber::Scrubber;
use crate::session::Session;
use crate::sessions::Sessions;
use crate::state::{self, State, StateError, Summary};
use crate::surroundings::Recorded;
use crate::tools::{Toolboxes, ToolsError};

/// The reference monitor. The path of a call is in `pipeline.rs`.
pub struct Monitor {
    setup: Setup,
    /// By which rules it decides now.
    policy: RwLock<Arc<Policy>>,
    catalogue: RwLock<Arc<Catalogue>>,
    sessions: Sessions,
    toolboxes: Toolboxes,
    pub(crate) reader: Option<Arc<dyn IntentReader>>,
    pub(crate) scrubber: Option<Arc<dyn Scrubber>>,
    pub(crate) surroundings: Option<Arc<Recorded>>,
    pub(crate) own_places: Option<Arc<dyn OwnPlaces>>,
    pub(crate) talks: Talks,
    /// What answers are compared with where no prompt is registered.
    pub(crate) guarded: Option<Arc<scan::leak::Registry>>,
    pub(crate) plans: Plans,
    /// By what is looked for in outputs, at whatever level.
    pub(crate) sought: Plan,
    /// Who is asked, besides the rules, whether an output gives orders.
    pub(crate) classifier: Option<Arc<dyn Classifier>>,
}

/// What a monitor stands on.
pub struct Setup {
    /// Where decisions are recorded.
    pub journal: Arc<Journal>,
    /// Where sessions are kept.
    pub state: Arc<dyn State>,
    /// The rules.
    pub policy: Arc<Policy>,
    /// What is known of tools.
    pub catalogue: Catalogue,
    /// The time.
    pub clock: Arc<dyn Clock>,
}

/// A session to be opened. All of it is known from the connection.
#[derive(Clone, Debug)]
pub struct Opening {
    /// Whose it is.
    pub who: Caller,
    /// Who drives it: the user, or somebody on a channel, a peer, a timer.
    pub principal: Principal,
    /// How careful it is. The settings and the manifest in `admission` may make it stricter, never less so. A session that
    /// is found again keeps its own.
    pub profile: Profile,
    /// The session of the same user that starts it, if one does. A session that is found again keeps
    /// its own.
    pub parent: Option<SessionId>,
    /// By which files it was admitted.
    pub admission: Admission,
    /// Can a person be asked about what is stopped?
    pub approver: Approver,
    /// Its tools.
    pub tools: Vec<ToolDef>,
}

impl Opening {
    /// A session on one person's machine, driven by them, without tools of others.
    #[must_use]
    pub fn of_one_person(who: Caller) -> Self {
        Self {
            who,
            principal: Principal::User,
            profile: Profile::Standard,
            parent: None,
            admission: Admission::OnePerson,
            approver: Approver::Absent,
            tools: Vec::new(),
        }
    }
}

/// Can a person be asked about a call that is stopped, outside of the conversation?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Approver {
    /// Questions are kept, and a person has a door by which to answer them.
    Reachable,
    /// There is nobody to ask, and no answer of anybody is looked for.
    Absent,
}

/// Why a session cannot be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// Its list of tools.
    #[error(transparent)]
    Tools(#[from] ToolsError),
    /// It cannot be kept, or is somebody else's.
    #[error(transparent)]
    State(#[from] StateError),
    /// What was kept of it is not understood. It is not opened as if it were clean.
    #[error("what was kept of session `{session}` cannot be read: {why}")]
    Unreadable {
        /// The session.
        session: SessionId,
        /// What is wrong.
        why: String,
    },
    /// The session that is to start it.
    #[error("its parent: {0}")]
    Parent(Refusal),
    /// The system prompt that was registered in it.
    #[error("its system prompt: {0}")]
    Prompt(Refusal),
    /// It cannot be recorded.
    #[error(transparent)]
    Record(#[from] evidence::AppendError),
}

impl Monitor {
    /// A monitor without sessions.
    #[must_use]
    pub fn new(setup: Setup) -> Self {
        let (sessions, toolboxes) = (Sessions::default(), Toolboxes::default());
        let policy = RwLock::new(Arc::clone(&setup.policy));
        let catalogue = RwLock::new(Arc::new(setup.catalogue.clone()));
        Self {
            setup,
            policy,
            catalogue,
            sessions,
            toolboxes,
            reader: None,
            scrubber: None,
            surroundings: None,
            own_places: None,
            talks: Talks::default(),
            guarded: None,
            plans: Plans::default(),
            sought: Plans::default().widest(),
            classifier: None,
        }
    }

    /// Opens a session, or finds it again, as tainted as it was. One that is open here goes on with the
    /// tools that it is given now.
    ///
    /// # Errors
    /// If it belongs to somebody else, or cannot be kept, read or recorded.
    pub fn open_session(&self, opening: Opening) -> Result<(), OpenError> {
        let Opening { who, principal, profile, parent, admission, approver, tools } = opening;
        let tools = self.toolboxes.of(&tools, &self.catalogue(), self.reader.as_ref())?;
        let _door = self.sessions.door(&who.session);
        if let Some(found) = self.sessions.find(&who.session) {
            if !found.is_of(&who) {
                return Err(self.not_yours(&who)?);
            }
            let mut session = found.lock_even_if_ended();
            let profile = admission.no_less_than(session.profile());
            self.journal().append(record::session_start(&who, profile, true))?;
            self.record_surroundings(&who)?;
            session.go_on(principal, admission, tools);
            session.be_served_by(approver);
            return Ok(());
        }
        // A child is as careful as its parent, whoever starts it.
        let of_parent = parent.as_ref().and_then(|it| self.profile_of(it, &who.user).ok());
        let profile = admission.no_less_than(of_parent.unwrap_or(profile));
        let opened = match self.setup.state.open(&who, profile) {
            Ok(opened) => opened,
            Err(StateError::NotYours { .. }) => return Err(self.not_yours(&who)?),
            Err(error) => return Err(error.into()),
        };
        // One that is found again is no less careful than it would be made now.
        let profile = admission.no_less_than(opened.profile);
        let mut session = Session::new(who.clone(), principal, profile, admission, tools);
        session.be_served_by(approver);
        session.trust(&self.catalogue());
        let resumed = !opened.changes.is_empty();
        self.replay(&mut session, &opened.changes)?;
        self.restore_prompt(&mut session).map_err(OpenError::Prompt)?;
        if let Some(parent) = parent.filter(|_| !resumed) {
            let inherited =
                self.inheritance(&who.session, &parent, &who.user).map_err(OpenError::Parent)?;
            let change = session.take(inherited);
            self.keep(&mut session, &change).map_err(OpenError::Parent)?;
        }
        let receipt = self.journal().append(record::session_start(&who, profile, resumed))?;
        self.record_surroundings(&who)?;
        if !resumed {
            session.came_in_by(receipt.id());
        }
        self.sessions.insert(session);
        Ok(())
    }

    /// Gives a session back what it knew. Calls that were under way when the process died are lost.
    fn replay(&self, session: &mut Session, changes: &[Vec<u8>]) -> Result<(), OpenError> {
        for change in changes {
            let change = serde_json::from_slice(change).map_err(|error| OpenError::Unreadable {
                session: session.who().session.clone(),
                why: error.to_string(),
            })?;
            session.take(change);
        }
        while session.in_flight() > 0 {
            let change = session.lose(None, true, self.now());
            state::keep(&*self.setup.state, session, &change)?;
        }
        Ok(())
    }

    /// INVARIANT (NothingSilent): who asks for a session of somebody else is on record.
    fn not_yours(&self, who: &Caller) -> Result<OpenError, OpenError> {
        let error = StateError::NotYours { session: who.session.clone() };
        let new = record::turned_away(who, b"", &Refusal::NoSession(who.session.clone()));
        self.journal().append(new)?;
        Ok(error.into())
    }

    /// A turn of the user begins.
    ///
    /// # Errors
    /// If it cannot be kept.
    pub fn begin_turn(&self, who: &Caller) -> Result<(), Refusal> {
        let session = self.sessions.get(who)?;
        let mut session = session.lock()?;
        let change = session.begin_turn();
        self.keep(&mut session, &change)
    }

    /// A person says yes to exactly one call, by the hash that its verdict gave.
    ///
    /// # Errors
    /// If it cannot be recorded or kept; then it does not count.
    pub fn confirm_call(
        &self,
        who: &Caller,
        kind: EffectKind,
        call: Digest,
    ) -> Result<(), Refusal> {
        let content = json!({ "action": kind.as_str(), "action_sha256": call.to_hex().as_str() });
        self.confirm(who, Grant::for_call(kind.as_str(), call, self.now()), content)
    }

    /// A person says yes to a kind of action in this session. It lifts the taint budget only.
    ///
    /// # Errors
    /// If it cannot be recorded or kept; then it does not count.
    pub fn confirm_action(&self, who: &Caller, kind: EffectKind) -> Result<(), Refusal> {
        let content = json!({ "action": kind.as_str() });
        self.confirm(who, Grant::for_action(kind.as_str(), self.now()), content)
    }

    fn confirm(
        &self,
        who: &Caller,
        grant: Grant,
        content: serde_json::Value,
    ) -> Result<(), Refusal> {
        let turned_away = |error| self.turned_away(who, content.to_string().as_bytes(), error);
        let session = self.sessions.get(who).map_err(turned_away)?;
        let mut session = session.lock().map_err(turned_away)?;
        self.journal().append(record::by_person(who, "confirmed", content.clone()))?;
        // For what spoke against it when it was stopped, if that is known.
        let grounds = grant.call().and_then(|it| session.grounds_of(it));
        let granted = ConfirmDelta::Granted(grant.on(grounds));
        // Kept first: a yes that a crash would forget does not count.
        let change = Change { confirm: vec![granted], ..Change::default() };
        self.keep(&mut session, &change)?;
        session.count_answer(&change);
        Ok(())
    }

    /// Ends a session. Its labels stay where they are kept.
    ///
    /// # Errors
    /// If that cannot be kept.
    pub fn end_session(&self, who: &Caller) -> Result<(), Refusal> {
        // Only its own caller may end it.
        let session = self.sessions.get(who)?;
        let _door = self.sessions.door(&who.session);
        let mut session = session.lock()?;
        self.setup.state.end(&who.session)?;
        session.end();
        self.sessions.remove(&who.session);
        Ok(())
    }

    /// What lists show of a session.
    ///
    /// # Errors
    /// If it is not open here.
    pub fn summary(&self, who: &Caller) -> Result<Summary, Refusal> {
        Ok(self.sessions.get(who)?.lock()?.summary())
    }

    pub(crate) fn keep(&self, session: &mut Session, change: &Change) -> Result<(), Refusal> {
        Ok(state::keep(&*self.setup.state, session, change)?)
    }

    /// As [`Self::keep`], durable no later than the next change that is kept so.
    pub(crate) fn keep_soon(&self, session: &mut Session, change: &Change) -> Result<(), Refusal> {
        Ok(state::keep_soon(&*self.setup.state, session, change)?)
    }

    /// Waits until everything is durable that was recorded and kept for no act yet: whoever is told of it finds it.
    ///
    /// # Errors
    /// If it will not be.
    pub fn settle_all(&self) -> Result<(), Refusal> {
        self.journal().flush()?;
        Ok(self.state().flush()?)
    }

    /// INVARIANT (NothingSilent): what was turned away before it could be judged leaves a record too.
    pub(crate) fn turned_away(&self, who: &Caller, asked: &[u8], error: Refusal) -> Refusal {
        let clean = self.scrubber.as_ref();
        let clean = clean.and_then(|it| it.scrub(&String::from_utf8_lossy(asked)));
        let new =
            record::turned_away(who, clean.as_ref().map_or(asked, |it| it.as_bytes()), &error);
        match self.journal().append(new) {
            Ok(_) => error,
            Err(lost) => lost.into(),
        }
    }

    pub(crate) fn state(&self) -> &Arc<dyn State> {
        &self.setup.state
    }

    pub(crate) fn sessions(&self) -> &Sessions {
        &self.sessions
    }

    pub(crate) fn journal(&self) -> &Arc<Journal> {
        &self.setup.journal
    }

    /// The rules by which it decides now.
    #[must_use]
    pub fn policy(&self) -> Arc<Policy> {
        Arc::clone(&self.policy.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Decides by these rules from now on. That they are others is on record, as the receipt proves: INVARIANT (RecordThenAct).
    /// What was decided before stays decided; what waits for a person is judged again when it comes back.
    pub fn decide_by(&self, policy: Policy, _: &Receipt) {
        *self.policy.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(policy);
    }

    /// What is known of tools.
    pub fn catalogue(&self) -> Arc<Catalogue> {
        Arc::clone(&self.catalogue.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Knows tools by this catalogue from now on, in sessions that are open, too. What it vouches for counts in sessions that
    /// begin after that: what one was told is not taken back. That it is another one is on record, as the receipt proves.
    pub fn know_tools_by(&self, catalogue: Catalogue, _: &Receipt) {
        *self.catalogue.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(catalogue);
    }

    /// The tools of a session as they are known now.
    pub(crate) fn know_again(&self, session: &mut Session) {
        let tools = self.toolboxes.again(&session.tools, &self.catalogue(), self.reader.as_ref());
        if let Some(tools) = tools {
            session.tools = tools;
        }
    }

    pub(crate) fn now(&self) -> i64 {
        self.setup.clock.unix_seconds()
    }
}
