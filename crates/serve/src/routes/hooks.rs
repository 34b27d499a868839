//! Calls of messengers. Nobody shows a token here: a call counts by its signature alone, and every other one is told
//! the same.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::body::Body;
use axum::extract::{Path, RawQuery, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use host::channels::{HookRefused, Hooked};
use serde_json::json;

use crate::app::App;
use crate::auth;
use crate::body;
use crate::channels;
use crate::front::{From, parameter};
use crate::log::{About, Event};
use crate::refusal::Refusal;

const MINUTE: Duration = Duration::from_secs(60);
/// After how many seconds a messenger may say something again for which there was no room.
const BUSY_SECONDS: u64 = 30;

/// `POST /hooks/{channel}`.
pub(crate) async fn called(
    State(app): State<Arc<App>>,
    Path(name): Path<String>,
    Extension(From(from)): Extension<From>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Refusal> {
    let line = channels::line(&app, &name).ok_or_else(Refusal::not_found)?;
    let network = auth::network(from);
    slow(&app, network)?;
    // A field that is there twice has no value.
    let field = |name: &str| {
        let mut all = headers.get_all(name).iter();
        all.next().filter(|_| all.next().is_none()).and_then(|it| it.to_str().ok())
    };
    // Nothing is read of a call that cannot count.
    line.announced(field, app.now()).map_err(|it| refused(&app, network, it))?;
    let body = body::read(body).await?;
    match line.called(field, &body, app.now()).map_err(|it| refused(&app, network, it))? {
        Hooked::Answer(word) => Ok(plain(word)),
        Hooked::Said(said) => {
            let taken: Vec<_> = said.into_iter().map(|it| channels::take(&app, line, it)).collect();
            // What was taken is known when the whole call comes again.
            match taken.into_iter().all(|it| it.is_ok()) {
                true => Ok(StatusCode::OK.into_response()),
                false => Err(busy()),
            }
        }
    }
}

/// `GET /hooks/{channel}`: a messenger is set up, and sees that we are there.
pub(crate) async fn introduced(
    State(app): State<Arc<App>>,
    Path(name): Path<String>,
    Extension(From(from)): Extension<From>,
    RawQuery(query): RawQuery,
) -> Result<Response, Refusal> {
    let line = channels::line(&app, &name).ok_or_else(Refusal::not_found)?;
    let network = auth::network(from);
    slow(&app, network)?;
    let said = |name: &str| parameter(query.as_deref(), name).unwrap_or_default();
    let word =
        line.introduced(&said("hub.mode"), &said("hub.verify_token"), &said("hub.challenge"));
    word.map(plain).map_err(|it| refused(&app, network, it))
}

fn plain(word: String) -> Response {
    ([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], word).into_response()
}

/// Whoever signs wrongly too often is not even read for a minute. Tokens are counted apart: calls come from where a
/// messenger or a proxy is, and nobody's sign-in is to suffer from them.
fn slow(app: &App, network: IpAddr) -> Result<(), Refusal> {
    let most = app.directory().settings.rate_limits.auth_failures_per_minute.as_len();
    if !app.unsigned.is_full(&network, most, MINUTE) {
        return Ok(());
    }
    let why = "too many wrong signatures from this address";
    let refusal = Refusal::new(StatusCode::TOO_MANY_REQUESTS, "unauthorized", why);
    Err(Refusal { retry_after: Some(MINUTE.as_secs()), ..refusal })
}

fn busy() -> Refusal {
    let why = "too many messages are being answered: say it again later";
    let refusal = Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "busy", why);
    Refusal { retry_after: Some(BUSY_SECONDS), ..refusal }
}

/// INVARIANT (NothingSilent): a wrong signature is counted and written down, as a wrong token is.
fn refused(app: &App, network: IpAddr, why: HookRefused) -> Refusal {
    match why {
        HookRefused::Nobody => Refusal::not_found(),
        HookRefused::Signature => {
            let _ = app.unsigned.admit(&network, usize::MAX, MINUTE);
            app.metrics.auth_failures.inc();
            let details = json!({ "address": network.to_string(), "call": "hook" });
            app.log(Event::AuthFailure, About::default(), details);
            Refusal::new(StatusCode::UNAUTHORIZED, "unauthorized", "the signature is none")
        }
        HookRefused::NotUnderstood => Refusal::bad("the call is not understood"),
    }
}
