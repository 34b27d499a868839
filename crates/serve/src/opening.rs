//! Sessions that are opened: one that is there and is the user's, or a new one.

use std::sync::Arc;

use model::ipc::Uuid;
use serde_json::json;

use crate::app::App;
use crate::directory::Known;
use crate::frame::ErrorCode;
use crate::limits::SESSIONS_PER_USER_MAX;
use crate::log::{About, Event};
use crate::turn::{self, Refused};

/// A session of this user with this agent: the one that is named, or a new one.
pub(crate) async fn open_session(
    app: &Arc<App>,
    known: &Known,
    agent: &str,
    session: Option<Uuid>,
) -> Result<String, Refused> {
    let (user, with) = (known.name().to_string(), agent.to_owned());
    let Some(session) = session else {
        let in_use = app.deletions.enter(&user)?;
        let mut random = [0; 16];
        getrandom::fill(&mut random).map_err(|_| turn::internal("there is no randomness"))?;
        let id = Uuid::from_random(random).to_string();
        let (new, of) = (id.clone(), user.clone());
        let begin = move |app: &App| {
            let _in_use = in_use;
            app.books.begin(&new, (&of, &with), SESSIONS_PER_USER_MAX, app.now())
        };
        let begun = app.blocking(begin).await.and_then(Result::ok);
        if !begun.ok_or_else(|| turn::internal("the books do not answer"))? {
            let why = format!("a user has at most {SESSIONS_PER_USER_MAX} sessions: delete some");
            return Err(Refused::new(ErrorCode::RateLimited, why));
        }
        let about = About { user: Some(&user), agent: Some(agent), session: Some(&id) };
        app.log(Event::SessionCreated, about, json!({}));
        return Ok(id);
    };
    let id = session.to_string();
    let looked = id.clone();
    let found = app.blocking(move |app| app.books.session(&user, &looked)).await;
    match found {
        Some(Ok(Some(row))) if row.agent == agent => Ok(id),
        Some(Ok(_)) => Err(Refused::new(ErrorCode::SessionNotFound, "there is no such session")),
        Some(Err(_)) | None => Err(turn::internal("the books do not answer")),
    }
}
