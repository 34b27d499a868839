//! Who calls: a token in the head, in the protocols of a socket, or a ticket.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::FromRequestParts;
use axum::http::StatusCode;
use axum::http::header::{self, HeaderMap};
use axum::http::request::Parts;
use serde_json::json;
use vault::access::bearer;

use crate::app::App;
use crate::directory::{Known, issued};
use crate::front::From;
use crate::log::{About, Event};
use crate::refusal::Refusal;

/// Somebody who showed a token that is in force, and asks no more often than they may.
pub(crate) struct Caller {
    pub(crate) known: Known,
    pub(crate) from: IpAddr,
}

/// The same, who administers the host.
pub(crate) struct Admin(pub(crate) Caller);

/// By this the protocols of a socket carry a token.
pub(crate) const PROTOCOL_TOKEN: &str = "token.";
/// The protocol that sockets speak.
pub(crate) const PROTOCOL: &str = "lazaret.v1";

const MINUTE: Duration = Duration::from_secs(60);
/// Bits of an address of IPv6 that one customer has below their own network.
const HOST_BITS: u32 = 64;

impl FromRequestParts<Arc<App>> for Caller {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Refusal> {
        let From(from) = *parts.extensions.get::<From>().ok_or_else(Refusal::broken)?;
        let header = parts.headers.get(header::AUTHORIZATION);
        let header = header.and_then(|it| it.to_str().ok());
        let known = identify(app, bearer(header), from).await?;
        noted(app, &known, from);
        let limits = &app.directory().settings.rate_limits;
        let window = Duration::from_millis(limits.window_ms.get());
        let most = limits.max_requests_per_window.as_len();
        app.requests.admit(&known.name().to_string(), most, window).map_err(|wait| {
            let why = "too many requests";
            let refusal = Refusal::new(StatusCode::TOO_MANY_REQUESTS, "rate_limited", why);
            Refusal { retry_after: Some(wait.as_secs().saturating_add(1)), ..refusal }
        })?;
        Ok(Self { known, from })
    }
}

impl FromRequestParts<Arc<App>> for Admin {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Refusal> {
        let caller = Caller::from_request_parts(parts, app).await?;
        caller
            .known
            .user
            .may_administer()
            .map_err(|it| Refusal::new(StatusCode::FORBIDDEN, "access_denied", it.for_person))?;
        Ok(Self(caller))
    }
}

/// Writes down that somebody was known: each token at each address once a minute, for requests are many.
pub(crate) fn noted(app: &App, known: &Known, from: IpAddr) {
    if app.noted.admit(&(known.token.clone(), network(from)), 1, MINUTE).is_ok() {
        let about = About { user: Some(known.name().as_str()), ..About::default() };
        app.log(Event::AuthSuccess, about, json!({ "token": known.token, "by": "http" }));
    }
}

/// Who shows `token`. Whoever guesses too often is not even compared.
pub(crate) async fn identify(
    app: &Arc<App>,
    token: Option<&str>,
    from: IpAddr,
) -> Result<Known, Refusal> {
    let directory = app.directory();
    let network = network(from);
    if is_stopped(app, network) {
        let why = "too many wrong tokens from this address";
        let refusal = Refusal::new(StatusCode::TOO_MANY_REQUESTS, "auth_failed", why);
        return Err(Refusal { retry_after: Some(MINUTE.as_secs()), ..refusal });
    }
    let found = match token {
        None => None,
        Some(token) => {
            let token = token.to_owned();
            let look = move |app: &App| directory.verify(&app.tokens, &token, app.now());
            let found = app.blocking(look).await.ok_or_else(Refusal::broken)?;
            // INVARIANT (FailClosed): what cannot be read opens nothing.
            found.map_err(|_| Refusal {
                message: "the tokens cannot be read".to_owned(),
                ..Refusal::broken()
            })?
        }
    };
    found.ok_or_else(|| {
        // Whoever shows none guesses nothing: a page that a browser is on could lock everybody out by such requests.
        if token.is_some() {
            failed(app, network);
        }
        Refusal::unauthorised()
    })
}

/// Were there too many wrong tokens and tickets from there?
fn is_stopped(app: &App, network: IpAddr) -> bool {
    let most = app.directory().settings.rate_limits.auth_failures_per_minute.as_len();
    let is_full = app.failures.is_full(&network, most, MINUTE);
    // What is not compared is told once a minute: a line for each would be what they want.
    if is_full && app.noted.admit(&(String::new(), network), 1, MINUTE).is_ok() {
        let details = json!({ "address": network.to_string(), "why": "limited" });
        app.log(Event::AuthFailure, About::default(), details);
    }
    is_full
}

/// Who shows a ticket, as the files say it now: it may be older than what they say.
pub(crate) async fn by_ticket(app: &Arc<App>, ticket: &str, from: IpAddr) -> Option<Known> {
    // As with tokens: whoever guesses too often is not even looked at, and fills no log.
    if is_stopped(app, network(from)) {
        return None;
    }
    let Some(known) = app.tickets.take(ticket, from) else {
        failed(app, network(from));
        return None;
    };
    let look = move |app: &App| {
        let issued = issued(&app.parts.home).ok()?;
        app.directory().again(&known, &issued, app.now())
    };
    // INVARIANT (FailClosed): who cannot be looked up is nobody.
    let found = app.blocking(look).await.flatten();
    if found.is_none() {
        let details = json!({ "address": network(from).to_string(), "why": "revoked" });
        app.log(Event::AuthFailure, About::default(), details);
    }
    found
}

/// Counts a wrong token.
pub(crate) fn failed(app: &App, network: IpAddr) {
    let _ = app.failures.admit(&network, usize::MAX, MINUTE);
    app.metrics.auth_failures.inc();
    app.log(Event::AuthFailure, About::default(), json!({ "address": network.to_string() }));
}

/// The address that counts: of IPv6 the network, since whoever has one has all of its addresses.
pub(crate) fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(it) => IpAddr::V4(it),
        IpAddr::V6(it) => {
            let network = it.to_bits() >> HOST_BITS << HOST_BITS;
            IpAddr::V6(network.into())
        }
    }
}

/// The token among the protocols that a socket offers, and the protocol that is chosen then.
pub(crate) fn protocol(headers: &HeaderMap) -> (Option<String>, Option<String>) {
    let offered = headers.get_all(header::SEC_WEBSOCKET_PROTOCOL);
    let offered: Vec<&str> = offered
        .iter()
        .filter_map(|it| it.to_str().ok())
        .flat_map(|it| it.split(','))
        .map(str::trim)
        .collect();
    let with_token = offered.iter().find(|it| it.starts_with(PROTOCOL_TOKEN));
    let token = with_token.and_then(|it| it.strip_prefix(PROTOCOL_TOKEN)).map(str::to_owned);
    let spoken = offered.iter().find(|it| **it == PROTOCOL).or(with_token);
    (token, spoken.map(|it| (*it).to_owned()))
}
