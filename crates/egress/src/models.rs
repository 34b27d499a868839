//! Asks language models, and gives their answers as they stream.
//!
//! INVARIANT (OneGate): each question spends what a permit for `llm_call` permits, and each is recorded beside its
//! decision, however it ends.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use aegx::Digest;
use bytes::Bytes;
use data_encoding::HEXLOWER;
use evidence::Journal;
use model::Caller;
use model::ipc::LlmCall;
use monitor::Permit;
use scan::net::Target;
use zeroize::Zeroizing;

use crate::client::{AskError, Client};
use crate::event::{EgressEvent, Outcome};
use crate::named::{Arrived, LOOK, NamedServers, Piece, Question, Verb};
use crate::rules::Rules;

/// Until the head of an answer is there: a server of one's own reads the whole conversation first.
pub const MODEL_HEAD_MAX: Duration = Duration::from_secs(60);
/// Between two pieces of an answer.
pub const MODEL_IDLE_MAX: Duration = Duration::from_secs(30);
/// For a whole answer.
pub const MODEL_TOTAL_MAX: Duration = Duration::from_secs(600);
/// How one exchange is told from another in the records, in bytes.
const CORRELATION_BYTES: usize = 8;

/// A client for language models.
pub struct ModelServers {
    servers: NamedServers,
    journal: Arc<Journal>,
    waits: Waits,
}

/// How long an answer may take.
#[derive(Clone, Copy, Debug)]
pub struct Waits {
    /// Until its head is there.
    pub head: Duration,
    /// Between two pieces of it.
    pub idle: Duration,
    /// For all of it.
    pub total: Duration,
}

impl Default for Waits {
    fn default() -> Self {
        Self { head: MODEL_HEAD_MAX, idle: MODEL_IDLE_MAX, total: MODEL_TOTAL_MAX }
    }
}

/// An answer that streams. When it is dropped, or has ended, it is on record.
pub struct ModelAnswer {
    arrived: Arrived,
    event: EgressEvent,
    begun: Instant,
    /// When something came.
    heard: Instant,
    waits: Waits,
    journal: Arc<Journal>,
    who: Caller,
    decision: Digest,
    noted: bool,
}

impl ModelServers {
    /// Asks with `client`, within `rules`, and records each question in `journal`.
    ///
    /// # Errors
    /// If the system gives no thread.
    pub fn new(
        client: Client,
        rules: Rules,
        journal: Arc<Journal>,
        waits: Waits,
    ) -> io::Result<Self> {
        let servers = NamedServers::dangerously_without_permits(client, rules)?;
        Ok(Self { servers, journal, waits })
    }

    /// Sends `body` to `target`, as `permit` permits. Redirects are not followed: the key is for one host. Nobody waits for
    /// the head of the answer once `is_cancelled` says so.
    ///
    /// # Errors
    /// If it leads inside, nobody answers in time, or it cannot be recorded.
    pub fn post(
        &self,
        permit: &Permit<LlmCall>,
        target: &Target,
        (headers, body): (Vec<(String, Zeroizing<String>)>, Bytes),
        is_cancelled: &dyn Fn() -> bool,
    ) -> Result<ModelAnswer, AskError> {
        let mut event = EgressEvent::to(target, "llm_call", &correlation()?, 0);
        event.method = "POST".to_owned();
        event.sent_bytes = body.len() as u64;
        event.opened = self.servers.inner().opens(target.host(), target.port());
        let begun = Instant::now();
        let wait = self.waits.head;
        let question = Question { verb: Verb::Post, target, hidden: None, headers, body, wait };
        let arrived = match self.servers.ask_until(&question, is_cancelled) {
            Ok(arrived) => arrived,
            Err(error) => {
                event.failed(&error);
                event.took = begun.elapsed();
                let noted = event.note(&self.journal, permit.who(), Some(permit.record()));
                return Err(noted.map_or_else(|_| unnoted(), |()| error));
            }
        };
        event.outcome = Outcome::Answered(arrived.status);
        event.address = arrived.address();
        Ok(ModelAnswer {
            arrived,
            event,
            begun,
            heard: Instant::now(),
            waits: self.waits,
            journal: Arc::clone(&self.journal),
            who: permit.who().clone(),
            decision: permit.record(),
            noted: false,
        })
    }
}

impl ModelAnswer {
    /// Its status.
    #[must_use]
    pub fn status(&self) -> u16 {
        self.arrived.status
    }

    /// Returns the value of a header field, by its name in small letters.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.arrived.header(name)
    }

    /// Waits for the next piece, which is empty where nothing has come for a moment: whoever reads may not want more. None if
    /// the body is whole.
    ///
    /// # Errors
    /// If it broke off, took too long, or cannot be recorded.
    pub fn next_chunk(&mut self) -> Result<Option<Bytes>, AskError> {
        match self.piece() {
            Ok(Some(bytes)) => {
                self.event.received_bytes =
                    self.event.received_bytes.saturating_add(bytes.len() as u64);
                Ok(Some(bytes))
            }
            Ok(None) => self.note().map(|()| None),
            Err(error) => {
                self.event.failed(&error);
                self.note()?;
                Err(error)
            }
        }
    }

    fn piece(&mut self) -> Result<Option<Bytes>, AskError> {
        let left = self.waits.total.saturating_sub(self.begun.elapsed());
        if left.is_zero() {
            let total = self.waits.total.as_secs();
            return Err(AskError::Failed(format!("the answer took longer than {total} s")));
        }
        let idle = self.waits.idle.saturating_sub(self.heard.elapsed());
        if idle.is_zero() {
            let idle = self.waits.idle.as_millis();
            return Err(AskError::Failed(format!("nothing came for {idle} ms")));
        }
        match self.arrived.next(idle.min(left).min(LOOK))? {
            Piece::Data(bytes) => {
                if !bytes.is_empty() {
                    self.heard = Instant::now();
                }
                Ok(Some(bytes))
            }
            Piece::Still => Ok(Some(Bytes::new())),
            Piece::End => Ok(None),
        }
    }

    /// INVARIANT (NothingSilent): of what is not recorded nothing is given out.
    fn note(&mut self) -> Result<(), AskError> {
        if std::mem::replace(&mut self.noted, true) {
            return Ok(());
        }
        self.event.took = self.begun.elapsed();
        let noted = self.event.note(&self.journal, &self.who, Some(self.decision));
        noted.map_err(|_| unnoted())
    }
}

impl Drop for ModelAnswer {
    fn drop(&mut self) {
        // Nobody is left to tell: what was given out is on record with the outcome of its call.
        let _ = self.note();
    }
}

pub(crate) fn unnoted() -> AskError {
    AskError::Failed("what was asked could not be recorded".to_owned())
}

pub(crate) fn correlation() -> Result<String, AskError> {
    let mut bytes = [0; CORRELATION_BYTES];
    getrandom::fill(&mut bytes)
        .map(|()| HEXLOWER.encode(&bytes))
        .map_err(|error| AskError::Failed(format!("the system gives no randomness: {error}")))
}
