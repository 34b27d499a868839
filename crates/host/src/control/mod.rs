//! The person's door to a gate that runs: they answer what it asks, say something to a session, and have it
//! recorded what they do with the state directory, since the gate has the journal.
//!
//! INVARIANT (OnlyPeopleApprove): this is another socket than the agents', no action of theirs leads
//! here, and only processes of the same user can connect. What keeps an agent of that user from it is
//! a sandbox, not this door.

mod client;
mod deed;
mod evidence;
mod request;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use ::evidence::{AppendError, Journal, NewRecord};
use aegx::RecordType;
use model::{Kind, SessionId};
use monitor::approvals::ApprovalError;
use monitor::confirm::Confirmation;
use monitor::{Monitor, Refusal};
use scan::leak::Sources;
use serde_json::{Value, json};

use crate::ipc::serve::{Serves, connections};
use crate::ipc::{FrameError, Limits, Socket, Stop};
use crate::{plugins, trust_question};

pub use client::{AskError, ask};
pub use deed::{Deed, DeedError};
pub use evidence::is_refused;
pub use request::{DEEDS, PromptAct, Request, RequestError, TAINT_CLEARED};

/// The longest request, in bytes.
pub const REQUEST_BYTES_MAX: usize = 1 << 20;
/// How long a connection may wait, in each of the ways that there are.
pub const CONTROL_SECONDS_MAX: u64 = 30;
/// How long a person waits for work on the whole journal.
const LONG_WORK_MAX: Duration = Duration::from_secs(3600);
/// How much of a request that was refused is recorded, in bytes.
const PREVIEW_BYTES_MAX: usize = 400;

/// Where the door of the gate on the state directory `home` is.
#[must_use]
pub fn socket_path(home: &Path) -> PathBuf {
    home.join("control.sock")
}

/// The door.
pub struct Control {
    monitor: Arc<Monitor>,
    journal: Arc<Journal>,
    home: PathBuf,
}

/// Why a request was not done.
struct Undone {
    error: String,
    /// Was it refused, or did something not work?
    refused: bool,
}

impl Control {
    /// A door to what `monitor` asks. `journal` is the monitor's, and `home` the state directory.
    #[must_use]
    pub fn new(monitor: Arc<Monitor>, journal: Arc<Journal>, home: &Path) -> Self {
        Self { monitor, journal, home: home.to_owned() }
    }

    /// Does `work` while the connections of `socket` are served.
    ///
    /// # Errors
    /// If there is no thread for it.
    pub fn beside<T>(&self, socket: &Socket, work: impl FnOnce() -> T) -> io::Result<T> {
        let (stopper, stop) = Stop::pair()?;
        thread::scope(|scope| {
            let serve = || {
                // Where it cannot be waited for, nobody can answer; what was asked stays asked.
                let _ = connections(self, socket, &limits(), &stop);
            };
            thread::Builder::new().name("control".to_owned()).spawn_scoped(scope, serve)?;
            let done = work();
            stopper.stop();
            Ok(done)
        })
    }

    /// Answers one request.
    #[must_use]
    pub fn reply(&self, message: &[u8]) -> Value {
        let done = Request::parse(message)
            .map_err(|error| Undone { error: error.to_string(), refused: true })
            .and_then(|request| self.perform(request));
        done.unwrap_or_else(|undone| {
            // The words of a prompt go onto no record, refused or not.
            let holds_prompt = String::from_utf8_lossy(message).contains("prompt");
            self.record_refused(&undone.error, if holds_prompt { b"" } else { message });
            json!({ "ok": false, "error": undone.error, "refused": undone.refused })
        })
    }

    fn perform(&self, request: Request) -> Result<Value, Undone> {
        match request {
            Request::Answer { id, word, by, reason } => {
                let done = self.monitor.answer_approval(id, word, by, reason)?;
                let trusted = trust_question::answered(&self.journal, &self.home, &done);
                trusted.map_err(|error| Undone { error, refused: false })?;
                let record = done.answered.map(|(_, record)| record);
                Ok(json!({
                    "ok": true,
                    "expires": done.question.expires,
                    "record": record,
                    "state": done.state.as_str(),
                }))
            }
            Request::Say { session, text } => self.say(&session, &text),
            Request::Prompt { session, act } => self.prompt(&session, &act),
            Request::Plugins => self.plugins(),
            Request::Checkpoint => {
                let kept = self.journal.checkpoint();
                let kept = kept.map_err(|it| Undone { error: it.to_string(), refused: false })?;
                Ok(json!({ "ok": true, "size": kept.size, "ts": kept.ts, "note": kept.note }))
            }
            Request::Retain { before } => self.retain(before),
            Request::Import { bundle } => self.import(&bundle),
            Request::Act(deed) => {
                self.check_session(&deed)?;
                let judged = deed.by_hand().map(|it| self.monitor.judge_by_hand(&it));
                let receipt = deed.record(&self.journal, judged).map_err(|it| {
                    let unable = |it: &AppendError| !matches!(it, AppendError::Record(_));
                    let refused = !matches!(&it, DeedError::NotRecorded(it) if unable(it));
                    Undone { error: it.to_string(), refused }
                })?;
                Ok(json!({ "ok": true, "idx": receipt.idx(), "record": receipt.id().to_string() }))
            }
        }
    }

