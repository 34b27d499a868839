//! One message of a user, from its arrival to the last frame: place in the queue → access → length → rate → its turn →
//! budget → worker → frames. Each question of it to a model is paid by itself.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::{Duration, Instant};

use agent::{Purse, Reply, Status, Turn, TurnError, TurnErrorCode, Voice, percentage};
use llm::Usage;
use policy::access::Budget;
use serde_json::json;
use tokio::sync::oneshot;

use crate::admit::{admit, again, may_use};
use crate::app::App;
use crate::books::{Exceeded, Role};
use crate::directory::Known;
use crate::frame::{ErrorCode, ResultUsage, ServerFrame, UsageShown, Warning, code_of};
use crate::holdback::clean;
use crate::limits::{ERROR_CHARS_MAX, TURN_WAIT_MAX};
use crate::log::{About, Event};
use crate::metrics::{Ended, Outcome};
use crate::relay::Relay;
use crate::sockets::Closing;
use crate::tab::{Tab, near};
use crate::turns::{Key, Waiting};
use crate::workers::Slot;

/// What a user wants of an agent.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) known: Known,
    pub(crate) key: Key,
    pub(crate) content: String,
    /// Whose words that is.
    pub(crate) voice: Voice,
    /// What the client says was said before; nobody's word.
    pub(crate) earlier: Option<String>,
    /// Nobody is expected to go on with the session, so its worker ends with the turn.
    pub(crate) once: bool,
}

impl Asked {
    /// Characters that the agent is told.
    pub(crate) fn chars(&self) -> usize {
        let earlier = self.earlier.as_ref().map_or(0, |it| it.chars().count());
        self.content.chars().count().saturating_add(earlier)
    }
}

/// An answer.
#[derive(Clone, Debug)]
pub(crate) struct Answered {
    pub(crate) content: String,
    pub(crate) interrupted: bool,
    pub(crate) usage: Usage,
}

/// Why there is none.
#[derive(Clone, Debug)]
pub(crate) struct Refused {
    pub(crate) code: ErrorCode,
    pub(crate) message: String,
    pub(crate) retry_after: Option<Duration>,
    pub(crate) exceeded: Option<Exceeded>,
    /// Has the session heard of it already?
    pub(crate) is_told: bool,
}

impl Refused {
    pub(crate) fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { code, message, retry_after: None, exceeded: None, is_told: false }
    }

    /// As frames.
    pub(crate) fn frames(&self) -> Vec<ServerFrame> {
        if let Some(it) = &self.exceeded {
            return vec![ServerFrame::BudgetExceeded {
                reason: it.budget,
                limit: it.limit,
                used: it.used,
                resets_at: it.resets_at.map(aegx::timestamp::from_unix),
            }];
        }
        vec![ServerFrame::Error {
            code: self.code,
            message: self.message.clone(),
            retry_after: self.retry_after.map(|it| it.as_secs().saturating_add(1)),
            detail: None,
        }]
    }
}

/// Runs one message to its end. Whatever ends it, the order of the session goes on and the account is kept.
pub(crate) async fn run(
    app: &Arc<App>,
    asked: Asked,
    waiting: Option<Waiting>,
) -> Result<Answered, Refused> {
    let done = run_counted(app, &asked, waiting).await;
    if asked.once && done.is_err() {
        forget_unsaid(app, &asked.key).await;
    }
    let outcome = match &done {
        Ok(answer) if answer.interrupted => Outcome::Interrupted,
        Ok(_) => Outcome::Answered,
        Err(refused) if is_failure(refused.code) => Outcome::Failed,
        Err(_) => Outcome::Refused,
    };
    app.metrics.turns.get_or_create(&Ended { outcome }).inc();
    app.errors.note(matches!(outcome, Outcome::Failed));
    done
}

/// Forgets the session of a message that was refused, if it was begun for that message alone: a client that tries again and
/// again would have as many as a user may have.
async fn forget_unsaid(app: &Arc<App>, key: &Key) {
    let of = key.clone();
    let gone = app.blocking(move |app| app.books.forget_unsaid(&of.user, &of.session)).await;
    if matches!(gone, Some(Ok(true))) {
        // Whoever listens is still to hear why.
        session_ended(app, key, "refused");
    }
}

fn is_failure(code: ErrorCode) -> bool {
    matches!(
        code,
        ErrorCode::InitFailed
            | ErrorCode::WorkerError
            | ErrorCode::Internal
            | ErrorCode::ModelOverloaded
            | ErrorCode::ModelUnreachable
            | ErrorCode::ModelInvalidKey
            | ErrorCode::ModelInvalidRequest
    )
}

