//! One WebSocket: authenticate → connected → subscribe → messages and frames, until somebody closes it.

use std::sync::Arc;
use std::time::Duration;

use agent::{Approval, Voice};
use axum::extract::ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade};
use axum::extract::{FromRequestParts, Request, State};
use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use model::ipc::Uuid;
use serde_json::json;
use tokio::sync::Semaphore;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio_tungstenite::tungstenite;
use vault::access::bearer;

use crate::admit::{charge, charge_socket, consented, may_use};
use crate::app::App;
use crate::auth::{self, protocol};
use crate::directory::Known;
use crate::frame::{Detail, ErrorCode, ServerFrame};
use crate::front::{From, parameter};
use crate::limits::{
    BODY_BYTES_MAX, CONTROLS_PER_MINUTE_MAX, OUTGOING_MAX, SEND_MAX, TURNS_PER_SOCKET_MAX,
    WRITE_BUFFER_BYTES_MAX,
};
use crate::log::{About, Event};
use crate::message::{ClientMessage, MessageError};
use crate::opening::open_session;
use crate::refusal::Refusal;
use crate::sockets::{Closing, Outgoing, Seat};
use crate::turn::{self, Asked, Refused};
use crate::turns::Key;

const MINUTE: Duration = Duration::from_secs(60);

/// `GET /ws`.
pub(crate) async fn upgrade(
    State(app): State<Arc<App>>,
    request: Request,
) -> Result<Response, Refusal> {
    let (mut parts, _) = request.into_parts();
    let From(from) = *parts.extensions.get::<From>().ok_or_else(Refusal::broken)?;
    let (offered, spoken) = protocol(&parts.headers);
    let header = parts.headers.get(header::AUTHORIZATION).and_then(|it| it.to_str().ok());
    let token = bearer(header).map(str::to_owned).or(offered);
    let query = parts.uri.query();
    let (in_query, ticket) = (parameter(query, "token"), parameter(query, "ticket"));
    let mut upgrade = WebSocketUpgrade::from_request_parts(&mut parts, &app)
        .await
        .map_err(|_| Refusal::bad("this is where a WebSocket is opened"))?;
    // Its own defaults are 64 MiB, 16 MiB and no limit at all.
    upgrade = upgrade
        .max_message_size(BODY_BYTES_MAX)
        .max_frame_size(BODY_BYTES_MAX)
        .write_buffer_size(0)
        .max_write_buffer_size(WRITE_BUFFER_BYTES_MAX);
    if let Some(spoken) = spoken {
        upgrade = upgrade.protocols([spoken]);
    }
    let is_old_way = token.is_none() && ticket.is_none() && in_query.is_some();
    let known = match ticket {
        Some(ticket) if token.is_none() => auth::by_ticket(&app, &ticket, from).await,
        _ => auth::identify(&app, token.or(in_query).as_deref(), from).await.ok(),
    };
    // A page cannot read the status of an answer to an upgrade: who is refused is told by the code of the close.
    Ok(upgrade
        .on_upgrade(move |socket| async move {
            match known {
                Some(known) => serve(app, socket, known, is_old_way).await,
                None => close(socket, Closing::Unauthorised).await,
            }
        })
        .into_response())
}

async fn close(mut socket: WebSocket, why: Closing) {
    let (code, reason) = why.code();
    let frame = CloseFrame { code, reason: reason.into() };
    // Whoever does not take it has gone.
    let _ = tokio::time::timeout(SEND_MAX, socket.send(Message::Close(Some(frame)))).await;
}

/// A socket and what it is about.
struct Served {
    app: Arc<App>,
    seat: Seat,
    to: Sender<Outgoing>,
    /// The session that was chosen.
    key: Option<Key>,
    /// Room for messages that wait for their turn or have it.
    turns: Arc<Semaphore>,
}

