//! The monitor: what the path of a call stands on, and the sessions' coming and going.

use std::sync::Arc;

use aegx::{Digest, Principal};
use evidence::{Clock, Journal};
use model::{Caller, EffectKind, Profile, SessionId, Source, ToolDef};
use policy::Policy;
use serde_json::json;

use crate::admission::Admission;
use crate::change::Change;
use crate::confirm::{Confirmation, Grant};
use crate::provenance::Catalogue;
use crate::record;
use crate::refusal::Refusal;
use crate::session::Session;
use crate::sessions::Sessions;
use crate::state::{State, StateError, Summary};
use crate::taint::{self, Rules};
use crate::tools::{Toolboxes, ToolsError};

/// The reference monitor. The path of a call is in `pipeline.rs`.
pub struct Monitor {
    setup: Setup,
    sessions: Sessions,
    toolboxes: Toolboxes,
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
    /// How careful it is. A session that is found again keeps its own.
    pub profile: Profile,
    /// The session of the same user that starts it, if one does. A session that is found again keeps
    /// its own.
    pub parent: Option<SessionId>,
    /// By which files it was admitted.
    pub admission: Admission,
    /// Its tools.
    pub tools: Vec<ToolDef>,
}

/// A text that reaches the agent without a call.
#[derive(Clone, Debug)]
pub struct Heard<'a> {
    /// The door by which it came.
    pub source: Source,
    /// Where from: a url, a name.
    pub origin: &'a str,
    /// What it says.
    pub text: &'a str,
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
    /// It cannot be recorded.
    #[error(transparent)]
    Record(#[from] evidence::AppendError),
}

impl Monitor {
    /// A monitor without sessions.
    #[must_use]
    pub fn new(setup: Setup) -> Self {
        Self { setup, sessions: Sessions::default(), toolboxes: Toolboxes::default() }
    }

    /// Opens a session, or finds it again, as tainted as it was.
    ///
    /// # Errors
    /// If it belongs to somebody else, or cannot be kept, read or recorded.
    pub fn open_session(&self, opening: Opening) -> Result<(), OpenError> {
        let Opening { who, principal, profile, parent, admission, tools } = opening;
        let tools = self.toolboxes.of(&tools, &self.setup.catalogue)?;
        let opened = self.setup.state.open(&who, profile)?;
        let resumed = !opened.changes.is_empty();
        let profile = if resumed { opened.profile } else { profile };
        let rules = Arc::new(Rules::of(profile));
        let mut session = Session::new(who.clone(), principal, profile, admission, tools, rules);
        session.trust(&self.setup.catalogue);
        for change in &opened.changes {
            let change = serde_json::from_slice(change).map_err(|error| OpenError::Unreadable {
                session: who.session.clone(),
                why: error.to_string(),
            })?;
            session.take(change);
        }
        if let Some(parent) = parent.filter(|_| !resumed) {
            let inherited = self.inheritance(&parent, &who.user).map_err(OpenError::Parent)?;
            let change = session.take(inherited);
            self.keep(&mut session, &change).map_err(OpenError::Parent)?;
        }
        let receipt = self.journal().append(record::session_start(&who, profile, resumed))?;
        if !resumed {
            session.came_in_by(receipt.id());
        }
        self.sessions.insert(session);
        Ok(())
    }

    /// A text reaches the agent. Its label is kept before it does.
    ///
    /// # Errors
    /// If it cannot be recorded or kept; then the agent must not see it.
    pub fn hear(&self, who: &Caller, heard: &Heard<'_>) -> Result<Understanding, Refusal> {
        let session = self.sessions.get(who)?;
        let mut session = session.lock();
        let now = self.now();
        let flagged = !heard.source.is_vouched_for() && {
            let findings = scan::instructions(heard.text);
            scan::verdict(&findings) == scan::Verdict::Injection
        };
        let mut label = taint::label(heard.source, heard.origin, now);
        if flagged {
            let suspect = model::Taint::UNTRUSTED.union(model::Taint::INJECTION_SUSPECT);
            label.taint = label.taint.union(suspect);
        }
        let new = record::heard(who, &label, heard.text, flagged);
        let record = self.journal().append(new)?.id();
        label.record = record.to_hex().as_str().to_owned();
        let (change, answer) = session.absorb_heard(&label, heard.text, now);
        self.keep(&mut session, &change)?;
        self.tell_parents(&mut session, &change)?;
        Ok(Understanding { record, answer })
    }

    /// A turn of the user begins.
    ///
    /// # Errors
    /// If it cannot be kept.
    pub fn begin_turn(&self, who: &Caller) -> Result<(), Refusal> {
        let session = self.sessions.get(who)?;
        let mut session = session.lock();
        let change = session.begin_turn();
        self.keep(&mut session, &change)
    }

    /// A person says yes to exactly one call, by the hash that its verdict gave.
    ///
    /// # Errors
    /// If it cannot be recorded or kept; then it does not count.
    pub fn confirm_call(&self, who: &Caller, kind: EffectKind, call: Digest) -> Result<(), Refusal> {
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

    fn confirm(&self, who: &Caller, grant: Grant, content: serde_json::Value) -> Result<(), Refusal> {
        let session = self.sessions.get(who)?;
        let mut session = session.lock();
        self.journal().append(record::by_person(who, "confirmed", content))?;
        let change = session.confirm(grant);
        self.keep(&mut session, &change)
    }

    /// Ends a session. Its labels stay where they are kept.
    ///
    /// # Errors
    /// If that cannot be kept.
    pub fn end_session(&self, who: &Caller) -> Result<(), Refusal> {
        // Only its own caller may end it.
        drop(self.sessions.get(who)?);
        self.setup.state.end(&who.session)?;
        self.sessions.remove(&who.session);
        Ok(())
    }

    /// What lists show of a session.
    ///
    /// # Errors
    /// If it is not open here.
    pub fn summary(&self, who: &Caller) -> Result<Summary, Refusal> {
        Ok(self.sessions.get(who)?.lock().summary())
    }

    /// Keeps a change. What was not kept must not be built on.
    pub(crate) fn keep(&self, session: &mut Session, change: &Change) -> Result<(), Refusal> {
        let bytes = written(change)?;
        if bytes == NOTHING {
            return Ok(());
        }
        let id = session.who().session.clone();
        self.state().append(&id, &bytes, &session.summary())?;
        if session.has_kept(bytes.len()) {
            let snapshot = written(&session.snapshot(self.now()))?;
            self.state().compact(&id, &snapshot, &session.summary())?;
            session.was_compacted(snapshot.len());
        }
        Ok(())
    }

    pub(crate) fn sessions(&self) -> &Sessions {
        &self.sessions
    }

    pub(crate) fn journal(&self) -> &Arc<Journal> {
        &self.setup.journal
    }

    pub(crate) fn state(&self) -> &dyn State {
        &*self.setup.state
    }

    pub(crate) fn policy(&self) -> &Policy {
        &self.setup.policy
    }

    pub(crate) fn now(&self) -> i64 {
        self.setup.clock.unix_seconds()
    }
}

/// A change in which nothing changes.
const NOTHING: &[u8] = b"{}";

fn written(change: &Change) -> Result<Vec<u8>, StateError> {
    serde_json::to_vec(change).map_err(|error| StateError::Broken {
        reason: format!("a change cannot be written: {error}"),
    })
}

/// What became of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Understanding {
    /// Its record.
    pub record: Digest,
    /// Was it an answer to what was stopped?
    pub answer: Confirmation,
}
