//! The agents that a user may use. Those of others are not there.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};

use crate::admit::may_use;
use crate::app::App;
use crate::auth::Caller;
use crate::frame::CardShown;
use crate::refusal::Refusal;

/// `GET /api/agents`.
pub(crate) async fn list(State(app): State<Arc<App>>, caller: Caller) -> Json<Vec<CardShown>> {
    Json(app.directory().open_to(&caller.known).into_iter().map(CardShown::from).collect())
}

/// `GET /api/agents/:id`.
pub(crate) async fn one(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    caller: Caller,
) -> Result<Json<CardShown>, Refusal> {
    let directory = app.directory();
    may_use(&directory, &caller.known, &id)?;
    let card = directory.open_to(&caller.known).into_iter().find(|it| it.id == id);
    card.map(|it| Json(it.into())).ok_or_else(Refusal::not_found)
}