async fn serve(app: Arc<App>, socket: WebSocket, known: Known, is_old_way: bool) {
    if app.is_draining() {
        return close(socket, Closing::Shutdown).await;
    }
    let most = app.directory().settings.rate_limits.max_connections_per_user.as_len();
    let (to, from) = channel(OUTGOING_MAX);
    let Some(seat) = app.sockets.enter(&known, to.clone(), most) else {
        return close(socket, Closing::TooMany).await;
    };
    let about = About { user: Some(known.name().as_str()), ..About::default() };
    app.log(Event::AuthSuccess, about, json!({ "token": known.token, "by": "socket" }));
    app.metrics.sockets.inc();
    let turns = Arc::new(Semaphore::new(TURNS_PER_SOCKET_MAX));
    let served = Served { app: Arc::clone(&app), seat, to, key: None, turns };
    served.frame(&ServerFrame::Connected { connection_id: served.seat.id.to_string() });
    if is_old_way {
        app.log(Event::AuthDeprecated, about, json!({}));
        served.frame(&ServerFrame::Warning {
            code: "token_query_deprecated",
            message: "tokens in addresses end up in logs: send it in the head",
        });
    }
    let why = served.run(socket, from).await;
    app.metrics.sockets.dec();
    let code = why.map(|it| it.code().0);
    app.log(Event::WsClosed, about, json!({ "code": code }));
}

impl Served {
    /// Until somebody closes it; why, if that was us.
    async fn run(mut self, mut socket: WebSocket, mut from: Receiver<Outgoing>) -> Option<Closing> {
        let idle = self.app.directory().settings.rate_limits.ws_idle_timeout_ms.get();
        let idle = Duration::from_millis(idle);
        let mut heard = tokio::time::Instant::now();
        let mut closing = self.seat.closing.clone();
        let why = loop {
            tokio::select! {
                biased;
                changed = closing.changed() => {
                    match *closing.borrow_and_update() {
                        Some(why) => break why,
                        None if changed.is_err() => break Closing::Shutdown,
                        None => {}
                    }
                }
                Some(Outgoing { text, .. }) = from.recv() => {
                    let message = Message::Text(text.as_ref().into());
                    match tokio::time::timeout(SEND_MAX, socket.send(message)).await {
                        Ok(Ok(())) => {}
                        Ok(Err(_)) => {
                            self.leave();
                            return None;
                        }
                        Err(_) => break Closing::Slow,
                    }
                }
                message = socket.recv() => {
                    heard = tokio::time::Instant::now();
                    match message {
                        None | Some(Ok(Message::Close(_))) => {
                            self.leave();
                            return None;
                        }
                        Some(Ok(Message::Text(text))) => self.hear(Some(&text)).await,
                        Some(Ok(Message::Binary(_))) => self.hear(None).await,
                        // Each ping is answered, whoever reads that.
                        Some(Ok(Message::Ping(_) | Message::Pong(_))) => {
                            let (most, id) = (CONTROLS_PER_MINUTE_MAX, self.seat.id);
                            if self.app.controls.admit(&id, most, MINUTE).is_err() {
                                break Closing::Protocol;
                            }
                        }
                        Some(Err(error)) => match broken(error) {
                            Some(why) => break why,
                            None => {
                                self.leave();
                                return None;
                            }
                        },
                    }
                }
                () = tokio::time::sleep_until(heard + idle) => break Closing::Idle,
            }
        };
        self.leave();
        // What was said before the end is heard, unless that is why it ends.
        while why != Closing::Slow
            && let Ok(Outgoing { text, .. }) = from.try_recv()
        {
            let message = Message::Text(text.as_ref().into());
            if !matches!(tokio::time::timeout(SEND_MAX, socket.send(message)).await, Ok(Ok(()))) {
                return None;
            }
        }
        close(socket, why).await;
        Some(why)
    }

    /// Hears nothing more. A turn that runs goes on, and what it says is kept.
    fn leave(&mut self) {
        if let Some(key) = self.key.take() {
            self.app.rooms.leave(&key, self.seat.id);
        }
    }

