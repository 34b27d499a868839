//! What is kept of a user: to be told, taken along, and deleted.

use std::sync::Arc;
use std::time::{Duration, Instant};

use aegx::timestamp;
use agent::WorkerShown;
use axum::Json;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use evidence::Receipt;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::app::App;
use crate::archive::Archive;
use crate::auth::{Admin, Caller};
use crate::body;
use crate::books::{Page, SessionRow};
use crate::deletion::Deletion;
use crate::limits::{DELETED_WITHIN, SESSIONS_PER_USER_MAX};
use crate::log::{About, Event};
use crate::refusal::Refusal;
use crate::retention::wipe;
use crate::socket;
use crate::turn::session_ended;
use crate::turns::Key;

/// How often it is looked whether everything of a user has ended.
const LOOK: Duration = Duration::from_millis(50);

/// For how long a budget looks back, in seconds.
const BUDGET_LOOKS_BACK: i64 = 30 * 86_400;

/// `GET /api/privacy`: what is kept, for how long. For everybody.
pub(crate) async fn disclosure(State(app): State<Arc<App>>) -> Json<Value> {
    let privacy = app.directory().settings.privacy.clone();
    Json(json!({
        "policyVersion": privacy.policy_version.0,
        "retentionDays": {
            "sessions": privacy.session_retention_days.get(),
            "workspaces": privacy.workspace_retention_days.get(),
            "usage": privacy.usage_retention_days.get(),
        },
        "kept": ["sessions", "messages", "usage", "consent", "workspaces", "memory", "jobs", "proposals"],
        "evidence": "the journal of decisions is kept by its own rules, and is not deleted with an account",
        "export": "GET /api/users/{id}/data",
        "deletion": "DELETE /api/users/{id}/data",
    }))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Consent {
    policy_version: String,
}

/// `POST /api/consent {policyVersion}`.
pub(crate) async fn consent(
    State(app): State<Arc<App>>,
    caller: Caller,
    body: Body,
) -> Result<StatusCode, Refusal> {
    let Consent { policy_version } = body::json(body).await?;
    socket::agree(&app, &caller.known, policy_version).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// `GET /api/users/:id/data`: everything in a zip, for the user and for administrators.
pub(crate) async fn export(
    State(app): State<Arc<App>>,
    Path(user): Path<String>,
    caller: Caller,
) -> Result<Response, Refusal> {
    caller.known.user.may_see_data_of(&user).map_err(|_| Refusal::not_found())?;
    if caller.known.only_agents().is_some() {
        let why = "this token is for some agents alone; an export is about all of them";
        return Err(Refusal::new(StatusCode::FORBIDDEN, "access_denied", why));
    }
    is_known(&app, &user).await?;
    let by = caller.known.name().to_string();
    let export = app.exports.begin(&by).ok_or_else(|| {
        let why = "an export is under way already: take it first, or come back later";
        Refusal::new(StatusCode::CONFLICT, "busy", why)
    })?;
    let of = user.clone();
    let made = app.blocking(move |app| {
        let content = json!({ "by": by.as_str(), "user": of });
        let receipt = app.record("privacy_export", content).map_err(|_| Refusal::broken())?;
        pack(app, &of, &receipt)
    });
    let zip = made.await.ok_or_else(Refusal::broken)??;
    let about = About { user: Some(&user), ..About::default() };
    app.log(Event::PrivacyExport, about, json!({ "by": caller.known.name().as_str() }));
    let named = "attachment; filename=\"data.zip\"";
    let headers = [(header::CONTENT_TYPE, "application/zip"), (header::CONTENT_DISPOSITION, named)];
    Ok((headers, Body::new(export.sent(zip))).into_response())
}

fn pack(app: &App, user: &str, receipt: &Receipt) -> Result<Vec<u8>, Refusal> {
    let broken = |_| Refusal::broken();
    let mut archive = Archive::made_at(app.now());
    let sessions = app.books.sessions(user, None, SESSIONS_PER_USER_MAX).map_err(broken)?;
    for row in sessions {
        pack_session(app, &row, &mut archive)?;
    }
    archive.add("usage.jsonl", app.books.spending_lines(user).map_err(broken)?.as_bytes())?;
    let consent = app.books.consent(user).map_err(broken)?;
    archive.add("consent.json", json!({ "policyVersion": consent }).to_string().as_bytes())?;
    let mut full = None;
    let mut put = |name: &str, bytes: &[u8]| {
        archive.add(name, bytes).map_err(|refusal| {
            full = Some(refusal);
            "there is no more room in an export".to_owned()
        })
    };
    let exported = app.parts.personal.export(user, receipt, &mut put);
    match (exported, full) {
        (_, Some(refusal)) => Err(refusal),
        (Err(why), None) => Err(Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, "not_read", why)),
        (Ok(()), None) => archive.finish(),
    }
}

/// One session: a file for each page of it, so that no more than a page is held at once.
fn pack_session(app: &App, row: &SessionRow, archive: &mut Archive) -> Result<(), Refusal> {
    let mut page = Page::default();
    for number in 1.. {
        let found = app.books.messages(&row.id, page).map_err(|_| Refusal::broken())?;
        let messages = found.messages.into_iter().map(|it| {
            json!({ "role": it.role, "content": it.content, "at": timestamp::from_unix(it.at) })
        });
        let part = json!({
            "id": row.id,
            "agent": row.agent,
            "created": timestamp::from_unix(row.created),
            "messages": messages.collect::<Vec<_>>(),
        });
        let name = if number == 1 { row.id.clone() } else { format!("{}.{number}", row.id) };
        archive.add(&format!("sessions/{name}.json"), part.to_string().as_bytes())?;
        match found.next {
            Some(after) => page.after = after,
            None => break,
        }
    }
    Ok(())
}

/// Whoever stands in the users file, or stood there and is still in the books.
async fn is_known(app: &Arc<App>, user: &str) -> Result<(), Refusal> {
    if app.directory().users.get(user).is_some() {
        return Ok(());
    }
    let of = user.to_owned();
    let known = app.blocking(move |app| app.books.knows(&of)).await;
    let known = known.and_then(Result::ok).ok_or_else(Refusal::broken)?;
    if known { Ok(()) } else { Err(Refusal::not_found()) }
}

/// `DELETE /api/users/:id/data`, for administrators. What still counts against a budget stays until it does not.
pub(crate) async fn delete(
    State(app): State<Arc<App>>,
    Path(user): Path<String>,
    Admin(caller): Admin,
) -> Result<Json<Value>, Refusal> {
    is_known(&app, &user).await?;
    let by = caller.known.name().to_string();
    let (of, deletion) = (user.clone(), end_all_of(&app, &user).await?);
    let done = app.blocking(move |app| {
        // Also where whoever asked has hung up.
        let _deletion = deletion;
        let content = json!({ "by": by, "user": of });
        let receipt = app.record("privacy_deletion", content).map_err(|_| Refusal::broken())?;
        let broken = |_| Refusal::broken();
        for row in app.books.sessions(&of, None, u32::MAX).map_err(broken)? {
            app.parts.runtime.close(&of, &row.agent, &row.id);
            app.parts.personal.forget(&of, &row.agent, &row.id).map_err(not_deleted)?;
            let key = Key { user: of.clone(), agent: row.agent, session: row.id };
            app.rooms.forget(&key);
            session_ended(app, &key, "account_deleted");
        }
        let since = app.now().saturating_sub(BUDGET_LOOKS_BACK);
        // The books are last: as long as they know the user, it can be asked for again.
        let files = app.parts.personal.delete(&of, &receipt).map_err(not_deleted)?;
        let books = app.books.forget_user(&of, since).map_err(broken)?;
        let about = About { user: Some(&of), ..About::default() };
        app.log(Event::PrivacyDeletion, about, json!({ "by": by }));
        wipe(app);
        Ok::<_, Refusal>((books, files))
    });
    let (books, files) = done.await.ok_or_else(Refusal::broken)??;
    Ok(Json(json!({
        "sessions": books.sessions,
        "memoryFiles": files.memory_files,
        "workspaceFiles": files.workspace_files,
        "jobs": files.jobs,
        "proposals": files.proposals,
        "usageFile": books.spending > 0,
        "consentFile": books.consent > 0,
    })))
}

/// Ends what runs for a user, and lets nothing begin for them until they are gone.
async fn end_all_of(app: &Arc<App>, user: &str) -> Result<Deletion, Refusal> {
    let busy = |why: &'static str| Refusal::new(StatusCode::CONFLICT, "query_in_progress", why);
    let begun = app.deletions.begin(user);
    let deletion = begun.ok_or_else(|| busy("somebody deletes the account already"))?;
    let until = Instant::now() + DELETED_WITHIN;
    while deletion.is_awaited() {
        if Instant::now() >= until {
            return Err(busy("a turn of the user does not end; try again later"));
        }
        let of = user.to_owned();
        // Each time: a turn that had begun may have had no worker a moment ago.
        app.blocking(move |app| interrupt_all_of(app, &of)).await.ok_or_else(Refusal::broken)?;
        tokio::time::sleep(LOOK).await;
    }
    Ok(deletion)
}

/// Interrupts the turns of a user, those of jobs as well. One that was begun elsewhere ends with its next question to a model.
fn interrupt_all_of(app: &App, user: &str) {
    let in_queues = app.queues.keys().into_iter().filter(|it| it.user == user);
    let workers = app.parts.runtime.workers().into_iter().filter(|it| it.user == user);
    let keys = workers.map(|WorkerShown { user, agent, session, .. }| Key { user, agent, session });
    in_queues.chain(keys).for_each(|it| app.interrupt(&it));
}

fn not_deleted(why: String) -> Refusal {
    Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, "not_deleted", why)
}