async fn run_counted(
    app: &Arc<App>,
    asked: &Asked,
    waiting: Option<Waiting>,
) -> Result<Answered, Refused> {
    admit(app, &app.directory(), asked).await?;
    let busy = || Refused::new(ErrorCode::Busy, "the messages before this one take too long");
    let held = waiting.ok_or_else(busy)?.turn(TURN_WAIT_MAX).await.ok_or_else(busy)?;
    let _in_use = app.deletions.enter(&asked.key.user)?;
    if app.is_draining() {
        return Err(Refused::new(ErrorCode::ShuttingDown, "the server is about to end"));
    }
    // They may have lost their token, their access or their budget while they waited.
    let (directory, asked) = (app.directory(), again(app, asked).await?);
    may_use(&directory, &asked.known, &asked.key.agent)?;
    let asked = &asked;
    let tab = opened(app, asked).await?;
    let Some(slot) = app.workers.take(&asked.key, directory.settings.max_workers.as_len()) else {
        let why = "all workers are busy; try again when a turn has ended";
        return Err(Refused::new(ErrorCode::WorkersExhausted, why));
    };
    let began = Instant::now();
    app.metrics.running.inc();
    let ended = work(app, asked, (slot, held.stop()), &tab).await;
    app.metrics.running.dec();
    app.metrics.turn_seconds.observe(began.elapsed().as_secs_f64());
    let usage = ended.as_ref().map_or_else(|error| error.usage, |reply| reply.usage);
    app.metrics.tokens.inc_by(usage.input_tokens.saturating_add(usage.output_tokens));
    let of_turn = Arc::clone(&tab);
    // What cannot be written down stays set aside.
    let _ = app.blocking(move |_| of_turn.end()).await;
    let reply = ended.map_err(|error| {
        let exceeded = tab.exceeded().filter(|_| error.code == TurnErrorCode::BudgetExceeded);
        let why = Refused::new(code_of(&error), shortened(&clean(&error.message)));
        broken_off(app, &asked.key, Refused { exceeded, ..why })
    })?;
    conclude(app, asked, reply, &tab, began).await
}

/// Tells all who listen that a turn that had begun has ended, and why: nobody waits for more of it.
fn broken_off(app: &App, key: &Key, refused: Refused) -> Refused {
    for frame in refused.frames() {
        say(app, key, |_| frame);
    }
    say(app, key, |_| ServerFrame::Status { status: Status::Idle });
    Refused { is_told: true, ..refused }
}

pub(crate) fn internal(why: &str) -> Refused {
    Refused::new(ErrorCode::Internal, why)
}

/// The account of a turn, of which something is left.
async fn opened(app: &Arc<App>, asked: &Asked) -> Result<Arc<Tab>, Refused> {
    let (known, key) = (asked.known.clone(), asked.key.clone());
    let opened = app.blocking(move |app| {
        let tab = Tab::new(app, &known.user, &key.agent, &key.session);
        match tab.open() {
            Ok(()) => Ok(Arc::new(tab)),
            Err(why) => Err((tab.exceeded(), why)),
        }
    });
    match opened.await {
        Some(Ok(tab)) => Ok(tab),
        Some(Err((Some(exceeded), why))) => {
            let refused = Refused::new(ErrorCode::BudgetExceeded, why.message);
            Err(Refused { exceeded: Some(exceeded), ..refused })
        }
        // INVARIANT (FailClosed): what cannot be looked up is not spent.
        Some(Err((None, _))) | None => Err(internal("the books do not answer")),
    }
}

/// Runs the turn on a thread of its own.
async fn work(
    app: &Arc<App>,
    asked: &Asked,
    (slot, stop): (Slot, Arc<AtomicBool>),
    tab: &Arc<Tab>,
) -> Result<Reply, TurnError> {
    let broke = |why: &str| TurnError::new(TurnErrorCode::WorkerError, why);
    let (key, content, now) = (asked.key.clone(), asked.content.clone(), app.now());
    let said =
        app.blocking(move |app| app.books.say(&key.session, Role::User, &content, now)).await;
    if !matches!(said, Some(Ok(()))) {
        let why = "the session has gone, or the books do not answer";
        return Err(TurnError::new(TurnErrorCode::SessionNotFound, why));
    }
    let turn = Turn {
        user: asked.key.user.clone(),
        agent: asked.key.agent.clone(),
        session: asked.key.session.clone(),
        content: asked.content.clone(),
        voice: asked.voice.clone(),
        earlier: asked.earlier.clone(),
        // Whoever comes over the network is remote, wherever they sit.
        local: false,
        stop,
    };
    let (done, ended) = oneshot::channel();
    let (on_thread, key, once) = (Arc::clone(app), asked.key.clone(), asked.once);
    let purse = Arc::clone(tab) as Arc<dyn Purse>;
    app.log(Event::TurnBegan, about(&asked.key), json!({ "chars": asked.chars() }));
    let spawned = thread::Builder::new().name("serve-turn".to_owned()).spawn(move || {
        let _slot = slot;
        let mut relay = Relay::new(&on_thread, &key);
        let reply = on_thread.parts.runtime.turn(&turn, &purse, &mut |frame| relay.frame(frame));
        relay.finish();
        if once {
            on_thread.parts.runtime.close(&key.user, &key.agent, &key.session);
            session_ended(&on_thread, &key, "once");
        }
        // Whoever waits may have gone.
        let _ = done.send(reply);
    });
    if spawned.is_err() {
        return Err(broke("there is no thread for it"));
    }
    let ended = watched(app, &asked.key, ended).await;
    let reply = ended.unwrap_or_else(|| Err(broke("the turn broke off").perhaps_more()));
    app.reach.note(&reply);
    let event = if reply.is_ok() { Event::TurnEnded } else { Event::TurnFailed };
    let code = reply.as_ref().err().map(|it| code_of(it).as_str());
    app.log(event, about(&asked.key), json!({ "code": code }));
    reply
}

