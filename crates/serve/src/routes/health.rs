//! How the server is. The short answer asks nobody and waits for nothing.

use std::path::Path;
use std::sync::Arc;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::time::Instant;

use agent::{ProviderHealth, Purse};
use axum::Json;
use axum::extract::{FromRequestParts as _, Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use crate::app::App;
use crate::auth::Admin;
use crate::channels;

use crate::directory::{Directory, Known};
use crate::front::From;
use crate::limits::{DEEP_CACHE, MODELS_WAIT};
use crate::open;
use crate::reach;
use crate::tab::Tab;

/// The file that is written to see whether one can be.
const PROBE: &str = "serve.probe";
const PROBE_WORDS: &[u8] = b"written and read";
/// How a model is that answers.
const OK: &str = "ok";
/// How one is that could not be asked.
const NOT_ASKED: &str = "not_asked";
/// How the names of models begin that are a script.
const SCRIPTED: &str = "mock/";
/// More of it is not read, in bytes.
const PROBE_BYTES_MAX: u64 = 1 << 10;

/// `GET /health`.
pub(crate) async fn shallow(State(app): State<Arc<App>>) -> Response {
    let draining = app.is_draining();
    let status = if draining { StatusCode::SERVICE_UNAVAILABLE } else { StatusCode::OK };
    let body = json!({
        "status": if draining { "shutting_down" } else { "ok" },
        "version": env!("CARGO_PKG_VERSION"),
        "uptime": app.began.elapsed().as_secs(),
        "sessions": open::count(&app),
        "connections": app.connections.load(Ordering::Relaxed),
        "memory": resident_bytes(),
    });
    (status, Json(body)).into_response()
}

/// `GET /health/deep`, for administrators.
pub(crate) async fn deep(State(app): State<Arc<App>>, Admin(admin): Admin) -> Json<Value> {
    let looking = Arc::clone(&app.looking).lock_owned().await;
    let cached = app.deep.lock().unwrap_or_else(PoisonError::into_inner).clone();
    if let Some((at, found)) = cached
        && at.elapsed() < DEEP_CACHE
    {
        return Json(found);
    }
    let known = admin.known;
    let found = app.blocking(move |app| {
        // Also where whoever asked has hung up: the next one waits for this look.
        let _looking = looking;
        let found = look(app, &known);
        let kept = Some((Instant::now(), found.clone()));
        *app.deep.lock().unwrap_or_else(PoisonError::into_inner) = kept;
        found
    });
    Json(found.await.unwrap_or_else(|| json!({ "status": "degraded" })))
}

/// Asks a model of each provider something short; the administrator who looks pays for it.
fn models(app: &App, known: &Known) -> Vec<ProviderHealth> {
    let tab = Tab::new(app, &known.user, "health", "health");
    match tab.open() {
        Ok(()) => {
            let purse: Arc<dyn Purse> = Arc::new(tab);
            app.parts.runtime.providers(known.user.name.as_str(), &purse, MODELS_WAIT)
        }
        // Whoever has nothing left to spend asks nobody.
        Err(_) => Vec::new(),
    }
}

fn look(app: &App, known: &Known) -> Value {
    let models = models(app, known);
    let word = |good: bool| if good { "ok" } else { "failing" };
    let directory = app.directory();
    // What was just asked counts more than what was asked before; a script is no model.
    let is_chosen = reach::is_chosen(&directory.global);
    let last = app.reach.last();
    let real = || models.iter().filter(|it| !it.model.starts_with(SCRIPTED));
    let is_untried = real().next().is_none() || real().any(|it| it.state == NOT_ASKED);
    let is_reachable =
        real().any(|it| it.state == OK) || is_untried && last.is_none_or(|it| it == OK);
    let can_be_asked = is_chosen && is_reachable;
    let books = app.books.check().is_ok();
    let journal = app.record("serve_health", json!({})).is_ok();
    let files = is_writable(&app.parts.home);
    let (failed, turns) = app.errors.last_hour();
    let (active, max) = (app.workers.count(), directory.settings.max_workers.as_len());
    let agents = app.parts.runtime.agents().len();
    // New sessions are opened by the files as they are, which may not be those that this server goes by.
    let settings = Directory::load(&app.parts.home).is_ok();
    let well = books && journal && files && settings && can_be_asked && directory.broken.is_empty();
    json!({
        "status": if well { "ok" } else { "degraded" },
        "store": word(books),
        "journal": word(journal),
        "filesystem": word(files),
        "settings": word(settings),
        "errors": { "lastHour": failed, "turns": turns },
        "workers": {
            "active": active,
            "max": max,
            "utilisation": active as f64 / max.max(1) as f64,
        },
        "model": { "chosen": is_chosen, "last": last, "canBeAsked": can_be_asked },
        "models": models
            .iter()
            .map(|it| json!({ "model": it.model, "state": it.state, "ms": it.ms }))
            .collect::<Vec<_>>(),
        "channels": channels::shown(app),
        "agents": { "ready": agents, "broken": directory.broken.len() },
    })
}

/// Can a file be written in the state directory, and read again as it was?
fn is_writable(home: &Path) -> bool {
    let path = home.join(PROBE);
    let written = files::private::replace(&path, PROBE_WORDS);
    let read = files::private::read(&path, PROBE_BYTES_MAX);
    let removed = files::private::remove(&path);
    written.is_ok() && removed.is_ok() && read.is_ok_and(|it| it == PROBE_WORDS)
}

/// `GET /metrics`, for administrators, and for whoever is on this machine: the figures name nobody.
pub(crate) async fn metrics(State(app): State<Arc<App>>, request: Request) -> Response {
    let (mut parts, _) = request.into_parts();
    let is_here = parts.extensions.get::<From>().is_some_and(|it| it.0.is_loopback());
    if !is_here && let Err(refusal) = Admin::from_request_parts(&mut parts, &app).await {
        return refusal.into_response();
    }
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    ([(header::CONTENT_TYPE, kind)], app.metrics.text()).into_response()
}

/// Memory of this process, in bytes, where the system says it.
fn resident_bytes() -> Option<u64> {
    const KIB: u64 = 1024;
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|it| it.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok().map(|it| it * KIB)
}