    /// A session that is open here has its marks in memory, and would write them back.
    fn check_session(&self, deed: &Deed) -> Result<(), Undone> {
        let Some(session) = deed.session.as_ref().filter(|_| deed.kind == TAINT_CLEARED) else {
            return Ok(());
        };
        if self.monitor.caller_of(session).is_err() {
            return Ok(());
        }
        let error = format!("session {session} is open; end it, then clear it");
        Err(Undone { error, refused: true })
    }

    /// Every file of every plugin, as at the start. What is refused is on record before it is told.
    fn plugins(&self) -> Result<Value, Undone> {
        let checked = plugins::check(&self.home, &self.journal);
        let unable = |error: AppendError| Undone { error: error.to_string(), refused: false };
        let checked = checked.map_err(unable)?;
        let refused = |it: &plugins::Refused| json!({ "plugin": it.name, "error": it.why });
        Ok(json!({
            "ok": true,
            "sound": checked.sound.iter().map(|it| it.name.as_str()).collect::<Vec<_>>(),
            "unsound": checked.refused.iter().map(refused).collect::<Vec<_>>(),
        }))
    }

    /// What answers of a session are compared with. The record names the prompt by its hash, and nothing keeps its words.
    fn prompt(&self, session: &SessionId, act: &PromptAct) -> Result<Value, Undone> {
        let who = self.monitor.caller_of(session)?;
        match act {
            PromptAct::Register { prompt, tokens, public } => {
                let sources = Sources { prompt: prompt.as_deref(), tokens, public };
                let done = self.monitor.register_system_prompt(&who, &sources)?;
                // Whoever is told of a record finds it.
                self.monitor.settle_all()?;
                Ok(json!({
                    "ok": true,
                    "prompt_sha256": done.prompt_hash,
                    "record": done.record.to_string(),
                    "tokens": done.tokens,
                    "truncated": done.truncated,
                }))
            }
            PromptAct::Show {} => {
                let found = self.monitor.registered_prompt(&who)?;
                let hash = found.as_ref().and_then(|it| it.prompt_hash().map(str::to_owned));
                let tokens = found.as_ref().map(|it| it.token_count());
                Ok(json!({ "ok": true, "prompt_sha256": hash, "tokens": tokens }))
            }
            PromptAct::Clear {} => {
                let record = self.monitor.clear_system_prompt(&who)?;
                self.monitor.settle_all()?;
                Ok(json!({ "ok": true, "record": record.to_string() }))
            }
        }
    }

    /// The user's own words, and a turn of theirs begins.
    fn say(&self, session: &SessionId, text: &str) -> Result<Value, Undone> {
        let who = self.monitor.caller_of(session)?;
        let heard = self.monitor.hear_turn(&who, text)?;
        self.monitor.settle_all()?;
        let answer = match heard.answer {
            Confirmation::Yes(_) => "yes",
            Confirmation::No => "no",
            Confirmation::Ambiguous => "ambiguous",
            Confirmation::None => "none",
        };
        Ok(json!({ "ok": true, "answer": answer, "record": heard.record.to_string() }))
    }

    /// INVARIANT (NothingSilent): what was not done is recorded too.
    fn record_refused(&self, error: &str, message: &[u8]) {
        // Before it is cut: half a secret is none that anybody would know.
        let text = String::from_utf8_lossy(message);
        let text = self.monitor.without_secrets(&text);
        let beginning = text.get(..text.floor_char_boundary(PREVIEW_BYTES_MAX)).unwrap_or(&text);
        let content = json!({
            "bytes": message.len(),
            "decision": "deny",
            "error": error,
            "preview": beginning,
        });
        let kind = Kind::of_static("control_refused");
        // It is not done, recorded or not.
        let _ = self.journal.append(NewRecord::of_host(RecordType::GuardDecision, kind, content));
    }
}

impl Serves for Control {
    fn answer(&self, message: &[u8]) -> Vec<u8> {
        self.reply(message).to_string().into_bytes()
    }

    fn no_frame(&self, error: &FrameError) {
        if error.is_malformed() {
            self.record_refused(&error.to_string(), b"");
        }
    }
}

impl From<ApprovalError> for Undone {
    fn from(error: ApprovalError) -> Self {
        Self { error: error.to_string(), refused: error.is_refusal() }
    }
}

impl From<Refusal> for Undone {
    fn from(refusal: Refusal) -> Self {
        let unable = matches!(refusal, Refusal::NotRecorded(_) | Refusal::NotKept(_));
        Self { error: refusal.to_string(), refused: !unable }
    }
}

/// A person is quick, or comes again.
fn limits() -> Limits {
    let at_most = Duration::from_secs(CONTROL_SECONDS_MAX);
    Limits { idle: at_most, frame: at_most, answer: at_most, bytes_max: REQUEST_BYTES_MAX }
}

/// How long who asks waits for the answer: what goes over the whole journal, or a bundle of any size, takes its time.
fn patience(request: &Request) -> Duration {
    match request {
        Request::Retain { .. } | Request::Import { .. } => LONG_WORK_MAX,
        Request::Answer { .. }
        | Request::Say { .. }
        | Request::Prompt { .. }
        | Request::Plugins
        | Request::Checkpoint
        | Request::Act(_) => limits().idle,
    }
}
