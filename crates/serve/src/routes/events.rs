//! What is said in a session, as events: for a page's `EventSource`, which sends no head and says nothing.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{FromRequestParts as _, Path, Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use tokio::sync::mpsc::{Receiver, Sender, channel};

use super::completion::Events;
use super::sessions::own;
use crate::admit::consented;
use crate::app::App;
use crate::auth::{self, Caller};
use crate::front::{From, parameter};
use crate::limits::{OUTGOING_MAX, SEND_MAX};
use crate::refusal::Refusal;
use crate::sockets::{Outgoing, Seat};
use crate::turns::Key;

/// Events that wait for one client.
const EVENTS_MAX: usize = 64;
/// How often a stream says that it is still there.
const ALIVE: Duration = Duration::from_secs(15);
/// The header by which whoever comes back says what it heard last.
const LAST: &str = "last-event-id";

/// `GET /api/sessions/:id/events?ticket=`: frames of the session from now on, and those after `Last-Event-ID`.
pub(crate) async fn follow(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    request: Request,
) -> Result<Response, Refusal> {
    let (mut parts, _) = request.into_parts();
    let caller = match parameter(parts.uri.query(), "ticket") {
        Some(ticket) => {
            let From(from) = *parts.extensions.get::<From>().ok_or_else(Refusal::broken)?;
            let known = auth::by_ticket(&app, &ticket, from).await;
            let known = known.ok_or_else(Refusal::unauthorised)?;
            auth::noted(&app, &known, from);
            Caller { known, from }
        }
        None => Caller::from_request_parts(&mut parts, &app).await?,
    };
    let row = own(&app, &caller, &id).await?;
    consented(&app, &app.directory(), &caller.known).await?;
    let last = parts.headers.get(LAST).map(|it| it.to_str().ok()?.parse::<u64>().ok());
    let last = match last {
        Some(None) => return Err(Refusal::bad("`Last-Event-ID` is the number of a frame")),
        Some(last @ Some(_)) => last,
        None => None,
    };
    let most = app.directory().settings.rate_limits.max_connections_per_user.as_len();
    let (to, from) = channel(OUTGOING_MAX);
    let seat = app.sockets.enter(&caller.known, to.clone(), most).ok_or_else(|| {
        let why = "too many sockets and streams are open";
        Refusal::new(StatusCode::TOO_MANY_REQUESTS, "rate_limited", why)
    })?;
    let key = Key { user: caller.known.name().to_string(), agent: row.agent, session: row.id };
    let missed = app.rooms.listen(&key, (seat.id, to), last, app.now_ms());
    let (events, body) = channel(EVENTS_MAX);
    tokio::spawn(async move {
        let id = seat.id;
        pump(seat, missed, from, &events).await;
        app.rooms.leave(&key, id);
    });
    let headers = [
        (header::CONTENT_TYPE, "text/event-stream"),
        (header::HeaderName::from_static("x-accel-buffering"), "no"),
    ];
    Ok((headers, Body::new(Events(body))).into_response())
}

/// Hands frames on until somebody ends it.
async fn pump(
    mut seat: Seat,
    missed: Vec<Outgoing>,
    mut from: Receiver<Outgoing>,
    events: &Sender<Bytes>,
) {
    // An answer that has begun is seen to have.
    let mut is_there = hand_on(events, Bytes::from_static(b": here\n\n")).await;
    for frame in &missed {
        is_there = is_there && hand_on(events, event(frame)).await;
    }
    while is_there {
        tokio::select! {
            biased;
            _ = seat.closing.changed() => return,
            said = from.recv() => {
                let Some(frame) = said else { return };
                is_there = hand_on(events, event(&frame)).await;
            }
            () = events.closed() => return,
            () = tokio::time::sleep(ALIVE) => {
                is_there = hand_on(events, Bytes::from_static(b": alive\n\n")).await;
            }
        }
    }
}

/// Whoever takes nothing for long has gone.
pub(super) async fn hand_on(events: &Sender<Bytes>, event: Bytes) -> bool {
    matches!(tokio::time::timeout(SEND_MAX, events.send(event)).await, Ok(Ok(())))
}

/// A frame as an event, with its number if it was said in the session, also where it does not stand in the frame: whoever
/// comes back has heard it. A frame is one line.
fn event(frame: &Outgoing) -> Bytes {
    let text = &frame.text;
    match frame.number {
        Some(number) => Bytes::from(format!("id: {number}\ndata: {text}\n\n")),
        None => Bytes::from(format!("data: {text}\n\n")),
    }
}
