//! What is forgotten by itself: frames often, and once a day sessions, workspaces and spending that are too old.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::json;

use crate::app::App;
use crate::books::{BooksError, Forgotten};
use crate::limits::{STALE_MAX, SWEEP};
use crate::log::{About, Event};
use crate::turn::session_ended;
use crate::turns::Key;

/// A day.
const DAY: Duration = Duration::from_secs(86_400);
const DAY_SECONDS: i64 = 86_400;

/// Forgets what is too old: frames often, books once a day.
pub(crate) async fn keep_house(app: Arc<App>) {
    let mut kept: Option<tokio::time::Instant> = None;
    loop {
        app.rooms.sweep();
        if app.unwiped.load(Ordering::Acquire) {
            app.blocking(wipe).await;
        }
        if kept.is_none_or(|it| it.elapsed() >= DAY) {
            kept = Some(tokio::time::Instant::now());
            let forgotten = app.blocking(retain).await.unwrap_or(Ok(Forgotten::default()));
            match forgotten {
                Ok(it) => app.log(Event::PrivacyRetention, About::default(), json!(it)),
                Err(error) => {
                    let details = json!({ "why": error.to_string() });
                    app.log(Event::InternalError, About::default(), details);
                }
            }
        }
        tokio::time::sleep(SWEEP).await;
    }
}

fn retain(app: &App) -> Result<Forgotten, BooksError> {
    let privacy = app.directory().settings.privacy.clone();
    let since = |days: u64| {
        let seconds = i64::try_from(days).unwrap_or(i64::MAX).saturating_mul(DAY_SECONDS);
        app.now().saturating_sub(seconds)
    };
    let days = |it: u64| Duration::from_secs(it.saturating_mul(DAY.as_secs()));
    // One that fails keeps no other from going.
    let sessions = forget_stale(app, since(privacy.session_retention_days.get()));
    // What is of sessions in the books has gone with them, but for one that somebody was in the middle of.
    let said = days(privacy.session_retention_days.get().saturating_add(1));
    let workspaces = days(privacy.workspace_retention_days.get());
    if let Err(why) = app.parts.personal.retain(workspaces, said) {
        app.log(Event::InternalError, About::default(), json!({ "why": why }));
    }
    let spending = app.books.forget_spending(since(privacy.usage_retention_days.get()));
    wipe(app);
    Ok(Forgotten { sessions: sessions?, spending: spending?, consent: 0 })
}

/// Takes what was deleted out of what databases keep beside their tables. It is deleted already: what cannot go now is tried
/// again soon, and told.
pub(crate) fn wipe(app: &App) {
    let books = app.books.wipe().map_err(|error| error.to_string());
    let mut is_whole = true;
    for wiped in [books, app.parts.personal.wipe()] {
        is_whole &= wiped.unwrap_or_else(|why| {
            app.log(Event::InternalError, About::default(), json!({ "why": why }));
            false
        });
    }
    app.unwiped.store(!is_whole, Ordering::Release);
}

/// Forgets sessions in which nothing was said since `since`: first what lies in files, then the row that knows of it.
fn forget_stale(app: &App, since: i64) -> Result<usize, BooksError> {
    let mut forgotten = 0;
    loop {
        let stale = app.books.stale(since, STALE_MAX)?;
        let before = forgotten;
        for (user, agent, session) in stale {
            let key = Key { user, agent, session };
            // Nothing begins in it until it is gone.
            let Some(_held) = app.queues.take(&key) else { continue };
            app.parts.runtime.close(&key.user, &key.agent, &key.session);
            match app.parts.personal.forget(&key.user, &key.agent, &key.session) {
                Ok(()) => {
                    if app.books.forget_stale(&key.session, since)? {
                        forgotten += 1;
                        app.rooms.forget(&key);
                        session_ended(app, &key, "retention");
                    }
                }
                // The row stays, so that it is tried again.
                Err(why) => app.log(Event::InternalError, About::default(), json!({ "why": why })),
            }
        }
        if forgotten == before {
            return Ok(forgotten);
        }
    }
}
