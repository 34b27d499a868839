//! Asks messengers for what was said, and has them say something.
//!
//! INVARIANT (OneGate): saying spends what a permit for `message_out` with an address permits, listening what one for a request to the
//! messenger's host does; each exchange is recorded beside that decision, however it ends.
//!
//! INVARIANT (Bounded): an answer has a length and an end, or it is none.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use evidence::Journal;
use model::ToolCall;
use model::ipc::MessageOut;
use monitor::Permit;
use scan::net::{Inner, Refused, Rule, Target};
use serde_json::Value;
use zeroize::Zeroizing;

use crate::client::{AskError, Client};
use crate::event::{EgressEvent, Outcome};
use crate::models::{correlation, unnoted};
use crate::named::{NamedServers, Piece, Question, Verb};
use crate::rules::Rules;
use crate::tunnel::URL;

/// How often it is looked whether somebody still waits.
const LOOK: Duration = Duration::from_millis(200);

/// A client for messengers.
pub struct Messengers {
    servers: NamedServers,
    journal: Arc<Journal>,
}

/// A question to a messenger.
pub struct Telling<'a> {
    /// How it is asked.
    pub verb: Verb,
    /// Whom: its host, and a path without secrets.
    pub target: &'a Target,
    /// The path, if it holds a secret.
    pub hidden: Option<Zeroizing<String>>,
    /// Header fields; their values may be secrets.
    pub headers: Vec<(String, Zeroizing<String>)>,
    /// What is sent along.
    pub body: Bytes,
    /// For all of it.
    pub wait: Duration,
    /// The longest answer, in bytes.
    pub bytes_max: usize,
}

/// A whole answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// Its status.
    pub status: u16,
    /// The field `retry-after`, as the server wrote it.
    pub retry_after: Option<String>,
    /// Its body.
    pub body: Vec<u8>,
}

/// An effect by which a messenger may be asked.
pub trait ReachesMessenger {
    /// What it is called in records.
    const TOOL: &'static str;

    /// Does it permit this one?
    fn permits(&self, target: &Target, inner: &Inner) -> bool;
}

/// Saying something somewhere on a messenger. That it is there and nowhere else is seen to by whoever writes the request,
/// and has the permit in hand; what is said to nobody on a messenger permits none.
impl ReachesMessenger for MessageOut {
    const TOOL: &'static str = "message_out";

    fn permits(&self, _: &Target, _: &Inner) -> bool {
        self.to.is_some()
    }
}

/// Listening: to the host that was named.
impl ReachesMessenger for ToolCall {
    const TOOL: &'static str = "channel_listen";

    fn permits(&self, target: &Target, inner: &Inner) -> bool {
        let named = self.call.args().get(URL).and_then(Value::as_str);
        let named = named.and_then(|it| Target::within(it, inner).ok());
        named.is_some_and(|it| {
            (it.scheme(), it.host(), it.port()) == (target.scheme(), target.host(), target.port())
        })
    }
}

impl Messengers {
    /// Asks with `client`, within `rules`, and records each question in `journal`.
    ///
    /// # Errors
    /// If the system gives no thread.
    pub fn new(client: Client, rules: Rules, journal: Arc<Journal>) -> io::Result<Self> {
        let servers = NamedServers::dangerously_without_permits(client, rules)?;
        Ok(Self { servers, journal })
    }

    /// Asks once, as `permit` permits, and gives the whole answer. Redirects are not followed: the token is for one
    /// host. It ends early where `stop` is set meanwhile.
    ///
    /// # Errors
    /// If it leads elsewhere, nobody answers in time, the answer does not end, or it cannot be recorded.
    pub fn ask<E: ReachesMessenger>(
        &self,
        permit: &Permit<E>,
        telling: Telling<'_>,
        stop: &AtomicBool,
    ) -> Result<Told, AskError> {
        let target = telling.target;
        let mut event = EgressEvent::to(target, E::TOOL, &correlation()?, 0);
        event.method = match telling.verb {
            Verb::Get => "GET",
            Verb::Post => "POST",
            Verb::Delete => "DELETE",
        }
        .to_owned();
        event.sent_bytes = telling.body.len() as u64;
        event.opened = self.servers.inner().opens(target.host(), target.port());
        let begun = Instant::now();
        let answer = match permit.effect().permits(target, self.servers.inner()) {
            true => self.exchange(telling, begun, stop, &mut event),
            false => {
                let reason = "the permit is for another host".to_owned();
                Err(Refused { rule: Rule::EgressBlocked, reason }.into())
            }
        };
        if let Err(error) = &answer {
            event.failed(error);
        }
        event.took = begun.elapsed();
        // INVARIANT (NothingSilent): of what is not recorded nothing is given out.
        event.note(&self.journal, permit.who(), Some(permit.record())).map_err(|_| unnoted())?;
        answer
    }

    fn exchange(
        &self,
        telling: Telling<'_>,
        begun: Instant,
        stop: &AtomicBool,
        event: &mut EgressEvent,
    ) -> Result<Told, AskError> {
        let Telling { verb, target, hidden, headers, body, wait, bytes_max } = telling;
        let hidden = hidden.as_ref().map(|it| it.as_str());
        let question = Question { verb, target, hidden, headers, body, wait };
        let mut arrived = self.servers.ask(&question, stop)?;
        event.outcome = Outcome::Answered(arrived.status);
        event.address = arrived.address();
        let mut body = Vec::new();
        loop {
            let left = wait.saturating_sub(begun.elapsed());
            if left.is_zero() {
                let wait = wait.as_secs();
                return Err(AskError::Failed(format!("the answer took longer than {wait} s")));
            }
            if stop.load(Ordering::Relaxed) {
                return Err(AskError::Failed("nobody waits for the answer any more".into()));
            }
            match arrived.next(left.min(LOOK))? {
                Piece::Data(bytes) => {
                    event.received_bytes = event.received_bytes.saturating_add(bytes.len() as u64);
                    if body.len().saturating_add(bytes.len()) > bytes_max {
                        let why = format!("the answer has more than {bytes_max} bytes");
                        return Err(AskError::Failed(why));
                    }
                    body.extend_from_slice(&bytes);
                }
                Piece::Still => {}
                Piece::End => break,
            }
        }
        let retry_after = arrived.header("retry-after").map(str::to_owned);
        Ok(Told { status: arrived.status, retry_after, body })
    }
}