    fn frame(&self, frame: &ServerFrame) {
        if self.to.try_send(Outgoing::aside(frame.to_text())).is_err() {
            self.app.sockets.close(self.seat.id, Closing::Slow);
        }
    }

    fn refuse(&self, refused: &Refused) {
        for frame in refused.frames() {
            self.frame(&frame);
        }
    }

    /// Hears a message; none is one that is no text.
    async fn hear(&mut self, text: Option<&str>) {
        // As the files say it now, not as they did when the socket was opened.
        let Some(known) = self.app.sockets.known(self.seat.id) else { return };
        // Before it is even read.
        if let Err(refused) = charge_socket(&self.app, known.name().as_str()) {
            return self.refuse(&refused);
        }
        let parsed = text.map_or_else(|| Err(MessageError::of_bytes()), ClientMessage::parse);
        let message = match parsed {
            Ok(message) => message,
            Err(error) => return self.not_understood(&known, error),
        };
        match message {
            ClientMessage::Ping => self.frame(&ServerFrame::Pong),
            ClientMessage::Subscribe { agent, session, last } => {
                if let Err(refused) = self.subscribe(&known, agent, session, last).await {
                    if refused.code == ErrorCode::ConsentRequired {
                        let directory = self.app.directory();
                        let policy_version = directory.settings.privacy.policy_version.0.clone();
                        return self.frame(&ServerFrame::ConsentRequired { policy_version });
                    }
                    self.refuse(&refused);
                }
            }
            ClientMessage::Message { content } => self.message(known, content),
            ClientMessage::Interrupt => match self.key.clone() {
                None => self.refuse(&not_subscribed()),
                Some(key) => {
                    self.app.blocking(move |app| app.interrupt(&key)).await.unwrap_or_default();
                }
            },
            ClientMessage::ToolApproval { tool, approved } => self.approve(tool, approved).await,
            ClientMessage::ConsentGranted { version } => self.consent(&known, version).await,
        }
    }

    fn not_understood(&self, known: &Known, error: MessageError) {
        let about = About { user: Some(known.name().as_str()), ..About::default() };
        self.app.log(Event::WsInvalidMessage, about, json!({ "path": error.path }));
        let code = if error.is_syntax { ErrorCode::ParseError } else { ErrorCode::InvalidMessage };
        self.frame(&ServerFrame::Error {
            code,
            message: error.what,
            retry_after: None,
            detail: Some(Detail { path: error.path }),
        });
    }

    /// Agent → access → consent → session.
    async fn subscribe(
        &mut self,
        known: &Known,
        agent: String,
        session: Option<Uuid>,
        last: Option<u64>,
    ) -> Result<(), Refused> {
        let app = Arc::clone(&self.app);
        if app.is_draining() {
            return Err(Refused::new(ErrorCode::ShuttingDown, "the server is about to end"));
        }
        if self.key.as_ref().is_some_and(|key| app.queues.is_busy(key)) {
            let why = "a turn runs in the session; interrupt it, or wait for its end";
            return Err(Refused::new(ErrorCode::QueryInProgress, why));
        }
        let directory = app.directory();
        may_use(&directory, known, &agent)?;
        consented(&app, &directory, known).await?;
        let session = open_session(&app, known, &agent, session).await?;
        let key = Key { user: known.name().to_string(), agent, session };
        if let Some(old) = self.key.take() {
            app.rooms.leave(&old, self.seat.id);
            if old != key {
                let end = move |app: &App| {
                    app.parts.runtime.close(&old.user, &old.agent, &old.session);
                };
                app.blocking(end).await.unwrap_or_default();
            }
        }
        let manifest = directory.manifest(&key.agent);
        self.frame(&ServerFrame::Subscribed {
            agent_id: key.agent.clone(),
            session_id: key.session.clone(),
            agent_name: manifest.map(|it| it.display_name()).unwrap_or_default(),
            agent_description: manifest.and_then(|it| it.about()).unwrap_or_default().to_owned(),
        });
        let to = (self.seat.id, self.to.clone());
        let missed = app.rooms.listen(&key, to, last, app.now_ms());
        let messages = missed.iter().filter_map(|it| serde_json::from_str(&it.text).ok()).collect();
        if last.is_some() {
            self.frame(&ServerFrame::Replay { messages });
        }
        self.key = Some(key);
        Ok(())
    }

