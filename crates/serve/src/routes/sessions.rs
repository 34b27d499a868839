//! A user's sessions. Those of others are not there, and neither are those with an agent that is closed to them.

use std::sync::Arc;

use aegx::timestamp;
use axum::Json;
use axum::body::Body;
use axum::extract::{Path, RawQuery, State};
use axum::http::StatusCode;
use model::ipc::Uuid;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::admit::may_use;
use crate::app::App;
use crate::auth::Caller;
use crate::body;
use crate::books::{Page, SessionRow};
use crate::front::parameter;
use crate::limits::{MESSAGES_SHOWN_MAX, SESSIONS_SHOWN_MAX, TICKET_MAX};
use crate::opening::open_session;
use crate::refusal::Refusal;
use crate::retention::wipe;
use crate::turn::session_ended;
use crate::turns::Key;

/// `GET /api/sessions?agent=`.
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    RawQuery(query): RawQuery,
    caller: Caller,
) -> Result<Json<Value>, Refusal> {
    let directory = app.directory();
    let agent = parameter(query.as_deref(), "agent");
    if let Some(agent) = &agent {
        may_use(&directory, &caller.known, agent)?;
    }
    let user = caller.known.name().to_string();
    let found =
        app.blocking(move |app| app.books.sessions(&user, agent.as_deref(), SESSIONS_SHOWN_MAX));
    let found = found.await.and_then(Result::ok).ok_or_else(Refusal::broken)?;
    let open = |it: &SessionRow| may_use(&directory, &caller.known, &it.agent).is_ok();
    let shown: Vec<Value> = found.iter().filter(|it| open(it)).map(shown).collect();
    Ok(Json(json!({ "sessions": shown })))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct New {
    agent: String,
}

/// `POST /api/sessions {agent}`.
pub(crate) async fn create(
    State(app): State<Arc<App>>,
    caller: Caller,
    body: Body,
) -> Result<(StatusCode, Json<Value>), Refusal> {
    let New { agent } = body::json(body).await?;
    may_use(&app.directory(), &caller.known, &agent)?;
    let id = open_session(&app, &caller.known, &agent, None).await?;
    Ok((StatusCode::CREATED, Json(json!({ "id": id, "agent": agent }))))
}

/// `GET /api/sessions/:id/messages?after=&limit=`.
pub(crate) async fn messages(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
    caller: Caller,
) -> Result<Json<Value>, Refusal> {
    let row = own(&app, &caller, &id).await?;
    let page = page(query.as_deref())?;
    let found = app.blocking(move |app| app.books.messages(&row.id, page));
    let found = found.await.and_then(Result::ok).ok_or_else(Refusal::broken)?;
    let next = found.next;
    let shown = found.messages.into_iter().map(|it| {
        json!({
            "id": it.id,
            "role": it.role,
            "content": it.content,
            "at": timestamp::from_unix(it.at),
        })
    });
    Ok(Json(json!({ "messages": shown.collect::<Vec<_>>(), "next": next })))
}

/// `after`, the number of the last message that is known, and `limit`.
fn page(query: Option<&str>) -> Result<Page, Refusal> {
    let mut page = Page::default();
    if let Some(after) = parameter(query, "after") {
        let after = after.parse::<i64>().ok().filter(|it| *it >= 0);
        page.after = after.ok_or_else(|| Refusal::bad("`after` is the number of a message"))?;
    }
    if let Some(limit) = parameter(query, "limit") {
        let limit = limit.parse::<usize>().ok().filter(|it| (1..=MESSAGES_SHOWN_MAX).contains(it));
        let why = || Refusal::bad(format!("`limit` is 1 to {MESSAGES_SHOWN_MAX}"));
        page.limit = limit.ok_or_else(why)?;
    }
    Ok(page)
}

/// `DELETE /api/sessions/:id`.
pub(crate) async fn delete(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    caller: Caller,
) -> Result<StatusCode, Refusal> {
    let row = own(&app, &caller, &id).await?;
    let user = caller.known.name().to_string();
    let key = Key { user, agent: row.agent, session: row.id };
    // Nothing begins in it until it is gone: what a turn keeps would be there again.
    let held = app.queues.take(&key).ok_or_else(|| {
        let why = "a turn runs in the session; interrupt it first";
        Refusal::new(StatusCode::CONFLICT, "query_in_progress", why)
    })?;
    let gone = app.blocking(move |app| {
        // Also where whoever asked has hung up.
        let _held = held;
        app.parts.runtime.close(&key.user, &key.agent, &key.session);
        app.parts.personal.forget(&key.user, &key.agent, &key.session)?;
        app.books.forget(&key.user, &key.session).map_err(|error| error.to_string())?;
        app.rooms.forget(&key);
        session_ended(app, &key, "deleted");
        wipe(app);
        Ok::<_, String>(())
    });
    gone.await.and_then(Result::ok).ok_or_else(Refusal::broken)?;
    Ok(StatusCode::NO_CONTENT)
}

/// `POST /api/tickets`: opens one socket, once and soon, for a page that cannot send a head.
pub(crate) async fn ticket(
    State(app): State<Arc<App>>,
    caller: Caller,
) -> Result<Json<Value>, Refusal> {
    let ticket = app.tickets.make(&caller.known, caller.from).ok_or_else(|| {
        let status = StatusCode::SERVICE_UNAVAILABLE;
        Refusal::new(status, "busy", "too many tickets wait to be used")
    })?;
    Ok(Json(json!({ "ticket": ticket, "expiresIn": TICKET_MAX.as_secs() })))
}

/// The session of this id, if it is theirs and its agent is open to them.
pub(super) async fn own(app: &Arc<App>, caller: &Caller, id: &str) -> Result<SessionRow, Refusal> {
    let id = Uuid::parse(id).ok_or_else(Refusal::not_found)?.to_string();
    let user = caller.known.name().to_string();
    let found = app.blocking(move |app| app.books.session(&user, &id)).await;
    let row = found.and_then(Result::ok).ok_or_else(Refusal::broken)?;
    let row = row.ok_or_else(Refusal::not_found)?;
    may_use(&app.directory(), &caller.known, &row.agent).map_err(|_| Refusal::not_found())?;
    Ok(row)
}

fn shown(row: &SessionRow) -> Value {
    json!({
        "id": row.id,
        "agent": row.agent,
        "title": row.title,
        "created": timestamp::from_unix(row.created),
        "updated": timestamp::from_unix(row.updated),
    })
}
