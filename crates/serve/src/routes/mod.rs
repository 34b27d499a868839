//! The routes, in one list.

mod admin;
mod agents;
mod chat;
mod completion;
mod events;
mod health;
mod hooks;
mod privacy;
mod sessions;
mod usage;

use std::sync::Arc;

use axum::Router;
use axum::http::StatusCode;
use axum::middleware;
use axum::routing::{any, delete, get, post};

use crate::app::App;
use crate::refusal::Refusal;
use crate::{front, socket};

/// All routes, behind what is checked of every request.
pub(crate) fn router(app: &Arc<App>) -> Router {
    Router::new()
        .route("/health", get(health::shallow))
        .route("/health/deep", get(health::deep))
        .route("/metrics", get(health::metrics))
        .route("/api/agents", get(agents::list))
        .route("/api/agents/{id}", get(agents::one))
        .route("/api/sessions", get(sessions::list).post(sessions::create))
        .route("/api/sessions/{id}", delete(sessions::delete))
        .route("/api/sessions/{id}/messages", get(sessions::messages))
        .route("/api/sessions/{id}/events", get(events::follow))
        .route("/api/tickets", post(sessions::ticket))
        .route("/api/usage", get(usage::own))
        .route("/api/consent", post(privacy::consent))
        .route("/api/privacy", get(privacy::disclosure))
        .route("/api/users/{id}/data", get(privacy::export).delete(privacy::delete))
        .route("/api/admin/users/{id}/budget/reset", post(admin::reset_budget))
        .route("/api/admin/reload", post(admin::reload))
        .route("/v1/models", get(chat::models))
        .route("/v1/chat/completions", post(chat::complete))
        .route("/hooks/{channel}", get(hooks::introduced).post(hooks::called))
        .route("/ws", any(socket::upgrade))
        .fallback(async || Refusal::not_found())
        .method_not_allowed_fallback(async || {
            let status = StatusCode::METHOD_NOT_ALLOWED;
            Refusal::new(status, "method_not_allowed", "this route has other methods")
        })
        .layer(middleware::from_fn_with_state(Arc::clone(app), front::check))
        .with_state(Arc::clone(app))
}