    fn message(&self, known: Known, content: String) {
        let Some(key) = self.key.clone() else { return self.refuse(&not_subscribed()) };
        if let Err(refused) = charge(&self.app, &key.user) {
            return self.refuse(&refused);
        }
        let Ok(one_of_few) = Arc::clone(&self.turns).try_acquire_owned() else {
            let why = "too many messages of this socket wait for their turn";
            return self.refuse(&Refused::new(ErrorCode::Busy, why));
        };
        let (app, to, id) = (Arc::clone(&self.app), self.to.clone(), self.seat.id);
        // In the order in which messages came, whatever else has to be waited for.
        let waiting = app.queues.enqueue(&key);
        // A turn does not end with the socket that asked for it.
        tokio::spawn(async move {
            let _one_of_few = one_of_few;
            let asked =
                Asked { known, key, content, voice: Voice::User, earlier: None, once: false };
            if let Err(refused) = turn::run(&app, asked, waiting).await
                && !refused.is_told
            {
                for frame in refused.frames() {
                    if to.try_send(Outgoing::aside(frame.to_text())).is_err() {
                        app.sockets.close(id, Closing::Slow);
                    }
                }
            }
        });
    }

    /// The first answer wins; whatever comes later, or about a call of somebody else, is rejected.
    async fn approve(&self, tool_id: String, approved: bool) {
        let Some(key) = self.key.clone() else { return self.refuse(&not_subscribed()) };
        let tool = tool_id.clone();
        let taken = self.app.blocking(move |app| {
            let approval =
                Approval { session: key.session.clone(), tool_id: tool.clone(), approved };
            app.parts.runtime.approve(&key.user, &approval)
        });
        if !taken.await.unwrap_or(false) {
            let reason = "nothing waits under this id";
            self.frame(&ServerFrame::ToolApprovalRejected { tool_id, reason });
        }
    }

    async fn consent(&self, known: &Known, version: String) {
        let refused = agree(&self.app, known, version).await.err();
        if let Some(refused) = refused {
            self.refuse(&refused);
        }
    }
}

fn not_subscribed() -> Refused {
    Refused::new(ErrorCode::NotSubscribed, "choose an agent first: `subscribe`")
}

/// Keeps that somebody agrees to the policy, in the version of now and no other.
pub(crate) async fn agree(app: &Arc<App>, known: &Known, version: String) -> Result<(), Refused> {
    if version != app.directory().settings.privacy.policy_version.0 {
        let why = "that is not the version of the policy that holds now";
        return Err(Refused::new(ErrorCode::InvalidMessage, why));
    }
    let user = known.name().to_string();
    let kept = app.blocking(move |app| app.books.agree(&user, &version, app.now()));
    kept.await.and_then(Result::ok).ok_or_else(|| turn::internal("the books do not answer"))
}

/// How a socket is closed whose client broke the protocol; none if it has gone.
fn broken(error: axum::Error) -> Option<Closing> {
    let error = error.into_inner();
    match error.downcast_ref::<tungstenite::Error>()? {
        tungstenite::Error::Capacity(_) => Some(Closing::TooLong),
        tungstenite::Error::Utf8(_) => Some(Closing::NotText),
        tungstenite::Error::Protocol(_) => Some(Closing::Protocol),
        tungstenite::Error::ConnectionClosed
        | tungstenite::Error::AlreadyClosed
        | tungstenite::Error::Io(_)
        | tungstenite::Error::Tls(_)
        | tungstenite::Error::WriteBufferFull(_)
        | tungstenite::Error::AttackAttempt
        | tungstenite::Error::Url(_)
        | tungstenite::Error::Http(_)
        | tungstenite::Error::HttpFormat(_) => None,
    }
}
