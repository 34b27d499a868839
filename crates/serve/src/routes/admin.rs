//! What administrators do. It is in the journal before it is done.

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::app::App;
use crate::auth::Admin;
use crate::body;
use crate::books::Scope;
use crate::log::{About, Event};
use crate::refusal::Refusal;
use crate::reload::{self, Reloaded};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Reset {
    scope: Scope,
}

/// `POST /api/admin/users/:id/budget/reset {scope}`.
pub(crate) async fn reset_budget(
    State(app): State<Arc<App>>,
    Path(user): Path<String>,
    Admin(caller): Admin,
    body: Body,
) -> Result<Json<Value>, Refusal> {
    let Reset { scope } = body::json(body).await?;
    if app.directory().users.get(&user).is_none() {
        return Err(Refusal::not_found());
    }
    let by = caller.known.name().to_string();
    let of = user.clone();
    let done = app.blocking(move |app| {
        let content = json!({ "by": by, "user": of, "scope": format!("{scope:?}").to_lowercase() });
        app.record("budget_reset", content).map_err(|_| Refusal::broken())?;
        app.books.reset(&of, scope).map_err(|_| Refusal::broken())
    });
    let rows = done.await.ok_or_else(Refusal::broken)??;
    let about = About { user: Some(&user), ..About::default() };
    app.log(Event::CostReset, about, json!({ "by": caller.known.name().as_str() }));
    Ok(Json(json!({ "user": user, "rows": rows })))
}

/// `POST /api/admin/reload`.
pub(crate) async fn reload(
    State(app): State<Arc<App>>,
    Admin(caller): Admin,
) -> Result<Json<Value>, Refusal> {
    let by = caller.known.name().to_string();
    let done = app.blocking(move |app| {
        app.record("serve_reloaded", json!({ "by": by })).map_err(|_| "the journal".to_owned())?;
        reload::now(app)
    });
    match done.await {
        Some(Ok(Reloaded { weaker, changed, needs_restart, refused })) => Ok(Json(json!({
            "reloaded": true,
            "weaker": weaker,
            "changed": changed,
            "needsRestart": needs_restart,
            "refused": refused,
        }))),
        Some(Err(why)) => Err(Refusal::new(StatusCode::CONFLICT, "not_reloaded", why)),
        None => Err(Refusal::broken()),
    }
}