/// How often it is looked whether the gate asks something.
const ASKED_EVERY: Duration = Duration::from_millis(500);

/// Waits for the end of a turn, and tells meanwhile what the gate asks.
async fn watched(
    app: &Arc<App>,
    key: &Key,
    mut ended: oneshot::Receiver<Result<Reply, TurnError>>,
) -> Option<Result<Reply, TurnError>> {
    let mut told: Vec<String> = Vec::new();
    loop {
        tokio::select! {
            ended = &mut ended => {
                app.rooms.only_open(key, &[]);
                return ended.ok();
            }
            () = tokio::time::sleep(ASKED_EVERY) => {}
        }
        let of = key.clone();
        let waiting = app.blocking(move |app| app.parts.runtime.questions(&of.user, &of.session));
        let waiting = waiting.await.unwrap_or_default();
        if !told.is_empty() {
            let open: Vec<String> = waiting.iter().map(|it| it.tool_id.clone()).collect();
            app.rooms.only_open(key, &open);
        }
        for question in waiting {
            if told.contains(&question.tool_id) {
                continue;
            }
            told.push(question.tool_id.clone());
            let shown = clean(&question.shown.join("\n"));
            say(app, key, |_| ServerFrame::ToolApproval {
                tool_id: question.tool_id,
                tool_name: question.tool_name,
                // What is shown is what the question is bound to; the bare input would be a second reading.
                tool_input: json!({ "shown": shown.lines().collect::<Vec<_>>() }),
                question: shown,
            });
        }
    }
}

/// Says a frame in a session, and closes whoever does not keep up.
pub(crate) fn say(app: &App, key: &Key, frame: impl FnOnce(u64) -> ServerFrame) {
    for id in app.rooms.say(key, app.now_ms(), frame) {
        app.sockets.close(id, Closing::Slow);
    }
}

/// Says the answer, what is left of the budget, and the end.
async fn conclude(
    app: &Arc<App>,
    asked: &Asked,
    reply: Reply,
    tab: &Tab,
    began: Instant,
) -> Result<Answered, Refused> {
    let (key, user) = (asked.key.clone(), Arc::clone(&asked.known.user));
    let content = clean(&reply.content);
    let said = content.clone();
    let is_limited = matches!(user.budget, Budget::Limited(_));
    let kept = app.blocking(move |app| {
        app.books.say(&key.session, Role::Assistant, &said, app.now())?;
        // All that was spent in a month is summed up: not for whoever has no limit.
        let totals = || app.books.totals(&key.user, &key.session, app.now());
        is_limited.then(totals).transpose()
    });
    // A session that was deleted meanwhile gets no answer.
    let Some(Ok(totals)) = kept.await else {
        return Err(Refused::new(ErrorCode::SessionNotFound, "the session has gone"));
    };
    let usage = UsageShown::from(reply.usage);
    say(app, &asked.key, |id| ServerFrame::AssistantMessage {
        id,
        content: content.clone(),
        usage,
    });
    if let (Budget::Limited(limits), Some(totals)) = (&user.budget, totals) {
        let warnings = warnings(limits, &totals);
        if !warnings.is_empty() {
            say(app, &asked.key, |_| ServerFrame::BudgetWarning { warnings });
        }
    }
    let duration_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    let dollars = tab.spent().within(policy::access::Unit::Usd);
    say(app, &asked.key, |_| ServerFrame::Result {
        session_id: asked.key.session.clone(),
        interrupted: reply.interrupted,
        usage: ResultUsage {
            input_tokens: usage.input_tokens,
            output_tokens: usage.output_tokens,
            total_cost_usd: tab.is_priced().then_some(dollars),
            duration_ms,
        },
    });
    say(app, &asked.key, |_| ServerFrame::Status { status: Status::Idle });
    Ok(Answered { content, interrupted: reply.interrupted, usage: reply.usage })
}

/// Limits that are near or reached.
fn warnings(limits: &policy::access::Limits, totals: &crate::books::Totals) -> Vec<Warning> {
    let shown = |it: Exceeded| {
        let percentage = percentage(it.used, it.limit);
        Warning { budget: it.budget, limit: it.limit, used: it.used, percentage }
    };
    near(limits, totals).into_iter().map(shown).collect()
}

/// A session has ended, and why: it was deleted, or nobody goes on with it.
pub(crate) fn session_ended(app: &App, key: &Key, why: &'static str) {
    app.log(Event::SessionEnded, about(key), json!({ "why": why }));
}

pub(crate) fn about(key: &Key) -> About<'_> {
    About { user: Some(&key.user), agent: Some(&key.agent), session: Some(&key.session) }
}

/// A text of somebody else in an error: short, and without characters for control.
pub(crate) fn shortened(text: &str) -> String {
    text.chars().filter(|it| !it.is_control()).take(ERROR_CHARS_MAX).collect()
}
