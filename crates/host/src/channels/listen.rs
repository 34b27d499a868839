//! Listening to a messenger: one call at the gate for as long as that lasts, in a session of the host's own.
//!
//! What was heard is no output of that call: each message is taken in for itself, in the session of whoever it is for.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use aegx::Principal;
use channel::{ChannelError, Discord, Inbound};
use gateway::proxy;
use model::{AgentId, Caller, Effect, Kind, RawCall, SessionId, ToolCall, UserId};
use monitor::{Admission, Approver, Asked, Executor, Granted, Opening, Output, Permit};
use policy::access::{Manifest, Origin, User};
use serde_json::json;

use super::error::ListenError;
use super::line::{Line, Messenger};

/// How long one call at the gate lasts: then the rules of that moment are asked again, and the token.
const LISTEN_MAX: Duration = Duration::from_secs(3600);
/// How often it is looked whether it is to end.
const LOOK: Duration = Duration::from_millis(200);
/// The call by which a host is asked, as the proxy has it.
const CALL: &str = "http_request";
/// For whom: nobody but the host.
const USER: &str = "host";
const AGENT: &str = "channels";

impl Line {
    /// Listens until `stop` is set, or for a while, and tells `hear` of each message. That says whether somebody takes
    /// messages still: if not, those that came last come again where the messenger keeps them.
    ///
    /// # Errors
    /// If the gate refuses it, or the messenger does not answer.
    pub fn listen(
        &self,
        stop: &AtomicBool,
        hear: &mut dyn FnMut(Inbound) -> bool,
    ) -> Result<(), ListenError> {
        let who = self.listener().map_err(|it| failed(&it))?;
        self.open(&who).map_err(|it| failed(&it))?;
        let listening =
            Listening { line: self, stop, hear: RefCell::new(hear), ended: RefCell::default() };
        let args = json!({ "url": self.target.url().as_str(), "method": "POST" }).to_string();
        let asked = Asked::Tool(RawCall { tool: CALL, args: args.as_bytes() });
        let ran = self.gate.monitor.run(&who, &asked, &listening);
        let closed = self.gate.monitor.end_session(&who);
        if let Some(error) = listening.ended.take() {
            return Err(error);
        }
        ran.map_err(|it| failed(&it))?;
        closed.map_err(|it| failed(&it))
    }

    fn listener(&self) -> Result<Caller, Box<dyn std::error::Error>> {
        let mut random = [0; 8];
        getrandom::fill(&mut random)?;
        let session = format!("channel-{}-{:016x}", self.name(), u64::from_be_bytes(random));
        Ok(Caller {
            session: SessionId::parse(&session)?,
            user: UserId::parse(USER)?,
            agent: AgentId::parse(AGENT)?,
            door: Kind::of_static("channel"),
        })
    }

    /// A session that has the one call, and may reach what its settings name.
    fn open(&self, who: &Caller) -> Result<(), Box<dyn std::error::Error>> {
        let global = self.global.clone().dangerously_opening(self.inner.clone()).without_scopes();
        let admission = Admission::Layered {
            global: Arc::new(global),
            manifest: Arc::new(Manifest::silent(&who.agent)),
            user: Arc::new(User::local(who.user.clone())),
            origin: Origin::Local,
            sub_agents: Vec::new(),
        };
        let opening = Opening {
            who: who.clone(),
            principal: Principal::Sys,
            profile: admission.profile(),
            parent: None,
            admission,
            approver: Approver::Absent,
            tools: proxy::tools()?,
        };
        Ok(self.gate.monitor.open_session(opening)?)
    }
}

fn failed(why: &dyn std::fmt::Display) -> ListenError {
    ListenError { why: why.to_string(), retry: None, answered: false }
}

struct Listening<'a> {
    line: &'a Line,
    stop: &'a AtomicBool,
    hear: RefCell<&'a mut dyn FnMut(Inbound) -> bool>,
    ended: RefCell<Option<ListenError>>,
}

impl Executor for Listening<'_> {
    fn execute(&self, permit: Permit<Effect>) -> Output {
        let Granted::Tool(permit) = permit.by_kind() else {
            return Output::not_begun("this listens and does nothing else");
        };
        let heard = self.heard(&permit);
        drop(permit.spend());
        match heard {
            Ok(count) => Output::text(json!({ "heard": count }).to_string()),
            Err(error) => {
                let output = Output::unanswered("the messenger is not listened to any more");
                self.ended.replace(Some(error));
                output
            }
        }
    }
}

impl Listening<'_> {
    fn heard(&self, permit: &Permit<ToolCall>) -> Result<u64, ListenError> {
        let wire = self.line.wire(permit, self.stop).map_err(|it| failed(&it))?;
        let until = Instant::now() + LISTEN_MAX;
        let is_over = || self.stop.load(Ordering::Acquire) || Instant::now() >= until;
        let mut count = 0u64;
        let pause = match &self.line.kind {
            Messenger::Telegram(_) => Duration::ZERO,
            Messenger::Discord(_) => Discord::PAUSE,
            // These call us.
            Messenger::Slack(_) | Messenger::WhatsApp(_) => {
                let verifier = self.line.new_verifier(permit).map_err(|it| failed(&it))?;
                let _installed = self.line.install(verifier);
                while !is_over() {
                    thread::sleep(LOOK);
                }
                return Ok(count);
            }
        };
        let mut answered = false;
        while !is_over() {
            let heard = match self.line.kind.channel().receive(&wire) {
                Ok(heard) => heard,
                Err(_) if self.stop.load(Ordering::Acquire) => break,
                Err(error) => {
                    return Err(not_heard(&wire.clean(&error.to_string()), &error, answered));
                }
            };
            answered = true;
            let mut is_taken = true;
            for message in heard {
                count = count.saturating_add(1);
                is_taken &= (self.hear.borrow_mut())(message);
            }
            if !is_taken {
                return Ok(count);
            }
            let again = Instant::now() + pause;
            while Instant::now() < again && !is_over() {
                thread::sleep(LOOK.min(pause));
            }
        }
        if answered {
            // What was heard is not to come again. The way that `stop` breaks off is no way for that any more; whoever
            // cannot say it may hear the last messages twice, if they are of late.
            let leaving = AtomicBool::new(false);
            if let Ok(wire) = self.line.wire(permit, &leaving) {
                let _ = self.line.kind.channel().leave(&wire);
            }
        }
        Ok(count)
    }
}

fn not_heard(why: &str, error: &ChannelError, answered: bool) -> ListenError {
    ListenError { why: why.to_owned(), retry: error.retry(), answered }
}
